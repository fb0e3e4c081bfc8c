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
 * How long an answer may take is the caller's business. A client's own limits come on top: Node's `fetch` gives up after
 * five minutes without a byte (T-HTTP-10), `NodeHttp` does not.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Schedule from "effect/Schedule"
import * as HttpSse from "./HttpSse.ts"
import * as HttpTarget from "./internal/httpTarget.ts"
import * as HttpWire from "./internal/httpWire.ts"
import { Transport } from "./Transport.ts"

/**
 * Where the server is, and what every request to it carries.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The MCP endpoint. A user name and password in it are sent as `Authorization: Basic`, unless `headers` has one. They
   * and parameters that look secret do not show in `endpoint` and messages; a digest in `setting` tells such addresses
   * apart.
   */
  readonly url: string | URL
  /**
   * Headers of every request, on top of which the protocol's own are set. None of them shows in logs, spans or errors,
   * `Redacted` or not.
   */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>>
  /**
   * How broken streams of a legacy server are taken up again, unless the server names a delay; it counts the failures
   * in a row, without an event between them. By default `Defaults.ReconnectPause` doubled up to `ReconnectMaxPause`, with
   * jitter, `ReconnectAttempts` times.
   */
  readonly reconnect?: Schedule.Schedule<unknown>
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
  const { place, target } = yield* HttpTarget.make(options, HttpWire.secretHeaders)
  const context = yield* Effect.context<HttpClient>()
  return Transport.of({
    kind: "http",
    ...place,
    reopenable: true,
    open: (hear) => Effect.flatMap(target, (target) => HttpWire.open({ target, hear, reconnect: options.reconnect })),
    openHttpSse: (hear) =>
      Effect.flatMap(Effect.provideContext(HttpSse.make(options), context), ({ open }) => open(hear))
  })
})

/**
 * The transport as a layer.
 *
 * @example
 * ```ts
 * StreamableHttp.layer({ url: "https://example.com/mcp", headers: { authorization: Redacted.make("Bearer …") } }).pipe(
 *   Layer.provide(NodeHttp.layer)
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Transport, never, HttpClient> =>
  Layer.effect(Transport, make(options))
