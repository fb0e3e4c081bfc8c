/**
 * Who is asked for the features: a server, the transport to it and the mode of the connection. `measure` opens one
 * connection per column, and for scripted peers one per feature, and uses every feature over it.
 */
import * as FormAnswer from "@mcp-effect/client/FormAnswer"
import type { Handlers } from "@mcp-effect/client/Handlers"
import * as McpClient from "@mcp-effect/client/McpClient"
import type { Middleware } from "@mcp-effect/client/Middleware"
import * as Tasks from "@mcp-effect/client/Tasks"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import { Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type { Era } from "@mcp-effect/protocol/Version"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Path from "effect/Path"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { fileURLToPath, pathToFileURL } from "node:url"
import { binOf, type ServerFailed } from "../servers/hosting.ts"
import * as Servers from "../servers/Servers.ts"
import { type Feature, type Ground, Unmet } from "./Feature.ts"
import { features, type Name } from "./features.ts"
import { serve, type Target } from "./Matrix.ts"
import * as EffectPeer from "./peers/effect.ts"
import { makeOfficialPeerListener } from "./peers/official.ts"
import { evidenceOf, scriptOf } from "./peers/scripted.ts"
import { makeSdkPeerListener, makeSdkPeerSse } from "./peers/sdk.ts"

type Needs = Scope.Scope | ChildProcessSpawner | FileSystem.FileSystem | Path.Path | HttpClient.HttpClient

export type Carrier = "stdio" | "http" | "sse"
export type Mode = "auto" | "legacy" | "pinned"

/** Gives the way to the server for a feature. */
type Start = (feature: Name, folder: string) => Effect.Effect<Way, { readonly message: string }, Needs>

interface Way {
  readonly transport: Transport["Service"]
  /** What a scripted peer heard. */
  readonly transcript: Effect.Effect<unknown>
}

export interface Column {
  readonly server: string
  readonly era: Era
  readonly over: Carrier
  readonly mode: Mode
  /** Whether the server is another one for each feature. */
  readonly scripted: boolean
  /** Whether it forgets a client after each answer. */
  readonly forgetful: boolean
  readonly start: Start
}

/** What became of a feature. */
export type Outcome =
  | { readonly is: "works" }
  | { readonly is: "not offered"; readonly because: string }
  | { readonly is: "error"; readonly reason: string }

export type Outcomes = Readonly<Record<Name, Outcome>>

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const node = (...args: ReadonlyArray<string>): Target => ({ command: process.execPath, args })

const to = <E extends { readonly message: string }, R extends Needs>(
  target: Effect.Effect<Target, E, R>
): Effect.Effect<Way, E, R | HttpClient.HttpClient> =>
  target.pipe(
    Effect.flatMap((found) => ("url" in found ? StreamableHttp.make(found) : Effect.succeed(NodeStdio.make(found)))),
    Effect.map((transport) => ({ transport, transcript: Effect.void }))
  )

const running = <E extends { readonly message: string }, R extends Needs>(
  server: Effect.Effect<Servers.RunningServer, E, R>
) => to(Effect.map(server, ({ target }) => target))

const peer = (name: string) => () => to(Effect.succeed(node(here("peers/stdio.ts"), name)))

const scripted =
  (era: Era, over: Carrier): Start =>
  (feature, folder) =>
    Effect.map(ScriptedServer.make(scriptOf(feature, era, over, folder)), ({ http, pipe, transcript }) => ({
      transport: over === "stdio" ? pipe("stdio") : http,
      transcript
    }))

const effectOver = (speaks: EffectPeer.Speaks) => () => to(Effect.map(EffectPeer.serve(speaks), (url) => ({ url })))

interface Row {
  readonly server: string
  readonly era: Era
  readonly modes: ReadonlyArray<Mode>
  readonly ways: Partial<Readonly<Record<Carrier, Start>>>
  /** Where the server forgets a client after each answer. */
  readonly forgetfulOver?: Carrier
}

const modern: ReadonlyArray<Mode> = ["auto", "pinned"]
const legacy: ReadonlyArray<Mode> = ["auto", "legacy"]

const official: Row["ways"] = {
  stdio: peer("official"),
  http: () => to(Effect.suspend(() => serve("official", makeOfficialPeerListener())))
}
const effect: Row["ways"] = { stdio: peer("effect"), http: effectOver("every") }

const rows: ReadonlyArray<Row> = [
  { server: "server", era: "modern", modes: modern, ways: official },
  { server: "server", era: "legacy", modes: ["legacy"], ways: official, forgetfulOver: "http" },
  { server: "effect", era: "modern", modes: modern, ways: effect },
  { server: "effect", era: "legacy", modes: ["legacy"], ways: effect },
  {
    server: "effect, legacy only",
    era: "legacy",
    modes: legacy,
    ways: { stdio: peer("effect-legacy"), http: effectOver("legacy") }
  },
  {
    server: "sdk",
    era: "legacy",
    modes: legacy,
    ways: {
      stdio: peer("sdk"),
      http: () => to(Effect.suspend(() => serve("sdk", makeSdkPeerListener()))),
      sse: () => to(Effect.suspend(() => serve("sdk", makeSdkPeerSse())))
    }
  },
  {
    server: "everything",
    era: "legacy",
    modes: legacy,
    ways: {
      stdio: () => running(Servers.everythingStdio),
      http: () => running(Servers.everythingHttp),
      sse: () => running(Servers.everythingSse)
    }
  },
  { server: "filesystem", era: "legacy", modes: legacy, ways: { stdio: () => running(Servers.filesystemStdio) } },
  {
    server: "memory",
    era: "legacy",
    modes: legacy,
    ways: {
      stdio: () => to(Effect.map(binOf("memory", "@modelcontextprotocol/server-memory"), (bin) => node(bin)))
    }
  },
  {
    server: "scripted",
    era: "modern",
    modes: modern,
    ways: { stdio: scripted("modern", "stdio"), http: scripted("modern", "http") }
  },
  {
    server: "scripted",
    era: "legacy",
    modes: legacy,
    ways: {
      stdio: scripted("legacy", "stdio"),
      http: scripted("legacy", "http"),
      sse: scripted("legacy", "sse")
    }
  }
]

const carriers = ["stdio", "http", "sse"] as const

export const columns: ReadonlyArray<Column> = rows.flatMap(({ era, forgetfulOver, modes, server, ways }) =>
  carriers.flatMap((over) => {
    const start = ways[over]
    return start === undefined
      ? []
      : modes.map((mode): Column => ({
          server,
          era,
          over,
          mode,
          scripted: server === "scripted",
          forgetful: over === forgetfulOver,
          start
        }))
  })
)

export const titleOf = ({ era, mode, over, server }: Column): string => `${server} (${era}), ${over}, ${mode}`

const typed: Readonly<Record<string, string>> = {
  answer: "Ada",
  name: "Ada Lovelace",
  email: "ada@example.com",
  birthdate: "1815-12-10"
}

/** Handlers for every question; `asked` notes what was asked. */
const handlersFor = (asked: Array<string>, folder: () => string): Handlers => ({
  elicitation: {
    form: (question) =>
      Effect.sync(() => {
        asked.push(question.message)
        const values = { ...FormAnswer.defaults(question) }
        for (const { name } of FormAnswer.fields(question)) if (Object.hasOwn(typed, name)) values[name] = typed[name]!
        return { action: "accept" as const, content: Result.getOrThrow(FormAnswer.check(question, values)) }
      }),
    url: ({ message }) => Effect.sync(() => (asked.push(message), { action: "accept" as const }))
  },
  sampling: ({ messages }) =>
    Effect.sync(() => {
      asked.push(JSON.stringify(messages))
      return {
        role: "assistant" as const,
        model: "small-1",
        content: { type: "text" as const, text: "Four." },
        stopReason: "endTurn"
      }
    }),
  samplingTools: true,
  roots: Effect.sync(() => (asked.push("roots"), [{ uri: pathToFileURL(folder()).href, name: "mine" }]))
})

const capabilitiesOf = (client: McpClient.McpClient["Service"]) => {
  const { capabilities } = client.agreement
  return capabilities === undefined
    ? Effect.map(client.discover(), (discovered) => discovered.capabilities)
    : Effect.succeed(capabilities)
}

/** Connects, and finds out what the server says of itself. */
const open = Effect.fnUntraced(function* (column: Column, feature: Name, folder: string) {
  const { transcript, transport } = yield* column.start(feature, folder)
  const sent = new Map<string, number>()
  const asked: Array<string> = []
  let named = folder
  const counting: Middleware = (request, next) =>
    Effect.suspend(() => {
      sent.set(request.method, (sent.get(request.method) ?? 0) + 1)
      return next(request)
    })
  const client = yield* McpClient.connect(transport, {
    mode: column.mode === "pinned" ? "2026-07-28" : column.mode,
    handlers: handlersFor(asked, () => named),
    extensions: Tasks.extensions,
    middleware: [counting]
  })
  const { era } = client.agreement
  if (era !== column.era) return yield* new Unmet({ because: `the connection is ${era}` })
  const capabilities = yield* capabilitiesOf(client)
  const tools = new Set((yield* client.listTools()).map(({ name }) => name))
  return {
    transcript,
    client,
    era,
    capabilities,
    tools,
    sent: (method: string) => sent.get(method) ?? 0,
    asked,
    folder,
    move: () => (named = `${folder}/moved`),
    forgetful: column.forgetful
  }
})

/** Uses one feature. */
const attempt = Effect.fnUntraced(function* ({ check, lacks }: Feature, ground: Ground) {
  const found = lacks(ground)
  const because = Effect.isEffect(found) ? yield* found : found
  if (because !== undefined) return { is: "not offered", because } satisfies Outcome
  yield* Effect.scoped(check(ground))
  return { is: "works" } satisfies Outcome
})

const outcomeOf = <R>(
  trial: Effect.Effect<
    Outcome,
    { readonly _tag: string; readonly message: string; readonly reason?: { readonly _tag: string } },
    R
  >
): Effect.Effect<Outcome, never, R> =>
  Effect.catch(trial, ({ _tag, message, reason }) =>
    Effect.succeed({ is: "error", reason: reason?._tag ?? `${_tag}: ${message}` } satisfies Outcome)
  )

const newFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "mcp-features-" }))
  yield* fs.makeDirectory(`${folder}/moved`)
  return folder
})

