/** Programs written for the `McpClient` of `effect/ai`, over connections of this library. */
import { assert, describe, it } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as AiClient from "@mcp-effect/host/AiClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Transcript from "@mcp-effect/testing/Transcript"
import * as EffectMcpClient from "effect/ai/McpClient"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"

/** Scripted servers share one name, so what was learned of one must not be remembered for the next. */
const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(Effect.scoped(effect), EraMemory.layerNone)

const connected = Effect.fnUntraced(function* (
  script: Script.Script,
  carrier: "stdio" | "http" = "stdio",
  options: McpClient.ConnectOptions = {}
) {
  const server = yield* ScriptedServer.make(script)
  const client = yield* McpClient.connect(carrier === "http" ? server.http : server.pipe("stdio"), options)
  return { server, client, ai: yield* AiClient.make(client) }
})

const echo = (client: EffectMcpClient.McpClient) =>
  Effect.map(client.listTools(), (tools) => tools.find(({ name }) => name === "echo")!)

const callEcho = (client: EffectMcpClient.McpClient) =>
  Effect.flatMap(echo(client), (tool) => client.callTool({ tool, arguments: { text: "hello" } }))

const heard = (server: ScriptedServer.ScriptedServer, method: string) =>
  Effect.map(server.transcript, (transcript) =>
    Transcript.messages(transcript).filter((message) => message["method"] === method)
  )

const ask = {
  method: "elicitation/create",
  params: { message: "Name?", requestedSchema: { type: "object", properties: {} } }
}

describe("a connection as a client of effect/ai", () => {
  const scripts = [
    ["modern", "2026-07-28", Script.modern({ instructions: "be kind" })],
    ["legacy", "2025-11-25", Script.legacy({ instructions: "be kind" })],
    ["of 2024-11-05", "2025-11-25", Script.make({ legacy: ["2024-11-05"], instructions: "be kind" })]
  ] as const

  it.live.each(scripts)(
    "U-60, U-65: is a genuine one for a server that is %s: identity, instructions, tools, calls, toolkit",
    ([, version, script]) =>
      Effect.gen(function* () {
        const { ai } = yield* connected(script)
        assert.isTrue(EffectMcpClient.isMcpClient(ai))
        assert.strictEqual(ai.protocolVersion, version)
        assert.strictEqual(ai.serverInfo?.name, script.name)
        assert.strictEqual(ai.instructions, "be kind")
        const { content, isError } = yield* callEcho(ai)
        assert.isNotTrue(isError)
        assert.deepStrictEqual(
          content.map((block) => (block.type === "text" ? block.text : block.type)),
          ["hello"]
        )
        assert.deepStrictEqual([yield* ai.listPrompts(), yield* ai.listResources()], [[], []])
        const toolkit = yield* EffectMcpClient.toolkit(ai, "s__")
        assert.deepStrictEqual(Object.keys(toolkit.tools), ["s__echo"])
      }).pipe(alone)
  )

  it.live("U-65: the layer gives a program that knows only effect/ai what it needs", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.legacy())
      const program = Effect.flatMap(EffectMcpClient.McpClient, callEcho)
      const { content } = yield* Effect.provide(program, AiClient.layer()).pipe(
        Effect.provideServiceEffect(McpClient.McpClient, McpClient.connect(server.pipe()))
      )
      assert.lengthOf(content, 1)
    }).pipe(alone)
  )

  it.live("U-65: a server that never said who it is or what it can do has neither a name nor a failing list", () =>
    Effect.gen(function* () {
      const absent = [Script.fail(-32601)]
      const { ai, server } = yield* connected(
        Script.modern({ on: { "prompts/list": absent, "resources/list": absent } }),
        "stdio",
        { mode: "2026-07-28" }
      )
      assert.isUndefined(ai.serverInfo)
      assert.strictEqual((yield* ai.listTools()).length, 1)
      assert.deepStrictEqual([yield* ai.listPrompts(), yield* ai.listResources()], [[], []])
      assert.deepStrictEqual(yield* heard(server, "server/discover"), [])

      const nameless = Script.legacy({
        on: { initialize: [Script.answer({ protocolVersion: "2025-11-25", capabilities: { tools: {} } })] }
      })
      const other = yield* connected(nameless)
      assert.isUndefined(other.ai.serverInfo)
      assert.strictEqual(other.ai.protocolVersion, "2026-07-28")
      assert.lengthOf((yield* callEcho(other.ai)).content, 1)
    }).pipe(alone)
  )

  it.live("U-65: questions of the server reach the handlers of the connection, which effect/ai does not have", () =>
    Effect.gen(function* () {
      const form = () => Effect.succeed({ action: "accept" as const, content: {} })
      for (const script of [
        Script.modern({
          on: { "tools/call": [[Script.answer(Script.inputRequired({ who: ask }))], [Script.answer()]] }
        }),
        Script.legacy({ on: { "tools/call": [Script.say({ id: "q", ...ask }), Script.hear, Script.answer()] } })
      ]) {
        const { ai } = yield* connected(script, "stdio", { handlers: { elicitation: { form } } })
        assert.lengthOf((yield* callEcho(ai)).content, 1)
      }
    }).pipe(alone)
  )

  it.live("U-65: prompts and resources arrive with their arguments", () =>
    Effect.gen(function* () {
      const prompt = { name: "greet", arguments: [{ name: "who", required: true }] }
      const messages = [{ role: "user", content: { type: "text", text: "Hello Ada" } }]
      const contents = [{ uri: "demo://a", text: "x" }]
      const { ai, server } = yield* connected(
        Script.legacy({
          on: {
            initialize: [
              Script.answer(Script.initialized("2025-11-25", { capabilities: { prompts: {}, resources: {} } }))
            ],
            "prompts/list": [Script.answer({ prompts: [prompt] })],
            "prompts/get": [Script.answer({ messages })],
            "resources/list": [Script.answer({ resources: [{ uri: "demo://a", name: "a" }] })],
            "resources/read": [Script.answer({ contents })]
          }
        })
      )
      const [found] = yield* ai.listPrompts()
      const got = yield* ai.getPrompt({ prompt: found!, arguments: { who: "Ada" } })
      assert.strictEqual(JSON.stringify(got.messages), JSON.stringify(messages))
      const [resource] = yield* ai.listResources()
      const read = yield* ai.readResource({ uri: resource!.uri })
      assert.strictEqual(JSON.stringify(read.contents), JSON.stringify(contents))
      const [sent] = yield* heard(server, "prompts/get")
      assert.deepInclude(sent?.["params"], { name: "greet", arguments: { who: "Ada" } })
      assert.deepStrictEqual(yield* ai.listTools(), [])
    }).pipe(alone)
  )
})

