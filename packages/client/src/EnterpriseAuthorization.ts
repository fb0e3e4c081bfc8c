/**
 * Tokens by the word of an enterprise's identity provider (extension
 * `io.modelcontextprotocol/enterprise-managed-authorization`, off unless you use this).
 *
 * The user has signed in at the identity provider; your program has the identity token. It is exchanged there for an
 * assertion made out to the MCP server's authorization server (an ID-JAG), and that for an access token. The user is
 * never sent to the MCP server's own sign-in page (A-11-9).
 *
 * @since 0.1.0
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { AddressRefused, ClientOfOtherIssuer, type CredentialUnavailable, type Reason } from "./AuthorizationError.ts"
import type { AuthorizationServer } from "./AuthorizationServer.ts"
import type { Client } from "./ClientRegistration.ts"
import * as Scopes from "./internal/authorization/scopes.ts"
import type { Asked, Issued, TokenSource } from "./TokenSource.ts"

/**
 * The identity provider, and this program's client there.
 *
 * @category models
 * @since 0.1.0
 */
export interface IdentityProvider {
  readonly tokenEndpoint: string
  readonly client: Client
  /** The audience of a signed assertion there; the token endpoint by default. */
  readonly issuer?: string
  /** Gives the user's identity token; asked again when it was refused, so it may renew it. */
  readonly identityToken: Effect.Effect<Redacted.Redacted, CredentialUnavailable>
  /** Another kind of subject token, for example a refresh token got from a SAML assertion. */
  readonly subjectTokenType?: string
}

/**
 * How to make the source.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly identityProvider: IdentityProvider
  /** This program's client at the MCP server's authorization server. */
  readonly client: Client
  /**
   * The authorization server the assertion may go to. Set it where you can: without it the MCP server chooses who gets
   * the assertion and the secret.
   */
  readonly issuer?: string
}

const tokenType = (name: string) => `urn:ietf:params:oauth:token-type:${name}`

/** Assertion and secret go nowhere but to the issuer's own origin. */
const requireOwnEndpoint = ({ issuer, tokenEndpoint }: AuthorizationServer) =>
  URL.canParse(tokenEndpoint) && new URL(tokenEndpoint).origin === new URL(issuer).origin
    ? Effect.void
    : Effect.fail(
        new AddressRefused({
          what: "token endpoint",
          address: excerpt(tokenEndpoint),
          because: `it is not on the origin of its issuer ${issuer}`
        })
      )

/**
 * The source.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ client, identityProvider, issuer }: Options): TokenSource => {
  const once = Effect.fnUntraced(function* ({ authorizationServer, resource, scopes, token }: Asked) {
    const scope = Scopes.format(scopes)
    const assertion = yield* token({
      endpoint: identityProvider.tokenEndpoint,
      client: identityProvider.client,
      audience: identityProvider.issuer ?? identityProvider.tokenEndpoint,
      assertion: true,
      parameters: {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        requested_token_type: tokenType("id-jag"),
        audience: authorizationServer.issuer,
        resource,
        scope,
        subject_token: yield* identityProvider.identityToken,
        subject_token_type: identityProvider.subjectTokenType ?? tokenType("id_token")
      }
    })
    return yield* token({
      client,
      parameters: {
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: assertion.accessToken,
        resource,
        scope: assertion.scope ?? scope
      }
    })
  })

  return {
    interactive: false,
    obtain: Effect.fnUntraced(function* (asked): Effect.fn.Return<Issued, Reason> {
      const { authorizationServer } = asked
      if (issuer !== undefined && authorizationServer.issuer !== issuer) {
        const { clientId } = client
        return yield* new ClientOfOtherIssuer({ clientId, bound: issuer, found: authorizationServer.issuer })
      }
      yield* requireOwnEndpoint(authorizationServer)
      // An assertion is short-lived and good for one use: a new one may do what the first could not (A-11-10).
      return yield* once(asked).pipe(
        Effect.catchIf(
          (reason) => reason._tag === "TokenRefused" && reason.error === "invalid_grant",
          () => once(asked)
        )
      )
    })
  }
}
