/**
 * Arguments of a tool as a person types them: one JSON object, or `key=value` words whose values are read as the tool's
 * schema says.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Result from "effect/Result"

type Schema = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const member = (object: unknown, key: string): unknown =>
  isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined

const isJsonObject = (value: unknown): value is JsonObject => isObject(value)

/**
 * The types a property may have, as its schema says; empty when it does not say.
 *
 * @category accessors
 * @since 0.1.0
 */
export const typesOf = (schema: Schema, key: string): ReadonlyArray<string> => {
  const type = member(member(member(schema, "properties"), key), "type")
  return (Array.isArray(type) ? type : [type]).filter((item) => typeof item === "string")
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
export const value = (schema: Schema, key: string, text: string): Result.Result<unknown, string> => {
  const types = typesOf(schema, key)
  const json = parsed(text)
  if (types.length === 0) return Result.succeed(Result.getOrElse(json, () => text))
  if (Result.isSuccess(json) && fitsType(json.success, types) && typeof json.success !== "string") {
    return Result.succeed(json.success)
  }
  return types.includes("string") ? Result.succeed(text) : Result.fail(`${key} must be of type ${types.join(" or ")}`)
}

/**
 * Reads the arguments of a call: nothing, one JSON object, or `key=value` words. A key given twice is a mistake.
 *
 * @category reading
 * @since 0.1.0
 */
export const parse = (schema: Schema, words: ReadonlyArray<string>): Result.Result<JsonObject, string> => {
  const [first] = words
  if (first === undefined) return Result.succeed({})
  if (words.length === 1 && first.trimStart().startsWith("{")) {
    const json = parsed(first)
    return Result.isSuccess(json) && isJsonObject(json.success)
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
  const object: unknown = Object.fromEntries(members)
  return isJsonObject(object) ? Result.succeed(object) : Result.succeed({})
}
