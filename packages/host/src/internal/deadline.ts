/** A limit on time that stands still while somebody is being asked (U-57). */
import { McpClientError, timeOf } from "@mcp-effect/client/McpClientError"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"

const when = (count: SubscriptionRef.SubscriptionRef<number>, fits: (count: number) => boolean) =>
  SubscriptionRef.changes(count).pipe(Stream.filter(fits), Stream.take(1), Stream.runDrain)

/** A time that an entry or a call gave for a server. */
export const millisOf = (server: string, option: string, given: Duration.Input) =>
  Effect.mapError(Effect.fromResult(timeOf(option, given)), (reason) => new McpClientError({ server, reason }))

/** Ends when `limit` milliseconds have passed in which `asking` was 0. */
const expired = (limit: number, asking: SubscriptionRef.SubscriptionRef<number>): Effect.Effect<void> =>
  Effect.gen(function* () {
    let left = limit
    while (left > 0) {
      yield* when(asking, (count) => count === 0)
      const began = yield* Clock.currentTimeMillis
      yield* Effect.timeoutOption(
        when(asking, (count) => count > 0),
        left
      )
      left -= (yield* Clock.currentTimeMillis) - began
    }
  })

/** The effect, or the failure once its time is over. */
export const within = <A, E, R, E2>(
  effect: Effect.Effect<A, E, R>,
  options: {
    readonly limit: number
    /** When time begins to count. */
    readonly begins: Effect.Effect<void>
    readonly asking: SubscriptionRef.SubscriptionRef<number>
    readonly onTimeout: () => E2
  }
): Effect.Effect<A, E | E2, R> =>
  Effect.raceFirst(
    effect,
    Effect.andThen(
      Effect.andThen(options.begins, expired(options.limit, options.asking)),
      Effect.suspend(() => Effect.fail(options.onTimeout()))
    )
  )
