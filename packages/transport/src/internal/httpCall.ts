/**
 * One HTTP call of a wire: sent, redirected within bounds, and turned into a typed failure when it is refused.
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import { HttpRejected, NotJson, ResponseTaken, Unreachable } from "../TransportError.ts"
import * as Address from "./address.ts"
import * as Envelope from "./envelope.ts"
import { executeOf } from "./direct.ts"
import * as Body from "./httpBody.ts"
import { innermost, isUnsent, Taken } from "./httpFailure.ts"

/** How many redirects one call follows. */
const maxHops = 5

export interface Call {
  readonly method: "POST" | "GET" | "DELETE"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const requestOf = ({ body, headers, method, url }: Call): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.make(method)(url, { headers })
  return body === undefined ? request : HttpClientRequest.bodyText(request, body, "application/json")
}

/** A response, whatever its status. */
export interface Sent {
  readonly response: HttpClientResponse
  /** The URL that gave it. */
  readonly url: string
  /** What the client told about a status that it filtered. */
  readonly cause?: unknown
}

/** A client that filters statuses has only put the response into its error. */
const unfiltered = (
  error: HttpClientError
): Effect.Effect<Pick<Sent, "response" | "cause">, Unreachable | ResponseTaken> => {
  const { reason } = error
  if (reason._tag === "StatusCodeError") return Effect.succeed({ response: reason.response, cause: reason.cause })
  if ("cause" in reason && reason.cause instanceof Taken) {
    return Effect.fail(new ResponseTaken({ status: reason.cause.status }))
  }
  const known = { because: innermost(error), unsent: isUnsent(error) }
  return Effect.fail(
    new Unreachable("cause" in reason && reason.cause !== undefined ? { ...known, cause: reason.cause } : known)
  )
}

/** A message as the body of a call. */
export const bodyOf = (message: JsonRpc.Message): Effect.Effect<string, NotJson> =>
  Effect.fromResult(
    Result.try({ try: () => JSON.stringify(message), catch: (error) => new NotJson({ because: String(error) }) })
  )

/** Where a 307 or 308 leads, when it may be followed: the same origin, method and body kept (T-HTTP-7). */
const nextHop = (call: Call, response: HttpClientResponse): string | undefined => {
  if (response.status !== 307 && response.status !== 308) return undefined
  const target = targetOf(call.url, response)
  return target !== undefined && target.origin === new URL(call.url).origin ? target.href : undefined
}

const targetOf = (from: string, { headers }: HttpClientResponse): URL | undefined => {
  const { location } = headers
  if (location === undefined) return undefined
  const target = Result.try(() => new URL(location, from))
  return Result.isSuccess(target) ? target.success : undefined
}

/** Sends the call, and again where a redirect leads. */
export const send = (client: HttpClient, call: Call, hops = 0): Effect.Effect<Sent, Unreachable | ResponseTaken> => {
  const executed = Effect.map(executeOf(client)(requestOf(call)), (response): Pick<Sent, "response" | "cause"> => ({
    response
  }))
  return Effect.flatMap(Effect.catch(executed, unfiltered), ({ cause, response }) => {
    if (response.status === 0) {
      return Effect.fail(new Unreachable({ because: "it redirects, and this browser does not tell where to" }))
    }
    const url = nextHop(call, response)
    return url === undefined || hops >= maxHops
      ? Effect.succeed({ response, url: call.url, cause })
      : Effect.andThen(Body.discard(response), send(client, { ...call, url }, hops + 1))
  })
}

export const isSuccessful = ({ status }: HttpClientResponse): boolean => status >= 200 && status < 300

const retryAfterOf = (header: string, now: number): number | undefined => {
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1_000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** A body that speaks of the session: servers tell a lost one in many ways (T-HTTP-2, L-DEV-6). */
const speaksOfSession = /session/i

/** The failure that a status outside 2xx means. */
export const rejection = Effect.fnUntraced(function* (
  { cause, response, url }: Sent,
  carriedSession: boolean
): Effect.fn.Return<HttpRejected> {
  const { headers, status } = response
  const body = yield* Body.beginning(response)
  const retryAfter = headers["retry-after"]
  const target = status >= 300 && status < 400 ? targetOf(url, response) : undefined
  return new HttpRejected({
    status,
    mediaType: Body.mediaTypeOf(response),
    body: excerpt(body),
    error: Envelope.errorIn(body),
    challenge: headers["www-authenticate"],
    retryAfter: retryAfter === undefined ? undefined : retryAfterOf(retryAfter, yield* Clock.currentTimeMillis),
    location: target === undefined ? undefined : Address.shown(target.href),
    cause,
    sessionLost: carriedSession && (status === 404 || (status === 400 && speaksOfSession.test(body)))
  })
})
