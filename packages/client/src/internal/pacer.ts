/** Waits between attempts as a schedule says, and starts it over when things went well for a while. */
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"

export interface Pacer<Input> {
  /** Forgets the failures so far. */
  readonly reset: () => void
  /** Waits for the next attempt; false when it is time to give up. */
  readonly wait: (input: Input) => Effect.Effect<boolean>
}

export const make = <Input>(schedule: Schedule.Schedule<unknown, Input>): Pacer<Input> => {
  const fresh = Effect.suspend(() => Schedule.toStepWithSleep(schedule))
  let step = fresh
  return {
    reset: () => {
      step = fresh
    },
    wait: (input) =>
      Effect.flatMap(step, (next) => {
        step = Effect.succeed(next)
        return next(input)
      }).pipe(
        Effect.as(true),
        Pull.catchDone(() => Effect.succeed(false))
      )
  }
}
