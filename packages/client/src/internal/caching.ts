/**
 * Answers a request from the cache, or sends it and keeps the answer, as the server's hints allow (M-CACHE). What may be
 * kept, and for how long, is decided here; where it is kept is the store's.
 */
import type * as Capabilities from "@mcp-effect/protocol/Capabilities"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Method from "@mcp-effect/protocol/Method"
import type { Revision } from "@mcp-effect/protocol/Revision"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { McpClientError } from "../McpClientError.ts"
import { type Key, MaxAge, MaxPendingDrops, Partition, ResultCache, type Use } from "../ResultCache.ts"

/** What of a request matters to the cache. */
export interface How {
  readonly cache?: Use | undefined
  readonly meta?: JsonRpc.JsonObject | undefined
  /** Told when the answer came from the cache. */
  readonly onKept?: (() => void) | undefined
}

export interface Caching {
  readonly through: <M extends Method.Method>(
    method: M,
    params: Method.Params<M>,
    how: How,
    send: () => Effect.Effect<Method.Result<M>, McpClientError>
  ) => Effect.Effect<Method.Result<M>, McpClientError>
  /** Hears what changed. */
  readonly hear: (notification: JsonRpc.Notification) => void
}

let connections = 0

/** Results this program has read, so that what comes back as it was need not be read again. */
const read = new WeakMap<object, Method.Method>()

