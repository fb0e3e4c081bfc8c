import { assert, describe, it } from "@effect/vitest"
import * as Host from "@mcp-effect/host/Host"
import * as ParkedQuestions from "@mcp-effect/host/ParkedQuestions"
import * as ServerEntry from "@mcp-effect/host/ServerEntry"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"

const form = { message: "Who?", requestedSchema: { type: "object" as const, properties: {} } }
const url = { mode: "url" as const, message: "Sign in", url: "https://example.com/in", elicitationId: "1" }
const sampling = { messages: [{ role: "user" as const, content: { type: "text" as const, text: "?" } }], maxTokens: 9 }
const said = { role: "assistant" as const, content: { type: "text" as const, text: "!" }, model: "m" }

const now = { startImmediately: true } as const
const list = ({ waiting }: ParkedQuestions.ParkedQuestions) => SubscriptionRef.getUnsafe(waiting)

/** Waits until so many questions wait. */
const until = (questions: ParkedQuestions.ParkedQuestions, count: number) =>
  SubscriptionRef.changes(questions.waiting).pipe(
    Stream.filter((all) => all.length === count),
    Stream.take(1),
    Stream.runDrain
  )

describe("parked questions", () => {
  it.effect("U-58: wait with server and id, are answered once, and leave the list", () =>
    Effect.gen(function* () {
      const questions = yield* ParkedQuestions.make()
      const asked = yield* Effect.forkChild(questions.elicitation.form(form, "files"), now)
      const [parked] = list(questions)
      assert.deepInclude(parked, { id: 1, server: "files", at: 0 })
      yield* questions.accept(1, { name: "Ada" })
      assert.deepStrictEqual(yield* Fiber.join(asked), { action: "accept", content: { name: "Ada" } })
      assert.deepStrictEqual(list(questions), [])
      assert.deepInclude(yield* Effect.flip(questions.decline(1)), { _tag: "QuestionClosed", because: "answered" })
      for (const id of [2, 0, -1, 0.5, Number.NaN]) {
        assert.strictEqual((yield* Effect.flip(questions.decline(id)))._tag, "UnknownQuestion")
      }
    })
  )

  it.effect("U-58: a question that is no longer asked leaves the list; those beyond a limit are refused", () =>
    Effect.gen(function* () {
      const questions = yield* ParkedQuestions.make({ limit: 2, limitPerServer: 1 })
      const asked = yield* Effect.forkChild(questions.elicitation.form(form, "files"), now)
      const perServer = yield* Effect.flip(questions.elicitation.form(form, "files"))
      assert.include(perServer.message, "too many questions")
      yield* Effect.forkChild(questions.sampling(sampling, "mail"), now)
      assert.strictEqual((yield* Effect.flip(questions.elicitation.url(url, "web")))._tag, "HandlerRefused")
      yield* Fiber.interrupt(asked)
      assert.deepStrictEqual(
        list(questions).map(({ id, server }) => [id, server]),
        [[2, "mail"]]
      )
      assert.deepInclude(yield* Effect.flip(questions.cancel(1)), { _tag: "QuestionClosed", because: "withdrawn" })
      const again = yield* Effect.forkChild(questions.elicitation.form(form, "files"), now)
      yield* questions.cancel(3)
      assert.deepStrictEqual(yield* Fiber.join(again), { action: "cancel" })
    })
  )

  it.effect("a question to a model takes a model's answer alone, one to the user the user's; both can be refused", () =>
    Effect.gen(function* () {
      const questions = yield* ParkedQuestions.make()
      const model = yield* Effect.forkChild(questions.sampling(sampling, "s"), now)
      const user = yield* Effect.forkChild(questions.elicitation.form(form, "s"), now)
      const wrong = yield* Effect.flip(questions.accept(1))
      assert.deepInclude(wrong, { _tag: "WrongAnswer", asked: "Sampling" })
      assert.include(wrong.message, "reply")
      assert.deepInclude(yield* Effect.flip(questions.reply(2, said)), { _tag: "WrongAnswer", asked: "Form" })
      assert.lengthOf(list(questions), 2)
      yield* questions.reply(1, said)
      assert.deepStrictEqual(yield* Fiber.join(model), said)
      yield* questions.refuse(2, "nobody is there")
      assert.deepInclude(yield* Effect.flip(Fiber.join(user)), { _tag: "HandlerRefused", because: "nobody is there" })
      const other = yield* Effect.forkChild(questions.sampling(sampling, "s"), now)
      yield* questions.refuse(3, "no model")
      assert.strictEqual((yield* Effect.flip(Fiber.join(other))).because, "no model")
    })
  )

  it.effect(
    "U-58: an accepted address is opened, any other answer opens nothing, one that does not open is `cancel`",
    () =>
      Effect.gen(function* () {
        const opened: Array<string> = []
        const questions = yield* ParkedQuestions.make({
          open: ({ href }) =>
            href.endsWith("/broken") ? Effect.fail("no browser") : Effect.sync(() => void opened.push(href))
        })
        const ask = (address: string) => Effect.forkChild(questions.elicitation.url({ ...url, url: address }, "s"), now)
        const yes = yield* ask(url.url)
        assert.strictEqual(list(questions)[0]?.question._tag, "Url")
        assert.deepStrictEqual(opened, [])
        yield* questions.accept(1)
        assert.deepStrictEqual(yield* Fiber.join(yes), { action: "accept" })
        const no = yield* ask(url.url)
        yield* questions.decline(2)
        assert.deepStrictEqual(yield* Fiber.join(no), { action: "decline" })
        const broken = yield* ask("https://example.com/broken")
        yield* questions.accept(3)
        assert.deepStrictEqual(yield* Fiber.join(broken), { action: "cancel" })
        assert.deepStrictEqual(opened, [url.url])
        const bad = yield* Effect.flip(Fiber.join(yield* ask("file:///etc/passwd")))
        assert.strictEqual(bad._tag, "HandlerRefused")
        assert.deepStrictEqual(list(questions), [])
      })
  )
})

