/**
 * Telling messages apart by their members.
 *
 * Five members are looked at by hand: every message passes here, and a schema costs ten times as much.
 */
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Result from "effect/Result"

/** What a JSON value is, seen as a message. `Broken` answers a request but cannot be read as an answer. */
export type Envelope =
  | { readonly _tag: "Incoming"; readonly message: JsonRpc.Request | JsonRpc.Notification }
  | { readonly _tag: "Response"; readonly response: JsonRpc.Response }
  | { readonly _tag: "Broken"; readonly id: JsonRpc.RequestId; readonly because: string }
  | { readonly _tag: "None" }

const none: Envelope = { _tag: "None" }

interface Members {
  readonly method?: unknown
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
  readonly params?: unknown
}

interface ErrorMembers {
  readonly code?: unknown
  readonly message?: unknown
}

export const isObject = (value: unknown): value is JsonRpc.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isId = (value: unknown): value is JsonRpc.RequestId => typeof value === "number" || typeof value === "string"

const isNotification = (value: Members): value is JsonRpc.Notification =>
  typeof value.method === "string" && value.id === undefined && (value.params === undefined || isObject(value.params))

const isRequest = (value: Members): value is JsonRpc.Request =>
  typeof value.method === "string" && isId(value.id) && (value.params === undefined || isObject(value.params))

const isSuccess = (value: Members): value is JsonRpc.Success => isId(value.id) && isObject(value.result)

/** The JSON-RPC error in a value, if there is one. A missing message is taken as an empty one. */
export const errorIn = (value: unknown): JsonRpc.ErrorObject | undefined => {
  if (!isObject(value)) return undefined
  const { error }: Members = value
  if (!isObject(error)) return undefined
  const { code, message }: ErrorMembers = error
  if (typeof code !== "number") return undefined
  return Object.hasOwn(error, "data")
    ? { code, message: typeof message === "string" ? message : "", data: error["data"] }
    : { code, message: typeof message === "string" ? message : "" }
}

/** Says what a JSON value is. */
export const classify = (value: unknown): Envelope => {
  if (!isObject(value)) return none
  const members: Members = value
  if (members.method !== undefined) {
    if (isNotification(members) || isRequest(members)) return { _tag: "Incoming", message: members }
    // Some servers write `"params": null` for no parameters.
    return members.params === null ? classify({ ...value, params: undefined }) : none
  }
  if (members.error !== undefined && members.error !== null) {
    const error = errorIn(value)
    const id = isId(members.id) ? members.id : null
    if (error !== undefined) return { _tag: "Response", response: { jsonrpc: "2.0", id, error } }
    return id === null ? none : { _tag: "Broken", id, because: "its error has no code" }
  }
  if (isSuccess(members)) return { _tag: "Response", response: members }
  return isId(members.id) && "result" in value
    ? { _tag: "Broken", id: members.id, because: "its result is no object" }
    : none
}

/** Parses JSON text. */
export const parse = (text: string): Result.Result<unknown, unknown> => Result.try((): unknown => JSON.parse(text))

/** Whether an id from the wire names this request: exactly, or a number echoed as text and the reverse (T-RPC-4). */
export const sameId = (sent: JsonRpc.RequestId, echoed: JsonRpc.RequestId): boolean =>
  sent === echoed || String(sent) === String(echoed)
