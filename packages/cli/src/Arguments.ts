/**
 * Arguments of a tool as a person types them: one JSON object, or `key=value` words whose values are read as the tool's
 * schema says.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import { parseUriFragment } from "effect/JsonPointer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Suggestion from "./Suggestion.ts"

const member = (object: unknown, key: string): unknown =>
  Predicate.isReadonlyObject(object) && Object.hasOwn(object, key) ? object[key] : undefined

/** How many references are followed to get to one schema. */
const maxReferences = 16

/** A schema behind its references, of which only those inside the same document are followed. */
const referred = (root: JsonObject, schema: unknown): unknown => {
  let at = schema
  for (let left = maxReferences; left > 0; left--) {
    const reference = member(at, "$ref")
    if (typeof reference !== "string") return at
    at = parseUriFragment(reference)?.reduce<unknown>(member, root)
  }
  return undefined
}

/** The schema of a property. */
const property = (root: JsonObject, key: string): unknown => referred(root, member(member(root, "properties"), key))

/** What a schema allows; nothing known of it is anything. */
interface Shape {
  readonly types?: ReadonlyArray<string> | undefined
  /** All values, when it counts them. */
  readonly values?: ReadonlyArray<unknown> | undefined
}

const union = <A>(lists: ReadonlyArray<ReadonlyArray<A> | undefined>): ReadonlyArray<A> | undefined =>
  lists.length > 0 && lists.every((list) => list !== undefined) ? [...new Set(lists.flat())] : undefined

