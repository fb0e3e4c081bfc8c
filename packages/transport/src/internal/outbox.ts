/**
 * Text on its way to something that pulls: a child's stdin, a socket, a server in the same program.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** Text that may wait to be pulled, in characters. */
const highWater = 64 * 1024

const encoder = new TextEncoder()

export interface Outbox {
  readonly stream: Stream.Stream<Uint8Array>
  /** Adds text; false means that enough is waiting until `drained` is called. */
  readonly write: (text: string) => boolean
  /** How much text is waiting, in characters. */
  readonly waiting: () => number
  /** Ends the stream once everything has been pulled. */
  readonly close: () => void
}

/** Text waiting to be written: pulled as a whole each time the child has taken the last piece. */
export const make = (drained: () => void): Outbox => {
  let text = ""
  let full = false
  let closed = false
  let wake: (() => void) | undefined
  const waiting = Effect.callback<void>((resume) => {
    wake = () => resume(Effect.void)
  })
  const pull: Effect.Effect<readonly [Uint8Array], Cause.Done> = Effect.suspend(() => {
    if (text === "") return closed ? Cause.done() : Effect.andThen(waiting, pull)
    const bytes = encoder.encode(text)
    text = ""
    if (full) {
      full = false
      drained()
    }
    return Effect.succeed([bytes] as const)
  })
  return {
    stream: Stream.fromPull(Effect.succeed(pull)),
    write: (lines: string): boolean => {
      text += lines
      full = text.length >= highWater
      wake?.()
      return !full
    },
    waiting: () => text.length,
    close: () => {
      closed = true
      wake?.()
    }
  }
}
