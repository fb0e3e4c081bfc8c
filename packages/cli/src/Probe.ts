/**
 * `mcp-effect probe`: connect, say what was found, list the tools, and with `--explain` how the era was decided.
 *
 * @since 0.1.0
 */
import * as McpClient from "@mcp-effect/client/McpClient"
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import * as Evidence from "@mcp-effect/negotiation/Evidence"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Render from "./Render.ts"
import * as Target from "./Target.ts"

/**
 * The command line does not say which server. Exit code 64.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoTarget extends Data.TaggedError("NoTarget") {
  override readonly [Runtime.errorExitCode] = 64
  override get message() {
    return "which server? Give a URL, or a command after `--`: mcp-effect probe -- npx -y some-server"
  }
}

/**
 * The server could not be looked into. Exit code 1; the reason is already on standard error.
 *
 * @category errors
 * @since 0.1.0
 */
export class ProbeFailed extends Data.TaggedError("ProbeFailed")<{
  readonly cause: NegotiationError | McpClientError
}> {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.cause.message
  }
}

const widthOfLines = 100

/** Names of what a server declares, `listChanged` and the like left aside. */
const declared = (capabilities: object | undefined) =>
  capabilities === undefined
    ? "unknown"
    : Object.entries(capabilities)
        .filter(([, value]) => value !== undefined && value !== null && value !== false)
        .map(([name]) => name)
        .join(", ") || "none"

const report = (client: McpClient.McpClient["Service"]) => {
  const { agreement } = client
  const { identity } = agreement
  return Render.facts([
    ["server", client.endpoint],
    ["transport", client.transport],
    ["era", agreement.era],
    ["version", agreement.version],
    ["identity", identity === undefined ? "not told" : `${identity.title ?? identity.name} ${identity.version}`],
    ["capabilities", declared(agreement.capabilities)],
    ["round trips", `${agreement.roundTrips}`],
    ["instructions", agreement.instructions]
  ])
}

const failed = (explain: boolean) => (cause: NegotiationError | McpClientError) =>
  Effect.gen(function* () {
    yield* Console.error(Render.oneLine(cause.message))
    if (explain && cause._tag === "NegotiationError") yield* Console.error(`\n${Evidence.explain(cause.attempts)}`)
    return yield* new ProbeFailed({ cause })
  })

/**
 * The command.
 *
 * @category commands
 * @since 0.1.0
 */
export const probe = Command.make(
  "probe",
  {
    target: Argument.String("target").pipe(
      Argument.withDescription("A URL, or `--` and a command with its arguments"),
      Argument.variadic()
    ),
    explain: Flag.Boolean("explain").pipe(Flag.withDescription("Show how the era was decided, step by step")),
    era: Flag.Literals("era", ["auto", "modern", "legacy"]).pipe(
      Flag.withDescription("How to open: ask first (auto), never fall back (modern), handshake only (legacy)"),
      Flag.withDefault("auto" as const)
    )
  },
  Effect.fn("Probe.probe")(function* ({ target: words, explain, era }) {
    const target = Target.parse(words)
    if (target === undefined) return yield* new NoTarget()
    yield* Effect.gen(function* () {
      const client = yield* McpClient.connect("url" in target ? target.url : target.command, { mode: era })
      yield* Console.log(report(client))
      if (explain) yield* Console.log(`\n${Evidence.explain(client.agreement.evidence)}`)
      const tools = yield* client.listTools()
      yield* Console.log(`\ntools (${tools.length})`)
      if (tools.length > 0) yield* Console.log(Render.tools(tools, widthOfLines))
    }).pipe(Effect.scoped, Effect.catchTag(["NegotiationError", "McpClientError"], failed(explain)))
  })
).pipe(Command.withDescription("Connect to a server and show what it is"))
