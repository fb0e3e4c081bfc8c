/**
 * A log of everything a transport sends and hears, with direction and time; it can be kept in a file and replayed.
 *
 * It wraps any transport, so it is switched on where the transport is provided and costs nothing otherwise. It holds
 * messages, never headers or environments; members of messages whose names speak of secrets are hidden.
 *
 * @since 0.1.0
 */
import { Diagnostic, reporter } from "@mcp-effect/protocol/Diagnostic"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { contained } from "./internal/contained.ts"
import * as Outbox from "./internal/outbox.ts"
import * as Replay from "./internal/replay.ts"
import { type Incoming, type Open, Transport, type Wire } from "./Transport.ts"
import type { TransportError } from "./TransportError.ts"

/**
 * One thing that happened on a wire. Wires are counted from 1, `at` is in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export type Entry =
  | { readonly event: "opened"; readonly wire: number; readonly at: number; readonly endpoint: string }
  | { readonly event: "sent"; readonly wire: number; readonly at: number; readonly message: JsonRpc.Message }
  | { readonly event: "heard"; readonly wire: number; readonly at: number; readonly message: JsonRpc.Message }
  | {
      readonly event: "failed"
      readonly wire: number
      readonly at: number
      /** The request that failed; absent for a notification and for the opening. */
      readonly id?: JsonRpc.RequestId
      /** The tag of the reason. */
      readonly reason: string
      readonly because: string
    }
  | { readonly event: "interrupted"; readonly wire: number; readonly at: number; readonly id: JsonRpc.RequestId }
  | { readonly event: "closed"; readonly wire: number; readonly at: number }

/**
 * Where entries go: called synchronously, in order. One that throws is reported and hears no more of that wire.
 *
 * @category models
 * @since 0.1.0
 */
export type Write = (entry: Entry) => void

/**
 * Wraps a transport so that everything on its wires is written.
 *
 * @example
 * ```ts
 * const entries: Array<ExchangeLog.Entry> = []
 * const logged = ExchangeLog.record(transport, (entry) => entries.push(entry))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const record = (transport: Transport["Service"], writer: Write): Transport["Service"] => {
  let wires = 0
  const recorded =
    (open: Open): Open =>
    (hear) =>
      Effect.gen(function* () {
        const wire = ++wires
        const write = contained(transport.endpoint, "the writer of the exchange log", writer, yield* reporter)
        const clock = yield* Clock.Clock
        const now = () => ({ wire, at: clock.currentTimeMillisUnsafe() })
        const sent = (message: JsonRpc.Message) => write({ event: "sent", ...now(), message: Replay.redact(message) })
        const heard = (message: JsonRpc.Message) => write({ event: "heard", ...now(), message: Replay.redact(message) })
        const failed = (id?: JsonRpc.RequestId) => (error: TransportError) =>
          Effect.sync(() =>
            write({
              event: "failed",
              ...now(),
              ...(id === undefined ? {} : { id }),
              reason: error.reason._tag,
              because: error.message
            })
          )
        const listen = (to: (message: Incoming) => void) => (message: Incoming) => {
          heard(message)
          to(message)
        }
        const inner = yield* Effect.tapError(open(listen(hear)), failed())
        write({ event: "opened", ...now(), endpoint: transport.endpoint })
        yield* Effect.addFinalizer(() => Effect.sync(() => write({ event: "closed", ...now() })))
        const logged: Wire = {
          ...inner,
          exchange: (request, how) =>
            Effect.suspend(() => {
              sent(request)
              return inner
                .exchange(request, how.interim === undefined ? how : { ...how, interim: listen(how.interim) })
                .pipe(
                  Effect.onExit((exit) =>
                    Exit.isSuccess(exit)
                      ? Effect.sync(() => heard(exit.value))
                      : Exit.hasInterrupts(exit)
                        ? Effect.sync(() => write({ event: "interrupted", ...now(), id: request.id }))
                        : Effect.void
                  ),
                  Effect.tapError(failed(request.id))
                )
            }),
          send: (message, revision) =>
            Effect.suspend(() => {
              sent(message)
              return Effect.tapError(inner.send(message, revision), failed())
            })
        }
        return logged
      })
  const { openHttpSse } = transport
  return Transport.of({
    ...transport,
    open: recorded(transport.open),
    ...(openHttpSse === undefined ? {} : { openHttpSse: recorded(openHttpSse) })
  })
}

/**
 * Records the transport below.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (write: Write): Layer.Layer<Transport, never, Transport> =>
  Layer.effect(
    Transport,
    Effect.map(Transport, (transport) => record(transport, write))
  )

/** Text that may wait for the disk, in characters; entries beyond it are lost. */
const maxWaiting = 64 * 1024 * 1024

/** How long the end of the scope waits for the disk. */
const lastPatience = "5 seconds"

const lineEnd = Uint8Array.of(10)

/**
 * Appends entries to a file, one JSON object per line, readable by its owner alone. What was written before the scope
 * closes is in the file afterwards, unless the disk needs more than 5 seconds for the rest.
 *
 * Fails with `PlatformError` when the file cannot be opened. Later trouble never reaches the wire: a write that fails
 * loses its entries, and so does a disk that cannot keep up, once 64 Mi characters wait for it. Both are reported as
 * `CallbackFailed`, the first time and at each doubling, and the next entries are tried again.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toFile = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<Write, PlatformError.PlatformError, FileSystem.FileSystem | Scope.Scope> {
  const file = yield* (yield* FileSystem.FileSystem).open(path, { flag: "a", mode: 0o600 })
  const report = yield* reporter
  const lost = (what: string) => (because: string) =>
    report(Diagnostic.CallbackFailed({ server: path, callback: `the exchange log (${what})`, because, failed: 1 }))
  const notWritten = lost("a write")
  const notKept = lost("an entry")
  const lines = Outbox.make(() => {})
  let isTorn = false
  const append = (bytes: Uint8Array) =>
    // A write that failed may have left half a line, which must not swallow the next one.
    Effect.andThen(isTorn ? file.writeAll(lineEnd) : Effect.void, file.writeAll(bytes)).pipe(
      Effect.match({
        onSuccess: () => {
          isTorn = false
        },
        onFailure: ({ message }) => {
          isTorn = true
          notWritten(message)
        }
      })
    )
  const writing = yield* lines.stream.pipe(
    Stream.runForEach((bytes) => Effect.suspend(() => append(bytes))),
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() => {
    lines.close()
    return Effect.timeoutOrElse(Fiber.await(writing), {
      duration: lastPatience,
      orElse: () => Effect.sync(() => notWritten(`the disk did not take the rest within ${lastPatience}`))
    })
  })
  return (entry) => {
    if (lines.waiting() < maxWaiting) lines.write(`${JSON.stringify(entry)}\n`)
    else notKept("the disk cannot keep up")
  }
})

/**
 * Reads a log back. Lines that are no entries, such as a torn last one or one without a message, are left out.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (text: string): ReadonlyArray<Entry> =>
  text.split("\n").flatMap((line) => {
    const value = Result.try((): unknown => JSON.parse(line))
    return Result.isSuccess(value) && Replay.isEntry(value.success) ? [value.success] : []
  })

/**
 * A transport that answers from a log: its first wire as the first wire in the log, and so on. A request is answered as
 * the next one in the log with the same method and parameters was; ids are translated. A request that the log does not
 * hold fails with `Closed`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const replay = (name: string, entries: ReadonlyArray<Entry>): Transport["Service"] => Replay.make(name, entries)
