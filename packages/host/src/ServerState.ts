/**
 * How a server of the host is doing (U-53).
 *
 * @since 0.1.0
 */
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import type { Implementation } from "@mcp-effect/protocol/Implementation"
import * as Data from "effect/Data"
import type { HostError } from "./HostError.ts"

/**
 * What a server says of itself (U-52).
 *
 * @category models
 * @since 0.1.0
 */
export interface About {
  /** Its name and version; `undefined` when it does not say. */
  readonly identity: Implementation | undefined
  /** Help for a language model, in the server's words: text from outside. */
  readonly instructions: string | undefined
  /** The version that was agreed. */
  readonly version: string
  readonly tools: boolean
  readonly resources: boolean
  readonly prompts: boolean
  readonly logging: boolean
}

/**
 * Why a server could not be started, or was lost.
 *
 * @category models
 * @since 0.1.0
 */
export type StartError = NegotiationError | McpClientError | HostError

/**
 * A state.
 *
 * @category models
 * @since 0.1.0
 */
export type ServerState = Data.TaggedEnum<{
  /** Not running. */
  Stopped: {}
  /** Being connected, or connected again after its process or session was gone. */
  Connecting: {}
  /** Its tool list has arrived, or it has no tools. */
  Ready: { readonly about: About }
  /** It could not be started, or was lost and did not come back. `start` tries again at once. */
  Failed: {
    readonly error: StartError
    /** How often it failed in a row. A server that was ready for `Limits.SteadyAfter` begins anew, and so does `start`. */
    readonly tries: number
    /** When it is tried again by itself, in milliseconds since 1970; `undefined` when it is not (`Host.Options.retry`). */
    readonly nextTry: number | undefined
    /** Why it is tried again, or is not. */
    readonly because: string
  }
  /** Being stopped. */
  Stopping: {}
}>

/**
 * Constructors and matchers.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ServerState = Data.taggedEnum<ServerState>()
