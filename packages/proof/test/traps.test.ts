/**
 * Traps that the layers below the client bear, seen from a program that uses the client: what it is given, and what the
 * server heard.
 */
import { assert, describe, it } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Meta from "@mcp-effect/protocol/Meta"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Transcript from "@mcp-effect/testing/Transcript"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const said = (text: string): JsonObject => ({ resultType: "complete", content: [{ type: "text", text }] })
const listing = (...tools: ReadonlyArray<JsonObject>): JsonObject => ({
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  tools
})

const form = {
  method: "elicitation/create",
  params: { message: "Sure?", requestedSchema: { type: "object", properties: {} } }
}

const connect = (transport: Transport["Service"]) =>
  McpClient.connect(transport, {
    handlers: { elicitation: { form: () => Effect.succeed({ action: "decline" }) } }
  }).pipe(Effect.provide(EraMemory.layerNone))

const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : "")).join("\n")

const collected = () => {
  const diagnostics: Array<Diagnostic> = []
  return {
    diagnostics,
    collect: Effect.provideService(Diagnostics, (diagnostic: Diagnostic) =>
      Effect.sync(() => void diagnostics.push(diagnostic))
    )
  }
}

/** What was heard with HTTP: the message, and the headers it came with. */
const withHeaders = (transcript: Transcript.Transcript) =>
  Transcript.heard(transcript).flatMap(({ http, message }) =>
    typeof message === "object" && message !== null && "method" in message && http !== undefined
      ? [{ message, method: String(message.method), headers: http.headers }]
      : []
  )

describe("a modern server over HTTP", () => {
  it.effect("T-MOD-1: names outside of ASCII reach it in Base64, and plain ones as they are", () =>
    Effect.gen(function* () {
      const contents = { resultType: "complete", ttlMs: 0, cacheScope: "private", contents: [] }
      const server = yield* ScriptedServer.make(
        Script.modern({
          on: {
            "resources/read": [Script.answer(contents)],
            "prompts/get": [Script.answer({ resultType: "complete", messages: [] })]
          }
        })
      )
      const client = yield* connect(server.http)
      yield* client.readResource("file:///hé")
      yield* client.getPrompt(" padded ")
      yield* client.readResource("file:///plain")
      const names = withHeaders(yield* server.transcript).flatMap(({ headers }) => headers["mcp-name"] ?? [])
      assert.deepStrictEqual(names, ["=?base64?ZmlsZTovLy9ow6k=?=", "=?base64?IHBhZGRlZCA=?=", "file:///plain"])
    })
  )

  it.effect(
    "T-MOD-2: gets the arguments it wants mirrored, absent ones not, and after -32020 those of its newest list",
    () =>
      Effect.gen(function* () {
        const region = (header: string) => ({
          name: "route",
          inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } }
        })
        const done = [Script.answer(said("routed"))]
        const server = yield* ScriptedServer.make(
          Script.modern({
            on: {
              "tools/list": [[Script.answer(listing(region("Region")))], [Script.answer(listing(region("Place")))]],
              "tools/call": [done, done, done, [Script.fail(-32020)], done]
            }
          })
        )
        const client = yield* connect(server.http)
        yield* client.listTools()
        for (const args of [{ region: "eu" }, {}, { region: null }, { region: "eu" }])
          yield* client.callTool("route", args)
        const calls = withHeaders(yield* server.transcript).filter(({ method }) => method === "tools/call")
        assert.deepStrictEqual(
          calls.map(({ headers }) => [headers["mcp-param-region"], headers["mcp-param-place"]]),
          [
            ["eu", undefined],
            [undefined, undefined],
            [undefined, undefined],
            ["eu", undefined],
            [undefined, "eu"]
          ]
        )
      })
  )

  it.effect("T-MOD-3: is told version, client and capabilities with every request, rounds and subscriptions too", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(
        Script.modern({
          on: {
            "server/discover": [
              Script.answer(Script.discovered(["2026-07-28"], { capabilities: { tools: { listChanged: true } } }))
            ],
            "tools/call": [[Script.answer(Script.inputRequired({ sure: form }))], [Script.answer(said("done"))]],
            "subscriptions/listen": [
              Script.say({
                method: "notifications/subscriptions/acknowledged",
                params: { notifications: { toolsListChanged: true }, _meta: { [Meta.subscriptionId]: 5 } }
              })
            ]
          }
        })
      )
      const client = yield* connect(server.http)
      yield* client.listTools()
      yield* client.callTool("echo", {}, { meta: { mine: 1, [Meta.protocolVersion]: "1999-01-01" } })
      yield* Stream.runDrain(Stream.take(client.changes({ tools: true }), 1))
      const heard = withHeaders(yield* server.transcript)
      assert.deepStrictEqual(
        heard.map(({ method }) => method),
        ["server/discover", "tools/list", "tools/call", "tools/call", "subscriptions/listen"]
      )
      for (const { headers, message, method } of heard) {
        const meta = "params" in message ? (message.params as JsonObject)["_meta"] : undefined
        assert.containsAllKeys(meta, [Meta.protocolVersion, Meta.clientInfo, Meta.clientCapabilities], method)
        assert.deepInclude(meta, { [Meta.protocolVersion]: "2026-07-28" })
        assert.deepInclude(headers, { "mcp-protocol-version": "2026-07-28", "mcp-method": method })
      }
      assert.strictEqual(JSON.stringify(heard).split('"mine":1').length - 1, 2)
    })
  )

  it.effect("T-MOD-5: whose tool breaks the rules of headers keeps the others, and is told nothing of that one", () => {
    const { collect, diagnostics } = collected()
    const bad = (name: string, properties: JsonObject): JsonObject => ({
      name,
      inputSchema: { type: "object", properties }
    })
    const wrong = [
      bad("empty", { a: { type: "string", "x-mcp-header": "" } }),
      bad("blank", { a: { type: "string", "x-mcp-header": "A B" } }),
      bad("twice", { a: { type: "string", "x-mcp-header": "R" }, b: { type: "string", "x-mcp-header": "r" } })
    ]
    return Effect.gen(function* () {
      const server = yield* ScriptedServer.make(
        Script.modern({
          on: {
            "tools/list": [Script.answer(listing(...wrong, bad("good", {})))],
            "tools/call": [Script.answer(said("good"))]
          }
        })
      )
      const client = yield* connect(server.http)
      assert.deepStrictEqual(
        (yield* client.listTools()).map(({ name }) => name),
        ["good"]
      )
      assert.strictEqual(textOf(yield* client.callTool("good")), "good")
      for (const { name } of wrong) {
        const error = yield* Effect.flip(client.callTool(String(name)))
        assert.strictEqual(error.reason._tag, "ToolNotCallable")
      }
      assert.deepStrictEqual(
        diagnostics.flatMap((each) => (each._tag === "ItemRejected" ? [each.name] : [])),
        ["empty", "blank", "twice"]
      )
      assert.lengthOf(
        withHeaders(yield* server.transcript).filter(({ method }) => method === "tools/call"),
        1
      )
    }).pipe(collect)
  })

  it.effect("T-HTTP-8: that cuts the stream of a call leaves its outcome unknown, and the call is not sent again", () =>
    Effect.gen(function* () {
      const progress = Script.say({ method: "notifications/progress", params: { progressToken: 2, progress: 1 } })
      const server = yield* ScriptedServer.make(Script.modern({ on: { "tools/call": [progress, Script.close] } }))
      const client = yield* connect(server.http)
      const error = yield* Effect.flip(client.callTool("echo"))
      assert.strictEqual(error.reason._tag, "OutcomeUnknown")
      assert.lengthOf(
        withHeaders(yield* server.transcript).filter(({ method }) => method === "tools/call"),
        1
      )
    })
  )
})

