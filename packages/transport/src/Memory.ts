/**
 * A server object in the same program, without sockets or processes.
 *
 * Four ways in, by what the server is: anything that takes and gives messages (`make`, also the linked pair for tests),
 * a server of an official SDK (`fromSdk`), an Effect program written for stdio such as `McpServer.layerStdio`
 * (`fromStdio`), and a web handler from `Request` to `Response` (`fromHandler`).
 *
 * @since 0.1.0
 */
import { Diagnostic, reporter } from "@mcp-effect/protocol/Diagnostic"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Multiplexer from "./internal/multiplexer.ts"
import * as Outbox from "./internal/outbox.ts"
import * as Pipe from "./Pipe.ts"
import * as StreamableHttp from "./StreamableHttp.ts"
import { type Open, Transport } from "./Transport.ts"
import { Closed, TransportError } from "./TransportError.ts"

/**
 * The way back from a server to its client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Link {
  /** Sends a message to the client; at once, in order, and not copied. */
  readonly send: (message: unknown) => void
  /** Ends the wire. */
  readonly close: (because: string) => void
}

/**
 * What takes the client's messages: one after the other, each in a turn of its own after it was sent. When it throws, the
 * wire has ended.
 *
 * @category models
 * @since 0.1.0
 */
export type Receive = (message: JsonRpc.Message) => void

const memory = (name: string, open: Open): Transport["Service"] =>
  Transport.of({ kind: "memory", endpoint: name, reopenable: true, open })

/**
 * A transport to anything that takes and gives messages. `connect` is run for each wire, in its scope.
 *
 * @example
 * ```ts
 * const echo = Memory.make("echo", ({ send }) =>
 *   Effect.succeed((message) => {
 *     if (JsonRpc.isRequest(message)) send({ jsonrpc: "2.0", id: message.id, result: {} })
 *   })
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  /** Names the server in messages, and keys its remembered era. */
  name: string,
  connect: (link: Link) => Effect.Effect<Receive, TransportError, Scope.Scope>
): Transport["Service"] =>
  memory(name, (hear) =>
    Effect.gen(function* () {
      const report = yield* reporter
      const multiplexer = Multiplexer.make({ endpoint: name, hear, report })
      let skipped = 0
      let receive: Receive | undefined = yield* connect({
        send: (message) => {
          const shown = () => excerpt(JSON.stringify(message) ?? String(message))
          for (const one of Array.isArray(message) ? message : [message]) {
            const read = JsonRpc.classify(one)
            if (Result.isSuccess(read)) {
              multiplexer.message(read.success)
              continue
            }
            if (multiplexer.broken(read.failure, shown)) continue
            skipped++
            report(Diagnostic.NoiseSkipped({ server: name, excerpt: shown(), skipped }))
          }
        },
        close: (because) => multiplexer.ended(new Closed({ because }))
      })
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          receive = undefined
          multiplexer.ended(new Closed({ because: "this side closed it" }))
        })
      )
      const deliver = (message: JsonRpc.Message) => {
        const received = Result.try({ try: () => receive?.(message), catch: (thrown) => excerpt(String(thrown)) })
        if (Result.isSuccess(received)) return
        receive = undefined
        multiplexer.ended(new Closed({ because: `the server threw ${received.failure}` }))
      }
      return multiplexer.wire((message) => {
        queueMicrotask(() => deliver(message))
        return true
      })
    })
  )

/**
 * A transport of an official SDK, as far as a server needs one.
 *
 * @category models
 * @since 0.1.0
 */
export interface SdkTransport {
  start(): Promise<void>
  send(message: unknown, options?: unknown): Promise<void>
  close(): Promise<void>
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: ((message: object) => void) | undefined
}

/**
 * A server of an official SDK: `McpServer` or `Server`, of either line.
 *
 * @category models
 * @since 0.1.0
 */
export interface SdkServer {
  connect(transport: SdkTransport): Promise<void>
  close(): Promise<void>
}