/** What the members of a schema say by themselves. */
const ownShape = (schema: unknown): Shape => {
  const type = member(schema, "type")
  const types =
    type === undefined ? undefined : (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string")
  const values = member(schema, "enum")
  if (Array.isArray(values)) return { types, values }
  if (Predicate.isReadonlyObject(schema) && Object.hasOwn(schema, "const")) return { types, values: [schema["const"]] }
  return { types, values: type === "null" ? [null] : undefined }
}

/** Every schema is looked at once, so neither a circle of references nor a thicket of them takes long. */
const shapeOf = (root: JsonObject, schema: unknown, seen = new Map<unknown, Shape>()): Shape => {
  const at = referred(root, schema)
  const known = seen.get(at)
  if (known !== undefined) return known
  seen.set(at, {})
  const shapes = (keyword: string) => {
    const list = member(at, keyword)
    return Array.isArray(list) ? list.map((part) => shapeOf(root, part, seen)) : []
  }
  const said = [
    ownShape(at),
    ...shapes("allOf"),
    ...["anyOf", "oneOf"].map((keyword) => {
      const some = shapes(keyword)
      return { types: union(some.map(({ types }) => types)), values: union(some.map(({ values }) => values)) }
    })
  ]
  const values = said.find((shape) => shape.values !== undefined)?.values
  const types = said.find((shape) => shape.types !== undefined)?.types
  const shape = { values, types: types ?? (values === undefined ? undefined : union([values.map(kindOf)])) }
  seen.set(at, shape)
  return shape
}

/**
 * The types a property may have, as its schema says, whether by itself, by `anyOf` or by a reference; empty when it does
 * not say.
 *
 * @category accessors
 * @since 0.1.0
 */
export const typesOf = (schema: JsonObject, key: string): ReadonlyArray<string> =>
  shapeOf(schema, property(schema, key)).types ?? []

/**
 * The values a property may have, when its schema counts them.
 *
 * @category accessors
 * @since 0.1.0
 */
export const choicesOf = (schema: JsonObject, key: string): ReadonlyArray<unknown> | undefined =>
  shapeOf(schema, property(schema, key)).values

/**
 * What a tool wants: its properties, in the order of the server.
 *
 * @category accessors
 * @since 0.1.0
 */
export const fields = (
  schema: JsonObject
): ReadonlyArray<{
  readonly key: string
  readonly description: string | undefined
  /** It has to be there: it is required, and has no default. */
  readonly required: boolean
  readonly default: unknown
}> => {
  const properties = member(schema, "properties")
  const required = member(schema, "required")
  return Object.keys(Predicate.isReadonlyObject(properties) ? properties : {}).map((key) => {
    const shape = property(schema, key)
    const description = member(member(properties, key), "description") ?? member(shape, "description")
    const given = member(member(properties, key), "default") ?? member(shape, "default")
    return {
      key,
      description: typeof description === "string" ? description : undefined,
      required: Array.isArray(required) && required.includes(key) && given === undefined,
      default: given
    }
  })
}

const parsed = (text: string): Result.Result<unknown, undefined> =>
  Result.try({ try: (): unknown => JSON.parse(text), catch: () => undefined })

const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value

const fitsType = (value: unknown, types: ReadonlyArray<string>) =>
  types.includes(kindOf(value)) || (typeof value === "number" && types.includes("number"))

/**
 * Reads one value. A text stays as it is where the schema wants a string; elsewhere it is read as JSON. Without a type
 * in the schema, JSON that can be read is taken and everything else is a text.
 *
 * @category reading
 * @since 0.1.0
 */
export const value = (schema: JsonObject, key: string, text: string): Result.Result<unknown, string> => {
  const types = typesOf(schema, key)
  const choices = choicesOf(schema, key)
  const json = parsed(text)
  const read =
    types.length === 0
      ? Result.getOrElse(json, () => text)
      : Result.isSuccess(json) && fitsType(json.success, types) && typeof json.success !== "string"
        ? json.success
        : types.includes("string")
          ? text
          : undefined
  if (read === undefined) {
    const asJson = types.includes("array") || types.includes("object") ? ", written as JSON" : ""
    return Result.fail(`${key} must be of type ${types.join(" or ")}${asJson}`)
  }
  return choices === undefined || choices.some((one) => (typeof one === "object" && one !== null) || one === read)
    ? Result.succeed(read)
    : Result.fail(`${key} must be one of ${choices.map(String).join(", ")}`)
}

/** What is wrong with the keys of a call: one that has to be there and is not, or one that the tool has no use for. */
const problemOf = (schema: JsonObject, keys: ReadonlySet<string>): string | undefined => {
  const known = fields(schema)
  if (member(schema, "additionalProperties") === false) {
    const names = known.map(({ key }) => key)
    const strange = [...keys].find((key) => !names.includes(key))
    if (strange !== undefined) return `the tool has no argument "${strange}"; ${Suggestion.instead(strange, names)}`
  }
  const missing = known.filter(({ key, required }) => required && !keys.has(key))
  if (missing.length === 0) return undefined
  const named = missing.map(({ key }) => {
    const types = typesOf(schema, key).join(" or ")
    return types === "" ? key : `${key} (${types})`
  })
  return `${named.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`
}

/**
 * Values by their keys as one JSON object.
 *
 * @category constructors
 * @since 0.1.0
 */
export const objectOf = (members: ReadonlyMap<string, unknown>): JsonObject => {
  const object: unknown = Object.fromEntries(members)
  return Predicate.isReadonlyObject(object) ? object : {}
}

/**
 * Reads the arguments of a call: nothing, one JSON object, or `key=value` words. A key given twice is a mistake, and so is
 * one that is missing, or that the tool does not take. A JSON object goes to the server as it is.
 *
 * @category reading
 * @since 0.1.0
 */
export const parse = (schema: JsonObject, words: ReadonlyArray<string>): Result.Result<JsonObject, string> => {
  const [first] = words
  if (first !== undefined && words.length === 1 && first.trimStart().startsWith("{")) {
    const json = parsed(first)
    return Result.isSuccess(json) && Predicate.isReadonlyObject(json.success)
      ? Result.succeed(json.success)
      : Result.fail("the arguments are not a JSON object")
  }
  const members = new Map<string, unknown>()
  for (const word of words) {
    const at = word.indexOf("=")
    if (at < 1)
      return Result.fail("an argument is key=value; all of them together may be one JSON object, or - for stdin")
    const key = word.slice(0, at)
    if (members.has(key)) return Result.fail(`${key} is given twice`)
    const read = value(schema, key, word.slice(at + 1))
    if (Result.isFailure(read)) return Result.fail(read.failure)
    members.set(key, read.success)
  }
  const problem = problemOf(schema, new Set(members.keys()))
  if (problem !== undefined) return Result.fail(problem)
  return Result.succeed(objectOf(members))
}
