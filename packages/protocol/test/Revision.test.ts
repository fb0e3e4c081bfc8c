import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Method from "../src/Method.ts"
import * as Revision from "../src/Revision.ts"
import * as Version from "../src/Version.ts"

const { v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28 } = Revision
const all = [v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28]
const legacy = all.slice(0, 4)

const sender: Revision.Sender = {
  client: { name: "c", version: "1", title: "C", description: "d" },
  capabilities: {
    elicitation: { form: {}, url: {} },
    roots: { listChanged: true },
    sampling: { tools: {} },
    extensions: {}
  }
}

const value = <A>(result: Result.Result<A, unknown>): A => Result.getOrThrow(result)

const failure = <E>(result: Result.Result<unknown, E>): E => {
  assert.isTrue(Result.isFailure(result))
  return Result.getOrThrow(Result.flip(result))
}

describe("a revision", () => {
  it("is there for every version", () => {
    for (const version of [...Version.modern, ...Version.legacy]) {
      assert.strictEqual(Revision.of(version).version, version)
    }
    assert.deepStrictEqual(
      all.map(({ era }) => era),
      ["legacy", "legacy", "legacy", "legacy", "modern"]
    )
  })

  it("L-RPC-5: has batches only in 2025-03-26", () => {
    assert.deepStrictEqual(
      all.filter(({ habits }) => habits.batches),
      [v2025_03_26]
    )
  })

  it("M-JSON-10: lets the server ask only in the legacy era", () => {
    assert.deepStrictEqual(
      all.filter(({ habits }) => habits.serverRequests),
      legacy
    )
  })

  it("has the methods of its era and no others", () => {
    const count = (revision: Revision.Revision) => Object.keys(Method.methods).filter(revision.supports).length
    assert.deepStrictEqual(all.map(count), [13, 13, 13, 17, 13])
    assert.isFalse(v2026_07_28.supports("initialize"))
    assert.isFalse(v2025_11_25.supports("server/discover"))
    assert.isFalse(v2025_11_25.supports("toString"))
  })

  it("L-CAP: names the capability that a method needs", () => {
    assert.deepStrictEqual(v2025_11_25.gate("resources/subscribe"), ["resources", "subscribe"])
    assert.isUndefined(v2024_11_05.gate("completion/complete"))
    assert.deepStrictEqual(v2025_03_26.gate("completion/complete"), ["completions"])
    assert.deepStrictEqual(v2025_11_25.gate("tasks/get"), ["tasks"])
    assert.deepStrictEqual(v2026_07_28.gate("tasks/get"), ["extensions", "io.modelcontextprotocol/tasks"])
  })
})

describe("writing a request", () => {
  it("fails for a method the revision does not have", () => {
    const error = failure(v2025_11_25.encode("server/discover", {}))
    assert.strictEqual(error._tag, "MethodNotInRevision")
    assert.include(error.message, "2025-11-25 has no method server/discover")
  })

  it("L-RPC-10: says nothing where there is nothing to say", () => {
    for (const revision of all) assert.isUndefined(value(revision.encode("tools/list", {})).params)
  })

  it("always sends the arguments of a tool as an object", () => {
    for (const revision of all) {
      assert.deepStrictEqual(value(revision.encode("tools/call", { name: "t" })).params, { name: "t", arguments: {} })
    }
  })

  it("L-COMP-2: drops the context of a completion where it is unknown, and says so", () => {
    const params = {
      ref: { type: "ref/prompt", name: "p" },
      argument: { name: "a", value: "" },
      context: { arguments: { b: "c" } }
    } as const
    const old = value(v2025_03_26.encode("completion/complete", params))
    assert.deepStrictEqual(old.params, { ref: params.ref, argument: params.argument })
    assert.deepStrictEqual(old.dropped, [{ pointer: "/context", because: "2025-03-26 does not have it" }])
    assert.deepStrictEqual(value(v2025_06_18.encode("completion/complete", params)), { params, dropped: [] })
  })

  it("refuses a retry with answers where there is no such thing", () => {
    const error = failure(v2025_11_25.encode("tools/call", { name: "t", requestState: "s" }))
    assert.strictEqual(error._tag, "CannotCarry")
    assert.include(error.message, "/requestState")
  })

  it("drops a wish for a task everywhere but in 2025-11-25", () => {
    const wish = { name: "t", arguments: {}, task: { ttl: 1 } }
    assert.deepStrictEqual(value(v2025_11_25.encode("tools/call", wish)).params, wish)
    assert.deepStrictEqual(
      value(v2026_07_28.encode("tools/call", wish)).dropped.map(({ pointer }) => pointer),
      ["/task"]
    )
  })
})

