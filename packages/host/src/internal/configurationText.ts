/**
 * The text of a configuration as a tree that knows its places: JSON with comments and trailing commas (T-CONF-4).
 */
import * as Jsonc from "jsonc-parser"
import * as Result from "effect/Result"
import { type Position, SyntaxWrong, TooMuch } from "../ConfigurationError.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [member: string]: Json
}

export type Path = ReadonlyArray<string | number>
export type Node = Jsonc.Node

/** How deep a file may nest. */
export const maxDepth = 64

export const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** A member of an object from outside. */
export const member = (json: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(json, name) ? json[name] : undefined

/** Members of an object node, in the order of the text; a name may come twice. */
export const members = (node: Node): ReadonlyArray<readonly [name: string, value: Node, property: Node]> =>
  node.type !== "object"
    ? []
    : (node.children ?? []).flatMap((property) => {
        const [name, value] = property.children ?? []
        return typeof name?.value === "string" && value !== undefined ? [[name.value, value, property] as const] : []
      })

/** The member of a node; the last one when it is written twice, as JSON has it. */
export const child = (node: Node, step: string | number): Node | undefined =>
  typeof step === "number"
    ? node.type === "array"
      ? node.children?.[step]
      : undefined
    : members(node).findLast(([name]) => name === step)?.[1]

/** The node a path leads to, or the last one on the way. */
export const nearest = (root: Node, path: Path): Node => {
  let at = root
  for (const step of path) {
    const next = child(at, step)
    if (next === undefined) return at
    at = next
  }
  return at
}

/** The value of a node. `fromEntries` defines members, so `__proto__` is a name like any other. */
export const value = (node: Node): Json => {
  switch (node.type) {
    case "object":
      return Object.fromEntries(members(node).map(([name, inner]) => [name, value(inner)]))
    case "array":
      return (node.children ?? []).map(value)
    default: {
      const scalar: unknown = node.value
      return typeof scalar === "string" || typeof scalar === "number" || typeof scalar === "boolean" ? scalar : null
    }
  }
}

/** Finds lines and columns. */
export const positions = (text: string): ((offset: number) => Position) => {
  const starts = [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), (found) => found.index + found[0].length)]
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}

const because: { readonly [code: string]: string } = {
  InvalidSymbol: "a word that is no JSON; texts stand in double quotes",
  InvalidNumberFormat: "a number that is none",
  PropertyNameExpected: "a name in double quotes is missing here",
  ValueExpected: "a value is missing here",
  ColonExpected: "a colon is missing here",
  CommaExpected: "a comma is missing here",
  CloseBraceExpected: "a closing brace } is missing here",
  CloseBracketExpected: "a closing bracket ] is missing here",
  EndOfFileExpected: "something follows the end of the configuration",
  UnexpectedEndOfComment: "a comment is not closed",
  UnexpectedEndOfString: "a text is not closed",
  InvalidUnicode: "a \\u that is not followed by four hexadecimal digits",
  InvalidEscapeCharacter: "a backslash before a character that needs none; write \\\\ for a backslash",
  InvalidCharacter: "a control character inside a text"
}

// The scanner's names of its tokens are gone after compiling.
const opening: ReadonlyArray<number> = [1, 3]
const closing: ReadonlyArray<number> = [2, 4]
const end: number = 17

// The parser calls itself for each level, so the depth is counted before.
const isTooDeep = (text: string): boolean => {
  const scanner = Jsonc.createScanner(text, true)
  let depth = 0
  for (let token: number = scanner.scan(); token !== end; token = scanner.scan()) {
    if (opening.includes(token)) depth++
    else if (closing.includes(token)) depth--
    if (depth > maxDepth) return true
  }
  return false
}

