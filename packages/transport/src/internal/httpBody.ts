/**
 * Bodies read with a bound.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { HttpClientError } from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import { ResponseLost, TooLarge } from "../TransportError.ts"
import { Direct } from "./direct.ts"
import { innermost, wordsWithin } from "./httpFailure.ts"

/** The media type without parameters, lower case (L-HTTP-8). */
export const mediaTypeOf = (response: HttpClientResponse): string | undefined => {
  const essence = response.headers["content-type"]?.split(";")[0]?.trim().toLowerCase()
  return essence === "" ? undefined : essence
}

/** The announced length, unless an encoding makes it say nothing about what comes out. */
const announced = ({ headers }: HttpClientResponse): number =>
  headers["content-encoding"] === undefined ? Number(headers["content-length"] ?? Number.NaN) : Number.NaN

/** Collects text until the body or the limit ends; the rest is not read. */
const collector = (limit: number) => {
  const decoder = new TextDecoder()
  let text = ""
  let held = 0
  return {
    /** False once the limit is passed. */
    add: (chunk: Uint8Array): boolean => {
      held += chunk.length
      if (held > limit) return false
      text += decoder.decode(chunk, { stream: true })
      return true
    },
    text: () => text + decoder.decode(),
    over: () => held > limit
  }
}

const isEmpty = (error: HttpClientError) => error.reason._tag === "EmptyBodyError"

/** Reads a body until it ends or `take` says false, which lets go of the connection; fails with why it broke. */
export const read = (
  response: HttpClientResponse,
  take: (chunk: Uint8Array) => boolean
): Effect.Effect<void, string> => {
  const direct = Direct.bodyOf(response)
  if (direct === undefined) {
    return Stream.runForEachWhile(response.stream, (chunk) => Effect.sync(() => take(chunk))).pipe(
      Effect.catchIf(isEmpty, () => Effect.void),
      Effect.mapError(innermost)
    )
  }
  return Effect.callback((resume) => {
    direct.listen({
      chunk: (bytes) => {
        if (take(bytes)) return
        direct.abort()
        resume(Effect.void)
      },
      end: (end) => resume(end._tag === "Whole" ? Effect.void : Effect.fail(wordsWithin(end.cause, "DecodeError")))
    })
    return Effect.sync(() => direct.abort())
  })
}

const lost = (because: string) => new ResponseLost({ because: `the body broke off (${because})` })

/** The whole body as text, or `TooLarge`. */
export const whole = (response: HttpClientResponse, limit: number): Effect.Effect<string, ResponseLost | TooLarge> => {
  if (announced(response) <= limit) return Effect.mapError(response.text, (error) => lost(innermost(error)))
  return Effect.suspend(() => {
    const collected = collector(limit)
    return read(response, collected.add).pipe(
      Effect.mapError(lost),
      Effect.andThen(
        Effect.suspend(() =>
          collected.over() ? Effect.fail(new TooLarge({ limit, what: "body" })) : Effect.succeed(collected.text())
        )
      )
    )
  })
}

/** How much of the body of a refusal is read, in bytes, and how long it may take to come. */
const refusalLimit = 64 * 1024
const refusalPatience = "2 seconds"

/** The beginning of a body that only matters for an error message. Never fails and never takes long. */
export const beginning = (
  response: HttpClientResponse,
  patience: Duration.Input = refusalPatience
): Effect.Effect<string> =>
  Effect.suspend(() => {
    const collected = collector(refusalLimit)
    return read(response, collected.add).pipe(
      Effect.timeoutOption(patience),
      Effect.ignore,
      Effect.andThen(Effect.sync(collected.text))
    )
  })

/** An event stream would go on; its connection is given up after a moment. */
const glance = "10 millis"

/** Lets go of a body nobody needs: read when it is short, so that the connection can be used again. */
export const discard = (response: HttpClientResponse): Effect.Effect<void> => {
  if (announced(response) === 0 || response.status === 204) return Effect.void
  const patience = mediaTypeOf(response) === "text/event-stream" ? glance : refusalPatience
  return Effect.asVoid(beginning(response, patience))
}
