import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Arguments from "../src/Arguments.ts"

const schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    number: { type: "number" },
    whole: { type: "integer" },
    yes: { type: "boolean" },
    list: { type: "array", items: { type: "string" } },
    bag: { type: "object" },
    maybe: { anyOf: [{ type: "string" }, { type: "null" }] },
    colour: { $ref: "#/$defs/Colour" },
    size: { enum: [1, 2, "large"] },
    rank: { enum: [1, "top", null] },
    either: { type: ["string", "integer"] },
    titled: { oneOf: [{ const: "a", title: "A" }, { const: "b" }] },
    loop: { $ref: "#/properties/loop" },
    all: { allOf: [{ $ref: "#/$defs/Colour" }] },
    outside: { $ref: "https://example.com/schema" },
    any: {}
  },
  $defs: { Colour: { type: "string", enum: ["red", "blue"] } }
}

describe("U-67: arguments as a person types them", () => {
  it.each<readonly [word: string, read: unknown]>([
    ["text=1", "1"],
    ["text=", ""],
    ["text=a=b", "a=b"],
    ["text=ünï 名前", "ünï 名前"],
    ["number=-2.5e1", -25],
    ["whole=-7", -7],
    ["yes=false", false],
    ['list=["a","b"]', ["a", "b"]],
    ['bag={"a":{"b":1}}', { a: { b: 1 } }],
    ["maybe=123", "123"],
    ["maybe=null", null],
    ["colour=red", "red"],
    ["size=2", 2],
    ["size=large", "large"],
    ["rank=null", null],
    ["rank=top", "top"],
    ["either=7", 7],
    ["either=seven", "seven"],
    ["titled=b", "b"],
    ["all=blue", "blue"],
    ["loop=x", "x"],
    ["outside=[1]", [1]],
    ["any=true", true],
    ["any=text", "text"],
    ["unknown=1", 1],
    ["__proto__=1", 1]
  ])("%s is read as the schema says", (word, read) => {
    const key = word.slice(0, word.indexOf("="))
    const parsed = Arguments.parse(schema, [word])
    assert.isTrue(Result.isSuccess(parsed))
    assert.deepStrictEqual(Object.entries(Result.getOrElse(parsed, () => ({}))), [[key, read]])
  })

  it.each<readonly [words: ReadonlyArray<string>, because: string]>([
    [["number=one"], "number must be of type number"],
    [["whole=1.5"], "whole must be of type integer"],
    [["yes=yes"], "yes must be of type boolean"],
    [["list=a,b"], "list must be of type array, written as JSON"],
    [["bag=[]"], "bag must be of type object, written as JSON"],
    [["colour=green"], "colour must be one of red, blue"],
    [["all=green"], "all must be one of red, blue"],
    [["size=3"], "size must be one of 1, 2, large"],
    [["rank=low"], "rank must be one of 1, top, null"],
    [["text=1", "text=2"], "text is given twice"],
    [["text"], "an argument is key=value; all of them together may be one JSON object, or - for stdin"],
    [["=1"], "an argument is key=value; all of them together may be one JSON object, or - for stdin"],
    [["{"], "the arguments are not a JSON object"],
    [['{"a":1}', "text=1"], "an argument is key=value; all of them together may be one JSON object, or - for stdin"]
  ])("%s is refused: %s", (words, because) => {
    assert.deepStrictEqual(Arguments.parse(schema, words), Result.fail(because))
  })

  it("what is missing is named with its type, unless it has a default; a key that is not there leads to the one that is", () => {
    const strict = {
      properties: { a: { type: "number" }, b: { type: "string" }, c: { type: "string", default: "x" }, d: {} },
      required: ["a", "b", "c"],
      additionalProperties: false
    }
    assert.deepStrictEqual(Arguments.parse(strict, []), Result.fail("a (number), b (string) are missing"))
    assert.deepStrictEqual(Arguments.parse(strict, ["a=1"]), Result.fail("b (string) is missing"))
    assert.deepStrictEqual(Arguments.parse(strict, ["a=1", "b="]), Result.succeed({ a: 1, b: "" }))
    assert.deepStrictEqual(
      Arguments.parse(strict, ["a=1", "b=", "e=2"]),
      Result.fail('the tool has no argument "e"; did you mean "a"? it has a, b, c, d')
    )
  })

  it("a JSON object goes to the server as it is, whatever the schema says", () => {
    assert.deepStrictEqual(
      Arguments.parse({ required: ["a"], additionalProperties: false }, [' {"z":[null]}']),
      Result.succeed({ z: [null] })
    )
  })

  it("schemas that lead nowhere, or round in circles, stand for any value", () => {
    const deep = { properties: { a: { anyOf: [{ $ref: "#/properties/a" }, { allOf: [{ $ref: "#/properties/a" }] }] } } }
    const thicket = {
      properties: Object.fromEntries(
        Array.from({ length: 60 }, (_, at) => {
          const next = { $ref: `#/properties/${at === 59 ? "none" : `a${at + 1}`}` }
          return [at === 0 ? "a" : `a${at}`, { anyOf: [next, next, { enum: [at] }] }]
        })
      )
    }
    for (const broken of [{}, thicket, { properties: 1 }, { properties: { a: { enum: 1, type: 2, $ref: 3 } } }, deep]) {
      assert.deepStrictEqual(Arguments.parse(broken, ["a=1"]), Result.succeed({ a: 1 }))
    }
  })
})

describe("what a schema says in other words", () => {
  it("counts where it is the only one, and where every one of several says it", () => {
    const of = (anyOf: ReadonlyArray<object>) => ({ type: "object", properties: { n: { anyOf } } })
    assert.deepStrictEqual(Arguments.typesOf(of([{ type: "integer" }]), "n"), ["integer"])
    assert.deepStrictEqual(Arguments.typesOf(of([{ type: "integer" }, { type: "null" }]), "n"), ["integer", "null"])
    assert.deepStrictEqual(Arguments.typesOf(of([{ type: "integer" }, {}]), "n"), [])
    assert.deepStrictEqual(Arguments.typesOf(of([]), "n"), [])
  })
})
