/**
 * From what was typed to a connected client: the target, the configuration, saved tokens, and the words for what failed.
 *
 * @since 0.1.0
 */
import * as Authorization from "@mcp-effect/client/Authorization"
import * as AuthorizationFlow from "@mcp-effect/client/AuthorizationFlow"
import * as ClientRegistration from "@mcp-effect/client/ClientRegistration"
import * as McpClient from "@mcp-effect/client/McpClient"
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import * as TokenStore from "@mcp-effect/client/TokenStore"
import type * as Entry from "@mcp-effect/host/ServerEntry"
import * as Evidence from "@mcp-effect/negotiation/Evidence"
import * as Mode from "@mcp-effect/negotiation/Mode"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { describe, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Header from "@mcp-effect/protocol/Header"
import * as Version from "@mcp-effect/protocol/Version"
import * as ExchangeLog from "@mcp-effect/transport/ExchangeLog"
import * as HttpSse from "@mcp-effect/transport/HttpSse"
import * as Stdio from "@mcp-effect/transport/Stdio"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Advice from "./Advice.ts"
import * as Ask from "./Ask.ts"
import { CommandFailed } from "./ExitCode.ts"
import * as Http from "./Http.ts"
import type { Options } from "./Options.ts"
import * as Places from "./Places.ts"
import * as Progress from "./Progress.ts"
import * as Render from "./Render.ts"
import { screen } from "./Screen.ts"
import * as Suggestion from "./Suggestion.ts"
import * as Target from "./Target.ts"

const nobodyToAsk = ({ reason }: McpClientError) =>
  reason._tag === "InputRequired" ||
  (reason._tag === "ServerError" && reason.code === ErrorCode.MissingRequiredClientCapability)

/** Why it failed, and what to change where the reason does not say it. */
const reasonOf = (cause: NegotiationError | McpClientError, target: Target.Target, asking: boolean): string => {
  if (cause._tag === "NegotiationError") return Render.lines(Advice.because(cause, Target.correction(target)))
  const because = Render.oneLine(Advice.because(cause))
  return asking || !nobodyToAsk(cause)
    ? because
    : `${because}\nNobody can be asked here: run it at a terminal, without --json`
}

/** A server behind a URL may be reached well, and the proxy on the way there not. */
const mayBeProxy = (cause: NegotiationError | McpClientError) => {
  const names = Http.proxyNames().join(" and ")
  return cause._tag !== "NegotiationError" || cause.transport === "stdio" || names === ""
    ? ""
    : `\n${names} may send this through a proxy; NO_PROXY names the hosts that need none`
}

const failed =
  (target: Target.Target, explain: boolean, asking: boolean) => (cause: NegotiationError | McpClientError) => {
    const denied = Advice.wantsSignIn(cause) || Option.isSome(Authorization.errorIn(cause))
    const reason = reasonOf(cause, target, asking)
    const advice = denied
      ? "url" in target
        ? `\nSign in with: mcp-effect auth login ${Render.oneLine(target.url)}`
        : ""
      : mayBeProxy(cause)
    const evidence =
      explain && cause._tag === "NegotiationError" ? `\n\n${Render.lines(Evidence.explain(cause.attempts))}` : ""
    return new CommandFailed({
      exit: denied ? "denied" : cause._tag === "NegotiationError" ? "unreachable" : "refused",
      because: `${reason}${advice}${evidence}`
    })
  }

/**
 * What was noticed on the way goes beside the report, not into it.
 *
 * @category running
 * @since 0.1.0
 */
export const noting = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(screen, (on) =>
    Effect.provideService(effect, Diagnostics, (diagnostic) => {
      const note = Render.fitted(`note: ${Render.oneLine(describe(diagnostic))}`, on)
      return Effect.andThen(Progress.leave, Console.error(note))
    })
  )

const usage = (because: string) => new CommandFailed({ exit: "usage", because })

/** The headers as they were typed; values are secrets from here on. */
const headersOf = (header: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(header, (text) => {
      const at = text.indexOf(":")
      const name = text.slice(0, Math.max(0, at)).trim()
      const value = text.slice(at + 1).trim()
      if (!Header.isName(name)) {
        return Effect.fail(usage('a header is written as `--header "Name: value"`'))
      }
      return Header.isValue(value)
        ? Effect.succeed([name, Redacted.make(value)] as const)
        : Effect.fail(usage(`the header ${name} has characters that HTTP does not allow`))
    }),
    Object.fromEntries
  )

/** The HTTP client, with the stored token of the server where one is kept. Whoever can be asked may sign in for more. */
const httpFor = Effect.fnUntraced(function* (bare: Layer.Layer<HttpClient>, url: string, asking: boolean) {
  const path = yield* Places.tokens
  if (!(yield* Effect.orElseSucceed((yield* FileSystem.FileSystem).exists(path), () => false))) return bare
  const flow = asking
    ? (yield* Effect.promise(() => import("./SignIn.ts"))).layerAsking
    : AuthorizationFlow.layerUnavailable
  return Authorization.layer({ server: url }).pipe(
    Layer.provide([bare, TokenStore.layerFile({ path }), flow, ClientRegistration.layer()]),
    Layer.catchCause((cause) => {
      const error = Cause.squash(cause)
      const because = Render.oneLine(error instanceof Error ? error.message : "it cannot be used")
      return Layer.unwrap(Effect.as(Console.error(`note: no saved token is sent, ${because}`), bare))
    })
  )
})

/**
 * The transport to a server behind a URL, over an HTTP client to which its stored token is added.
 *
 * @category constructors
 * @since 0.1.0
 */
export const remote = Effect.fnUntraced(function* (
  { headers, type, url }: Pick<Entry.Http | Entry.Sse, "headers" | "type" | "url">,
  client: HttpClient,
  asking: boolean
) {
  const http = yield* Layer.build(yield* httpFor(Layer.succeed(HttpClient, client), url, asking))
  const make = type === "sse" ? HttpSse.make : StreamableHttp.make
  return yield* Effect.provide(make({ url, headers }), http)
})

/**
 * The server of a configuration that a name stands for.
 *
 * @category accessors
 * @since 0.1.0
 */
export const entryOf = Effect.fnUntraced(function* (
  target: { readonly name: string },
  options: Pick<Options, "config">
) {
  const { configuration, path } = yield* Places.configuration(options.config).pipe(
    Effect.mapError((error) => {
      if (error.exit !== "usage") return error
      const advice = Target.correction(target) ?? error.because
      return usage(`no server is called \`${Render.clip(Render.oneLine(target.name), 80)}\`. ${advice}`)
    })
  )
  const entry = configuration.entries.find(({ name }) => name === target.name)
  if (entry !== undefined) return entry
  const problem = configuration.problems.find(({ entry: name }) => name === target.name)
  if (problem !== undefined) {
    return yield* new CommandFailed({ exit: "configuration", because: `${path}: ${Render.oneLine(problem.message)}` })
  }
  const names = configuration.entries.map(({ name }) => name)
  const wanted = Render.clip(Render.oneLine(target.name), 80)
  return yield* usage(`no server is called \`${wanted}\` in ${path}; ${Suggestion.instead(target.name, names)}`)
})

const transportOf = Effect.fnUntraced(function* (
  target: Target.Target,
  entry: Entry.ServerEntry | undefined,
  options: Options,
  asking: boolean
) {
  const { header } = options
  if (header.length > 0 && (entry?.type === "stdio" || "command" in target)) {
    return yield* usage("--header goes with a URL; a server in a process has no headers")
  }
  if (entry?.type === "stdio") {
    const { args, command, cwd, env } = entry
    return yield* Stdio.make({ command, args, env, ...(cwd === undefined ? {} : { cwd }) })
  }
  if (entry === undefined && "command" in target) {
    const [command, ...args] = target.command
    return yield* Stdio.make({ command, args })
  }
  const url = entry === undefined ? ("url" in target ? target.url : "") : entry.url
  const headers = { ...entry?.headers, ...(yield* headersOf(header)) }
  const client = Context.get(yield* Layer.build(Http.layer), HttpClient)
  return yield* remote({ url, headers, type: entry?.type ?? "http" }, client, asking)
})

const modeOf = Effect.fnUntraced(function* (entry: Entry.ServerEntry | undefined, { era, pin, prior }: Options) {
  const saved = Option.isSome(prior) ? yield* Places.json(prior.value) : undefined
  if (Option.isSome(pin)) {
    if (!Version.isModern(pin.value)) {
      return yield* usage(`--pin takes one of ${Version.modern.join(", ")}; --era legacy is the other era`)
    }
    if (era === "legacy") return yield* usage("--pin takes a modern version; --era legacy is the other era")
    return Mode.Mode.Pin({ version: pin.value, verify: false, prior: saved })
  }
  if (saved !== undefined) {
    return era === "auto" ? Mode.autoFrom(saved) : yield* usage("--prior goes with --era auto, or with --pin")
  }
  return era === "auto" && entry !== undefined ? entry.era : era
})

/** How many words a command takes after its server; none unless said. */
const takes: { readonly [verb: string]: number } = {
  call: Infinity,
  complete: 3,
  prompt: Infinity,
  prompts: 1,
  read: 1,
  tools: 1,
  watch: Infinity
}

/**
 * Connects to what the words name and runs a program with the client and the words that are left. What fails becomes a
 * `CommandFailed` with words for a person.
 *
 * @category running
 * @since 0.1.0
 */
export const connected = <A, R>(
  verb: string,
  options: Options & { readonly explain?: boolean },
  program: (
    client: McpClient.Client,
    rest: ReadonlyArray<string>,
    asking: boolean
  ) => Effect.Effect<A, NegotiationError | McpClientError | CommandFailed, R>
) =>
  Effect.gen(function* () {
    const { rest, target } = yield* Effect.mapError(
      Effect.fromResult(Target.take(options.words, yield* Target.ServerCommand, verb)),
      usage
    )
    const extra = Target.surplus(rest.slice(takes[verb] ?? 0))
    if (extra !== undefined) return yield* usage(extra)
    const seconds = Option.getOrUndefined(options.timeout)
    if (seconds !== undefined && !(seconds > 0)) return yield* usage("--timeout is a number of seconds above 0")
    const entry = "name" in target ? yield* entryOf(target, options) : undefined
    const mode = yield* modeOf(entry, options)
    const asking = !options.json && (yield* Ask.canAsk)
    const work = Effect.gen(function* () {
      const bare = yield* transportOf(target, entry, options, asking)
      const transport = Option.isNone(options.record)
        ? bare
        : ExchangeLog.record(
            bare,
            yield* Effect.mapError(ExchangeLog.toFile(options.record.value), Places.unwritten(options.record.value))
          )
      const left = yield* Deferred.make<never, CommandFailed>()
      const handlers = yield* Ask.handlers(asking, (error) => Deferred.fail(left, error))
      const client = yield* McpClient.connect(transport, { mode, handlers })
      const done = program(client, rest, asking)
      // A question that is left ends the command, except where there is something to come back to.
      return yield* verb === "explore" ? done : Effect.raceFirst(done, Deferred.await(left))
    }).pipe(
      Effect.scoped,
      noting,
      Effect.catchTag(["NegotiationError", "McpClientError"], (error) =>
        Effect.fail(failed(target, options.explain === true, asking)(error))
      )
    )
    if (seconds === undefined) return yield* work
    const limit = Duration.seconds(seconds)
    return yield* work.pipe(
      Effect.provideService(Defaults.RequestTimeout, limit),
      Effect.provideService(Defaults.HandshakeTimeout, limit),
      Effect.provideService(Defaults.ConnectTimeout, limit)
    )
  })

/**
 * Whether a server has something at all. One that was not asked may have everything.
 *
 * @category accessors
 * @since 0.1.0
 */
export const declares = (
  { agreement: { capabilities } }: McpClient.Client,
  what: "tools" | "resources" | "prompts"
): boolean => capabilities === undefined || capabilities[what] !== undefined

/**
 * One word that a command needs, and none after it.
 *
 * @category accessors
 * @since 0.1.0
 */
export const only = (rest: ReadonlyArray<string>, what: string): Effect.Effect<string, CommandFailed> => {
  const [first, ...more] = rest
  if (first === undefined) return Effect.fail(usage(`which ${what}?`))
  const extra = Target.surplus(more)
  return extra === undefined ? Effect.succeed(first) : Effect.fail(usage(extra))
}

/**
 * No further words.
 *
 * @category accessors
 * @since 0.1.0
 */
export const none = (rest: ReadonlyArray<string>): Effect.Effect<void, CommandFailed> => {
  const extra = Target.surplus(rest)
  return extra === undefined ? Effect.void : Effect.fail(usage(extra))
}
