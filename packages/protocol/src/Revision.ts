/**
 * What differs from one revision of the protocol to the next, as data.
 *
 * A revision says which methods exist, writes the public model for its wire and reads it back. A transport reads the
 * habits and never asks "which era?". Everything that depends on the version lives here, so no other package compares
 * version strings.
 *
 * Writing is strict: a member that the revision does not know is left out and reported, and where that would change the
 * meaning the encoding fails. Reading is lenient and alike for all revisions, since servers send members of other
 * revisions anyway (L-DEV-27).
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type * as Capabilities from "./Capabilities.ts"
import type { Implementation } from "./Implementation.ts"
import { make } from "./internal/codec.ts"
import type { Decoded, Rejected } from "./internal/lenient.ts"
import type { Dropped } from "./internal/project.ts"
import type { JsonObject } from "./JsonRpc.ts"
import type * as Logging from "./Logging.ts"
import type * as Method from "./Method.ts"
import type * as Notification from "./Notification.ts"
import type { CannotCarry, InvalidParams, InvalidResult, MethodNotInRevision } from "./ProtocolError.ts"
import type * as Question from "./Question.ts"
import type * as Task from "./Task.ts"
import type { Era, Legacy, Version } from "./Version.ts"

export type {
  /**
   * A value that was read, beside the parts that had to be left out.
   *
   * @category models
   * @since 0.1.0
   */
  Decoded,
  /**
   * A part of a message that could not be read and was left out: where, the name or address of the item if it had one,
   * and why.
   *
   * @category models
   * @since 0.1.0
   */
  Rejected,
  /**
   * A part of a message that the revision does not know and that was left out or replaced: where, and why.
   *
   * @category models
   * @since 0.1.0
   */
  Dropped
}

/**
 * How a revision behaves on the wire.
 *
 * @category models
 * @since 0.1.0
 */
export interface Habits {
  /** Where the client says who it is: once in `initialize`, or in `_meta` of every request. */
  readonly identity: "handshake" | "everyRequest"
  /** Whether the server may send requests of its own, which the client answers. */
  readonly serverRequests: boolean
  /** Whether a peer may put several messages into one JSON array. This library never sends one. */
  readonly batches: boolean
  /** What is particular to HTTP. */
  readonly http: {
    /** When `MCP-Protocol-Version` is sent: on every POST, or on all that follow the handshake. */
    readonly versionHeader: "always" | "afterHandshake"
    /** Whether `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` mirror the body. */
    readonly routingHeaders: boolean
    /** Whether a 2xx answer to `initialize` may start a session (`Mcp-Session-Id`), ended by DELETE. */
    readonly session: boolean
    /** Whether the server may offer a stream of its own on GET. */
    readonly getStream: boolean
    /** Whether a broken stream is taken up again with `Last-Event-ID`. */
    readonly resumption: boolean
    /** How an interrupted request is cancelled: by a notification, or by closing its stream. */
    readonly cancellation: "notification" | "closeStream"
  }
}

/**
 * A message written for a revision. `params` is `undefined` when there is nothing to say.
 *
 * @category models
 * @since 0.1.0
 */
export interface Encoded {
  readonly params: JsonObject | undefined
  readonly dropped: ReadonlyArray<Dropped>
}

/**
 * Who sends requests, and what it can do.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sender {
  readonly client: Implementation
  readonly capabilities: Capabilities.Client
}

/**
 * What one request asks for beside its parameters.
 *
 * @category models
 * @since 0.1.0
 */
export interface Extra {
  /** Asks for progress under this token. */
  readonly progressToken?: string | number
  /** Asks for log messages of this request; modern era only, a legacy connection has `logging/setLevel`. */
  readonly logLevel?: Logging.Level
  /** Further keys of `_meta`, trace context for instance. Reserved keys in it are ignored. */
  readonly meta?: JsonObject
}

/**
 * Writes `_meta` into the parameters of a request.
 *
 * @category models
 * @since 0.1.0
 */
export type Stamp = (params: JsonObject | undefined, extra?: Extra) => JsonObject | undefined

/**
 * One revision of the protocol.
 *
 * @category models
 * @since 0.1.0
 */
