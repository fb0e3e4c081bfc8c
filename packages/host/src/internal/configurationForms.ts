/**
 * The forms a configuration has, and how each is written.
 *
 * An array of entries; an object with `mcpServers`; an object with `servers`. An array may also stand under either of
 * those members, which leaves room for others beside it. VS Code's settings keep `servers` inside `mcp`.
 */
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { NoServers } from "../ConfigurationError.ts"
import type { ServerEntry } from "../ServerEntry.ts"
import { pairs } from "./configurationEntry.ts"
import * as Fields from "./configurationFields.ts"
import * as Text from "./configurationText.ts"
import * as Variables from "./variables.ts"

export type Form = "array" | "mcpServers" | "servers"

/** Where the servers of a file are. */
export interface Place {
  readonly form: Form
  readonly path: Text.Path
  readonly node: Text.Node
}

const containers: ReadonlyArray<readonly [form: "mcpServers" | "servers", path: Text.Path]> = [
  ["mcpServers", ["mcpServers"]],
  ["servers", ["servers"]],
  ["servers", ["mcp", "servers"]]
]

const at = (root: Text.Node, path: Text.Path): Text.Node | undefined =>
  path.reduce<Text.Node | undefined>((node, step) => (node === undefined ? undefined : Text.child(node, step)), root)

/** Every place that could hold servers; the first one counts. */
export const places = (root: Text.Node): ReadonlyArray<Place> => {
  if (root.type === "array") return [{ form: "array", path: [], node: root }]
  return containers.flatMap(([form, path]): ReadonlyArray<Place> => {
    const node = at(root, path)
    if (node?.type === "array") return [{ form: "array", path, node }]
    return node?.type === "object" ? [{ form, path, node }] : []
  })
}

/** Where the servers of a file are, or what was found instead. */
export const locate = (root: Text.Node): Result.Result<Place, NoServers> => {
  const [place] = places(root)
  if (place !== undefined) return Result.succeed(place)
  const found = Text.members(root).map(([name]) => name)
  return Result.fail(new NoServers({ found: found.slice(0, 10) }))
}

/** One entry as it stands in a file. */
export interface Item {
  readonly form: Form
  /** Where it is. */
  readonly path: Text.Path
  readonly offset: number
  readonly name: string | undefined
  readonly raw: Text.Json
  /** What it was read as, unless something is wrong with it. */
  readonly entry: ServerEntry | undefined
  /** Its texts with placeholders, by the keys of what they came to. */
  readonly texts: ReadonlyMap<string, string>
}

/** What is known of the file a configuration came from. */
export interface Source {
  readonly file: string
  readonly text: string
  readonly json: Text.Json
  readonly form: Form
  readonly path: Text.Path
  readonly items: ReadonlyArray<Item>
  /** Values of variables that sound secret, by their placeholders. */
  readonly secrets: ReadonlyMap<string, string>
}

const isSource = (source: { readonly file: string }): source is Source => "items" in source

/** All that is known of a file; others see only what it is called. */
export const sourceOf = (source: Option.Option<Redacted.Redacted<{ readonly file: string }>>): Option.Option<Source> =>
  Option.filter(Option.map(source, Redacted.value), isSource)

/** Turns what a text came to back into what is written for it. */
type Write = (text: string, path: boolean) => string

/** The shortest secret that is looked for inside other texts. */
const findable = 8

const writer = (source: Source | undefined) => {
  // The longest first: one secret may begin with another.
  const secrets = [...(source?.secrets ?? [])].toSorted(([one], [other]) => other.length - one.length)
  const hide = (text: string, path: boolean): string => {
    for (const [value, placeholder] of secrets) {
      if (text === value) return placeholder
      const found = value.length < findable ? -1 : text.indexOf(value)
      // A dollar sign before a placeholder would make a text of it.
      if (found === -1 || text[found - 1] === "$") continue
      const before = found === 0 ? "" : hide(text.slice(0, found), path)
      const after = text.slice(found + value.length)
      return `${before}${placeholder}${after === "" ? "" : hide(after, false)}`
    }
    return Variables.escape(text, path)
  }
  return (item: Item | undefined): Write =>
    (text, path) =>
      item?.texts.get(Variables.key(text, path)) ?? hide(text, path)
}

const reveal = (text: string | Redacted.Redacted): string => (Redacted.isRedacted(text) ? Redacted.value(text) : text)

type Texts = Readonly<Record<string, Redacted.Redacted>>

const isTexts = (json: Text.Json | undefined): json is Readonly<Record<string, string>> | ReadonlyArray<string> =>
  Array.isArray(json)
    ? json.every((line) => typeof line === "string")
    : Text.isObject(json) && Object.values(json).every((text) => typeof text === "string")

