/**
 * Ways authorization can fail, each with the facts.
 *
 * One error, `AuthorizationError`, with a closed union of reasons. It travels as the `cause` of the `HttpClientError`
 * that stands for the original 401 or 403, so a wire goes on to see that status; `Authorization.errorIn` finds it again.
 * No token, code, secret or verifier is ever in a field or a message. Text of the other side is shortened to 200 code
 * points, control characters replaced.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const about = (error: string, description: string | undefined) =>
  description === undefined || description === "" ? error : `${error} (${description})`

const listed = (items: ReadonlyArray<string>) => (items.length === 0 ? "none" : items.join(", "))

/**
 * A document or an endpoint could not be reached, or answered with a status that says nothing (429, 5xx). Nothing was
 * thrown away; asking again may help.
 *
 * @category errors
 * @since 0.1.0
 */
export class EndpointFailed extends Schema.TaggedError<EndpointFailed>()("EndpointFailed", {
  /** What was asked, for example `token endpoint`. */
  what: Schema.String,
  url: Schema.String,
  /** Absent when there was no answer. */
  status: Schema.optionalKey(Schema.Finite),
  because: Schema.String
}) {
  override get message() {
    const status = this.status === undefined ? "" : ` (HTTP ${this.status})`
    return `the ${this.what} ${this.url} failed${status}: ${this.because}. Nothing was lost; try again later`
  }
}

/**
 * A document says something that cannot be used.
 *
 * @category errors
 * @since 0.1.0
 */
export class MetadataInvalid extends Schema.TaggedError<MetadataInvalid>()("MetadataInvalid", {
  what: Schema.String,
  url: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `the ${this.what} at ${this.url} cannot be used: ${this.because}. The server's operator has to correct it`
  }
}

/**
 * The protected resource metadata speaks for another resource than the server in use (RFC 9728 section 3.3, A-2-5).
 *
 * @category errors
 * @since 0.1.0
 */
export class ResourceMismatch extends Schema.TaggedError<ResourceMismatch>()("ResourceMismatch", {
  expected: Schema.String,
  found: Schema.String,
  url: Schema.String
}) {
  override get message() {
    return `the metadata at ${this.url} is for ${this.found}, not for ${this.expected}. No sign-in was started; check the server's URL`
  }
}

/**
 * The server names an authorization server that publishes no metadata.
 *
 * @category errors
 * @since 0.1.0
 */
export class MetadataMissing extends Schema.TaggedError<MetadataMissing>()("MetadataMissing", {
  issuer: Schema.String,
  tried: Schema.Array(Schema.String)
}) {
  override get message() {
    return `the authorization server ${this.issuer} has no metadata; tried ${listed(this.tried)}`
  }
}

/**
 * A document or an answer names another issuer than the one expected (M-AUTH-12, M-AUTH-26). Where `where` is
 * `metadata`, the only way around is to name the issuer you trust in the options.
 *
 * @category errors
 * @since 0.1.0
 */
export class IssuerMismatch extends Schema.TaggedError<IssuerMismatch>()("IssuerMismatch", {
  where: Schema.Literals(["metadata", "response", "configuration"]),
  expected: Schema.String,
  /** Absent when a promised `iss` did not come. */
  found: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const found = this.found === undefined ? "none" : JSON.stringify(this.found)
    switch (this.where) {
      case "metadata":
        return `the authorization server metadata for ${this.expected} names ${found} as its issuer. If that is right, set the option \`issuer\` to it`
      case "response":
        return `the answer to the sign-in should come from ${this.expected} and names ${found}. It was discarded: it may belong to another server`
      case "configuration":
        return `the option \`issuer\` is ${this.expected}, but the server names ${found}`
    }
  }
}

/**
 * The authorization server does not show that it supports PKCE with S256 (M-AUTH-13). `methods` is absent when its
 * metadata is silent; the option `assumePkce` accepts that for one server.
 *
 * @category errors
 * @since 0.1.0
 */
export class PkceUnsupported extends Schema.TaggedError<PkceUnsupported>()("PkceUnsupported", {
  issuer: Schema.String,
  methods: Schema.optionalKey(Schema.Array(Schema.String))
}) {
  override get message() {
    return this.methods === undefined
      ? `${this.issuer} does not say that it supports PKCE, so no sign-in was started. If you know that it does, set \`assumePkce\``
      : `${this.issuer} supports PKCE only with ${listed(this.methods)}, and S256 is needed. No sign-in was started`
  }
}

