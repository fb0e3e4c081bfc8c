/**
 * What an authorization server says about itself (RFC 8414, OpenID Connect Discovery).
 *
 * Only what the flows here use. Endpoints are text as it came: an address is held against the policy when it is used,
 * not when it is read.
 *
 * @since 0.1.0
 */

/**
 * Metadata of an authorization server, read tolerantly: members of a wrong type, and null, count as absent.
 *
 * @category models
 * @since 0.1.0
 */
export interface AuthorizationServer {
  /** The validated issuer: the key of everything that belongs to this server (M-AUTH-19). */
  readonly issuer: string
  readonly authorizationEndpoint: string | undefined
  readonly tokenEndpoint: string
  readonly registrationEndpoint: string | undefined
  readonly revocationEndpoint: string | undefined
  readonly scopes: ReadonlyArray<string> | undefined
  readonly grantTypes: ReadonlyArray<string> | undefined
  readonly grantProfiles: ReadonlyArray<string> | undefined
  readonly tokenEndpointAuthMethods: ReadonlyArray<string> | undefined
  readonly tokenEndpointSigningAlgorithms: ReadonlyArray<string> | undefined
  readonly codeChallengeMethods: ReadonlyArray<string> | undefined
  readonly dpopAlgorithms: ReadonlyArray<string> | undefined
  /** Whether it takes the URL of a client id metadata document as a client id. */
  readonly clientIdMetadataDocument: boolean
  /** Whether it promises `iss` in its answers (RFC 9207). */
  readonly issParameter: boolean
  /**
   * How it was found. `metadata`: named by the server's protected resource metadata. `origin`: the server has none, and
   * its own origin has metadata. `convention`: neither, so the paths of 2025-03-26 are assumed (A-3-8).
   */
  readonly found: "metadata" | "origin" | "convention"
}