/** Parses the text. */
export const parse = (text: string): Result.Result<Node, SyntaxWrong | TooMuch> => {
  if (isTooDeep(text)) return Result.fail(new TooMuch({ what: "levels", limit: maxDepth }))
  const errors: Array<Jsonc.ParseError> = []
  const root = Jsonc.parseTree(text, errors, { allowTrailingComma: true, disallowComments: false })
  const [error] = errors
  if (error !== undefined || root === undefined) {
    const code = error === undefined ? "ValueExpected" : Jsonc.printParseErrorCode(error.error)
    return Result.fail(
      new SyntaxWrong({
        ...positions(text)(error?.offset ?? 0),
        because: text.trim() === "" ? "the file is empty; an empty configuration is []" : (because[code] ?? code)
      })
    )
  }
  return Result.succeed(root)
}

/** The tree of a text that was parsed before. */
export const root = (text: string): Node | undefined => Jsonc.parseTree(text, [], { allowTrailingComma: true })

const layout = (text: string): Jsonc.FormattingOptions => {
  const indent = /^[^\S\r\n]+(?=["{[])/m.exec(text)?.[0] ?? "  "
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n"
  }
}

/** Whether two values are the same; the order of members says nothing. */
const same = (one: Json | undefined, other: Json | undefined): boolean => {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item: Json, at) => same(item, other[at]))
  }
  if (!isObject(one) || !isObject(other)) return one === other
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => same(one[name], member(other, name)))
}

/** One place to change: a new value, or none to take the member away. */
interface Change {
  readonly path: Path
  readonly value: Json | undefined
  readonly insert?: boolean
}

/** What has to change in one value to make it the other. */
const changes = (before: Json, after: Json, path: Path): ReadonlyArray<Change> => {
  if (same(before, after)) return []
  if (isObject(before) && isObject(after)) {
    return [
      ...Object.keys(before)
        .filter((name) => !Object.hasOwn(after, name))
        .map((name) => ({ path: [...path, name], value: undefined })),
      ...Object.entries(after).flatMap(([name, value]) => {
        const was = member(before, name)
        return was === undefined ? [{ path: [...path, name], value }] : changes(was, value, [...path, name])
      })
    ]
  }
  if (Array.isArray(before) && Array.isArray(after)) return arrayChanges(before, after, path)
  return [{ path, value: after }]
}

const nameOf = (json: Json) => (isObject(json) ? member(json, "name") : undefined)

/** Entries keep their order: those that went are taken out from the end, those that came are appended. */
const arrayChanges = (before: ReadonlyArray<Json>, after: ReadonlyArray<Json>, path: Path): ReadonlyArray<Change> => {
  const kept: Array<readonly [was: Json, is: Json]> = []
  const gone: Array<number> = []
  let next = 0
  before.forEach((was, at) => {
    const is = after[next]
    if (is !== undefined && (same(was, is) || (nameOf(was) !== undefined && nameOf(was) === nameOf(is)))) {
      kept.push([was, is])
      next++
    } else gone.push(at)
  })
  if (kept.length === 0) return [{ path, value: after }]
  return [
    ...gone.toReversed().map((at) => ({ path: [...path, at], value: undefined })),
    ...kept.flatMap(([was, is], at) => changes(was, is, [...path, at])),
    ...after.slice(next).map((value, at) => ({ path: [...path, kept.length + at], value, insert: true }))
  ]
}

/** Writes a value where another was: what is the same keeps its text, comments and order. */
export const rewrite = (text: string, before: Json, after: Json): string | undefined => {
  const formattingOptions = layout(text)
  const written = Result.try(() =>
    changes(before, after, []).reduce(
      (current, { insert, path, value }) =>
        path.length === 0
          ? print(after)
          : Jsonc.applyEdits(
              current,
              Jsonc.modify(current, [...path], value, { formattingOptions, isArrayInsertion: insert ?? false })
            ),
      text
    )
  )
  if (Result.isFailure(written)) return undefined
  // An edit that went wrong must not cost anybody their configuration.
  const reread = parse(written.success)
  return Result.isSuccess(reread) && same(value(reread.success), after) ? written.success : undefined
}

/** A text for a value. */
export const print = (json: Json): string => `${JSON.stringify(json, null, 2)}\n`
