/**
 * Questions of real servers of both eras that wait in a host until somebody answers.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Host from "@mcp-effect/host/Host"
import * as ParkedQuestions from "@mcp-effect/host/ParkedQuestions"
import * as ServerEntry from "@mcp-effect/host/ServerEntry"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as Servers from "../servers/Servers.ts"
import { patience } from "./fixtures/patience.ts"

describe("a question of a real server", () => {
  it.live.each([
    ["official-stdio", Servers.officialStdio],
    ["sdk-stdio", Servers.sdkStdio]
  ] as const)(
    "U-58, U-60: of %s waits in the list, is answered, and the tool goes on with the answer",
    ([name, start]) =>
      Effect.gen(function* () {
        const questions = yield* ParkedQuestions.make()
        const host = yield* Host.make({ approval: "allow", handlers: { elicitation: questions.elicitation } })
        const { target } = yield* start
        yield* host.add(ServerEntry.stdio({ name, ...target, elicitation: { form: true } }))
        yield* host.ready(name)
        const call = yield* Effect.forkChild(
          host.callTool({ server: name, tool: "ask" }, { question: "What is your name?" })
        )
        const [waiting] = yield* SubscriptionRef.changes(questions.waiting).pipe(
          Stream.filter((all) => all.length > 0),
          Stream.take(1),
          Stream.runCollect
        )
        const parked = waiting![0]!
        assert.strictEqual(parked.server, name)
        assert.isTrue(parked.question._tag === "Form" && parked.question.params.message === "What is your name?")
        yield* questions.accept(parked.id, { answer: "Ada" })
        assert.include(JSON.stringify((yield* Fiber.join(call)).content), "you said Ada")
        assert.deepStrictEqual(SubscriptionRef.getUnsafe(questions.waiting), [])
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, patience])),
    30_000
  )
})
