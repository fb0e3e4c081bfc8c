/**
 * How a connection is doing. A connection outlives its sessions: when a process dies or a session expires, a new one is
 * opened in its place, and this says so.
 *
 * @since 0.1.0
 */
import type { Agreement } from "@mcp-effect/negotiation/Agreement"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as Data from "effect/Data"
import type { McpClientError } from "./McpClientError.ts"

/**
 * A state of a connection.
 *
 * @category models
 * @since 0.1.0
 */
export type ConnectionState = Data.TaggedEnum<{
  /** A session is open. */
  Connected: { readonly agreement: Agreement }
  /** The session is gone and a new one is being opened; requests wait for it. `because` is the text of what happened. */
  Reconnecting: { readonly because: string }
  /** No new session could be opened. The next request tries again. */
  Lost: { readonly error: NegotiationError | McpClientError }
  /** The scope is closed. */
  Closed: {}
}>

/**
 * Constructors and matchers of `ConnectionState`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ConnectionState = Data.taggedEnum<ConnectionState>()
