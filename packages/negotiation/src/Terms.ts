/**
 * What the client brings to a negotiation: the versions it speaks, what carries its messages, and how strict it is.
 *
 * Version sets are terms and never constants of the machine, so a client may speak less than this library knows, and a
 * test may invent a version that does not exist yet. Lists are in the client's order of preference.
 *
 * @since 0.1.0
 */
import * as Version from "@mcp-effect/protocol/Version"

/**
 * What carries the bytes, as the transport declares it: a child process, Streamable HTTP, HTTP+SSE, a server object in
 * the same program, or any other byte stream. It is never guessed from behaviour.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "stdio" | "http" | "sse" | "memory" | "stream"

/**
 * The column of the rule tables that holds for a kind.
 *
 * @category models
 * @since 0.1.0
 */
export type Column = "pipe" | "http"

/**
 * The terms of one negotiation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Terms {
  /** Modern versions the client speaks, best first. */
  readonly modern: ReadonlyArray<string>
  /** Versions of the handshake era the client speaks, best first. */
  readonly legacy: ReadonlyArray<string>
  /** Versions of the handshake era that exist but are not spoken: a server that lists one still answers `initialize`. */
  readonly retired: ReadonlyArray<string>
  readonly kind: Kind
  /** Whether a second wire can be opened after the first one is gone (P17, H11). */
  readonly reopenable: boolean
  /** Whether HTTP+SSE can be tried at the same address (H6). Only `http` ever does. */
  readonly sse: boolean
  /**
   * What -32020 and -32021 mean as an answer to the probe (P11): `promised` tries the handshake, with a warning; `spec`
   * fails, as the specification says.
   */
  readonly fallback: "promised" | "spec"
  /** What HTTP 406, 415 and 422 mean as an answer to the probe (P22): a failure, or with `spec` a legacy server. */
  readonly legacyStatuses: "promised" | "spec"
}

/**
 * Terms with the defaults of this library: every version it implements, HTTP+SSE as the last step of `http`, a new
 * process where the kind is `stdio`, and the promised reading of both open questions.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (terms: { readonly kind: Kind } & Partial<Terms>): Terms => ({
  modern: Version.modern,
  legacy: Version.legacy,
  retired: ["2024-10-07"],
  reopenable: terms.kind === "stdio",
  sse: terms.kind === "http",
  fallback: "promised",
  legacyStatuses: "promised",
  ...terms
})

/**
 * Which column of the rule tables applies.
 *
 * @category accessors
 * @since 0.1.0
 */
export const columnOf = (kind: Kind): Column => (kind === "http" || kind === "sse" ? "http" : "pipe")

/**
 * The version both sides speak that the client likes best. The order of `theirs` and repetitions in it do not matter.
 *
 * @category accessors
 * @since 0.1.0
 */
export const best = (ours: ReadonlyArray<string>, theirs: ReadonlyArray<string>): string | undefined =>
  ours.find((version) => theirs.includes(version))

/**
 * Whether the text names a version of the handshake era, spoken by this client or not.
 *
 * @category guards
 * @since 0.1.0
 */
export const isHandshakeEra = (terms: Terms, version: string): boolean =>
  !terms.modern.includes(version) &&
  (terms.legacy.includes(version) || terms.retired.includes(version) || Version.isLegacy(version))
