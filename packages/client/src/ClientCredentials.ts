/**
 * Tokens for a program in its own name: the client credentials grant (extension
 * `io.modelcontextprotocol/oauth-client-credentials`, off unless you use this).
 *
 * The client is registered by hand, with a secret or, better, a key. Nobody is asked, and no refresh token is expected:
 * a new token is got before the old one ends.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { ClientOfOtherIssuer } from "./AuthorizationError.ts"
import type { ClientAssertion } from "./ClientAssertion.ts"
import * as Scopes from "./internal/authorization/scopes.ts"
import type { TokenSource } from "./TokenSource.ts"

/**
 * The client, and the issuer it belongs to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly clientId: string
  readonly secret?: Redacted.Redacted
  /** Signs instead of a secret; its audience is the issuer. */
  readonly assertion?: ClientAssertion
  /** Refuses to show the credentials to any other issuer. Set it where you can. */
  readonly issuer?: string
}

/**
 * The source.
 *
 * @example
 * ```ts
 * Authorization.layerFrom({
 *   server: "https://example.com/mcp",
 *   source: ClientCredentials.make({ clientId: "nightly", secret })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ assertion, clientId, issuer, secret }: Options): TokenSource => ({
  interactive: false,
  obtain: ({ authorizationServer, resource, scopes, token }) =>
    issuer !== undefined && authorizationServer.issuer !== issuer
      ? Effect.fail(new ClientOfOtherIssuer({ clientId, bound: issuer, found: authorizationServer.issuer }))
      : token({
          client: { clientId, secret, assertion },
          parameters: { grant_type: "client_credentials", resource, scope: Scopes.format(scopes) }
        })
})
