/**
 * What changes on a server while a client watches: `McpClient.changes`.
 *
 * A modern server reports on a `subscriptions/listen` request, a legacy one with notifications and, for resources, after
 * `resources/subscribe`. Here both are the same few words. A change says that something is different, not what: read it
 * again, or let a live list do so.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * What to watch. Absent and `false` both mean no.
 *
 * @category models
 * @since 0.1.0
 */
export interface Filter {
  /** The list of tools. */
  readonly tools?: boolean
  /** The list of prompts. */
  readonly prompts?: boolean
  /** The list of resources, and of their templates. */
  readonly resources?: boolean
  /** The contents of these resources, each by its exact address. */
  readonly resourceUris?: ReadonlyArray<string>
}

/**
 * One thing that happened.
 *
 * @category models
 * @since 0.1.0
 */
export type Change = Data.TaggedEnum<{
  ToolsChanged: {}
  PromptsChanged: {}
  ResourcesChanged: {}
  /** A watched resource has new contents, or a part of it has; then `uri` is that of the part (M-SUB-14). */
  ResourceUpdated: { readonly uri: string }
  /**
   * From now on the server reports this part of what was asked for: what is read after this misses no change. It comes
   * first, and again for what was `Unwatched` before.
   */
  Watched: { readonly filter: Filter }
  /**
   * The server does not report this part of what was asked for, and `because` says why: it never announced it, left it
   * out of its acknowledgement (M-SUB-9), refused (T-LIST-6), or is a legacy server over HTTP without a stream of its own
   * (L-HTTP-10), or with one that was given up. The connection is as good as before. Nothing is tried again until there
   * is a new session; until then read when you need to, as far as `ttlMs` allows.
   */
  Unwatched: { readonly filter: Filter; readonly because: string }
}>

/**
 * Constructors and matchers of `Change`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Change = Data.taggedEnum<Change>()
