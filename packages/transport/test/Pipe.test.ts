import { assert, describe, it } from "@effect/vitest"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Lines from "../src/internal/lines.ts"
import type { Incoming } from "../src/Transport.ts"
import { request, turn } from "./fixtures/asking.ts"
import { held } from "./fixtures/heldPipe.ts"
import { modern } from "./fixtures/revisions.ts"

const encoder = new TextEncoder()
const how = { revision: modern }
const note = (method: string, params: JsonRpc.JsonObject): JsonRpc.Notification => ({ jsonrpc: "2.0", method, params })

describe("a framer of lines", () => {
  it.prop(
    "T-STDIO-2, T-STDIO-3: gives the same lines however the bytes are cut",
    { texts: Schema.Array(Schema.String), cuts: Schema.Array(Schema.Int) },
    ({ cuts, texts }) => {
      const lines = texts.map((text) => JSON.stringify({ text, also: "读😀" }))
      const bytes = encoder.encode(lines.map((line, i) => line + (i % 2 === 0 ? "\n" : "\r\n")).join(""))
      const at = cuts.map((cut) => Math.abs(cut) % (bytes.length + 1)).toSorted((a, b) => a - b)
      const seen: Array<string> = []
      const read = Lines.make({ limit: 1_000_000, line: (line) => void seen.push(line), tooLong: () => {} })
      for (const [i, start] of [0, ...at].entries()) read(bytes.subarray(start, at[i] ?? bytes.length))
      assert.deepStrictEqual(seen, lines)
    }
  )

  it("T-STDIO-4: says so once when a line is too long, and then nothing more", () => {
    let times = 0
    const seen: Array<string> = []
    const read = Lines.make({ limit: 4, line: (line) => void seen.push(line), tooLong: () => void times++ })
    for (const chunk of ["1234\n", "12", "345", "\n1\n", "123456\n"]) read(encoder.encode(chunk))
    assert.deepStrictEqual([seen, times], [["1234"], 1])
  })

  it("T-STDIO-4: does work in proportion to the bytes", () => {
    let length = 0
    const read = Lines.make({ limit: 1e9, line: (line) => void (length = line.length), tooLong: () => {} })
    const chunk = new Uint8Array(4_096).fill(120)
    for (let i = 0; i < 16_384; i++) read(chunk)
    read(encoder.encode("\n"))
    assert.strictEqual(length, 64 * 1024 * 1024)
  })
})

/** How many messages each write had. */
const lines = (writes: ReadonlyArray<string>) => writes.map((text) => text.split("\n").length - 1)

