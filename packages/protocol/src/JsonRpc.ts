/**
 * JSON-RPC 2.0 envelopes, as MCP uses them.
 *
 * An envelope is told apart by its members alone: `method` and `id` make a request, `method` without `id` a
 * notification, `result` a success, `error` a failure. Looking at five members by hand costs far less than a schema,
 * and every message passes here, so there is no schema for envelopes. What is inside (`params`, `result`) stays plain JSON; a `Revision` gives it meaning.
 *
 * @since 0.1.0
 */

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
