/** When a server that failed is tried again, as a schedule says. */
import * as Limits from "@mcp-effect/client/Limits"
import * as Negotiator from "@mcp-effect/negotiation/Negotiator"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import type { ServerEntry } from "../ServerEntry.ts"
import { ServerState, type StartError } from "../ServerState.ts"
import { verdictOn } from "./startFailure.ts"

export type Retry = Schedule.Schedule<unknown, StartError> | "never"

/** 1 second, then twice as long each time up to 5 minutes, a fifth more or less; without end. */
export const usual: Retry = Schedule.jittered(
  Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("5 minutes")])
)

export interface Supervision {
  /** The state of a server that failed, and how long to wait before the next try: for ever, when there is none. */
  readonly failed: (error: StartError, reopenable: boolean) => Effect.Effect<readonly [Failed, Duration.Duration]>
  /** It is ready from now on. A server that stays so for `SteadyAfter` begins anew when it fails. */
  readonly ready: Effect.Effect<void>
}

type Failed = Extract<ServerState, { readonly _tag: "Failed" }>
type Next = { readonly pause: Duration.Duration } | { readonly because: string }

/** How long the server asked to wait. */
const asks = (error: StartError): Duration.Duration => {
  if (error._tag === "NegotiationError") return error.retryAfter ?? Duration.zero
  const { reason } = error
  if (reason._tag !== "WireFailed" || reason.cause.reason._tag !== "HttpRejected") return Duration.zero
  return Duration.millis(reason.cause.reason.retryAfter ?? 0)
}

export const make = Effect.fnUntraced(function* (entry: ServerEntry, retry: Retry): Effect.fn.Return<Supervision> {
  const steadyAfter = Duration.toMillis(yield* Limits.SteadyAfter)
  const longest = yield* Negotiator.MaxRetryAfter
  const fresh = Schedule.isSchedule(retry) ? Schedule.toStep(retry) : undefined
  let step = fresh
  let tries = 0
  let readySince: number | undefined

  const next = Effect.fnUntraced(function* (now: number, error: StartError): Effect.fn.Return<Next> {
    if (step === undefined) {
      const unusable = 'its option `retry` is no schedule, and not "never"'
      return { because: retry === "never" ? "this host tries no server again" : unusable }
    }
    if (Duration.isGreaterThan(asks(error), longest)) {
      return { because: `the server asks to wait longer than ${Duration.format(longest)}` }
    }
    return yield* Effect.flatMap(step, (go) => {
      step = Effect.succeed(go)
      return go(now, error)
    }).pipe(
      Effect.map(([, pause]): Next => ({ pause: Duration.max(pause, asks(error)) })),
      Pull.catchDone(() => Effect.succeed<Next>({ because: "the schedule has come to its end" })),
      Effect.catchCause((cause) =>
        Effect.succeed<Next>({ because: `the schedule broke: ${String(Cause.squash(cause))}` })
      )
    )
  })

  return {
    failed: Effect.fnUntraced(function* (error, reopenable) {
      const now = yield* Clock.currentTimeMillis
      if (readySince !== undefined && now - readySince >= steadyAfter) {
        step = fresh
        tries = 0
      }
      readySince = undefined
      tries++
      const verdict = verdictOn({ error, entry, reopenable })
      const then = verdict.again ? yield* next(now, error) : verdict
      const pause = "pause" in then ? then.pause : Duration.infinity
      const millis = Math.ceil(Duration.toMillis(pause))
      const nextTry = Number.isFinite(millis) ? now + millis : undefined
      const because = "pause" in then ? verdict.because : then.because
      return [ServerState.Failed({ error, tries, nextTry, because }), pause]
    }),
    ready: Effect.map(Clock.currentTimeMillis, (now) => {
      readySince ??= now
    })
  }
})
