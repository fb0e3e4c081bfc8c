/**
 * Everything the running servers offer, each item with its owner: tools under names a language model takes, prompts,
 * resources and templates.
 *
 * A catalogue is a value; the host holds the newest. A tool that is not what it was when it was approved is marked
 * `changed` (a server may exchange a tool after it has won trust).
 *
 * @since 0.1.0
 */
import type * as Prompt from "@mcp-effect/protocol/Prompt"
import type * as Resource from "@mcp-effect/protocol/Resource"
import type * as Tool from "@mcp-effect/protocol/Tool"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import { offers, type ServerEntry } from "./ServerEntry.ts"
import * as ToolName from "./ToolName.ts"

/**
 * The lists of one server, as far as they are known. A list the server does not advertise is empty.
 *
 * @category models
 * @since 0.1.0
 */
export interface Lists {
  readonly tools: ReadonlyArray<Tool.Tool>
  readonly prompts: ReadonlyArray<Prompt.Prompt>
  readonly resources: ReadonlyArray<Resource.Resource>
  readonly templates: ReadonlyArray<Resource.Template>
}

/**
 * No lists: what a stopped server has.
 *
 * @category constructors
 * @since 0.1.0
 */
export const noLists: Lists = { tools: [], prompts: [], resources: [], templates: [] }

/**
 * A tool and its owner.
 *
 * @category models
 * @since 0.1.0
 */
export interface OwnedTool {
  /** The name in the catalogue (`ToolName`). The server's own is `tool.name`. */
  readonly name: string
  readonly server: string
  readonly tool: Tool.Tool
  /** What its definition comes to; equal as long as nothing in it changes. */
  readonly fingerprint: string
  /** Whether it was approved with another definition. */
  readonly changed: boolean
}

/**
 * Something a server has.
 *
 * @category models
 * @since 0.1.0
 */
export interface Owned<A> {
  readonly server: string
  readonly item: A
}

/**
 * What there is, sorted by server and in each server's own order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Catalogue {
  /** The tools by their names in the catalogue. */
  readonly tools: ReadonlyMap<string, OwnedTool>
  readonly prompts: ReadonlyArray<Owned<Prompt.Prompt>>
  readonly resources: ReadonlyArray<Owned<Resource.Resource>>
  readonly templates: ReadonlyArray<Owned<Resource.Template>>
}

/**
 * The fingerprints of the tools that were approved, by names in the catalogue. Plain JSON: keep it where you like.
 *
 * @category models
 * @since 0.1.0
 */
export type Approved = Readonly<Record<string, string>>

/** JSON whose members are in one order, whatever order a server sends them in. */
const ordered = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(ordered)
    : typeof value === "object" && value !== null
      ? Object.entries(value)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, member]) => [key, ordered(member)])
      : value

const fingerprints = new WeakMap<Tool.Tool, string>()

/**
 * What the definition of a tool comes to: a SHA-256 over all of it but `_meta` and icons, in hexadecimal. The order of
 * members does not count.
 *
 * @category accessors
 * @since 0.1.0
 */
export const fingerprint = (tool: Tool.Tool): string => {
  const known = fingerprints.get(tool)
  if (known !== undefined) return known
  const { _meta, icons: _icons, ...definition } = tool
  const made = bytesToHex(sha256(utf8ToBytes(JSON.stringify(ordered(definition)))))
  fingerprints.set(tool, made)
  return made
}

/**
 * The catalogue of these servers.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  servers: Iterable<{ readonly entry: ServerEntry; readonly lists: Lists }>,
  approved: Approved
): Catalogue => {
  const sorted = [...servers].toSorted((a, b) => (a.entry.name < b.entry.name ? -1 : 1))
  const all = <A>(pick: (lists: Lists) => ReadonlyArray<A>): ReadonlyArray<Owned<A>> =>
    sorted.flatMap(({ entry, lists }) => pick(lists).map((item) => ({ server: entry.name, item })))
  const tools = new Map<string, OwnedTool>()
  for (const { entry, lists } of sorted) {
    for (const tool of lists.tools) {
      const name = ToolName.of(entry.name, tool.name)
      if (!offers(entry, tool.name) || tools.has(name)) continue
      const print = fingerprint(tool)
      const before = Object.hasOwn(approved, name) ? approved[name] : undefined
      tools.set(name, {
        name,
        server: entry.name,
        tool,
        fingerprint: print,
        changed: before !== undefined && before !== print
      })
    }
  }
  return {
    tools,
    prompts: all((lists) => lists.prompts),
    resources: all((lists) => lists.resources),
    templates: all((lists) => lists.templates)
  }
}

/**
 * A tool by its name in the catalogue, or by its server and its own name.
 *
 * @category accessors
 * @since 0.1.0
 */
export const find = (
  catalogue: Catalogue,
  tool: string | { readonly server: string; readonly tool: string }
): OwnedTool | undefined => catalogue.tools.get(typeof tool === "string" ? tool : ToolName.of(tool.server, tool.tool))
