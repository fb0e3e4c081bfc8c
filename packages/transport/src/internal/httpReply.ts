/**
 * The answer to one POSTed request, as JSON or as events.
 */
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import type { Incoming } from "../Transport.ts"
import { MalformedReply, type ResponseLost, type TooLarge } from "../TransportError.ts"
import * as Envelope from "./envelope.ts"
import { excerpt } from "./excerpt.ts"
import * as Body from "./httpBody.ts"

/** What one body or event holds for the request. */
export type Found =
  | { readonly _tag: "Answer"; readonly response: JsonRpc.Response }
  | { readonly _tag: "Unusable"; readonly because: string }
  | { readonly _tag: "Nothing"; readonly foreign: JsonRpc.RequestId | undefined }

const nothing: Found = { _tag: "Nothing", foreign: undefined }

/**
 * Looks through one JSON value, or an array of them: hands on what is no answer, in order, and returns the answer.
 *
 * An error without an id, or with a foreign one, belongs to the request whose body this is (L-DEV-8).
 */
export const search = (value: unknown, request: JsonRpc.Request, incoming: (message: Incoming) => void): Found => {
  if (Array.isArray(value)) {
    let found: Found = nothing
    for (const element of value) {
      const one = search(element, request, incoming)
      if (one._tag !== "Nothing" || found._tag === "Nothing") found = one
    }
    return found
  }
  const envelope = Envelope.classify(value)
  switch (envelope._tag) {
    case "Incoming":
      incoming(envelope.message)
      return nothing
    case "Broken":
      return { _tag: "Unusable", because: envelope.because }
    case "None":
      return nothing
    case "Response": {
      const { response } = envelope
      const id = response.id ?? null
      if (id === request.id) return { _tag: "Answer", response }
      const ours = "error" in response || (id !== null && Envelope.sameId(request.id, id))
      return ours
        ? { _tag: "Answer", response: { ...response, id: request.id } }
        : { _tag: "Nothing", foreign: id ?? undefined }
    }
  }
}

const isJson = (mediaType: string) => mediaType.endsWith("json")

/** Types that say nothing: the body is looked at instead (L-DEV-9). */
const saysNothing = (mediaType: string | undefined) => mediaType === undefined || mediaType === "text/plain"

/** Reads the answer out of a 2xx response that is no event stream. */
export const read = Effect.fnUntraced(function* (
  response: HttpClientResponse,
  request: JsonRpc.Request,
  limit: number,
  incoming: (message: Incoming) => void
): Effect.fn.Return<JsonRpc.Response, MalformedReply | ResponseLost | TooLarge> {
  const { status } = response
  const mediaType = Body.mediaTypeOf(response)
  const malformed = (because: string, text: string) =>
    new MalformedReply({ status, mediaType, excerpt: excerpt(text), because })

  if (status === 202 || status === 204) {
    return yield* malformed("it was accepted without an answer", yield* Body.beginning(response))
  }
  if (!saysNothing(mediaType) && !isJson(mediaType ?? "")) {
    return yield* malformed("it is neither JSON nor an event stream", yield* Body.beginning(response))
  }
  const text = yield* Body.whole(response, limit)
  const value = Envelope.parse(text)
  if (Result.isFailure(value)) {
    return yield* malformed(text.trim() === "" ? "it is empty" : "it is no JSON", text)
  }
  const found = search(value.success, request, incoming)
  switch (found._tag) {
    case "Answer":
      return found.response
    case "Unusable":
      return yield* malformed(found.because, text)
    case "Nothing":
      return yield* malformed(
        found.foreign === undefined
          ? "it holds no response"
          : `it answers request ${JSON.stringify(found.foreign)}, not ${JSON.stringify(request.id)}`,
        text
      )
  }
})
