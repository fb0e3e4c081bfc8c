/**
 * JSON-RPC 2.0 envelopes, as MCP uses them (L-RPC, M-JSON).
 *
 * An envelope is told apart by its members alone: `method` and `id` make a request, `method` without `id` a
 * notification, `result` a success, `error` a failure. Looking at five members by hand costs far less than a schema,
 * and every message passes here, so there is no schema for envelopes. What is inside (`params`, `result`) stays plain
 * JSON; a `Revision` gives it meaning.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as limits from "./internal/limits.ts"
import { isObject } from "./internal/node.ts"

/**
 * A JSON object as it stands on the wire: keys are what the peer chose, so read them with `Object.hasOwn`.
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonObject {
  readonly [key: string]: unknown
}

/**
 * Names a request until it is answered. This library sends integers; a peer may send strings too.
 *
 * @category models
 * @since 0.1.0
 */
export type RequestId = string | number

/**
 * A call that wants an answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  readonly jsonrpc: "2.0"
  readonly id: RequestId
  readonly method: string
  readonly params?: JsonObject
}

/**
 * A message that wants no answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Notification {
  readonly jsonrpc: "2.0"
  readonly method: string
  readonly params?: JsonObject
}

/**
 * The answer to a request that succeeded.
 *
 * @category models
 * @since 0.1.0
 */
export interface Success {
  readonly jsonrpc: "2.0"
  readonly id: RequestId
  readonly result: JsonObject
}

/**
 * What went wrong, in the peer's words. `code` is a number of `ErrorCode` or the peer's own.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/**
 * The answer to a request that failed. The id is absent or null when the peer could not read it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Failure {
  readonly jsonrpc: "2.0"
  readonly id?: RequestId | null
  readonly error: ErrorObject
}

/**
 * Either answer to a request.
 *
 * @category models
 * @since 0.1.0
 */
export type Response = Success | Failure

/**
 * Any message.
 *
 * @category models
 * @since 0.1.0
 */
export type Message = Request | Notification | Response

/**
 * Whether a message is a request.
 *
 * @category guards
 * @since 0.1.0
 */
export const isRequest = (message: Message): message is Request => "method" in message && "id" in message

/**
 * Whether a message is a notification.
 *
 * @category guards
 * @since 0.1.0
 */
export const isNotification = (message: Message): message is Notification => "method" in message && !("id" in message)

/**
 * Whether a message is an answer.
 *
 * @category guards
 * @since 0.1.0
 */
export const isResponse = (message: Message): message is Response => !("method" in message)

/**
 * Whether an answer is a success.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSuccess = (message: Message): message is Success => "result" in message

/**
 * Whether an answer is a failure.
 *
 * @category guards
 * @since 0.1.0
 */
export const isFailure = (message: Message): message is Failure => "error" in message

/**
 * A text or a value that is no message.
 *
 * `because` names what is wrong, never what it held. `id` is there when an id could be read: the request it belongs to
 * was answered, if badly, and need not wait any longer.
 *
 * What to change: nothing here, for a text from the other side: its author has to correct it.
 *
 * @category errors
 * @since 0.1.0
 */
export class Malformed extends Schema.TaggedError<Malformed>()("Malformed", {
  because: Schema.Literals([
    "it is not JSON",
    "it is too long",
    "it is nested too deeply",
    "it has too many members",
    "it is not an object",
    "it is a batch, which this revision does not have",
    "it is an empty batch",
    "it does not say jsonrpc 2.0",
    "its method is not a string",
    "its params are not an object",
    "its id is neither a string nor an integer",
    "it has neither method nor result nor error",
    "it has both a result and an error",
    "its result is not an object",
    "its error has no code"
  ]),
  id: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite]))
}) {
  override get message() {
    return `not a JSON-RPC message: ${this.because}`
  }
}

type Reason = Malformed["because"]

const isId = (id: unknown): id is RequestId => typeof id === "string" || Number.isSafeInteger(id)

const malformed = (because: Reason, id?: unknown) =>
  Result.fail(isId(id) ? new Malformed({ because, id }) : new Malformed({ because }))

const own = (value: JsonObject, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)

const classifyCall = (value: JsonObject, method: unknown): Result.Result<Message, Malformed> => {
  const id = own(value, "id")
  if (typeof method !== "string") return malformed("its method is not a string", id)
  const params = own(value, "params") ?? undefined
  if (params !== undefined && !isObject(params)) return malformed("its params are not an object", id)
  if (!Object.hasOwn(value, "id")) {
    return Result.succeed(params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params })
  }
  if (!isId(id)) return malformed("its id is neither a string nor an integer")
  return Result.succeed(params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params })
}

