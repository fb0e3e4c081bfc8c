import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as JsonRpc from "../src/JsonRpc.ts"

const read = (text: string, options?: JsonRpc.ParseOptions) => {
  const all = JsonRpc.parse(text, options)
  assert.lengthOf(all, 1)
  return all[0]!
}

const message = (text: string): JsonRpc.Message => Result.getOrThrow(read(text))

const why = (text: string, options?: JsonRpc.ParseOptions): string => {
  const result = read(text, options)
  assert.isTrue(Result.isFailure(result))
  return Result.isFailure(result) ? result.failure.because : ""
}

describe("a message", () => {
  it("M-JSON-2: with method and id is a request", () => {
    const request = message('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1}}')
    assert.isTrue(JsonRpc.isRequest(request))
    assert.deepStrictEqual(request, { jsonrpc: "2.0", id: 1, method: "ping", params: { a: 1 } })
  })

  it("M-JSON-9: with method and no id is a notification", () => {
    const notification = message('{"jsonrpc":"2.0","method":"n"}')
    assert.isTrue(JsonRpc.isNotification(notification))
    assert.isFalse(JsonRpc.isRequest(notification))
  })

  it("M-JSON-6: with a result is a success, and keeps the type of its id", () => {
    const success = message('{"jsonrpc":"2.0","id":"1","result":{}}')
    assert.isTrue(JsonRpc.isResponse(success) && JsonRpc.isSuccess(success))
    assert.deepStrictEqual(success, { jsonrpc: "2.0", id: "1", result: {} })
  })

  it("M-JSON-7: an error may lack its id or have null there, and stays intact", () => {
    const without = message('{"jsonrpc":"2.0","error":{"code":-32700,"message":"x","data":[1]}}')
    assert.deepStrictEqual(without, { jsonrpc: "2.0", error: { code: -32700, message: "x", data: [1] } })
    const withNull = message('{"jsonrpc":"2.0","id":null,"error":{"code":0,"message":"?"}}')
    assert.deepStrictEqual(withNull, { jsonrpc: "2.0", id: null, error: { code: 0, message: "?" } })
    assert.isTrue(JsonRpc.isFailure(withNull))
  })

  it("L-RPC-8: leaves members behind that JSON-RPC does not know", () => {
    assert.deepStrictEqual(message('{"jsonrpc":"2.0","id":1,"result":{},"extra":1}'), {
      jsonrpc: "2.0",
      id: 1,
      result: {}
    })
  })

  it("reads a null result as an empty one, a null error as none, null params as absent", () => {
    assert.deepStrictEqual(message('{"jsonrpc":"2.0","id":1,"result":null,"error":null}'), {
      jsonrpc: "2.0",
      id: 1,
      result: {}
    })
    assert.deepStrictEqual(message('{"jsonrpc":"2.0","method":"n","params":null}'), { jsonrpc: "2.0", method: "n" })
  })

  it("keeps __proto__ inert", () => {
    const parsed = message('{"jsonrpc":"2.0","method":"n","params":{"__proto__":{"polluted":1}},"__proto__":{"id":1}}')
    assert.isTrue(JsonRpc.isNotification(parsed))
    assert.isFalse("polluted" in ((parsed as JsonRpc.Notification).params ?? {}))
  })
})

describe("text that is no message", () => {
  const bad: ReadonlyArray<readonly [text: string, because: string, id?: string | number]> = [
    ["Server v1.2 ready", "it is not JSON"],
    ["", "it is not JSON"],
    ["1", "it is not an object"],
    ["null", "it is not an object"],
    ['{"id":1,"result":{}}', "it does not say jsonrpc 2.0", 1],
    ['{"jsonrpc":"2.0"}', "it has neither method nor result nor error"],
    ['{"jsonrpc":"2.0","id":1,"method":2}', "its method is not a string", 1],
    ['{"jsonrpc":"2.0","id":"a","method":"m","params":[1]}', "its params are not an object", "a"],
    ['{"jsonrpc":"2.0","id":null,"method":"m"}', "its id is neither a string nor an integer"],
    ['{"jsonrpc":"2.0","id":1.5,"method":"m"}', "its id is neither a string nor an integer"],
    ['{"jsonrpc":"2.0","id":{},"result":{}}', "its id is neither a string nor an integer"],
    ['{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1}}', "it has both a result and an error", 7],
    ['{"jsonrpc":"2.0","id":7,"result":[]}', "its result is not an object", 7],
    ['{"jsonrpc":"2.0","id":7,"error":{"message":"x"}}', "its error has no code", 7],
    ['{"jsonrpc":"2.0","id":7,"error":"x"}', "its error has no code", 7]
  ]
  for (const [text, because, id] of bad) {
    it(`T-STDIO-1: ${JSON.stringify(text)} is none because ${because}`, () => {
      const result = read(text)
      assert.isTrue(Result.isFailure(result))
      if (Result.isSuccess(result)) return
      assert.strictEqual(result.failure.because, because)
      assert.strictEqual(result.failure.id, id)
      assert.notInclude(result.failure.message, "Server v1.2")
    })
  }

  it("M-JSON-12: an array is none where there are no batches", () => {
    assert.strictEqual(why("[]"), "it is a batch, which this revision does not have")
  })

  it.prop("never throws, whatever the text", { text: Schema.String }, ({ text }) => {
    for (const prefix of ["", '{"jsonrpc":"2.0",', "["]) {
      assert.isAtLeast(JsonRpc.parse(prefix + text, { batches: true }).length, 1)
    }
  })
})

describe("a batch", () => {
  it("T-RPC-7: its elements stand and fall alone", () => {
    const all = JsonRpc.parse('[{"jsonrpc":"2.0","method":"n"},5,{"jsonrpc":"2.0","id":2,"result":{}}]', {
      batches: true
    })
    assert.deepStrictEqual(all.map(Result.isSuccess), [true, false, true])
  })

  it("L-RPC-5: an empty one is none", () => {
    assert.strictEqual(why("[]", { batches: true }), "it is an empty batch")
  })
})

describe("the limits of a text", () => {
  const nested = (depth: number) =>
    `{"jsonrpc":"2.0","method":"n","params":{"x":${"[".repeat(depth)}${"]".repeat(depth)}}}`

  it("counts nesting, but not brackets inside strings", () => {
    assert.isTrue(Result.isSuccess(read(nested(510))))
    assert.strictEqual(why(nested(511)), "it is nested too deeply")
    assert.isTrue(Result.isSuccess(read(nested(1).replace("[]", JSON.stringify(`"\\${"[".repeat(2000)}`)))))
    assert.strictEqual(why(nested(3), { maxDepth: 4 }), "it is nested too deeply")
  })

  it("knows where a string ends, whatever number of backslashes stands before the quote", () => {
    for (const inside of ["", "\\", "\\\\", "\\\\\\", 'a"', '\\"', '"\\', '\\\\"[[[[[['] as const) {
      const text = `["",${JSON.stringify(inside)},[[[[1]]]],"",""]`
      assert.strictEqual(why(text, { batches: true, maxDepth: 4 }), "it is nested too deeply", text)
      assert.isAbove(JsonRpc.parse(text, { batches: true, maxDepth: 5 }).length, 1, text)
    }
  })

  it("counts members and length", () => {
    assert.strictEqual(
      why('{"jsonrpc":"2.0","method":"n","params":{"x":[1,2,3]}}', { maxMembers: 3 }),
      "it has too many members"
    )
    assert.strictEqual(why('{"jsonrpc":"2.0","method":"n"}', { maxLength: 10 }), "it is too long")
  })
})
