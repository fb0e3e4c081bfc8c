/**
 * The authorization code flow with PKCE: a client id, a page for a person, its answer, a token (sections 4 to 8 of the
 * algorithm).
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { AuthorizationFlow } from "../../AuthorizationFlow.ts"
import {
  ClientIdNeeded,
  ClientOfOtherIssuer,
  IssuerMismatch,
  MetadataInvalid,
  PkceUnsupported,
  type Reason,
  SignInAnswerInvalid,
  SignInDeclined,
  SignInRefused,
  SignInTimedOut
} from "../../AuthorizationError.ts"
import type { AuthorizationServer } from "../../AuthorizationServer.ts"
import type { Client, ClientRegistration } from "../../ClientRegistration.ts"
import type { Asked, Issued, TokenSource } from "../../TokenSource.ts"
import { SignInTimeout } from "./limits.ts"
import * as Random from "./random.ts"
import * as Scopes from "./scopes.ts"
import type { Vault } from "./vault.ts"

export interface Means {
  readonly flow: AuthorizationFlow["Service"]
  readonly clients: ClientRegistration["Service"]
  readonly vault: Vault
  /** Takes a server whose metadata is silent about PKCE. */
  readonly assumePkce: boolean
}

/** Who we are to a server: a client that was given, or one we registered, before or just now, and may register again. */
interface Identity {
  readonly client: Client
  readonly origin: "given" | "kept" | "new"
}

/** PKCE must be shown to be there before anything else happens (M-AUTH-13, T-OAUTH-11). */
const requirePkce = ({ codeChallengeMethods: methods, issuer }: AuthorizationServer, assume: boolean) =>
  methods === undefined
    ? assume
      ? Effect.void
      : Effect.fail(new PkceUnsupported({ issuer }))
    : methods.includes("S256")
      ? Effect.void
      : Effect.fail(new PkceUnsupported({ issuer, methods: methods.map((text) => excerpt(text)) }))

/** The client that is there already: given by hand, a document, or registered before (M-AUTH-14). */
const identify = Effect.fnUntraced(function* (
  { clients, vault }: Means,
  server: AuthorizationServer
): Effect.fn.Return<Identity | undefined, Reason> {
  const { issuer } = server
  const known = yield* clients.known(server)
  if (known !== undefined) {
    const { bind, client } = known
    const bound = bind ? yield* vault.binding(client.clientId) : undefined
    if (bound !== undefined && bound !== issuer) {
      return yield* new ClientOfOtherIssuer({ clientId: client.clientId, bound, found: issuer })
    }
    if (bind && bound === undefined) yield* vault.bind(client.clientId, issuer)
    return { client, origin: "given" }
  }
  const stored = yield* vault.client(issuer)
  if (stored === undefined) return undefined
  const now = yield* Clock.currentTimeMillis
  return stored.secretExpiresAt === undefined || stored.secretExpiresAt > now
    ? { client: stored, origin: "kept" }
    : undefined
})

/** Some servers hold a client to the scopes it was registered with, so it is registered with all it will ask for. */
const registerNow = Effect.fnUntraced(function* (
  { clients, vault }: Means,
  { authorizationServer, post }: Asked,
  { scopes }: Round,
  redirectUri: string
): Effect.fn.Return<Identity, Reason> {
  const client = yield* clients.register({ authorizationServer, post, redirectUri, scope: Scopes.format(scopes) })
  yield* vault.setClient(authorizationServer.issuer, client)
  return { client, origin: "new" }
})

/** Wanted where it brings a refresh token, and only where the server lists it (M-AUTH-35). */
const withOffline = (scopes: Scopes.Scopes, { grantTypes, scopes: offered }: AuthorizationServer): Scopes.Scopes =>
  scopes.length > 0 && offered?.includes("offline_access") === true && grantTypes?.includes("refresh_token") !== false
    ? Scopes.union(scopes, ["offline_access"])
    : scopes