/**
 * A transport to a server of an official SDK. Such a server serves one connection, so each wire gets a new one.
 *
 * @example
 * ```ts
 * Memory.fromSdk("tools", () => makeMyMcpServer())
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromSdk = (name: string, server: () => SdkServer): Transport["Service"] =>
  make(
    name,
    Effect.fnUntraced(function* (link) {
      const patience = yield* Defaults.ShutdownPatience
      const transport: SdkTransport = {
        start: () => Promise.resolve(),
        // Members that are undefined are none on any other wire.
        send: async (message) => link.send(JSON.parse(JSON.stringify(message))),
        close: () => {
          link.close("the server closed it")
          transport.onclose?.()
          return Promise.resolve()
        }
      }
      const failed = (cause: unknown) =>
        new TransportError({
          endpoint: name,
          reason: new Closed({
            because: `the server did not start (${cause instanceof Error ? cause.message : String(cause)})`
          })
        })
      const started = yield* Effect.try({ try: server, catch: failed })
      yield* Effect.acquireRelease(Effect.tryPromise({ try: () => started.connect(transport), catch: failed }), () =>
        Effect.ignore(
          Effect.timeoutOption(
            Effect.tryPromise(() => started.close()),
            patience
          )
        )
      )
      return (message) => transport.onmessage?.(message)
    })
  )

const encoder = new TextEncoder()

/**
 * A transport to an Effect program that speaks over `Stdio`, such as `McpServer.layerStdio` with its registrations. The
 * layer is built anew for each wire and ends with it.
 *
 * @example
 * ```ts
 * const transport = Memory.fromStdio("tools", McpServer.layerStdio({ name, version, protocols, registrations }))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromStdio = Effect.fnUntraced(function* <A, E, R>(
  name: string,
  server: Layer.Layer<A, E, R | Stdio.Stdio>
): Effect.fn.Return<Transport["Service"], never, Exclude<R, Stdio.Stdio>> {
  const context = yield* Effect.context<Exclude<R, Stdio.Stdio>>()
  return memory(name, (hear) => {
    const connect = Effect.fnUntraced(function* (listener: Pipe.Listener) {
      const input = Outbox.make(listener.drained)
      const stdio = Stdio.make({
        args: Effect.succeed([]),
        stdin: input.stream,
        stdout: () =>
          Sink.forEach((output: string | Uint8Array) =>
            Effect.sync(() => listener.data(typeof output === "string" ? encoder.encode(output) : output))
          ),
        stderr: () => Sink.drain
      })
      // In a fiber of its own: a stdio server ends the fiber that built it when its output ends.
      yield* Layer.launch(Layer.fresh(Layer.provide(server, Layer.succeed(Stdio.Stdio, stdio)))).pipe(
        Effect.provideContext(context),
        Effect.onExit((exit) => Effect.sync(() => listener.ended(new Closed({ because: howItEnded(exit) })))),
        Effect.forkScoped
      )
      yield* Effect.addFinalizer(() => Effect.sync(input.close))
      return { write: input.write }
    })
    return Pipe.open({ endpoint: name, hear, connect })
  })
})

const howItEnded = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)
    ? `the server failed (${Cause.prettyErrors(exit.cause)[0]?.message ?? "unknown"})`
    : "the server ended"

/**
 * A transport to a web handler: one function from `Request` to `Response`, such as the `fetch` of the official SDK's
 * `createMcpHandler`, or `HttpRouter.toWebHandler`. It speaks Streamable HTTP, so its kind is `http`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromHandler = (
  name: string,
  handler: (request: Request) => Response | Promise<Response>,
  options?: Partial<StreamableHttp.Options>
): Effect.Effect<Transport["Service"]> =>
  StreamableHttp.make({ url: "http://localhost/mcp", ...options }).pipe(
    Effect.map(({ openHttpSse: _, ...transport }) => Transport.of({ ...transport, endpoint: name })),
    Effect.provide(
      FetchHttpClient.layer.pipe(
        Layer.provide(
          Layer.succeed(FetchHttpClient.Fetch, (input, init) => Promise.resolve(handler(new Request(input, init))))
        )
      )
    )
  )
