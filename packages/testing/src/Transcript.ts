/**
 * What a scripted server heard and said, in order, for tests to look at.
 *
 * Entries are plain JSON, so a transcript also comes out of a child process.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Predicate from "effect/Predicate"

/**
 * The HTTP request that something was heard in.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * One thing that happened. `wire` counts processes or pipes from 1; over HTTP it is always 1. `at` is in milliseconds, by
 * the clock of whoever ran the server.
 *
 * @category models
 * @since 0.1.0
 */
export type Entry =
  | { readonly event: "opened"; readonly wire: number; readonly at: number }
  | {
      readonly event: "heard"
      readonly wire: number
      readonly at: number
      /** The JSON value that came; the text, if it was no JSON; `null` for an HTTP request without a body. */
      readonly message: unknown
      readonly http?: HttpRequest
    }
  | {
      readonly event: "said"
      readonly wire: number
      readonly at: number
      readonly text: string
      readonly status?: number
    }
  /** The client is gone, or the server itself has ended. */
  | { readonly event: "ended"; readonly wire: number; readonly at: number }

/**
 * A transcript.
 *
 * @category models
 * @since 0.1.0
 */
export type Transcript = ReadonlyArray<Entry>

/**
 * A message that was heard, with its circumstances.
 *
 * @category models
 * @since 0.1.0
 */
export type Heard = Extract<Entry, { readonly event: "heard" }>

/**
 * Everything that was heard.
 *
 * @category accessors
 * @since 0.1.0
 */
export const heard = (transcript: Transcript): ReadonlyArray<Heard> =>
  transcript.filter((entry) => entry.event === "heard")

/**
 * The messages that were heard.
 *
 * @category accessors
 * @since 0.1.0
 */
export const messages = (transcript: Transcript): ReadonlyArray<JsonObject> =>
  heard(transcript).flatMap(({ message }) => (Predicate.isReadonlyObject(message) ? [message] : []))

/**
 * The methods that were heard, notifications included; an answer to a request of the server shows as `response`.
 *
 * @category accessors
 * @since 0.1.0
 */
export const methods = (transcript: Transcript): ReadonlyArray<string> =>
  messages(transcript).map(({ method }) => (typeof method === "string" ? method : "response"))

/**
 * How many processes or pipes there were.
 *
 * @category accessors
 * @since 0.1.0
 */
export const wires = (transcript: Transcript): number => transcript.filter((entry) => entry.event === "opened").length
