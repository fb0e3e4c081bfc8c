/**
 * Arguments of a tool that travel in headers as well: `x-mcp-header` in its input schema (M-XH).
 *
 * `declared` walks a schema once and gives the headers of the tool, or the exact reason why the tool must be left out
 * over HTTP. `write` takes the values of one call. Pipes have no headers and ignore all this (M-XH-14).
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Header from "./Header.ts"
import { isObject } from "./internal/node.ts"
import { pointer } from "./internal/pointer.ts"
import type { JsonObject } from "./JsonRpc.ts"

/**
 * The keyword in a property's schema.
 *
 * @category keys
 * @since 0.1.0
 */
export const keyword = "x-mcp-header"

/**
 * One argument that is mirrored.
 *
 * @category models
 * @since 0.1.0
 */
export interface ParameterHeader {
  /** The name of the header, `Mcp-Param-Zone`. */
  readonly header: string
  /** Where the value stands in the arguments. */
  readonly path: ReadonlyArray<string>
  readonly type: "string" | "integer" | "boolean"
}

/**
 * A declaration breaks a rule, so the whole tool must be left out over HTTP (M-XH-12).
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidDeclaration extends Schema.TaggedError<InvalidDeclaration>()("InvalidDeclaration", {
  /** Where in the input schema. */
  pointer: Schema.String,
  /** Which rule it breaks. */
  because: Schema.String
}) {
  override get message() {
    return `${keyword} at ${this.pointer === "" ? "the root" : this.pointer} ${this.because}`
  }
}

/**
 * An argument cannot be mirrored faithfully, so the server would refuse the call (T-21). Nothing was sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class CannotMirror extends Schema.TaggedError<CannotMirror>()("CannotMirror", {
  header: Schema.String,
  /** Where in the arguments. */
  pointer: Schema.String,
  /** What a value there must be. */
  because: Schema.String
}) {
  override get message() {
    return `the argument ${this.pointer} cannot be sent in the header ${this.header}: it must be ${this.because}`
  }
}

type Path = ReadonlyArray<string>

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

// Keywords whose value is a schema, an array of schemas, or schemas by name. Whatever else stands in a schema is data.
const oneSchema = [
  "items",
  "additionalItems",
  "unevaluatedItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contentSchema"
]
const manySchemas = ["items", "prefixItems", "oneOf", "anyOf", "allOf"]
const namedSchemas = ["patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"]

interface Place {
  readonly schema: JsonObject
  readonly at: Path
  /** Where its values stand in the arguments; `undefined` when they cannot be named. */
  readonly path: Path | undefined
}

const own = (value: JsonObject, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)

const entriesOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  isObject(value)
    ? Object.entries(value)
    : Array.isArray(value)
      ? value.map((item, index) => [String(index), item])
      : []

const places = (at: Path, path: Path | undefined, entries: ReadonlyArray<readonly [string, unknown]>) =>
  entries.flatMap(([key, schema]): Array<Place> => (isObject(schema) ? [{ schema, at: [...at, key], path }] : []))

const unreachable = ({ schema, at }: Place): Array<Place> => [
  ...places(
    at,
    undefined,
    oneSchema.map((key) => [key, own(schema, key)])
  ),
  ...manySchemas.flatMap((key) => {
    const list = own(schema, key)
    return Array.isArray(list) ? places([...at, key], undefined, entriesOf(list)) : []
  }),
  ...namedSchemas.flatMap((key) => places([...at, key], undefined, entriesOf(own(schema, key))))
]

const properties = ({ schema, at, path }: Place): Array<Place> => {
  const named = own(schema, "properties")
  return isObject(named)
    ? Object.entries(named).flatMap(([name, property]) =>
        places([...at, "properties"], path === undefined ? undefined : [...path, name], [[name, property]])
      )
    : []
}

const types = ["string", "integer", "boolean"] as const

const faultOf = (value: unknown, type: unknown, path: Path | undefined): string | undefined => {
  if (path === undefined) return "is not on a path of properties alone"
  if (path.length === 0) return "is on the schema itself instead of a property"
  if (typeof value !== "string") return "is not a string"
  if (value === "") return "is empty"
  if (!token.test(value)) return "is no name of a header"
  if (!types.some((allowed) => allowed === type)) return "is not on a string, an integer or a boolean"
  return undefined
}

