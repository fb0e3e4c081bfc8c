/**
 * Every way in which one question can fail by its answer: to the probe first of all, but `initialize` and the opening of
 * a channel can be answered alike, and `asked` says which it was.
 *
 * Fields are facts; `message` is computed from them and says what was asked, what came back and, except after an HTTP
 * line, what to change; `hint` is the last part alone; `isRetryable` says whether the same connect may succeed later.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { questionOf } from "./Evidence.ts"
import * as wording from "./internal/wording.ts"

const Asked = Schema.Literals(["discover", "initialize", "open again", "open httpSse"])
const Versions = Schema.Array(Schema.String)
const text = Schema.optionalKey(Schema.String)

/**
 * HTTP stayed silent at the probe. An older server answers something, so silence is an outage (P16).
 *
 * What to change: the address; `Defaults.ProbeTimeout`, for a slow server; or set mode `legacy` when only the probe is
 * never answered.
 *
 * @category probe
 * @since 0.1.0
 */
export class ProbeTimeout extends Schema.TaggedError<ProbeTimeout>()("ProbeTimeout", { asked: Asked }) {
  override get message() {
    return `asked ${questionOf(this.asked)}, heard nothing in time. ${this.hint}`
  }
  get hint() {
    return "Check the address, raise the time limit, or set mode 'legacy' if only the probe is not answered"
  }
  get isRetryable() {
    return true
  }
}

/**
 * The server was not reached: refused, unknown host, TLS, reset (P30). It says nothing about the era.
 *
 * What to change: see that the server runs, then the address, the network and the certificate. The same connect may
 * succeed later.
 *
 * @category probe
 * @since 0.1.0
 */
export class ProbeTransportFailure extends Schema.TaggedError<ProbeTransportFailure>()("ProbeTransportFailure", {
  asked: Asked,
  because: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `asked ${questionOf(this.asked)}, the server was not reached: ${this.because}. ${this.hint}`
  }
  get hint() {
    return "Check that it runs, its address, the network and the certificate"
  }
  get isRetryable() {
    return true
  }
}

/**
 * An HTTP status that ends the connect and is neither about rights nor about the era (P22, P25–P28, H12).
 *
 * What to change: it depends on the status, and `hint` says it: 3xx needs the new address, 406, 415 and 422 look like
 * an old server (mode `legacy`), 429 and 5xx need time.
 *
 * @category probe
 * @since 0.1.0
 */
export class ProbeHttpStatus extends Schema.TaggedError<ProbeHttpStatus>()("ProbeHttpStatus", {
  asked: Asked,
  status: Schema.Finite,
  /** At most 200 code points of the body. */
  body: Schema.String,
  /** How long the server asks to wait, in milliseconds. */
  retryAfter: Schema.optionalKey(Schema.Finite),
  /** Where a redirect that was not followed points to, without its query. */
  location: text
}) {
  override get message() {
    return wording.httpLine(this.status, this.body)
  }
  get hint() {
    const asked = `${questionOf(this.asked)} was answered with HTTP ${this.status}`
    if (this.status >= 300 && this.status < 400)
      return `${asked}, a redirect that is not followed. Set the address to ${this.location ?? "where the server now lives"}`
    if (this.status === 406 || this.status === 415 || this.status === 422)
      return `${asked}. Looks like an old server: set mode legacy, or \`legacyStatuses: spec\``
    if (this.status >= 500)
      return `${asked}, a fault of the server or of what stands before it. See its log, or try later`
    if (this.isRetryable)
      return `${asked}. Try again${this.retryAfter === undefined ? " later" : ` in ${Math.ceil(this.retryAfter / 1000)} s`}`
    return `${asked}. Check the address; if the server is known to be old, set mode 'legacy'`
  }
  get isRetryable() {
    return wording.isTransientStatus(this.status)
  }
}

/**
 * HTTP 401: no credentials are configured, or they were not enough (P23, H9). The body is never read as an era.
 *
 * What to change: sign in or give a token. When only the probe is refused, set mode `legacy` or begin with a saved
 * verdict.
 *
 * @category authorization
 * @since 0.1.0
 */
