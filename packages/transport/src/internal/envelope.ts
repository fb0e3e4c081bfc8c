/**
 * What a transport needs to know about messages beyond their shape.
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** The bounds for reading a message. Arrays are read in every revision (L-RPC-6); none is ever sent. */
export const bounds: Effect.Effect<JsonRpc.ParseOptions> = Effect.gen(function* () {
  const maxDepth = yield* Defaults.MaxMessageDepth
  const maxMembers = yield* Defaults.MaxMessageMembers
  return {
    batches: true,
    maxLength: yield* Defaults.MaxMessageBytes,
    // Bounds that are named are checked in short messages too, so the defaults are left unnamed.
    ...(maxDepth === Defaults.MaxMessageDepth.defaultValue() ? {} : { maxDepth }),
    ...(maxMembers === Defaults.MaxMessageMembers.defaultValue() ? {} : { maxMembers })
  }
})

/** One message, or what is wrong with it. */
export type Read = Result.Result<JsonRpc.Message, JsonRpc.Malformed>

const calls: ReadonlySet<JsonRpc.Malformed["because"]> = new Set([
  "its method is not a string",
  "its params are not an object"
])

/** The id of the request that a broken message tried to answer. A broken call has an id too, but of its own. */
export const triedToAnswer = ({ because, id }: JsonRpc.Malformed): JsonRpc.RequestId | undefined =>
  calls.has(because) ? undefined : id

const excesses: ReadonlySet<JsonRpc.Malformed["because"]> = new Set([
  "it is nested too deeply",
  "it has too many members",
  "it is too long"
])

/** Whether it was a message, but past a bound: then it is no noise, and some request waits for it in vain. */
export const isExcessive = ({ because }: JsonRpc.Malformed): boolean => excesses.has(because)

/** Whether an id from the wire names this request: exactly, or a number echoed as text and the reverse (T-RPC-4). */
export const sameId = (sent: JsonRpc.RequestId, echoed: JsonRpc.RequestId): boolean =>
  sent === echoed || String(sent) === String(echoed)

export const isObject = (value: unknown): value is JsonRpc.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The JSON-RPC error in the body of a refusal, which may lack everything else of a message. */
export const errorIn = (body: string): JsonRpc.ErrorObject | undefined => {
  const value = /^\s*\{/.test(body) ? Result.try((): unknown => JSON.parse(body)) : undefined
  if (value === undefined || Result.isFailure(value) || !isObject(value.success)) return undefined
  const error = value.success["error"]
  if (!isObject(error)) return undefined
  const { code, data, message } = error
  if (typeof code !== "number" || !Number.isFinite(code)) return undefined
  const text = typeof message === "string" ? message : ""
  return data === undefined ? { code, message: text } : { code, message: text, data }
}

/** The id under which a request is kept, for an id from the wire: exact, or a number echoed as text (T-RPC-4). */
export const keyIn = (ids: { has(id: JsonRpc.RequestId): boolean }, id: JsonRpc.RequestId) => {
  if (ids.has(id)) return id
  const other = typeof id === "number" ? String(id) : Number(id)
  return ids.has(other) && sameId(other, id) ? other : undefined
}
