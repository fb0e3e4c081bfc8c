/** The laws of handlers: the real client keeps them with handlers that keep them, and each fault is found by its law. */
import { assert, describe, it, vi } from "@effect/vitest"
import * as FormAnswer from "@mcp-effect/client/FormAnswer"
import { type Handlers, HandlerRefused } from "@mcp-effect/client/Handlers"
import * as McpClient from "@mcp-effect/client/McpClient"
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import type * as Sampling from "@mcp-effect/protocol/Sampling"
import * as HandlerLaws from "@mcp-effect/testing/HandlerLaws"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

// A thousand connections on a busy machine need more than the default.
vi.setConfig({ testTimeout: 60_000 })

const call: HandlerLaws.Subject<HandlerRefused>["call"] = (transport, handlers) =>
  Effect.flatMap(McpClient.connect(transport, { handlers }), (client) => client.callTool("echo", { text: "hello" }))

/** Fills in whatever is asked, by the rules of the form. */
const filled = (question: Elicitation.FormParams): Elicitation.Result => {
  const values = FormAnswer.fields(question).map((field): readonly [string, FormAnswer.Value] => {
    switch (field._tag) {
      case "Text": {
        const example = {
          email: "a@b.example",
          uri: "https://b.example/",
          date: "2026-07-28",
          "date-time": "2026-07-28T00:00:00Z"
        }
        return [field.name, field.format === undefined ? "ab" : example[field.format]]
      }
      case "Number":
        return [field.name, field.minimum ?? field.default ?? 0]
      case "YesNo":
        return [field.name, false]
      case "One":
        return [field.name, field.choices[0]?.value ?? ""]
      case "Many":
        return [field.name, field.choices.slice(0, 1).map(({ value }) => value)]
    }
  })
  return Result.match(FormAnswer.check(question, Object.fromEntries(values)), {
    onSuccess: (content) => ({ action: "accept", content }),
    onFailure: () => ({ action: "cancel" })
  })
}

const model = ({ messages, toolChoice, tools }: Sampling.Params): Sampling.Result => {
  const [tool] = toolChoice?.mode === "none" ? [] : (tools ?? [])
  return {
    role: "assistant",
    model: "a model",
    content:
      tool === undefined
        ? { type: "text", text: `after ${messages.length} messages` }
        : [{ type: "tool_use", id: "1", name: tool.name, input: {} }],
    stopReason: tool === undefined ? "endTurn" : "toolUse"
  }
}

const sound: Handlers = {
  elicitation: {
    form: (question) => Effect.sync(() => filled(question)),
    url: () => Effect.succeed({ action: "accept" })
  },
  sampling: (question) =>
    Effect.delay(
      Effect.sync(() => model(question)),
      "1 millis"
    ),
  samplingTools: true,
  roots: Effect.succeed([{ uri: "file:///srv/one", name: "one" }, { uri: "file:///srv/two" }])
}

