/**
 * Reasons of an `AuthorizationError` for which there is no token, or none that the server takes.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { about, listed } from "./internal/authorization/wording.ts"

/**
 * The token endpoint refused. `error` is the code of OAuth, for example `invalid_grant`.
 *
 * What to change: sign in again for `invalid_grant`; look at the client's id and secret for `invalid_client`.
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
 * What to change: nothing here: see that `url` is a token endpoint, and tell its operator.
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
 * What to change: ask the operator: the server does not take what its authorization server gives, often because of the
 * audience.
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
 * What to change: sign in as somebody who may do this.
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
 * What to change: ask the operator why the server goes on asking, or raise `MaxRounds`.
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
 * What to change: the key or its algorithm.
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
 * What to change: what gives the program these credentials; `because` is its own.
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
