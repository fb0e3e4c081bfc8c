/**
 * The wire of Streamable HTTP.
 *
 * Every exchange runs in a fiber of its own, so that it can outlive the answer (a connection is used again only when its
 * stream was read to the end) and be ended with the wire.
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Header from "@mcp-effect/protocol/Header"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { RequestInit } from "effect/http/FetchHttpClient"
import * as Headers from "effect/http/Headers"
import { type HttpClient, TracerDisabledWhen } from "effect/http/HttpClient"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { Dialect, ExchangeOptions, Incoming, Wire } from "../Transport.ts"
import { Closed, MalformedReply, type Reason, ResponseLost, TransportError } from "../TransportError.ts"
import * as Envelope from "./envelope.ts"
import * as EventStream from "./eventStream.ts"
import { excerpt } from "./excerpt.ts"
import * as Body from "./httpBody.ts"
import * as Call from "./httpCall.ts"
import * as Reply from "./httpReply.ts"

export interface Options {
  readonly client: HttpClient
  readonly endpoint: string
  readonly url: string
  /** Headers of every request, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly init: RequestInit["Service"]
  readonly hear: (message: Incoming) => void
}

/** How long a stream may stay open after its answer before the connection is given up. */
const linger = "500 millis"

/** How long a cancellation may take to be sent. */
const cancelPatience = "10 seconds"

const names = {
  accept: "accept",
  method: Header.method.toLowerCase(),
  name: Header.name.toLowerCase(),
  session: Header.sessionId.toLowerCase(),
  version: Header.protocolVersion.toLowerCase()
}

const bothForms = "application/json, text/event-stream"

/** What a session id may be made of (L-HTTP-14). */
const sessionId = /^[\u0021-\u007e]+$/

interface Running {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly end: (failure: TransportError) => void
}