describe("the handshake", () => {
  it("L-LIFE-1: offers what the version knows", () => {
    assert.deepStrictEqual(Revision.hello("2024-11-05", sender), {
      protocolVersion: "2024-11-05",
      capabilities: { roots: { listChanged: true }, sampling: {} },
      clientInfo: { name: "c", version: "1" }
    })
    assert.deepStrictEqual(Revision.hello("2025-06-18", sender)["capabilities"], {
      elicitation: {},
      roots: { listChanged: true },
      sampling: {}
    })
    assert.deepStrictEqual(Revision.hello("2025-11-25", sender)["capabilities"], {
      elicitation: { form: {}, url: {} },
      roots: { listChanged: true },
      sampling: { tools: {} }
    })
  })

  it("2025-06-18 is not told of elicitation when only addresses can be shown", () => {
    const urlOnly = { ...sender, capabilities: { elicitation: { url: {} } } }
    assert.deepStrictEqual(Revision.hello("2025-06-18", urlOnly)["capabilities"], {})
    assert.deepStrictEqual(Revision.hello("2025-11-25", urlOnly)["capabilities"], { elicitation: { url: {} } })
  })
})

describe("_meta of a request", () => {
  const stamp = v2026_07_28.stamp(sender)
  const identity = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": sender.client,
    "io.modelcontextprotocol/clientCapabilities": { ...sender.capabilities, roots: {} }
  }

  it("U-20: carries version, client and capabilities in the modern era", () => {
    assert.deepStrictEqual(stamp(undefined), { _meta: identity })
    assert.deepStrictEqual(stamp({ name: "t" }, { progressToken: 7, logLevel: "debug", meta: { traceparent: "x" } }), {
      name: "t",
      _meta: { traceparent: "x", progressToken: 7, ...identity, "io.modelcontextprotocol/logLevel": "debug" }
    })
  })

  it("T-MOD-3: keeps the caller's keys, but not for what only the library writes", () => {
    const forged = { _meta: { mine: 1, "io.modelcontextprotocol/protocolVersion": "1999-01-01" } }
    assert.deepStrictEqual(stamp(forged), { _meta: { mine: 1, ...identity } })
    const asked = { _meta: { "io.modelcontextprotocol/logLevel": "debug" } }
    assert.deepStrictEqual(stamp(asked), { _meta: identity })
  })

  it("L-META-3: carries none of the modern keys in the legacy era", () => {
    for (const revision of legacy) {
      const plain = revision.stamp(sender)
      assert.isUndefined(plain(undefined))
      assert.deepStrictEqual(plain({ a: 1 }, { progressToken: 7, logLevel: "debug" }), {
        a: 1,
        _meta: { progressToken: 7 }
      })
      assert.isUndefined(plain({ _meta: identity }))
      assert.deepStrictEqual(plain({ _meta: { ...identity, mine: 1 } }), { _meta: { mine: 1 } })
    }
  })
})

