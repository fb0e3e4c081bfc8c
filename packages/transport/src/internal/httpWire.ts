/**
 * The wire of Streamable HTTP.
 *
 * Every exchange runs in a fiber of its own, so that it can outlive the answer (a connection is used again only when its
 * stream was read to the end) and be ended with the wire.
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { Diagnostic, reporter } from "@mcp-effect/protocol/Diagnostic"
import * as Header from "@mcp-effect/protocol/Header"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { Dialect, ExchangeOptions, Incoming, Plain, Standing, Wire } from "../Transport.ts"
import { Closed, type HttpRejected, type Reason, TransportError } from "../TransportError.ts"
import * as Abandoned from "./abandoned.ts"
import * as Envelope from "./envelope.ts"
import * as Body from "./httpBody.ts"
import * as Call from "./httpCall.ts"
import * as Listen from "./httpListen.ts"
import * as Reply from "./httpReply.ts"
import type { Target } from "./httpTarget.ts"
import { exchanges } from "./plain.ts"
import * as Reconnect from "./reconnect.ts"

export interface Options {
  readonly target: Target
  /** How broken streams are taken up again; by the defaults when absent. */
  readonly reconnect: Schedule.Schedule<unknown> | undefined
  readonly hear: (message: Incoming) => void
}

/** How long a stream may stay open after its answer, and at most twice that, before the connection is given up. */
const linger = "250 millis"

/** How long a cancellation may take to be sent. */
const cancelPatience = "10 seconds"

const names = {
  accept: "accept",
  lastEventId: Header.lastEventId.toLowerCase(),
  method: Header.method.toLowerCase(),
  name: Header.name.toLowerCase(),
  session: Header.sessionId.toLowerCase(),
  version: Header.protocolVersion.toLowerCase()
}

/** Headers of this transport that hold secrets. */
export const secretHeaders = [names.session]

const eventStream = "text/event-stream"
const bothForms = `application/json, ${eventStream}`

/** What a session id may be made of (L-HTTP-14). */
const sessionId = /^[\u0021-\u007e]+$/

interface Session {
  readonly id: string
  /** Whether the server has said that it is gone. */
  lost: boolean
}

interface Running {
  readonly request: JsonRpc.Request
  readonly answer: (response: JsonRpc.Response) => void
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly end: (failure: TransportError) => void
  /** Whether its answer is still waited for. */
  readonly waits: () => boolean
  /** Where it stands among those that run. */
  at: number
}

/** Puts the last one in its place. */
const remove = (running: Array<Running>, one: Running): void => {
  const last = running.pop()
  if (last === undefined || last === one) return
  running[one.at] = last
  last.at = one.at
}

