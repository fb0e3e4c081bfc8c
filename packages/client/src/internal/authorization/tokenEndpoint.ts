/**
 * Requests to a token endpoint: how a client authenticates, proofs of possession, and a tolerant reading of the answer
 * (section 8 of the algorithm).
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Redacted from "effect/Redacted"
import { EndpointFailed, type Reason, TokenMalformed, TokenRefused } from "../../AuthorizationError.ts"
import type { AuthorizationServer } from "../../AuthorizationServer.ts"
import type { Client } from "../../ClientRegistration.ts"
import type { Dpop } from "../../Dpop.ts"
import type { Issued, TokenRequest } from "../../TokenSource.ts"
import * as Fields from "./fields.ts"
import * as Http from "./http.ts"

const what = "token endpoint"
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/** Form encoding, which RFC 6749 section 2.3.1 wants before Base64. */
const formEncoded = (text: string) => new URLSearchParams([["", text]]).toString().slice(1)

/** How this client authenticates (A-8-1). An absent list means Basic (RFC 8414). */
export const methodOf = (client: Client, offered: ReadonlyArray<string> | undefined): string => {
  if (client.assertion !== undefined) return "private_key_jwt"
  const { authMethod, secret } = client
  if (authMethod !== undefined && (offered === undefined || offered.includes(authMethod))) return authMethod
  if (secret === undefined) return "none"
  const list = offered ?? ["client_secret_basic"]
  return (
    ["client_secret_basic", "client_secret_post", "none"].find((method) => list.includes(method)) ??
    "client_secret_basic"
  )
}

const authenticate = Effect.fnUntraced(function* (
  client: Client,
  offered: ReadonlyArray<string> | undefined,
  audience: string,
  form: URLSearchParams
): Effect.fn.Return<Readonly<Record<string, string>>, Reason> {
  const { assertion, clientId, secret } = client
  const method = methodOf(client, offered)
  if (assertion !== undefined && method === "private_key_jwt") {
    form.set("client_assertion_type", assertionType)
    form.set("client_assertion", Redacted.value(yield* assertion.sign({ clientId, audience })))
    return {}
  }
  if (secret !== undefined && method === "client_secret_basic") {
    const pair = `${formEncoded(clientId)}:${formEncoded(Redacted.value(secret))}`
    return { authorization: `Basic ${Base64.encode(pair)}` }
  }
  form.set("client_id", clientId)
  if (secret !== undefined && method === "client_secret_post") form.set("client_secret", Redacted.value(secret))
  return {}
})

const typeOf = (document: Fields.Document, { assertion = false }: TokenRequest): "Bearer" | "DPoP" | undefined => {
  const type = Fields.text(document, "token_type")?.toLowerCase() ?? "bearer"
  if (type === "bearer" || (type === "n_a" && assertion)) return "Bearer"
  return type === "dpop" ? "DPoP" : undefined
}

const refusal = (answer: Http.Answer, document: Fields.Document) => {
  const description = Fields.text(document, "error_description")
  return new TokenRefused({
    url: answer.url,
    status: answer.status,
    error: excerpt(Fields.text(document, "error") ?? `HTTP ${answer.status}`),
    ...(description === undefined ? {} : { description: excerpt(description) })
  })
}

const read = (answer: Http.Answer, request: TokenRequest, bound: boolean): Effect.Effect<Issued, Reason> => {
  const { status, url } = answer
  const document = Fields.isDocument(answer.json) ? answer.json : {}
  // Large providers answer 200 with an error inside (A-8-3).
  const error = Fields.text(document, "error")
  if (Http.isPassing(status) || error === "temporarily_unavailable") {
    return Effect.fail(new EndpointFailed({ what, url, status, because: excerpt(error ?? "it has trouble") }))
  }
  if (error !== undefined || !Http.isSuccess(answer)) return Effect.fail(refusal(answer, document))
  const malformed = (because: string) => Effect.fail(new TokenMalformed({ url, because }))
  const accessToken = Fields.text(document, "access_token")
  if (accessToken === undefined) return malformed("it has no `access_token`")
  const tokenType = typeOf(document, request)
  if (tokenType === undefined) return malformed("its `token_type` is neither Bearer nor DPoP")
  if (bound !== (tokenType === "DPoP") && request.assertion !== true) {
    return malformed(bound ? "a DPoP token was asked for, and another came" : "a DPoP token came unasked")
  }
  const refreshToken = Fields.text(document, "refresh_token")
  return Effect.succeed({
    accessToken: Redacted.make(accessToken),
    tokenType,
    // Nothing is good for no time at all; such a number only means that the server does not know.
    expiresIn: Fields.count(document, "expires_in") || undefined,
    refreshToken: refreshToken === undefined ? undefined : Redacted.make(refreshToken),
    scope: Fields.text(document, "scope"),
    clientId: request.client?.clientId
  })
}

/** Whether proofs are sent: they are on, and the server takes our algorithm. */
const proves = (dpop: Dpop | undefined, { dpopAlgorithms }: AuthorizationServer) =>
  dpop !== undefined && dpopAlgorithms?.includes(dpop.algorithm) === true

export const ask = Effect.fnUntraced(function* (
  {
    dpop,
    http,
    server
  }: { readonly http: Http.Http; readonly server: AuthorizationServer; readonly dpop: Dpop | undefined },
  request: TokenRequest
): Effect.fn.Return<Issued, Reason> {
  const { audience = server.issuer, client, endpoint = server.tokenEndpoint } = request
  const offered = request.endpoint === undefined ? server.tokenEndpointAuthMethods : request.authMethods
  const proof = proves(dpop, server) && request.assertion !== true ? dpop : undefined

  const once = Effect.fnUntraced(function* () {
    const form = new URLSearchParams()
    for (const [name, value] of Object.entries(request.parameters)) {
      if (value !== undefined) form.set(name, typeof value === "string" ? value : Redacted.value(value))
    }
    const credentials = client === undefined ? {} : yield* authenticate(client, offered, audience, form)
    const proofs = proof === undefined ? {} : { dpop: yield* proof.prove({ method: "POST", url: endpoint }) }
    const trusted = request.endpoint !== undefined
    return yield* http.post(what, endpoint, { form, headers: { ...credentials, ...proofs }, trusted })
  })

  let answer = yield* once()
  if (proof !== undefined && (yield* proof.heard(endpoint, answer.headers))) {
    const error = Fields.isDocument(answer.json) ? Fields.text(answer.json, "error") : undefined
    if (error === "use_dpop_nonce") answer = yield* once()
  }
  return yield* read(answer, request, proof !== undefined)
})

/** Tells the server that a token is not used any more (RFC 7009). A server without the endpoint is not told. */
export const revoke = Effect.fnUntraced(function* (
  http: Http.Http,
  server: AuthorizationServer,
  client: Client,
  token: Redacted.Redacted
): Effect.fn.Return<void, Reason> {
  const { issuer, revocationEndpoint, tokenEndpointAuthMethods } = server
  if (revocationEndpoint === undefined) return
  const form = new URLSearchParams({ token: Redacted.value(token) })
  const headers = yield* authenticate(client, tokenEndpointAuthMethods, issuer, form)
  yield* http.post("revocation endpoint", revocationEndpoint, { form, headers })
})