describe("a wire over a pipe", () => {
  it.effect("answers go to the request with their id, whatever their order", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const [one, two] = [yield* pipe.ask(request(1)), yield* pipe.ask(request("b"))]
      pipe.say({ jsonrpc: "2.0", id: "b", result: { n: 2 } }, { jsonrpc: "2.0", id: 1, result: { n: 1 } })
      assert.deepStrictEqual(yield* Fiber.join(one), Exit.succeed({ jsonrpc: "2.0", id: 1, result: { n: 1 } } as const))
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(two)))
    })
  )

  it.effect("T-RPC-4: a number echoed as text is the same id; text that only resembles one is not", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const fiber = yield* pipe.ask(request(0))
      pipe.say({ jsonrpc: "2.0", id: "", result: {} }, { jsonrpc: "2.0", id: "0x0", result: {} })
      assert.isUndefined(fiber.pollUnsafe())
      pipe.say({ jsonrpc: "2.0", id: "0", result: {} })
      assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed({ jsonrpc: "2.0", id: 0, result: {} } as const))
      assert.strictEqual(pipe.diagnostics.length, 2)
    })
  )

  it.effect("P15: an error without an id answers the only request in flight, and is reported when there are more", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const error = { code: -32700, message: "?" }
      const first = yield* pipe.ask(request(1))
      pipe.say({ jsonrpc: "2.0", id: null, error })
      assert.deepStrictEqual(yield* Fiber.join(first), Exit.succeed({ jsonrpc: "2.0", id: 1, error } as const))
      const [second, third] = [yield* pipe.ask(request(2)), yield* pipe.ask(request(3))]
      pipe.say({ jsonrpc: "2.0", error })
      assert.deepStrictEqual([second.pollUnsafe(), third.pollUnsafe()], [undefined, undefined])
      assert.deepInclude(pipe.diagnostics[0], { _tag: "UnknownResponse", id: null })
      yield* Fiber.interruptAll([second, third])
    })
  )

  it.effect("T-RPC-1: an answer nobody asked for is reported; a late one of an abandoned request is not", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      yield* Effect.flatMap(pipe.ask(request(1)), Fiber.interrupt)
      pipe.say(note("notifications/progress", { progressToken: 1, progress: 1 }), {
        jsonrpc: "2.0",
        id: "1",
        result: {}
      })
      assert.deepStrictEqual([pipe.diagnostics, pipe.heard], [[], []])
      pipe.say({ jsonrpc: "2.0", id: 1, result: {} })
      assert.deepInclude(pipe.diagnostics[0], { _tag: "UnknownResponse", id: 1 })
    })
  )

  it.effect("an answer that cannot be read fails its request instead of leaving it waiting", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const [one, two] = [yield* pipe.ask(request(1)), yield* pipe.ask(request(2))]
      pipe.say({ jsonrpc: "2.0", id: 1, result: "text" }, { jsonrpc: "2.0", id: 2, error: "text" })
      for (const fiber of [one, two]) {
        const error = yield* Effect.flip(yield* Fiber.join(fiber))
        assert.deepInclude(error.reason, { _tag: "MalformedReply" })
      }
    })
  )

  it.effect("a null error beside a result, and null parameters, are read as absent", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const fiber = yield* pipe.ask(request(1))
      pipe.say(
        { jsonrpc: "2.0", id: 9, method: "ping", params: null },
        { jsonrpc: "2.0", id: 1, result: {}, error: null }
      )
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(fiber)))
      assert.deepInclude(pipe.heard[0], { id: 9, method: "ping" })
    })
  )

  it.effect("T-RPC-7: an array is taken apart in order", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const seen: Array<Incoming> = []
      const fiber = yield* pipe.ask(request(1), { interim: (message) => void seen.push(message) })
      const progress = note("notifications/progress", { progressToken: 1, progress: 1 })
      const log = note("notifications/message", { level: "info", data: "x" })
      pipe.say([log, progress, { jsonrpc: "2.0", id: 1, result: {} }])
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(fiber)))
      assert.deepStrictEqual([seen, pipe.heard], [[progress], [log]])
    })
  )

  it.effect("hostile ids and tokens match nothing", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const fiber = yield* pipe.ask(request(1))
      const token = note("notifications/progress", { progressToken: "__proto__" })
      pipe.say(
        token,
        { jsonrpc: "2.0", id: "__proto__", result: {} },
        { jsonrpc: "2.0", id: "constructor", result: {} }
      )
      assert.deepStrictEqual(pipe.heard, [token])
      assert.strictEqual(pipe.diagnostics.length, 2)
      assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("a request that is alone is written before its call returns, and those of one turn after it together", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      yield* pipe.ask(request(0))
      assert.deepStrictEqual(lines(pipe.writes), [1])
      for (let id = 1; id < 64; id++) yield* pipe.ask(request(id))
      assert.deepStrictEqual(lines(pipe.writes), [1])
      yield* turn
      assert.deepStrictEqual(lines(pipe.writes), [1, 63])
      for (let id = 0; id < 64; id++) pipe.say({ jsonrpc: "2.0", id, result: {} })
      yield* pipe.ask(request(64))
      assert.deepStrictEqual(lines(pipe.writes), [1, 63, 1])
    })
  )

  it.effect("nothing overtakes what still waits to be written", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const first = yield* pipe.ask(request(1))
      yield* pipe.ask(request(2))
      yield* Fiber.interrupt(first)
      pipe.say({ jsonrpc: "2.0", id: 2, result: {} })
      yield* pipe.ask(request(3))
      assert.deepStrictEqual(
        (yield* pipe.sent).map(({ id, method }) => id ?? method),
        [1, 2, "notifications/cancelled", 3]
      )
    })
  )

  it.effect("a turn that says much is handed over as it grows, in order, and no further than there is room", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const long = (id: number): JsonRpc.Request => ({ ...request(id), params: { text: "x".repeat(1_000) } })
      for (let id = 0; id < 6; id++) yield* pipe.ask(long(id))
      assert.deepStrictEqual(lines(pipe.writes), [1, 4])
      pipe.setRoom(false)
      for (let id = 6; id < 20; id++) yield* pipe.ask(long(id))
      yield* turn
      assert.lengthOf(pipe.writes, 3)
      pipe.setRoom(true)
      const ids = (yield* pipe.sent).map(({ id }) => id)
      assert.deepStrictEqual(
        ids,
        Array.from({ length: 20 }, (_, id) => id)
      )
    })
  )

  it.effect("a full pipe gets nothing more until it has drained, and no answer waits for that", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      pipe.setRoom(false)
      const first = yield* pipe.ask(request(1))
      yield* turn
      yield* pipe.ask(request(2))
      const third = yield* pipe.ask(request(3))
      yield* turn
      assert.strictEqual(pipe.writes.length, 1)
      pipe.say({ jsonrpc: "2.0", id: 1, result: {} })
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(first)))
      yield* Fiber.interrupt(third)
      pipe.setRoom(true)
      yield* Effect.yieldNow
      yield* turn
      assert.deepStrictEqual(
        pipe.writes
          .join("")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line).id),
        [1, 2]
      )
    })
  )

  it.effect("the end fails every open exchange exactly once, and everything after", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const fibers = yield* Effect.forEach([1, 2, 3], (id) => pipe.ask(request(id)))
      pipe.end("gone")
      pipe.end("twice")
      pipe.say({ jsonrpc: "2.0", id: 1, result: {} })
      for (const fiber of fibers) {
        assert.deepInclude((yield* Effect.flip(yield* Fiber.join(fiber))).reason, { because: "gone" })
      }
      assert.deepInclude((yield* Effect.flip(pipe.wire.ended)).reason, { because: "gone" })
      assert.deepInclude((yield* Effect.flip(pipe.wire.exchange(request(4), how))).reason, { because: "gone" })
      assert.deepInclude((yield* Effect.flip(pipe.wire.send(note("x", {}), modern))).reason, { because: "gone" })
    })
  )

  it.effect("closing hands over what was said last, then fails what is open", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      const fiber = yield* pipe.ask(request(1))
      yield* pipe.wire.send(note("bye", {}), modern)
      yield* pipe.close
      assert.include(pipe.writes.join(""), "bye")
      assert.deepInclude((yield* Effect.flip(yield* Fiber.join(fiber))).reason, { _tag: "Closed" })
    })
  )

  it.effect(
    "a request with the id of an open one is a defect, one that JSON cannot hold is NotJson; neither harms another",
    () =>
      Effect.gen(function* () {
        const pipe = yield* held
        const fiber = yield* pipe.ask(request(1))
        assert.isTrue(Exit.hasDies(yield* Effect.exit(pipe.wire.exchange(request(1), how))))
        const unspeakable = { ...request(2), params: { n: 1n } }
        const { reason } = yield* Effect.flip(pipe.wire.exchange(unspeakable, how))
        assert.strictEqual(reason._tag, "NotJson")
        pipe.say({ jsonrpc: "2.0", id: 1, result: {} })
        assert.isTrue(Exit.isSuccess(yield* Fiber.join(fiber)))
      })
  )

  it.effect("T-STDIO-1: a flood of noise is reported a few times, not each time", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      for (let i = 0; i < 1_000; i++) pipe.say("noise")
      assert.strictEqual(pipe.diagnostics.length, 10)
      assert.deepInclude(pipe.diagnostics.at(-1), { skipped: 512 })
    })
  )

  it.effect("a line over Defaults.MaxMessageBytes ends the wire", () =>
    Effect.gen(function* () {
      const pipe = yield* held
      pipe.say("x".repeat(200))
      assert.deepInclude((yield* Effect.flip(pipe.wire.ended)).reason, { _tag: "TooLarge", limit: 100, what: "line" })
    }).pipe(Effect.provideService(Defaults.MaxMessageBytes, 100))
  )
})
