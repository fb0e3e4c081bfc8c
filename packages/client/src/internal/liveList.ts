/**
 * Keeps one list in step with the server: fetches, waits for a change and for the end of its storm, fetches again.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Pull from "effect/Pull"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { Filter } from "../Change.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import * as Limits from "../Limits.ts"
import type { LiveList } from "../LiveList.ts"
import type { McpClientError } from "../McpClientError.ts"
import type { Watching } from "./watching.ts"

/** So many changes in a row are followed without a longer pause. */
const patientRounds = 5

export interface Options<A> {
  readonly watching: Watching
  readonly state: SubscriptionRef.SubscriptionRef<ConnectionState>
  readonly filter: Filter
  readonly fetch: Effect.Effect<ReadonlyArray<A>, McpClientError>
}

export const make = Effect.fnUntraced(function* <A>(
  options: Options<A>
): Effect.fn.Return<SubscriptionRef.SubscriptionRef<LiveList<A>>, McpClientError, Scope.Scope> {
  const { fetch, filter, state, watching } = options
  const debounce = Duration.toMillis(yield* Limits.LiveDebounce)
  const longest = Math.max(debounce, Duration.toMillis(yield* Limits.LiveMaxPause))
  const patience = yield* Limits.WatchPatience
  const first = yield* Deferred.make<ReadonlyArray<A>, McpClientError>()
  const list = yield* SubscriptionRef.make<LiveList<A>>({ items: [], trouble: undefined })

  const keep = (trouble: McpClientError) => SubscriptionRef.update(list, ({ items }) => ({ items, trouble }))
  const refresh = Effect.matchEffect(fetch, {
    onFailure: (trouble) => Effect.andThen(Deferred.fail(first, trouble), keep(trouble)),
    onSuccess: (items) =>
      Effect.andThen(SubscriptionRef.set(list, { items, trouble: undefined }), Deferred.succeed(first, items))
  })

  /** Watches, fetches, and fetches again, until nothing can be heard any more. */
  const follow = Effect.gen(function* () {
    const watch = yield* watching.watch(filter)
    const known = yield* Effect.timeoutOption(watch.ready, patience)
    if (Option.isNone(known)) {
      yield* Effect.forkScoped(Effect.andThen(watch.ready, Effect.sync(watch.missed)))
    }
    yield* refresh
    let fetchedAt = yield* Clock.currentTimeMillis
    /** How many changes in a row came soon after a fetch. */
    let hurried = 0
    while (true) {
      const changes = yield* watch.mailbox.take
      if (changes.every(({ _tag }) => _tag === "Watched" || _tag === "Unwatched")) continue
      hurried = (yield* Clock.currentTimeMillis) - fetchedAt < longest ? hurried + 1 : 0
      yield* Effect.sleep(Math.min(longest, debounce * 2 ** Math.max(0, hurried - patientRounds)))
      watch.mailbox.drain()
      yield* refresh
      fetchedAt = yield* Clock.currentTimeMillis
    }
  }).pipe(Effect.scoped)

  /** The connection was lost; whoever sends the next request brings it back. */
  const connectedAgain = SubscriptionRef.changes(state).pipe(
    Stream.drop(1),
    Stream.filter(({ _tag }) => _tag === "Connected"),
    Stream.take(1),
    Stream.runDrain
  )

  yield* follow.pipe(
    Effect.catchIf(
      (error) => error._tag === "McpClientError",
      (trouble) => Effect.andThen(keep(trouble), connectedAgain)
    ),
    Effect.forever,
    Pull.catchDone(() => Effect.void),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* Deferred.await(first)
  return list
})
