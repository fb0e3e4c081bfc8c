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
  /** The largest event, and the longest line of any kind, in bytes (counted in UTF-16 units, without the field's name). */
  readonly limit: number
  /** Gets each event, also those without data. False stops the reading and lets go of the connection. */
  readonly event: (event: Event) => boolean
  /** Gets the milliseconds of each `retry:` line, and the last event id so far. */
  readonly retry?: (millis: number, lastEventId: string | undefined) => void
}

/** What stands before the text of a line: `data: ` and the like. */
const fieldName = 8

/**
 * Looks for a line that is too long, and gives where it begins; -1 when there is none. Lines are measured across chunks,
 * so it does not matter how they are cut.
 */
const measuring = (longest: number): ((text: string) => number) => {
  const lineEnd = /[\r\n]/g
  let held = 0
  return (text) => {
    let start = 0
    if (held + text.length <= longest) {
      // No line can be too long; only where the last one begins is of interest.
      start = text.lastIndexOf("\n") + 1
      if (text.indexOf("\r", start) !== -1) start = text.lastIndexOf("\r") + 1
      held = start === 0 ? held + text.length : text.length - start
      return -1
    }
    for (lineEnd.lastIndex = 0; ; held = 0) {
      const end = lineEnd.exec(text)?.index ?? text.length
      if (held + end - start > longest) return start
      held += end - start
      if (end === text.length) return -1
      start = end + 1
    }
  }
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
    const longLine = measuring(limit + fieldName)
    const parser = makeParser(
      (parsed) => {
        if (!wanted || tooLarge) return
        if (parsed._tag === "Retry") retry?.(Duration.toMillis(parsed.duration), parsed.lastEventId)
        else if (parsed.data.length > limit) tooLarge = true
        else wanted = event(parsed)
      },
      // Only so that an event without an end does not grow for ever: what is too large is measured here.
      { maxEventSize: 2 * limit + fieldName }
    )
    return Body.read(response, (chunk) => {
      const text = decoder.decode(chunk, { stream: true })
      const long = longLine(text)
      const overflown = parser.feed(long === -1 ? text : text.slice(0, long)) !== undefined
      if (wanted && (overflown || long !== -1)) tooLarge = true
      return wanted && !tooLarge
    }).pipe(
      Effect.mapError((because) => new ResponseLost({ because: `the event stream broke (${because})` })),
      Effect.andThen(
        Effect.suspend(() => (tooLarge ? Effect.fail(new TooLarge({ limit, what: "event" })) : Effect.void))
      )
    )
  })
