/**
 * Reasons of an `AuthorizationError` for which a sign-in came to nothing.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { about } from "./internal/authorization/wording.ts"

/**
 * Somebody has to sign in, and nobody can be asked here: no browser, no listener, or the request was one that never
 * asks, such as the DELETE that ends a session.
 *
 * What to change: sign in beforehand where somebody can be asked, or give the program a `Browser`.
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
 * What to change: free the port, or call `signOut({ forget: true })`, so that the client is registered anew with
 * another one.
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
 * What to change: sign in again, or raise `SignInTimeout`.
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
 * What to change: start the sign-in again when the user wants to.
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
 * What to change: what `error` names; it is the authorization server's own code, from RFC 6749 or its documentation.
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
 * What to change: start the sign-in again.
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