export class AuthorizationRequired extends Schema.TaggedError<AuthorizationRequired>()("AuthorizationRequired", {
  asked: Asked,
  status: Schema.Finite,
  body: Schema.String,
  /** The `WWW-Authenticate` header. */
  challenge: text,
  /** Why nobody could be signed in, if that was tried. */
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return wording.httpLine(this.status, this.body)
  }
  get hint() {
    const challenge = this.challenge === undefined ? "" : `; the server's challenge: ${this.challenge}`
    return (
      `${questionOf(this.asked)} needs authorization: sign in or add a token${challenge}. ` +
      "If only the probe is refused, set mode 'legacy' or connect from a saved verdict"
    )
  }
  get isRetryable() {
    return false
  }
}

/**
 * HTTP 402, 403, 407 or 451: who asks is known, and may not (P24, H9). 403 also answers a foreign `Origin`.
 *
 * What to change: use credentials that have the right, or ask the server's operator; 407 is about the proxy. When only
 * the probe is refused, set mode `legacy`.
 *
 * @category authorization
 * @since 0.1.0
 */
export class AuthorizationDenied extends Schema.TaggedError<AuthorizationDenied>()("AuthorizationDenied", {
  asked: Asked,
  status: Schema.Finite,
  body: Schema.String,
  /** Why no better credentials could be got, if that was tried. */
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return wording.httpLine(this.status, this.body)
  }
  get hint() {
    const what =
      this.status === 407
        ? "the proxy wants credentials of its own"
        : this.status === 402
          ? "the server wants payment"
          : this.status === 451
            ? "it is withheld for legal reasons"
            : "the credentials lack the right, or a gateway refuses the client"
    return (
      `${questionOf(this.asked)} was refused: ${what}. ` +
      "If only the probe is refused, set mode 'legacy' or connect from a saved verdict"
    )
  }
  get isRetryable() {
    return false
  }
}

/**
 * What came back is no answer of an MCP server: a web page, a login, another protocol (P29, H12).
 *
 * What to change: the address or the command: it leads to a web page, a login or a wrapper in place of the server.
 *
 * @category probe
 * @since 0.1.0
 */
export class MalformedProbeReply extends Schema.TaggedError<MalformedProbeReply>()("MalformedProbeReply", {
  asked: Asked,
  because: Schema.String,
  status: Schema.optionalKey(Schema.Finite),
  mediaType: text,
  excerpt: Schema.String
}) {
  override get message() {
    const facts = [this.status === undefined ? "" : `HTTP ${this.status}`, this.mediaType ?? ""].filter(
      (fact) => fact !== ""
    )
    const about = facts.length === 0 ? "" : ` (${facts.join(", ")})`
    const excerpt = this.excerpt === "" ? "" : `: "${this.excerpt}"`
    return `asked ${questionOf(this.asked)}, what came back is no MCP answer, ${this.because}${about}${excerpt}. ${this.hint}`
  }
  get hint() {
    return "Check that the address or command is that of the MCP server, and not of a web page, a login or a wrapper"
  }
  get isRetryable() {
    return false
  }
}

/**
 * The server speaks only versions that this client does not know (P3, P7, P9). It is modern, so no handshake was tried.
 *
 * What to change: update the older of the two.
 *
 * @category versions
 * @since 0.1.0
 */
export class NoMutualVersion extends Schema.TaggedError<NoMutualVersion>()("NoMutualVersion", {
  /** What the server speaks. */
  server: Versions,
  /** What this client speaks, both eras. */
  client: Versions
}) {
  override get message() {
    return (
      `asked server/discover; the server supports ${wording.versions(this.server)}; ` +
      `this client supports ${wording.versions(this.client)}. ${this.hint}`
    )
  }
  get hint() {
    return "Update the older of the two"
  }
  get isRetryable() {
    return false
  }
}

/**
 * -32020 at the probe, with `fallback: "spec"` (P11): what the headers say and what the body says differ.
 *
 * What to change: look for a proxy that changes headers, or allow the handshake with `fallback: "promised"`.
 *
 * @category strict
 * @since 0.1.0
 */
