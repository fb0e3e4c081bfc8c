/**
 * Configurations in files: load, save, watch.
 *
 * A file that cannot be read as a whole fails with `ConfigurationError` and changes nothing. Saving puts a whole new file
 * in the place of the old one, so nobody ever reads half of one. What the texts mean is the business of `Configuration`.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Configuration from "./Configuration.ts"
import { ChangedMeanwhile, ConfigurationError, TooMuch, Unreadable, Unwritable } from "./ConfigurationError.ts"
import * as Bytes from "./internal/configurationBytes.ts"
import type { ServerEntry } from "./ServerEntry.ts"

/**
 * How the text of a file is stored. A byte order mark is never needed for reading.
 *
 * @category models
 * @since 0.1.0
 */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be"

/**
 * How a file is read.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoadOptions extends Omit<Configuration.Options, "file"> {
  /** UTF-8 unless said. */
  readonly encoding?: Encoding
}

/** What platforms say of files, in words; a folder is a bad resource to read from. */
const words: { readonly [tag: string]: string } = {
  AlreadyExists: "it is there already",
  BadResource: "it is no file",
  Busy: "something else uses it",
  NotFound: "it is not there, or its folder is not",
  PermissionDenied: "it may not be used"
}

/**
 * Why a file could not be read or written, in words where there are some for it, else as the platform says it.
 *
 * @category formatting
 * @since 0.1.0
 */
export const because = ({ message, reason }: PlatformError): string => words[reason._tag] ?? message

const unreadable = (file: string) => (error: PlatformError) =>
  new ConfigurationError({ file, reason: new Unreadable({ because: because(error) }) })

const unwritable = (file: string) => (error: PlatformError) =>
  new ConfigurationError({ file, reason: new Unwritable({ because: because(error) }) })

/** Reads no more than the bound, whatever the size of the file says. */
const bytesOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const chunks = yield* fs
    .stream(path, { bytesToRead: Configuration.maxBytes + 1 })
    .pipe(Stream.runCollect, Effect.mapError(unreadable(path)))
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  if (length > Configuration.maxBytes) {
    return yield* new ConfigurationError({
      file: path,
      reason: new TooMuch({ what: "bytes", limit: Configuration.maxBytes })
    })
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
})

/** A path, where it leads in the end, and the bytes there. */
interface Content {
  readonly path: string
  readonly target: string
  readonly bytes: Uint8Array
}

/** What files were when a configuration was read from them, or saved to them last, by their paths. */
const contents = new WeakMap<Configuration.Source, Map<string, Content>>()

const sourceOf = ({ source }: Configuration.Configuration) => Option.getOrUndefined(Option.map(source, Redacted.value))

const keep = (configuration: Configuration.Configuration, content: Content) => {
  const source = sourceOf(configuration)
  if (source === undefined) return
  const known = contents.get(source)
  if (known === undefined) contents.set(source, new Map([[content.path, content]]))
  else known.set(content.path, content)
}

/** What a file was to this configuration, under this path or another that leads to the same file. */
const kept = (configuration: Configuration.Configuration, path: string, target: string): Content | undefined => {
  const source = sourceOf(configuration)
  const known = source === undefined ? undefined : contents.get(source)
  return known?.get(path) ?? [...(known?.values() ?? [])].find((content) => content.target === target)
}

const contentOf = Effect.fnUntraced(function* (path: string, encoding: Encoding) {
  const fs = yield* FileSystem.FileSystem
  const bytes = yield* bytesOf(path)
  const target = yield* Effect.orElseSucceed(fs.realPath(path), () => path)
  const text = yield* Effect.fromResult(Bytes.decode(bytes, encoding)).pipe(
    Effect.mapError((reason) => new ConfigurationError({ file: path, reason }))
  )
  return { bytes, path, target, text }
})

/**
 * Reads a file.
 *
 * @category reading
 * @since 0.1.0
 */
export const load = Effect.fn("ConfigurationFile.load")(function* (
  path: string,
  options: LoadOptions = {}
): Effect.fn.Return<Configuration.Configuration, ConfigurationError, FileSystem.FileSystem> {
  const { text, ...content } = yield* contentOf(path, options.encoding ?? "utf-8")
  const configuration = yield* Configuration.parse(text, { ...options, file: path })
  keep(configuration, content)
  return configuration
})

const isSame = (one: Uint8Array, other: Uint8Array) =>
  one.length === other.length && one.every((byte, at) => byte === other[at])

/**
 * Writes a file: the array form in UTF-8 unless said (U-54); what is written is told at `Configuration.print`.
 *
 * The new file is written beside the old one and renamed into its place. It keeps the permissions of the old one and its
 * byte order mark; a new file is for its owner alone (0600). A symbolic link stays, and what it points to is replaced.
 *
 * A configuration that was read from this file is not written over what somebody else has written there since: that is
 * `ChangedMeanwhile`, unless `force` is set. What this program saved itself does not count.
 *
 * @category writing
 * @since 0.1.0
 */
