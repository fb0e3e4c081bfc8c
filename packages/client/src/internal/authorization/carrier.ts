/**
 * The `HttpClient` under the wire: puts the token on requests to the server, and answers 401 and 403 by getting one that
 * will do, then sends the request again. Both statuses mean that nothing was executed, so that is safe (A-10-5).
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import { HttpClientError, StatusCodeError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { AuthorizationError, type Reason, TokenRejected, TooManyRounds } from "../../AuthorizationError.ts"
import type { Dpop } from "../../Dpop.ts"
import * as Challenge from "./challenge.ts"
import type { Grants, Step, Wanted } from "./grants.ts"
import { read } from "./http.ts"
import * as Scopes from "./scopes.ts"
import type { Grant } from "./vault.ts"

/** Sending again with a token somebody else got is no round, but has an end too. */
const turnsPerRound = 4
/** How much of a refusal's body is kept for whoever reads it in the end. */
const maxKept = 65_536

export interface Carrying {
  readonly server: URL
  /** The server as it is shown. */
  readonly name: string
  readonly grants: Grants
  readonly dpop: Dpop | undefined
  readonly maxRounds: number
  /** Hears how each operation that needed authorization ended. */
  readonly ended: (failure: AuthorizationError | undefined) => void
}

/** What an answer asks of us. */
type Demand = { readonly _tag: "Replace" | "Widen"; readonly wanted: Wanted; readonly text: string | undefined }

export const wantedOf = (challenge: Challenge.Challenge | undefined): Wanted => {
  const scope = challenge?.parameters.get("scope")
  return { metadata: challenge?.parameters.get("resource_metadata"), scopes: Scopes.parse(scope), scope }
}

export const challengeOf = (
  response: HttpClientResponse.HttpClientResponse,
  dpop: Dpop | undefined
): Challenge.Challenge | undefined => {
  const header = response.headers["www-authenticate"]
  return header === undefined
    ? undefined
    : Challenge.choose(Challenge.parse(header), dpop === undefined ? ["bearer"] : ["dpop", "bearer"])
}

const demandOf = (response: HttpClientResponse.HttpClientResponse, dpop: Dpop | undefined): Demand | undefined => {
  const { status } = response
  if (status !== 401 && status !== 403) return undefined
  const challenge = challengeOf(response, dpop)
  const text = challenge?.parameters.get("error_description")
  const wanted = wantedOf(challenge)
  if (status === 401) return { _tag: "Replace", wanted, text }
  return challenge?.parameters.get("error") === "insufficient_scope" ? { _tag: "Widen", wanted, text } : undefined
}

/** The same answer with its body read, so that no connection waits while somebody signs in. */
const settled = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { text } = yield* read(response, maxKept)
  const headers = Object.entries(response.headers).filter(
    ([name]) => name !== "content-encoding" && name !== "content-length" && name !== "transfer-encoding"
  )
  return HttpClientResponse.fromWeb(response.request, new Response(text, { status: response.status, headers }))
})

/** A client that filters statuses has only put the response into its error. Errors of our own are final. */
const refusalIn = ({ reason }: HttpClientError) =>
  reason._tag === "StatusCodeError" && !(reason.cause instanceof AuthorizationError) ? reason.response : undefined

const refusal = () => new Response(null, { status: 401 })

const bytesOf = ({ body }: HttpClientRequest.HttpClientRequest): Uint8Array<ArrayBuffer> | undefined =>
  body._tag === "Uint8Array" ? new Uint8Array(body.body) : undefined

