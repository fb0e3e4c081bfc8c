/**
 * A row of a rule table, and what a row can decide.
 *
 * Tables are read from top to bottom and the first row that matches speaks. Each table ends with a row that matches
 * everything, so it is total. The tables are data on purpose: the machine runs them and the documentation prints them.
 *
 * @since 0.1.0
 */
import type { Strength } from "./Evidence.ts"
import type { Reason } from "./Reason.ts"
import type { Column } from "./Terms.ts"

/**
 * The negotiation ends with this reason. `heard: false` says that this cannot come in over this kind of wire.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fail {
  readonly fail: Reason["_tag"]
  readonly heard?: false
}

/**
 * What a row of the probe can decide: the version is agreed on, the probe is asked once more with a version the server
 * named, `initialize` follows (`handshakeOnly`: and no HTTP+SSE after it), or a fresh wire and `initialize` on it.
 *
 * @category models
 * @since 0.1.0
 */
export type ProbeRuling = "adopt" | "retry" | "handshake" | "handshakeOnly" | "reopen" | Fail

/**
 * What a row of the handshake can decide: the version is agreed on (`adoptLate`: that of the late answer to the probe, on
 * a fresh wire if this one is gone), one more probe, a fresh wire, or HTTP+SSE at the same address.
 *
 * @category models
 * @since 0.1.0
 */
export type HandshakeRuling = "adopt" | "adoptLate" | "retry" | "reopen" | "httpSse" | Fail

/**
 * What a row of the openings can decide: go on with what the channel was opened for, or give up.
 *
 * @category models
 * @since 0.1.0
 */
export type OpeningRuling = "proceed" | Fail

/**
 * Anything a row can decide.
 *
 * @category models
 * @since 0.1.0
 */
export type Ruling = ProbeRuling | HandshakeRuling | OpeningRuling

/**
 * One row.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rule<Reading, R extends Ruling> {
  /** `P1` to `P32` for the probe, `H1` to `H15` for the handshake. Rows that share an id refine one rule. */
  readonly id: string
  /** What is heard, in words. */
  readonly heard: string
  readonly matches: (reading: Reading) => boolean
  readonly on: Readonly<Record<Column, R>>
  /** What the row says about the era, if anything. */
  readonly evidence: Strength | undefined
  /** Why, as the end of a sentence. */
  readonly because: string
  /** Where the rule comes from: promises (U), requirements (M), traps (T). */
  readonly source: string
}

/**
 * A rule that holds without the machine: whoever owns the wire or drives the machine keeps it.
 *
 * @category models
 * @since 0.1.0
 */
export interface OutsideRule {
  readonly id: string
  readonly heard: string
  readonly keeps: string
  readonly because: string
  readonly source: string
}

/**
 * The ruling of a failure.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fail = (reason: Reason["_tag"]): Fail => ({ fail: reason })

/**
 * The ruling where this cannot be heard over this kind of wire. A wire that says it all the same gave no MCP answer.
 *
 * @category constructors
 * @since 0.1.0
 */
export const notHeard: Fail = { fail: "MalformedProbeReply", heard: false }

/**
 * A ruling as the tables print it.
 *
 * @category formatting
 * @since 0.1.0
 */
export const print = (ruling: Ruling): string => {
  switch (ruling) {
    case "adopt":
      return "ADOPT"
    case "adoptLate":
      return "ADOPT (late)"
    case "retry":
      return "RETRY"
    case "handshake":
      return "INIT"
    case "proceed":
      return "OPENED"
    case "handshakeOnly":
      return "INIT (no SSE)"
    case "reopen":
      return "REOPEN+INIT"
    case "httpSse":
      return "SSE"
    default:
      return `FAIL(${ruling.fail})`
  }
}
