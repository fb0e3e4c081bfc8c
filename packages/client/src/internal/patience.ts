/**
 * Time limits of requests, all kept by one timer.
 *
 * A request in plain calls is given up by the timer, and no fiber is made. Over a wire without them, or through middleware,
 * a request runs in a fiber of its own, which the timer interrupts. The timer sleeps on Effect's clock until the earliest
 * limit, and only while something is waited for.
 */
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
  /** Later by as long as its time stood still. */
  began: number
  readonly limit: Limit
  /** When its time is up, unless there is a sign of life before. */
  until: number
  /** Told once, with the milliseconds that passed, when the time is up. */
  readonly expire: (passed: number) => void
  /** Its neighbours among those that are waited for: a list that costs nothing to enter and to leave. */
  before: Waiting | undefined
  after: Waiting | undefined
  /** Whether nobody waits any more. */
  over: boolean
  /** How many questions its time stands still for, and since when. */
  questions: number
  stoodSince: number
}

export interface Patience {
  /** Begins to wait. */
  readonly begin: (limit: Limit, expire: Waiting["expire"]) => Waiting
  /** Starts the idle time again. */
  readonly alive: (waiting: Waiting) => void
  /** Waits no longer. */
  readonly end: (waiting: Waiting) => void
  /**
   * Somebody is asked, perhaps for one of the requests that are waited for: their time stands still until what comes back is
   * called. The time of those that begin meanwhile runs, so that a handler that asks the server waits no longer than it says.
   */
  readonly asking: () => () => void
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

export const make = Effect.fnUntraced(function* (): Effect.fn.Return<Patience, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const runIn = Effect.runForkWith(yield* Effect.context())
  /** Milliseconds since some moment; the time of day may be set while somebody waits. */
  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000
  let first: Waiting | undefined
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
    const at = now()
    const due: Array<Waiting> = []
    let earliest = Number.POSITIVE_INFINITY
    for (let waiting = first; waiting !== undefined; waiting = waiting.after) {
      if (waiting.questions > 0) continue
      if (waiting.until > at) earliest = Math.min(earliest, waiting.until)
      else due.push(waiting)
    }
    // Before anybody is told: what they do at once may begin others, and end those that are due or not.
    if (earliest !== Number.POSITIVE_INFINITY) sleep(earliest, at)
    for (const waiting of due) {
      if (waiting.over) continue
      end(waiting)
      waiting.expire(Math.round((waiting.until - waiting.began) * 1_000) / 1_000)
    }
  }

  const sleep = (at: number, from: number) => {
    if (closed) return
    timer?.fiber.interruptUnsafe()
    // At least a moment, so that nobody is told before they know what for; and whole ones, so that it wakes once.
    const moment = Duration.millis(Math.max(1, Math.ceil(at - from)))
    timer = { at, fiber: runIn(Effect.andThen(Effect.sleep(moment), Effect.sync(wake))) }
  }

  const begin = (limit: Limit, expire: Waiting["expire"]): Waiting => {
    const began = now()
    const until = began + Math.min(limit.idle, limit.total)
    const waiting: Waiting = {
      began,
      limit,
      until,
      expire,
      before: undefined,
      after: first,
      over: false,
      questions: 0,
      stoodSince: began
    }
    if (first !== undefined) first.before = waiting
    first = waiting
    watch(waiting, began)
    return waiting
  }

  /** Wakes in time for it. */
  const watch = ({ until }: Waiting, from: number) => {
    if (until < (timer?.at ?? Number.POSITIVE_INFINITY)) sleep(until, from)
  }

  /** Leaves out the time in which it stood still. */
  const leaveOut = (waiting: Waiting, at: number) => {
    const stood = at - waiting.stoodSince
    waiting.began += stood
    waiting.until += stood
    waiting.stoodSince = at
  }

  const alive = (waiting: Waiting) => {
    const at = now()
    if (waiting.questions > 0) leaveOut(waiting, at)
    waiting.until = Math.min(at + waiting.limit.idle, waiting.began + waiting.limit.total)
  }

  const asking = () => {
    const at = now()
    const standing: Array<Waiting> = []
    for (let waiting = first; waiting !== undefined; waiting = waiting.after) {
      if (waiting.questions++ === 0) waiting.stoodSince = at
      standing.push(waiting)
    }
    return () => {
      const at = now()
      for (const waiting of standing) {
        if (waiting.over || --waiting.questions > 0) continue
        leaveOut(waiting, at)
        watch(waiting, at)
      }
      standing.length = 0
    }
  }

  const end = (waiting: Waiting) => {
    const { after, before } = waiting
    waiting.over = true
    if (before !== undefined) before.after = after
    else if (first === waiting) first = after
    if (after !== undefined) after.before = before
    waiting.before = undefined
    waiting.after = undefined
  }

  return {
    begin,
    alive,
    end,
    asking,
    within: (limit, effect, expired) =>
      Effect.withFiber((caller) =>
        Effect.callback((resume) => {
          const waiting = begin(limit, (passed) => {
            resume(expired(passed))
            fiber.interruptUnsafe()
          })
          const fiber = Effect.runForkWith(caller.context)(effect(() => alive(waiting)))
          fiber.addObserver((exit) => {
            end(waiting)
            resume(exit)
          })
          return Effect.suspend(() => {
            end(waiting)
            return Fiber.interrupt(fiber)
          })
        })
      )
  }
})
