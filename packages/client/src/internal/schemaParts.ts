/**
 * What a server's JSON Schema is made of: its dialect, whether it is within bounds, and what its references lead to.
 * Nothing is fetched, and the schema is not changed.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

/** The dialects that are checked. */
export type Dialect = "2020-12" | "draft-07"

export interface Bounds {
  /** Values of any kind in the schema. */
  readonly values: number
  readonly depth: number
}

export type Node = { readonly [key: string]: unknown }

export interface Parts {
  readonly dialect: Dialect
  /** What the `$ref` of a schema leads to. */
  readonly targets: ReadonlyMap<Node, unknown>
}

export const own = (node: Node, key: string): unknown => (Object.hasOwn(node, key) ? node[key] : undefined)

const dialects: ReadonlyMap<string, Dialect> = new Map([
  ["json-schema.org/draft/2020-12/schema", "2020-12"],
  ["json-schema.org/draft-07/schema", "draft-07"]
])

const dialectOf = (declared: unknown): Dialect | undefined =>
  typeof declared === "string" ? dialects.get(declared.replace(/^https?:\/\//, "").replace(/#$/, "")) : undefined

/** The keywords that hold schemas: one, or a list of them; and those that hold schemas by name. */
const holding = [
  "additionalItems",
  "additionalProperties",
  "allOf",
  "anyOf",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "oneOf",
  "prefixItems",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties"
]
const naming = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]

const inside = (node: Node): ReadonlyArray<unknown> => [
  ...holding.flatMap((key) => own(node, key)),
  ...naming.flatMap((key) => {
    const named = own(node, key)
    return Predicate.isReadonlyObject(named) ? Object.values(named) : []
  })
]

const excess = (schema: Node, { depth, values }: Bounds): string | undefined => {
  let count = 0
  const look = (value: unknown, at: number): string | undefined => {
    if (++count > values) return `it has more than ${values} values (MaxSchemaSize)`
    if (at > depth) return `it is nested deeper than ${depth} (MaxSchemaDepth)`
    if (typeof value !== "object" || value === null) return undefined
    for (const inner of Object.values(value)) {
      const found = look(inner, at + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  return look(schema, 0)
}

/** A schema, and the address its references are relative to. */
interface Place {
  readonly schema: unknown
  readonly base: string
}

/** The address of a schema that has none. */
const nowhere = "schema://root"

const addressed = (reference: unknown, base: string): string | undefined =>
  typeof reference === "string" && URL.canParse(reference, base) ? new URL(reference, base).href : undefined

const identified = (schema: unknown, base: string): string => {
  const id = Predicate.isReadonlyObject(schema) ? addressed(own(schema, "$id"), base) : undefined
  return id === undefined ? base : id.replace(/#.*/, "")
}

const anchorsOf = (node: Node, dialect: Dialect): ReadonlyArray<string> =>
  dialect === "2020-12"
    ? [own(node, "$anchor"), own(node, "$dynamicAnchor")].filter((anchor) => typeof anchor === "string")
    : [own(node, "$id")].flatMap((id) => (typeof id === "string" && id.startsWith("#") ? [id.slice(1)] : []))

/** Follows a JSON pointer, and the identifiers on its way. */
const follow = ({ schema, base }: Place, pointer: string): Place | undefined => {
  let at: Place = { schema, base }
  for (const step of pointer.slice(1).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof at.schema !== "object" || at.schema === null || !Object.hasOwn(at.schema, key)) return undefined
    const found: unknown = Reflect.get(at.schema, key)
    at = { schema: found, base: identified(found, at.base) }
  }
  return at
}

export const partsOf = (schema: Node, bounds: Bounds): Result.Result<Parts, string> => {
  const declared = own(schema, "$schema")
  const dialect = declared === undefined ? "2020-12" : dialectOf(declared)
  if (dialect === undefined) {
    return Result.fail(`its dialect (${JSON.stringify(declared).slice(0, 100)}) is not one of 2020-12 and draft-07`)
  }
  let problem = excess(schema, bounds)
  const seen = new Set<Node>()
  const named = new Map<string, Place>([[nowhere, { schema, base: nowhere }]])
  const references: Array<readonly [from: Node, reference: string, base: string]> = []

  const look = (node: unknown, outer: string): void => {
    if (!Predicate.isReadonlyObject(node) || seen.has(node)) return
    seen.add(node)
    if (Object.hasOwn(node, "$schema") && dialectOf(node["$schema"]) !== dialect) {
      problem ??= "a part of it is in another dialect"
    }
    const reference = own(node, "$ref")
    if (dialect === "draft-07" && typeof reference === "string") {
      references.push([node, reference, outer])
      return
    }
    const base = identified(node, outer)
    const place = { schema: node, base }
    if (base !== outer && !named.has(base)) named.set(base, place)
    for (const anchor of anchorsOf(node, dialect)) named.set(`${base}#${anchor}`, place)
    if (typeof reference === "string") references.push([node, reference, base])
    if (dialect === "2020-12" && Object.hasOwn(node, "$dynamicRef")) problem ??= "it uses $dynamicRef"
    for (const inner of inside(node)) look(inner, base)
  }

  const find = (reference: string, base: string): Place | undefined => {
    const [address = "", fragment = ""] = addressed(reference, base)?.split("#") ?? []
    const name = Result.getOrUndefined(Result.try(() => decodeURIComponent(fragment)))
    const resource = named.get(address)
    if (name === undefined || resource === undefined) return undefined
    if (name === "") return resource
    return name.startsWith("/") ? follow(resource, name) : named.get(`${address}#${name}`)
  }

  const targets = new Map<Node, unknown>()
  if (problem === undefined) look(schema, nowhere)
  // What a reference leads to may hold references of its own.
  for (const [from, reference, base] of references) {
    const target = find(reference, base)
    if (target === undefined) {
      problem ??= `it refers to ${reference.slice(0, 200)}, which is not in it; references are never fetched`
      break
    }
    targets.set(from, target.schema)
    look(target.schema, target.base)
  }
  return problem === undefined ? Result.succeed({ dialect, targets }) : Result.fail(problem)
}
