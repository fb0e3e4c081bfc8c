/**
 * Reasons of an `AuthorizationError` that have to do with who the client is: it has no id, or not the right one.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { about } from "./internal/authorization/wording.ts"

/**
 * There is no way to get a client id: none is configured for this issuer, it takes no client id metadata document of
 * ours, and it has no registration.
 *
 * What to change: register a client at the issuer, and give its id to `ClientRegistration` as `preRegistered`.
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
 * What to change: register a client by hand and give its id as `preRegistered`; `error` says what the issuer did not
 * like.
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
 * What to change: configure a client for the issuer in `found`, if you trust it.
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