export const save = Effect.fn("ConfigurationFile.save")(function* (
  path: string,
  configuration: Configuration.Configuration,
  options: { readonly form?: Configuration.Form; readonly encoding?: Encoding; readonly force?: boolean } = {}
): Effect.fn.Return<void, ConfigurationError, FileSystem.FileSystem> {
  const { encoding = "utf-8", force = false } = options
  const fs = yield* FileSystem.FileSystem
  const failed = Effect.mapError(unwritable(path))
  const target = yield* fs.realPath(path).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "NotFound",
      () => Effect.succeed(path)
    ),
    failed
  )
  const old = yield* Effect.option(fs.stat(target))
  const mode = Option.match(old, { onNone: () => 0o600, onSome: (info) => info.mode & 0o777 })
  const now = yield* Effect.option(bytesOf(target))
  const was = kept(configuration, path, target)
  if (!force && was !== undefined && !(Option.isSome(now) && isSame(now.value, was.bytes))) {
    const how = Option.isNone(old) ? "removed" : "rewritten"
    return yield* new ConfigurationError({ file: path, reason: new ChangedMeanwhile({ how }) })
  }
  const marked = encoding !== "utf-8" || Option.exists(now, Bytes.isMarked)
  const bytes = Bytes.encode(Configuration.print(configuration, options), encoding, marked)
  if (bytes.length > Configuration.maxBytes) {
    return yield* new ConfigurationError({
      file: path,
      reason: new TooMuch({ what: "bytes", limit: Configuration.maxBytes })
    })
  }
  const draft = `${target}.${(yield* Random.nextInt).toString(36).replace("-", "")}.tmp`
  yield* Effect.gen(function* () {
    const file = yield* fs.open(draft, { flag: "wx", mode: 0o600 })
    yield* file.writeAll(bytes)
    yield* file.sync
  }).pipe(
    Effect.scoped,
    Effect.andThen(mode === 0o600 ? Effect.void : fs.chmod(draft, mode)),
    Effect.andThen(fs.rename(draft, target)),
    Effect.onError(() => Effect.ignore(fs.remove(draft, { force: true }))),
    failed
  )
  keep(configuration, { bytes, path, target })
})

/**
 * What became of a watched file. `Refused`: it could not be read as a whole; what runs should go on.
 *
 * @category models
 * @since 0.1.0
 */
export type Event = Data.TaggedEnum<{
  Loaded: { readonly configuration: Configuration.Configuration; readonly diff: Configuration.Diff }
  Refused: { readonly error: ConfigurationError }
}>

/**
 * Constructors and matchers of `Event`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Event = Data.taggedEnum<Event>()

/** Entries that have a problem now are as they were: half a word typed is no reason to stop a server. */
const holding = (
  running: ReadonlyArray<ServerEntry>,
  { entries, problems }: Configuration.Configuration
): ReadonlyArray<ServerEntry> => {
  const readable = new Set(entries.map(({ name }) => name))
  const broken = new Set(problems.flatMap(({ entry }) => (entry === undefined ? [] : [entry])))
  return [...entries, ...running.filter(({ name }) => broken.has(name) && !readable.has(name))]
}

/**
 * The configuration now, and again after every change that says something new. The first `Loaded` compares with `running`
 * (nothing, unless said), each later one with the one before. An entry that has a problem now counts as `same`, in its
 * last readable shape, so it goes on running.
 *
 * Editors write a new file and rename it, so the folder is watched, and that of the link's target for a symbolic link.
 * Changes within 100 milliseconds, unless said, are one. It fails only when watching itself is not possible.
 *
 * @category watching
 * @since 0.1.0
 */
export const watch = (
  path: string,
  options: LoadOptions & { readonly running?: ReadonlyArray<ServerEntry>; readonly pause?: Duration.Input } = {}
): Stream.Stream<Event, ConfigurationError, FileSystem.FileSystem | Path.Path> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const { encoding = "utf-8", pause = Duration.millis(100), running: first = [] } = options
      const here = paths.resolve(path)
      const target = yield* Effect.orElseSucceed(fs.realPath(here), () => here)
      const folders = [...new Set([paths.dirname(here), paths.dirname(target)])]
      const isOurs = (name: string) =>
        target !== here || [here, target].some((file) => paths.basename(file) === paths.basename(name))

      let running = first
      let seen: string | undefined
      const look = Effect.gen(function* () {
        const { text, ...content } = yield* contentOf(here, encoding)
        if (text === seen) return Option.none<Event>()
        const configuration = yield* Configuration.parse(text, { ...options, file: path })
        keep(configuration, content)
        seen = text
        const now = holding(running, configuration)
        const diff = Configuration.diff(running, now)
        running = now
        return Option.some<Event>(Event.Loaded({ configuration, diff }))
      }).pipe(
        Effect.catchTag("ConfigurationError", (error) => {
          // The same complaint is made once.
          const said = `\0${error.message}`
          if (said === seen) return Effect.succeedNone
          seen = said
          return Effect.succeedSome<Event>(Event.Refused({ error }))
        })
      )
      const changes = Stream.mergeAll(
        folders.map((folder) => fs.watch(folder)),
        { concurrency: "unbounded" }
      ).pipe(
        Stream.filter((event) => isOurs(event.path)),
        Stream.mapError(unreadable(path)),
        Stream.map(() => undefined)
      )
      return Stream.merge(Stream.make(undefined), changes).pipe(
        Stream.debounce(pause),
        Stream.mapEffect(() => look),
        Stream.flatMap((event) => (Option.isSome(event) ? Stream.make(event.value) : Stream.empty))
      )
    })
  )
