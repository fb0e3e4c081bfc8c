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
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
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
  /**
   * One connection of a carrier of your own, a socket for instance: give what you read to the function that comes back,
   * and `write` what the server says. `close` asks you to end the connection. It lives as long as the scope.
   */
  readonly attach: (output: {
    readonly write: (text: string) => void
    readonly close: () => void
  }) => Effect.Effect<(text: string) => void, never, Scope.Scope>
}

/** How many there are by now. Each has an address of its own, since what a client remembers of one outlives its test. */
let made = 0

/**
 * What a server may be given.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Stands in the address and in place of the command, so it must be able to be part of a host name. Servers of one name
   * stand at one address, one after another: what a client remembered of the first, it has of the second. A number of its
   * own by default.
   */
  readonly name?: string
}

/**
 * Makes a server. Its pipes and its HTTP client share one transcript.
 *
 * @example
 * ```ts
 * import { McpClient } from "@mcp-effect/client"
 * import { Script, ScriptedServer } from "@mcp-effect/testing"
 * import { Effect } from "effect"
 *
 * const test = Effect.gen(function* () {
 *   const server = yield* ScriptedServer.make(Script.both())
 *   const client = yield* McpClient.connect(server.pipe())
 *   return yield* client.callTool("echo", { text: "hello" })
 * }).pipe(Effect.scoped)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  script: Script,
  { name = `scripted-${++made}` }: Options = {}
): Effect.fn.Return<ScriptedServer> {
  const clock = yield* Clock.Clock
  const entries: Array<Entry> = []
  const note: Note = (entry) => void entries.push({ ...entry, at: clock.currentTimeMillisUnsafe() })
  const url = `http://${name}.test/mcp`
  /** What stands for a command line; nothing is started. */
  const command = name
  const httpClient = MemoryClient.make(HttpServer.make(script, note))
  const http = yield* StreamableHttp.make({ url }).pipe(Effect.provideService(HttpClient.HttpClient, httpClient))
  let wires = 0

  const pipe: ScriptedServer["pipe"] = (kind = "memory") =>
    Transport.of({
      kind,
      endpoint: command,
      reopenable: kind === "stdio",
      open: (hear) =>
        Pipe.open({
          endpoint: command,
          hear,
          connect: (listener) => connect(script, ++wires, note, { command, kind }, listener)
        })
    })

  const attach: ScriptedServer["attach"] = ({ close, write }) =>
    serve(script, ++wires, note, { stdout: write, stderr: () => undefined, exit: close, close })

  return { script, transcript: Effect.sync(() => [...entries]), pipe, http, httpClient, url, attach }
})

const encoder = new TextEncoder()

/** Runs the server of one wire in the scope; what comes back takes what the client wrote. */
const serve = Effect.fnUntraced(function* (script: Script, wire: number, note: Note, output: PipeServer.Output) {
  const run = yield* FiberSet.makeRuntime()
  let ended = false
  const ending =
    <A extends ReadonlyArray<unknown>>(how: (...args: A) => void) =>
    (...args: A) => {
      ended = true
      how(...args)
    }
  const server = PipeServer.make(script, wire, note, {
    ...output,
    exit: ending(output.exit),
    close: ending(output.close)
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (!ended) note({ event: "ended", wire })
      ended = true
    })
  )
  run(server.open)
  return (text: string): void => {
    for (const work of ended ? [] : server.take(text)) run(work)
  }
})

const connect = Effect.fnUntraced(function* (
  script: Script,
  wire: number,
  note: Note,
  { command, kind }: { readonly command: string; readonly kind: Kind },
  listener: Pipe.Listener
) {
  let stderr = ""
  const end = (reason: Reason) => listener.ended(reason)
  const close = () => end(new Closed({ because: "the server closed its output" }))
  const take = yield* serve(script, wire, note, {
    stdout: (text) => listener.data(encoder.encode(text)),
    stderr: (text) => {
      stderr += text
    },
    exit: (code) => (kind === "stdio" ? end(new Exited({ command, code, signal: null, stderr })) : close()),
    close
  })
  return {
    write: (lines: string) => {
      take(lines)
      return true
    }
  } satisfies Pipe.Pipe
})

/**
 * Runs an effect on a test clock of its own, moved on until the effect is done: hours of waiting take milliseconds. For
 * scripted servers in memory; real processes and sockets need real time.
 *
 * @category running
 * @since 0.1.0
 */
export const unhurried = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(step)
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(TestClock.layer()))

const step = "500 millis"
