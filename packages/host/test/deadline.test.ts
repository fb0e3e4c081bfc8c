/** The limit of a tool call, by a clock that stands still until it is moved. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Deadline from "../src/internal/deadline.ts"

const limit = 100

/** What happens: somebody is asked, the question asked first is answered, or so many milliseconds pass. */
const Step = Schema.Union([
  Schema.Literals(["ask", "answer"]),
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 }))
])

describe("the limit of a tool call", () => {
  it.effect.prop(
    "U-57: counts the time in which nobody is asked, from when the call is sent, however questions overlap",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 })), Schema.Array(Step)],
    ([before, happening]) =>
      Effect.gen(function* () {
        const stopwatch = yield* Deadline.stopwatch
        const sent = yield* Deferred.make<void>()
        const call = yield* Effect.forkChild(
          Effect.flip(
            Deadline.within(Effect.never, {
              limit,
              begins: Deferred.await(sent),
              stopwatch,
              onTimeout: () => "too long"
            })
          ),
          { startImmediately: true }
        )
        yield* TestClock.adjust(before)
        yield* Deferred.succeed(sent, undefined)
        yield* Effect.yieldNow
        const open: Array<Deferred.Deferred<void>> = []
        let counted = 0
        for (const step of happening) {
          if (step === "ask") {
            const answer = yield* Deferred.make<void>()
            open.push(answer)
            yield* Effect.forkChild(stopwatch.asking(Deferred.await(answer)), { startImmediately: true })
          } else if (step === "answer") {
            const answer = open.shift()
            if (answer !== undefined) yield* Deferred.succeed(answer, undefined)
            yield* Effect.yieldNow
          } else {
            yield* TestClock.adjust(step)
            if (open.length === 0) counted += step
          }
          assert.strictEqual(stopwatch.passed(), before + counted)
          assert.strictEqual(call.pollUnsafe() !== undefined, counted >= limit)
          if (counted >= limit) return assert.strictEqual(yield* Fiber.join(call), "too long")
        }
        yield* Fiber.interrupt(call)
      })
  )
})