const asking = {
  modern: Script.modern({
    on: {
      "tools/call": [
        [
          Script.answer({
            resultType: "input_required",
            inputRequests: { who: { method: "elicitation/create", params: form } },
            requestState: "asked"
          })
        ],
        [Script.answer({ resultType: "complete", content: [{ type: "text", text: "thanks" }] })]
      ]
    }
  }),
  // it does not wait for the answer longer than this
  legacy: Script.legacy({
    on: {
      "tools/call": [
        Script.say({ id: "q", method: "elicitation/create", params: form }),
        Script.wait(500),
        Script.answer()
      ],
      "notifications/cancelled": [Script.say({ method: "notifications/cancelled", params: { requestId: "q" } })]
    }
  })
}

describe.each(["modern", "legacy"] as const)("a %s server that asks", (era) => {
  const hosting = Effect.gen(function* () {
    const questions = yield* ParkedQuestions.make()
    const server = yield* ScriptedServer.make(asking[era])
    const host = yield* Host.make({ approval: "allow", handlers: questions })
    yield* host.add(
      ServerEntry.stdio({ name: "s", command: "scripted", era, elicitation: { form: true } }),
      server.pipe("stdio")
    )
    yield* host.ready("s")
    const call = yield* Effect.forkChild(host.callTool("s__echo", { text: "x" }), now)
    yield* until(questions, 1)
    return { call, host, questions, server }
  })

  it.live("U-58, U-60: waits for the answer, hears it, and its tool goes on", () =>
    Effect.gen(function* () {
      const { call, questions, server } = yield* hosting
      assert.deepInclude(list(questions)[0], { id: 1, server: "s" })
      yield* questions.decline(1)
      assert.isNotTrue((yield* Fiber.join(call)).isError)
      assert.include(JSON.stringify(yield* server.transcript), '"action":"decline"')
    }).pipe(Effect.scoped)
  )

  it.live("U-58: takes its question back when its call is cancelled", () =>
    Effect.gen(function* () {
      const { call, questions } = yield* hosting
      yield* Fiber.interrupt(call)
      yield* until(questions, 0)
      assert.deepInclude(yield* Effect.flip(questions.accept(1)), { because: "withdrawn" })
    }).pipe(Effect.scoped)
  )

  it.live("U-58: takes its question back when it is stopped", () =>
    Effect.gen(function* () {
      const { call, host, questions } = yield* hosting
      yield* host.stop("s")
      yield* until(questions, 0)
      assert.deepInclude(yield* Effect.flip(questions.accept(1)), { because: "withdrawn" })
      assert.strictEqual((yield* Effect.flip(Fiber.join(call))).reason._tag, "ServerStopped")
    }).pipe(Effect.scoped)
  )
})