const declarationOf = ({ schema, at, path }: Place): Result.Result<ParameterHeader | undefined, InvalidDeclaration> => {
  if (!Object.hasOwn(schema, keyword)) return Result.succeed(undefined)
  const value = schema[keyword]
  const type = own(schema, "type")
  const because = faultOf(value, type, path)
  if (because !== undefined) return Result.fail(new InvalidDeclaration({ pointer: pointer(at), because }))
  return Result.succeed({
    header: `${Header.parameterPrefix}${String(value)}`,
    path: path ?? [],
    type: types.find((allowed) => allowed === type) ?? "string"
  })
}

// Schemas are walked with a list, not by calls, so depth costs no stack; this bounds the work.
const maxSchemas = 100_000

/**
 * The headers a tool declares in its input schema, outer properties first; or the first rule that a declaration
 * breaks: the value is a header name (M-XH-1 to 3), unique without regard to case (M-XH-4), on a string, integer or
 * boolean (M-XH-5) that `properties` alone lead to (M-XH-7, M-XH-8). Names of properties, and data such as `default`
 * and `examples`, are no declarations (T-19).
 *
 * @example
 * import * as ParameterHeader from "@mcp-effect/protocol/ParameterHeader"
 *
 * ParameterHeader.declared({ type: "object", properties: { zone: { type: "string", "x-mcp-header": "Zone" } } })
 * // Success([{ header: "Mcp-Param-Zone", path: ["zone"], type: "string" }])
 *
 * @category decoding
 * @since 0.1.0
 */
export const declared = (
  inputSchema: JsonObject
): Result.Result<ReadonlyArray<ParameterHeader>, InvalidDeclaration> => {
  const found: Array<ParameterHeader> = []
  const names = new Set<string>()
  const open: Array<Place> = [{ schema: inputSchema, at: [], path: [] }]
  for (let walked = 0; walked < open.length; walked++) {
    const place = open[walked]
    if (place === undefined) break
    if (walked >= maxSchemas) {
      const because = `cannot be looked for in more than ${maxSchemas} schemas`
      return Result.fail(new InvalidDeclaration({ pointer: pointer(place.at), because }))
    }
    const declaration = declarationOf(place)
    if (Result.isFailure(declaration)) return Result.fail(declaration.failure)
    if (declaration.success !== undefined) {
      const name = declaration.success.header.toLowerCase()
      if (names.has(name)) {
        const because = "is used twice in this schema"
        return Result.fail(new InvalidDeclaration({ pointer: pointer(place.at), because }))
      }
      names.add(name)
      found.push(declaration.success)
    }
    for (const next of properties(place)) open.push(next)
    for (const next of unreachable(place)) open.push(next)
  }
  return Result.succeed(found)
}

const valueAt = (value: unknown, path: Path): unknown => {
  let at = value
  for (const key of path) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined
    at = at[key]
  }
  return at
}

const textOf = (value: unknown, type: ParameterHeader["type"]): Result.Result<string, string> => {
  switch (type) {
    case "string":
      return typeof value === "string" && Header.isEncodable(value)
        ? Result.succeed(Header.encode(value))
        : Result.fail("a string of whole characters")
    case "integer":
      return Number.isSafeInteger(value)
        ? Result.succeed(String(value))
        : Result.fail("a whole number between -(2^53-1) and 2^53-1")
    case "boolean":
      return typeof value === "boolean" ? Result.succeed(String(value)) : Result.fail("true or false")
  }
}

/**
 * The headers of one call. An argument that is absent or `null` has none (M-XH-16); one that could not arrive as it is
 * fails with `CannotMirror`.
 *
 * @category encoding
 * @since 0.1.0
 */
export const write = (
  headers: ReadonlyArray<ParameterHeader>,
  args: JsonObject
): Result.Result<ReadonlyArray<readonly [name: string, value: string]>, CannotMirror> => {
  const out: Array<readonly [string, string]> = []
  for (const { header, path, type } of headers) {
    const value = valueAt(args, path)
    if (value === undefined || value === null) continue
    const text = textOf(value, type)
    if (Result.isFailure(text)) {
      return Result.fail(new CannotMirror({ header, pointer: pointer(path), because: text.failure }))
    }
    out.push([header, text.success])
  }
  return Result.succeed(out)
}
