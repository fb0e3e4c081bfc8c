/**
 * A server behind a URL, spoken to over Streamable HTTP.
 *
 * Each message is one POST; the answer is JSON or a stream of events. Sessions, the version header, routing headers and
 * the way of cancelling follow the habits of the revision each message is sent with, so one wire serves both eras. The
 * requests go through Effect's `HttpClient`: bring your own for proxies, retries, tokens and tracing.
 *
 * Redirects are followed by this module alone, to the same origin (T-HTTP-7). With `fetch` that means a `RequestInit` of
 * `redirect: "manual"`; other fields of a `RequestInit` in the context of `make` or of the call are kept.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { RequestInit } from "effect/http/FetchHttpClient"
import { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Schedule from "effect/Schedule"
import * as Address from "./internal/address.ts"
import * as HttpWire from "./internal/httpWire.ts"
import * as Reconnect from "./internal/reconnect.ts"
import { Transport } from "./Transport.ts"
import { TransportError, Unreachable } from "./TransportError.ts"

/**
 * Where the server is, and what every request to it carries.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The MCP endpoint. A user name and password in it are sent as `Authorization: Basic`, unless `headers` has one. They
   * and parameters that look secret do not show in `endpoint` and messages.
   */
  readonly url: string | URL
  /**
   * Headers of every request, on top of which the protocol's own are set. None of them shows in logs, spans or errors,
   * `Redacted` or not.
   */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>>
  /**
   * How broken streams of a legacy server are taken up again, unless the server names a delay. By default 250 ms doubled
   * up to 30 s, with jitter; ten failures in a row, without an event between them, are the end.
   */
  readonly reconnect?: Schedule.Schedule<unknown>
}

const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// HTTP forbids control characters; a platform's own complaint would quote the value.
const fieldValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

const headersOf = (options: Options): Result.Result<Readonly<Record<string, string>>, string> => {
  const headers = new Map<string, string>()
  for (const [name, given] of Object.entries(options.headers ?? {})) {
    const value = Redacted.isRedacted(given) ? Redacted.value(given) : given
    if (!fieldName.test(name)) return Result.fail(`${JSON.stringify(name)} is no name of a header`)
    if (!fieldValue.test(value)) return Result.fail(`the header ${name} has characters that HTTP does not allow`)
    headers.set(name.toLowerCase(), value)
  }
  return Result.succeed(Object.fromEntries(headers))
}

const urlOf = (options: Options): Result.Result<URL, string> => {
  const url = Result.try({ try: () => new URL(options.url), catch: () => "the address is no URL" })
  return Result.filterOrFail(
    url,
    ({ protocol }) => protocol === "https:" || protocol === "http:",
    () => "the address is no http or https URL"
  )
}

/**
 * Makes the transport. Nothing is sent before an exchange; an address or a header that cannot be sent fails `open` with
 * `Unreachable`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Transport["Service"], never, HttpClient> {
  const client = yield* HttpClient
  const init = Option.getOrElse(Context.getOption(yield* Effect.context(), RequestInit), () => ({}))
  const url = urlOf(options)
  const headers = headersOf(options)
  const endpoint = Address.shown(Result.isSuccess(url) ? url.success.href : String(options.url))
  const refuse = (because: string) =>
    Effect.fail(new TransportError({ endpoint, reason: new Unreachable({ because }) }))
  return Transport.of({
    kind: "http",
    endpoint,
    reopenable: true,
    open: (hear) => {
      if (Result.isFailure(url)) return refuse(url.failure)
      if (Result.isFailure(headers)) return refuse(headers.failure)
      const { authorization, url: bare } = Address.withoutCredentials(url.success)
      const all = authorization === undefined ? headers.success : { authorization, ...headers.success }
      const { reconnect = Reconnect.standard } = options
      return HttpWire.open({ client, endpoint, headers: all, hear, init, reconnect, url: bare })
    }
  })
})

/**
 * The transport as a layer.
 *
 * @example
 * ```ts
 * StreamableHttp.layer({ url: "https://example.com/mcp", headers: { authorization: Redacted.make("Bearer …") } }).pipe(
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Transport, never, HttpClient> =>
  Layer.effect(Transport, make(options))
