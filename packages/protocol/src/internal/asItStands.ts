/**
 * A quick look whether a value fits a type as it stands. The model transforms nothing, so such a value is its own
 * decoding and the schema need not run over it. A look that says no says nothing: the schema decides.
 */
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { fits, isObject, isOptional, type Node } from "./node.ts"

type Look = (value: unknown) => boolean

const never: Look = () => false
const always: Look = () => true

const looks = new WeakMap<Node, Look>()

const lookOf = (node: Node): Look => {
  const known = looks.get(node)
  if (known !== undefined) return known
  const made = node.encoding === undefined ? compile(node) : never
  looks.set(node, made)
  return made
}

const compile = (node: Node): Look => {
  const look = structure(node)
  const { checks } = node
  if (checks === undefined || look === never) return look
  const pass = checks.map((check): Look =>
    check._tag === "Filter" ? (value) => check.run(value, node, {}) === undefined : (value) => fits(node, value)
  )
  return (value) => look(value) && pass.every((check) => check(value))
}

const structure = (node: Node): Look => {
  switch (node._tag) {
    case "Unknown":
      return always
    case "String":
      return (value) => typeof value === "string"
    case "Number":
      return (value) => typeof value === "number"
    case "Boolean":
      return (value) => typeof value === "boolean"
    case "Literal":
      return (value) => value === node.literal
    case "Objects":
      return objectLook(node)
    case "Arrays":
      return arrayLook(node)
    case "Union":
      return unionLook(node)
    default:
      return never
  }
}

const arrayLook = ({ elements, rest }: SchemaAST.Arrays): Look => {
  const [item, ...others] = rest
  if (item === undefined || elements.length > 0 || others.length > 0) return never
  const look = lookOf(item)
  return (value) => Array.isArray(value) && value.every(look)
}

const unionLook = ({ options, types }: SchemaAST.Union): Look => {
  if (options?.mode === "oneOf") return never
  const members = types.map(lookOf)
  return (value) => members.some((look) => look(value))
}

const objectLook = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): Look => {
  const members = propertySignatures.flatMap(({ name, type }) =>
    typeof name === "string" ? [{ name, look: lookOf(type), optional: isOptional(type) }] : []
  )
  const [rest, ...others] = indexSignatures
  if (members.length < propertySignatures.length || others.length > 0) return never
  const fit = (value: { readonly [key: string]: unknown }) => {
    for (const { look, name, optional } of members) {
      if (Object.hasOwn(value, name) ? !look(value[name]) : !optional) return false
    }
    return true
  }
  if (rest === undefined) {
    const names = new Set(members.map(({ name }) => name))
    return (value) => isObject(value) && fit(value) && Object.keys(value).every((key) => names.has(key))
  }
  if (rest.parameter._tag !== "String" || rest.parameter.checks !== undefined) return never
  if (rest.type._tag === "Unknown") return (value) => isObject(value) && fit(value)
  const entry = lookOf(rest.type)
  return (value) => isObject(value) && fit(value) && Object.values(value).every(entry)
}

/** Whether an unknown value is a value of the type, without a change. */
export const asItStands = <A>(schema: Schema.Codec<A, unknown>): ((value: unknown) => value is A) => {
  const look = lookOf(schema.ast)
  return (value): value is A => look(value)
}
