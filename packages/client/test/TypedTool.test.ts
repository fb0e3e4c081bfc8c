import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as McpClient from "../src/McpClient.ts"
import * as TypedTool from "../src/TypedTool.ts"
import * as Peer from "./fixtures/peer.ts"

const add = TypedTool.make("add", {
  arguments: Schema.Struct({ a: Schema.Finite, b: Schema.FiniteFromString }),
  result: Schema.Struct({ sum: Schema.FiniteFromString })
})

/** A server whose one tool gives this. */
const giving = (result: object | ((heard: Peer.Heard) => object)) =>
  Peer.make(Peer.modern(Peer.on("tools/call", (heard) => (typeof result === "function" ? result(heard) : result))))

const calling = Effect.fnUntraced(function* (result: object | ((heard: Peer.Heard) => object)) {
  const client = yield* McpClient.connect(giving(result).transport)
  return yield* TypedTool.call(client, add, { a: 1, b: 2 })
})

describe("a tool with types", () => {
  it.effect("encodes its arguments and decodes its structured content by the caller's schemas", () =>
    Effect.gen(function* () {
      const peer = giving({ content: [], structuredContent: { sum: "3" } })
      const client = yield* McpClient.connect(peer.transport)
      const { sum } = yield* TypedTool.call(client, add, { a: 1, b: 2 })
      assert.strictEqual(sum, 3)
      assert.deepInclude(peer.heard()[1]?.params, { name: "add", arguments: { a: 1, b: "2" } })
    })
  )

  it.effect("T-TOOL-4: a failure of the tool is an error of its own, with all it said", () =>
    Effect.gen(function* () {
      const content = [{ type: "text" as const, text: "no such number" }]
      const error = yield* Effect.flip(calling({ isError: true, content, structuredContent: { code: 7 } }))
      assert.strictEqual(error._tag, "ToolFailed")
      if (error._tag !== "ToolFailed") return
      assert.deepStrictEqual(error.content, content)
      assert.deepStrictEqual(error.structuredContent, { code: 7 })
      assert.strictEqual(error.message, 'MCP tool "add" failed: no such number')
    })
  )

  it.effect("a failure that does not say why says so", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(calling({ isError: true, content: [] }))
      assert.strictEqual(error.message, 'MCP tool "add" failed: it did not say why')
    })
  )

  it.effect("a result that does not decode names the place and is no failure of the tool", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(calling({ content: [], structuredContent: { sum: "three" } }))
      assert.deepInclude(error, { _tag: "ResultInvalid", tool: "add", pointer: "/sum" })
      assert.notInclude(error.message, "three")
      const missing = yield* Effect.flip(calling({ content: [], structuredContent: {} }))
      assert.deepInclude(missing, { _tag: "ResultInvalid", pointer: "/sum", because: "Missing key" })
    })
  )

  it.effect("where there is no structured content the only text is read as JSON, as the oldest servers give it", () =>
    Effect.gen(function* () {
      const text = (said: string) => ({ type: "text", text: said })
      assert.deepStrictEqual(yield* calling({ content: [text('{"sum":"5"}')] }), { sum: 5 })
      for (const content of [[], [text("five")], [text('{"sum":"5"}'), text("x")]]) {
        const error = yield* Effect.flip(calling({ content }))
        assert.deepInclude(error, { _tag: "ResultInvalid", pointer: "" })
        assert.include(error.message, "there is no structured content")
      }
    })
  )

  it.effect("T-52: null is structured content", () =>
    Effect.gen(function* () {
      const nothing = TypedTool.make("nothing", { arguments: Schema.Struct({}), result: Schema.Null })
      const client = yield* McpClient.connect(giving({ content: [], structuredContent: null }).transport)
      assert.isNull(yield* TypedTool.call(client, nothing, {}))
    })
  )

  it.effect("arguments that do not fit are not sent", () =>
    Effect.gen(function* () {
      const peer = giving({ content: [] })
      const client = yield* McpClient.connect(peer.transport)
      const error = yield* Effect.flip(TypedTool.call(client, add, { a: Number.NaN, b: 2 }))
      assert.deepInclude(error, { _tag: "ArgumentsInvalid", pointer: "/a" })
      assert.include(error.message, 'MCP tool "add" was not called')
      assert.deepStrictEqual(peer.methods(), ["server/discover"])
    })
  )

  it.effect("everything else fails as a plain call does", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern((heard, peer) => peer.refuse(heard, -32602, "unknown tool")))
      const client = yield* McpClient.connect(peer.transport)
      const error = yield* Effect.flip(TypedTool.call(client, add, { a: 1, b: 2 }))
      assert.strictEqual(error._tag === "McpClientError" ? error.reason._tag : error._tag, "ServerError")
    })
  )

  it.effect("options reach the call", () =>
    Effect.gen(function* () {
      let steps = 0
      const peer = giving(({ params }) => {
        const token = Object(params?.["_meta"])["progressToken"]
        peer.say({ method: "notifications/progress", params: { progressToken: token, progress: 1 } })
        return { content: [], structuredContent: { sum: "1" } }
      })
      const client = yield* McpClient.connect(peer.transport)
      yield* TypedTool.call(client, add, { a: 1, b: 0 }, { onProgress: () => void steps++ })
      assert.strictEqual(steps, 1)
    })
  )
})