describe("U-58, U-66: the laws of handlers", () => {
  const kept: ReadonlyArray<readonly [name: string, handlers: Handlers]> = [
    ["answers everything", sound],
    ["has no handlers at all", {}],
    ["always declines", { elicitation: { form: () => Effect.succeed({ action: "decline" }) } }],
    ["refuses with a reason", { sampling: () => Effect.fail(new HandlerRefused({ because: "no model here" })) }]
  ]

  it.live.each(kept)("are kept by a program that %s", ([, handlers]) =>
    Effect.map(HandlerLaws.violations({ handlers, call }), (found) =>
      assert.deepStrictEqual(
        found.map(({ message }) => message),
        []
      )
    )
  )

  it.live("hold for handlers that need services", () =>
    Effect.gen(function* () {
      class Folders extends Context.Service<Folders, ReadonlyArray<string>>()("Folders") {}
      const handlers: Handlers<Folders> = {
        roots: Folders.use((folders) => Effect.succeed(folders.map((uri) => ({ uri }))))
      }
      const found = yield* HandlerLaws.violations({
        handlers,
        call: (transport, given) =>
          Effect.flatMap(McpClient.connect(transport, { handlers: given }), (client) => client.callTool("echo"))
      }).pipe(Effect.provideService(Folders, ["file:///srv"]))
      assert.deepStrictEqual(found, [])
    })
  )

  const named = (name: string) => {
    const found = HandlerLaws.laws.filter((law) => law.name.startsWith(name))
    assert.isAbove(found.length, 0)
    return found
  }

  const ends = named("a handler ends when its question is taken back")
  const slow = (wait: Effect.Effect<void>): Handlers => ({
    elicitation: { form: () => Effect.as(wait, { action: "cancel" } as const) }
  })

  it.effect.each(ends)("$name: kept by one that waits for a person, not by one that cannot be stopped", ({ check }) =>
    Effect.gen(function* () {
      yield* check({ handlers: slow(Effect.never), call }, { runs: 3 })
      const stubborn = slow(Effect.uninterruptible(Effect.sleep("1 hour")))
      const { got } = yield* Effect.flip(check({ handlers: stubborn, call }, { runs: 3 }))
      assert.strictEqual(got, "the handler was still at work after 5 seconds")
    }).pipe(ScriptedServer.unhurried)
  )

  const broken: ReadonlyArray<readonly [fault: string, law: string, handlers: Handlers]> = [
    [
      "fills in what the form does not ask for",
      "an answer fits its question, and the server gets it as it is",
      { elicitation: { form: () => Effect.succeed({ action: "accept", content: { surprise: 1 } }) } }
    ],
    [
      "sends values along with a no",
      "an answer fits its question, and the server gets it as it is",
      { elicitation: { form: () => Effect.succeed({ action: "decline", content: { name: "" } }) } }
    ],
    [
      "dies",
      "an answer fits its question, and the server gets it as it is",
      { sampling: () => Effect.die(new Error("no model")) }
    ],
    [
      "answers the older way and refuses the newer",
      "a question gets the same answer in both eras",
      {
        elicitation: {
          url: (question) =>
            question.elicitationId === undefined
              ? Effect.succeed({ action: "decline" })
              : Effect.succeed({ action: "accept" })
        }
      }
    ],
    [
      "can ask one person at a time",
      "questions side by side get the answers that they get alone",
      (() => {
        let busy = false
        return {
          elicitation: {
            url: () =>
              Effect.suspend(() => {
                const action = busy ? ("cancel" as const) : ("accept" as const)
                const wait = busy ? Effect.void : Effect.delay(Effect.void, "1 millis")
                busy = true
                return Effect.as(
                  Effect.ensuring(
                    wait,
                    Effect.sync(() => (busy = false))
                  ),
                  { action }
                )
              })
          }
        }
      })()
    ],
    [
      "names a web page as a root",
      "an answer fits its question, and the server gets it as it is",
      { roots: Effect.succeed([{ uri: "https://example.com/" }]) }
    ],
    [
      "names a root twice",
      "roots are addresses of files",
      { roots: Effect.succeed([{ uri: "file:///a" }, { uri: "file:///a", name: "again" }]) }
    ],
    [
      "uses a tool that nobody offered",
      "a language model uses only tools that were offered",
      {
        samplingTools: true,
        sampling: () =>
          Effect.succeed({
            role: "assistant",
            model: "a model",
            content: [{ type: "tool_use", id: "1", name: "rm", input: {} }]
          })
      }
    ]
  ]

  it.live.each(broken)("a handler that %s is found out", ([, name, handlers]) =>
    Effect.gen(function* () {
      const found = yield* Effect.forEach(named(name), ({ check }) =>
        Effect.option(Effect.flip(check({ handlers, call })))
      )
      assert.isTrue(found.some(Option.isSome))
    })
  )

  it.live("a connection that answers what was not declared is found out", () =>
    Effect.gen(function* () {
      const law = named("what is not declared is neither asked nor answered: form")[0]
      const eager: typeof call = (transport, handlers) =>
        call(transport, { ...handlers, elicitation: { form: () => Effect.succeed({ action: "cancel" }) } })
      const violation = yield* Effect.flip(law!.check({ handlers: {}, call: eager }))
      assert.strictEqual(violation.got, 'the server got {"action":"cancel"}')
      assert.include(violation.message, '"method":"elicitation/create"')
    })
  )

  it.live("a connection that drops a user's no is found out", () =>
    Effect.gen(function* () {
      const law = named("a user who says no is an answer: decline")[0]
      const deaf: typeof call = (transport) => call(transport, {})
      const { got } = yield* Effect.flip(law!.check({ handlers: {}, call: deaf }))
      assert.include(got, "no answer")
    })
  )
})