/** Names and texts as written: kept where nothing changed. */
const writtenTexts = (
  texts: Texts,
  was: Texts | undefined,
  raw: Text.Json | undefined,
  write: Write
): ReadonlyArray<readonly [string, string]> => {
  const written = new Map(isTexts(raw) ? pairs(raw).map(([name, text]) => [name, text] as const) : [])
  return Object.entries(texts).map(([name, value]) => {
    const before = was !== undefined && Object.hasOwn(was, name) ? was[name] : undefined
    const kept = before !== undefined && Equal.equals(before, value) ? written.get(name) : undefined
    return [name, kept ?? write(Redacted.value(value), false)] as const
  })
}

/** The members of an object, with those of another that are not its own to change. */
const beside = (
  raw: Text.Json | undefined,
  names: ReadonlyArray<string>,
  members: Readonly<Record<string, Text.Json | undefined>>
): Text.JsonObject =>
  Object.fromEntries([
    ...(Text.isObject(raw) ? Object.entries(raw).filter(([name]) => !names.includes(name)) : []),
    ...Object.entries(members).flatMap(([name, json]) => (json === undefined ? [] : [[name, json] as const]))
  ])

/** What a member is written as; none when it need not be there. */
const memberOf = (
  member: string,
  entry: ServerEntry,
  item: Item | undefined,
  form: Form,
  write: Write
): Text.Json | undefined => {
  const raw = Text.isObject(item?.raw) ? item.raw : {}
  const was = item?.entry
  const written = Text.member(raw, member)
  /** What was written, as long as it still says the same. */
  const kept = (name: keyof ServerEntry, other: () => Text.Json | undefined) =>
    written !== undefined && was !== undefined && Equal.equals(was[name], entry[name]) ? written : other()
  const text = (value: string, before: string | undefined, path: boolean) =>
    typeof written === "string" && before === value ? written : write(value, path)
  switch (member) {
    case "name":
      return form === "array" ? entry.name : undefined
    case "type":
      // Who left it out may leave it out again.
      if (
        written === undefined &&
        was?.type === entry.type &&
        (item?.form === form || Object.hasOwn(raw, "transport"))
      ) {
        return undefined
      }
      return kept("type", () => (form === "mcpServers" && entry.type === "stdio" ? undefined : entry.type))
    case "disabled":
      return kept("disabled", () => (entry.disabled || written !== undefined ? entry.disabled : undefined))
    case "timeout":
    case "connectTimeout":
    case "approval":
      return entry[member]
    case "era":
      return kept("era", () => (entry.era !== "auto" || written !== undefined ? entry.era : undefined))
    case "tools":
      return kept("tools", () => {
        const tools = beside(written, ["allow", "deny"], { allow: entry.tools.allow, deny: entry.tools.deny })
        return Object.keys(tools).length === 0 ? undefined : tools
      })
    case "elicitation":
      return kept("elicitation", () => {
        const { form, url } = entry.elicitation
        const allowed = beside(written, ["form", "url"], { form: form || undefined, url: url || undefined })
        return Object.keys(allowed).length === 0 ? undefined : allowed
      })
  }
  if (entry.type === "stdio") {
    const before = was?.type === "stdio" ? was : undefined
    switch (member) {
      case "command":
        return text(entry.command, before?.command, true)
      case "cwd":
        return entry.cwd === undefined ? undefined : text(entry.cwd, before?.cwd, true)
      case "args":
        if (written !== undefined && before !== undefined && Equal.equals(before.args, entry.args)) return written
        return entry.args.length === 0 && written === undefined
          ? undefined
          : entry.args.map((arg) => write(reveal(arg), true))
      case "env": {
        const texts = writtenTexts(entry.env, before?.env, written, write)
        if (texts.length === 0 && written === undefined) return undefined
        // The form it was read in keeps what it had; else each has its own.
        const list = item?.form === form && written !== undefined ? Array.isArray(written) : form === "array"
        return list ? texts.map(([name, text]) => `${name}=${text}`) : Object.fromEntries(texts)
      }
    }
    return undefined
  }
  const before = was !== undefined && was.type !== "stdio" ? was : undefined
  if (member === "url") return text(entry.url, before?.url, false)
  if (member !== "headers") return undefined
  const texts = writtenTexts(entry.headers, before?.headers, written, write)
  return texts.length === 0 && written === undefined ? undefined : Object.fromEntries(texts)
}

