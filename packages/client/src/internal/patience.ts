/**
 * Time limits of requests, all kept by one timer.
 *
 * A wire that can be told to give up is told so by the timer, and no fiber is made. Over any other wire, or through
 * middleware, a request runs in a fiber of its own, which the timer interrupts. The timer sleeps on Effect's clock until
 * the earliest limit, and only while something is waited for.
 */
import { Closed, type Reason } from "@mcp-effect/transport/TransportError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"

export interface Limit {
  /** Milliseconds without a sign of life; infinite for a request that lasts as long as it is wanted. */
  readonly idle: number
  /** Milliseconds in all, which no sign of life extends. */
  readonly total: number
}

/** One request that is waited for. */
export interface Waiting {
  readonly began: number
  readonly limit: Limit
  /** When its time is up, unless there is a sign of life before. */
  until: number
  /** What passed, in milliseconds, once its time was up. */
  passed: number | undefined
  /** Gives up. */
  abandon: ((reason: Reason) => void) | undefined
}

export interface Patience {
  /** Begins to count the time of a request. */
  readonly begin: (limit: Limit) => Waiting
  /** Starts the idle time again. */
  readonly alive: (waiting: Waiting) => void
  /** Keeps the limit, for a wire that can be told (`ExchangeOptions.untilOver`), until what it gives back is called. */
  readonly keep: (waiting: Waiting, abandon: (reason: Reason) => void) => () => void
  /**
   * Runs an effect under a limit; past it the effect is interrupted and `expired` says what the caller gets. `alive`
   * starts the idle time again.
   */
  readonly within: <A, E>(
    limit: Limit,
    effect: (alive: () => void) => Effect.Effect<A, E>,
    expired: (limit: number) => Effect.Effect<never, E>
  ) => Effect.Effect<A, E>
}

const timeIsUp = new Closed({ because: "the caller stopped waiting" })

export const make = Effect.fnUntraced(function* (): Effect.fn.Return<Patience, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const runIn = Effect.runForkWith(yield* Effect.context())
  const all = new Set<Waiting>()
  let timer: { readonly fiber: Fiber.Fiber<void>; readonly at: number } | undefined
  let closed = false
  yield* Scope.addFinalizer(
    scope,
    Effect.sync(() => {
      closed = true
      timer?.fiber.interruptUnsafe()
    })
  )

  const wake = () => {
    timer = undefined
    const now = clock.currentTimeMillisUnsafe()
    let earliest = Number.POSITIVE_INFINITY
    for (const waiting of all) {
      if (waiting.until > now) earliest = Math.min(earliest, waiting.until)
      else {
        all.delete(waiting)
        waiting.passed = waiting.until - waiting.began
        waiting.abandon?.(timeIsUp)
      }
    }
    if (earliest !== Number.POSITIVE_INFINITY) sleep(earliest, now)
  }

  const sleep = (at: number, now: number) => {
    if (closed) return
    timer?.fiber.interruptUnsafe()
    timer = { at, fiber: runIn(Effect.andThen(Effect.sleep(Duration.millis(at - now)), Effect.sync(wake))) }
  }

  const begin = (limit: Limit): Waiting => {
    const began = clock.currentTimeMillisUnsafe()
    return { began, limit, until: began + Math.min(limit.idle, limit.total), passed: undefined, abandon: undefined }
  }

  const alive = (waiting: Waiting) => {
    const { began, limit } = waiting
    waiting.until = Math.min(clock.currentTimeMillisUnsafe() + limit.idle, began + limit.total)
  }

  const keep = (waiting: Waiting, abandon: (reason: Reason) => void) => {
    waiting.abandon = abandon
    all.add(waiting)
    if (waiting.until < (timer?.at ?? Number.POSITIVE_INFINITY)) sleep(waiting.until, waiting.began)
    return () => void all.delete(waiting)
  }

  return {
    begin,
    alive,
    keep,
    within: (limit, effect, expired) =>
      Effect.withFiber((caller) =>
        Effect.callback((resume) => {
          const waiting = begin(limit)
          const fiber = Effect.runForkWith(caller.context)(effect(() => alive(waiting)))
          const over = keep(waiting, () => {
            resume(expired(waiting.passed ?? 0))
            fiber.interruptUnsafe()
          })
          fiber.addObserver((exit) => {
            over()
            resume(exit)
          })
          return Effect.suspend(() => {
            over()
            return Fiber.interrupt(fiber)
          })
        })
      )
  }
})
