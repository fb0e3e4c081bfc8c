/**
 * Reading what a peer sent.
 *
 * A value that fits is decoded once and that is all. One that does not is mended first: an optional member that cannot
 * be read is left out, a bad item of a list is left out, a single value where a list is wanted becomes a list of one.
 * What was left out is told. What cannot be mended is a misfit.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { asItStands } from "./asItStands.ts"
import { fits, isObject, isOptional, select, type Node } from "./node.ts"
import { pointer } from "./pointer.ts"
import { perItemKey } from "./shape.ts"

/** A part that was left out, and why. */
export interface Rejected {
  readonly pointer: string
  readonly name: string | undefined
  readonly because: string
}

/** Why the whole could not be read. */
export interface Misfit {
  readonly pointer: string
  readonly because: string
}

/** A value that was read, beside what had to be left out. */
export interface Decoded<A> {
  readonly value: A
  readonly rejected: ReadonlyArray<Rejected>
}

type Path = ReadonlyArray<PropertyKey>

const none: ReadonlyArray<Rejected> = []
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

const misfit = (issue: SchemaIssue.Issue, at: Path = []): Misfit => {
  const first = issuesOf(issue).issues[0]
  const inner = (first?.path ?? []).map((step) => (typeof step === "object" ? step.key : step))
  const because = first?.message === "Missing key" ? "is missing" : lower(first?.message ?? "does not fit")
  return { pointer: pointer([...at, ...inner]), because }
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

const reasons = new WeakMap<Node, (value: unknown) => Result.Result<unknown, Schema.SchemaError>>()

const whyNot = (node: Node, value: unknown, at: Path): Misfit => {
  let decode = reasons.get(node)
  if (decode === undefined) {
    decode = Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(node))
    reasons.set(node, decode)
  }
  const decoded = decode(value)
  return Result.isFailure(decoded)
    ? misfit(decoded.failure.issue, at)
    : { pointer: pointer(at), because: "does not fit" }
}

const rejection = (node: Node, value: unknown, at: Path): Rejected => {
  const why = whyNot(node, value, at)
  const place = pointer(at)
  const label = isObject(value) ? (ownString(value, "name") ?? ownString(value, "uri")) : undefined
  const inner = why.pointer.slice(place.length)
  return { pointer: place, name: label, because: inner === "" ? why.because : `${inner.slice(1)} ${why.because}` }
}

const ownString = (value: { readonly [key: string]: unknown }, key: string): string | undefined => {
  const found = Object.hasOwn(value, key) ? value[key] : undefined
  return typeof found === "string" ? found : undefined
}

const without = (value: { readonly [key: string]: unknown }, key: string) => {
  const { [key]: _, ...rest } = value
  return rest
}

const mendMember = (
  node: Node,
  value: { readonly [key: string]: unknown },
  key: string,
  at: Path,
  out: Array<Rejected>
): { readonly [key: string]: unknown } => {
  const found = value[key]
  if (fits(node, found)) return value
  if (isOptional(node) && found === null) return without(value, key)
  const inner: Array<Rejected> = []
  const mended = mend(node, found, [...at, key], inner)
  if (fits(node, mended)) {
    out.push(...inner)
    return { ...value, [key]: mended }
  }
  if (!isOptional(node)) return value
  out.push(rejection(node, found, [...at, key]))
  return without(value, key)
}

const mendItems = (item: Node, values: ReadonlyArray<unknown>, at: Path, perItem: boolean, out: Array<Rejected>) =>
  values.flatMap((value, index) => {
    if (fits(item, value)) return [value]
    const inner: Array<Rejected> = []
    const mended = mend(item, value, [...at, index], inner)
    if (fits(item, mended)) {
      out.push(...inner)
      return [mended]
    }
    if (!perItem) return [value]
    out.push(rejection(item, value, [...at, index]))
    return []
  })

const mend = (node: Node, value: unknown, at: Path, out: Array<Rejected>): unknown => {
  switch (node._tag) {
    case "Objects":
      return isObject(value) ? mendObject(node, value, at, out) : value
    case "Arrays": {
      const item = node.rest[0]
      if (item === undefined) return value
      const values: ReadonlyArray<unknown> = Array.isArray(value) ? value : fits(item, value) ? [value] : []
      const perItem = node.annotations?.[perItemKey] === true
      return Array.isArray(value) || values.length > 0 ? mendItems(item, values, at, perItem, out) : value
    }
    case "Union": {
      const chosen = select(node, value)
      return chosen === undefined ? value : mend(chosen, value, at, out)
    }
    default:
      return value
  }
}

