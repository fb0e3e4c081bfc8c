import { assert, describe, it } from "@effect/vitest"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { isTame } from "../src/internal/tamePattern.ts"
import * as McpClient from "../src/McpClient.ts"
import type { McpClientError } from "../src/McpClientError.ts"
import * as OutputSchema from "../src/OutputSchema.ts"
import * as Peer from "./fixtures/peer.ts"

type Json = { readonly [key: string]: unknown }

const { Fits, Misfit } = OutputSchema.Finding

const compiled = (schema: Json) => Effect.result(OutputSchema.compile(schema))
const finding = (schema: Json, value: unknown) => Effect.map(OutputSchema.compile(schema), (check) => check(value))
const tagOf = (schema: Json, value: unknown) => Effect.map(finding(schema, value), ({ _tag }) => _tag)
const refusal = (schema: Json) =>
  Effect.map(compiled(schema), (result) => (Result.isFailure(result) ? result.failure.because : "usable"))

const draft07 = "http://json-schema.org/draft-07/schema#"

/** A long text without spelling it. */
const long = (text: string, times: number) => text.repeat(times)

describe("checking a value against a schema", () => {
  it.effect("M-SCH-1: without $schema it is 2020-12, of which it uses prefixItems and unevaluatedProperties", () =>
    Effect.gen(function* () {
      const tuple = { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }], items: false }
      assert.deepStrictEqual(yield* finding(tuple, [1, "a"]), Fits())
      assert.deepStrictEqual(
        yield* finding(tuple, [1, 2]),
        Misfit({ pointer: "/1", because: 'instance type "number" is invalid. Expected "string"' })
      )
      assert.strictEqual(yield* tagOf(tuple, [1, "a", 2]), "Misfit")
      const closed = { allOf: [{ properties: { a: true } }], unevaluatedProperties: false }
      assert.strictEqual(yield* tagOf(closed, { a: 1 }), "Fits")
      assert.deepInclude(yield* finding(closed, { b: 1 }), { _tag: "Misfit", pointer: "/b" })
    })
  )

  it.effect("T-TOOL-2: draft-07 is checked as draft-07 when $schema says so, with or without the hash", () =>
    Effect.gen(function* () {
      for (const $schema of [
        draft07,
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema#"
      ]) {
        const tuple = { $schema, type: "array", items: [{ type: "integer" }], additionalItems: { type: "string" } }
        assert.strictEqual(yield* tagOf(tuple, [1, "a"]), "Fits")
        assert.strictEqual(yield* tagOf(tuple, [1, 2]), "Misfit")
        // Keywords of later drafts say nothing here.
        assert.strictEqual(yield* tagOf({ $schema, prefixItems: [{ type: "string" }] }, [1]), "Fits")
        // Beside $ref nothing counts.
        const beside = {
          $schema,
          properties: { a: { $ref: "#/definitions/N", type: "string" } },
          definitions: { N: {} }
        }
        assert.strictEqual(yield* tagOf(beside, { a: 1 }), "Fits")
      }
    })
  )

  it.effect("M-SCH-4, T-TOOL-2: another dialect is unusable, and says which it is; so is a part in another one", () =>
    Effect.gen(function* () {
      assert.include(yield* refusal({ $schema: "http://json-schema.org/draft-04/schema#" }), "draft-04")
      assert.include(yield* refusal({ $schema: 7 }), "its dialect (7)")
      assert.include(yield* refusal({ $defs: { old: { $id: "x:old", $schema: draft07 } } }), "another dialect")
      assert.include(yield* refusal({ $dynamicRef: "#node" }), "$dynamicRef")
    })
  )

  it.effect("T-SEC-8, M-SCH-8: a reference to what is not in the schema makes it unusable; nothing is fetched", () =>
    Effect.gen(function* () {
      const remote = { properties: { a: { $ref: "http://169.254.169.254/x.json" } } }
      assert.include(yield* refusal(remote), "http://169.254.169.254/x.json, which is not in it")
      assert.include(yield* refusal({ $ref: "#/$defs/none" }), "#/$defs/none")
      assert.include(yield* refusal({ $id: "https://a.test/s", $ref: "other.json" }), "other.json")
    })
  )

  it.effect("M-SCH-13: a reference to an $id or an $anchor inside of the same schema is followed", () =>
    Effect.gen(function* () {
      const schema = {
        properties: { a: { $ref: "https://a.test/n" }, b: { $ref: "#text" } },
        $defs: { N: { $id: "https://a.test/n", type: "integer" }, T: { $anchor: "text", type: "string" } }
      }
      assert.strictEqual(yield* tagOf(schema, { a: 1, b: "x" }), "Fits")
      assert.deepInclude(yield* finding(schema, { a: "x" }), { pointer: "/a" })
      assert.deepInclude(yield* finding(schema, { b: 1 }), { pointer: "/b" })
    })
  )

  it.effect("T-TOOL-3: a schema that refers to itself checks values of any depth, and is not changed", () =>
    Effect.gen(function* () {
      const schema = {
        type: "object",
        properties: { root: { $ref: "#/$defs/N" } },
        $defs: { N: { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/N" } } } } }
      }
      const before = JSON.stringify(schema)
      const nest = (depth: number, leaf: unknown): unknown => (depth === 0 ? leaf : { kids: [nest(depth - 1, leaf)] })
      assert.strictEqual(yield* tagOf(schema, { root: nest(100, {}) }), "Fits")
      assert.deepInclude(yield* finding(schema, { root: nest(2, 5) }), { pointer: "/root/kids/0/kids/0" })
      assert.strictEqual(JSON.stringify(schema), before)
      assert.deepStrictEqual(Object.getOwnPropertyNames(schema.$defs.N), ["type", "properties"])
    })
  )

  it.effect("M-SCH-9: a schema that leads nowhere, or to ever more work, ends without a verdict", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* finding({ $ref: "#" }, {}), {
        because: "it refers to itself without end, or the value nests too deep"
      })
      const doubling: Record<string, unknown> = { d0: { type: "integer" } }
      for (let i = 1; i <= 40; i++) {
        const $ref = `#/$defs/d${i - 1}`
        doubling[`d${i}`] = { allOf: [{ $ref }, { $ref }] }
      }
      const bomb = yield* finding({ $ref: "#/$defs/d40", $defs: doubling }, 1)
      assert.deepInclude(bomb, { because: "it takes more than 20000 steps (MaxCheckSteps)" })
      // Without a reference too: each item is looked at by each of the branches.
      const wide = { items: { anyOf: Array.from({ length: 1_000 }, (_, i) => ({ const: i })) } }
      const items = Array.from({ length: 30 }, () => -1)
      assert.strictEqual(yield* tagOf(wide, items.slice(0, 10)), "Misfit")
      assert.strictEqual((yield* finding({ items: { anyOf: [...wide.items.anyOf, true] } }, items))._tag, "Unchecked")
    }).pipe(Effect.provideService(OutputSchema.MaxCheckSteps, 20_000))
  )

  it.effect("M-SCH-9: a schema over the bounds of size and depth is unusable", () =>
    Effect.gen(function* () {
      const wide = { enum: Array.from({ length: 21_000 }, (_, i) => i) }
      assert.include(yield* refusal(wide), "more than 20000 values (MaxSchemaSize)")
      let deep: Json = {}
      for (let i = 0; i < 200; i++) deep = { not: deep }
      assert.include(yield* refusal(deep), "nested deeper than 128 (MaxSchemaDepth)")
      assert.strictEqual(yield* refusal(deep).pipe(Effect.provideService(OutputSchema.MaxSchemaDepth, 300)), "usable")
    })
  )

  it.effect("M-SCH-9: plain patterns are checked, wild ones are left out and never run", () =>
    Effect.gen(function* () {
      const plain = { type: "string", pattern: "^[a-z]+-\\d{4}$" }
      assert.strictEqual(yield* tagOf(plain, "abc-2026"), "Fits")
      assert.deepStrictEqual(
        yield* finding(plain, "ABC"),
        Misfit({ pointer: "", because: "string does not match pattern" })
      )
      const wild = { type: "string", pattern: "^(a+)+$", maxLength: 100 }
      assert.strictEqual(yield* tagOf(wild, `${long("a", 50)}!`), "Fits")
      assert.strictEqual(yield* tagOf(wild, long("a", 101)), "Misfit")
      const keys = { patternProperties: { "^(x+)+$": { type: "integer" } }, additionalProperties: false }
      assert.strictEqual(yield* tagOf(keys, { [`${long("x", 50)}!`]: "a" }), "Fits")
      assert.strictEqual(
        yield* tagOf({ patternProperties: { "^x": { type: "integer" } }, additionalProperties: false }, { y: 1 }),
        "Misfit"
      )
    })
  )

  it.effect("where leaving a pattern out could turn a fit into a misfit, there is no verdict", () =>
    Effect.gen(function* () {
      const wild = { pattern: "^(a+)+$" }
      assert.strictEqual(yield* tagOf({ not: wild }, "b"), "Unchecked")
      assert.strictEqual(yield* tagOf({ oneOf: [wild, { type: "string" }] }, "b"), "Unchecked")
      assert.strictEqual(yield* tagOf({ oneOf: [{ ...wild, type: "string" }, { type: "null" }] }, 1), "Misfit")
      assert.strictEqual(yield* tagOf({ if: wild, ...JSON.parse('{"then":false}') }, "b"), "Unchecked")
    })
  )

  it.effect("what is costly is left out for large values, and the rest is still checked", () =>
    Effect.gen(function* () {
      const schema = {
        properties: {
          id: { type: "string", pattern: "^\\s*x\\s*$" },
          all: { type: "array", uniqueItems: true },
          text: { type: "string" }
        },
        required: ["text"]
      }
      assert.strictEqual(yield* tagOf(schema, { id: "y", text: "" }), "Misfit")
      assert.strictEqual(yield* tagOf(schema, { all: [1, 1], text: "" }), "Misfit")
      assert.strictEqual(yield* tagOf(schema, { id: long(" ", 100_000), text: "" }), "Fits")
      assert.strictEqual(yield* tagOf(schema, { all: Array.from({ length: 100_000 }, () => 0), text: "" }), "Fits")
      assert.deepInclude(yield* finding(schema, { id: long(" ", 100_000) }), { _tag: "Misfit", pointer: "" })
    })
  )

  it.effect("a format describes and is not checked", () =>
    Effect.map(tagOf({ type: "string", format: "email" }, "no address"), (tag) => assert.strictEqual(tag, "Fits"))
  )

  it.effect("T-52: null and other falsy values are values", () =>
    Effect.gen(function* () {
      for (const value of [null, 0, "", false]) {
        assert.strictEqual(yield* tagOf({ type: ["null", "number", "string", "boolean"] }, value), "Fits")
        assert.strictEqual(yield* tagOf({ type: "object" }, value), "Misfit")
      }
    })
  )

  it.effect("keys that mean something to JavaScript mean nothing here", () =>
    Effect.gen(function* () {
      const schema: Json = JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"integer"},"constructor":{"type":"string"},"id":{"type":"integer"}},"required":["constructor"],"__absolute_ref__":"http://x/"}'
      )
      const value: unknown = JSON.parse('{"__proto__":"x","constructor":"c","id":1}')
      assert.deepStrictEqual(yield* finding(schema, JSON.parse('{"constructor":"c","id":1}')), Fits())
      assert.deepInclude(yield* finding(schema, value), { pointer: "/__proto__" })
      assert.deepInclude(yield* finding(schema, {}), { _tag: "Misfit", pointer: "" })
      assert.isFalse(Object.hasOwn(Object.prototype, "type"))
    })
  )

  it.effect("a misfit names the place and the rule, and never a number of the value", () =>
    Effect.gen(function* () {
      const schema = { properties: { "a/b": { maximum: 3 }, "ü%": { type: "string" } } }
      assert.deepStrictEqual(
        yield* finding(schema, { "a/b": 1234567 }),
        Misfit({ pointer: "/a~1b", because: "breaks #/properties/a~1b/maximum" })
      )
      assert.deepInclude(yield* finding(schema, { "ü%": 1 }), { pointer: "/ü%" })
      assert.deepInclude(yield* finding({ additionalProperties: false }, { x: 1 }), {
        because: 'property "x" does not match additional properties schema'
      })
    })
  )

  it("tells plain patterns from wild ones", () => {
    for (const tame of [
      "^a*$",
      "^[a-z0-9-]{1,64}$",
      "^(?:ab|cd)$",
      "(\\.\\d+)?",
      "[(+*]+",
      "(ab)+",
      "^(?!x)(?<year>\\d{4})$"
    ]) {
      assert.isTrue(isTame(tame), tame)
    }
    for (const wild of [
      "(a*)*",
      "(a|b)+",
      "(?:x+y?){2,}",
      "(.)\\1",
      "a*b*c*",
      "(",
      long("a", 600),
      "((a?)b)*",
      "(?<n>a+)+",
      "([0-9a-f]{8}-){3}",
      5
    ]) {
      assert.isFalse(isTame(wild), String(wild))
    }
  })
})

