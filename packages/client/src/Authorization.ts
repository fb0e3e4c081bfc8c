/**
 * OAuth 2.1 for MCP servers over HTTP: a user signs in once, and everything after is silent.
 *
 * What comes out is an `HttpClient` that goes under a transport. It puts the server's token on every request to the
 * server's origin, renews it before its end, and answers 401 and `insufficient_scope` by finding the authorization
 * server, getting a token that will do, and sending the request again. Negotiation, calls, streams, DELETE and HTTP+SSE
 * gain it alike, and a negotiation never sees a 401 that was solved.
 *
 * Where that fails, the request ends as the original 401 or 403: an `HttpClientError` whose reason is the
 * `StatusCodeError` with that response, and whose cause is the `AuthorizationError`. A transport reads the status from
 * it as it always does and keeps the cause; `errorIn` finds it behind the error of a connection, of a call or of this
 * client; `failure` keeps the last one.
 *
 * What is kept where is `TokenStore`, how a person signs in is `AuthorizationFlow`, who this client is `ClientRegistration`.
 *
 * @since 0.1.0
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import type * as Dns from "effect/net/Dns"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { AddressRefused, AuthorizationError, EndpointFailed, type Reason } from "./AuthorizationError.ts"
import { AuthorizationFlow } from "./AuthorizationFlow.ts"
import { AuthorizationNotices } from "./AuthorizationNotice.ts"
import { ClientRegistration } from "./ClientRegistration.ts"
import type { Dpop } from "./Dpop.ts"
import * as Carrier from "./internal/authorization/carrier.ts"
import * as Grants from "./internal/authorization/grants.ts"
import * as Http from "./internal/authorization/http.ts"
import { EndpointTimeout, MaxRounds } from "./internal/authorization/limits.ts"
import { shown } from "./internal/authorization/address.ts"
import * as Resource from "./internal/authorization/resource.ts"
import * as SignIn from "./internal/authorization/signIn.ts"
import * as Vault from "./internal/authorization/vault.ts"
import type { TokenSource } from "./TokenSource.ts"
import { TokenStore } from "./TokenStore.ts"

export {
  /** @since 0.1.0 */
  EndpointTimeout,
  /** @since 0.1.0 */
  MaxDocumentBytes,
  /** @since 0.1.0 */
  MaxRounds,
  /** @since 0.1.0 */
  RenewBefore,
  /** @since 0.1.0 */
  SignInTimeout
} from "./internal/authorization/limits.ts"

/**
 * The server, and what is known about its authorization.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The URL of the MCP server, as it is given to the transport. Tokens go to its origin and nowhere else. */
  readonly server: string | URL
  /** Keeps the tokens of several users of one server apart. */
  readonly account?: string
  /**
   * The issuer you trust. Preferred where the server names several; refused are all others; and the one way to use a
   * server whose metadata names another issuer than it is published for (T-OAUTH-9).
   */
  readonly issuer?: string
  /** Scopes to request where neither the challenge nor the metadata names any. None by default. */
  readonly scopes?: ReadonlyArray<string>
  /** Signs in at a server whose metadata is silent about PKCE. Off; only for a server you know to support S256. */
  readonly assumePkce?: boolean
  /**
   * Allows an address inside (loopback, private) that a server outside names. None by default; https is wanted all the
   * same.
   */
  readonly allowInside?: (address: URL) => boolean
  /** Looks up names found in metadata, so that a public name with a private address is refused too (T-SEC-3). */
  readonly dns?: Dns.Dns["Service"]
  /** Binds tokens to a key, where the authorization server can. Off by default. */
  readonly dpop?: Dpop
}

/**
 * The authorization of one server.
 *
 * @category services
 * @since 0.1.0
 */
export class Authorization extends Context.Service<
  Authorization,
  {
    /** The client to put under a transport. */
    readonly httpClient: HttpClient.HttpClient
    /**
     * Makes sure there is a token before anything else needs one, and takes as long as a person takes. A server that
     * wants none is left alone. Call it before connecting: the limits of connections and requests go on while somebody
     * signs in, although the sign-in itself goes on too and the next request finds its token.
     */
    readonly signIn: Effect.Effect<void, AuthorizationError>
    /**
     * Drops the token here, in the store and, where the server has an endpoint for it, there. With `forget` a client
     * that registered itself is forgotten too, and will be registered anew.
     */
    readonly signOut: (options?: { readonly forget?: boolean }) => Effect.Effect<void, AuthorizationError>
    /** How the last operation that needed authorization failed; nothing once one has succeeded. */
    readonly failure: Effect.Effect<Option.Option<AuthorizationError>>
  }
>()("@mcp-effect/client/Authorization") {}

const serverOf = (server: string | URL): Result.Result<URL, AddressRefused> => {
  const parsed = Result.try(() => new URL(server))
  if (Result.isSuccess(parsed) && /^https?:$/.test(parsed.success.protocol)) return Result.succeed(parsed.success)
  return Result.fail(
    new AddressRefused({ what: "server", address: excerpt(String(server)), because: "it is no http or https URL" })
  )
}

/** Asks the server for its challenge. Nothing when it lets us in without a token. */
const challenged = (client: HttpClient.HttpClient, server: URL, dpop: Dpop | undefined) =>
  Effect.gen(function* () {
    const request = HttpClientRequest.get(server.href, { headers: { accept: "text/event-stream" } })
    const patience = yield* EndpointTimeout
    const failed = (because: string) => new EndpointFailed({ what: "server", url: shown(server), because })
    const response = yield* HttpClient.withScope(client)
      .execute(request)
      .pipe(
        Effect.catch((error) =>
          error.reason._tag === "StatusCodeError"
            ? Effect.succeed(error.reason.response)
            : Effect.fail(failed(Http.reasonOf(error)))
        ),
        Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(failed("no answer in time")) })
      )
    return response.status === 401 ? Option.some(Carrier.wantedOf(Carrier.challengeOf(response, dpop))) : Option.none()
  }).pipe(Effect.scoped)

