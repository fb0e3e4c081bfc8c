/**
 * A scripted server in this program: a pipe or an HTTP client that leads nowhere else.
 *
 * It needs no socket and no process, and all its waiting is by Effect's clock, so under a `TestClock` every run is the
 * same. `NodeScriptedServer` and `NodeHttpScriptedServer` play the same scripts as a child process and on loopback.
 *
 * @since 0.1.0
 */
import * as Pipe from "@mcp-effect/transport/Pipe"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import { type Kind, Transport } from "@mcp-effect/transport/Transport"
import { Closed, Exited, type Reason } from "@mcp-effect/transport/TransportError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpServer from "./internal/httpServer.ts"
import * as MemoryClient from "./internal/memoryClient.ts"
import type { Note } from "./internal/perform.ts"
import * as PipeServer from "./internal/pipeServer.ts"
import type { Script } from "./Script.ts"
import type { Entry, Transcript } from "./Transcript.ts"

/**
 * A server that plays a script.
 *
 * @category models
 * @since 0.1.0
 */
export interface ScriptedServer {
  readonly script: Script
  /** What it heard and said so far. */
  readonly transcript: Effect.Effect<Transcript>
  /**
   * The way to it over a pipe. As `stdio` it plays a child process: it can be opened again, has a standard error and
   * exits with a code. As `memory` (the default) and `stream` it is only closed, and once.
   */
  readonly pipe: (kind?: Exclude<Kind, "http" | "sse">) => Transport["Service"]
  /** The way to it over Streamable HTTP. */
  readonly http: Transport["Service"]
  /** Answers every request in the place of a network. Good for any address; `url` is one. */
  readonly httpClient: HttpClient.HttpClient
  readonly url: string
}

/** What stands for a command line; nothing is started. */
const command = "scripted"

/**
 * Makes a server. Its pipes and its HTTP client share one transcript.
 *
 * @example
 * ```ts
 * import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
 * import * as Script from "@mcp-effect/testing/Script"
 * import * as Effect from "effect/Effect"
 *
 * const test = Effect.gen(function* () {
 *   const server = yield* ScriptedServer.make(Script.both())
 *   const client = yield* McpClient.connect(server.pipe())
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (script: Script): Effect.fn.Return<ScriptedServer> {
  const clock = yield* Clock.Clock
  const entries: Array<Entry> = []
  const note: Note = (entry) => void entries.push({ ...entry, at: clock.currentTimeMillisUnsafe() })
  const url = "http://scripted.test/mcp"
  const httpClient = MemoryClient.make(HttpServer.make(script, note))
  const http = yield* StreamableHttp.make({ url }).pipe(Effect.provideService(HttpClient.HttpClient, httpClient))
  let wires = 0

  const pipe: ScriptedServer["pipe"] = (kind = "memory") =>
    Transport.of({
      kind,
      endpoint: command,
      reopenable: kind === "stdio",
      open: (hear) =>
        Pipe.open({ endpoint: command, hear, connect: (listener) => connect(script, ++wires, note, kind, listener) })
    })

  return { script, transcript: Effect.sync(() => [...entries]), pipe, http, httpClient, url }
})

const encoder = new TextEncoder()

const connect = Effect.fnUntraced(function* (
  script: Script,
  wire: number,
  note: Note,
  kind: Kind,
  listener: Pipe.Listener
) {
  const run = yield* FiberSet.makeRuntime()
  let stderr = ""
  let ended = false
  const end = (reason: Reason) => {
    ended = true
    listener.ended(reason)
  }
  const close = () => end(new Closed({ because: "the server closed its output" }))
  const server = PipeServer.make(script, wire, note, {
    stdout: (text) => listener.data(encoder.encode(text)),
    stderr: (text) => {
      stderr += text
    },
    exit: (code) => (kind === "stdio" ? end(new Exited({ command, code, signal: null, stderr })) : close()),
    close
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (!ended) note({ event: "ended", wire })
      ended = true
    })
  )
  run(server.open)
  return {
    write: (lines: string) => {
      for (const work of ended ? [] : server.take(lines)) run(work)
      return true
    }
  } satisfies Pipe.Pipe
})
