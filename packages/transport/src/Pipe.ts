/**
 * Wires over a pipe: any two-way flow of bytes that carries one JSON-RPC message per line.
 *
 * A pipe pushes what it reads and takes what is written; this module makes exchanges of that: it splits lines, skips
 * noise, matches answers, writes a request that is alone at once and those of one turn together, and holds back when the
 * pipe is full. `Stdio` and `Stream` are built on it, and so is a transport of your own. What the bytes travel over is the
 * pipe's business.
 *
 * @since 0.1.0
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { Diagnostic, reporter } from "@mcp-effect/protocol/Diagnostic"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Envelope from "./internal/envelope.ts"
import * as Lines from "./internal/lines.ts"
import * as Multiplexer from "./internal/multiplexer.ts"
import type { Dialect, Incoming, Wire } from "./Transport.ts"
import { Closed, type Reason, TooLarge, type TransportError } from "./TransportError.ts"

/**
 * What a pipe tells its user. All calls are synchronous and in order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listener {
  /** Bytes that came, cut anywhere. */
  readonly data: (bytes: Uint8Array) => void
  /** There is room again after `write` said no. */
  readonly drained: () => void
  /** The pipe is gone, and why. Only the first call counts. */
  readonly ended: (reason: Reason) => void
}

/**
 * The sending side of an open pipe.
 *
 * @category models
 * @since 0.1.0
 */
export interface Pipe {
  /** Takes whole lines. It must not throw. False means: taken, but send no more until `drained`. */
  readonly write: (lines: string) => boolean
  /** The end of what the other side's process has written to its standard error so far. */
  readonly stderr?: () => string
}

/**
 * Text that is gathered before it is handed over, in characters. With more of it the server would begin late, and work
 * while this side waits instead of beside it.
 */
const handful = 4 * 1024

/** What stands in the way of a noise flood filling the log: the first line and every doubling is reported. */
const isPowerOfTwo = (count: number) => Number.isInteger(Math.log2(count))

/**
 * Opens a wire over a pipe. `connect` opens the pipe in the scope it is run in and closes it with that scope; before
 * that, everything written has been handed over.
 *
 * Lines longer than `Defaults.MaxMessageBytes` end the wire with `TooLarge`. Lines that are no message are skipped and
 * reported as `NoiseSkipped`: the first, and then each time their number has doubled.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = Effect.fnUntraced(function* <R>(options: {
  /** Names the server in errors and diagnostics. */
  readonly endpoint: string
  readonly hear: (message: Incoming) => void
  readonly connect: (listener: Listener) => Effect.Effect<Pipe, TransportError, R>
}): Effect.fn.Return<Wire, TransportError, R | Scope.Scope> {
  const { endpoint, hear } = options
  const limit = yield* Defaults.MaxMessageBytes
  const bounds = yield* Envelope.bounds
  const report = yield* reporter

  const multiplexer = Multiplexer.make({ endpoint, hear, report })
  let pipe: Pipe | undefined
  let text = ""
  let scheduled = false
  let blocked = false
  let heldBack = false
  let noise = 0

  const hand = () => {
    if (blocked || pipe === undefined || text === "") return
    const lines = text
    text = ""
    blocked = !pipe.write(lines)
  }

  const flush = () => {
    scheduled = false
    hand()
    if (blocked || pipe === undefined || !heldBack) return
    heldBack = false
    multiplexer.drained()
  }

  const post = (message: JsonRpc.Message, _: Dialect, alone: boolean): boolean => {
    text += `${JSON.stringify(message)}\n`
    if (!scheduled && !blocked && !alone) {
      scheduled = true
      queueMicrotask(flush)
    }
    if (alone || text.length >= handful) hand()
    // Until `drained`: a pipe may have room again, and be written to, before those that wait for it are told.
    if (blocked) heldBack = true
    return !heldBack
  }

  const ended = (reason: Reason) => {
    pipe = undefined
    text = ""
    multiplexer.ended(reason)
  }

  const skip = (line: string) => {
    noise++
    if (isPowerOfTwo(noise)) {
      report(Diagnostic.NoiseSkipped({ server: endpoint, excerpt: excerpt(line), skipped: noise }))
    }
  }

  const readLines = Lines.make({
    limit,
    line: (line) => {
      if (!looksLikeJson.test(line)) {
        if (line.trim() !== "") skip(line)
        return
      }
      for (const read of JsonRpc.parse(line, bounds)) {
        if (Result.isSuccess(read)) multiplexer.message(read.success)
        else if (!multiplexer.broken(read.failure, () => line)) skip(line)
      }
    },
    tooLong: () => ended(new TooLarge({ limit, what: "line" }))
  })

  pipe = yield* options.connect({
    data: readLines,
    drained: () => {
      blocked = false
      flush()
    },
    ended
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      flush()
      ended(new Closed({ because: "this side closed it" }))
    })
  )
  return { ...multiplexer.wire(post), stderr: pipe.stderr }
})

const looksLikeJson = /^\s*[[{]/
