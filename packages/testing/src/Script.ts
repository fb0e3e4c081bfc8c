/**
 * What a scripted server does, as plain data.
 *
 * A script says which versions a server speaks and where it departs from good manners; everything it does not mention is
 * answered as a well-behaved server of those versions would. It is JSON through and through, so the same script runs in
 * this program, in a child process and behind an address.
 *
 * A departure is a list of steps per method. Steps that a carrier does not have (a status on a pipe, an exit code over
 * HTTP) are described with each step.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Meta from "@mcp-effect/protocol/Meta"
import * as Duration from "effect/Duration"

/**
 * How the id of an answer departs from the id of its request: a number as text, `null`, none at all, or one that nobody
 * used.
 *
 * @category models
 * @since 0.1.0
 */
export type WrongId = "text" | "null" | "absent" | "foreign"

/**
 * One thing that a server does. A turn that runs out of steps without having answered is silence.
 *
 * @category models
 * @since 0.1.0
 */
export type Step =
  /** Lets time pass, by Effect's clock. */
  | { readonly do: "wait"; readonly millis: number }
  /** Answers: with this result, or as a well-behaved server would. `status` counts over HTTP only. */
  | { readonly do: "answer"; readonly result?: JsonObject; readonly id?: WrongId; readonly status?: number }
  /** Answers with a JSON-RPC error. Over HTTP the status is the one of the revision, unless given. */
  | {
      readonly do: "fail"
      readonly code: number
      readonly message: string
      readonly data?: unknown
      readonly id?: WrongId
      readonly status?: number
    }
  /** Sends a message of the server's own before the answer. Over HTTP the reply becomes an event stream. */
  | { readonly do: "say"; readonly message: JsonObject }
  /** Waits until the client has answered every request that was said so far. */
  | { readonly do: "hear" }
  /** Writes text as it is: a line on a pipe, a piece of the event stream over HTTP. */
  | { readonly do: "write"; readonly text: string }
  /** Writes to standard error. Only a pipe of kind `stdio` has one. */
  | { readonly do: "log"; readonly text: string }
  /** The process ends. Without a process: as `close`. */
  | { readonly do: "exit"; readonly code: number }
  /** The output is closed; over HTTP the connection breaks. */
  | { readonly do: "close" }
  /** Over HTTP: the event stream ends as it stands, begun now if need be. Nothing on a pipe. */
  | { readonly do: "end" }
  /** Over HTTP: this response. Nothing on a pipe. */
  | {
      readonly do: "http"
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }

/**
 * What a server does about one message, in order.
 *
 * @category models
 * @since 0.1.0
 */
export type Turn = ReadonlyArray<Step>

/**
 * Turns by method: the first for the first message of that method, and so on; the last one stays. A method that is not
 * named falls to `*`, if there is one. `GET` and `DELETE` name HTTP requests without a message.
 *
 * @category models
 * @since 0.1.0
 */
export type Reactions = Readonly<Record<string, ReadonlyArray<Turn>>>

/**
 * A tool that a well-behaved server lists. Calling it gives back the argument `text`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tool {
  readonly name: string
  readonly description?: string
  readonly inputSchema: JsonObject
}

/**
 * How a server speaks HTTP.
 *
 * @category models
 * @since 0.1.0
 */
export interface Http {
  /** Which transports are there: Streamable HTTP, the older HTTP+SSE at the same address, or both. */
  readonly transport: "streamable" | "sse" | "both"
  /** The form of replies: one JSON body, or an event stream. */
  readonly reply: "json" | "events"
  /** Whether the handshake opens a session that every later request must name. */
  readonly session: boolean
}

/**
 * A script.
 *
 * @category models
 * @since 0.1.0
 */
export interface Script {
  /** What the server calls itself. */
  readonly name: string
  /** Modern versions that it speaks; none, and it does not know `server/discover`. */
  readonly modern: ReadonlyArray<string>
  /** Versions of the handshake era that it speaks, newest first; none, and it refuses `initialize`. */
  readonly legacy: ReadonlyArray<string>
  readonly instructions?: string
  readonly tools: ReadonlyArray<Tool>
  /** What happens on a pipe before anything was heard. */
  readonly opening: Turn
  /** Where the server departs from good manners. */
  readonly on: Reactions
  /** The same for the second process or pipe and all after it, on top of `on`. */
  readonly again: Reactions
  readonly http: Http
  /** How many messages the server takes; at the next it closes the pipe, or breaks the connection. 10,000. */
  readonly limit: number
}

/**
 * What may be written for the turns of a method: one turn, or several.
 *
 * @category models
 * @since 0.1.0
 */
export type Reaction = Turn | ReadonlyArray<Turn>

/**
 * What may be left out of a script.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Partial<Omit<Script, "on" | "again" | "http">> {
  readonly on?: Readonly<Record<string, Reaction>>
  readonly again?: Readonly<Record<string, Reaction>>
  readonly http?: Partial<Http>
}

const echo: Tool = {
  name: "echo",
  description: "Says the text back",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] }
}

const isTurns = (reaction: Reaction): reaction is ReadonlyArray<Turn> => Array.isArray(reaction[0])

const turns = (reactions: Readonly<Record<string, Reaction>> = {}): Reactions =>
  Object.fromEntries(
    Object.entries(reactions).map(([method, reaction]) => [method, isTurns(reaction) ? reaction : [reaction]])
  )

/**
 * Makes a script. What is left out is that of a server with one tool, `echo`, that speaks no version at all.
 *
 * @example
 * ```ts
 * import * as Script from "@mcp-effect/testing/Script"
 *
 * // An older server that keeps silent at the probe.
 * Script.make({ legacy: ["2025-06-18"], on: { "server/discover": Script.silence } })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Script => ({
  name: "scripted",
  modern: [],
  legacy: [],
  tools: [echo],
  opening: [],
  limit: 10_000,
  ...options,
  on: turns(options.on),
  again: turns(options.again),
  http: { transport: "streamable", reply: "json", session: false, ...options.http }
})

/**
 * A server of 2026-07-28 alone, unless other versions are given.
 *
 * @category constructors
 * @since 0.1.0
 */
