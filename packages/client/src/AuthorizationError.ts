/**
 * Ways authorization can fail, each with the facts.
 *
 * One error, `AuthorizationError`, with a closed union of reasons. It travels as the `cause` of the `HttpClientError`
 * that stands for the original 401 or 403, so a wire goes on to see that status; `Authorization.errorIn` finds it again.
 * No token, code, secret or verifier is ever in a field or a message. Text of the other side is shortened to 200 code
 * points, control characters replaced.
 *
 * The reasons are grouped by where they come from: `MetadataError`, `ClientRegistrationError`, `SignInError` and
 * `TokenError`. They are all exported here too.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { ClientIdNeeded, ClientOfOtherIssuer, RegistrationRefused } from "./ClientRegistrationError.ts"
import {
  AddressRefused,
  EndpointFailed,
  IssuerMismatch,
  MetadataInvalid,
  MetadataMissing,
  PkceUnsupported,
  ResourceMismatch
} from "./MetadataError.ts"
import {
  CallbackPortBusy,
  SignInAnswerInvalid,
  SignInDeclined,
  SignInRefused,
  SignInTimedOut,
  SignInUnavailable
} from "./SignInError.ts"
import {
  CredentialUnavailable,
  InsufficientScope,
  SigningFailed,
  TokenMalformed,
  TokenRefused,
  TokenRejected,
  TooManyRounds
} from "./TokenError.ts"

export * from "./ClientRegistrationError.ts"
export * from "./MetadataError.ts"
export * from "./SignInError.ts"
export * from "./TokenError.ts"

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
 * What to change: look at the `reason`; each says its own.
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
