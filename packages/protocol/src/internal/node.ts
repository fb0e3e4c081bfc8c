/**
 * Looking at a schema's syntax tree: the few kinds of nodes the model is made of.
 */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { noteKey, type Note } from "./shape.ts"

export type Node = SchemaAST.AST

const isNote = (value: unknown): value is Note => typeof value === "object" && value !== null

const noteOf = (annotations: { readonly [key: string]: unknown } | undefined): Note | undefined => {
  const found = annotations?.[noteKey]
  return isNote(found) ? found : undefined
}

/** The note on a kind of value. */
export const kindNote = (node: Node): Note | undefined => noteOf(node.annotations)

/** The note on a member. */
export const memberNote = (node: Node): Note | undefined => noteOf({ ...node.context?.annotations })

export const isOptional = (node: Node): boolean => node.context?.isOptional ?? false

export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const checks = new WeakMap<Node, (value: unknown) => boolean>()

/** Whether a value fits a node as it stands. */
export const fits = (node: Node, value: unknown): boolean => {
  const known = checks.get(node)
  if (known !== undefined) return known(value)
  const made: (value: unknown) => boolean = Schema.is(Schema.make<Schema.Codec<unknown>>(node))
  checks.set(node, made)
  return made(value)
}

const resembles = (node: Node, value: unknown): boolean => {
  switch (node._tag) {
    case "Objects":
      return (
        isObject(value) &&
        node.propertySignatures.every(({ name, type }) =>
          typeof name !== "string" || !Object.hasOwn(value, name)
            ? isOptional(type)
            : type._tag !== "Literal" || type.literal === value[name]
        )
      )
    case "Arrays":
      return Array.isArray(value)
    default:
      return fits(node, value)
  }
}

/**
 * The member of a union that a value belongs to, told by its literal members and by what is there; a value may belong
 * to one and still not fit it.
 */
export const select = (union: SchemaAST.Union, value: unknown): Node | undefined =>
  union.types.find((type) => resembles(type, value) && fits(type, value)) ??
  union.types.find((type) => resembles(type, value))