export const open = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Wire, never, Scope.Scope> {
  const { client, endpoint, hear, url } = options
  const limit = yield* Defaults.MaxMessageBytes
  const deleteTimeout = yield* Defaults.SessionDeleteTimeout
  const diagnostics = yield* Diagnostics
  const init = { ...options.init, redirect: "manual" as const }
  const hidden = [names.session, ...Object.keys(options.headers)]
  const running = new Set<Running>()
  const cancelling = new Set<Fiber.Fiber<unknown, unknown>>()
  const gone = Deferred.makeUnsafe<never, TransportError>()
  let closed: TransportError | undefined
  let session: { readonly id: string; revision: Dialect; lost: boolean } | undefined

  /** The caller's context, with what a request of ours needs on top. */
  const equip = (context: Context.Context<never>): Context.Context<never> => {
    const theirs = Context.getOrUndefined(context, RequestInit)
    const equipped = Context.add(
      Context.add(context, RequestInit, theirs === undefined ? init : { ...theirs, ...init }),
      Headers.CurrentRedactedNames,
      [...Context.get(context, Headers.CurrentRedactedNames), ...hidden]
    )
    // Without a tracing backend nobody sees the span of a request.
    return Context.get(context, Tracer.Tracer) === Tracer.nativeTracer
      ? Context.add(equipped, TracerDisabledWhen, () => true)
      : equipped
  }
  const context = equip(yield* Effect.context())
  const report = (diagnostic: Diagnostic) => void Effect.runForkWith(context)(diagnostics(diagnostic))
  const failed = (reason: Reason) => new TransportError({ endpoint, reason })

  const headersOf = (
    message: JsonRpc.Message,
    { habits, version }: Dialect,
    mirrored: ExchangeOptions["mirrored"]
  ): Record<string, string> => {
    const headers: Record<string, string> = { ...options.headers, [names.accept]: bothForms }
    const method = "method" in message ? message.method : undefined
    const opening = method === "initialize"
    if (habits.http.versionHeader === "always" || !opening) headers[names.version] = version
    if (habits.http.session && !opening && session !== undefined) headers[names.session] = session.id
    if (!habits.http.routingHeaders || method === undefined) return headers
    headers[names.method] = method
    const name = "params" in message ? Header.nameOf(method, message.params) : undefined
    if (name !== undefined) headers[names.name] = name
    for (const [parameter, value] of mirrored ?? []) headers[parameter.toLowerCase()] = value
    return headers
  }

  /** POSTs a message; fails with `HttpRejected` on any status outside 2xx. */
  const post = Effect.fnUntraced(function* (
    message: JsonRpc.Message,
    revision: Dialect,
    mirrored?: ExchangeOptions["mirrored"]
  ) {
    const headers = headersOf(message, revision, mirrored)
    const carried = Object.hasOwn(headers, names.session) ? session : undefined
    if (carried !== undefined) carried.revision = revision
    const sent = yield* Call.send(client, { method: "POST", url, headers, body: JSON.stringify(message) })
    if (Call.isSuccessful(sent.response)) return sent.response
    const rejected = yield* Call.rejection(sent.url, sent.response, carried !== undefined)
    if (rejected.sessionLost && carried !== undefined) carried.lost = true
    return yield* rejected
  })

  /** Reads events up to the answer, hands it over, and goes on to the end of the stream. */
  const readEvents = Effect.fnUntraced(function* (
    response: HttpClientResponse,
    request: JsonRpc.Request,
    incoming: (message: Incoming) => void,
    answer: (response: JsonRpc.Response) => void
  ) {
    let answered = false
    let failure: MalformedReply | undefined
    const malformed = (because: string, text: string): boolean => {
      failure = new MalformedReply({
        status: response.status,
        mediaType: Body.mediaTypeOf(response),
        excerpt: excerpt(text),
        because
      })
      return false
    }
    yield* EventStream.run(response, {
      limit,
      event: ({ data, event }) => {
        if (answered || event !== "message" || data === "") return true
        const value = Envelope.parse(data)
        if (Result.isFailure(value)) return malformed("an event is no JSON", data)
        const found = Reply.search(value.success, request, incoming)
        if (found._tag === "Unusable") return malformed(found.because, data)
        if (found._tag === "Answer") {
          answered = true
          answer(found.response)
        } else if (found.foreign !== undefined) {
          report(Diagnostic.UnknownResponse({ server: endpoint, id: found.foreign }))
        }
        return true
      }
    })
    if (failure !== undefined) return yield* failure
    if (!answered) return yield* new ResponseLost({ because: "the event stream ended before the answer" })
  })

  const work = Effect.fnUntraced(function* (
    request: JsonRpc.Request,
    { interim = hear, mirrored, revision }: ExchangeOptions,
    settle: (exit: Exit.Exit<JsonRpc.Response, TransportError>) => void,
    lingering: () => void
  ) {
    const response = yield* post(request, revision, mirrored)
    const answer = (found: JsonRpc.Response) => {
      if (request.method === "initialize" && revision.habits.http.session) adopt(response, found, revision)
      settle(Exit.succeed(found))
    }
    if (Body.mediaTypeOf(response) === "text/event-stream") {
      yield* readEvents(response, request, interim, (found) => {
        answer(found)
        lingering()
      })
    } else answer(yield* Reply.read(response, request, limit, interim))
  })

  /** A session begins only with a successful answer to `initialize` (L-HTTP-15, L-DEV-5). */
  const adopt = (response: HttpClientResponse, answer: JsonRpc.Response, revision: Dialect) => {
    const id = response.headers[names.session]
    session = "result" in answer && id !== undefined && sessionId.test(id) ? { id, revision, lost: false } : undefined
  }

  const cancel = (request: JsonRpc.Request, revision: Dialect) => {
    const message: JsonRpc.Notification = {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: request.id, reason: "the caller stopped waiting" }
    }
    const fiber = Effect.runForkWith(context)(
      Effect.ignore(Effect.timeoutOption(Effect.flatMap(post(message, revision), Body.discard), cancelPatience))
    )
    cancelling.add(fiber)
    fiber.addObserver(() => void cancelling.delete(fiber))
  }

  const exchange: Wire["exchange"] = (request, how) =>
    Effect.withFiber((caller) =>
      Effect.callback<JsonRpc.Response, TransportError>((resume) => {
        if (closed !== undefined) return resume(Effect.fail(closed))
        const run = Effect.runForkWith(equip(caller.context))
        let settled = false
        let entry: Running | undefined
        let timer: Fiber.Fiber<void> | undefined
        const settle = (exit: Exit.Exit<JsonRpc.Response, TransportError>) => {
          if (settled) return
          settled = true
          resume(exit)
        }
        const fiber = run(
          Effect.mapError(
            work(request, how, settle, () => {
              timer = run(
                Effect.delay(
                  Effect.sync(() => entry?.fiber.interruptUnsafe()),
                  linger
                )
              )
            }),
            failed
          )
        )
        entry = { fiber, end: (failure) => settle(Exit.fail(failure)) }
        const current = entry
        running.add(current)
        fiber.addObserver((exit) => {
          running.delete(current)
          timer?.interruptUnsafe()
          if (Exit.isFailure(exit)) settle(Exit.failCause(exit.cause))
        })
        return Effect.suspend(() => {
          const { cancellation } = how.revision.habits.http
          if (cancellation === "notification" && how.onInterrupt !== "silent" && request.method !== "initialize") {
            cancel(request, how.revision)
          }
          return Fiber.interrupt(fiber)
        })
      })
    )

  const send: Wire["send"] = (message, revision) =>
    Effect.suspend(() =>
      closed === undefined
        ? Effect.withFiber((caller) =>
            Effect.provideContext(
              Effect.mapError(Effect.flatMap(post(message, revision), Body.discard), failed),
              equip(caller.context)
            )
          )
        : Effect.fail(closed)
    )

  /** Ends the session on the server, which may refuse (L-HTTP-17). */
  const leave = Effect.suspend(() => {
    if (session === undefined || session.lost) return Effect.void
    const headers = {
      ...options.headers,
      [names.session]: session.id,
      [names.version]: session.revision.version
    }
    return Effect.flatMap(Call.send(client, { method: "DELETE", url, headers }), ({ response }) =>
      Body.discard(response)
    )
  })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      const failure = failed(new Closed({ because: "this side closed it" }))
      closed = failure
      for (const { end, fiber } of running) {
        end(failure)
        fiber.interruptUnsafe()
      }
      Deferred.doneUnsafe(gone, Exit.fail(failure))
      return Fiber.awaitAll(cancelling).pipe(
        Effect.andThen(leave),
        Effect.timeoutOption(deleteTimeout),
        Effect.ignore,
        Effect.provideContext(context)
      )
    })
  )

  return { exchange, send, ended: Deferred.await(gone) }
})
