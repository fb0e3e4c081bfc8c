/**
 * Every way a negotiation can fail, one class each: those of one answer (`ProbeReason`), and here those that take more
 * than one answer, or none. `NegotiationError` wraps exactly one of them.
 *
 * Fields are facts; `message` is computed from them and says what was asked, what came back and, except after an HTTP
 * line, what to change; `hint` is the last part alone; `isRetryable` says whether the same connect may succeed later.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Heard, ProbeHalf } from "./Evidence.ts"
import * as wording from "./internal/wording.ts"
import { ProbeReason } from "./ProbeReason.ts"

const Versions = Schema.Array(Schema.String)
const text = Schema.optionalKey(Schema.String)

/**
 * The mode is none: unknown, a version that cannot be pinned, an offer that cannot be offered, or one that this kind of
 * transport cannot keep. Nothing was sent (U-11).
 *
 * What to change: give a mode that there is: `auto`, `modern`, `legacy`, or a version in `modern` to pin.
 *
 * @category before anything is sent
 * @since 0.1.0
 */
export class ModeInvalid extends Schema.TaggedError<ModeInvalid>()("ModeInvalid", {
  /** What was asked for, as text. */
  got: Schema.String,
  /** What can be pinned. */
  modern: Versions,
  /** What is wrong with it, if more can be said. */
  because: text
}) {
  override get message() {
    return `${this.hint}; got '${this.got}'${this.because === undefined ? "" : ` (${this.because})`}`
  }
  get hint() {
    return `mode must be 'auto', 'modern', 'legacy' or one of [${this.modern.map((version) => `'${version}'`).join(", ")}]`
  }
  get isRetryable() {
    return false
  }
}

/**
 * A saved verdict cannot be used: it is no verdict, contradicts itself, or does not hold the wanted version. Nothing was
 * sent (U-12).
 *
 * What to change: connect without `prior`, and save the verdict of that connection.
 *
 * @category before anything is sent
 * @since 0.1.0
 */
export class PriorInvalid extends Schema.TaggedError<PriorInvalid>()("PriorInvalid", { because: Schema.String }) {
  override get message() {
    return `the saved verdict cannot be used: ${this.because}. ${this.hint}`
  }
  get hint() {
    return "Connect without `prior` and save the verdict of that connection"
  }
  get isRetryable() {
    return false
  }
}

const causing = (heard: Heard, cause: ProbeReason | undefined) =>
  cause?.message ?? wording.headline("server/discover", heard)

/**
 * Mode `modern` did not find a modern version both sides speak. It never falls back (U-01).
 *
 * What to change: set mode `auto`, or `legacy` for a server that is known to be old.
 *
 * @category modes
 * @since 0.1.0
 */
export class ModernUnavailable extends Schema.TaggedError<ModernUnavailable>()("ModernUnavailable", {
  heard: Heard,
  /** The row that read it. */
  rule: Schema.String,
  /** How mode `auto` would have failed. Absent where it would have tried the handshake. */
  cause: Schema.optionalKey(ProbeReason)
}) {
  override get message() {
    const message = causing(this.heard, this.cause)
    return this.cause === undefined ? wording.advising(message, this.hint) : message
  }
  get hint() {
    return (
      this.cause?.hint ??
      "Mode 'modern' never falls back: set mode 'auto', or 'legacy' if the server is known to be old"
    )
  }
  get isRetryable() {
    return this.cause?.isRetryable ?? false
  }
}

/**
 * A pinned version was to be verified, and the server did not confirm it (section 5).
 *
 * What to change: pin a version that the server names, or set mode `auto`.
 *
 * @category modes
 * @since 0.1.0
 */
export class PinnedVersionUnavailable extends Schema.TaggedError<PinnedVersionUnavailable>()(
  "PinnedVersionUnavailable",
  {
    version: Schema.String,
    heard: Heard,
    rule: Schema.String,
    /** How mode `auto` would have failed. Absent where it would have gone on. */
    cause: Schema.optionalKey(ProbeReason)
  }
) {
  override get message() {
    const message = causing(this.heard, this.cause)
    return this.cause === undefined ? wording.advising(message, this.hint) : message
  }
  get hint() {
    return this.cause?.hint ?? `The server does not confirm ${this.version}: pin a version it names, or set mode 'auto'`
  }
  get isRetryable() {
    return this.cause?.isRetryable ?? false
  }
}

/**
 * The handshake of an older server did not work either (H5), or the corrected probe after it did not (H4).
 *
 * What to change: set mode `legacy` with the version in `wants`, if there is one. Otherwise see that the address or the
 * command is that of an MCP server, and look at its log.
 *
 * @category handshake
 * @since 0.1.0
 */
export class LegacyHandshakeFailed extends Schema.TaggedError<LegacyHandshakeFailed>()("LegacyHandshakeFailed", {
  /** What led to the handshake. Absent when nothing was probed. */
  probe: Schema.optionalKey(ProbeHalf),
  handshake: Heard,
  /** The version that was offered. */
  offered: Schema.String,
  /** What the recovery probe heard, if there was one (H4). */
  recovery: Schema.optionalKey(Heard),
  /** A version of ours that the server named in its refusal. */
  wants: text
}) {
  override get message() {
    const handshake = wording.headline("initialize", this.handshake)
    const both =
      this.recovery === undefined
        ? handshake
        : `${wording.headline("server/discover again", this.recovery)}\n` +
          `before that ${wording.headline("initialize", this.handshake)}`
    return wording.bothHalves(wording.advising(both, this.hint), this.probe)
  }
  get hint() {
    if (this.wants !== undefined)
      return `The server refused ${this.offered} and names ${this.wants}: set mode 'legacy' with \`offer: "${this.wants}"\``
    return this.probe?.strength === "weak"
      ? "The probe's answer looked modern: correct what it names, or ask the server's operator"
      : "Check that the address or command is that of an MCP server, and see its log"
  }
  get isRetryable() {
    return this.recovery !== undefined && wording.isTransient(this.recovery)
  }
}

