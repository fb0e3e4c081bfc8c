import { assert, describe, it } from "@effect/vitest"
import * as ParkedQuestions from "@mcp-effect/host/ParkedQuestions"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as SubscriptionRef from "effect/SubscriptionRef"

const form = { message: "Who?", requestedSchema: { type: "object" as const, properties: {} } }

describe("parked questions", () => {
  it.effect("U-58: wait with server and id, are answered once, and leave the list", () =>
    Effect.gen(function* () {
      const questions = yield* ParkedQuestions.make()
      const asked = yield* Effect.forkChild(questions.elicitation.form(form, "files"), { startImmediately: true })
      const [parked] = SubscriptionRef.getUnsafe(questions.waiting)
      assert.deepInclude(parked, { id: 1, server: "files", at: 0 })
      yield* questions.accept(1, { name: "Ada" })
      assert.deepStrictEqual(yield* Fiber.join(asked), { action: "accept", content: { name: "Ada" } })
      assert.deepStrictEqual(SubscriptionRef.getUnsafe(questions.waiting), [])
      assert.deepInclude(yield* Effect.flip(questions.decline(1)), { _tag: "QuestionClosed", because: "answered" })
      assert.strictEqual((yield* Effect.flip(questions.decline(2)))._tag, "UnknownQuestion")
    })
  )

  it.effect("U-58: a question that is no longer asked leaves the list; those beyond the limit are refused", () =>
    Effect.gen(function* () {
      const questions = yield* ParkedQuestions.make({ limitPerServer: 1 })
      const asked = yield* Effect.forkChild(questions.elicitation.form(form, "files"), { startImmediately: true })
      assert.strictEqual((yield* Effect.flip(questions.elicitation.form(form, "files")))._tag, "HandlerRefused")
      yield* Fiber.interrupt(asked)
      assert.deepStrictEqual(SubscriptionRef.getUnsafe(questions.waiting), [])
      assert.deepInclude(yield* Effect.flip(questions.cancel(1)), { _tag: "QuestionClosed", because: "withdrawn" })
    })
  )
})
