/**
 * The memory of what servers speak, so that connecting again does not ask again (U-06).
 *
 * The default lives in the running program and is shared by all of it, on purpose; `layerKeyValueStore` also keeps on
 * disk, or wherever a `KeyValueStore` keeps, what may outlive the program. Nothing is remembered of a failure or of weak
 * evidence, legacy verdicts grow old (`Verdict`), and no trouble with the store ever fails a connection.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as Layer from "effect/Layer"
import { KeyValueStore, prefix } from "effect/persistence/KeyValueStore"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Verdict from "./Verdict.ts"

/**
 * Where verdicts are kept. Write your own over anything, and give it to `make`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Store {
  readonly recall: (key: string) => Effect.Effect<Verdict.Verdict | undefined>
  readonly remember: (key: string, verdict: Verdict.Verdict) => Effect.Effect<void>
  readonly forget: (key: string) => Effect.Effect<void>
}

/**
 * A store, and the turn-taking that lets first connects to one endpoint share one negotiation.
 *
 * @category models
 * @since 0.1.0
 */
export interface EraMemory extends Store {
  /**
   * Runs the first negotiation of a key at once. Those that come while it runs wait for its end, then run side by side;
   * `waited` tells them to recall again first.
   */
  readonly inTurn: <A, E, R>(
    key: string,
    negotiation: (waited: boolean) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
}

/**
 * The longest DiscoverResult that is remembered, as JSON text: 1,048,576 code units. A server with a longer one is asked
 * every time.
 *
 * @category bounds
 * @since 0.1.0
 */
export const maxVerdictLength = 1_048_576

/**
 * A memory over a store. Expired verdicts are forgotten when they are asked for.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (store: Store): EraMemory => {
  const running = new Map<string, Deferred.Deferred<void>>()
  return {
    recall: Effect.fnUntraced(function* (key) {
      const verdict = yield* store.recall(key)
      if (verdict === undefined || !Verdict.isExpired(verdict, yield* Clock.currentTimeMillis)) return verdict
      yield* store.forget(key)
      return undefined
    }),
    remember: (key, verdict) =>
      "discover" in verdict && JSON.stringify(verdict.discover).length > maxVerdictLength
        ? store.forget(key)
        : store.remember(key, verdict),
    forget: store.forget,
    inTurn: (key, negotiation) =>
      Effect.suspend(() => {
        const first = running.get(key)
        if (first !== undefined) return Effect.andThen(Deferred.await(first), negotiation(true))
        const done = Deferred.makeUnsafe<void>()
        running.set(key, done)
        return Effect.ensuring(
          negotiation(false),
          Effect.suspend(() => {
            running.delete(key)
            return Deferred.succeed(done, undefined)
          })
        )
      })
  }
}

/**
 * How many endpoints the running program remembers; the one not used for longest is dropped first. 1,000.
 *
 * @category bounds
 * @since 0.1.0
 */
export const maxEntries = 1_000

/**
 * A store in the running program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const inProcess = (): Store => {
  // A Map keeps the order of insertion, so its first key is the one not used for longest.
  const verdicts = new Map<string, Verdict.Verdict>()
  const put = (key: string, verdict: Verdict.Verdict) => {
    verdicts.delete(key)
    verdicts.set(key, verdict)
    const [oldest] = verdicts.keys()
    if (verdicts.size > maxEntries && oldest !== undefined) verdicts.delete(oldest)
  }
  return {
    recall: (key) =>
      Effect.sync(() => {
        const verdict = verdicts.get(key)
        if (verdict !== undefined) put(key, verdict)
        return verdict
      }),
    remember: (key, verdict) => Effect.sync(() => put(key, verdict)),
    forget: (key) => Effect.sync(() => void verdicts.delete(key))
  }
}

// Marked as pure, here and below, so that bundles leave out the memories that a program does not use.
const fromText = /* @__PURE__ */ Schema.decodeUnknownResult(/* @__PURE__ */ Schema.fromJsonString(Schema.Unknown))

const read = (text: string): Verdict.Verdict | undefined => {
  const value = fromText(text)
  if (Result.isFailure(value)) return undefined
  const verdict = Verdict.parse(value.success)
  return Result.isSuccess(verdict) ? verdict.success : undefined
}

/**
 * Whether a verdict may outlive the program: modern ones, and legacy ones on positive proof.
 *
 * @category guards
 * @since 0.1.0
 */
export const isPersistable = (verdict: Verdict.Verdict): boolean =>
  "discover" in verdict || verdict.strength === "definitive"

/**
 * A store over a `KeyValueStore`, with the running program's own before it. A value that cannot be read counts as none;
 * a store that fails is reported once per use to Effect's logger, and the program goes on without it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const persistent = (kept: KeyValueStore): Store => {
  const near = inProcess()
  const far = prefix(kept, "mcp-effect/era/")
  const tolerating = <A>(use: Effect.Effect<A, { readonly message: string }>, otherwise: A): Effect.Effect<A> =>
    Effect.catch(use, (error) =>
      Effect.as(Effect.logWarning(`the era memory is not available: ${error.message}`), otherwise)
    )
  return {
    recall: Effect.fnUntraced(function* (key) {
      const known = yield* near.recall(key)
      if (known !== undefined) return known
      const text = yield* tolerating(far.get(key), undefined)
      const verdict = text === undefined ? undefined : read(text)
      if (verdict !== undefined) yield* near.remember(key, verdict)
      return verdict
    }),
    remember: (key, verdict) =>
      Effect.andThen(
        near.remember(key, verdict),
        isPersistable(verdict)
          ? tolerating(far.set(key, JSON.stringify(verdict)), undefined)
          : tolerating(far.remove(key), undefined)
      ),
    forget: (key) => Effect.andThen(near.forget(key), tolerating(far.remove(key), undefined))
  }
}

/**
 * The memory in use. The default is one in the running program.
 *
 * @category services
 * @since 0.1.0
 */
export const EraMemory = Context.Reference<EraMemory>("@mcp-effect/negotiation/EraMemory", {
  defaultValue: () => make(inProcess())
})

/**
 * A fresh memory in the running program, shared with nobody outside of the layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerInProcess: Layer.Layer<never> = /* @__PURE__ */ Layer.sync(EraMemory, () => make(inProcess()))

/**
 * A memory that outlives the program.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerKeyValueStore: Layer.Layer<never, never, KeyValueStore> = /* @__PURE__ */ Layer.effect(
  EraMemory,
  /* @__PURE__ */ Effect.map(KeyValueStore, (kept) => make(persistent(kept)))
)

/**
 * A memory that forgets at once: every connection asks.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNone: Layer.Layer<never> = /* @__PURE__ */ Layer.succeed(EraMemory, {
  recall: () => Effect.undefined,
  remember: () => Effect.void,
  forget: () => Effect.void,
  inTurn: (_key, negotiation) => negotiation(false)
})

const digest = (text: string): string => (Hash.string(text) >>> 0).toString(16).padStart(8, "0")

const parts = /^([a-z][a-z0-9+.-]*):\/\/(?:[^/?#]*@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?/iu
const defaultPort: Readonly<Record<string, string>> = { http: ":80", https: ":443" }

/**
 * The key of an HTTP endpoint: scheme, host, port and path, since two paths behind one gateway can differ in era. User
 * and password are left out, the query is a hash, and `partition` keeps apart who must not share a verdict (for example
 * the name of an account, never a token).
 *
 * @category keys
 * @since 0.1.0
 */
export const keyOfHttp = (url: string, partition = ""): string => {
  const [, scheme = "", host = "", path = "", query] = parts.exec(url) ?? []
  const kind = scheme.toLowerCase()
  const port = defaultPort[kind]
  const name = host.toLowerCase()
  const authority = port !== undefined && name.endsWith(port) ? name.slice(0, -port.length) : name
  const place = kind === "" ? `?${digest(url)}` : `${kind}://${authority}${path === "" ? "/" : path}`
  return `http ${place}${query === undefined || query === "" ? "" : `?${digest(query)}`}${partition === "" ? "" : ` ${partition}`}`
}

/**
 * The key of a command: its name, and a hash of its arguments, folder and the names of its configured environment. What
 * may hold a secret is never readable in it.
 *
 * @category keys
 * @since 0.1.0
 */
export const keyOfStdio = (command: {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly cwd?: string | undefined
  /** The names of the entries, not their values. */
  readonly env?: ReadonlyArray<string> | undefined
}): string =>
  `stdio ${command.command} ${digest(JSON.stringify([command.args, command.cwd ?? "", (command.env ?? []).toSorted()]))}`
