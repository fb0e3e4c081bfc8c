/**
 * What a negotiation agreed on: the answer to "what did I get?", the same in both eras.
 *
 * @since 0.1.0
 */
import type { DiscoverResult } from "@mcp-effect/protocol/Discover"
import type { Implementation } from "@mcp-effect/protocol/Implementation"
import type { InitializeResult } from "@mcp-effect/protocol/Initialize"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type { Era } from "@mcp-effect/protocol/Version"
import type { Steps, Strength } from "./Evidence.ts"

/**
 * Which opening the agreement holds on: the first wire, a fresh one after the first was gone, or HTTP+SSE.
 *
 * @category models
 * @since 0.1.0
 */
export type Channel = "first" | "again" | "httpSse"

/**
 * What the machine itself settles on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outcome {
  readonly era: Era
  readonly version: string
  /** The decoded DiscoverResult. Absent in the legacy era, and for a pinned version nobody asked about. */
  readonly discover: DiscoverResult | undefined
  /** The decoded InitializeResult. Absent in the modern era. */
  readonly initialize: InitializeResult | undefined
  /** The version that was offered in the handshake. Absent in the modern era. */
  readonly offered: string | undefined
  /** The row that settled the era; `pin` and `prior` where nothing was asked, `legacy` where the mode said so. */
  readonly rule: string
  readonly strength: Strength
  /** Whether the verdict may be remembered: not on weak evidence, and not when a late answer contradicts it. */
  readonly lasting: boolean
  readonly channel: Channel
  /** The result as it stood on the wire, for a saved verdict. */
  readonly raw: JsonObject | undefined
}

/**
 * A negotiation that succeeded.
 *
 * In the legacy era the caller still owes the server `notifications/initialized`, sent and taken before anything else.
 *
 * @category models
 * @since 0.1.0
 */
export interface Agreement extends Outcome {
  /** Who the server says it is, if it says so. */
  readonly identity: Implementation | undefined
  /** What the server can do. `undefined` means unknown, not nothing. */
  readonly capabilities: (DiscoverResult | InitializeResult)["capabilities"] | undefined
  /** Help for a language model, in the server's words: text from outside. */
  readonly instructions: string | undefined
  readonly evidence: Steps
  /** How many answers were waited for. */
  readonly roundTrips: number
}
