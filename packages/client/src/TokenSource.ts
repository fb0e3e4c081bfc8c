/**
 * The ways to get a token, once it is known where: the seam between the machine that answers a 401 and the grants of
 * OAuth.
 *
 * Signing in is one source (the default); `ClientCredentials`, `EnterpriseAuthorization` and `WorkloadIdentity` are
 * others, and your own fits beside them. A source never sees the MCP server's traffic and keeps no tokens.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Reason } from "./AuthorizationError.ts"
import type { AuthorizationServer } from "./AuthorizationServer.ts"
import type { Client, Registering } from "./ClientRegistration.ts"

/**
 * What a token endpoint gave.
 *
 * @category models
 * @since 0.1.0
 */
export interface Issued {
  readonly accessToken: Redacted.Redacted
  readonly tokenType: "Bearer" | "DPoP"
  /** Seconds from now. */
  readonly expiresIn: number | undefined
  readonly refreshToken: Redacted.Redacted | undefined
  readonly scope: string | undefined
  /** The client it was given to, where there is one; a refresh needs the same. */
  readonly clientId?: string | undefined
}

/**
 * One request to a token endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenRequest {
  /** The endpoint of `authorizationServer` by default. */
  readonly endpoint?: string
  /** Who asks. Nobody when absent, as in workload identity. */
  readonly client?: Client
  /** The audience of a signed assertion; the issuer by default. */
  readonly audience?: string
  /** How the client may authenticate there, where it is another server than `authorizationServer`. */
  readonly authMethods?: ReadonlyArray<string>
  readonly parameters: Readonly<Record<string, string | Redacted.Redacted | undefined>>
  /** Whether `token_type` may be `N_A`: the answer is an assertion and no token for a server. */
  readonly assertion?: boolean
}

/**
 * What is wanted, and the means to get it. Requests go out within the policy for addresses, with bounds, and with DPoP
 * proofs where those are on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Asked {
  readonly authorizationServer: AuthorizationServer
  /** The value of the `resource` parameter (M-AUTH-22). */
  readonly resource: string
  /** The scopes to request; leave the parameter out when empty. */
  readonly scopes: ReadonlyArray<string>
  /** What the challenge itself named, a part of `scopes`. */
  readonly challenged: ReadonlyArray<string>
  readonly token: (request: TokenRequest) => Effect.Effect<Issued, Reason>
  /** Holds an address against the policy; for addresses that a person or a browser is sent to. */
  readonly check: (what: string, address: string) => Effect.Effect<URL, Reason>
  readonly post: Registering["post"]
  /** Revokes a token, where the server has an endpoint for it. */
  readonly revoke: (client: Client, token: Redacted.Redacted) => Effect.Effect<void, Reason>
}

/**
 * A way to get tokens.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenSource {
  /** Whether a person is asked. A source that asks nobody is also used to renew ahead of time. */
  readonly interactive: boolean
  readonly obtain: (asked: Asked) => Effect.Effect<Issued, Reason>
  /** Uses a refresh token. A source without it gets a new token instead. */
  readonly refresh?: (
    asked: Asked,
    grant: { readonly refreshToken: Redacted.Redacted; readonly clientId: string | undefined }
  ) => Effect.Effect<Issued, Reason>
  /** Called when the user signs out; with `forget` a registration of our own making is dropped too. */
  readonly leave?: (
    asked: Asked,
    grant: { readonly token: Redacted.Redacted; readonly clientId: string | undefined },
    forget: boolean
  ) => Effect.Effect<void, Reason>
}
