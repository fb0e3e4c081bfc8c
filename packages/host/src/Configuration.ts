/**
 * The configuration of many servers: read from text, changed, compared, written.
 *
 * Three forms are read: an array of entries, an object with `mcpServers` (Claude Desktop, Claude Code, Cursor) and an
 * object with `servers` and `inputs` (VS Code). Comments and trailing commas are welcome. Entries that can be read stand
 * beside the problems of those that cannot. Variables are filled in on reading and never written: whatever came from one
 * is written as it stood.
 *
 * A configuration may start programs and send variables to a URL. Read a file nobody vouches for with `expand: false`,
 * show it, and read it again when the user agrees (T-SEC-7). Files are the business of `ConfigurationFile`, advice that
 * of `ConfigurationHint`.
 *
 * @since 0.1.0
 */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { ConfigurationError, EntryProblem, NameTwice, TooMuch } from "./ConfigurationError.ts"
import * as Entry from "./internal/configurationEntry.ts"
import * as Forms from "./internal/configurationForms.ts"
import * as Inputs from "./internal/configurationInputs.ts"
import * as Text from "./internal/configurationText.ts"
import * as Filling from "./internal/filling.ts"
import type { ServerEntry } from "./ServerEntry.ts"

/**
 * How a file lists its servers: an array of entries, an object under `mcpServers`, an object under `servers`.
 *
 * @category models
 * @since 0.1.0
 */
export type Form = "array" | "mcpServers" | "servers"

/**
 * Entries, what was wrong with others, and what is needed to write all of them back.
 *
 * @category models
 * @since 0.1.0
 */
export interface Configuration {
  readonly entries: ReadonlyArray<ServerEntry>
  /** Every problem of every entry that was left out, in the order of the file. */
  readonly problems: ReadonlyArray<EntryProblem>
  /** The file as it was read; closed, because it may hold secrets. */
  readonly source: Option.Option<Redacted.Redacted<Source>>
}

/**
 * The file as it was read. What else it holds is what this library needs to write it back.
 *
 * @category models
 * @since 0.1.0
 */
export interface Source {
  /** What the text is called in errors. */
  readonly file: string
}

/**
 * A question of the file to the user, as VS Code has them in `inputs`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Input {
  readonly id: string
  readonly description?: string
  readonly default?: string
  /** Whether the answer is secret and should not be shown while it is typed. */
  readonly password: boolean
  /** What can be picked; free text when absent. */
  readonly options?: ReadonlyArray<string>
}

/**
 * How a text is read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Where variables come from. By default the `ConfigProvider` in the context, which is the environment unless you
   * provide another; an empty variable counts as not set there.
   */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /** Answers an input, once for each `id`, and only when an entry uses it. `None` takes the input's default. */
  readonly answer?: (input: Input) => Effect.Effect<Option.Option<string | Redacted.Redacted>>
  /** Whether placeholders are filled in. With `false` entries hold the texts as written; they are to show, not to start. */
  readonly expand?: boolean
  /** What to call the text in errors. */
  readonly file?: string
}

/**
 * The most entries that are read: 1,000.
 *
 * @category bounds
 * @since 0.1.0
 */
export const maxEntries = 1_000

/**
 * The longest text that is read: 1 MiB (1,048,576 bytes in a file, as many UTF-16 code units in `parse`).
 *
 * @category bounds
 * @since 0.1.0
 */
export const maxBytes = 1_048_576

/**
 * A configuration of entries made in code.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (entries: ReadonlyArray<ServerEntry>): Configuration => ({
  entries,
  problems: [],
  source: Option.none()
})

/**
 * A configuration without servers.
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty: Configuration = make([])

interface Site {
  readonly path: Text.Path
  readonly node: Text.Node
  /** Where its name, or else the entry itself, stands. */
  readonly offset: number
  readonly name: Result.Result<string, Entry.Found>
}

const sitesOf = ({ node, path }: Forms.Place): ReadonlyArray<Site> =>
  node.type === "array"
    ? (node.children ?? []).map((entry, at) => ({
        path: [...path, at],
        node: entry,
        offset: (Text.child(entry, "name") ?? entry).offset,
        name: Entry.nameIn(entry)
      }))
    : Text.members(node).map(([name, entry, property]) => ({
        path: [...path, name],
        node: entry,
        offset: property.offset,
        name: Result.mapError(Entry.nameFrom(name), (found) => ({ ...found, path: [], offset: property.offset }))
      }))

