import { assert, describe, it } from "@effect/vitest"
import { Closed, TransportError } from "@mcp-effect/transport/TransportError"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { Change } from "../src/Change.ts"
import type { Handlers } from "../src/Handlers.ts"
import * as McpClient from "../src/McpClient.ts"
import { McpClientError, OutcomeUnknown, RequestTimedOut } from "../src/McpClientError.ts"
import type { TestServer } from "../src/TestServer.ts"
import { settled } from "./fixtures/announcer.ts"

const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : block)).join(" ")

const using = <A, E, R>(
  server: TestServer,
  use: (client: McpClient.McpClient["Service"]) => Effect.Effect<A, E, R>,
  handlers: Handlers = {}
) => McpClient.McpClient.use(use).pipe(Effect.provide(McpClient.layerTest(server, { handlers })))

const codeOf = ({ reason }: McpClientError) => (reason._tag === "ServerError" ? reason.code : reason._tag)

describe("a client of a made-up server", () => {
  it.effect("lists and gives what the functions say, by name alone or by whole definitions", () =>
    using(
      {
        name: "weather",
        instructions: "Ask for a city.",
        tools: [
          { tool: "forecast", call: ({ city }) => Effect.succeed(`sunny in ${String(city)}`) },
          {
            tool: { name: "alarm", title: "Alarm", inputSchema: { type: "object" } },
            call: () => Effect.succeed({ isError: true, content: [{ type: "text", text: "no siren" }] })
          }
        ],
        prompts: [{ prompt: "brief", get: ({ city }) => Effect.succeed(`Brief me on ${String(city)}`) }],
        resources: [{ resource: "note://today", read: Effect.succeed("dry") }],
        resourceTemplates: [{ uriTemplate: "note://{day}", name: "note" }],
        complete: ({ argument }) => Effect.succeed({ values: [`${argument.value}slo`] })
      },
      Effect.fnUntraced(function* (client) {
        assert.deepInclude(client.agreement, { era: "modern", instructions: "Ask for a city." })
        assert.deepInclude(client.agreement.identity, { name: "weather" })
        assert.deepStrictEqual(
          (yield* client.listTools()).map(({ name, title }) => [name, title]),
          [
            ["forecast", undefined],
            ["alarm", "Alarm"]
          ]
        )
        assert.strictEqual(textOf(yield* client.callTool("forecast", { city: "Oslo" })), "sunny in Oslo")
        assert.isTrue((yield* client.callTool("alarm")).isError)
        const { messages } = yield* client.getPrompt("brief", { city: "Oslo" })
        assert.deepStrictEqual(messages, [{ role: "user", content: { type: "text", text: "Brief me on Oslo" } }])
        const { contents } = yield* client.readResource("note://today")
        assert.deepStrictEqual(contents, [{ uri: "note://today", text: "dry" }])
        assert.lengthOf(yield* client.listPrompts(), 1)
        assert.lengthOf(yield* client.listResources(), 1)
        assert.lengthOf(yield* client.listResourceTemplates(), 1)
        const { completion } = yield* client.complete({
          ref: { type: "ref/prompt", name: "brief" },
          argument: { name: "city", value: "O" }
        })
        assert.deepStrictEqual(completion.values, ["Oslo"])
      })
    )
  )

  it.effect("what it does not have gives the typed errors of a real server", () =>
    Effect.gen(function* () {
      const some: TestServer = { tools: [], prompts: [], resources: [] }
      const ask = (client: McpClient.McpClient["Service"]) =>
        Effect.all([
          Effect.flip(client.callTool("x")),
          Effect.flip(client.getPrompt("x")),
          Effect.flip(client.readResource("x://y")),
          Effect.flip(client.ping())
        ]).pipe(Effect.map((errors) => errors.map(codeOf)))
      assert.deepStrictEqual(yield* using(some, ask), [-32602, -32602, -32602, "NotAvailableInModern"])
      assert.deepStrictEqual(yield* using({}, ask), [-32601, -32601, -32601, "NotAvailableInModern"])
      const capabilities = yield* using({ tools: [] }, (client) => Effect.succeed(client.agreement.capabilities))
      assert.deepStrictEqual(Object.keys(capabilities ?? {}), ["tools"])
    })
  )

  it.effect("any error a function fails with reaches the caller as it is; no answer runs into the timeout", () =>
    Effect.gen(function* () {
      const cause = new TransportError({ endpoint: "x", reason: new Closed({ because: "gone" }) })
      for (const reason of [
        new RequestTimedOut({ method: "tools/call", limit: 5 }),
        new OutcomeUnknown({ method: "tools/call", cause })
      ]) {
        const failure = new McpClientError({ server: "x", reason })
        const server: TestServer = { tools: [{ tool: "a", call: () => Effect.fail(failure) }] }
        assert.strictEqual(yield* using(server, (client) => Effect.flip(client.callTool("a"))), failure)
        const streamed = using(server, (client) => Effect.flip(Stream.runDrain(client.streamTool("a"))))
        assert.strictEqual(yield* streamed, failure)
      }
      const silent: TestServer = { tools: [{ tool: "a", call: () => Effect.never }] }
      const waiting = yield* Effect.forkChild(using(silent, (client) => Effect.flip(client.callTool("a"))))
      yield* settled
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual((yield* Fiber.join(waiting)).reason._tag, "RequestTimedOut")
    })
  )

  it.effect("a tool that asks is answered by the handlers and called again", () =>
    using(
      {
        tools: [
          {
            tool: "ask",
            call: (_, { inputResponses }) =>
              Effect.succeed(
                inputResponses === undefined
                  ? {
                      resultType: "input_required",
                      inputRequests: {
                        sure: {
                          method: "elicitation/create",
                          params: { message: "Sure?", requestedSchema: { type: "object", properties: {} } }
                        }
                      }
                    }
                  : JSON.stringify(inputResponses["sure"])
              )
          }
        ]
      },
      (client) =>
        Effect.map(client.callTool("ask"), (result) => assert.strictEqual(textOf(result), '{"action":"decline"}')),
      { elicitation: { form: () => Effect.succeed({ action: "decline" }) } }
    )
  )

  it.effect("changes, logs and notifications can be pushed", () =>
    Effect.gen(function* () {
      const changes = yield* Queue.unbounded<Change>()
      const logs = yield* Queue.unbounded<{ readonly level: "warning"; readonly data: string }>()
      const server: TestServer = {
        tools: [],
        changes: Stream.fromQueue(changes),
        logs: Stream.fromQueue(logs),
        notifications: Stream.make({ jsonrpc: "2.0", method: "notifications/custom" } as const).pipe(
          Stream.concat(Stream.never),
          Stream.mapEffect((notification) => Effect.delay(Effect.succeed(notification), "1 second"))
        )
      }
      yield* using(
        server,
        Effect.fnUntraced(function* (client) {
          yield* Queue.offer(changes, Change.ToolsChanged())
          const changed = yield* client
            .changes({ tools: true })
            .pipe(
              Stream.filter(Change.$is("ToolsChanged")),
              Stream.runHead,
              Effect.forkChild({ startImmediately: true })
            )
          const logged = yield* client.logs.pipe(Stream.runHead, Effect.forkChild({ startImmediately: true }))
          const heard = yield* client.notifications.pipe(
            Stream.filter(({ method }) => method === "notifications/custom"),
            Stream.runHead,
            Effect.forkChild({ startImmediately: true })
          )
          yield* Queue.offer(logs, { level: "warning", data: "clouds" })
          yield* settled
          yield* TestClock.adjust("1 second")
          assert.isTrue(Option.isSome(yield* Fiber.join(changed)))
          const log = yield* Fiber.join(logged)
          assert.deepInclude(log._tag === "Some" ? log.value : {}, { level: "warning", data: "clouds" })
          assert.strictEqual((yield* Fiber.join(heard))._tag, "Some")
        })
      )
    })
  )

  it.effect("decision 13: each layer is a client of its own, and ends with its scope", () =>
    Effect.gen(function* () {
      const who = (name: string): TestServer => ({ tools: [{ tool: "who", call: () => Effect.succeed(name) }] })
      const ask = (client: McpClient.McpClient["Service"]) => Effect.map(client.callTool("who"), textOf)
      const [outer, inner] = yield* using(who("one"), (client) => Effect.all([ask(client), using(who("two"), ask)]))
      assert.deepStrictEqual([outer, inner], ["one", "two"])
      const left = yield* using(who("gone"), Effect.succeed)
      assert.strictEqual((yield* Effect.flip(left.callTool("who"))).reason._tag, "WireFailed")
    })
  )
})
