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
  /** What passed, in milliseconds, once its time was up. */
  readonly expired: () => number | undefined
  /** Starts the idle time again. */
  readonly alive: () => void
  /** For the wire (`ExchangeOptions.untilOver`). */
  readonly untilOver: (abandon: (reason: Reason) => void) => () => void
}

export interface Patience {
  /** Begins to count the time of a request. */
  readonly begin: (limit: Limit) => Waiting
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

interface Entry {
  until: number
  readonly expire: () => void
}

const timeIsUp = new Closed({ because: "the caller stopped waiting" })

export const make = Effect.fnUntraced(function* (): Effect.fn.Return<Patience, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const runIn = Effect.runForkWith(yield* Effect.context())
  const waiting = new Set<Entry>()
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
    for (const entry of waiting) {
      if (entry.until <= now) entry.expire()
      else if (entry.until < earliest) earliest = entry.until
    }
    if (earliest !== Number.POSITIVE_INFINITY) sleep(earliest, now)
  }

  const sleep = (at: number, now: number) => {
    if (closed) return
    timer?.fiber.interruptUnsafe()
    timer = { at, fiber: runIn(Effect.andThen(Effect.sleep(Duration.millis(at - now)), Effect.sync(wake))) }
  }

  const add = (entry: Entry, now: number) => {
    waiting.add(entry)
    if (entry.until < (timer?.at ?? Number.POSITIVE_INFINITY)) sleep(entry.until, now)
  }

  return {
    begin: (limit) => {
      const began = clock.currentTimeMillisUnsafe()
      const latest = began + limit.total
      let passed: number | undefined
      let giveUp: ((reason: Reason) => void) | undefined
      const entry: Entry = {
        until: Math.min(began + limit.idle, latest),
        expire: () => {
          waiting.delete(entry)
          passed = entry.until - began
          giveUp?.(timeIsUp)
        }
      }
      return {
        expired: () => passed,
        alive: () => {
          entry.until = Math.min(clock.currentTimeMillisUnsafe() + limit.idle, latest)
        },
        untilOver: (abandon) => {
          giveUp = abandon
          add(entry, began)
          return () => void waiting.delete(entry)
        }
      }
    },
    within: (limit, effect, expired) =>
      Effect.withFiber((caller) =>
        Effect.callback((resume) => {
          const began = clock.currentTimeMillisUnsafe()
          const latest = began + limit.total
          const entry: Entry = {
            until: Math.min(began + limit.idle, latest),
            expire: () => {
              waiting.delete(entry)
              resume(expired(entry.until - began))
              fiber.interruptUnsafe()
            }
          }
          const alive = () => {
            entry.until = Math.min(clock.currentTimeMillisUnsafe() + limit.idle, latest)
          }
          const fiber = Effect.runForkWith(caller.context)(effect(alive))
          add(entry, began)
          fiber.addObserver((exit) => {
            waiting.delete(entry)
            resume(exit)
          })
          return Effect.suspend(() => {
            waiting.delete(entry)
            return Fiber.interrupt(fiber)
          })
        })
      )
  }
})
