/**
 * One source for many: readers of a stream, of whom late ones get the last items and slow ones lose the oldest, with the
 * losses counted; and listeners, who are told at once and miss nothing.
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

export interface Broadcast<A> {
  readonly publish: (item: A) => void
  readonly stream: Stream.Stream<A>
  /** Tells the kept items, and then each as it comes, until what is given back is called, or until `hear` throws. */
  readonly listen: (hear: (item: A) => void, threw: (because: string) => void) => () => void
  /** How many items readers have lost. */
  readonly missed: () => number
  readonly end: () => void
}

/** How many items wait for a slow reader beside those that are kept for late ones. */
const waiting = 1_024

/** How many items are kept for late readers where the program gave no number of them. */
const usual = 256

export const make = <A extends object>(given = usual): Broadcast<A> => {
  const kept = Number.isFinite(given) ? Math.max(0, Math.floor(given)) : usual
  const recent: Array<A> = []
  const readers = new Set<Queue.Queue<A, Cause.Done>>()
  const listeners = new Set<(item: A) => void>()
  const untold: Array<A> = []
  let telling = false
  let missed = 0
  let ended = false
  /** In order for each listener, also when one of them makes something happen. */
  const tell = (item: A) => {
    untold.push(item)
    if (telling) return
    telling = true
    for (let next = untold.shift(); next !== undefined; next = untold.shift()) {
      for (const listener of listeners) listener(next)
    }
    telling = false
  }
  return {
    publish: (item) => {
      if (ended) return
      recent.push(item)
      if (recent.length > kept) recent.shift()
      for (const reader of readers) {
        if (Queue.isFullUnsafe(reader)) missed++
        Queue.offerUnsafe(reader, item)
      }
      tell(item)
    },
    listen: (hear, threw) => {
      const listener = (item: A) => {
        const told = Result.try({ try: () => hear(item), catch: (thrown) => excerpt(String(thrown)) })
        if (Result.isSuccess(told) || !listeners.delete(listener)) return
        threw(told.failure)
      }
      listeners.add(listener)
      for (const item of recent.slice()) if (listeners.has(listener)) listener(item)
      return () => void listeners.delete(listener)
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
      listeners.clear()
    }
  }
}
