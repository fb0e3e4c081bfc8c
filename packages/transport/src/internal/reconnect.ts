/**
 * How often and how fast a broken stream is taken up again.
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import type { HttpRejected, ResponseTaken, Unreachable } from "../TransportError.ts"

/** `Defaults.ReconnectPause`, doubled each time up to the longest, with jitter; a bounded number of times in a row. */
export const standard: Effect.Effect<Schedule.Schedule<unknown>> = Effect.gen(function* () {
  return Schedule.min([
    Schedule.exponential(yield* Defaults.ReconnectPause),
    Schedule.spaced(yield* Defaults.ReconnectMaxPause)
  ]).pipe(Schedule.jittered, Schedule.upTo({ times: yield* Defaults.ReconnectAttempts }))
})

/** A connection that has lasted this long counts as progress even if nothing came: proxies cut quiet streams. */
export const longEnough = Duration.seconds(30)

export interface Pacer {
  /** Forgets the failures so far. */
  readonly progress: () => void
  /** Waits for the server's own delay, if it named one, else for the schedule's; false when it is time to give up. */
  readonly wait: (theirs: number | undefined) => Effect.Effect<boolean>
}

/** The longest delay a server may ask for. */
const longest = Duration.hours(1)

/** A pacer reads its schedule when it first has to wait, which most never have. */
export const pacer = (schedule: Effect.Effect<Schedule.Schedule<unknown>>): Pacer => {
  const fresh = Effect.flatMap(schedule, Schedule.toStep)
  let step = fresh
  return {
    progress: () => {
      step = fresh
    },
    wait: (theirs) =>
      Effect.gen(function* () {
        const next = yield* step
        step = Effect.succeed(next)
        const [, ours] = yield* next(yield* Clock.currentTimeMillis, undefined)
        yield* Effect.sleep(theirs === undefined ? ours : Duration.min(Duration.millis(theirs), longest))
        return true
      }).pipe(Pull.catchDone(() => Effect.succeed(false)))
  }
}

/** Whether a refused GET may be answered otherwise later. All else means: no stream here, for good (T-HTTP-3). */
export const passes = (failure: HttpRejected | ResponseTaken | Unreachable): boolean =>
  failure._tag === "Unreachable" || (failure._tag === "HttpRejected" && mayPass(failure.status))

const mayPass = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501)

/** Where a stream was left: the id of its last event and the delay its server asked for (L-HTTP-23). */
export interface Cursor {
  readonly id: () => string | undefined
  readonly retry: () => number | undefined
  /** Takes the id of an event; true when it is a new one. */
  readonly see: (id: string | undefined) => boolean
  readonly asked: (millis: number, lastEventId: string | undefined) => void
}

const headerValue = /^[\u0020-\u007e\u0080-\u00ff]+$/

export const cursor = (): Cursor => {
  let last: string | undefined
  let delay: number | undefined
  const see = (id: string | undefined): boolean => {
    const usable = id !== undefined && headerValue.test(id) ? id : undefined
    const moved = usable !== last
    last = usable
    return moved
  }
  return {
    id: () => last,
    retry: () => delay,
    see,
    asked: (millis, lastEventId) => {
      delay = millis
      if (lastEventId !== undefined) see(lastEventId)
    }
  }
}