describe("a list", () => {
  it.effect("T-LIST-7: without cache hints or a result type is whole, and is not kept", () =>
    Effect.gen(function* () {
      const bare = { tools: [{ name: "a", inputSchema: { type: "object" } }] }
      const server = yield* ScriptedServer.make(Script.modern({ on: { "tools/list": [Script.answer(bare)] } }))
      const client = yield* connect(server.pipe())
      for (const times of [1, 2]) {
        assert.deepStrictEqual(
          (yield* client.listTools()).map(({ name }) => name),
          ["a"]
        )
        const asked = Transcript.methods(yield* server.transcript).filter((method) => method === "tools/list")
        assert.lengthOf(asked, times)
      }
    })
  )

  it.effect.each([Script.modern, Script.legacy])(
    "T-TOOL-6, T-TOOL-1: with an empty schema is whole, one with a null schema lacks that tool and says why (%#)",
    (era) => {
      const { collect, diagnostics } = collected()
      return Effect.gen(function* () {
        const tools = [
          { name: "n", inputSchema: {} },
          { name: "m", inputSchema: null }
        ]
        const server = yield* ScriptedServer.make(
          era({
            on: { "tools/list": [Script.answer(listing(...tools))], "tools/call": [Script.answer(said("called"))] }
          })
        )
        const client = yield* connect(server.pipe())
        assert.deepStrictEqual(
          (yield* client.listTools()).map(({ name }) => name),
          ["n"]
        )
        assert.strictEqual(textOf(yield* client.callTool("n")), "called")
        const rejected = diagnostics.filter((each) => each._tag === "ItemRejected")
        assert.lengthOf(rejected, 1)
        assert.deepInclude(rejected[0], { method: "tools/list", name: "m" })
      }).pipe(collect)
    }
  )
})

describe("a legacy server", () => {
  it.effect("T-RPC-7: that answers several calls in one array answers each of them", () =>
    Effect.gen(function* () {
      const answer = (id: number) => ({
        jsonrpc: "2.0",
        id,
        result: { content: [{ type: "text", text: `call ${id}` }] }
      })
      // The handshake takes ids 1 and 2; both calls are answered when the second has come.
      const server = yield* ScriptedServer.make(
        Script.legacy({
          legacy: ["2025-03-26"],
          on: { "tools/call": [Script.silence, [Script.write(JSON.stringify([answer(3), answer(4)]))]] }
        })
      )
      const client = yield* connect(server.pipe())
      const texts = yield* Effect.all([client.callTool("echo"), client.callTool("echo")], { concurrency: "unbounded" })
      assert.deepStrictEqual(texts.map(textOf), ["call 3", "call 4"])
    })
  )
})
