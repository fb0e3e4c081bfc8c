/**
 * An `HttpClient` for Node, over the dispatchers of `undici`.
 *
 * A request costs less with it than with the undici layer of `@effect/platform-node` or with `fetch`
 * (`docs/decisions/0011-http-on-node.md` has the figures); it is an ordinary client otherwise, so hooks, retries and other
 * transforms go on top of it. It follows no redirects, keeps no cookies, undoes no compression and has no time limit but
 * the one for connecting, so limits are the caller's. It needs the package `undici`, 7.16 or later, which programs add
 * themselves; no other module imports it or this one.
 *
 * @example
 * ```ts
 * McpClient.connect("https://example.com/mcp").pipe(Effect.provide(NodeHttp.layer))
 * ```
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Cookies from "effect/http/Cookies"
import * as Headers from "effect/http/Headers"
import type { HttpBody } from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as Url from "effect/http/Url"
import type { UrlParams } from "effect/http/UrlParams"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { pipeArguments } from "effect/Pipeable"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Socket } from "effect/socket/Socket"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { Readable } from "node:stream"
import type { Agent, Dispatcher } from "undici"
import * as Direct from "./internal/direct.ts"
import * as Dispatch from "./internal/dispatch.ts"

/**
 * Makes a client of a dispatcher that the caller owns: a pool, a proxy agent, a mock. Fails as every `HttpClient`:
 * `TransportError` when no response came, `EncodeError` when the request's own stream failed, `DecodeError` when the body
 * of the response broke. An interruption gives the request up, and its connection.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (dispatcher: Dispatcher): HttpClient.HttpClient => {
  const client = HttpClient.make((request, url, signal, { context }) =>
    Effect.callback((resume) => {
      const { abort } = send(dispatcher, request, url, context, resume)
      signal.addEventListener("abort", abort, { once: true })
      return Effect.sync(abort)
    })
  )
  return Direct.offer(client, (request) =>
    Effect.withFiber((fiber) => {
      const url = Url.make(request.url, request.urlParams, Option.getOrUndefined(request.hash))
      return Result.isFailure(url) || isTraced(fiber, request)
        ? client.execute(request)
        : Effect.callback((resume) => Effect.sync(send(dispatcher, request, url.success, fiber.context, resume).abort))
    })
  )
}

const isTraced = (fiber: Fiber.Fiber<unknown, unknown>, request: HttpClientRequest): boolean =>
  fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer &&
  fiber.getRef(References.TracerEnabled) &&
  !fiber.getRef(HttpClient.TracerDisabledWhen)(request)

type Resume = (outcome: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>) => void

const send = (
  dispatcher: Dispatcher,
  request: HttpClientRequest,
  url: URL,
  context: Context.Context<never>,
  resume: Resume
): { readonly abort: () => void } => {
  const { body, failure, type } = outgoing(request.body, context)
  const failed = (cause: unknown) => {
    const theirs = failure?.()
    const reason =
      theirs === undefined
        ? new HttpClientError.TransportError({ request, cause })
        : new HttpClientError.EncodeError({ request, cause: theirs.cause })
    resume(Effect.fail(new HttpClientError.HttpClientError({ reason })))
  }
  const exchange = new Dispatch.Exchange((head) => {
    const answer = new Answer(request, url, head)
    resume(Effect.succeed(answer))
    return answer
  }, failed)
  const dispatched = Result.try(() =>
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: type === undefined ? request.headers : { ...request.headers, "content-type": type },
        body,
        headersTimeout: 0,
        bodyTimeout: 0
      },
      exchange
    )
  )
  if (Result.isFailure(dispatched)) failed(dispatched.failure)
  return { abort: () => exchange.abort() }
}

interface Outgoing {
  readonly body: Uint8Array | string | Readable | null
  /** The content type that only the encoding of the body decides. */
  readonly type?: string
  /** Why the body's own stream failed. */
  readonly failure?: () => { readonly cause: unknown } | undefined
}

const outgoing = (body: HttpBody, context: Context.Context<never>): Outgoing => {
  switch (body._tag) {
    case "Empty":
      return { body: null }
    case "Uint8Array":
      return { body: body.body }
    case "Raw": {
      const { body: given } = body
      if (typeof given === "string" || given instanceof Uint8Array || given instanceof Readable) return { body: given }
      const cause = new Error("a raw body is a string, bytes or a Readable here")
      return {
        body: new Readable({
          read() {
            this.destroy(cause)
          }
        }),
        failure: () => ({ cause })
      }
    }
    case "FormData": {
      const { body: encoded, headers } = new Response(body.formData)
      return { body: Readable.from(encoded ?? []), type: headers.get("content-type") ?? "multipart/form-data" }
    }
    case "Stream": {
      let broke: { readonly cause: unknown } | undefined
      const noted = Stream.tapError(body.stream, (cause) => Effect.sync(() => void (broke = { cause })))
      return { body: Readable.from(Stream.toAsyncIterableWith(noted, context)), failure: () => broke }
    }
  }
}

