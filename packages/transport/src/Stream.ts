/**
 * A server at the other end of a byte stream: TCP, a Unix socket, a WebSocket, anything Effect has a `Socket` for.
 *
 * One message per line, as over stdio. This module is also the worked example of a transport of one's own: what a new
 * one has to say is how to connect, where bytes go, and when it is over; `Pipe` does the rest.
 *
 * @since 0.1.0
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Socket from "effect/socket/Socket"
import * as EffectStream from "effect/Stream"
import * as Outbox from "./internal/outbox.ts"
import * as Pipe from "./Pipe.ts"
import { Transport } from "./Transport.ts"
import { Closed, TransportError, Unreachable } from "./TransportError.ts"

/**
 * Makes a transport from a way to open a socket. It is opened for each wire and closed with its scope.
 *
 * @example
 * ```ts
 * const transport = yield* Stream.make("tcp://127.0.0.1:7000", NodeSocket.makeNet({ port: 7000 }))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* <R>(
  /** Names the server in messages, and keys its remembered era. */
  name: string,
  socket: Effect.Effect<Socket.Socket, Socket.SocketError, R | Scope.Scope>
): Effect.fn.Return<Transport["Service"], never, R> {
  const context = yield* Effect.context<R>()
  const unreachable = (cause: Socket.SocketError) =>
    new TransportError({ endpoint: name, reason: new Unreachable({ because: cause.message, cause }) })

  const connect = Effect.fnUntraced(function* (listener: Pipe.Listener) {
    const open = yield* Effect.contextWith((caller: Context.Context<Scope.Scope>) =>
      Effect.provideContext(socket, Context.merge(context, caller))
    )
    const { pull } = yield* open.reader
    const { writeAll } = yield* open.writer
    const output = Outbox.make(listener.drained)
    const patience = yield* Defaults.ShutdownPatience
    const over = (error: Socket.SocketError) =>
      Effect.sync(() => listener.ended(new Closed({ because: error.message })))

    yield* pull.pipe(
      Effect.map((chunks) => chunks.forEach((chunk) => listener.data(bytesOf(chunk)))),
      Effect.forever,
      Effect.catch(over),
      Effect.forkScoped
    )
    const writing = yield* output.stream.pipe(
      EffectStream.runForEachArray(writeAll),
      Effect.catch(over),
      Effect.forkScoped
    )
    yield* Effect.addFinalizer(() => {
      output.close()
      return Effect.timeoutOption(Fiber.await(writing), patience)
    })
    return { write: output.write }
  }, Effect.mapError(unreachable))
  return Transport.of({
    kind: "stream",
    endpoint: name,
    reopenable: true,
    open: (hear) => Pipe.open({ endpoint: name, hear, connect })
  })
})

const encoder = new TextEncoder()

const bytesOf = (chunk: Uint8Array | string): Uint8Array => (typeof chunk === "string" ? encoder.encode(chunk) : chunk)

/**
 * The transport as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R>(
  name: string,
  socket: Effect.Effect<Socket.Socket, Socket.SocketError, R | Scope.Scope>
): Layer.Layer<Transport, never, R> => Layer.effect(Transport, make(name, socket))