const isResultOf = <M extends Method.Method>(method: M, result: object): result is Method.Result<M> =>
  read.get(result) === method

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  return `{${Object.entries(value)
    .filter(([, item]) => item !== undefined)

    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`)
    .join()}}`
}

/** Parameters on which nothing is kept: they belong to one round of questions, or say what this library does not know. */
const unkeepable = ["inputResponses", "requestState", "_meta"]

const lists: ReadonlyMap<string, ReadonlyArray<Method.Method>> = new Map([
  ["notifications/tools/list_changed", ["tools/list"]],
  ["notifications/prompts/list_changed", ["prompts/list"]],
  ["notifications/resources/list_changed", ["resources/list", "resources/templates/list"]]
])

const deepest = 64

/** An address and those it is a part of, since a change may name a part of what is watched. */
const wholesOf = (uri: string): ReadonlyArray<string> => {
  const wholes = [uri]
  for (let at = uri.lastIndexOf("/"); at > 0 && wholes.length < deepest; at = uri.lastIndexOf("/", at - 1)) {
    wholes.push(uri.slice(0, at + 1), uri.slice(0, at))
  }
  return wholes
}

interface Hints {
  readonly ttlMs: number
  readonly cacheScope: "public" | "private"
}

/** Questions in place of a result are open objects too, and may carry hints that mean nothing (M-CACHE-2). */
const isKeepable = (result: object): result is Hints =>
  "resultType" in result &&
  result.resultType === "complete" &&
  "ttlMs" in result &&
  typeof result.ttlMs === "number" &&
  "cacheScope" in result

export interface Options {
  readonly transport: Transport["Service"]
  readonly revision: () => Revision
  readonly capabilities: Capabilities.Client
}

/** The cache of a connection begins with the first request or notification that concerns it. */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Caching> {
  const store = yield* ResultCache
  const mostDrops = yield* MaxPendingDrops
  let begun: Caching | undefined
  const cache = () => (begun ??= begin(options, store, mostDrops))
  return {
    through: (method, params, how, send) =>
      !Method.methods[method].cached ||
      how.cache === "bypass" ||
      how.meta !== undefined ||
      // The hints came together with this method.
      !options.revision().supports("server/discover") ||
      unkeepable.some((member) => Object.hasOwn(params, member))
        ? send()
        : cache().through(method, params, how, send),
    hear: (notification) => {
      if (lists.has(notification.method) || updatedIn(notification) !== undefined) cache().hear(notification)
    }
  }
})

/** The address whose contents a notification says have changed. */
const updatedIn = ({ method, params }: JsonRpc.Notification): string | undefined => {
  const uri = method === "notifications/resources/updated" ? params?.["uri"] : undefined
  return typeof uri === "string" ? uri : undefined
}

const begin = (options: Options, store: ResultCache, mostDrops: number): Caching => {
  const { revision, transport } = options
  const connection = `connection ${++connections}`
  const { endpoint, kind, setting = "" } = transport
  const shared = kind === "http" || kind === "sse"
  // Only an address says which server it is: behind the same command may be another one, with other settings.
  let place = !shared ? connection : setting === "" ? endpoint : `${endpoint} ${setting}`
  const abilities = canonical(options.capabilities)
  const drops = new Set<string>()
  let changes = 0

  const groupOf = (method: Method.Method, uri = ""): string => JSON.stringify([place, method, uri])

  const keyOf = (method: Method.Method, params: JsonRpc.JsonObject, partition: string | undefined): Key => ({
    group: groupOf(method, method === "resources/read" ? String(params["uri"]) : ""),
    id: JSON.stringify([
      place,
      revision().version,
      method,
      canonical(params),
      abilities,
      ...(partition === undefined ? [] : [partition])
    ])
  })

  const dropPending = Effect.suspend(() => {
    const groups = [...drops]
    drops.clear()
    return Effect.forEach(groups, store.drop, { discard: true })
  })

  const kept = Effect.fnUntraced(function* <M extends Method.Method>(method: M, key: Key) {
    const entry = yield* store.get(key)
    if (entry === undefined) return undefined
    const now = yield* Clock.currentTimeMillis
    // Also when the clock was set back: then nothing is known of its age.
    if (now >= entry.freshUntil || now < entry.storedAt) return undefined
    if (isResultOf(method, entry.result)) return entry.result
    const again = revision().decode(method, entry.result)
    return Result.isSuccess(again) ? again.success.value : undefined
  })

  const cached = Effect.fnUntraced(function* <M extends Method.Method>(
    method: M,
    params: Method.Params<M>,
    { cache = "use", onKept }: How,
    send: () => Effect.Effect<Method.Result<M>, McpClientError>
  ): Effect.fn.Return<Method.Result<M>, McpClientError> {
    const partition = (yield* Partition) ?? connection
    if (drops.size > 0) yield* dropPending
    if (cache === "use") {
      const found =
        (yield* kept(method, keyOf(method, params, partition))) ??
        (yield* kept(method, keyOf(method, params, undefined)))
      if (found !== undefined) {
        onKept?.()
        return found
      }
    }
    const before = changes
    const result = yield* Effect.tapError(send(), ({ reason }) =>
      // A cursor that holds no more: the pages that led to it are of no use either (M-CACHE-16).
      reason._tag === "ServerError" && reason.code === ErrorCode.InvalidParams && "cursor" in params
        ? store.drop(groupOf(method))
        : Effect.void
    )
    if (changes !== before || !isKeepable(result)) return result
    const ttl = Math.min(result.ttlMs, Duration.toMillis(yield* MaxAge))
    if (ttl <= 0) return result
    const now = yield* Clock.currentTimeMillis
    read.set(result, method)
    yield* store.set(keyOf(method, params, result.cacheScope === "public" ? undefined : partition), {
      result,
      storedAt: now,
      freshUntil: now + ttl
    })
    return result
  })

  const dropLater = (group: string) => {
    if (drops.size < mostDrops) return void drops.add(group)
    // Under another name nothing that was kept is found again; it goes when its turn comes.
    drops.clear()
    place = `${connection} anew ${changes}`
  }

  return {
    through: cached,
    hear: (notification) => {
      changes++
      for (const method of lists.get(notification.method) ?? []) dropLater(groupOf(method))
      const uri = updatedIn(notification)
      if (uri !== undefined) for (const whole of wholesOf(uri)) dropLater(groupOf("resources/read", whole))
    }
  }
}
