/** A limit on time that stands still while somebody is being asked (U-57). */
import { McpClientError, timeOf } from "@mcp-effect/client/McpClientError"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/** A clock that stands still while somebody is being asked. */
export interface Stopwatch {
  /** Milliseconds that have counted. */
  readonly passed: () => number
  /** Waits until nobody is being asked. */
  readonly running: Effect.Effect<void>
  /** Runs an effect that asks somebody. */
  readonly asking: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const stopwatch = Effect.map(Clock.Clock, (clock): Stopwatch => {
  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000
  const latch = Latch.makeUnsafe(true)
  let asked = 0
  /** Milliseconds that did not count, and since when none do. */
  let stood = 0
  let since = 0
  const stop = Effect.sync(() => {
    if (asked++ > 0) return
    since = now()
    latch.closeUnsafe()
  })
  const go = Effect.sync(() => {
    if (--asked > 0) return
    stood += now() - since
    latch.openUnsafe()
  })
  return {
    passed: () => (asked > 0 ? since : now()) - stood,
    running: latch.await,
    asking: (effect) =>
      Effect.acquireUseRelease(
        stop,
        () => effect,
        () => go
      )
  }
})

/** A time that an entry or a call gave for a server. */
export const millisOf = (server: string, option: string, given: Duration.Input) =>
  Effect.mapError(Effect.fromResult(timeOf(option, given)), (reason) => new McpClientError({ server, reason }))

/** Ends when `limit` milliseconds have counted. */
const expired = (limit: number, { passed, running }: Stopwatch): Effect.Effect<void> =>
  Effect.suspend(() => {
    const until = passed() + limit
    const wait: Effect.Effect<void> = Effect.suspend(() => {
      const left = Math.ceil(until - passed())
      return left <= 0 ? Effect.void : Effect.andThen(Effect.sleep(left), Effect.andThen(running, wait))
    })
    return wait
  })

/** The effect, or the failure once its time is over. */
export const within = <A, E, R, E2>(
  effect: Effect.Effect<A, E, R>,
  options: {
    readonly limit: number
    /** When time begins to count. */
    readonly begins: Effect.Effect<void>
    readonly stopwatch: Stopwatch
    readonly onTimeout: () => E2
  }
): Effect.Effect<A, E | E2, R> =>
  Effect.raceFirst(
    effect,
    Effect.andThen(
      Effect.andThen(options.begins, expired(options.limit, options.stopwatch)),
      Effect.suspend(() => Effect.fail(options.onTimeout()))
    )
  )
