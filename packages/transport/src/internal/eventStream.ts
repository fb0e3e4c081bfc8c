/**
 * Events out of the body of a response.
 *
 * One streaming decoder and one parser per body, so any chunking gives the same events (T-SSE-1 to T-SSE-4). Comments
 * vanish in the parser; `retry:` lines go to `retry`, and an event without data still tells its id.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Event, makeParser } from "effect/encoding/Sse"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { ResponseLost, TooLarge } from "../TransportError.ts"
import * as Body from "./httpBody.ts"

export interface Options {
  /**
   * The largest event, in bytes (counted in UTF-16 units). A line without meaning that is longer is skipped when it comes
   * in one piece, and refused when it does not.
   */
  readonly limit: number
  /** Gets each event, also those without data. False stops the reading and lets go of the connection. */
  readonly event: (event: Event) => boolean
  /** Gets the milliseconds of each `retry:` line, and the last event id so far. */
  readonly retry?: (millis: number, lastEventId: string | undefined) => void
}

/** Reads events until the body ends or `event` says stop; fails when the body breaks or an event is too large. */
export const run = (
  response: HttpClientResponse,
  { event, limit, retry }: Options
): Effect.Effect<void, ResponseLost | TooLarge> =>
  Effect.suspend(() => {
    let wanted = true
    let tooLarge = false
    const decoder = new TextDecoder()
    const parser = makeParser(
      (parsed) => {
        if (parsed._tag === "Retry") retry?.(Duration.toMillis(parsed.duration), parsed.lastEventId)
        else if (parsed.data.length > limit) tooLarge = true
        else if (wanted && !tooLarge) wanted = event(parsed)
      },
      { maxEventSize: limit }
    )
    return Body.read(response, (chunk) => {
      if (parser.feed(decoder.decode(chunk, { stream: true })) !== undefined) tooLarge = true
      return wanted && !tooLarge
    }).pipe(
      Effect.mapError((because) => new ResponseLost({ because: `the event stream broke (${because})` })),
      Effect.andThen(
        Effect.suspend(() => (tooLarge ? Effect.fail(new TooLarge({ limit, what: "event" })) : Effect.void))
      )
    )
  })