describe("reading a result", () => {
  const tool = { name: "ok", inputSchema: { type: "object" } }
  const tools = (result: { readonly [key: string]: unknown }, revision = v2026_07_28) =>
    value(revision.decode("tools/list", result))

  it("M-RES-6: an absent resultType is complete; T-LIST-7: absent cache hints are 0 and private", () => {
    assert.deepStrictEqual(tools({ tools: [tool] }).value, {
      tools: [tool],
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private"
    })
  })

  it("a list that fits is handed on as it is: nothing is copied, unknown members stay", () => {
    const wire = {
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "public",
      tools: [{ ...tool, future: { a: 1 } }],
      x: 1
    }
    assert.strictEqual<unknown>(tools(wire).value, wire)
  })

  it("T-TOOL-1: what looks right at the top is looked into: a bad member, a bad schema, a missing name, no object", () => {
    const wire = (bad: unknown) => ({ resultType: "complete", ttlMs: 0, cacheScope: "public", tools: [tool, bad] })
    for (const bad of [
      { name: 1, inputSchema: { type: "object" } },
      { name: "bad", inputSchema: { type: "string" } },
      { inputSchema: { type: "object" } },
      [tool],
      null
    ]) {
      const { rejected, value: read } = tools(wire(bad))
      assert.deepStrictEqual(read.tools, [tool])
      assert.strictEqual(rejected.length, 1)
    }
  })

  it("M-CACHE-6: a negative ttlMs is 0, a fractional one is cut", () => {
    assert.strictEqual(tools({ tools: [], ttlMs: -1 }).value.ttlMs, 0)
    assert.strictEqual(tools({ tools: [], ttlMs: 10.7 }).value.ttlMs, 10)
    assert.strictEqual(tools({ tools: [], ttlMs: "5", cacheScope: "all" }).value.ttlMs, 0)
  })

  it("T-TOOL-1: one bad tool does not hide the others, and is named", () => {
    const { value: read, rejected } = tools({
      tools: [tool, { name: "bad", inputSchema: { anyOf: [{ type: "object" }] } }, { inputSchema: { type: "object" } }]
    })
    assert.deepStrictEqual(read.tools, [tool])
    assert.deepStrictEqual(rejected, [
      { pointer: "/tools/1", name: "bad", because: 'inputSchema expected "type" to be "object"' },
      { pointer: "/tools/2", name: undefined, because: "name is missing" }
    ])
  })

  it("T-TOOL-1: a list of thousands tells each bad item by its place, as a short one does", () => {
    const bad = [{ name: "bad" }, null, { ...tool, icons: [{ src: 1 }] }]
    const { value: read, rejected } = tools({ tools: [...Array.from({ length: 1_000 }, () => tool), ...bad] })
    assert.lengthOf(read.tools, 1_001)
    assert.deepStrictEqual(rejected, [
      { pointer: "/tools/1000", name: "bad", because: "inputSchema is missing" },
      { pointer: "/tools/1001", name: undefined, because: "expected object" },
      { pointer: "/tools/1002/icons/0", name: undefined, because: "src expected string" }
    ])
    const short = tools({ tools: bad }).rejected
    assert.deepStrictEqual(
      short.map(({ because }) => because),
      rejected.map(({ because }) => because)
    )
  })

  it("T-TOOL-6: an empty schema is an object, a null one is rejected", () => {
    const { value: read, rejected } = tools({
      tools: [
        { name: "n", inputSchema: {} },
        { name: "m", inputSchema: null }
      ]
    })
    assert.deepStrictEqual(
      read.tools.map(({ name }) => name),
      ["n"]
    )
    assert.deepStrictEqual(
      rejected.map(({ name }) => name),
      ["m"]
    )
  })

  it("L-DEV-28: a malformed optional member is dropped, the item stays", () => {
    const { value: read, rejected } = tools({ tools: [{ ...tool, annotations: null, title: 5, icons: [{ src: 1 }] }] })
    assert.deepStrictEqual(read.tools, [{ ...tool, icons: [] }])
    assert.deepStrictEqual(
      rejected.map(({ pointer }) => pointer),
      ["/tools/0/title", "/tools/0/icons/0"]
    )
  })

  it("L-DEV-27: keeps unknown members, and members of other revisions", () => {
    const rich = { ...tool, "x-new": 1, outputSchema: { type: "object" }, title: "T" }
    for (const revision of all) assert.deepStrictEqual(tools({ tools: [rich] }, revision).value.tools, [rich])
  })

  it("M-PAGE-3: the empty cursor is a cursor, null is none", () => {
    assert.strictEqual(tools({ tools: [], nextCursor: "" }).value.nextCursor, "")
    assert.isFalse(Object.hasOwn(tools({ tools: [], nextCursor: null }).value, "nextCursor"))
    assert.deepStrictEqual(tools({ tools: null }).value.tools, [])
  })

  it("M-RES-5, T-MOD-6: an unknown resultType makes the answer invalid", () => {
    const error = failure(v2026_07_28.decode("tools/call", { resultType: "partial", content: [] }))
    assert.strictEqual(error.pointer, "/resultType")
    assert.include(error.message, '"partial"')
  })

  it("M-MRTR-5: questions count for the three methods that may ask", () => {
    const asking = { resultType: "input_required", requestState: "s" }
    for (const method of ["tools/call", "prompts/get", "resources/read"] as const) {
      const read = value(v2026_07_28.decode(method, asking)).value
      assert.strictEqual(read.resultType, "input_required")
    }
    assert.strictEqual(failure(v2026_07_28.decode("tools/list", asking)).pointer, "/resultType")
  })

  it("M-MRTR-3: questions need inputRequests or requestState", () => {
    assert.include(failure(v2026_07_28.decode("tools/call", { resultType: "input_required" })).message, "inputRequests")
  })

  it("M-TASK-4: a task counts for tools/call, when it is expected", () => {
    const task = { resultType: "task", taskId: "t", status: "working", createdAt: "x", lastUpdatedAt: "x", ttlMs: null }
    assert.strictEqual(value(v2026_07_28.decode("tools/call", task, ["task"])).value.resultType, "task")
    assert.strictEqual(failure(v2026_07_28.decode("tools/call", task)).pointer, "/resultType")
    assert.strictEqual(failure(v2026_07_28.decode("prompts/get", task, ["task"])).pointer, "/resultType")
  })

  it("a legacy result is complete whatever it says", () => {
    const read = value(v2025_11_25.decode("tools/call", { resultType: "input_required", content: [] })).value
    assert.strictEqual(read.resultType, "complete")
  })

  it("M-CONT-4: keeps blocks of unknown kinds, and leaves out broken ones", () => {
    const { value: read, rejected } = value(
      v2025_11_25.decode("tools/call", {
        content: [{ type: "text", text: "a" }, { type: "hologram", x: 1 }, { type: "text" }]
      })
    )
    assert.deepEqual<unknown>(read, {
      resultType: "complete",
      content: [
        { type: "text", text: "a" },
        { type: "hologram", x: 1 }
      ]
    })
    assert.deepStrictEqual(rejected, [{ pointer: "/content/2", name: undefined, because: "text is missing" }])
  })

  it("L-DEV-28: absent content is empty, a single block is a list of one", () => {
    const content = (result: { readonly [key: string]: unknown }) => {
      const read = value(v2025_11_25.decode("tools/call", result)).value
      return read.resultType === "complete" ? read["content"] : undefined
    }
    assert.deepStrictEqual(content({}), [])
    assert.deepStrictEqual(content({ content: { type: "text", text: "a" } }), [{ type: "text", text: "a" }])
  })

  it("M-TOOL-27: tells structured null from none", () => {
    const read = value(v2026_07_28.decode("tools/call", { content: [], structuredContent: null })).value
    assert.isTrue(Object.hasOwn(read, "structuredContent"))
  })

  it("keeps __proto__ inert", () => {
    const hostile: unknown = JSON.parse(
      '{"tools":[{"name":"a","inputSchema":{},"__proto__":{"polluted":1}}],"title":7}'
    )
    const { value: read } = tools(hostile as { readonly [key: string]: unknown })
    assert.isFalse("polluted" in (read.tools[0] ?? {}))
  })
})

