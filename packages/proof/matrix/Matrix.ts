/**
 * Real servers and what connecting to each comes to, written down as data.
 *
 * `rows` is the expectation; `measure` finds out. A test holds one against the other, and `page.ts` prints the rows as
 * `docs/compatibility.md`.
 */
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import type * as Mode from "@mcp-effect/negotiation/Mode"
import { Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Path from "effect/Path"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { binOf, type Served, ServerFailed } from "../servers/hosting.ts"
import * as Servers from "../servers/Servers.ts"
import * as EffectServers from "./effectServers.ts"
import * as SdkServer from "./sdkServer.ts"

type Needs = Scope.Scope | ChildProcessSpawner | FileSystem.FileSystem | Path.Path

export type Target = { readonly url: string } | { readonly command: string; readonly args: ReadonlyArray<string> }

/** What connecting comes to. */
export interface Found {
  /** In mode `auto`: the version, and the row that settled it. */
  readonly auto: string
  readonly rule: string
  /** What carries the messages in the end. */
  readonly over: string
  /** Answers that were waited for before the connection was agreed. */
  readonly trips: number
  /** The same, connecting once more with the memory of the first time. */
  readonly again: number
  /** In mode `legacy`: the version, or how it fails. */
  readonly legacy: string
  /** With 2026-07-28 pinned: whether the tools can be listed, or how that fails. */
  readonly pinned: string
}

export interface Row extends Found {
  readonly server: string
  readonly start: Effect.Effect<Target, ServerFailed, Needs>
}

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

const node = (...args: ReadonlyArray<string>): Target => ({ command: process.execPath, args })

export const serve = Effect.fnUntraced(function* (server: string, { listener }: Served) {
  const http = createServer(listener)
  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      http.close(() => resume(Effect.void))
      http.closeAllConnections()
    })
  )
  return yield* Effect.callback<Target, ServerFailed>((resume) => {
    http.once("error", ({ message }) => resume(Effect.fail(new ServerFailed({ server, because: message }))))
    http.listen(0, "127.0.0.1", () => {
      const address = http.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}/mcp` }))
    })
  })
})

const targetOf = <E, R>(server: Effect.Effect<Servers.RunningServer, E, R>): Effect.Effect<Target, E, R> =>
  Effect.map(server, ({ target }) => target)

const sdkStdio = (release: SdkServer.Release): Row["start"] => Effect.succeed(node(here("sdkStdio.ts"), release))
const sdkSse = (release: SdkServer.Release): Row["start"] =>
  Effect.suspend(() => serve(`sdk ${release}`, SdkServer.makeSseListener(release)))
const sdkHttp = (release: SdkServer.Release): Row["start"] =>
  Effect.suspend(() => serve(`sdk ${release}`, SdkServer.makeHttpListener(release)))
const effect = (...versions: readonly [EffectServers.Version, ...ReadonlyArray<EffectServers.Version>]): Row["start"] =>
  Effect.map(EffectServers.serve(...versions), (url) => ({ url }))

const memory: Row["start"] = Effect.map(binOf("memory", "@modelcontextprotocol/server-memory"), (bin) => node(bin))

/** A legacy server on a pipe: it does not know the probe, and answers requests that nobody greeted it for. */
const pipe = (server: string, start: Row["start"], version: string): Row => ({
  server,
  start,
  auto: version,
  rule: "P13",
  over: "stdio",
  trips: 2,
  again: 1,
  legacy: version,
  pinned: "works"
})

/** A legacy server that keeps sessions: it refuses a probe without one. */
const session = (server: string, start: Row["start"], version: string, rule = "P14"): Row => ({
  server,
  start,
  auto: version,
  rule,
  over: "http",
  trips: 2,
  again: 1,
  legacy: version,
  // The HTTP servers of the legacy SDK answer a request without a session with -32000; Effect's names its versions.
  pinned: rule === "P8" ? "NoMutualVersion" : "ServerError"
})

/** A server of HTTP+SSE alone: two POSTs are refused before the stream is opened, and the memory saves them. */
const stream = (server: string, start: Row["start"], version: string): Row => ({
  server,
  start,
  auto: version,
  rule: "P21",
  over: "sse",
  trips: 4,
  again: 2,
  legacy: version,
  pinned: "WireFailed"
})

const modern = (server: string, start: Row["start"], over: "stdio" | "http", legacy: string): Row => ({
  server,
  start,
  auto: "2026-07-28",
  rule: "P1",
  over,
  trips: 1,
  again: 0,
  legacy,
  pinned: "works"
})

/**
 * The servers and what is expected of each. HTTP+SSE is the only case with more than three trips before a legacy
 * connection is agreed.
 */
export const rows: ReadonlyArray<Row> = [
  modern("server 2.4.0", targetOf(Servers.officialStdio), "stdio", "2025-11-25"),
  modern("server 2.4.0, HTTP", targetOf(Servers.officialHttp), "http", "2025-11-25"),
  modern("server 2.4.0, HTTP, modern only", targetOf(Servers.officialModernOnlyHttp), "http", "ModernOnlyServer"),
  modern(
    "effect, every revision",
    effect("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"),
    "http",
    "2025-11-25"
  ),
  // It misses a header of the modern era in `initialize`, and says nothing of versions.
  modern("effect, 2026-07-28", effect("2026-07-28"), "http", "LegacyHandshakeFailed"),
  session("effect, 2025-11-25", effect("2025-11-25"), "2025-11-25", "P8"),
  session("effect, 2025-06-18", effect("2025-06-18"), "2025-06-18", "P8"),
  session("effect, 2025-03-26", effect("2025-03-26"), "2025-03-26", "P8"),
  session("effect, 2024-11-05", effect("2024-11-05"), "2024-11-05", "P8"),
  pipe("everything", targetOf(Servers.everythingStdio), "2025-11-25"),
  session("everything, HTTP", targetOf(Servers.everythingHttp), "2025-11-25"),
  stream("everything, HTTP+SSE", targetOf(Servers.everythingSse), "2025-11-25"),
  pipe("filesystem", targetOf(Servers.filesystemStdio), "2025-11-25"),
  pipe("memory", memory, "2025-11-25"),
  pipe("sdk 1.32.2", sdkStdio("1.32.2"), "2025-11-25"),
  session("sdk 1.32.2, HTTP", sdkHttp("1.32.2"), "2025-11-25"),
  pipe("sdk 1.29.0", sdkStdio("1.29.0"), "2025-11-25"),
  session("sdk 1.29.0, HTTP", sdkHttp("1.29.0"), "2025-11-25"),
  pipe("sdk 1.11.0", sdkStdio("1.11.0"), "2025-03-26"),
  session("sdk 1.11.0, HTTP", sdkHttp("1.11.0"), "2025-03-26"),
  pipe("sdk 1.9.0", sdkStdio("1.9.0"), "2024-11-05"),
  stream("sdk 1.9.0, HTTP+SSE", sdkSse("1.9.0"), "2024-11-05"),
  pipe("sdk 1.0.0", sdkStdio("1.0.0"), "2024-11-05"),
  stream("sdk 1.0.0, HTTP+SSE", sdkSse("1.0.0"), "2024-11-05")
]

/** What a row expects. */
export const expected = ({ again, auto, legacy, over, pinned, rule, trips }: Row): Found => ({
  auto,
  rule,
  over,
  trips,
  again,
  legacy,
  pinned
})

const connect = (target: Target, mode: Mode.Input) =>
  "url" in target ? McpClient.connect(target.url, { mode }) : McpClient.connect(NodeStdio.make(target), { mode })

const told = <A, E extends { readonly reason: { readonly _tag: string } }, R>(
  trial: Effect.Effect<A, E, R>,
  tell: (value: A) => string
): Effect.Effect<string, never, Exclude<R, Scope.Scope>> =>
  trial.pipe(Effect.matchEager({ onSuccess: tell, onFailure: ({ reason }) => reason._tag }), Effect.scoped)

/** Connects in every mode. Each server is given what it needs to be known again: one memory for the first two visits. */
export const measure = (
  row: Row
): Effect.Effect<
  Found,
  ServerFailed | { readonly message: string },
  Exclude<Needs, Scope.Scope> | HttpClient.HttpClient
> =>
  Effect.gen(function* () {
    const target = yield* row.start
    const visit = (mode: Mode.Input) =>
      Effect.scoped(
        Effect.gen(function* () {
          const client = yield* connect(target, mode)
          yield* client.listTools()
          return { agreement: client.agreement, over: client.transport }
        })
      )
    const first = yield* visit("auto")
    const second = yield* visit("auto")
    return {
      auto: first.agreement.version,
      rule: first.agreement.rule,
      over: first.over,
      trips: first.agreement.roundTrips,
      again: second.agreement.roundTrips,
      legacy: yield* told(visit("legacy"), ({ agreement }) => agreement.version),
      pinned: yield* told(visit("2026-07-28"), () => "works")
    }
  }).pipe(
    Effect.scoped,
    Effect.provide(EraMemory.layerInProcess),
    Effect.provideService(Diagnostics, () => Effect.void)
  )
