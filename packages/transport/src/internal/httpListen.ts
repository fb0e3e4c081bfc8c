/**
 * Event streams that are taken up again where they broke (L-HTTP-21 to 24): the server's own stream on GET, and the
 * answer to a request when the revision has resumption.
 */
import { Diagnostic } from "@mcp-effect/protocol/Diagnostic"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import type * as Schedule from "effect/Schedule"
import type { Incoming } from "../Transport.ts"
import {
  type HttpRejected,
  MalformedReply,
  ResponseLost,
  type ResponseTaken,
  type TooLarge,
  type Unreachable
} from "../TransportError.ts"
import type * as Envelope from "./envelope.ts"
import * as EventStream from "./eventStream.ts"
import * as Body from "./httpBody.ts"
import * as Reply from "./httpReply.ts"
import * as Reconnect from "./reconnect.ts"

export interface Options {
  readonly endpoint: string
  /** The largest event, in bytes. */
  readonly limit: number
  readonly bounds: JsonRpc.ParseOptions
  readonly reconnect: Effect.Effect<Schedule.Schedule<unknown>>
  readonly report: (diagnostic: Diagnostic) => void
  /** GETs an event stream, from after an event on if one is named. */
  readonly get: (
    lastEventId: string | undefined
  ) => Effect.Effect<HttpClientResponse, HttpRejected | ResponseTaken | Unreachable>
}

export const isEventStream = (response: HttpClientResponse): boolean =>
  Body.mediaTypeOf(response) === "text/event-stream"

/** Why the server's own stream is heard no more. */
export interface End {
  /** Whether it was open before. */
  readonly opened: boolean
  readonly because: string
  /** The last refusal, when that was it. */
  readonly failure?: HttpRejected | ResponseTaken | Unreachable
}

/**
 * Hears the server's own stream until it is refused for good, or has failed too often in a row. A stream that ends
 * without an event has failed, however politely (T-HTTP-4).
 *
 * `opens` is told each time it is open, and whether what was said since the last time is lost: a server that names no
 * events cannot say it again.
 */
export const listen = Effect.fnUntraced(function* (
  options: Options,
  hear: (read: Envelope.Read) => void,
  opens: (missed: boolean) => void
): Effect.fn.Return<End> {
  const cursor = Reconnect.cursor()
  const pacer = Reconnect.pacer(options.reconnect)
  let opened = false
  let because: string
  do {
    const id = cursor.id()
    const asked = yield* Effect.result(options.get(id))
    if (Result.isFailure(asked)) {
      const { failure } = asked
      because = failure.message
      if (Reconnect.passes(failure)) continue
      return { opened, because, failure }
    }
    if (!isEventStream(asked.success)) {
      yield* Body.discard(asked.success)
      return { opened, because: `GET was answered with ${Body.mediaTypeOf(asked.success) ?? "no content type"}` }
    }
    opens(opened && id === undefined)
    opened = true
    because = "it ends again and again"
    const began = yield* Clock.currentTimeMillis
    yield* EventStream.run(asked.success, {
      limit: options.limit,
      retry: cursor.asked,
      event: ({ data, event, id }) => {
        cursor.see(id)
        pacer.progress()
        if (event === "message" && data !== "") JsonRpc.parse(data, options.bounds).forEach(hear)
        return true
      }
    }).pipe(Effect.ignore)
    if ((yield* Clock.currentTimeMillis) - began >= Duration.toMillis(Reconnect.longEnough)) pacer.progress()
  } while (yield* pacer.wait(cursor.retry()))
  return { opened, because }
})

/**
 * Reads events up to the answer to a request, hands it over, and goes on to the end of the stream. With `resume`, a
 * stream that ends early is taken up again after its last event id; the request itself is never sent twice.
 */
export const answerFrom = Effect.fnUntraced(function* (
  options: Options,
  first: HttpClientResponse,
  request: JsonRpc.Request,
  resume: boolean,
  incoming: (message: Incoming) => void,
  answer: (response: JsonRpc.Response) => void
): Effect.fn.Return<void, MalformedReply | ResponseLost | TooLarge> {
  const cursor = Reconnect.cursor()
  const pacer = Reconnect.pacer(options.reconnect)
  let answered = false
  let failure: MalformedReply | undefined
  let because = "the event stream ended before the answer"

  const take = (response: HttpClientResponse, data: string): boolean => {
    const found = Reply.search(data, options.bounds, request, incoming)
    if (found._tag === "Unusable" && found.because !== "it is not an object") {
      failure = new MalformedReply({
        status: response.status,
        mediaType: Body.mediaTypeOf(response),
        excerpt: excerpt(data),
        because: found.because
      })
      return false
    }
    if (found._tag === "Answer") {
      answered = true
      answer(found.response)
    } else if (found._tag === "Nothing" && found.foreign !== undefined) {
      options.report(Diagnostic.UnknownResponse({ server: options.endpoint, id: found.foreign, dropped: 1 }))
    }
    return true
  }

  const read = (response: HttpClientResponse) =>
    EventStream.run(response, {
      limit: options.limit,
      retry: cursor.asked,
      event: ({ data, event, id }) => {
        if (answered) return true
        if (cursor.see(id) || data !== "") pacer.progress()
        return event !== "message" || data === "" || take(response, data)
      }
    }).pipe(
      Effect.catchTag("ResponseLost", (broke) =>
        Effect.sync(() => {
          because = broke.because
        })
      )
    )

  yield* read(first)
  while (!answered && failure === undefined) {
    const id = cursor.id()
    if (!resume || id === undefined || !(yield* pacer.wait(cursor.retry()))) return yield* new ResponseLost({ because })
    const again = yield* Effect.result(options.get(id))
    if (Result.isSuccess(again)) {
      if (!isEventStream(again.success)) {
        yield* Body.discard(again.success)
        return yield* new ResponseLost({ because: `${because}, and is not there to be taken up again` })
      }
      yield* read(again.success)
    } else if (!Reconnect.passes(again.failure)) {
      return yield* new ResponseLost({ because: `${because}, and taking it up again failed: ${again.failure.message}` })
    }
  }
  if (failure !== undefined) return yield* failure
})