describe("questions and notifications", () => {
  it("reads a question and refuses what is none", () => {
    const question = value(v2025_11_25.question("roots/list", undefined))
    assert.strictEqual(question.method, "roots/list")
    assert.strictEqual(failure(v2025_11_25.question("tools/call", {}))._tag, "MethodNotInRevision")
    const broken = failure(v2025_11_25.question("sampling/createMessage", { messages: [] }))
    assert.strictEqual(broken._tag, "InvalidParams")
    assert.include(broken.message, "/maxTokens is missing")
  })

  it("L-SAMP-3: an answer of several blocks cannot go to 2025-06-18, one can", () => {
    const text = { type: "text", text: "a" } as const
    const result = { role: "assistant", model: "m" } as const
    const one = value(v2025_06_18.answer("sampling/createMessage", { ...result, content: [text] })).result
    assert.deepStrictEqual(one, { ...result, content: text })
    const two = v2025_06_18.answer("sampling/createMessage", { ...result, content: [text, text] })
    assert.strictEqual(failure(two).pointer, "/content")
    assert.deepStrictEqual(
      value(v2025_11_25.answer("sampling/createMessage", { ...result, content: [text, text] })).dropped,
      []
    )
  })

  it("L-ELI-3: a list of strings cannot be answered to 2025-06-18", () => {
    const answer = { action: "accept", content: { a: ["x"] } } as const
    assert.strictEqual(failure(v2025_06_18.answer("elicitation/create", answer)).pointer, "/content/a")
    assert.deepStrictEqual(value(v2025_11_25.answer("elicitation/create", answer)).result, answer)
  })

  it("T-LIST-5: hears a notification whatever revision has it, and no unknown one", () => {
    assert.strictEqual(
      value(v2024_11_05.hear("notifications/tools/list_changed", undefined)).method,
      "notifications/tools/list_changed"
    )
    assert.strictEqual(failure(v2026_07_28.hear("notifications/x", {}))._tag, "MethodNotInRevision")
  })

  it("L-LOG-3: an unknown level reads as info", () => {
    const heard = value(v2025_11_25.hear("notifications/message", { level: "verbose", data: 1 }))
    assert.deepStrictEqual(heard.params, { level: "info", data: 1 })
  })

  it("U-22: says initialized only in the legacy era", () => {
    assert.isTrue(legacy.every((revision) => Result.isSuccess(revision.tell("notifications/initialized", {}))))
    assert.strictEqual(failure(v2026_07_28.tell("notifications/initialized", {}))._tag, "MethodNotInRevision")
  })
})
