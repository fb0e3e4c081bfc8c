/**
 * A copy of a server's JSON Schema that is safe to check with: within bounds, in a dialect that is known, without what
 * only describes, and without what could take for ever. What was left out can only let more values pass; `weakened`
 * says that something was.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { isTame } from "./tamePattern.ts"

/** The dialects that are checked, by the names the validator has for them. */
export type Dialect = "2020-12" | "7"

export interface Bounds {
  /** Values of any kind in the schema. */
  readonly values: number
  readonly depth: number
  /** Whether to keep what takes more than linear time: patterns and unique items. */
  readonly costly: boolean
}

export type Node = Record<string, unknown>

export interface Prepared {
  readonly dialect: Dialect
  readonly root: Node
  readonly costly: boolean
  readonly weakened: boolean
  /** How many schemas may still be looked at; set it before each check. */
  readonly budget: { left: number }
}

const dialects: ReadonlyMap<string, Dialect> = new Map([
  ["json-schema.org/draft/2020-12/schema", "2020-12"],
  ["json-schema.org/draft-07/schema", "7"]
])

const dialectOf = (declared: unknown): Dialect | undefined =>
  typeof declared === "string" ? dialects.get(declared.replace(/^https?:\/\//, "").replace(/#$/, "")) : undefined

type Place = "schema" | "list" | "map"

const places: ReadonlyMap<string, Place> = new Map([
  ...[
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties"
  ].map((key) => [key, "schema"] as const),
  ...["allOf", "anyOf", "oneOf", "prefixItems"].map((key) => [key, "list"] as const),
  ...["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"].map(
    (key) => [key, "map"] as const
  )
])

/** Values, not schemas: a `$ref` in them refers to nothing. */
const data = new Set(["const", "dependentRequired", "enum", "required", "type"])

/** What only describes, what the validator would take for a keyword though the dialects have none, and its own marks. */
const without = [
  "$comment",
  "$recursiveAnchor",
  "$recursiveRef",
  "$schema",
  "$vocabulary",
  "__absolute_recursive_ref__",
  "__absolute_ref__",
  "__absolute_uri__",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  "default",
  "deprecated",
  "description",
  "examples",
  "format",
  "id",
  "readOnly",
  "title",
  "writeOnly"
]

const leftOut: { readonly [D in Dialect]: ReadonlySet<string> } = {
  "2020-12": new Set([...without, "additionalItems"]),
  "7": new Set([
    ...without,
    "$anchor",
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "prefixItems",
    "unevaluatedItems",
    "unevaluatedProperties"
  ])
}

/**
 * What looking at one of several alternatives costs, in looks at a plain schema: the findings of each that fails are
 * gathered, so alternatives in alternatives take far longer than their number.
 */
const alternativeCost = 8

/** Stops a check that has looked at too many schemas. */
class Exhausted extends Error {}

export const isExhausted = (error: unknown): boolean => error instanceof Exhausted

// The validator reads this keyword, which neither dialect has, each time it looks at a schema: so this counts its work.
const counting = (budget: { left: number }, cost: number): object =>
  Object.defineProperty(Object.create(null), "$recursiveAnchor", {
    get: () => {
      budget.left -= cost
      if (budget.left < 0) throw new Exhausted()
      return undefined
    }
  })

export const prepare = (
  schema: { readonly [key: string]: unknown },
  bounds: Bounds
): Result.Result<Prepared, string> => {
  const declared = Object.hasOwn(schema, "$schema") ? schema["$schema"] : undefined
  const dialect = declared === undefined ? "2020-12" : dialectOf(declared)
  if (dialect === undefined) {
    return Result.fail(`its dialect (${JSON.stringify(declared).slice(0, 100)}) is not one of 2020-12 and draft-07`)
  }
  const budget = { left: 0 }
  const plainly = counting(budget, 1)
  const asOneOfMany = counting(budget, alternativeCost)
  let values = 0
  let costly = false
  let weakened = false
  let problem: string | undefined

  const counted = (depth: number): boolean => {
    if (++values > bounds.values) problem ??= `it has more than ${bounds.values} values (MaxSchemaSize)`
    if (depth > bounds.depth) problem ??= `it is nested deeper than ${bounds.depth} (MaxSchemaDepth)`
    return problem === undefined
  }

  const plain = (value: unknown, depth: number): unknown => {
    if (!counted(depth)) return undefined
    if (Array.isArray(value)) for (const item of value) plain(item, depth + 1)
    else if (Predicate.isReadonlyObject(value)) for (const key of Object.keys(value)) plain(value[key], depth + 1)
    return value
  }

  const map = (value: { readonly [key: string]: unknown }, depth: number): Node => {
    const copy: Node = Object.create(null)
    for (const key of Object.keys(value)) copy[key] = node(value[key], depth + 1)
    return copy
  }

  /** What a keyword becomes; `undefined` leaves it out. */
  const keyword = (key: string, value: unknown, depth: number): unknown => {
    switch (key) {
      case "pattern":
        if (bounds.costly && isTame(value)) costly = true
        else {
          weakened = true
          return undefined
        }
        return value
      case "uniqueItems":
        if (value !== true) return undefined
        if (bounds.costly) costly = true
        else weakened = true
        return bounds.costly ? true : undefined
      case "anyOf":
      case "oneOf":
        return Array.isArray(value) ? alternatives(value, depth) : node(value, depth)
      case "$dynamicRef":
        problem ??= "it uses $dynamicRef"
        return undefined
      default:
        if (data.has(key)) return plain(value, depth)
        return places.get(key) === "map" && Predicate.isReadonlyObject(value) ? map(value, depth) : node(value, depth)
    }
  }

  const node = (value: unknown, depth: number): unknown => {
    if (!counted(depth)) return undefined
    if (Array.isArray(value)) return value.map((item) => node(item, depth + 1))
    return Predicate.isReadonlyObject(value) ? object(value, depth, plainly) : value
  }

  const alternatives = (value: ReadonlyArray<unknown>, depth: number): ReadonlyArray<unknown> => {
    counted(depth)
    return value.map((item) =>
      Predicate.isReadonlyObject(item) && counted(depth + 1)
        ? object(item, depth + 1, asOneOfMany)
        : node(item, depth + 1)
    )
  }

  const object = (value: { readonly [key: string]: unknown }, depth: number, prototype: object): Node => {
    const copy: Node = Object.create(prototype)
    const unknowable = patternsOf(value).some((pattern) => !bounds.costly || !isTame(pattern))
    if (unknowable) weakened = true
    else if (patternsOf(value).length > 0) costly = true
    if (Object.hasOwn(value, "$schema") && dialectOf(value["$schema"]) !== dialect) {
      problem ??= "a part of it is in another dialect"
    }
    for (const key of Object.keys(value)) {
      if (leftOut[dialect].has(key) || (unknowable && dependsOnPatterns.has(key))) continue
      const kept = keyword(key, value[key], depth + 1)
      if (kept !== undefined) copy[key] = kept
    }
    return copy
  }

  counted(0)
  const root = object(schema, 0, plainly)
  return problem === undefined ? Result.succeed({ dialect, root, costly, weakened, budget }) : Result.fail(problem)
}

const dependsOnPatterns = new Set(["additionalProperties", "patternProperties", "unevaluatedProperties"])

const patternsOf = (schema: { readonly [key: string]: unknown }): ReadonlyArray<string> =>
  Predicate.isReadonlyObject(schema["patternProperties"]) ? Object.keys(schema["patternProperties"]) : []

/** Whether a value holds a text or a list longer than this, for which what is costly could take too long. */
export const isLarge = (value: unknown, most: number): boolean => {
  if (typeof value === "string") return value.length > most
  if (Array.isArray(value)) return value.length > most || value.some((item) => isLarge(item, most))
  return (
    Predicate.isReadonlyObject(value) &&
    Object.keys(value).some((key) => key.length > most || isLarge(value[key], most))
  )
}
