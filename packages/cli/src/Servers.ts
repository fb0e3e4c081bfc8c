/**
 * The commands about configurations: `servers`, `config check`, `config convert`.
 *
 * @since 0.1.0
 */
import * as Configuration from "@mcp-effect/host/Configuration"
import type { EntryProblem } from "@mcp-effect/host/ConfigurationError"
import * as ConfigurationHint from "@mcp-effect/host/ConfigurationHint"
import * as Host from "@mcp-effect/host/Host"
import type { ServerEntry } from "@mcp-effect/host/ServerEntry"
import type { StartError } from "@mcp-effect/host/ServerState"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as Advice from "./Advice.ts"
import * as Answer from "./Answer.ts"
import * as Ask from "./Ask.ts"
import * as Connecting from "./Connecting.ts"
import { CommandFailed } from "./ExitCode.ts"
import * as Http from "./Http.ts"
import type { schemas } from "./Output.ts"
import * as Places from "./Places.ts"
import * as Render from "./Render.ts"
import { screen, type Screen, type Style } from "./Screen.ts"

type Row = (typeof schemas.servers.Type)["servers"][number]

const problemOf = ({ column, entry, line, message }: EntryProblem) => ({
  ...(entry === undefined ? {} : { entry }),
  line,
  column,
  message
})

/** Why a server failed, and what to type. */
const reasonOf = (entry: ServerEntry, error: StartError) => {
  if (error._tag === "HostError") return error.message
  const because = Advice.because(error)
  return Advice.wantsSignIn(error) && entry.type !== "stdio"
    ? `${because}\nSign in with: mcp-effect auth login ${entry.url}`
    : because
}

/** Each server in a line; what went wrong stands under it, whole. */
const shown = (states: ReadonlyArray<Row>, on: Screen): string => {
  const column = Math.max(0, ...states.map(({ name }) => Render.wide(Render.oneLine(name))))
  return states
    .map(({ because, name, state, tools, version }) => {
      const called = on.paint("bold", Render.pad(Render.oneLine(name), column))
      if (state === "disabled") return `${called}  ${on.paint("dim", state)}`
      if (state === "ready")
        return `${called}  ${on.paint("green", state)}, ${version}, ${Render.count(tools ?? 0, "tool")}`
      const reason = Render.broken(`    ${Render.oneLine(because ?? "")}`, on.breakAt, 4)
      return `${called}  ${on.paint("red", state)}\n${reason}`
    })
    .join("\n")
}

/**
 * `mcp-effect servers`: starts the servers of a configuration side by side, and says how each is doing. A file that was
 * only found in the folder needs a yes, since it may start programs.
 *
 * @category running
 * @since 0.1.0
 */
export const servers = Effect.fnUntraced(function* (options: {
  readonly config: Option.Option<string>
  readonly json: boolean
  readonly yes: boolean
}) {
  const asking = !options.json && (yield* Ask.canAsk)
  if (Option.isNone(options.config)) {
    const found = yield* Places.configurationFile(options.config)
    yield* Ask.approve(`${found} may start programs. Start its servers?`, options.yes, asking)
  }
  const { configuration, path } = yield* Places.configuration(options.config)
  const states = yield* Effect.gen(function* () {
    const http = yield* HttpClient
    const host = yield* Host.make({
      retry: "never",
      transport: (entry) => (entry.type === "stdio" ? Effect.undefined : Connecting.remote(entry, http, false))
    })
    yield* host.load(configuration.entries)
    return yield* Effect.forEach(
      configuration.entries,
      (entry): Effect.Effect<Row> => {
        const { name, type } = entry
        if (entry.disabled) return Effect.succeed({ name, type, state: "disabled" })
        return Effect.match(
          Effect.gen(function* () {
            const about = yield* host.ready(name)
            const { tools } = yield* SubscriptionRef.get((yield* host.server(name)).lists)
            return { name, type, state: "ready" as const, version: about.version, tools: tools.length }
          }),
          {
            onSuccess: (row) => row,
            onFailure: (error) => ({ name, type, state: "failed" as const, because: reasonOf(entry, error) })
          }
        )
      },
      { concurrency: "unbounded" }
    )
  }).pipe(Effect.scoped, Connecting.noting, Effect.provide(Http.layer))
  const problems = configuration.problems.map(problemOf)
  yield* Answer.print(options, { servers: states, problems }, (on) => shown(states, on) || "no servers")
  if (!options.json) {
    const on = yield* screen
    for (const { message } of problems) {
      yield* Console.error(Render.fitted(`${path}: ${Render.oneLine(message)}`, on))
    }
  }
  if (problems.length > 0) return yield* new CommandFailed({ exit: "configuration", because: "" })
  if (states.some(({ state }) => state === "failed")) {
    return yield* new CommandFailed({ exit: "unreachable", because: "" })
  }
})

/**
 * `mcp-effect config check`: everything that is wrong in a configuration, and advice. Starts nothing.
 *
 * @category running
 * @since 0.1.0
 */
export const check = Effect.fnUntraced(function* (options: {
  readonly file: Option.Option<string>
  readonly json: boolean
}) {
  const { configuration, path } = yield* Places.configuration(options.file)
  const hints = (yield* ConfigurationHint.check(configuration)).map((hint) => ({
    id: hint.id,
    message: ConfigurationHint.describe(hint)
  }))
  const problems = configuration.problems.map(problemOf)
  const names = configuration.entries.map(({ name }) => name)
  yield* Answer.print(options, { file: path, servers: names, problems, hints }, (on) => {
    const say =
      (style: Style, kind: string) =>
      ({ message }: { readonly message: string }) => {
        const text = Render.fitted(`${kind}: ${Render.oneLine(message)}`, on)
        return on.paint(style, kind) + text.slice(kind.length)
      }
    const found = `${Render.count(names.length, "server")} can be read, ${Render.count(problems.length, "problem")}`
    return [
      ...problems.map(say("red", "wrong")),
      ...hints.map(say("yellow", "hint")),
      Render.fitted(`${path}: ${found}`, on)
    ].join("\n")
  })
  if (problems.length > 0) return yield* new CommandFailed({ exit: "configuration", because: "" })
})

/**
 * `mcp-effect config convert`: the configuration in another form, on standard output. Placeholders stay as they are.
 *
 * @category running
 * @since 0.1.0
 */
export const convert = Effect.fnUntraced(function* (options: {
  readonly file: Option.Option<string>
  readonly to: Configuration.Form
}) {
  const { configuration } = yield* Places.configuration(options.file, { expand: false })
  yield* Console.log(Render.lines(Configuration.print(configuration, { form: options.to })).trimEnd())
})