/**
 * Checks an answer in the order that keeps a foreign one from having any effect: state, issuer, error, code (section 7).
 */
export const codeOf = (
  answer: URLSearchParams,
  { issParameter, issuer }: Pick<AuthorizationServer, "issuer" | "issParameter">,
  state: string
): Result.Result<Redacted.Redacted, IssuerMismatch | SignInAnswerInvalid | SignInDeclined | SignInRefused> => {
  if (!Random.same(answer.get("state") ?? "", state)) {
    return Result.fail(new SignInAnswerInvalid({ because: "its state is not the one sent" }))
  }
  const iss = answer.get("iss")
  if (iss === null ? issParameter : iss !== issuer) {
    const found = iss === null ? {} : { found: excerpt(iss) }
    return Result.fail(new IssuerMismatch({ where: "response", expected: issuer, ...found }))
  }
  const error = answer.get("error")
  if (error !== null) {
    const text = answer.get("error_description")
    const description = text === null ? {} : { description: excerpt(text) }
    return Result.fail(
      error === "access_denied"
        ? new SignInDeclined({ issuer, ...description })
        : new SignInRefused({ issuer, error: excerpt(error), ...description })
    )
  }
  const code = answer.get("code")
  return code === null || code === ""
    ? Result.fail(new SignInAnswerInvalid({ because: "it has no code" }))
    : Result.succeed(Redacted.make(code))
}

interface Round {
  readonly scopes: Scopes.Scopes
  /** Left out only for a server of 2025-03-26 that does not know the parameter (A-6-3). */
  readonly resource: string | undefined
  /** Registers another client, although there is one. */
  readonly anew?: boolean
}

const pageOf = (address: URL, { resource, scopes }: Round, parameters: Readonly<Record<string, string>>): URL => {
  const page = new URL(address)
  const scope = Scopes.format(scopes)
  const all = {
    response_type: "code",
    ...parameters,
    code_challenge_method: "S256",
    ...(scope === undefined ? {} : { scope }),
    ...(resource === undefined ? {} : { resource }),
    ...(scopes.includes("offline_access") ? { prompt: "consent" } : {})
  }
  for (const [name, value] of Object.entries(all)) page.searchParams.set(name, value)
  return page
}

/** One visit of a person, and the token for the code it brings. Tells who we were as soon as that is known. */
const visit = Effect.fnUntraced(function* (
  means: Means,
  asked: Asked,
  round: Round,
  met: (identity: Identity) => void
): Effect.fn.Return<Issued, Reason> {
  const { authorizationServer: server, check, token } = asked
  const { authorizationEndpoint, issuer } = server
  if (authorizationEndpoint === undefined) {
    const because = "it has no `authorization_endpoint`"
    return yield* new MetadataInvalid({ what: "authorization server metadata", url: issuer, because })
  }
  const address = yield* check("authorization endpoint", authorizationEndpoint)
  const known = round.anew === true ? undefined : yield* identify(means, server)
  const patience = yield* SignInTimeout
  const state = yield* Random.text(24)
  const verifier = yield* Random.text(32)
  const challenge = Base64Url.encode(yield* Random.sha256(verifier))

  const { answer, identity, redirectUri } = yield* Effect.scoped(
    Effect.gen(function* () {
      const attempt = yield* means.flow.begin({ issuer, redirectUris: known?.client.redirectUris })
      const { redirectUri } = attempt
      const identity = known ?? (yield* registerNow(means, asked, round, redirectUri))
      met(identity)
      const page = pageOf(address, round, {
        client_id: identity.client.clientId,
        redirect_uri: redirectUri,
        code_challenge: challenge,
        state
      })
      const isAnswer = (parameters: URLSearchParams) => Random.same(parameters.get("state") ?? "", state)
      const answer = yield* Effect.timeoutOrElse(attempt.visit({ address: page, issuer, isAnswer }), {
        duration: patience,
        orElse: () => Effect.fail(new SignInTimedOut({ limit: Duration.toMillis(patience) }))
      })
      return { answer, identity, redirectUri }
    })
  )
  const code = yield* Effect.fromResult(codeOf(answer, server, state))
  return yield* token({
    client: identity.client,
    parameters: {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: Redacted.make(verifier),
      resource: round.resource
    }
  })
})