/**
 * An address found in metadata, in a challenge or in a redirect that must not be used: no https, or a host inside
 * (T-SEC-1, T-SEC-3). Nothing was sent to it.
 *
 * @category errors
 * @since 0.1.0
 */
export class AddressRefused extends Schema.TaggedError<AddressRefused>()("AddressRefused", {
  what: Schema.String,
  /** The address, escaped and shortened. */
  address: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `the ${this.what} ${JSON.stringify(this.address)} was refused: ${this.because}. Nothing was sent there`
  }
}

/**
 * There is no way to get a client id: none is configured for this issuer, it takes no client id metadata document of
 * ours, and it has no registration.
 *
 * @category errors
 * @since 0.1.0
 */
export class ClientIdNeeded extends Schema.TaggedError<ClientIdNeeded>()("ClientIdNeeded", {
  issuer: Schema.String
}) {
  override get message() {
    return `${this.issuer} registers no clients by itself. Register one there, and give its id (and secret) to ClientRegistration as \`preRegistered\``
  }
}

/**
 * The authorization server refused to register this client.
 *
 * @category errors
 * @since 0.1.0
 */
export class RegistrationRefused extends Schema.TaggedError<RegistrationRefused>()("RegistrationRefused", {
  issuer: Schema.String,
  status: Schema.Finite,
  error: Schema.String,
  description: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `${this.issuer} refused to register this client (HTTP ${this.status}): ${about(this.error, this.description)}. Register one by hand and give its id as \`preRegistered\``
  }
}

/**
 * A client that was registered by hand belongs to another issuer than the server now names (M-AUTH-19). Its secret was
 * not sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class ClientOfOtherIssuer extends Schema.TaggedError<ClientOfOtherIssuer>()("ClientOfOtherIssuer", {
  clientId: Schema.String,
  bound: Schema.String,
  found: Schema.String
}) {
  override get message() {
    return `the client ${this.clientId} belongs to ${this.bound}, and the server now names ${this.found}. Configure a client for that issuer`
  }
}

/**
 * Somebody has to sign in, and nobody can be asked here: no browser, no listener, or the request was one that never
 * asks, such as the DELETE that ends a session.
 *
 * @category errors
 * @since 0.1.0
 */
export class SignInUnavailable extends Schema.TaggedError<SignInUnavailable>()("SignInUnavailable", {
  because: Schema.String
}) {
  override get message() {
    return `signing in is needed and not possible here: ${this.because}`
  }
}

/**
 * The port of the registered redirect address is taken (T-OAUTH-6). No browser was opened.
 *
 * @category errors
 * @since 0.1.0
 */
export class CallbackPortBusy extends Schema.TaggedError<CallbackPortBusy>()("CallbackPortBusy", {
  port: Schema.Finite
}) {
  override get message() {
    return `port ${this.port} is in use, and the sign-in has to come back to it. Free it, or sign out with \`forget\` to register anew with another one`
  }
}

/**
 * Nobody finished the sign-in in time.
 *
 * @category errors
 * @since 0.1.0
 */
export class SignInTimedOut extends Schema.TaggedError<SignInTimedOut>()("SignInTimedOut", {
  /** The limit, in milliseconds. */
  limit: Schema.Finite
}) {
  override get message() {
    return `nobody finished the sign-in within ${this.limit} ms (SignInTimeout)`
  }
}

/**
 * The user declined (`access_denied`). Not asked again by itself.
 *
 * @category errors
 * @since 0.1.0
 */
export class SignInDeclined extends Schema.TaggedError<SignInDeclined>()("SignInDeclined", {
  issuer: Schema.String,
  description: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `the sign-in was declined: ${about("access_denied", this.description)}`
  }
}

/**
 * The authorization server answered the sign-in with an error.
 *
 * @category errors
 * @since 0.1.0
 */
export class SignInRefused extends Schema.TaggedError<SignInRefused>()("SignInRefused", {
  issuer: Schema.String,
  error: Schema.String,
  description: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `${this.issuer} refused the sign-in: ${about(this.error, this.description)}`
  }
}

/**
 * The answer to the sign-in cannot be trusted or read: its `state` is not ours, or it has no code. It was discarded.
 *
 * @category errors
 * @since 0.1.0
 */
export class SignInAnswerInvalid extends Schema.TaggedError<SignInAnswerInvalid>()("SignInAnswerInvalid", {
  because: Schema.String
}) {
  override get message() {
    return `the answer to the sign-in was discarded: ${this.because}. Start the sign-in again`
  }
}

