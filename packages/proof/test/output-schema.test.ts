/** The client's check of outputs beside a validator of others: both say the same of schemas made at random. */
import { Validator } from "@cfworker/json-schema"
import { assert, describe, it } from "@effect/vitest"
import * as OutputSchema from "@mcp-effect/client/OutputSchema"
import { element, oneOf } from "@mcp-effect/testing/Arbitraries"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"

const { all, array, map } = Arbitrary
const words = { maxLength: 3 }
const names = ["a", "b", "ab"] as const
const name = element(...names)
const few = element(0, 1, 2, 3)

const plain = element<unknown>(null, true, false, -1, 0, 1, 2, 3, 0.5, 1.5, "", "a", "b", "abc", "😀")
const record = <A>(of: Arbitrary.Arbitrary<A>) => map(array(all([name, of]), words), Object.fromEntries)
const around = (inner: Arbitrary.Arbitrary<unknown>) => oneOf<unknown>(plain, array(inner, words), record(inner))
const value = around(around(plain))

type Keyword = readonly [string, unknown]
const keyword = <A>(of: Arbitrary.Arbitrary<A>, ...keys: readonly [string, ...ReadonlyArray<string>]) =>
  map(all([element(...keys), of]), ([key, given]): Keyword => [key, given])

const type = element("null", "boolean", "integer", "number", "string", "array", "object")
const leaf = oneOf<unknown>(
  element(true, false),
  record(element(true)),
  map(type, (of) => ({ type: of }))
)

/** Schemas of both dialects: they share these keywords. */
const within = (inner: Arbitrary.Arbitrary<unknown>): Arbitrary.Arbitrary<{ readonly [key: string]: unknown }> => {
  const list = array(inner, { minLength: 1, maxLength: 3 })
  const one = oneOf<Keyword>(
    keyword(oneOf<unknown>(type, array(type, { minLength: 1, maxLength: 2 })), "type"),
    keyword(array(value, { minLength: 1, maxLength: 3 }), "enum"),
    keyword(value, "const"),
    keyword(few, "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "maxLength", "minLength"),
    keyword(few, "maxItems", "minItems", "maxProperties", "minProperties"),
    keyword(element(0.5, 1, 2), "multipleOf"),
    keyword(element("^a", "b$", "^.$"), "pattern"),
    keyword(element(true), "uniqueItems"),
    keyword(array(name, words), "required"),
    keyword(inner, "items", "contains", "additionalProperties", "not", "if", "then", "else", "propertyNames"),
    keyword(record(inner), "properties"),
    keyword(
      map(inner, (of) => ({ "^a": of })),
      "patternProperties"
    ),
    keyword(list, "allOf", "anyOf", "oneOf")
  )
  return map(array(one, { minLength: 1, maxLength: 4 }), Object.fromEntries)
}

const newer = (inner: Arbitrary.Arbitrary<unknown>) =>
  map(
    all([
      within(inner),
      oneOf<Keyword>(
        keyword(array(inner, { minLength: 1, maxLength: 2 }), "prefixItems"),
        keyword(inner, "unevaluatedItems", "unevaluatedProperties"),
        keyword(
          map(inner, (of) => ({ a: of })),
          "dependentSchemas"
        ),
        keyword(element({ a: ["b"] }), "dependentRequired")
      )
    ]),
    ([schema, [key, given]]) => ({ ...schema, [key]: given })
  )

const agree = Effect.fnUntraced(function* (
  schema: { readonly [key: string]: unknown },
  dialect: "7" | "2020-12",
  values: ReadonlyArray<unknown>
) {
  const check = yield* OutputSchema.compile(schema)
  // It writes marks into what it is given.
  const other = new Validator(structuredClone(schema), dialect)
  for (const one of values) {
    const said = `${JSON.stringify(schema)} on ${JSON.stringify(one)}`
    assert.strictEqual(check(one)._tag, other.validate(one).valid ? "Fits" : "Misfit", said)
  }
})

const values = array(value, { minLength: 4, maxLength: 8 })
const often = { arbitrary: { runs: 1_000 } }

describe("M-TOOL-21: the check of an output", () => {
  it.effect.prop(
    "says the same as another validator, of schemas of 2020-12",
    [newer(oneOf<unknown>(leaf, newer(oneOf<unknown>(leaf, within(leaf))))), values],
    ([schema, given]) => agree(schema, "2020-12", given),
    often
  )

  it.effect.prop(
    "says the same as another validator, of schemas of draft-07",
    [within(oneOf<unknown>(leaf, within(oneOf<unknown>(leaf, within(leaf))))), values],
    ([schema, given]) => agree({ ...schema, $schema: "http://json-schema.org/draft-07/schema#" }, "7", given),
    often
  )
})