const assemble = Effect.fnUntraced(function* (
  options: Options,
  server: URL,
  sourceOf: (vault: Vault.Vault) => TokenSource
): Effect.fn.Return<Authorization["Service"], never, HttpClient.HttpClient | TokenStore | Scope.Scope> {
  const client = yield* HttpClient.HttpClient
  const store = yield* TokenStore
  const report = yield* AuthorizationNotices
  const { account, allowInside = () => false, dns, dpop, issuer, scopes = [] } = options
  const vault = Vault.make({ store, report, server: Resource.canonical(server), account })
  const http = yield* Http.make(client, { server, allow: allowInside, dns })
  const grants = yield* Grants.make({ server, source: sourceOf(vault), issuer, scopes, dpop, http, vault, report })
  const name = shown(server)
  let failure = Option.none<AuthorizationError>()
  const fail = (reason: Reason) => new AuthorizationError({ server: name, reason })

  return {
    httpClient: Carrier.make(client, {
      server,
      name,
      grants,
      dpop,
      maxRounds: yield* MaxRounds,
      ended: (outcome) => {
        failure = Option.fromNullishOr(outcome)
      }
    }),
    signIn: Effect.gen(function* () {
      const { grant } = yield* grants.current
      if (grant !== undefined) return
      const wanted = yield* challenged(client, server, dpop)
      if (Option.isNone(wanted)) return
      yield* grants.replace(wanted.value, { mayAsk: true, mayRenew: true })
    }).pipe(Effect.mapError(fail)),
    signOut: ({ forget = false } = {}) => Effect.mapError(grants.leave(forget), fail),
    failure: Effect.sync(() => failure)
  }
})

/**
 * Authorization by signing in, for as long as the scope lives. Reads the stored token once and sends nothing.
 *
 * Fails only where `server` is no http or https URL.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<
  Authorization["Service"],
  AuthorizationError,
  HttpClient.HttpClient | TokenStore | AuthorizationFlow | ClientRegistration | Scope.Scope
> {
  const flow = yield* AuthorizationFlow
  const clients = yield* ClientRegistration
  const { assumePkce = false } = options
  const server = yield* parsed(options.server)
  return yield* assemble(options, server, (vault) => SignIn.make({ flow, clients, vault, assumePkce }))
})

/**
 * Authorization by another source of tokens: `ClientCredentials`, `EnterpriseAuthorization`, `WorkloadIdentity`, or your
 * own.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeFrom = Effect.fnUntraced(function* (
  options: Options & { readonly source: TokenSource }
): Effect.fn.Return<Authorization["Service"], AuthorizationError, HttpClient.HttpClient | TokenStore | Scope.Scope> {
  const server = yield* parsed(options.server)
  return yield* assemble(options, server, () => options.source)
})

const parsed = (server: string | URL) =>
  Effect.mapError(
    Effect.fromResult(serverOf(server)),
    (reason) => new AuthorizationError({ server: reason.address, reason })
  )

const provide = <R>(
  authorization: Effect.Effect<Authorization["Service"], AuthorizationError, R>
): Layer.Layer<HttpClient.HttpClient | Authorization, AuthorizationError, Exclude<R, Scope.Scope>> =>
  Layer.effectContext(
    Effect.map(authorization, (service) =>
      Context.make(Authorization, service).pipe(Context.add(HttpClient.HttpClient, service.httpClient))
    )
  )

/**
 * An `HttpClient` that signs in, in place of the one in the layer's input, with the `Authorization` service beside it.
 * Each call is the authorization of one server.
 *
 * @example
 * ```ts
 * const server = "https://example.com/mcp"
 * McpClient.connect(server).pipe(Effect.provide(Authorization.layer({ server })))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<
  HttpClient.HttpClient | Authorization,
  AuthorizationError,
  HttpClient.HttpClient | TokenStore | AuthorizationFlow | ClientRegistration
> => provide(make(options))

/**
 * As `layer`, with another source of tokens.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFrom = (
  options: Options & { readonly source: TokenSource }
): Layer.Layer<HttpClient.HttpClient | Authorization, AuthorizationError, HttpClient.HttpClient | TokenStore> =>
  provide(makeFrom(options))

/**
 * Just the client, where nothing else is needed: `httpClient({ server })` in place of `HttpClient.HttpClient`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const httpClient = (
  options: Options
): Effect.Effect<
  HttpClient.HttpClient,
  AuthorizationError,
  HttpClient.HttpClient | TokenStore | AuthorizationFlow | ClientRegistration | Scope.Scope
> => Effect.map(make(options), (service) => service.httpClient)

/** How deep causes are followed. */
const maxDepth = 10

/**
 * The `AuthorizationError` behind an error, through its reasons and causes: a `NegotiationError`, a `McpClientError`, an
 * `HttpClientError`. Nothing when there is none.
 *
 * @category guards
 * @since 0.1.0
 */
export const errorIn = (error: unknown): Option.Option<AuthorizationError> => {
  const seen = (value: unknown, depth: number): Option.Option<AuthorizationError> => {
    if (value instanceof AuthorizationError) return Option.some(value)
    if (typeof value !== "object" || value === null || depth >= maxDepth) return Option.none()
    for (const key of ["cause", "reason"]) {
      const inner: unknown = Reflect.get(value, key)
      const found = inner === undefined || inner === value ? Option.none() : seen(inner, depth + 1)
      if (Option.isSome(found)) return found
    }
    return Option.none()
  }
  return seen(error, 0)
}