const listed = (outputSchema: object) => ({ name: "add", inputSchema: { type: "object" }, outputSchema })
const sums = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] }
const gives = (structuredContent: unknown, more: object = {}) => ({ content: [], structuredContent, ...more })

/** A modern server with one tool: its output schema, and what it gives. */
const serving = (outputSchema: object, result: (heard: Peer.Heard) => object) =>
  Peer.make(
    Peer.modern(
      Peer.on(
        "tools/list",
        () => ({ tools: [listed(outputSchema)], ttlMs: 0, cacheScope: "private" }),
        Peer.on("tools/call", result)
      )
    )
  )

const collected = () => {
  const diagnostics: Array<Diagnostic> = []
  return {
    diagnostics,
    collect: Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void diagnostics.push(diagnostic)))
  }
}

const invalid = ({ reason }: McpClientError) =>
  reason._tag === "OutputInvalid" ? [reason.tool, reason.pointer, reason.because] : reason._tag

describe("the output of a tool", () => {
  it.effect("M-TOOL-21: that breaks the schema it was listed with is a typed error, in both eras", () =>
    Effect.gen(function* () {
      for (const mode of ["modern", "legacy"] as const) {
        const lists = Peer.on(
          "tools/list",
          () => ({ tools: [listed(sums)] }),
          Peer.on("tools/call", () => gives({ sum: "3" }))
        )
        const peer = Peer.make(mode === "modern" ? Peer.modern(lists) : Peer.legacy(lists))
        const client = yield* McpClient.connect(peer.transport, { mode })
        yield* client.listTools()
        const error = yield* Effect.flip(client.callTool("add"))
        assert.deepStrictEqual(invalid(error), ["add", "/sum", 'instance type "string" is invalid. Expected "number"'])
        assert.include(error.message, 'MCP tool "add" broke its own output schema: at /sum')
      }
    })
  )

  it.effect("M-TOOL-21: is checked too when the tools were listed page by page, whichever page it was on", () =>
    Effect.gen(function* () {
      const page = (cursor: unknown) =>
        cursor === undefined
          ? { tools: [{ ...listed(sums), name: "first" }], nextCursor: "2" }
          : { tools: [listed(sums)] }
      const peer = Peer.make(
        Peer.modern(
          Peer.on(
            "tools/list",
            ({ params }) => page(params?.["cursor"]),
            Peer.on("tools/call", () => gives({ sum: "3" }))
          )
        )
      )
      const client = yield* McpClient.connect(peer.transport)
      const pages = yield* Stream.runCollect(client.pages("tools/list"))
      assert.deepStrictEqual(
        pages.map(({ tools }) => tools.map(({ name }) => name)),
        [["first"], ["add"]]
      )
      for (const name of ["first", "add"]) {
        assert.strictEqual(invalid(yield* Effect.flip(client.callTool(name)))[0], name)
      }
      // A listing that begins anew says all there is to know.
      yield* Stream.runDrain(Stream.take(client.pages("tools/list"), 1))
      assert.deepStrictEqual((yield* client.callTool("add")).structuredContent, { sum: "3" })
    })
  )

  it.effect("M-TOOL-27: that is missing though the tool declares one is a typed error", () =>
    Effect.gen(function* () {
      const client = yield* McpClient.connect(serving(sums, () => ({ content: [] })).transport)
      yield* client.listTools()
      assert.deepStrictEqual(invalid(yield* Effect.flip(client.callTool("add"))), [
        "add",
        "",
        "there is none, though it declares one"
      ])
    })
  )

  it.effect("T-52: may be null where the schema says so, and is then not missing", () =>
    Effect.gen(function* () {
      const client = yield* McpClient.connect(serving({ type: "null" }, () => gives(null)).transport)
      yield* client.listTools()
      assert.isNull((yield* client.callTool("add")).structuredContent)
    })
  )

  it.effect("T-TOOL-4: is not looked at when the tool reports failure", () =>
    Effect.gen(function* () {
      const peer = serving(sums, ({ params }) =>
        params?.["arguments"] === undefined ? {} : { ...gives({ err: 1 }), isError: true }
      )
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      assert.isTrue((yield* client.callTool("add")).isError)
    })
  )

  it.effect(
    "T-SEC-8, T-TOOL-2: passes unchecked with one diagnostic when the schema cannot be used; the tool stays",
    () =>
      Effect.gen(function* () {
        for (const schema of [
          { $ref: "http://169.254.169.254/x.json" },
          { $schema: "http://json-schema.org/draft-03/schema#" }
        ]) {
          const { collect, diagnostics } = collected()
          yield* Effect.gen(function* () {
            const client = yield* McpClient.connect(serving(schema, () => gives(5)).transport)
            assert.lengthOf(yield* client.listTools(), 1)
            yield* client.callTool("add")
            assert.strictEqual((yield* client.callTool("add")).structuredContent, 5)
          }).pipe(collect)
          assert.lengthOf(diagnostics, 1)
          const [first] = diagnostics
          assert.deepInclude(first, { _tag: "OutputUnchecked" })
          assert.deepInclude(first, { tool: "add" })
        }
      })
  )

  it.effect("T-TOOL-7: is checked against a definition that was kept, without listing", () =>
    Effect.gen(function* () {
      const peer = serving(sums, () => gives({}))
      const client = yield* McpClient.connect(peer.transport)
      const [kept] = yield* client.listTools()
      assert.isDefined(kept)
      const again = yield* McpClient.connect(peer.transport)
      assert.strictEqual((yield* again.callTool("add")).isError, undefined)
      const error = yield* Effect.flip(again.callTool("add", {}, { definition: kept }))
      assert.deepStrictEqual(invalid(error), ["add", "", 'instance does not have required property "sum"'])
    })
  )

  it.effect("is checked too when the call is streamed, or driven by hand", () =>
    Effect.gen(function* () {
      const client = yield* McpClient.connect(serving(sums, () => gives({})).transport)
      yield* client.listTools()
      assert.strictEqual((yield* Effect.flip(client.begin("add"))).reason._tag, "OutputInvalid")
      const streamed = yield* Effect.flip(Stream.runDrain(client.streamTool("add")))
      assert.strictEqual(streamed.reason._tag, "OutputInvalid")
    })
  )

  it.effect("is checked by the validator in use: none, or one of your own, made once per schema", () =>
    Effect.gen(function* () {
      const client = yield* McpClient.connect(serving(sums, () => ({ content: [] })).transport)
      yield* client.listTools()
      assert.deepStrictEqual((yield* client.callTool("add").pipe(Effect.provide(OutputSchema.layerNone))).content, [])
      let made = 0
      const mine: OutputSchema.Validator = {
        compile: () =>
          Effect.sync(() => {
            made++
            return () => OutputSchema.Finding.Fits()
          })
      }
      const own = yield* McpClient.connect(serving(sums, () => gives("anything")).transport)
      yield* own.listTools()
      for (let i = 0; i < 3; i++) yield* own.callTool("add").pipe(Effect.provideService(OutputSchema.Validator, mine))
      assert.strictEqual(made, 1)
    })
  )
})
