/**
 * Reasons of an `AuthorizationError` that stand in the documents of a server and its authorization server: they cannot be
 * reached, cannot be used, or say something that must not be trusted.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { listed } from "./internal/authorization/wording.ts"

/**
 * A document or an endpoint could not be reached, or answered with a status that says nothing (429, 5xx). Nothing was
 * thrown away; asking again may help.
 *
 * What to change: try again later; see that the address in `url` can be reached from here.
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
 * What to change: nothing here: the server's operator has to correct the document at `url`.
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
 * What to change: the server's URL: write it as the metadata does, if that is the server you mean.
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
 * What to change: ask the operator; `tried` are the addresses where metadata should be.
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
 * What to change: set the option `issuer` to the one you trust, when `where` is `metadata` or `configuration`. For
 * `response` sign in again, and distrust the server if it happens twice.
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
 * What to change: set `assumePkce` if you know that it does support it; otherwise this server cannot be used safely.
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
 * What to change: nothing, unless you know the address: `allowInside` allows one inside, and https is wanted all the
 * same.
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
