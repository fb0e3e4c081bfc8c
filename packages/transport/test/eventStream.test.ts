import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import * as EventStream from "../src/internal/eventStream.ts"

const encoder = new TextEncoder()

/** A response whose body comes in these pieces. */
const responseOf = (pieces: ReadonlyArray<Uint8Array>) =>
  HttpClientResponse.fromWeb(
    HttpClientRequest.get("http://localhost/"),
    new Response(
      new ReadableStream({
        start: (controller) => {
          for (const piece of pieces) if (piece.length > 0) controller.enqueue(piece)
          controller.close()
        }
      })
    )
  )

const read = (pieces: ReadonlyArray<Uint8Array>, limit = 1_000_000) =>
  Effect.gen(function* () {
    const seen: Array<unknown> = []
    yield* EventStream.run(responseOf(pieces), {
      limit,
      event: ({ data, event, id }) => seen.push([event, id, data]) > 0,
      retry: (millis, lastEventId) => void seen.push(["retry", lastEventId, millis])
    })
    return seen
  })

describe("an event stream", () => {
  const text = [
    "\ufeff: comment\r\n\r\n",
    "id: 1\rdata:\r\r",
    "retry: 250\n\n",
    'data: {"jsonrpc":"2.0",\r\ndata: "t":"读取😀"}\r\n\r\n',
    "event: other\ndata:x\ndata: y\n\n",
    "id: 2\r\ndata: {}\n\n",
    "data: never dispatched"
  ].join("")
  const bytes = encoder.encode(text)
  const expected = [
    ["message", "1", ""],
    ["retry", "1", 250],
    ["message", "1", '{"jsonrpc":"2.0",\n"t":"读取😀"}'],
    ["other", "1", "x\ny"],
    ["message", "2", "{}"]
  ]

  it.effect.prop(
    "T-SSE-1, T-SSE-2, T-SSE-3, T-SSE-4: gives the same events however the bytes are cut",
    [Schema.Array(Schema.Int)],
    ([cuts]) =>
      Effect.gen(function* () {
        const at = cuts.map((cut) => Math.abs(cut) % (bytes.length + 1)).toSorted((a, b) => a - b)
        const pieces = [0, ...at].map((start, i) => bytes.subarray(start, at[i] ?? bytes.length))
        assert.deepStrictEqual(yield* read(pieces), expected)
      })
  )

  it.effect("T-SSE-2: a carriage return and its line feed may come apart", () =>
    Effect.gen(function* () {
      const each = Array.from(bytes, (byte) => Uint8Array.of(byte))
      assert.deepStrictEqual(yield* read(each), expected)
    })
  )

  it.effect("an event over the limit is TooLarge, whole or in pieces", () =>
    Effect.gen(function* () {
      const large = encoder.encode(`data: ${"x".repeat(200)}\n\n`)
      for (const pieces of [[large], [large.subarray(0, 150), large.subarray(150)]]) {
        const error = yield* Effect.flip(read(pieces, 100))
        assert.deepInclude(error, { _tag: "TooLarge", limit: 100, what: "event" })
      }
    })
  )

  const long = [
    ["a comment", `: ${"x".repeat(200)}\n`],
    ["a field without meaning", `other: ${"x".repeat(200)}\r\n`],
    ["an id", `id: ${"x".repeat(200)}\r`],
    ["a line that does not end", "x".repeat(200)]
  ] as const
  it.effect.each(long)("a line over the limit is TooLarge wherever it is cut: %s", ([, line]) =>
    Effect.gen(function* () {
      const bytes = encoder.encode(`data: one\n\n${line}data: two\n\n`)
      for (let at = 0; at <= bytes.length; at += 7) {
        const seen: Array<string> = []
        const stream = EventStream.run(responseOf([bytes.subarray(0, at), bytes.subarray(at)]), {
          limit: 100,
          event: ({ data }) => seen.push(data) > 0
        })
        assert.deepInclude(yield* Effect.flip(stream), { _tag: "TooLarge", limit: 100 })
        assert.deepStrictEqual(seen, ["one"])
      }
    })
  )

  it.effect("lines and events up to the limit are read wherever they are cut", () =>
    Effect.gen(function* () {
      const most = "y".repeat(100)
      const bytes = encoder.encode(`: ${most}\r\ndata: ${most}\n\n: ${most}\rdata: ${most}\r\r`)
      for (let at = 0; at <= bytes.length; at++) {
        const seen = yield* read([bytes.subarray(0, at), bytes.subarray(at)], 100)
        assert.deepStrictEqual(seen, [
          ["message", undefined, most],
          ["message", undefined, most]
        ])
      }
    })
  )

  it.effect("what comes after the last event that was wanted is not looked at", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      yield* EventStream.run(
        responseOf([encoder.encode(`data: one\n\ndata: ${"x".repeat(200)}\n\n${"z".repeat(300)}`)]),
        {
          limit: 100,
          event: ({ data }) => seen.push(data) < 1
        }
      )
      assert.deepStrictEqual(seen, ["one"])
    })
  )
})