/** Scopes beyond those the client was registered with; a client registered with these may have them. */
const wantsRegistering = (reason: Reason, identity: Identity | undefined) =>
  has(reason, "invalid_scope") && identity?.origin === "kept"

/** The client is not known there any more; one registered by ourselves is registered anew. */
const isForgotten = (reason: Reason) =>
  reason._tag === "TokenRefused" && (reason.error === "invalid_client" || reason.error === "unauthorized_client")

const has = (reason: Reason, ...errors: ReadonlyArray<string>) =>
  (reason._tag === "SignInRefused" || reason._tag === "TokenRefused") && errors.includes(reason.error)

export const make = (means: Means): TokenSource => {
  const { vault } = means

  /**
   * At most one more visit for a reason that another one can cure (section 12), and another where a client has to be
   * registered for more scopes than before.
   */
  const obtain = Effect.fnUntraced(function* (asked: Asked): Effect.fn.Return<Issued, Reason> {
    const { authorizationServer: server, challenged, resource } = asked
    yield* requirePkce(server, means.assumePkce)
    const round = { scopes: withOffline(asked.scopes, server), resource }
    let identity: Identity | undefined
    const go = (round: Round) => visit(means, asked, round, (met) => void (identity = met))
    let last = yield* Effect.result(go(round))
    if (Result.isFailure(last) && wantsRegistering(last.failure, identity)) {
      const again = yield* Effect.result(go({ ...round, anew: true }))
      if (Result.isSuccess(again) || again.failure._tag !== "RegistrationRefused") last = again
    }
    if (Result.isSuccess(last)) return last.success
    const reason = last.failure
    if (has(reason, "invalid_scope") && challenged.length > 0 && challenged.length < round.scopes.length) {
      return yield* go({ scopes: challenged, resource })
    }
    if (server.found !== "metadata" && has(reason, "invalid_target", "invalid_request")) {
      return yield* go({ scopes: round.scopes, resource: undefined })
    }
    if (isForgotten(reason) && identity !== undefined && identity.origin !== "given") {
      yield* vault.removeClient(server.issuer)
      return yield* go(round)
    }
    if (reason._tag === "TokenRefused" && reason.error === "invalid_grant") return yield* go(round)
    return yield* reason
  })

  return {
    interactive: true,
    obtain,
    refresh: Effect.fnUntraced(function* (asked, { clientId, refreshToken }) {
      const { authorizationServer: server, resource, token } = asked
      const identity = yield* identify(means, server)
      if (identity === undefined || identity.client.clientId !== clientId) {
        // The token was given to a client that is gone; only signing in helps.
        return yield* new ClientIdNeeded({ issuer: server.issuer })
      }
      const ask = (resource: string | undefined) =>
        token({
          client: identity.client,
          parameters: { grant_type: "refresh_token", refresh_token: refreshToken, resource }
        })
      const issued = yield* Effect.result(
        ask(resource).pipe(
          Effect.catchIf(
            (reason) => server.found !== "metadata" && has(reason, "invalid_target", "invalid_request"),
            () => ask(undefined)
          )
        )
      )
      if (Result.isFailure(issued) && isForgotten(issued.failure) && identity.origin !== "given") {
        yield* vault.removeClient(server.issuer)
      }
      return yield* Effect.fromResult(issued)
    }),
    leave: Effect.fnUntraced(function* ({ authorizationServer: server, revoke }, { clientId, token }, forget) {
      const identity = yield* identify(means, server)
      if (identity?.client.clientId === clientId && identity !== undefined) yield* revoke(identity.client, token)
      if (forget) yield* vault.removeClient(server.issuer)
    })
  }
}