const classifyError = (id: unknown, error: JsonObject): Result.Result<Message, Malformed> => {
  const code = own(error, "code")
  if (typeof code !== "number" || !Number.isFinite(code)) return malformed("its error has no code", id)
  const text = own(error, "message")
  const message = typeof text === "string" ? text : ""
  const body: ErrorObject = Object.hasOwn(error, "data") ? { code, message, data: error["data"] } : { code, message }
  if (id === undefined) return Result.succeed({ jsonrpc: "2.0", error: body })
  if (id === null || isId(id)) return Result.succeed({ jsonrpc: "2.0", id, error: body })
  return malformed("its id is neither a string nor an integer")
}

const classifyAnswer = (value: JsonObject): Result.Result<Message, Malformed> => {
  const id = own(value, "id")
  const error = own(value, "error") ?? undefined
  const answered = Object.hasOwn(value, "result")
  const result = own(value, "result") ?? undefined
  if (error !== undefined) {
    if (result !== undefined) return malformed("it has both a result and an error", id)
    return isObject(error) ? classifyError(id, error) : malformed("its error has no code", id)
  }
  if (!answered) return malformed("it has neither method nor result nor error", id)
  if (!isId(id)) return malformed("its id is neither a string nor an integer")
  if (result === undefined) return Result.succeed({ jsonrpc: "2.0", id, result: {} })
  return isObject(result)
    ? Result.succeed({ jsonrpc: "2.0", id, result })
    : malformed("its result is not an object", id)
}

/**
 * Tells what a JSON value is: a request, a notification, an answer, or no message at all.
 *
 * Members that JSON-RPC does not know are left behind. A `null` result reads as an empty one, a `null` error as none; an
 * error may lack its id or have `null` there (M-JSON-7, T-25). What stands in `params`, `result` and `data` is not
 * looked at.
 *
 * @category decoding
 * @since 0.1.0
 */
export const classify = (value: unknown): Result.Result<Message, Malformed> => {
  if (!isObject(value)) return malformed("it is not an object")
  if (own(value, "jsonrpc") !== "2.0") return malformed("it does not say jsonrpc 2.0", own(value, "id"))
  return Object.hasOwn(value, "method") ? classifyCall(value, value["method"]) : classifyAnswer(value)
}

/**
 * How much of a text is read.
 *
 * @category models
 * @since 0.1.0
 */
export interface ParseOptions {
  /** Whether an array of messages is read; a habit of the revision (`habits.batches`). No by default. */
  readonly batches?: boolean
  /** The longest text, in UTF-16 units. A transport counts bytes before. 64 Mi by default. */
  readonly maxLength?: number
  /** How deep objects and arrays may nest. 512 by default. */
  readonly maxDepth?: number
  /** How many members and items there may be in all. 4 Mi by default. */
  readonly maxMembers?: number
}

const quote = 0x22
const backslash = 0x5c

const exceeds = (text: string, maxDepth: number, maxMembers: number): Reason | undefined => {
  let depth = 0
  let members = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at)
        break
      case 0x2c:
        if (++members > maxMembers) return "it has too many members"
        break
      case 0x5b:
      case 0x7b:
        if (++depth > maxDepth) return "it is nested too deeply"
        break
      case 0x5d:
      case 0x7d:
        depth--
        break
    }
  }
  return undefined
}

const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (end !== -1) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return text.length
}

/**
 * Reads the messages in a text: one, or those of a batch where the revision has batches. Each element of a batch stands
 * or falls alone (T-RPC-7). Never throws.
 *
 * @example
 * import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
 *
 * JsonRpc.parse('{"jsonrpc":"2.0","id":1,"result":{}}') // [Success({ jsonrpc: "2.0", id: 1, result: {} })]
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (text: string, options?: ParseOptions): ReadonlyArray<Result.Result<Message, Malformed>> => {
  if (text.length > (options?.maxLength ?? limits.bytes)) return [malformed("it is too long")]
  const maxDepth = options?.maxDepth ?? limits.depth
  const maxMembers = options?.maxMembers ?? limits.members
  // Nesting takes two characters a level and a member at least one, so a short text need not be counted.
  const harmless = text.length <= 2 * maxDepth && text.length <= maxMembers
  const excess = harmless ? undefined : exceeds(text, maxDepth, maxMembers)
  if (excess !== undefined) return [malformed(excess)]
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return [malformed("it is not JSON")]
  }
  if (!Array.isArray(value)) return [classify(value)]
  if (options?.batches !== true) return [malformed("it is a batch, which this revision does not have")]
  return value.length === 0 ? [malformed("it is an empty batch")] : value.map(classify)
}
