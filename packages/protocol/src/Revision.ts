/**
 * What differs from one revision of the protocol to the next, as data.
 *
 * A transport reads the habits and never asks "which era?". Everything else that depends on the version (which methods
 * exist, how a value is written and read) also lives here, so no other package compares version strings.
 *
 * @since 0.1.0
 */
import type { Era, Version } from "./Version.ts"

/**
 * How a revision behaves on the wire.
 *
 * @category models
 * @since 0.1.0
 */
export interface Habits {
  /** Where the client says who it is: once in `initialize`, or in `_meta` of every request. */
  readonly identity: "handshake" | "everyRequest"
  /** Whether the server may send requests of its own, which the client answers. */
  readonly serverRequests: boolean
  /** Whether a peer may put several messages into one JSON array. This library never sends one. */
  readonly batches: boolean
  /** Whether `notifications/progress` and cancellation exist is common ground; this says how HTTP cancels. */
  readonly http: {
    /** When `MCP-Protocol-Version` is sent: on every POST, or on all that follow the handshake. */
    readonly versionHeader: "always" | "afterHandshake"
    /** Whether `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` mirror the body. */
    readonly routingHeaders: boolean
    /** Whether a 2xx answer to `initialize` may start a session (`Mcp-Session-Id`), ended by DELETE. */
    readonly session: boolean
    /** Whether the server may offer a stream of its own on GET. */
    readonly getStream: boolean
    /** Whether a broken stream is taken up again with `Last-Event-ID`. */
    readonly resumption: boolean
    /** How an interrupted request is cancelled: by a notification, or by closing its stream. */
    readonly cancellation: "notification" | "closeStream"
  }
}

const handshakeHabits: Habits = {
  identity: "handshake",
  serverRequests: true,
  batches: false,
  http: {
    versionHeader: "afterHandshake",
    routingHeaders: false,
    session: true,
    getStream: true,
    resumption: true,
    cancellation: "notification"
  }
}

/**
 * One revision of the protocol.
 *
 * @category models
 * @since 0.1.0
 */
export interface Revision {
  readonly version: Version
  readonly era: Era
  readonly habits: Habits
}