export const make = (client: HttpClient.HttpClient, carrying: Carrying): HttpClient.HttpClient => {
  const { dpop, ended, grants, maxRounds, name, server } = carrying
  const send = (request: HttpClientRequest.HttpClientRequest) => client.postprocess(Effect.succeed(request))
  const unsolved = (
    request: HttpClientRequest.HttpClientRequest,
    response: HttpClientResponse.HttpClientResponse,
    reason: Reason
  ) => {
    const cause = new AuthorizationError({ server: name, reason })
    ended(cause)
    return new HttpClientError({
      reason: new StatusCodeError({ request, response, cause, description: cause.message })
    })
  }

  const sign = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest, url: URL, grant: Grant) {
    const { accessToken, tokenType } = grant
    const authorization = `${tokenType} ${Redacted.value(accessToken)}`
    if (tokenType !== "DPoP" || dpop === undefined)
      return HttpClientRequest.setHeader(request, "authorization", authorization)
    const body = bytesOf(request)
    const covered = { method: request.method, url: url.href, accessToken }
    const proof = yield* dpop.prove(body === undefined ? covered : { ...covered, body })
    return HttpClientRequest.setHeaders(request, { authorization, dpop: proof })
  })

  /** Sends with the token; once more with the nonce, when a proof lacked one. */
  const carry = Effect.fnUntraced(function* (
    request: HttpClientRequest.HttpClientRequest,
    url: URL,
    grant: Grant | undefined
  ) {
    if (grant === undefined) return yield* send(request)
    const once = sign(request, url, grant).pipe(
      Effect.mapError((reason) => unsolved(request, HttpClientResponse.fromWeb(request, refusal()), reason)),
      Effect.flatMap(send)
    )
    const response = yield* once
    if (dpop === undefined || !(yield* dpop.heard(url.href, response.headers)) || response.status !== 401)
      return response
    if (challengeOf(response, dpop)?.parameters.get("error") !== "use_dpop_nonce") return response
    yield* read(response, maxKept)
    return yield* once
  })

  const operate = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest, url: URL) {
    const tried = new Set<string>()
    // A closing program opens no browser.
    const mayAsk = request.method !== "DELETE"
    let rounds = 0
    let turns = 0
    let last: Step["_tag"] | undefined

    while (true) {
      const { grant, version } = yield* grants.current
      const outcome = yield* Effect.result(carry(request, url, grant))
      const response = Result.isSuccess(outcome) ? outcome.success : refusalIn(outcome.failure)
      const demand = response === undefined ? undefined : demandOf(response, dpop)
      if (response === undefined || demand === undefined) {
        if (turns > 0 && Result.isSuccess(outcome)) ended(undefined)
        return yield* Effect.fromResult(outcome)
      }
      const refused = yield* settled(response)
      const fail = (reason: Reason) => unsolved(request, refused, reason)
      if (rounds >= maxRounds || ++turns > turnsPerRound * maxRounds) {
        return yield* fail(new TooManyRounds({ limit: maxRounds }))
      }
      if (grants.isNewer(version)) continue
      if (demand._tag === "Replace" && last === "Obtained" && grant !== undefined) {
        const description = demand.text === undefined ? {} : { description: excerpt(demand.text) }
        return yield* fail(new TokenRejected({ issuer: grant.issuer, ...description }))
      }
      const step: Step = yield* Effect.mapError(
        demand._tag === "Replace"
          ? grants.replace(demand.wanted, { mayAsk, mayRenew: last !== "Renewed" })
          : grants.widen(demand.wanted, { mayAsk, tried }),
        fail
      )
      if (step._tag === "Waited") continue
      rounds++
      last = step._tag
      if (step._tag === "Obtained") tried.add(step.scopes)
    }
  })

  /** A header of the user's own comes before everything here (A-1-1); other origins see no token (T-SEC-2). */
  const execute = (request: HttpClientRequest.HttpClientRequest) => {
    const url = Option.getOrUndefined(HttpClientRequest.toUrl(request))
    return url === undefined || url.origin !== server.origin || request.headers["authorization"] !== undefined
      ? send(request)
      : Effect.updateService(operate(request, url), Headers.CurrentRedactedNames, (names) => [...names, "dpop"])
  }

  return HttpClient.makeWith(
    Effect.flatMap((request: HttpClientRequest.HttpClientRequest) => execute(request)),
    client.preprocess
  )
}