/**
 * A client over an `Agent` of `undici` with these options, which is destroyed with the scope: `connect` for certificates
 * and other TLS settings or a `socketPath`, `connections` for a bound per origin, `keepAliveTimeout`. By default an origin
 * has as many connections as requests at a time. The timeouts of headers and bodies do not apply; use `Effect.timeout`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerOptions = (options: Agent.Options): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.acquireRelease(
      Effect.map(
        Effect.promise(() => import("undici")),
        ({ Agent }) => new Agent(options)
      ),
      (agent) => Effect.promise(() => agent.destroy())
    ).pipe(Effect.map(make))
  )

/**
 * A client over an `Agent` of `undici` of its own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = layerOptions({})

/** Stateless without `stream`, so one does for all. */
const decoder = new TextDecoder()

type Read<A> = Effect.Effect<A, HttpClientError.HttpClientError>

class Answer extends Direct.Direct<Dispatch.Exchange> implements HttpClientResponse.HttpClientResponse {
  readonly [HttpIncomingMessage.TypeId] = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId] = HttpClientResponse.TypeId
  readonly request: HttpClientRequest
  readonly #url: URL
  readonly #head: Dispatch.Head
  #headers: Headers.Headers | undefined

  constructor(request: HttpClientRequest, url: URL, head: Dispatch.Head) {
    super(head.body)
    this.request = request
    this.#url = url
    this.#head = head
  }

  get status(): number {
    return this.#head.status
  }

  get url(): string {
    const { hash, href } = this.#url
    return hash === "" ? href : href.slice(0, -hash.length)
  }

  get headers(): Headers.Headers {
    return (this.#headers ??= Headers.fromInput(this.#head.headers))
  }

  get cookies(): Cookies.Cookies {
    const set = this.#head.headers["set-cookie"]
    return set === undefined ? Cookies.empty : Cookies.fromSetCookie(set)
  }

  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }

  get stream(): Stream.Stream<Uint8Array, HttpClientError.HttpClientError> {
    return Stream.fromChannel(this.body.channel(this.#broke))
  }

  get bytes(): Read<Uint8Array> {
    return Effect.callback((resume) =>
      this.body.collect((end) =>
        resume(end._tag === "Whole" ? Effect.succeed(end.bytes) : Effect.fail(this.#broke(end.cause)))
      )
    )
  }

  get arrayBuffer(): Read<ArrayBuffer> {
    return Effect.map(this.bytes, (bytes) => new Uint8Array(bytes).buffer)
  }

  get text(): Read<string> {
    return Effect.map(this.bytes, (bytes) => decoder.decode(bytes))
  }

  get json(): Read<Schema.Json> {
    return Effect.flatMap(this.text, (text) =>
      Effect.try({ try: () => (text === "" ? null : JSON.parse(text)), catch: this.#broke })
    )
  }

  get urlParamsBody(): Read<UrlParams> {
    return Effect.flatMap(this.#web, (response) => response.urlParamsBody)
  }

  get formData(): Read<FormData> {
    return Effect.flatMap(this.#web, (response) => response.formData)
  }

  /** The rare forms of a body are read by Effect's own response. */
  get #web(): Read<HttpClientResponse.HttpClientResponse> {
    return Effect.map(this.arrayBuffer, (body) =>
      HttpClientResponse.fromWeb(
        this.request,
        new Response(body, { headers: { "content-type": this.headers["content-type"] ?? "" } })
      )
    )
  }

  get upgrade(): Read<Socket> {
    const description = "this client does not hand over the connection of an HTTP upgrade"
    const reason = new HttpClientError.StatusCodeError({ request: this.request, response: this, description })
    return Effect.fail(new HttpClientError.HttpClientError({ reason }))
  }

  readonly #broke = (cause: unknown) =>
    new HttpClientError.HttpClientError({
      reason: new HttpClientError.DecodeError({ request: this.request, response: this, cause })
    })

  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status
    })
  }

  pipe() {
    return pipeArguments(this, arguments)
  }
}