/** Uses one feature over a connection of its own, and looks at what the scripted peer heard. */
const alone = (column: Column, feature: Feature & { readonly name: Name }, folder: string) =>
  Effect.gen(function* () {
    const own = yield* open(column, feature.name, folder)
    const outcome = yield* outcomeOf(attempt(feature, own))
    const heard = JSON.stringify(yield* own.transcript)
    const missing = evidenceOf(feature.name, column.era, folder).filter((part) => !heard.includes(part))
    return outcome.is === "works" && missing.length > 0
      ? ({ is: "error", reason: `the peer did not hear ${missing.join(" and ")}` } satisfies Outcome)
      : outcome
  }).pipe(Effect.scoped, Effect.provide(EraMemory.layerInProcess, { local: true }))

/** Uses every feature of a column, one after the other. */
export const measure = (
  column: Column
): Effect.Effect<
  ReadonlyMap<Name, Outcome>,
  ServerFailed | { readonly message: string },
  Exclude<Needs, Scope.Scope>
> =>
  Effect.gen(function* () {
    const folder = yield* newFolder
    const ground = column.scripted ? undefined : yield* open(column, "tools", folder)
    const outcomes = new Map<Name, Outcome>()
    for (const feature of features) {
      outcomes.set(
        feature.name,
        yield* ground === undefined ? alone(column, feature, folder) : outcomeOf(attempt(feature, ground))
      )
    }
    return outcomes
  }).pipe(
    Effect.scoped,
    Effect.provide(EraMemory.layerInProcess),
    Effect.provideService(Diagnostics, () => Effect.void)
  )