export const open = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Wire, never, Scope.Scope> {
  const { hear, reconnect, target } = options
  const { client, endpoint, equip, url } = target
  const limit = yield* Defaults.MaxMessageBytes
  const bounds = yield* Envelope.bounds
  const deleteTimeout = yield* Defaults.SessionDeleteTimeout
  const report = yield* reporter
  // No set: whatever was in one when it last grew or shrank lives until the next full collection.
  const running: Array<Running> = []
  /** Where answers may come on the server's own stream. */
  const abandoned = Abandoned.make()
  const cancelling = new Set<Fiber.Fiber<unknown, unknown>>()
  const gone = Deferred.makeUnsafe<never, TransportError>()
  let closed: TransportError | undefined
  let session: Session | undefined
  /** The version of the last message after the handshake. */
  let speaking: string | undefined
  let listening: Fiber.Fiber<void> | undefined
  /** How the server's own stream stands, once that is known, and who wants to know. */
  let standing: Standing | undefined
  const toTell = new Set<(standing: Standing) => void>()
  /** Streams that are open after their answer, and how many rounds of the sweep they have left. */
  const lingering = new Map<Fiber.Fiber<unknown, unknown>, number>()
  let sweeping: Fiber.Fiber<void> | undefined

  const context = equip(yield* Effect.context())
  const failed = (reason: Reason) => new TransportError({ endpoint, reason })

  const headersOf = (
    message: JsonRpc.Message,
    { habits, version }: Dialect,
    mirrored: ExchangeOptions["mirrored"]
  ): Record<string, string> => {
    const headers: Record<string, string> = { ...target.headers, [names.accept]: bothForms }
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
  const post = (message: JsonRpc.Message, revision: Dialect, mirrored?: ExchangeOptions["mirrored"]) =>
    Effect.suspend(() => {
      const headers = headersOf(message, revision, mirrored)
      const carried = Object.hasOwn(headers, names.session) ? session : undefined
      if (Object.hasOwn(headers, names.version)) speaking = revision.version
      return Effect.flatMap(Call.bodyOf(message), (body) => sent({ method: "POST", url, headers, body }, carried))
    })

  /** GETs an event stream of the session. */
  const get = (lastEventId: string | undefined) =>
    Effect.suspend(() => {
      const headers = {
        ...target.headers,
        [names.accept]: eventStream,
        ...(session === undefined ? {} : { [names.session]: session.id }),
        ...(speaking === undefined ? {} : { [names.version]: speaking }),
        ...(lastEventId === undefined ? {} : { [names.lastEventId]: lastEventId })
      }
      return sent({ method: "GET", url, headers }, session)
    })

  const sent = (call: Call.Call, carried: Session | undefined) =>
    Effect.flatMap(Call.send(client, call), (sent) =>
      Call.isSuccessful(sent.response) ? Effect.succeed(sent.response) : refusal(sent, carried)
    )
  const streams: Listen.Options = {
    endpoint,
    limit,
    bounds,
    reconnect: reconnect === undefined ? Effect.provideContext(Reconnect.standard, context) : Effect.succeed(reconnect),
    report,
    get
  }

  const work = (
    request: JsonRpc.Request,
    { interim = hear, mirrored, revision }: ExchangeOptions,
    settle: (exit: Exit.Exit<JsonRpc.Response, TransportError>) => void,
    lingering: () => void
  ) =>
    Effect.flatMap(post(request, revision, mirrored), (response) => {
      const answer = (found: JsonRpc.Response) => {
        if (request.method === "initialize" && revision.habits.http.session) adopt(response, found)
        settle(Exit.succeed(found))
      }
      return Listen.isEventStream(response)
        ? Listen.answerFrom(streams, response, request, revision.habits.http.resumption, interim, (found) => {
            answer(found)
            lingering()
          })
        : Effect.map(Reply.read(response, request, limit, bounds, interim), answer)
    })

  /** A session begins only with a successful answer to `initialize` (L-HTTP-15, L-DEV-5). */
  const adopt = (response: HttpClientResponse, answer: JsonRpc.Response) => {
    const id = response.headers[names.session]
    session = "result" in answer && id !== undefined && sessionId.test(id) ? { id, lost: false } : undefined
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

  /** Gives up streams that stayed open for a whole round and more; one fiber for all of them, while there are any. */
  const sweep: Effect.Effect<void> = Effect.suspend(() => {
    for (const [fiber, rounds] of lingering) {
      if (rounds > 0) lingering.set(fiber, rounds - 1)
      else {
        lingering.delete(fiber)
        fiber.interruptUnsafe()
      }
    }
    if (lingering.size > 0) return Effect.delay(sweep, linger)
    sweeping = undefined
    return Effect.void
  })

  const letLinger = (fiber: Fiber.Fiber<unknown, unknown>) => {
    // What closes the wire with its answer is interrupted already.
    if (closed !== undefined) return
    lingering.set(fiber, 1)
    sweeping ??= Effect.runForkWith(context)(Effect.delay(sweep, linger))
  }

  /** Once the wire is closed, ends what runs. */
  const endClosed = ({ end, fiber }: Running) => {
    if (closed === undefined) return
    end(closed)
    fiber.interruptUnsafe()
  }

  const begin: Plain["begin"] = (request, how, caller, told) => {
    if (closed !== undefined) {
      told(Exit.fail(closed))
      return () => Effect.void
    }
    const run = Effect.runForkWith(equip(caller.context))
    let settled = false
    let entry: Running | undefined
    let stays = false
    const settle = (exit: Exit.Exit<JsonRpc.Response, TransportError>) => {
      if (settled) return
      settled = true
      told(exit)
    }
    const fiber = run(
      Effect.mapError(
        work(request, how, settle, () => {
          stays = true
          if (entry !== undefined) letLinger(entry.fiber)
        }),
        failed
      )
    )
    entry = {
      fiber,
      request,
      answer: (response) => {
        if (!settled) letLinger(fiber)
        settle(Exit.succeed(response))
      },
      end: (failure) => settle(Exit.fail(failure)),
      waits: () => !settled,
      at: running.length
    }
    const current = entry
    running.push(current)
    if (stays) letLinger(fiber)
    fiber.addObserver((exit) => {
      remove(running, current)
      lingering.delete(fiber)
      if (Exit.isFailure(exit)) settle(Exit.failCause(exit.cause))
    })
    // It may have closed the wire at once, before it stood among those that run.
    endClosed(current)
    return () => {
      if (settled) return Effect.void
      settled = true
      const { cancellation, getStream } = how.revision.habits.http
      if (getStream) abandoned.add(request.id)
      if (cancellation === "notification" && how.onInterrupt !== "silent" && request.method !== "initialize") {
        cancel(request, how.revision)
      }
      fiber.interruptUnsafe()
      return Effect.asVoid(Fiber.await(fiber))
    }
  }

  /** What the server says on its own stream. An answer there belongs to its request all the same (L-HTTP-11). */
  const stray = (read: Envelope.Read): void => {
    if (Result.isFailure(read)) return
    const message = read.success
    if ("method" in message) return hear(message)
    const id = message.id ?? null
    const named = id === null ? [] : running.filter(({ request }) => Envelope.sameId(request.id, id))
    const waiting = named.filter(({ waits }) => waits())
    const asked = waiting.find(({ request }) => request.id === id) ?? waiting[0] ?? named[0]
    if (asked !== undefined) asked.answer({ ...message, id: asked.request.id })
    else if (id === null || !abandoned.forget(id)) {
      report(Diagnostic.UnknownResponse({ server: endpoint, id, dropped: 1 }))
    }
  }

  /** Once the wire is closed, also by the first that was heard. */
  const endListening = () => {
    if (closed !== undefined) listening?.interruptUnsafe()
  }

  const stands = (now: Standing) => {
    standing = { ...now, missed: false }
    for (const tell of toTell) tell(now)
  }
  const opens = (missed: boolean) => stands({ _tag: "Open", missed })

  /** Begins to hear the server's own stream, anew for each session. */
  const listen = () => {
    if (closed !== undefined) return
    listening?.interruptUnsafe()
    listening = Effect.runForkWith(context)(Effect.map(Listen.listen(streams, stray, opens), unheard))
    endListening()
  }

  /**
   * A stream that was open and is refused for its session tells that the session is gone, and perhaps nobody else would
   * ask (L-HTTP-16). When none was open, the same answer is that of a server without such streams.
   */
  const unheard = ({ because, failure, opened }: Listen.End) => {
    if (opened && failure?._tag === "HttpRejected" && failure.sessionLost) {
      Deferred.doneUnsafe(gone, Exit.fail(failed(failure)))
    } else stands({ _tag: "None", missed: opened, because })
  }

  const send: Wire["send"] = (message, revision) =>
    Effect.withFiber((caller) => {
      if (closed !== undefined) return Effect.fail(closed)
      const opening = "method" in message && message.method === "notifications/initialized"
      return Effect.flatMap(post(message, revision), Body.discard).pipe(
        Effect.tap(() => Effect.sync(() => void (opening && revision.habits.http.getStream && listen()))),
        Effect.mapError(failed),
        Effect.raceFirst(Deferred.await(gone)),
        Effect.provideContext(equip(caller.context))
      )
    })

  /** Ends the session on the server, which may refuse (L-HTTP-17). */
  const leave = Effect.suspend(() => {
    if (session === undefined || session.lost) return Effect.void
    const headers = {
      ...target.headers,
      [names.session]: session.id,
      ...(speaking === undefined ? {} : { [names.version]: speaking })
    }
    return Effect.flatMap(Call.send(client, { method: "DELETE", url, headers }), ({ response }) =>
      Body.discard(response)
    )
  })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      const failure = failed(new Closed({ because: "this side closed it" }))
      closed = failure
      endListening()
      sweeping?.interruptUnsafe()
      running.slice().forEach(endClosed)
      Deferred.doneUnsafe(gone, Exit.fail(failure))
      return Fiber.awaitAll(cancelling).pipe(
        Effect.andThen(leave),
        Effect.timeoutOption(deleteTimeout),
        Effect.ignore,
        Effect.provideContext(context)
      )
    })
  )

  return {
    ...exchanges(begin),
    send,
    standing: (tell) => {
      toTell.add(tell)
      if (standing !== undefined) tell(standing)
      return () => void toTell.delete(tell)
    },
    ended: Deferred.await(gone)
  }
})

const refusal = Effect.fnUntraced(function* (
  sent: Call.Sent,
  carried: Session | undefined
): Effect.fn.Return<never, HttpRejected> {
  const rejected = yield* Call.rejection(sent, carried !== undefined)
  if (rejected.sessionLost && carried !== undefined) carried.lost = true
  return yield* rejected
})