export class HeaderMismatch extends Schema.TaggedError<HeaderMismatch>()("HeaderMismatch", { said: Schema.String }) {
  override get message() {
    return `asked server/discover, heard error -32020 "${this.said}": headers and body disagree. ${this.hint}`
  }
  get hint() {
    return "Look for a proxy that changes headers, or allow the handshake with `fallback: promised`"
  }
  get isRetryable() {
    return false
  }
}

/**
 * -32021 at the probe, with `fallback: "spec"` (P11): the server wants a capability that was not declared.
 *
 * What to change: give the connection a handler for what is named in `required`, or allow the handshake with `fallback:
 * "promised"`.
 *
 * @category strict
 * @since 0.1.0
 */
export class MissingCapability extends Schema.TaggedError<MissingCapability>()("MissingCapability", {
  /** The names of the capabilities the server requires. */
  required: Schema.Array(Schema.String),
  said: Schema.String
}) {
  override get message() {
    return (
      `asked server/discover, heard error -32021 "${this.said}": ` +
      `the server requires ${this.required.length === 0 ? "a capability it does not name" : this.required.join(", ")}. ${this.hint}`
    )
  }
  get hint() {
    return "Give the connection a handler for it, or allow the handshake with `fallback: promised`"
  }
  get isRetryable() {
    return false
  }
}

/**
 * The child process ended before the era was known, and a fresh one did too, or could not help (P17, H11, H15).
 *
 * What to change: run the command by hand and see what it lacks: arguments, variables, files. `stderr` often says it.
 *
 * @category pipe
 * @since 0.1.0
 */
export class ServerExited extends Schema.TaggedError<ServerExited>()("ServerExited", {
  asked: Asked,
  code: Schema.NullOr(Schema.Finite),
  signal: Schema.NullOr(Schema.String),
  /** The last 200 code points of its standard error. */
  stderr: Schema.String
}) {
  override get message() {
    const how =
      this.signal !== null ? `by ${this.signal}` : this.code !== null ? `with code ${this.code}` : "without a code"
    return (
      `asked ${questionOf(this.asked)}, the process ended ${how}` +
      `${this.stderr === "" ? ", its standard error is empty" : `, its last words: "${this.stderr}"`}. ${this.hint}`
    )
  }
  get hint() {
    return "Run the command by hand and see what it lacks: arguments, environment entries, files"
  }
  get isRetryable() {
    return false
  }
}

/**
 * The command could not be started. A second start would fail alike, so there was none (P18).
 *
 * What to change: the spelling of the command; see that it is installed, on PATH, and may be run.
 *
 * @category pipe
 * @since 0.1.0
 */
export class SpawnFailed extends Schema.TaggedError<SpawnFailed>()("SpawnFailed", {
  command: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `asked the platform to start \`${this.command}\`, it could not: ${this.because}. ${this.hint}`
  }
  get hint() {
    return "Check the spelling, and that it is installed, on PATH and may be run"
  }
  get isRetryable() {
    return false
  }
}

/**
 * The pipe was closed before the era was known, and cannot be opened again (P17, H15).
 *
 * What to change: see the server's log. A server that closes on any first message but `initialize` needs mode `legacy`.
 *
 * @category pipe
 * @since 0.1.0
 */
export class ClosedDuringNegotiation extends Schema.TaggedError<ClosedDuringNegotiation>()("ClosedDuringNegotiation", {
  asked: Asked
}) {
  override get message() {
    return `asked ${questionOf(this.asked)}, the pipe was closed. ${this.hint}`
  }
  get hint() {
    return "See the server's log; if it closes on any first message other than initialize, set mode 'legacy'"
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
export const ProbeReason = Schema.Union([
  ProbeTimeout,
  ProbeTransportFailure,
  ProbeHttpStatus,
  AuthorizationRequired,
  AuthorizationDenied,
  MalformedProbeReply,
  NoMutualVersion,
  HeaderMismatch,
  MissingCapability,
  ServerExited,
  SpawnFailed,
  ClosedDuringNegotiation
])

/**
 * @category models
 * @since 0.1.0
 */
export type ProbeReason = typeof ProbeReason.Type
