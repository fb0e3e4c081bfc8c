/**
 * Requests to authorization servers: addresses held against the policy at every hop, bodies and waiting bounded,
 * nothing of the user's session sent along.
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { RequestInit } from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type AddressRefused, EndpointFailed } from "../../AuthorizationError.ts"
import { EndpointTimeout, MaxDocumentBytes } from "./limits.ts"
import { shown } from "./address.ts"
import * as Reach from "./reach.ts"

/** How many redirects a document's address may make. */
const maxHops = 3

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The body as JSON, if it is. */
  readonly json: unknown
  /** The address that answered, to be shown. */
  readonly url: string
}

export type Failure = EndpointFailed | AddressRefused

export interface Http {
  readonly policy: Reach.Policy
  /** Fetches a document. */
  readonly get: (what: string, address: string) => Effect.Effect<Answer, Failure>
  /** Posts a form or JSON; redirects are not followed. */
  readonly post: (what: string, address: string, content: Content) => Effect.Effect<Answer, Failure>
}

export interface Content {
  /** The user named this address: it may lie inside. */
  readonly trusted?: boolean
  readonly form?: URLSearchParams
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300

/** Statuses that say nothing about what was asked: try again later. */
export const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500

/** Reads a body up to a bound; more than that, or a broken one, is cut off. */
export const read = Effect.fnUntraced(function* (response: HttpClientResponse, limit: number) {
  const decoder = new TextDecoder()
  let text = ""
  let held = 0
  yield* Effect.ignore(
    Stream.runForEachWhile(response.stream, (chunk) =>
      Effect.sync(() => {
        held += chunk.length
        if (held > limit) return false
        text += decoder.decode(chunk, { stream: true })
        return true
      })
    )
  )
  return { text: text + decoder.decode(), whole: held <= limit }
})

/** What a failed request says, without headers and bodies. */
export const reasonOf = (error: HttpClientError): string => {
  const { reason } = error
  const cause = "cause" in reason && reason.cause instanceof Error ? reason.cause : undefined
  const inner = cause?.cause instanceof Error ? cause.cause : cause
  return excerpt(inner?.message || reason._tag)
}

const requestOf = (method: "GET" | "POST", url: URL, { form, headers, json }: Content) => {
  const request = HttpClientRequest.make(method)(url.href, { headers: { ...headers, accept: "application/json" } })
  if (form !== undefined) {
    return HttpClientRequest.bodyText(request, form.toString(), "application/x-www-form-urlencoded")
  }
  return json === undefined ? request : HttpClientRequest.bodyText(request, JSON.stringify(json), "application/json")
}

const hopOf = ({ headers, status }: HttpClientResponse, from: URL): string | undefined => {
  if (status < 301 || status > 308 || headers.location === undefined) return undefined
  const { location } = headers
  return Result.getOrElse(
    Result.try(() => new URL(location, from).href),
    () => location
  )
}

export const make = Effect.fnUntraced(function* (client: HttpClient.HttpClient, policy: Reach.Policy) {
  const limit = yield* MaxDocumentBytes
  const patience = yield* EndpointTimeout
  const theirs = Option.getOrElse(Context.getOption(yield* Effect.context(), RequestInit), () => ({}))
  const { headers: _, ...init } = theirs as globalThis.RequestInit

  const once = Effect.fnUntraced(function* (
    method: "GET" | "POST",
    what: string,
    address: string,
    content: Content,
    hops: number
  ): Effect.fn.Return<Answer, Failure> {
    const url = yield* Reach.check(content.trusted === true ? { ...policy, allow: () => true } : policy, what, address)
    const failed = (because: string, status?: number) =>
      new EndpointFailed({ what, url: shown(url), because, ...(status === undefined ? {} : { status }) })
    const response = yield* client
      .execute(requestOf(method, url, content))
      .pipe(
        Effect.catch((error) =>
          error.reason._tag === "StatusCodeError"
            ? Effect.succeed(error.reason.response)
            : Effect.fail(failed(reasonOf(error)))
        )
      )
    if (response.status === 0) return yield* failed("it redirects, and this platform does not tell where to")
    const next = hopOf(response, url)
    const { text, whole } = yield* read(response, limit)
    if (!whole) return yield* failed(`its body is larger than ${limit} bytes (MaxDocumentBytes)`, response.status)
    if (next !== undefined && method === "GET") {
      if (hops >= maxHops) return yield* failed(`it redirects more than ${maxHops} times`, response.status)
      return yield* once(method, what, next, content, hops + 1)
    }
    const json = Result.try((): unknown => JSON.parse(text))
    return {
      status: response.status,
      headers: response.headers,
      json: Result.isSuccess(json) ? json.success : undefined,
      url: shown(url)
    }
  })

  const bounded = (method: "GET" | "POST", what: string, address: string, content: Content) =>
    once(method, what, address, content, 0).pipe(
      Effect.timeoutOrElse({
        duration: patience,
        orElse: () =>
          Effect.fail(
            new EndpointFailed({
              what,
              url: excerpt(address.split(/[?#]/, 1)[0] ?? ""),
              because: `no answer within ${Duration.toMillis(patience)} ms (EndpointTimeout)`
            })
          )
      }),
      Effect.provideService(RequestInit, { ...init, redirect: "manual", credentials: "omit" }),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false)
    )

  const http: Http = {
    policy,
    get: (what, address) => bounded("GET", what, address, {}),
    post: (what, address, content) => bounded("POST", what, address, content)
  }
  return http
})