/**
 * `initialize` was not answered in time, or the whole connect ran out of time in it (H10).
 *
 * What to change: see whether the server starts at all, and what `stderr` of the `NegotiationError` names; raise
 * `Defaults.HandshakeTimeout` for one that starts slowly.
 *
 * @category handshake
 * @since 0.1.0
 */
export class HandshakeTimeout extends Schema.TaggedError<HandshakeTimeout>()("HandshakeTimeout", {
  probe: Schema.optionalKey(ProbeHalf)
}) {
  override get message() {
    return wording.bothHalves(`asked initialize, heard nothing in time. ${this.hint}`, this.probe)
  }
  get hint() {
    return "See whether the server starts at all, or raise the handshake limit for one that starts slowly"
  }
  get isRetryable() {
    return true
  }
}

/**
 * The server answered `initialize` with a version this client does not speak there (H2, H3). The connection is closed.
 *
 * What to change: set mode `modern` when `modern` is true; otherwise update the older of the two.
 *
 * @category handshake
 * @since 0.1.0
 */
export class LegacyVersionUnsupported extends Schema.TaggedError<LegacyVersionUnsupported>()(
  "LegacyVersionUnsupported",
  {
    offered: Schema.String,
    answered: Schema.String,
    supported: Versions,
    /** Whether the answer names a modern version, which no handshake can agree on (H3). */
    modern: Schema.Boolean,
    probe: Schema.optionalKey(ProbeHalf)
  }
) {
  override get message() {
    return wording.bothHalves(
      `asked initialize with ${this.offered}; the server answered ${this.answered}; ` +
        `this client supports ${wording.versions(this.supported)}. ${this.hint}`,
      this.probe
    )
  }
  get hint() {
    return this.modern
      ? `A modern version cannot be agreed on by a handshake: set mode 'modern' or pin '${this.answered}'`
      : "Update the older of the two"
  }
  get isRetryable() {
    return false
  }
}

/**
 * Mode `legacy` met a server that speaks only modern versions (section 5).
 *
 * What to change: set mode `auto`; for the transport `sse` also set `http`.
 *
 * @category handshake
 * @since 0.1.0
 */
export class ModernOnlyServer extends Schema.TaggedError<ModernOnlyServer>()("ModernOnlyServer", {
  offered: Schema.String,
  supported: Versions
}) {
  override get message() {
    return `asked initialize with ${this.offered}; the server supports only ${wording.versions(this.supported)}. ${this.hint}`
  }
  get hint() {
    return "Set mode 'auto'; if the transport is 'sse', set it to 'http'"
  }
  get isRetryable() {
    return false
  }
}

/**
 * Neither Streamable HTTP nor HTTP+SSE led anywhere (H8).
 *
 * What to change: the address: no MCP server answers there.
 *
 * @category handshake
 * @since 0.1.0
 */
export class TransportFallbackExhausted extends Schema.TaggedError<TransportFallbackExhausted>()(
  "TransportFallbackExhausted",
  {
    probe: Schema.optionalKey(ProbeHalf),
    /** What `initialize` over Streamable HTTP heard. Absent when HTTP+SSE came from memory. */
    handshake: Schema.optionalKey(Heard),
    sse: Heard
  }
) {
  override get message() {
    const sse = wording.headline("HTTP+SSE at the same address", this.sse)
    const handshake =
      this.handshake === undefined ? "" : `\nbefore that ${wording.headline("initialize", this.handshake)}`
    return wording.bothHalves(`${wording.advising(sse, this.hint)}${handshake}`, this.probe)
  }
  get hint() {
    return "Check the address: no MCP server answers there, neither over Streamable HTTP nor over HTTP+SSE"
  }
  get isRetryable() {
    return wording.isTransient(this.sse)
  }
}

/**
 * The program looked at the DiscoverResult and refused the server (P32, U-08).
 *
 * What to change: connect to another server, or relax the check that the program gave to this connection.
 *
 * @category hooks
 * @since 0.1.0
 */
export class DiscoverRejected extends Schema.TaggedError<DiscoverRejected>()("DiscoverRejected", {
  because: Schema.String
}) {
  override get message() {
    return `asked the program whether it wants this server, it refused the DiscoverResult: ${this.because}. ${this.hint}`
  }
  get hint() {
    return "Connect to another server, or relax the check given to this connection"
  }
  get isRetryable() {
    return false
  }
}

/**
 * The program looked at the InitializeResult and refused the server (H13, U-08).
 *
 * What to change: connect to another server, or relax the check that the program gave to this connection.
 *
 * @category hooks
 * @since 0.1.0
 */
export class InitializeRejected extends Schema.TaggedError<InitializeRejected>()("InitializeRejected", {
  because: Schema.String
}) {
  override get message() {
    return `asked the program whether it wants this server, it refused the InitializeResult: ${this.because}. ${this.hint}`
  }
  get hint() {
    return "Connect to another server, or relax the check given to this connection"
  }
  get isRetryable() {
    return false
  }
}

/**
 * Any of them.
 *
 * @category models
 * @since 0.1.0
 */
export const Reason = Schema.Union([
  ...ProbeReason.members,
  ModernUnavailable,
  PinnedVersionUnavailable,
  ModeInvalid,
  PriorInvalid,
  LegacyHandshakeFailed,
  HandshakeTimeout,
  LegacyVersionUnsupported,
  ModernOnlyServer,
  TransportFallbackExhausted,
  DiscoverRejected,
  InitializeRejected
])

/**
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type