/**
 * The token endpoint refused. `error` is the code of OAuth, for example `invalid_grant`.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenRefused extends Schema.TaggedError<TokenRefused>()("TokenRefused", {
  url: Schema.String,
  status: Schema.Finite,
  error: Schema.String,
  description: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `the token endpoint ${this.url} refused (HTTP ${this.status}): ${about(this.error, this.description)}`
  }
}

/**
 * The token endpoint answered with something that is no token.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenMalformed extends Schema.TaggedError<TokenMalformed>()("TokenMalformed", {
  url: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `the answer of the token endpoint ${this.url} cannot be used: ${this.because}`
  }
}

/**
 * The server answered 401 to a token it was just given (A-1-2). Not tried again.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenRejected extends Schema.TaggedError<TokenRejected>()("TokenRejected", {
  issuer: Schema.String,
  description: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `the server rejected a fresh token from ${about(this.issuer, this.description)}. Server and authorization server do not agree`
  }
}

/**
 * The server wants scopes that authorizing again did not bring (A-10-4).
 *
 * @category errors
 * @since 0.1.0
 */
export class InsufficientScope extends Schema.TaggedError<InsufficientScope>()("InsufficientScope", {
  /** What the server asked for, as it said it. */
  wanted: Schema.optionalKey(Schema.String),
  /** Every scope that was requested. */
  requested: Schema.Array(Schema.String)
}) {
  override get message() {
    return `the server wants the scope ${JSON.stringify(this.wanted ?? "")}; requesting ${listed(this.requested)} did not satisfy it. Sign in as somebody who may do this`
  }
}

/**
 * One operation needed more rounds of authorization than `MaxRounds` (3) allows.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManyRounds extends Schema.TaggedError<TooManyRounds>()("TooManyRounds", {
  limit: Schema.Finite
}) {
  override get message() {
    return `gave up after ${this.limit} rounds of authorization for one request (MaxRounds)`
  }
}

/**
 * A key could not be used: it cannot be read, or signing with it failed.
 *
 * @category errors
 * @since 0.1.0
 */
export class SigningFailed extends Schema.TaggedError<SigningFailed>()("SigningFailed", {
  what: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `could not sign the ${this.what}: ${this.because}. Check the key and its algorithm`
  }
}

/**
 * Credentials that the program supplies (an identity token, a workload token) could not be got.
 *
 * @category errors
 * @since 0.1.0
 */
export class CredentialUnavailable extends Schema.TaggedError<CredentialUnavailable>()("CredentialUnavailable", {
  what: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `there is no ${this.what}: ${this.because}`
  }
}

/**
 * Every reason.
 *
 * @category errors
 * @since 0.1.0
 */
export const Reason = Schema.Union([
  EndpointFailed,
  MetadataInvalid,
  ResourceMismatch,
  MetadataMissing,
  IssuerMismatch,
  PkceUnsupported,
  AddressRefused,
  ClientIdNeeded,
  RegistrationRefused,
  ClientOfOtherIssuer,
  SignInUnavailable,
  CallbackPortBusy,
  SignInTimedOut,
  SignInDeclined,
  SignInRefused,
  SignInAnswerInvalid,
  TokenRefused,
  TokenMalformed,
  TokenRejected,
  InsufficientScope,
  TooManyRounds,
  SigningFailed,
  CredentialUnavailable
])

/**
 * Every reason.
 *
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * Authorization for a server failed. Match the `reason`:
 *
 * ```ts
 * import { Authorization } from "@mcp-effect/client"
 * import { Option } from "effect"
 *
 * export const explain = (error: unknown) =>
 *   Option.match(Authorization.errorIn(error), {
 *     onNone: () => "not about authorization",
 *     onSome: ({ reason }) => (reason._tag === "SignInDeclined" ? "you said no" : reason.message)
 *   })
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class AuthorizationError extends Schema.TaggedError<AuthorizationError>()("AuthorizationError", {
  /** The MCP server, without secrets. */
  server: Schema.String,
  reason: Reason
}) {
  override get message() {
    return `${this.server}: ${this.reason.message}`
  }

  /** Whether trying again later may help, with nothing changed. */
  get retryable(): boolean {
    const { reason } = this
    return (
      reason._tag === "EndpointFailed" ||
      (reason._tag === "SignInRefused" &&
        (reason.error === "server_error" || reason.error === "temporarily_unavailable"))
    )
  }
}