const mendObject = (
  node: SchemaAST.Objects,
  value: { readonly [key: string]: unknown },
  at: Path,
  out: Array<Rejected>
) => {
  let mended = value
  for (const { name, type } of node.propertySignatures) {
    if (typeof name === "string" && Object.hasOwn(value, name)) mended = mendMember(type, mended, name, at, out)
  }
  const known = new Set(node.propertySignatures.map(({ name }) => name))
  const rest = node.indexSignatures[0]?.type
  if (rest === undefined || rest._tag === "Unknown") return mended
  for (const key of Object.keys(value)) {
    if (known.has(key) || fits(rest, value[key])) continue
    const inner: Array<Rejected> = []
    const entry = mend(rest, value[key], [...at, key], inner)
    if (fits(rest, entry)) {
      out.push(...inner)
      mended = { ...mended, [key]: entry }
    }
  }
  return mended
}

type Decode<A> = (input: unknown) => Result.Result<A, Schema.SchemaError>

const mending = <A>(node: Node, decode: Decode<A>, input: unknown, at: Path): Result.Result<Decoded<A>, Misfit> => {
  const first = decode(input)
  if (Result.isSuccess(first)) return Result.succeed({ value: first.success, rejected: none })
  const rejected: Array<Rejected> = []
  const second = decode(mend(node, input, at, rejected))
  return Result.isSuccess(second)
    ? Result.succeed({ value: second.success, rejected })
    : Result.fail(misfit(second.failure.issue, at))
}

// Below this a whole list is decoded at once, which is quicker as long as nothing in it is bad.
const long = 16

interface LongList {
  readonly key: string
  readonly item: Node
  readonly decode: Decode<unknown>
}

const listsOf = (node: Node): ReadonlyArray<LongList> =>
  node._tag !== "Objects"
    ? []
    : node.propertySignatures.flatMap(({ name, type }) => {
        const item = type._tag === "Arrays" && type.annotations?.[perItemKey] === true ? type.rest[0] : undefined
        if (typeof name !== "string" || item === undefined) return []
        return [{ key: name, item, decode: Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(item)) }]
      })

const decodeItems = ({ key, item, decode }: LongList, items: ReadonlyArray<unknown>, rejected: Array<Rejected>) =>
  items.flatMap((each, index) => {
    const first = decode(each)
    if (Result.isSuccess(first)) return [first.success]
    const inner: Array<Rejected> = []
    const second = decode(mend(item, each, [key, index], inner))
    if (Result.isSuccess(second)) {
      rejected.push(...inner)
      return [second.success]
    }
    rejected.push(rejection(item, each, [key, index]))
    return []
  })

/**
 * A decoder of one type, made once. A long list in it is decoded item by item, so that a bad item costs no more than
 * itself.
 */
export const decoder = <A>(
  schema: Schema.Codec<A, unknown>
): ((input: unknown) => Result.Result<Decoded<A>, Misfit>) => {
  const decode = Schema.decodeUnknownResult(schema)
  const lists = listsOf(schema.ast)
  const fitsAsItStands = asItStands(schema)
  return (input) => {
    if (fitsAsItStands(input)) return Result.succeed({ value: input, rejected: none })
    const found = isObject(input) ? lists.find(({ key }) => isLong(input, key)) : undefined
    if (found === undefined || !isObject(input)) return mending(schema.ast, decode, input, [])
    const items = input[found.key]
    const shell = mending(schema.ast, decode, { ...input, [found.key]: [] }, [])
    if (Result.isFailure(shell) || !Array.isArray(items)) return shell
    const rejected = [...shell.success.rejected]
    const value = { ...shell.success.value, [found.key]: decodeItems(found, items, rejected) }
    return Result.succeed({ value, rejected })
  }
}

const isLong = (input: { readonly [key: string]: unknown }, key: string): boolean => {
  const items = Object.hasOwn(input, key) ? input[key] : undefined
  return Array.isArray(items) && items.length > long
}
