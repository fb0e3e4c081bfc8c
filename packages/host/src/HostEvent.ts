/**
 * What happens in a host, one event after another: states, requests, tool calls, decisions, diagnostics (U-53, U-59).
 *
 * @since 0.1.0
 */
import { describe, type Diagnostic } from "@mcp-effect/protocol/Diagnostic"
import type * as Logging from "@mcp-effect/protocol/Logging"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { Decision } from "./Approval.ts"
import type { Difference } from "./Host.ts"
import type { ServerState } from "./ServerState.ts"

/**
 * What every event has.
 *
 * @category models
 * @since 0.1.0
 */
export interface Origin {
  /** Counts from 1; a gap means that a slow reader missed something. */
  readonly sequence: number
  /** When, in milliseconds since 1970. */
  readonly at: number
  /** Which server; `undefined` for what the host does itself. */
  readonly server: string | undefined
  readonly level: Logging.Level
}

/**
 * What happened.
 *
 * @category models
 * @since 0.1.0
 */
export type Happening = Data.TaggedEnum<{
  /** A server is in another state. */
  StateChanged: { readonly state: ServerState }
  /** A list of a server is there, or is another one. */
  ListChanged: { readonly list: "tools" | "prompts" | "resources" | "templates"; readonly count: number }
  /** The collection of servers is another one. */
  Loaded: { readonly difference: Difference }
  /** A request is on its way to the server: the probe and the handshake too. */
  Requested: { readonly id: string | number; readonly method: string }
  /** It was answered with a result. */
  Answered: { readonly id: string | number; readonly method: string; readonly millis: number }
  /** It was answered with an error (`code`), or not at all. */
  RequestFailed: {
    readonly id: string | number | undefined
    readonly method: string
    readonly code: number | undefined
    readonly message: string
    /** Whether it was the probe. Older servers know no such request, so that is how they are known. */
    readonly probe?: boolean
  }
  /** Nobody waits for its answer any more; the server was told, but for a probe or a handshake. */
  RequestCancelled: { readonly id: string | number; readonly method: string; readonly millis: number }
  /** A tool call begins; `call` counts the calls of the host. */
  ToolCalled: { readonly call: number; readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }
  /** A tool call has ended. */
  ToolEnded: {
    readonly call: number
    readonly tool: string
    readonly millis: number
    /** `result`, `toolError` (a result with `isError`), or the tag of the error. */
    readonly outcome: string
  }
  /** A call was permitted or refused. */
  Decided: { readonly decision: Decision }
  /** Something was noticed that did not fail. */
  Noticed: { readonly diagnostic: Diagnostic }
  /** Something the host advises its user of: a refusal for want of a handler, say. */
  Advised: { readonly because: string }
}>

/**
 * Constructors and matchers of what happened.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Happening = Data.taggedEnum<Happening>()

/**
 * An event.
 *
 * @category models
 * @since 0.1.0
 */
export type HostEvent = Origin & { readonly happening: Happening }

/**
 * How serious it is.
 *
 * @category accessors
 * @since 0.1.0
 */
export const levelOf: (happening: Happening) => Logging.Level = Happening.$match({
  StateChanged: ({ state }): Logging.Level => (state._tag === "Failed" ? "error" : "info"),
  ListChanged: (): Logging.Level => "info",
  Loaded: (): Logging.Level => "notice",
  Requested: (): Logging.Level => "debug",
  Answered: (): Logging.Level => "debug",
  // A connection that fails of its probe says so itself.
  RequestFailed: ({ probe = false }): Logging.Level => (probe ? "debug" : "error"),
  RequestCancelled: (): Logging.Level => "debug",
  ToolCalled: (): Logging.Level => "info",
  ToolEnded: ({ outcome }): Logging.Level => (outcome === "result" ? "info" : "error"),
  Decided: ({ decision }): Logging.Level => (decision.permitted ? "info" : "notice"),
  Noticed: (): Logging.Level => "warning",
  Advised: (): Logging.Level => "warning"
})

// `DateTime` refuses what is out of its range, and a schedule may wait that long.
const iso = (at: number) => Option.match(DateTime.make(at), { onNone: () => `${at}`, onSome: DateTime.formatIso })

/**
 * One line for a person, without time and server. Arguments are not in it.
 *
 * @category formatting
 * @since 0.1.0
 */
export const text: (happening: Happening) => string = Happening.$match({
  StateChanged: ({ state }) => {
    if (state._tag !== "Failed") return state._tag
    const { because, error, nextTry, tries } = state
    const next = nextTry === undefined ? "it is not tried again" : `try ${tries + 1} is at ${iso(nextTry)}`
    return `Failed: ${error.message} (${next}: ${because})`
  },
  ListChanged: ({ count, list }) => `${count} ${list}`,
  Loaded: ({ difference: { added, changed, removed, same } }) =>
    `loaded: ${added.length} added, ${changed.length} changed, ${removed.length} removed, ${same.length} the same`,
  Requested: ({ id, method }) => `${method} #${id}`,
  Answered: ({ id, method, millis }) => `${method} #${id} answered in ${millis} ms`,
  RequestFailed: ({ code, id, message, method }) =>
    `${method}${id === undefined ? "" : ` #${id}`} failed: ${code === undefined ? message : `MCP error ${code}: ${message}`}`,
  RequestCancelled: ({ id, method, millis }) => `${method} #${id} was cancelled after ${millis} ms`,
  ToolCalled: ({ call, tool }) => `call ${call} of ${tool}`,
  ToolEnded: ({ call, millis, outcome, tool }) => `call ${call} of ${tool} ended after ${millis} ms: ${outcome}`,
  Decided: ({ decision }) =>
    `${decision.permitted ? "permitted" : "refused"} ${decision.tool}, by ${decision.by}: ${decision.because}`,
  Noticed: ({ diagnostic }) => describe(diagnostic),
  Advised: ({ because }) => because
})
