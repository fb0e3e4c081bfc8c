import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { JsonObject } from "../src/JsonRpc.ts"
import * as ParameterHeader from "../src/ParameterHeader.ts"

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more })

const headers = (schema: JsonObject) => Result.getOrThrow(ParameterHeader.declared(schema))

const why = (schema: JsonObject): string => Result.getOrThrow(Result.flip(ParameterHeader.declared(schema))).message

const zone = { type: "string", "x-mcp-header": "Zone" }

describe("the headers a tool declares", () => {
  it("T-MOD-2: are the annotated properties, nested ones too", () => {
    assert.deepStrictEqual(
      headers(object({ zone, place: object({ n: { type: "integer", "x-mcp-header": "N" } }), x: {} })),
      [
        { header: "Mcp-Param-Zone", path: ["zone"], type: "string" },
        { header: "Mcp-Param-N", path: ["place", "n"], type: "integer" }
      ]
    )
    assert.deepStrictEqual(headers({ type: "object" }), [])
  })

  it("M-XH-10: may be called like a standard header", () => {
    assert.deepStrictEqual(
      headers(object({ m: { type: "boolean", "x-mcp-header": "Method" } }))[0]?.header,
      "Mcp-Param-Method"
    )
  })

  const invalid: ReadonlyArray<readonly [id: string, schema: JsonObject, because: string]> = [
    ["M-XH-1", object({ a: { type: "string", "x-mcp-header": "" } }), "/properties/a is empty"],
    ["M-XH-2", object({ a: { type: "string", "x-mcp-header": "A B" } }), "is no name of a header"],
    ["M-XH-2", object({ a: { type: "string", "x-mcp-header": "Zürich" } }), "is no name of a header"],
    ["M-XH-2", object({ a: { type: "string", "x-mcp-header": "A:B" } }), "is no name of a header"],
    ["M-XH-3", object({ a: { type: "string", "x-mcp-header": "A\r\nB" } }), "is no name of a header"],
    ["M-XH-3", object({ a: { type: "string", "x-mcp-header": "A\n" } }), "is no name of a header"],
    ["M-XH-1", object({ a: { type: "string", "x-mcp-header": 7 } }), "is not a string"],
    ["M-XH-4", object({ a: zone, b: { ...zone, "x-mcp-header": "ZONE" } }), "/properties/b is used twice"],
    ["M-XH-5", object({ a: { type: "number", "x-mcp-header": "A" } }), "is not on a string, an integer or a boolean"],
    ["M-XH-5", object({ a: { type: "object", "x-mcp-header": "A" } }), "is not on a string, an integer or a boolean"],
    [
      "T-19 e",
      object({ a: { $ref: "#/$defs/A", "x-mcp-header": "A" } }),
      "is not on a string, an integer or a boolean"
    ],
    ["T-19 f", object({ a: { type: ["string", "null"], "x-mcp-header": "A" } }), "is not on a string"],
    ["T-19 d", { type: "object", "x-mcp-header": "A" }, "at the root is on the schema itself"],
    [
      "M-XH-8",
      object({ a: { type: "array", items: zone } }),
      "/properties/a/items is not on a path of properties alone"
    ],
    ["M-XH-8", object({ a: { type: "array", items: [zone] } }), "/properties/a/items/0 is not on a path"],
    ["T-19 c", object({ a: { type: "array", prefixItems: [zone] } }), "is not on a path"],
    ["T-19 c", object({ a: { contains: zone } }), "is not on a path"],
    ["T-19 c", object({}, { $defs: { Z: zone } }), "/$defs/Z is not on a path"],
    ["T-19 c", object({}, { definitions: { Z: zone } }), "is not on a path"],
    ["T-19 c", object({}, { patternProperties: { "^z": zone } }), "is not on a path"],
    ["T-19 c", object({}, { additionalProperties: zone }), "is not on a path"],
    ["T-19 c", object({}, { dependentSchemas: { a: object({ zone }) } }), "is not on a path"],
    ["M-XH-8", object({}, { not: zone }), "is not on a path"],
    ...["oneOf", "anyOf", "allOf"].map(
      (key) => ["M-XH-8", object({}, { [key]: [object({ zone })] }), "is not on a path"] as const
    ),
    ...["if", "then", "else"].map(
      (key) => ["M-XH-8", object({}, { [key]: object({ zone }) }), "is not on a path"] as const
    )
  ]
  for (const [id, schema, because] of invalid) {
    it(`${id}, T-MOD-5: ${JSON.stringify(schema)} makes the tool invalid`, () => {
      assert.include(why(schema), because)
    })
  }

  it("T-19 a: a property may be called x-mcp-header", () => {
    assert.deepStrictEqual(headers(object({ "x-mcp-header": { type: "string" } })), [])
  })

  it("T-19 b: data is no declaration", () => {
    const data = { "x-mcp-header": "A" }
    assert.deepStrictEqual(headers(object({ a: { default: data, const: data, enum: [data], examples: [data] } })), [])
  })

  it("T-TOOL-3: depth costs no stack, and references are not followed", () => {
    let deep: JsonObject = { $ref: "#" }
    for (let level = 0; level < 50_000; level++) deep = { properties: { a: deep } }
    assert.deepStrictEqual(headers(deep), [])
  })

  it("stops at a bound", () => {
    const many = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => [`p${index}`, {}]))
    assert.include(why(object(many)), "more than 100000 schemas")
  })
})

describe("the headers of a call", () => {
  const declared = headers(
    object({
      zone,
      n: { type: "integer", "x-mcp-header": "N" },
      b: { type: "boolean", "x-mcp-header": "B" },
      place: object({ street: { type: "string", "x-mcp-header": "Street" } })
    })
  )
  const write = (args: JsonObject) => Result.getOrThrow(ParameterHeader.write(declared, args))

  it("U-26, M-ENC-1: carry strings as they are, integers in digits, booleans in lower case", () => {
    assert.deepStrictEqual(write({ zone: "eu", n: -7, b: false, place: { street: "Zürich" } }), [
      ["Mcp-Param-Zone", "eu"],
      ["Mcp-Param-N", "-7"],
      ["Mcp-Param-B", "false"],
      ["Mcp-Param-Street", "=?base64?WsO8cmljaA==?="]
    ])
  })

  it("M-XH-16: leave out what is absent or null, but not the empty string", () => {
    assert.deepStrictEqual(write({ zone: null, place: "elsewhere" }), [])
    assert.deepStrictEqual(write({ zone: "" }), [["Mcp-Param-Zone", ""]])
  })

  it("T-21: an integral float prints as an integer", () => {
    assert.deepStrictEqual(write({ n: 42.0 }), [["Mcp-Param-N", "42"]])
    assert.deepStrictEqual(write({ n: -0 }), [["Mcp-Param-N", "0"]])
  })

  it("reads own members only", () => {
    const inherited: JsonObject = JSON.parse('{"__proto__":{"zone":"eu"}}')
    assert.deepStrictEqual(write(inherited), [])
    assert.deepStrictEqual(write(Object.create({ zone: "eu" })), [])
  })

  for (const args of [{ n: 2 ** 53 }, { n: 1.5 }, { n: "1" }, { zone: 1 }, { zone: "a\ud800" }, { b: "true" }]) {
    it(`M-XH-6, T-21: ${JSON.stringify(args)} cannot be mirrored, and is not sent`, () => {
      const failure = Result.getOrThrow(Result.flip(ParameterHeader.write(declared, args)))
      assert.include(failure.message, `/${Object.keys(args)[0]} cannot be sent in the header Mcp-Param-`)
    })
  }
})
