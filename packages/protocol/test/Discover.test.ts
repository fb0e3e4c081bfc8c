import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Discover from "../src/Discover.ts"
import * as Initialize from "../src/Initialize.ts"

const value = <A>(result: Result.Result<A, unknown>): A => Result.getOrThrow(result)

describe("the answer to server/discover", () => {
  const least = { supportedVersions: ["2026-07-28"], capabilities: {} }

  it("P4: needs only versions and capabilities; the rest has defaults", () => {
    assert.deepStrictEqual(value(Discover.decode(least)).value, {
      ...least,
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private"
    })
  })

  it("P4: tolerates soft defects", () => {
    const read = value(
      Discover.decode({ ...least, ttlMs: -5, cacheScope: 1, instructions: 7, extra: true, _meta: { x: 1 } })
    )
    assert.strictEqual(read.value.ttlMs, 0)
    assert.strictEqual(read.value.cacheScope, "private")
    assert.isFalse(Object.hasOwn(read.value, "instructions"))
    assert.strictEqual(read.value["extra"], true)
    assert.deepStrictEqual(
      read.rejected.map(({ pointer }) => pointer),
      ["/instructions"]
    )
  })

  it("P4: keeps the strings among the versions and leaves out the rest", () => {
    const read = value(Discover.decode({ ...least, supportedVersions: [1, "2026-07-28", null] }))
    assert.deepStrictEqual(read.value.supportedVersions, ["2026-07-28"])
  })

  it("P5: is none without an array of strings or without capabilities", () => {
    const none = [
      undefined,
      null,
      [],
      "x",
      {},
      { capabilities: {} },
      { supportedVersions: "2026-07-28", capabilities: {} },
      { supportedVersions: [1], capabilities: {} },
      { supportedVersions: ["2026-07-28"] },
      { supportedVersions: ["2026-07-28"], capabilities: [] },
      { ...least, resultType: "input_required" }
    ]
    for (const answer of none) assert.isTrue(Result.isFailure(Discover.decode(answer)), JSON.stringify(answer))
  })

  it("M-DISC-3, T-47: names the server from _meta, then from beside it, else not at all", () => {
    const inMeta = { "io.modelcontextprotocol/serverInfo": { name: "m", version: "1" } }
    const beside = { name: "b", version: "1" }
    assert.strictEqual(Discover.serverInfo({ _meta: inMeta, serverInfo: beside })?.name, "m")
    assert.strictEqual(Discover.serverInfo({ serverInfo: beside })?.name, "b")
    assert.strictEqual(
      Discover.serverInfo({ _meta: { "io.modelcontextprotocol/serverInfo": { name: 1 } }, serverInfo: beside })?.name,
      "b"
    )
    assert.isUndefined(Discover.serverInfo(least))
  })

  it("U-12: survives being stored as text", () => {
    const first = value(Discover.decode({ ...least, _meta: { a: 1 }, ttlMs: 9 })).value
    assert.deepStrictEqual(value(Discover.decode(JSON.parse(JSON.stringify(first)))).value, first)
  })

  it.prop("never throws, whatever the answer", { answer: Schema.Json }, ({ answer }) => {
    assert.isBoolean(Result.isFailure(Discover.decode(answer)))
    assert.isBoolean(Result.isFailure(Initialize.decode(answer)))
  })
})

describe("the answer to initialize", () => {
  it("T-NEG-7: keeps a version that nobody knows", () => {
    const read = value(
      Initialize.decode({ protocolVersion: "1999-01-01", capabilities: {}, serverInfo: { name: "s", version: "1" } })
    )
    assert.strictEqual(read.value.protocolVersion, "1999-01-01")
  })

  it("tolerates missing capabilities and an identity that cannot be read", () => {
    const read = value(
      Initialize.decode({ protocolVersion: "2025-06-18", capabilities: null, serverInfo: { name: "s" } })
    )
    assert.deepStrictEqual(read.value, { protocolVersion: "2025-06-18", capabilities: {}, resultType: "complete" })
    assert.deepStrictEqual(
      read.rejected.map(({ pointer }) => pointer),
      ["/serverInfo"]
    )
  })

  it("L-DEV-25: keeps falsy capabilities as they are", () => {
    const capabilities = { experimental: {}, tools: { listChanged: false } }
    const read = value(Initialize.decode({ protocolVersion: "2025-06-18", capabilities }))
    assert.deepStrictEqual(read.value.capabilities, capabilities)
  })

  it("is none without a version", () => {
    for (const answer of [null, {}, { protocolVersion: 1 }, { tools: [] }]) {
      assert.isTrue(Result.isFailure(Initialize.decode(answer)))
    }
  })
})