describe("what fails on such a client", () => {
  const answering = (reaction: Script.Reaction) => Script.modern({ on: { "tools/call": reaction } })

  it.live("U-61: an error of the server keeps its code and its data", () =>
    Effect.gen(function* () {
      const { ai } = yield* connected(answering([Script.fail(-32050, { message: "broken", data: { why: [1] } })]))
      const { reason } = yield* Effect.flip(callEcho(ai))
      assert.deepInclude(reason, { _tag: "ProtocolError", code: -32050, data: { why: [1] }, description: "broken" })
    }).pipe(alone)
  )

  it.live("U-61: a tool that fails is a result, and an error where a schema was given", () =>
    Effect.gen(function* () {
      const result: JsonObject = { content: [{ type: "text", text: "no" }], isError: true, resultType: "complete" }
      const { ai } = yield* connected(answering([Script.answer(result)]))
      assert.isTrue((yield* callEcho(ai)).isError)
      const tool = yield* echo(ai)
      const { reason } = yield* Effect.flip(ai.callTool({ tool, arguments: {}, schema: Schema.String }))
      assert.strictEqual(reason._tag, "ToolError")
    }).pipe(alone)
  )

  it.live("U-61: a status of the server is that status, with its challenge", () =>
    Effect.gen(function* () {
      for (const [status, headers, expected] of [
        [401, { "www-authenticate": 'Bearer realm="x"' }, { wwwAuthenticate: 'Bearer realm="x"' }],
        [429, { "retry-after": "7" }, { retryAfter: "7" }],
        [503, {}, {}]
      ] as const) {
        const { ai } = yield* connected(answering([Script.http(status, "no", headers)]), "http")
        const { reason } = yield* Effect.flip(callEcho(ai))
        assert.deepInclude(reason, { _tag: "HttpError", status, ...expected })
      }
    }).pipe(alone)
  )

  it.live("U-61: what no wire could say is a transport error, and the connection's own error is in it", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(answering([Script.close]))
      const client = yield* McpClient.connect(server.pipe("stdio"))
      const lost = yield* Effect.flip(Effect.flatMap(AiClient.make(client), callEcho))
      assert.strictEqual(lost.reason._tag, "TransportError")
      assert.strictEqual(Option.getOrThrow(AiClient.causeOf(lost)).reason._tag, "OutcomeUnknown")

      const hung = yield* ScriptedServer.make(answering(Script.silence))
      const slow = yield* AiClient.make(yield* McpClient.connect(hung.pipe("stdio")), { call: { timeout: 50 } })
      const late = yield* Effect.flip(callEcho(slow))
      assert.strictEqual(Option.getOrThrow(AiClient.causeOf(late)).reason._tag, "RequestTimedOut")
    }).pipe(alone)
  )

  it.live("U-61: the caller's limit and an interruption cancel the request on the server", () =>
    Effect.gen(function* () {
      const { ai, server } = yield* connected(Script.legacy({ on: { "tools/call": Script.silence } }))
      const tool = yield* echo(ai)
      const { reason } = yield* Effect.flip(ai.callTool({ tool }, { timeout: 50 }))
      assert.strictEqual(reason._tag, "TimeoutError")
      const call = yield* Effect.forkChild(ai.callTool({ tool }), { startImmediately: true })
      yield* Effect.repeat(Effect.delay(heard(server, "tools/call"), 5), { until: ({ length }) => length === 2 })
      yield* Fiber.interrupt(call)
      const cancelled = yield* Effect.repeat(Effect.delay(heard(server, "notifications/cancelled"), 5), {
        until: ({ length }) => length >= 2,
        times: 400
      })
      assert.lengthOf(cancelled, 2)
    }).pipe(alone)
  )

  it.live("U-61: it ends with its scope; the connection goes on", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.legacy())
      const client = yield* McpClient.connect(server.pipe("stdio"))
      const scope = yield* Scope.make()
      const ai = yield* Scope.provide(AiClient.make(client), scope)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Effect.flip(ai.listTools())).reason._tag, "ClosedError")
      assert.lengthOf(yield* client.listTools(), 1)
    }).pipe(alone)
  )
})

describe("two clients of effect/ai at once", () => {
  it.live("U-65: share one connection and one negotiation", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.legacy())
      const client = yield* McpClient.connect(server.pipe("stdio"))
      const both = yield* Effect.all([AiClient.make(client), AiClient.make(client)], { concurrency: 2 })
      yield* Effect.forEach(both, callEcho, { concurrency: 2 })
      assert.lengthOf(yield* heard(server, "initialize"), 1)
    }).pipe(alone)
  )
})
