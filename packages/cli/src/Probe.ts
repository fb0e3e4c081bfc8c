/**
 * `mcp-effect probe`: connect, say what was found, list the tools, and with `--explain` how the era was decided.
 *
 * @since 0.1.0
 */
import type * as McpClient from "@mcp-effect/client/McpClient"
import * as Evidence from "@mcp-effect/negotiation/Evidence"
import * as Verdict from "@mcp-effect/negotiation/Verdict"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Connecting from "./Connecting.ts"
import type { Options } from "./Options.ts"
import * as Places from "./Places.ts"
import * as Render from "./Render.ts"
import { screen, type Screen } from "./Screen.ts"

type Client = McpClient.Client

/** What a server says of itself: three lines of it are enough. */
const theirs = (text: string) => Render.clip(Render.oneLine(text), 300)

/** Names of what a server declares. */
const declared = (capabilities: object | undefined) =>
  capabilities === undefined
    ? "unknown: the server was not asked"
    : Object.entries(capabilities)
        .filter(([, value]) => value !== undefined && value !== null && value !== false)
        .map(([name]) => name)
        .toSorted()
        .join(", ") || "none"

const report = (client: Client, on: Screen) => {
  const { agreement } = client
  const { identity } = agreement
  return Render.facts(
    [
      ["server", client.endpoint],
      ["transport", client.transport],
      ["era", agreement.era],
      ["version", agreement.version],
      [
        "identity",
        identity === undefined ? "not told" : theirs(`${identity.title ?? identity.name} ${identity.version}`)
      ],
      ["capabilities", theirs(declared(agreement.capabilities))],
      ["round trips", `${agreement.roundTrips}`],
      ["instructions", agreement.instructions === undefined ? undefined : theirs(agreement.instructions)]
    ],
    on
  )
}

/** The tools, unless the server says that it has none. */
const tools = (client: Client) => (Connecting.declares(client, "tools") ? client.listTools() : Effect.void)

/** Keeps what was found for `--prior`. */
const save = Effect.fnUntraced(function* (client: Client, path: string) {
  const verdict = Verdict.fromAgreement(client.agreement, yield* Clock.currentTimeMillis)
  if (verdict === undefined) {
    return yield* Console.error("note: nothing was saved, since what was found does not hold for long")
  }
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(fs.writeFileString(path, `${Render.json(verdict)}\n`), Places.unwritten(path))
})

/**
 * Runs the command.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (options: Options & { readonly explain: boolean; readonly save: Option.Option<string> }) =>
  Connecting.connected(
    "probe",
    options,
    Effect.fnUntraced(function* (client, rest) {
      yield* Connecting.none(rest)
      const explanation = options.explain ? Render.lines(Evidence.explain(client.agreement.evidence)) : undefined
      if (Option.isSome(options.save)) yield* save(client, options.save.value)
      if (options.json) {
        const { capabilities, era, identity, instructions, roundTrips, rule, version } = client.agreement
        const { endpoint: server, transport } = client
        const listed = yield* tools(client)
        return yield* Console.log(
          Render.json({
            server,
            transport,
            era,
            version,
            identity,
            capabilities,
            instructions,
            roundTrips,
            rule,
            explanation,
            tools: listed
          })
        )
      }
      const on = yield* screen
      yield* Console.log(report(client, on))
      if (explanation !== undefined) yield* Console.log(`\n${Render.fitted(explanation, on)}`)
      const list = yield* tools(client)
      if (list === undefined) return yield* Console.log("\ntools: not declared by the server")
      const lines = list.length === 0 ? "" : `\n${Render.list(list, on, 2)}`
      yield* Console.log(`\n${on.paint("dim", "tools")} (${list.length})${lines}`)
    })
  )
