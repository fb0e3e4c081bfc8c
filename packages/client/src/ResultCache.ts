/**
 * Keeps what a modern server said may be kept: lists, resources and what the server is (M-CACHE).
 *
 * Such a result says for how long (`ttlMs`) and for whom (`cacheScope`); a server that says nothing, and every legacy
 * server, is asked each time. The key of an entry is the endpoint, the version, the method, its parameters and what this
 * client declared it can do. A private entry is for one principal only: one connection, unless `Partition` names who
 * shares it. Change notifications drop entries before their time. A call with `cache: "bypass"` or `"refresh"` asks anew.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { lru } from "./internal/lru.ts"

const count = (name: string, value: number) =>
  Context.Reference<number>(`@mcp-effect/client/ResultCache/${name}`, { defaultValue: () => value })

/**
 * How long any result is kept at most, whatever the server says. 1 hour.
 *
 * @category time
 * @since 0.1.0
 */
export const MaxAge = Context.Reference<Duration.Duration>("@mcp-effect/client/ResultCache/MaxAge", {
  defaultValue: () => Duration.hours(1)
})

/**
 * How many results wait to be dropped after a change; past it a connection forgets all it kept. 1,000.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxPendingDrops = count("MaxPendingDrops", 1_000)

/**
 * Who private results belong to, where several connections act for the same principal: the name of an account, never a
 * token. Connections to the same URL that name the same one share; by default each connection is alone (M-CACHE-11), and
 * behind a command or a pipe it is alone whatever it names. Name another as soon as a connection acts for somebody else.
 *
 * @category services
 * @since 0.1.0
 */
export const Partition = Context.Reference<string | undefined>("@mcp-effect/client/ResultCache/Partition", {
  defaultValue: () => undefined
})

/**
 * What one request does with the cache: `use` takes a fresh result and keeps a new one, `refresh` asks and keeps, `bypass`
 * asks and keeps nothing.
 *
 * @category models
 * @since 0.1.0
 */
export type Use = "use" | "refresh" | "bypass"

/**
 * Where a result stands. Both are texts of no fixed length and may hold addresses; treat them as opaque.
 *
 * @category models
 * @since 0.1.0
 */
export interface Key {
  /** What is dropped together: all pages of a list, or one resource, for every principal and version. */
  readonly group: string
  /** The one entry. */
  readonly id: string
}

/**
 * A kept result: plain JSON. Times are milliseconds since 1970.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry {
  readonly result: JsonObject
  readonly storedAt: number
  readonly freshUntil: number
}

/**
 * Where results are kept. Write your own over anything that keeps JSON; trouble of a store is its own to handle, and to
 * lose an entry does no harm. A result that comes back changed is read again as if the server had sent it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResultCache {
  readonly get: (key: Key) => Effect.Effect<Entry | undefined>
  readonly set: (key: Key, entry: Entry) => Effect.Effect<void>
  /** Forgets all entries of a group. */
  readonly drop: (group: string) => Effect.Effect<void>
}

/**
 * The bounds of a store in the running program.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bounds {
  /** How many entries; the one not used for longest goes first. 1,000 by default. */
  readonly entries?: number
  /** How many characters and values in all; a result above a quarter of it is not kept. 16 Mi by default. */
  readonly size?: number
}

/**
 * A store in the running program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const inProcess = ({ entries = 1_000, size = 16 * 1024 * 1024 }: Bounds = {}): ResultCache => {
  const kept = lru<Entry>({ entries, size })
  return {
    get: ({ id }) => Effect.sync(() => kept.get(id)),
    set: ({ group, id }, entry) => Effect.sync(() => kept.set(group, id, entry, entry.result)),
    drop: (group) => Effect.sync(() => kept.drop(group))
  }
}

/**
 * The store in use, read when connecting. The default is one in the running program, which all its connections share.
 *
 * @category services
 * @since 0.1.0
 */
export const ResultCache = Context.Reference<ResultCache>("@mcp-effect/client/ResultCache", {
  defaultValue: () => inProcess()
})

/**
 * A fresh store in the running program, shared with nobody outside of the layer. Provide it around `connect`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerInProcess = (bounds?: Bounds): Layer.Layer<never> => Layer.sync(ResultCache, () => inProcess(bounds))

/**
 * A store that keeps nothing: every request asks. The store is read when connecting, so provide this around `connect`; for
 * one request use `cache: "bypass"`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNone: Layer.Layer<never> = /* @__PURE__ */ Layer.succeed(ResultCache, {
  get: () => Effect.succeed(undefined),
  set: () => Effect.void,
  drop: () => Effect.void
})