export const modern = (options: Options = {}): Script => make({ modern: ["2026-07-28"], ...options })

/**
 * A server of 2025-11-25 and before, unless other versions are given.
 *
 * @category constructors
 * @since 0.1.0
 */
export const legacy = (options: Options = {}): Script => make({ legacy: allLegacy, ...options })

/**
 * A server of both eras.
 *
 * @category constructors
 * @since 0.1.0
 */
export const both = (options: Options = {}): Script => make({ modern: ["2026-07-28"], legacy: allLegacy, ...options })

const allLegacy = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]

/**
 * Lets time pass.
 *
 * @category steps
 * @since 0.1.0
 */
export const wait = (duration: Duration.Input): Step => ({
  do: "wait",
  millis: Duration.toMillis(Duration.fromInputUnsafe(duration))
})

/**
 * Answers: with this result, or as a well-behaved server would.
 *
 * @category steps
 * @since 0.1.0
 */
export const answer = (result?: JsonObject, how: { readonly id?: WrongId; readonly status?: number } = {}): Step => ({
  do: "answer",
  ...(result === undefined ? {} : { result }),
  ...how
})

/**
 * Answers with a JSON-RPC error.
 *
 * @category steps
 * @since 0.1.0
 */
export const fail = (
  code: number,
  how: {
    readonly message?: string
    readonly data?: unknown
    readonly id?: WrongId
    readonly status?: number
  } = {}
): Step => ({ do: "fail", code, message: "no", ...how })

/**
 * Answers -32022 with this list of supported versions.
 *
 * @category steps
 * @since 0.1.0
 */
export const unsupported = (supported: ReadonlyArray<unknown>, how: { readonly status?: number } = {}): Step =>
  fail(-32022, { message: "Unsupported protocol version", data: { supported, requested: "" }, ...how })

/**
 * Sends a notification, or a request, of the server's own.
 *
 * @category steps
 * @since 0.1.0
 */
export const say = (message: JsonObject): Step => ({ do: "say", message: { jsonrpc: "2.0", ...message } })

/**
 * Waits until the client has answered every request that the server has sent so far; on a pipe the requests of this pipe.
 *
 * @category steps
 * @since 0.1.0
 */
export const hear: Step = { do: "hear" }

/**
 * Writes text as it is.
 *
 * @category steps
 * @since 0.1.0
 */
export const write = (text: string): Step => ({ do: "write", text })

/**
 * Writes to standard error.
 *
 * @category steps
 * @since 0.1.0
 */
export const log = (text: string): Step => ({ do: "log", text })

/**
 * The process ends.
 *
 * @category steps
 * @since 0.1.0
 */
export const exit = (code: number): Step => ({ do: "exit", code })

/**
 * The output is closed; over HTTP the connection breaks.
 *
 * @category steps
 * @since 0.1.0
 */
export const close: Step = { do: "close" }

/**
 * Over HTTP the event stream ends as it stands.
 *
 * @category steps
 * @since 0.1.0
 */
export const end: Step = { do: "end" }

/**
 * Over HTTP this response: a text, or a value written as JSON.
 *
 * @category steps
 * @since 0.1.0
 */
export const http = (
  status: number,
  body: string | JsonObject = "",
  headers: Readonly<Record<string, string>> = {}
): Step => ({
  do: "http",
  status,
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: typeof body === "string" ? headers : { "content-type": "application/json", ...headers }
})

/**
 * Over HTTP a web page instead of an answer.
 *
 * @category steps
 * @since 0.1.0
 */
export const page = (status = 200): Step =>
  http(status, "<!doctype html><title>Sign in</title>", { "content-type": "text/html; charset=utf-8" })

/**
 * Nothing at all.
 *
 * @category steps
 * @since 0.1.0
 */
export const silence: Turn = []

/**
 * A whole and correct DiscoverResult that names these versions.
 *
 * @category results
 * @since 0.1.0
 */
export const discovered = (supportedVersions: ReadonlyArray<unknown>, more: JsonObject = {}): JsonObject => ({
  resultType: "complete",
  supportedVersions,
  capabilities: { tools: {} },
  ttlMs: 60_000,
  cacheScope: "private",
  _meta: { [Meta.serverInfo]: { name: "scripted", version: "1.0.0" } },
  ...more
})

/**
 * A whole and correct InitializeResult with this version.
 *
 * @category results
 * @since 0.1.0
 */
export const initialized = (protocolVersion: string, more: JsonObject = {}): JsonObject => ({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: "scripted", version: "1.0.0" },
  ...more
})

/**
 * A result of the modern era that asks before it answers: the request comes again with the answers, in its next turn.
 *
 * @category results
 * @since 0.1.0
 */
export const inputRequired = (
  inputRequests: Readonly<Record<string, JsonObject>>,
  more: JsonObject = {}
): JsonObject => ({ resultType: "input_required", inputRequests, ...more })
