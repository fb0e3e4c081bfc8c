/** A stream for many readers: late ones get the last items, slow ones lose the oldest, and the losses are counted. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"

export interface Broadcast<A> {
  readonly publish: (item: A) => void
  readonly stream: Stream.Stream<A>
  /** How many items readers have lost. */
  readonly missed: () => number
  readonly end: () => void
}

/** How many items wait for a slow reader beside those that are kept for late ones. */
const waiting = 1_024

export const make = <A>(kept: number): Broadcast<A> => {
  const recent: Array<A> = []
  const readers = new Set<Queue.Queue<A, Cause.Done>>()
  let missed = 0
  let ended = false
  return {
    publish: (item) => {
      if (ended) return
      recent.push(item)
      if (recent.length > kept) recent.shift()
      for (const reader of readers) {
        if (Queue.isFullUnsafe(reader)) missed++
        Queue.offerUnsafe(reader, item)
      }
    },
    stream: Stream.callback<A>(
      (queue) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            for (const item of recent) Queue.offerUnsafe(queue, item)
            if (ended) Queue.endUnsafe(queue)
            else readers.add(queue)
          }),
          () => Effect.sync(() => readers.delete(queue))
        ),
      { bufferSize: kept + waiting, strategy: "sliding" }
    ),
    missed: () => missed,
    end: () => {
      ended = true
      for (const reader of readers) Queue.endUnsafe(reader)
      readers.clear()
    }
  }
}
