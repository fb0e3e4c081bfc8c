/**
 * A real authorization server (`oidc-provider`, certified for OpenID Connect) on the loopback, with its development
 * pages for signing in and for consent.
 *
 * Clients register themselves, PKCE is required, tokens are opaque, bound to a resource and short-lived, and refresh
 * tokens rotate. Besides the server itself, what an operator would do to it, and what it has seen.
 */
import * as Effect from "effect/Effect"
import { type AccessToken, Provider } from "oidc-provider"
import { listen } from "./listening.ts"

/** How long an access token lives, in seconds. */
export const tokenLife = 20

/** What the protected server authenticates with when it asks about a token. */
export const resourceServer = { client_id: "mcp-server", client_secret: "a secret of the resource server" }

export const scopes = ["mcp:tools", "mcp:write"]

/** Starts it; it ends with the scope. */
export const start = Effect.gen(function* () {
  const { origin: issuer, serve } = yield* listen
  const provider = new Provider(issuer, {
    clients: [{ ...resourceServer, redirect_uris: [], grant_types: [], response_types: [] }],
    ttl: { AccessToken: tokenLife, Grant: 3600, Interaction: 600, RefreshToken: 3600, Session: 3600 },
    cookies: { keys: ["a key of the cookies"] },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    scopes: ["openid", "offline_access", ...scopes],
    features: {
      devInteractions: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_, client) => client.clientId === resourceServer.client_id },
      registration: { enabled: true },
      revocation: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: scopes.join(" "),
          accessTokenFormat: "opaque",
          accessTokenTTL: tokenLife
        })
      }
    }
  })

  const alive = new Set<AccessToken>()
  const grants = new Set<string>()
  const exchanged: Array<string> = []
  provider.on("access_token.saved", (token) => {
    alive.add(token)
    if (token.grantId !== undefined) grants.add(token.grantId)
  })
  provider.on("grant.success", ({ oidc }) => exchanged.push(String(oidc.params?.["grant_type"])))
  let refused = 0
  provider.on("grant.error", () => void refused++)
  let registered = 0
  provider.on("registration_create.success", () => void registered++)
  const answer = provider.callback()
  serve((request, response) => void answer(request, response))

  return {
    issuer,
    /** How often tokens were given for a grant type. */
    given: (grantType: string) => exchanged.filter((each) => each === grantType).length,
    /** How often the token endpoint refused. */
    refused: () => refused,
    /** How many clients registered themselves. */
    registered: () => registered,
    /** Ends every access token, and nothing else. */
    endAccessTokens: Effect.promise(async () => {
      await Promise.all(Array.from(alive, (token) => token.destroy()))
      alive.clear()
    }),
    /** Takes back all that was ever granted: access tokens, refresh tokens, consent. */
    revokeEverything: Effect.promise(async () => {
      for (const grantId of grants) {
        await provider.AccessToken.revokeByGrantId(grantId)
        await provider.RefreshToken.revokeByGrantId(grantId)
        const grant = await provider.Grant.find(grantId)
        await grant?.destroy()
      }
      grants.clear()
      alive.clear()
    })
  }
})
