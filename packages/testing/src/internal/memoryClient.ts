/**
 * An `HttpClient` that a scripted server answers in the same program: no socket, no promise, so that a test clock rules it.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Cookies from "effect/http/Cookies"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import { DecodeError, HttpClientError, TransportError } from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as UrlParams from "effect/http/UrlParams"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import { pipeArguments } from "effect/Pipeable"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Incoming, Serve, Sink } from "./httpServer.ts"

/** What comes of a response, one after the other. */
type Body = Queue.Queue<Uint8Array, "broken" | Cause.Done>

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const textOf = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? decoder.decode(body.body) : ""

const incomingOf = (request: HttpClientRequest.HttpClientRequest, url: URL): Incoming => ({
  method: request.method,
  path: `${url.pathname}${url.search}`,
  headers: { ...request.headers },
  body: textOf(request)
})

const decodeJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

const responseOf = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL,
  { headers, status }: Head,
  body: Body,
  leave: Effect.Effect<void>
): HttpClientResponse.HttpClientResponse => {
  const broken = (cause: unknown) => new HttpClientError({ reason: new DecodeError({ request, response, cause }) })
  const stream = Stream.fromQueue(body).pipe(
    Stream.mapError(() => broken(new Error("the connection broke"))),
    Stream.ensuring(leave)
  )
  const text = Stream.mkString(Stream.decodeText(stream))
  const json = Effect.flatMap(text, (found) => Effect.mapError(decodeJson(found), broken))
  const response: HttpClientResponse.HttpClientResponse = {
    ...Inspectable.BaseProto,
    toJSON: () => ({ _id: "HttpClientResponse", status }),
    pipe() {
      return pipeArguments(this, arguments)
    },
    [HttpClientResponse.TypeId]: HttpClientResponse.TypeId,
    [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId,
    request,
    url: url.href,
    status,
    headers: Headers.fromInput(headers),
    cookies: Cookies.empty,
    remoteAddress: Option.none(),
    stream,
    text,
    json,
    urlParamsBody: Effect.map(text, (found) => UrlParams.fromInput(new URLSearchParams(found))),
    arrayBuffer: Effect.map(text, (found) => encoder.encode(found).buffer),
    formData: Effect.suspend(() => Effect.fail(broken(new Error("a scripted server sends no forms")))),
    upgrade: Effect.suspend(() => Effect.fail(broken(new Error("a scripted server upgrades nothing"))))
  }
  return response
}

export const make = (serve: Serve): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    Effect.gen(function* () {
      const body: Body = yield* Queue.unbounded<Uint8Array, "broken" | Cause.Done>()
      const head = yield* Deferred.make<Head, HttpClientError>()
      const reset = new HttpClientError({
        reason: new TransportError({ request, description: "the connection was reset" })
      })
      let over = false
      const sink: Sink = {
        head: (status, headers) => void Deferred.doneUnsafe(head, Exit.succeed({ status, headers })),
        chunk: (text) => void Queue.offerUnsafe(body, encoder.encode(text)),
        end: () => {
          over = true
          Queue.endUnsafe(body)
        },
        destroy: () => {
          over = true
          Deferred.doneUnsafe(head, Exit.fail(reset))
          Queue.failCauseUnsafe(body, Cause.fail("broken"))
        }
      }
      const serving = yield* Effect.forkDetach(serve(incomingOf(request, url), sink), { startImmediately: true })
      // After the end of its response a server may still be at work, for another stream.
      const leave = Effect.suspend(() => (over ? Effect.void : Effect.asVoid(Fiber.interrupt(serving))))
      const answered = yield* Effect.onInterrupt(Deferred.await(head), () => leave)
      return responseOf(request, url, answered, body, leave)
    })
  )
