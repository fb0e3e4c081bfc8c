/**
 * Tokens for a workload that its platform already vouches for (draft extension, off unless you use this).
 *
 * The platform's JWT is handed over as an assertion; there is no client id, no secret and no registration. A refusal is
 * final: no second try, no other grant (A-11-11).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { CredentialUnavailable } from "./AuthorizationError.ts"
import * as Scopes from "./internal/authorization/scopes.ts"
import type { TokenSource } from "./TokenSource.ts"

/**
 * Gives the workload's JWT for an authorization server. Asked each time a token is needed, so that it may read a file
 * that the platform renews. Which of the two is the audience depends on the server: its draft says the token endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export type Workload = (server: {
  readonly issuer: string
  readonly tokenEndpoint: string
}) => Effect.Effect<Redacted.Redacted, CredentialUnavailable>

/**
 * The source.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (workload: Workload): TokenSource => ({
  interactive: false,
  obtain: ({ authorizationServer, resource, scopes, token }) =>
    Effect.flatMap(workload(authorizationServer), (assertion) =>
      token({
        parameters: {
          grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
          assertion,
          resource,
          scope: Scopes.format(scopes)
        }
      })
    )
})
