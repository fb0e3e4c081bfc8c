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
 * What to change: nothing here: the server's author has to correct the declaration at `pointer`. Over stdio the tool
 * can be called.
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
 * What to change: the argument at `pointer`, as `because` says.
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

/** One step from a schema to one inside it; a chain, so that depth costs no copies. */
interface Steps {
  readonly before: Steps | undefined
  readonly key: string
}

interface Place {
  readonly schema: JsonObject
  readonly at: Steps | undefined
  /** Where its values stand in the arguments. */
  readonly path: Steps | undefined
  /** Whether properties alone lead to it. */
  readonly reachable: boolean
}

const keysOf = (steps: Steps | undefined): Path => {
  const keys: Array<string> = []
  for (let step = steps; step !== undefined; step = step.before) keys.push(step.key)
  return keys.toReversed()
}

const own = (value: JsonObject, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)

const below = (before: Steps | undefined, key: string): Steps => ({ before, key })

const hidden = (at: Steps | undefined, key: string, schema: unknown): Array<Place> =>
  isObject(schema) ? [{ schema, at: below(at, key), path: undefined, reachable: false }] : []

const unreachable = ({ schema, at }: Place): Array<Place> => [
  ...oneSchema.flatMap((key) => hidden(at, key, own(schema, key))),
  ...manySchemas.flatMap((key) => {
    const list = own(schema, key)
    return Array.isArray(list) ? list.flatMap((item, index) => hidden(below(at, key), String(index), item)) : []
  }),
  ...namedSchemas.flatMap((key) => {
    const named = own(schema, key)
    return isObject(named) ? Object.entries(named).flatMap(([name, item]) => hidden(below(at, key), name, item)) : []
  })
]

const properties = ({ schema, at, path, reachable }: Place): Array<Place> => {
  const named = own(schema, "properties")
  if (!isObject(named)) return []
  const inside = below(at, "properties")
  return Object.entries(named).flatMap(([name, property]): Array<Place> =>
    isObject(property) ? [{ schema: property, at: below(inside, name), path: below(path, name), reachable }] : []
  )
}

const types = ["string", "integer", "boolean"] as const

const faultOf = (value: unknown, type: unknown, { path, reachable }: Place): string | undefined => {
  if (!reachable) return "is not on a path of properties alone"
  if (path === undefined) return "is on the schema itself instead of a property"
  if (typeof value !== "string") return "is not a string"
  if (value === "") return "is empty"
  if (!Header.isName(value)) return "is no name of a header"
  if (!types.some((allowed) => allowed === type)) return "is not on a string, an integer or a boolean"
  return undefined
}

const declarationOf = (place: Place): Result.Result<ParameterHeader | undefined, InvalidDeclaration> => {
  if (!Object.hasOwn(place.schema, keyword)) return Result.succeed(undefined)
  const value = place.schema[keyword]
  const type = own(place.schema, "type")
  const because = faultOf(value, type, place)
  if (because !== undefined) return invalid(place, because)
  return Result.succeed({
    header: `${Header.parameterPrefix}${String(value)}`,
    path: keysOf(place.path),
    type: types.find((allowed) => allowed === type) ?? "string"
  })
}

const invalid = ({ at }: Place, because: string) =>
  Result.fail(new InvalidDeclaration({ pointer: pointer(keysOf(at)), because }))

const none: Result.Result<ReadonlyArray<ParameterHeader>> = Result.succeed([])

// Schemas are walked with a list, not by calls, so depth costs no stack; this bounds the work.
const maxSchemas = 100_000

/** Whether the keyword stands anywhere, as a rule or as data. Few tools have one, and this costs a tenth of the walk. */
const mentions = (schema: JsonObject): boolean => {
  const open: Array<object> = [schema]
  for (let looked = 0; looked < open.length; looked++) {
    const value = open[looked]
    if (value === undefined || looked >= maxSchemas || Object.hasOwn(value, keyword)) return true
    for (const item of Array.isArray(value) ? value : Object.values(value)) {
      if (typeof item === "object" && item !== null) open.push(item)
    }
  }
  return false
}

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
  if (!mentions(inputSchema)) return none
  const found: Array<ParameterHeader> = []
  const names = new Set<string>()
  const open: Array<Place> = [{ schema: inputSchema, at: undefined, path: undefined, reachable: true }]
  for (let walked = 0; walked < open.length; walked++) {
    const place = open[walked]
    if (place === undefined) break
    if (walked >= maxSchemas) return invalid(place, `cannot be looked for in more than ${maxSchemas} schemas`)
    const declaration = declarationOf(place)
    if (Result.isFailure(declaration)) return Result.fail(declaration.failure)
    if (declaration.success !== undefined) {
      const name = declaration.success.header.toLowerCase()
      if (names.has(name)) return invalid(place, "is used twice in this schema")
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
