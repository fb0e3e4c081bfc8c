/**
 * What waits for one reader of changes, each under a key. A change that waits already keeps its place, so a slow reader
 * costs no memory and misses nothing.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Change } from "../Change.ts"
import type { McpClientError } from "../McpClientError.ts"

export interface Mailbox {
  readonly put: (key: string, change: Change) => void
  /** The same for what holds until it is said otherwise: it moves behind all that waits. */
  readonly putLast: (key: string, change: Change) => void
  readonly size: () => number
  /** Everything that waits, at once and without waiting. */
  readonly drain: () => ReadonlyArray<Change>
  /** Waits for something and takes everything there is; what waited is still given after the end. */
  readonly take: Effect.Effect<readonly [Change, ...ReadonlyArray<Change>], McpClientError | Cause.Done>
  /** Nothing more comes. Only the first call counts. */
  readonly end: (how: Effect.Effect<never, McpClientError | Cause.Done>) => void
}

/** The end of a stream that has no more to say. */
export const noMore = Cause.done()

export const make = (): Mailbox => {
  const waiting = new Map<string, Change>()
  const something = Latch.makeUnsafe(false)
  let ended: Effect.Effect<never, McpClientError | Cause.Done> | undefined

  const drain = () => {
    const all = [...waiting.values()]
    waiting.clear()
    if (ended === undefined) something.closeUnsafe()
    return all
  }
  const take: Mailbox["take"] = Effect.suspend(() => {
    const [first, ...rest] = drain()
    if (first !== undefined) return Effect.succeed([first, ...rest] as const)
    return ended ?? Effect.andThen(something.await, take)
  })

  const put: Mailbox["put"] = (key, change) => {
    if (ended !== undefined) return
    waiting.set(key, change)
    something.openUnsafe()
  }

  return {
    size: () => waiting.size,
    put,
    putLast: (key, change) => {
      waiting.delete(key)
      put(key, change)
    },
    drain,
    take,
    end: (how) => {
      ended ??= how
      something.openUnsafe()
    }
  }
}
