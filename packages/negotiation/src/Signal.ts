/**
 * What was heard when the server was asked something.
 *
 * Whoever owns the wire turns what it did into one signal; nothing a wire can do is an error here. Signals are facts,
 * not verdicts: which era a server speaks is decided by the rule tables alone. Texts from outside (`body`, `stderr`,
 * `excerpt`) arrive cleaned of control characters and bounded, and never hold request headers.
 *
 * @since 0.1.0
 */
import type { ErrorObject, JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"

/**
 * One thing heard.
 *
 * @category models
 * @since 0.1.0
 */
export type Signal = Data.TaggedEnum<{
  /** A JSON-RPC result. What it means is decided here, from its members. */
  Answered: { readonly result: JsonObject }
  /** A JSON-RPC error over a pipe or in a 2xx answer, also one whose id is null while nothing else was asked (P15). */
  Failed: { readonly error: ErrorObject }
  /** Any HTTP status other than 2xx. `error` is the JSON-RPC error of the body, if it had one. */
  HttpStatus: {
    readonly status: number
    readonly error: ErrorObject | undefined
    /** At most 200 code points of the body; empty when there was none. */
    readonly body: string
    readonly mediaType: string | undefined
    /** The `WWW-Authenticate` header. */
    readonly challenge: string | undefined
    /** How long the server asks to wait (`Retry-After`). */
    readonly retryAfter: Duration.Duration | undefined
    /** Where a redirect that was not followed points to. */
    readonly location: string | undefined
    /** What stands behind the refusal, if anybody told. Kept for the error; no rule looks at it. */
    readonly cause?: unknown
  }
  /** Patience ended without an answer. */
  Silent: {}
  /** The child process ended, or closed its stdout, before it answered. */
  Exited: { readonly code: number | null; readonly signal: string | null; readonly stderr: string }
  /** The command could not be started at all; also a process that ends with 126 or 127 before any output (P18). */
  SpawnFailed: { readonly command: string; readonly because: string }
  /** A pipe without a process of its own is closed or broken. */
  Closed: {}
  /**
   * No answer of an MCP server: another media type, text that is no JSON-RPC message, a foreign id, a 2xx without a body,
   * an event stream that ended first, a body over the limit; on HTTP+SSE also an `endpoint` that is missing or foreign.
   */
  Malformed: {
    readonly status: number | undefined
    readonly mediaType: string | undefined
    readonly excerpt: string
    readonly because: string
  }
  /** Refused, not resolved, TLS, reset: nothing was heard because nothing was reached. */
  Unreachable: { readonly because: string; readonly cause: unknown }
  /** A channel was opened; the answer to `open` when it succeeds. */
  Opened: {}
  /** The program's hook let the server pass, or there is no hook. */
  Accepted: {}
  /** The program's hook refused the server. */
  Rejected: { readonly because: string }
}>

/**
 * Constructors and matchers of `Signal`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Signal = Data.taggedEnum<Signal>()

/**
 * An `HttpStatus` of which only some facts are known.
 *
 * @example
 * ```ts
 * import { httpStatus } from "@mcp-effect/negotiation/Signal"
 *
 * httpStatus(404, { body: "not found" })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const httpStatus = (
  status: number,
  facts: Partial<Omit<Data.TaggedEnum.Args<Signal, "HttpStatus">, "status">> = {}
): Signal =>
  Signal.HttpStatus({
    status,
    error: undefined,
    body: "",
    mediaType: undefined,
    challenge: undefined,
    retryAfter: undefined,
    location: undefined,
    ...facts
  })
