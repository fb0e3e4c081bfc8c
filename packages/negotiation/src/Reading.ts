/**
 * What a signal says under given terms: the JSON-RPC error that may decide, the versions the server named, and which of
 * them both sides speak.
 *
 * Here stands which HTTP bodies are read at all. A status that other layers answer with (401, 403, 5xx, 429, redirects) is
 * never looked into, so no body can turn a refusal or an outage into a verdict (U-05).
 *
 * @since 0.1.0
 */
import type { DiscoverResult } from "@mcp-effect/protocol/Discover"
import type { InitializeResult } from "@mcp-effect/protocol/Initialize"
import type { ErrorObject } from "@mcp-effect/protocol/JsonRpc"
import type { Channel } from "./Agreement.ts"
import { decodeDiscover, decodeInitialize } from "./internal/decoding.ts"
import { listedBy } from "./internal/versions.ts"
import type { Signal } from "./Signal.ts"
import * as Terms from "./Terms.ts"

/**
 * A signal that was read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reading {
  readonly terms: Terms.Terms
  readonly signal: Signal
  /** The JSON-RPC error that may decide. */
  readonly error: ErrorObject | undefined
  /** The HTTP status, if it was one. */
  readonly status: number | undefined
  readonly discover: DiscoverResult | undefined
  readonly initialize: InitializeResult | undefined
  /** The versions the server named, in a DiscoverResult or in a -32022. */
  readonly listed: ReadonlyArray<string>
  /** The best modern version both sides speak. */
  readonly modern: string | undefined
  /** The best version of the handshake era both sides speak. */
  readonly legacy: string | undefined
  /** Whether the server named any version of the handshake era. */
  readonly namesHandshakeEra: boolean
}

/**
 * A reading of the answer to `server/discover`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ProbeReading extends Reading {
  /** Whether this was the corrected probe already (P7). */
  readonly corrected: boolean
}

/**
 * A reading of the answer to `initialize`.
 *
 * @category models
 * @since 0.1.0
 */
export interface HandshakeReading extends Reading {
  /** Whether the modern era is open at all: not in mode `legacy`, and not over the kind `sse`. */
  readonly modernOpen: boolean
  readonly channel: Channel
  /** Whether this very wire was probed before (H11). */
  readonly probed: boolean
  /** Whether a fresh wire can still be opened. */
  readonly reopen: boolean
  /** Whether HTTP+SSE is still to be tried. */
  readonly sse: boolean
  /** The best modern version both sides speak, from an answer to the probe that came after patience had ended (H14). */
  readonly late: string | undefined
}

/**
 * A reading of what became of opening a channel.
 *
 * @category models
 * @since 0.1.0
 */
export interface OpeningReading extends Reading {
  readonly channel: Channel
}

/**
 * Whether only a server of the modern era can mean this code: -32020 to -32099 is the specification's own range. -32042
 * was already there in 2025-11-25 and proves nothing.
 *
 * @category guards
 * @since 0.1.0
 */
export const isModernCode = (code: number): boolean => code <= -32020 && code >= -32099 && code !== -32042

const deciding = (signal: Signal): ErrorObject | undefined => {
  if (signal._tag === "Failed") return signal.error
  if (signal._tag !== "HttpStatus" || signal.error === undefined) return undefined
  switch (signal.status) {
    case 400:
    case 404:
    case 405:
      return signal.error
    case 406:
    case 415:
    case 422:
      return isModernCode(signal.error.code) ? signal.error : undefined
    default:
      return undefined
  }
}

/**
 * Reads a signal.
 *
 * @category constructors
 * @since 0.1.0
 */
export const read = (terms: Terms.Terms, signal: Signal): Reading => {
  const result = signal._tag === "Answered" ? signal.result : undefined
  const error = deciding(signal)
  const discover = result === undefined ? undefined : decodeDiscover(result)
  const listed =
    discover !== undefined ? discover.supportedVersions : error?.code === -32022 ? listedBy(error.data) : []
  return {
    terms,
    signal,
    error,
    status: signal._tag === "HttpStatus" ? signal.status : undefined,
    discover,
    initialize: result === undefined ? undefined : decodeInitialize(result),
    listed,
    modern: Terms.best(terms.modern, listed),
    legacy: Terms.best(terms.legacy, listed),
    namesHandshakeEra: listed.some((version) => Terms.isHandshakeEra(terms, version))
  }
}