export interface Revision {
  readonly version: Version
  readonly era: Era
  readonly habits: Habits
  /** Whether the revision has a method that clients call. */
  readonly supports: (method: string) => method is Method.Method
  /**
   * The server capability that a method needs in this revision; `undefined` when it needs none, or when the revision has
   * no capability for it and only trying tells (`completion/complete` in 2024-11-05).
   */
  readonly gate: (method: Method.Method) => Capabilities.Path | undefined
  /**
   * Writes the parameters of a request. Fails with `MethodNotInRevision`, or with `CannotCarry` when leaving out a part
   * would change what the request means.
   */
  readonly encode: <M extends Method.Method>(
    method: M,
    params: Method.Params<M>
  ) => Result.Result<Encoded, CannotCarry | MethodNotInRevision>
  /**
   * Reads the result of a request. `resultType` is looked at first: absent is `complete`, `input_required` counts for
   * the methods that allow it, `task` only for `tools/call` and only when `accepts` says so; any other is an
   * `InvalidResult` (M-RES-5, T-MOD-6).
   */
  readonly decode: <M extends Method.Method, const Kind extends "task" = never>(
    method: M,
    result: JsonObject,
    accepts?: ReadonlyArray<Kind>
  ) => Result.Result<Decoded<Method.Result<M> | ("task" extends Kind ? Task.Created : never)>, InvalidResult>
  /** Reads a question of the server. Fails with `MethodNotInRevision` for what is no question. */
  readonly question: (
    method: string,
    params: JsonObject | undefined
  ) => Result.Result<Question.Question, InvalidParams | MethodNotInRevision>
  /** Writes the answer to a question. */
  readonly answer: <M extends Question.Method>(
    method: M,
    answer: Question.Answer<M>
  ) => Result.Result<{ readonly result: JsonObject; readonly dropped: ReadonlyArray<Dropped> }, CannotCarry>
  /** Reads a notification of the server, whatever revision has it. Fails with `MethodNotInRevision` for unknown ones. */
  readonly hear: (
    method: string,
    params: JsonObject | undefined
  ) => Result.Result<Notification.Received, InvalidParams | MethodNotInRevision>
  /** Writes the parameters of a notification. */
  readonly tell: <M extends Notification.SentMethod>(
    method: M,
    params: Notification.SentParams<M>
  ) => Result.Result<Encoded, CannotCarry | MethodNotInRevision>
  /**
   * Makes what writes `_meta` of every request of one sender; the constant part is computed once. Keys that only the
   * library writes cannot be overwritten (T-MOD-3), and never reach a legacy server (L-META-3).
   */
  readonly stamp: (sender: Sender) => Stamp
}

/**
 * 2024-11-05, the first.
 *
 * @category revisions
 * @since 0.1.0
 */
export const v2024_11_05: Revision = make("2024-11-05")

/**
 * 2025-03-26: audio, hints on tools, completions as a capability, batches.
 *
 * @category revisions
 * @since 0.1.0
 */
export const v2025_03_26: Revision = make("2025-03-26")

/**
 * 2025-06-18: elicitation, structured tool results, links to resources, titles; no batches any more.
 *
 * @category revisions
 * @since 0.1.0
 */
export const v2025_06_18: Revision = make("2025-06-18")

/**
 * 2025-11-25: elicitation by address, tools in sampling, tasks as an experiment, icons. The last with a handshake.
 *
 * @category revisions
 * @since 0.1.0
 */
export const v2025_11_25: Revision = make("2025-11-25")

/**
 * 2026-07-28: no handshake and no session, every request stands alone.
 *
 * @category revisions
 * @since 0.1.0
 */
export const v2026_07_28: Revision = make("2026-07-28")

const revisions: { readonly [V in Version]: Revision } = {
  "2024-11-05": v2024_11_05,
  "2025-03-26": v2025_03_26,
  "2025-06-18": v2025_06_18,
  "2025-11-25": v2025_11_25,
  "2026-07-28": v2026_07_28
}

/**
 * The revision of a version.
 *
 * @category accessors
 * @since 0.1.0
 */
export const of = (version: Version): Revision => revisions[version]

/**
 * The parameters of `initialize`: the version that is offered, and what that version knows of the client and its
 * capabilities. Only a legacy version can be offered (L-LIFE-2).
 *
 * @category handshake
 * @since 0.1.0
 */
export const hello = (version: Legacy, sender: Sender): JsonObject => {
  const offer = { protocolVersion: version, capabilities: sender.capabilities, clientInfo: sender.client }
  return Result.match(revisions[version].encode("initialize", offer), {
    onFailure: () => offer,
    onSuccess: ({ params }) => params ?? offer
  })
}
