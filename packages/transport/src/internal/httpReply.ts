/**
 * The answer to one POSTed request, looked for in a body or an event.
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import type { Incoming } from "../Transport.ts"
import { MalformedReply, type ResponseLost, type TooLarge } from "../TransportError.ts"
import * as Envelope from "./envelope.ts"
import * as Body from "./httpBody.ts"

/** What one body or event holds for the request. */
export type Found =
  | { readonly _tag: "Answer"; readonly response: JsonRpc.Response }
  | { readonly _tag: "Unusable"; readonly because: JsonRpc.Malformed["because"] }
  | { readonly _tag: "Nothing"; readonly foreign: JsonRpc.RequestId | undefined }

const nothing: Found = { _tag: "Nothing", foreign: undefined }

const one = (read: Envelope.Read, request: JsonRpc.Request, incoming: (message: Incoming) => void): Found => {
  if (Result.isFailure(read)) {
    const { because } = read.failure
    const id = Envelope.triedToAnswer(read.failure)
    return id === undefined || Envelope.sameId(request.id, id) ? { _tag: "Unusable", because } : nothing
  }
  const message = read.success
  if ("method" in message) {
    incoming(message)
    return nothing
  }
  const id = message.id ?? null
  if (id === request.id) return { _tag: "Answer", response: message }
  // An error without an id, or with a foreign one, belongs to the request whose body this is (L-DEV-8).
  return "error" in message || (id !== null && Envelope.sameId(request.id, id))
    ? { _tag: "Answer", response: { ...message, id: request.id } }
    : { _tag: "Nothing", foreign: id ?? undefined }
}

/** Looks through the messages of a text: hands on what is no answer, in order, and returns the answer. */
export const search = (
  text: string,
  bounds: JsonRpc.ParseOptions,
  request: JsonRpc.Request,
  incoming: (message: Incoming) => void
): Found => {
  let found: Found = nothing
  for (const read of JsonRpc.parse(text, bounds)) {
    const next = one(read, request, incoming)
    if (next._tag === "Answer" || (next._tag === "Unusable" && found._tag === "Nothing")) found = next
    else if (found._tag === "Nothing" && found.foreign === undefined) found = next
  }
  return found
}

const isJson = (mediaType: string) => mediaType.endsWith("json")

/** Types that say nothing: the body is looked at instead (L-DEV-9). */
const saysNothing = (mediaType: string | undefined) => mediaType === undefined || mediaType === "text/plain"

const withoutAnswer = (found: Found, request: JsonRpc.Request): string => {
  if (found._tag === "Unusable") return found.because
  return found._tag === "Nothing" && found.foreign !== undefined
    ? `it answers request ${JSON.stringify(found.foreign)}, not ${JSON.stringify(request.id)}`
    : "it holds no response"
}

/** Reads the answer out of a 2xx response that is no event stream. */
export const read = Effect.fnUntraced(function* (
  response: HttpClientResponse,
  request: JsonRpc.Request,
  limit: number,
  bounds: JsonRpc.ParseOptions,
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
  if (text.trim() === "") return yield* malformed("it is empty", text)
  const found = search(text, bounds, request, incoming)
  return found._tag === "Answer" ? found.response : yield* malformed(withoutAnswer(found, request), text)
})