/**
 * Reads a configuration. It fails when the text as a whole cannot be read; what is wrong with single entries is in
 * `problems`.
 *
 * @example
 * ```ts
 * Configuration.parse(`{ "mcpServers": { "files": { "command": "server-filesystem", "args": ["~/work"] } } }`)
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const parse = Effect.fn("Configuration.parse")(function* (
  whole: string,
  options: Options = {}
): Effect.fn.Return<Configuration, ConfigurationError> {
  const { answer = () => Effect.succeedNone, expand = true, file = "(text)", variables } = options
  // Whoever read the file as text may have read its byte order mark too.
  const text = whole.startsWith("\uFEFF") ? whole.slice(1) : whole
  const failed = (reason: ConfigurationError["reason"]) => new ConfigurationError({ file, reason })
  if (text.length > maxBytes) return yield* failed(new TooMuch({ what: "bytes", limit: maxBytes }))
  const root = yield* Effect.mapError(Effect.fromResult(Text.parse(text)), failed)
  const place = yield* Effect.mapError(Effect.fromResult(Forms.locate(root)), failed)
  const sites = sitesOf(place)
  if (sites.length > maxEntries) return yield* failed(new TooMuch({ what: "servers", limit: maxEntries }))

  const provider = yield* ConfigProvider.ConfigProvider
  const declared = Inputs.declared(root)
  const filling = expand
    ? yield* Filling.make({
        texts: sites.flatMap(({ node }) => Filling.textsOf(node)),
        variables: variables === undefined ? Filling.fromProvider(provider) : Filling.fromRecord(variables),
        declared,
        answer
      })
    : Filling.none

  const positionOf = Text.positions(text)
  const firsts = new Map<string, number>()
  const problems: Array<EntryProblem> = []
  const items = sites.map((site): Forms.Item => {
    const name = Result.getOrUndefined(site.name)
    const label = name === undefined ? site.path.at(-1) : name
    const reading = Entry.read(name ?? "", site.node, filling.fill)
    const found: Array<Entry.Found> = [...(Result.isFailure(site.name) ? [site.name.failure] : []), ...reading.found]
    const first = name === undefined ? undefined : firsts.get(name)
    if (name !== undefined && first !== undefined) {
      const fault = new NameTwice({ name, first: positionOf(first).line })
      found.unshift({ path: place.node.type === "array" ? ["name"] : [], fault, offset: site.offset })
    } else if (name !== undefined) firsts.set(name, site.offset)
    const offsetOf = ({ offset, path }: Entry.Found) => offset ?? Text.nearest(site.node, path).offset
    for (const { fault, offset, path } of found.toSorted((one, other) => offsetOf(one) - offsetOf(other))) {
      problems.push(
        new EntryProblem({
          ...(typeof label === "string" ? { entry: label } : {}),
          path: [...site.path, ...path],
          ...positionOf(offset ?? Text.nearest(site.node, path).offset),
          fault
        })
      )
    }
    return {
      form: place.form,
      path: site.path,
      offset: site.offset,
      name: typeof label === "string" ? label : undefined,
      raw: Text.value(site.node),
      entry: found.length === 0 ? reading.entry : undefined,
      texts: reading.texts
    }
  })
  const source: Forms.Source = {
    file,
    text,
    json: Text.value(root),
    form: place.form,
    path: place.path,
    items,
    secrets: filling.secrets
  }
  return {
    entries: items.flatMap(({ entry }) => (entry === undefined ? [] : [entry])),
    problems,
    source: Option.some(Redacted.make(source, { label: "configuration" }))
  }
})

/**
 * The configuration with other entries. What it knows of its file stays: comments, members of other products, entries
 * that could not be read, and the placeholders of every text that is still the same.
 *
 * @category changing
 * @since 0.1.0
 */
export const withEntries = (configuration: Configuration, entries: ReadonlyArray<ServerEntry>): Configuration => ({
  ...configuration,
  entries
})

/**
 * The form it was read in; none when it was made in code.
 *
 * @category accessors
 * @since 0.1.0
 */
export const formOf = (configuration: Configuration): Option.Option<Form> =>
  Option.map(Forms.sourceOf(configuration.source), ({ form }) => form)

/**
 * Writes the configuration, in the array form unless said (U-54).
 *
 * In the form it was read in, only what changed is rewritten; comments and layout stay. Another form is written anew,
 * without comments. Values that came from variables are written as their placeholders (T-CONF-6); a secret that was put
 * in by code is written as it is. An entry that could not be read is kept where the form has a place for it: an entry
 * without a name, or with the name of another, has none in an object. Members that a transport does not have are left out.
 *
 * Reading the text gives the same entries, with two exceptions: an argument that was marked `Redacted` in code comes back
 * as a text, and a value that is read from a variable is whatever the variable holds then.
 *
 * @category writing
 * @since 0.1.0
 */
export const print = (configuration: Configuration, options: { readonly form?: Form } = {}): string =>
  Forms.print(
    Option.getOrUndefined(Forms.sourceOf(configuration.source)),
    configuration.entries,
    options.form ?? "array"
  )

/**
 * What changed from one set of entries to another. Entries are compared by name; `same` and `changed` hold the later ones.
 *
 * @category models
 * @since 0.1.0
 */
export interface Diff {
  readonly added: ReadonlyArray<ServerEntry>
  readonly removed: ReadonlyArray<ServerEntry>
  readonly changed: ReadonlyArray<ServerEntry>
  readonly same: ReadonlyArray<ServerEntry>
}

/**
 * Compares entries, so that only what changed is started again.
 *
 * @category comparing
 * @since 0.1.0
 */
export const diff = (before: ReadonlyArray<ServerEntry>, after: ReadonlyArray<ServerEntry>): Diff => {
  const old = new Map(before.map((entry) => [entry.name, entry]))
  const names = new Set(after.map(({ name }) => name))
  const was = (entry: ServerEntry) => old.get(entry.name)
  return {
    added: after.filter((entry) => was(entry) === undefined),
    removed: before.filter(({ name }) => !names.has(name)),
    changed: after.filter((entry) => was(entry) !== undefined && !Equal.equals(was(entry), entry)),
    same: after.filter((entry) => Equal.equals(was(entry), entry))
  }
}
