/**
 * Hooks into the HTTP of a connection (U-44): headers for each request, observers of responses, taking a response over.
 *
 * Each is a transform of an `HttpClient`, so hooks compose with `pipe`, with each other and with every transform of
 * Effect's own, and sit between the transport and the client that sends. `layer` applies them where the transport looks.
 *
 * @example
 * ```ts
 * StreamableHttp.layer({ url }).pipe(
 *   Layer.provide(HttpHooks.layer((client) => client.pipe(HttpHooks.headers(freshToken), HttpHooks.observe(count)))),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * @since 0.1.0
 */
import { Diagnostic, reporter } from "@mcp-effect/protocol/Diagnostic"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Address from "./internal/address.ts"
import * as Body from "./internal/httpBody.ts"
import { contained } from "./internal/contained.ts"
import { Taken } from "./internal/httpFailure.ts"

/**
 * A change to the client of one connection.
 *
 * @category models
 * @since 0.1.0
 */
export type Hook = (client: HttpClient.HttpClient) => HttpClient.HttpClient

/**
 * A response as hooks see it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Seen {
  readonly method: string
  /** The address, with secrets hidden. */
  readonly url: string
  readonly status: number
  /** Names in lower case. Some values are secrets: `mcp-session-id`, `set-cookie`. */
  readonly headers: Headers.Headers
}

/**
 * What watches the body of a response pass by. It is called synchronously; one that throws is reported and sees no more of
 * that response.
 *
 * @category models
 * @since 0.1.0
 */
export interface Watcher {
  /** Gets the bytes as the transport reads them; nothing is held back or kept. */
  readonly chunk?: (bytes: Uint8Array) => void
  /** The body has been read, or given up. */
  readonly end?: () => void
}

/**
 * What becomes of a response: it goes on, another takes its place, or it is swallowed and its request fails with
 * `ResponseTaken`.
 *
 * @category models
 * @since 0.1.0
 */
export type Decision = Data.TaggedEnum<{
  Pass: {}
  Supply: { readonly response: Response }
  Swallow: {}
}>

/**
 * Constructors of `Decision`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Decision = Data.taggedEnum<Decision>()

const seenIn = ({ headers, request, status, url }: HttpClientResponse.HttpClientResponse): Seen => ({
  method: request.method,
  url: Address.shown(url),
  status,
  headers
})

const failedHook = (request: HttpClientRequest.HttpClientRequest, cause: unknown, description: string) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, cause, description })
  })

/**
 * Adds headers to every request, asked for anew each time: a token that is refreshed, a correlation id. Their values do
 * not show in spans. What fails to give headers fails the request, as `Unreachable`.
 *
 * @category hooks
 * @since 0.1.0
 */
export const headers =
  <E>(current: Effect.Effect<Readonly<Record<string, string | Redacted.Redacted>>, E>): Hook =>
  (client) =>
    HttpClient.transform(client, (_send, request) =>
      current.pipe(
        Effect.mapError((cause) => failedHook(request, cause, "a hook gave no headers")),
        Effect.catchDefect((defect) => Effect.fail(failedHook(request, defect, "a hook gave no headers"))),
        Effect.flatMap((given) => {
          const plain = Object.entries(given).map(
            ([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value] as const
          )
          return Effect.flatMap(Headers.CurrentRedactedNames, (names) =>
            Effect.provideService(
              client.execute(HttpClientRequest.setHeaders(request, plain)),
              Headers.CurrentRedactedNames,
              [...names, ...Object.keys(given)]
            )
          )
        })
      )
    )

/**
 * Sees every response, and its body as it passes by when `look` gives a watcher. Observing never waits for a body and
 * never buffers one, so an event stream goes on as it comes. A `look` that throws or dies is reported, and the response goes
 * on without it.
 *
 * @category hooks
 * @since 0.1.0
 */
export const observe =
  (look: (seen: Seen) => Effect.Effect<Watcher | void>): Hook =>
  (client) =>
    HttpClient.transform(client, (send) =>
      Effect.flatMap(send, (response) =>
        Effect.flatMap(reporter, (report) => {
          const seen = seenIn(response)
          const failed = (because: string) =>
            report(Diagnostic.CallbackFailed({ server: seen.url, callback: observer, because, failed: 1 }))
          return Effect.suspend(() => look(seen)).pipe(
            Effect.catchDefect((defect) => Effect.sync(() => failed(excerpt(String(defect))))),
            Effect.map((watcher) => (watcher === undefined ? response : watched(response, watcher, report)))
          )
        })
      )
    )

const observer = "an observer of HTTP responses"

const watched = (
  response: HttpClientResponse.HttpClientResponse,
  watcher: Watcher,
  report: (diagnostic: Diagnostic) => void
): HttpClientResponse.HttpClientResponse => {
  const server = Address.shown(response.url)
  const chunk = contained(server, observer, watcher.chunk, report)
  const ended = Effect.sync(() => contained(server, observer, watcher.end, report)(undefined))
  const bytes = response.arrayBuffer.pipe(
    Effect.tap((buffer) => Effect.sync(() => chunk(new Uint8Array(buffer)))),
    Effect.ensuring(ended)
  )
  return Object.create(response, {
    stream: {
      get: () =>
        response.stream.pipe(
          Stream.tap((part) => Effect.sync(() => chunk(part))),
          Stream.ensuring(ended)
        )
    },
    arrayBuffer: { get: () => bytes },
    text: { get: () => Effect.map(bytes, (buffer) => new TextDecoder().decode(buffer)) }
  })
}

/**
 * Decides over every response before the transport reads it. `text` is the body, for those who want to decide by it; it
 * can be asked for once, takes at most 64 KiB, and an event stream is better left alone: its text comes with its end. A
 * `decide` that throws or dies fails the request, as `Unreachable`.
 *
 * @category hooks
 * @since 0.1.0
 */
export const takeOver =
  (decide: (seen: Seen, text: Effect.Effect<string>) => Effect.Effect<Decision>): Hook =>
  (client) =>
    HttpClient.transform(client, (send, request) =>
      Effect.flatMap(send, (response) => {
        let read: string | undefined
        const text = Effect.tap(Body.beginning(response), (body) =>
          Effect.sync(() => {
            read = body
          })
        )
        const decided = Effect.catchDefect(
          Effect.suspend(() => decide(seenIn(response), text)),
          (defect) =>
            Effect.andThen(
              read === undefined ? Body.discard(response) : Effect.void,
              Effect.fail(failedHook(request, defect, "a hook did not decide"))
            )
        )
        return Effect.flatMap(
          decided,
          Decision.$match({
            Pass: () => Effect.succeed(read === undefined ? response : withText(response, read)),
            Supply: (supplied) =>
              Effect.as(
                read === undefined ? Body.discard(response) : Effect.void,
                HttpClientResponse.fromWeb(request, supplied.response)
              ),
            Swallow: () =>
              Effect.andThen(
                read === undefined ? Body.discard(response) : Effect.void,
                Effect.fail(
                  failedHook(request, new Taken({ status: response.status }), "a hook took over the response")
                )
              )
          })
        )
      })
    )

const withText = (response: HttpClientResponse.HttpClientResponse, text: string) =>
  Object.create(response, {
    stream: { get: () => Stream.encodeText(Stream.make(text)) },
    text: { get: () => Effect.succeed(text) }
  })

/**
 * Applies hooks to the client from below, for the transport above.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (hook: Hook): Layer.Layer<HttpClient.HttpClient, never, HttpClient.HttpClient> =>
  Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, hook))
