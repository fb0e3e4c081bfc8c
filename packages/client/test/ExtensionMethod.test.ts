import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as ExtensionMethod from "../src/ExtensionMethod.ts"
import * as McpClient from "../src/McpClient.ts"
import { settled } from "./fixtures/announcer.ts"
import * as Peer from "./fixtures/peer.ts"

const Search = ExtensionMethod.make("com.example/search", {
  params: Schema.Struct({ words: Schema.Array(Schema.String), most: Schema.FiniteFromString }),
  result: Schema.Struct({ found: Schema.FiniteFromString })
})
const wish = { words: ["mcp"], most: 3 }

const eras = [
  { era: "modern" as const, of: Peer.modern },
  { era: "legacy" as const, of: Peer.legacy }
]

const connected = Effect.fnUntraced(function* (of: typeof Peer.modern, react: Peer.React, reopenable = false) {
  const peer = Peer.make(of(react), { reopenable })
  const client = yield* McpClient.connect(peer.transport)
  return { client, peer, asked: () => peer.heard().filter(({ method }) => method === Search.name) }
})

const found = Peer.on(Search.name, () => ({ resultType: "complete", found: "7" }))

describe("a method of an extension", () => {
  it.effect.each(eras)(
    "$era: parameters are encoded, the era's _meta is written, and the result is decoded",
    ({ era, of }) =>
      Effect.gen(function* () {
        const { asked, client } = yield* connected(of, found)
        assert.deepStrictEqual(yield* ExtensionMethod.call(client, Search, wish), { found: 7 })
        const [{ params = {} } = {}] = asked()
        assert.deepInclude(params, { words: ["mcp"], most: "3" })
        assert.strictEqual("_meta" in params, era === "modern")
      })
  )

  it.effect.each(eras)("$era: progress is heard, and an interrupted request is cancelled", ({ of }) =>
    Effect.gen(function* () {
      const steps: Array<number> = []
      const { client, peer } = yield* connected(of, ({ method, params }, peer) => {
        const meta = params?.["_meta"]
        if (method !== Search.name || typeof meta !== "object" || meta === null || !("progressToken" in meta)) return
        peer.say({ method: "notifications/progress", params: { progressToken: meta.progressToken, progress: 1 } })
      })
      const running = yield* Effect.forkChild(
        ExtensionMethod.call(client, Search, wish, { onProgress: ({ progress }) => void steps.push(progress) }),
        { startImmediately: true }
      )
      yield* settled
      assert.deepStrictEqual(steps, [1])
      yield* Fiber.interrupt(running)
      yield* settled
      assert.include(peer.methods(), "notifications/cancelled")
    })
  )

  it.effect.each(eras)(
    "$era: a refusal, a result that does not fit and one that is no object each have their error",
    ({ of }) =>
      Effect.gen(function* () {
        const answers: ReadonlyArray<object> = [{ resultType: "complete", found: "many" }, { resultType: "complete" }]
        let at = 0
        const { client } = yield* connected(of, (heard, peer) => {
          if (heard.method !== Search.name) return
          const answer = answers[at++]
          if (answer === undefined) peer.refuse(heard, -32601, "no such method")
          else peer.answer(heard, answer)
        })
        const call = Effect.flip(ExtensionMethod.call(client, Search, wish))
        const many = yield* call
        assert.strictEqual(many._tag, "McpClientError")
        if (many._tag === "McpClientError") {
          assert.deepInclude(many.reason, { _tag: "InvalidResult", method: Search.name, pointer: "/found" })
        }
        const none = yield* call
        assert.isTrue(none._tag === "McpClientError" && none.reason._tag === "InvalidResult")
        const refused = yield* call
        assert.isTrue(
          refused._tag === "McpClientError" && refused.reason._tag === "ServerError" && refused.reason.code === -32601
        )
      })
  )

  it.effect("parameters that do not encode are never sent, and the error names the place", () =>
    Effect.gen(function* () {
      const { asked, client } = yield* connected(Peer.modern, found)
      const Small = ExtensionMethod.make(Search.name, {
        params: Schema.Struct({ most: Schema.Int.check(Schema.isLessThan(10)) }),
        result: Schema.Unknown
      })
      const error = yield* Effect.flip(ExtensionMethod.call(client, Small, { most: 11 }))
      assert.deepInclude(error, { _tag: "ParamsInvalid", method: Search.name, pointer: "/most" })
      assert.include(error.message, "com.example/search was not asked: its parameters at /most: ")
      assert.deepStrictEqual(asked(), [])
    })
  )

  it.effect.each(["tools/call", "initialize", "", "two words", "a\r\nb: c", "ä", "x".repeat(257)])(
    "a name that is no extension's is refused before anything is sent: %j",
    (name) =>
      Effect.gen(function* () {
        const { client, peer } = yield* connected(Peer.modern, found)
        const before = peer.lines.length
        const { reason } = yield* Effect.flip(client.extension(name, {}))
        assert.deepInclude(reason, { _tag: "InvalidOption", option: "method" })
        assert.strictEqual(peer.lines.length, before)
      })
  )

  it.effect.each([
    { repeatable: false, sent: 1 },
    { repeatable: true, sent: 2 }
  ])(
    "T-LIFE-3: when its process dies it is sent again only if it may run twice (repeatable: $repeatable)",
    ({ repeatable, sent }) =>
      Effect.gen(function* () {
        let died = false
        const { asked, client } = yield* connected(
          Peer.legacy,
          (heard, peer) => {
            if (heard.method !== Search.name) return
            if (died) return peer.answer(heard, { found: "7" })
            died = true
            peer.hangUp()
          },
          true
        )
        const outcome = yield* Effect.result(ExtensionMethod.call(client, Search, wish, { repeatable }))
        assert.strictEqual(asked().length, sent)
        if (outcome._tag === "Success") return assert.isTrue(repeatable)
        const error = outcome.failure
        assert.isTrue(!repeatable && error._tag === "McpClientError" && error.reason._tag === "OutcomeUnknown")
      })
  )

  it.effect("a client of a test answers the methods that the test gives", () =>
    Effect.gen(function* () {
      const client = yield* McpClient.McpClient
      assert.deepStrictEqual(yield* ExtensionMethod.call(client, Search, wish), { found: 3 })
      const { reason } = yield* Effect.flip(client.extension("com.example/other", {}))
      assert.isTrue(reason._tag === "ServerError" && reason.code === -32601)
    }).pipe(
      Effect.provide(
        McpClient.layerTest({ extensions: { [Search.name]: ({ most }) => Effect.succeed({ found: String(most) }) } })
      )
    )
  )
})
