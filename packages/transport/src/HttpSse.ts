/**
 * A server behind a URL, spoken to over HTTP+SSE, the transport of 2024-11-05.
 *
 * One long event stream carries everything the server says; its first event names the address to which each message is
 * POSTed. There is no session beyond the stream and no taking it up again: when it ends, the wire is gone (L-SSE-6).
 * `StreamableHttp` offers this transport for the same URL as its last step, so name it only for a server known to be old.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as HttpTarget from "./internal/httpTarget.ts"
import * as SseWire from "./internal/sseWire.ts"
import { Transport } from "./Transport.ts"

/**
 * Where the server is, and what every request to it carries.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The address of the event stream. Credentials in it are treated as `StreamableHttp` treats them. */
  readonly url: string | URL
  /** Headers of every request; none of them shows in logs, spans or errors. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>>
  /** The address for messages, for servers behind a proxy that breaks the one they name. May be relative to `url`. */
  readonly messageUrl?: string | URL
}

/**
 * Makes the transport. `open` fails with `HttpRejected` or `MalformedReply` when the URL gives no event stream, when no
 * `endpoint` event comes within `Defaults.EndpointTimeout`, and when that event names another origin (L-SSE-3).
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Transport["Service"], never, HttpClient> {
  const { place, target } = yield* HttpTarget.make(options, [])
  return Transport.of({
    kind: "sse",
    ...place,
    reopenable: true,
    open: (hear) =>
      Effect.flatMap(target, (target) => SseWire.open({ target, hear, messageUrl: options.messageUrl?.toString() }))
  })
})

/**
 * The transport as a layer.
 *
 * @example
 * ```ts
 * HttpSse.layer({ url: "https://example.com/sse" }).pipe(Layer.provide(FetchHttpClient.layer))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Transport, never, HttpClient> =>
  Layer.effect(Transport, make(options))