/** An entry as an object of a form: known members follow the entry, others stay as they were. */
const entryOf = (entry: ServerEntry, item: Item | undefined, form: Form, write: Write): Text.JsonObject => {
  const raw = Text.isObject(item?.raw) ? item.raw : {}
  const foreign: ReadonlyArray<string> = entry.type === "stdio" ? Fields.own.remote : Fields.own.stdio
  const names = Object.keys(raw)
  const missing = Fields.order.filter((name) => !Object.hasOwn(raw, name))
  // New members stand in their usual order; a name comes first.
  const order = names.length === 0 ? Fields.order : [...missing.filter((name) => name === "name"), ...names, ...missing]
  return Object.fromEntries(
    [...new Set(order)].flatMap((name): ReadonlyArray<readonly [string, Text.Json]> => {
      if (foreign.includes(name)) return []
      if (name === "transport") {
        return item?.entry?.type === entry.type && !Object.hasOwn(raw, "type")
          ? [[name, Text.member(raw, name) ?? entry.type]]
          : []
      }
      // An object form keeps a `name` that it does not need.
      const json =
        Fields.isKnown(name) && !(name === "name" && form !== "array")
          ? memberOf(name, entry, item, form, write)
          : Text.member(raw, name)
      return json === undefined ? [] : [[name, json]]
    })
  )
}

type Named = readonly [name: string | undefined, json: Text.Json]

/** An entry that could not be read, as another form has it; none when that form has no place for it. */
const unreadable = ({ name, raw }: Item, form: Form, from: Form): Named | undefined => {
  if ((form === "array") === (from === "array")) return [name, raw]
  if (!Text.isObject(raw) || name === undefined) return undefined
  return form === "array" ? [name, Object.fromEntries([["name", name], ...Object.entries(raw)])] : [name, raw]
}

/** All entries of a form. Those that could not be read stay behind the entry they stood behind. */
const entriesOf = (
  source: Source | undefined,
  entries: ReadonlyArray<ServerEntry>,
  form: Form
): ReadonlyArray<Named> => {
  const write = writer(source)
  const readable = new Map<string, Item>()
  const behind = new Map<string | undefined, Array<Named>>()
  const names = new Set(entries.map(({ name }) => name))
  let last: string | undefined
  for (const item of source?.items ?? []) {
    if (item.entry !== undefined) {
      readable.set(item.entry.name, item)
      if (names.has(item.entry.name)) last = item.entry.name
      continue
    }
    const kept = unreadable(item, form, source?.form ?? form)
    if (kept !== undefined) behind.set(last, [...(behind.get(last) ?? []), kept])
  }
  return [
    ...(behind.get(undefined) ?? []),
    ...entries.flatMap((entry): ReadonlyArray<Named> => {
      const item = readable.get(entry.name)
      return [[entry.name, entryOf(entry, item, form, write(item))], ...(behind.get(entry.name) ?? [])]
    })
  ]
}

/** The entries as one value. In an object a name comes once: the readable entry counts. */
const contentOf = (entries: ReadonlyArray<Named>, form: Form): Text.Json => {
  if (form === "array") return entries.map(([, json]) => json)
  const seen = new Set<string>()
  return Object.fromEntries(
    entries.flatMap(([name, json]) => {
      if (name === undefined || seen.has(name)) return []
      seen.add(name)
      return [[name, json] as const]
    })
  )
}

/** Puts a value at a path. */
const put = (json: Text.Json, path: Text.Path, value: Text.Json): Text.Json => {
  const [step, ...rest] = path
  if (step === undefined) return value
  const object = Text.isObject(json) ? json : {}
  const name = String(step)
  return Object.fromEntries([
    ...Object.entries(object).map(([member, inner]) => [member, member === name ? put(inner, rest, value) : inner]),
    ...(Object.hasOwn(object, name) ? [] : [[name, put({}, rest, value)]])
  ])
}

/** Takes away what is at a path. */
const take = (json: Text.Json, path: Text.Path): Text.Json => {
  const [step, ...rest] = path
  if (step === undefined || !Text.isObject(json)) return {}
  return Object.fromEntries(
    Object.entries(json).flatMap(([member, inner]) => {
      if (member !== step) return [[member, inner]]
      const left = rest.length === 0 ? {} : take(inner, rest)
      return Text.isObject(left) && Object.keys(left).length > 0 ? [[member, left]] : []
    })
  )
}

/** The text of a configuration in a form. */
export const print = (source: Source | undefined, entries: ReadonlyArray<ServerEntry>, form: Form): string => {
  const content = contentOf(entriesOf(source, entries, form), form)
  if (source !== undefined && source.form === form) {
    const json = put(source.json, source.path, content)
    return Text.rewrite(source.text, source.json, json) ?? Text.print(json)
  }
  const others = source === undefined ? {} : take(source.json, source.path)
  const hasOthers = Text.isObject(others) && Object.keys(others).length > 0
  if (form === "array" && !hasOthers) return Text.print(content)
  return Text.print(put(others, [form === "array" ? "mcpServers" : form], content))
}
