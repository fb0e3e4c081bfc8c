/**
 * A client connected to one server, in whatever era the server speaks.
 *
 * There are two equal ways in. `connect` gives a client for as long as the scope lives; it takes a URL, a command or a
 * `Transport`. `layer` gives the `McpClient` service over the `Transport` in its input: there transports of your own
 * plug in. No layer here is a constant: each call of `layer` is one connection, so two servers never get mixed up.
 *
 * @since 0.1.0
 */
import type { Agreement } from "@mcp-effect/negotiation/Agreement"
import type { Input as Mode } from "@mcp-effect/negotiation/Mode"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import type { Implementation } from "@mcp-effect/protocol/Implementation"
import type * as Progress from "@mcp-effect/protocol/Progress"
import type * as Tool from "@mcp-effect/protocol/Tool"
import { type Kind, Transport } from "@mcp-effect/transport/Transport"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import * as Connection from "./internal/connection.ts"
import { walk } from "./internal/pages.ts"
import { type Target, transportOf } from "./internal/target.ts"
import { InputRequired, McpClientError } from "./McpClientError.ts"

/**
 * How to connect.
 *
 * @category models
 * @since 0.1.0
 */
export interface ConnectOptions {
  /**
   * How the connection starts (U-01): `auto` (the default) asks `server/discover` and falls back to the handshake;
   * `modern` never falls back; `legacy` only shakes hands; a modern version sends nothing at all.
   */
  readonly mode?: Mode
  /** Who the client says it is. This library's own name and version by default. */
  readonly client?: Implementation
}

/**
 * How to make one request.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestOptions {
  /** How long to wait for the answer. `RequestTimeout` (60 seconds) by default; then the request is cancelled. */
  readonly timeout?: Duration.Input
  /** Hears progress, in order and before the answer. Called synchronously; it must not throw. */
  readonly onProgress?: (progress: Progress.Params) => void
}

/**
 * A connected client.
 *
 * @category services
 * @since 0.1.0
 */
export class McpClient extends Context.Service<
  McpClient,
  {
    /** Names the server: its URL or its command line, without secrets. */
    readonly endpoint: string
    /** What carries the messages in the end; `sse` when HTTP fell back to HTTP+SSE. */
    readonly transport: Kind
    /** What was agreed, and why (U-07). */
    readonly agreement: Agreement
    /** Every tool, over all pages. A tool that cannot be read is left out and reported as a diagnostic. */
    readonly listTools: (options?: RequestOptions) => Effect.Effect<ReadonlyArray<Tool.Tool>, McpClientError>
    /**
     * Calls a tool. A tool that fails gives a result with `isError`; the error channel is for everything else. When the
     * wire breaks before the answer, the reason is `OutcomeUnknown` and nothing is sent again. Interrupting cancels.
     */
    readonly callTool: (
      name: string,
      args?: Readonly<Record<string, unknown>>,
      options?: RequestOptions
    ) => Effect.Effect<Tool.CallResult, McpClientError>
    /**
     * Asks for a sign of life. Only the legacy era has it; on a modern connection the reason is `NotAvailableInModern`
     * and nothing is sent.
     */
    readonly ping: (options?: RequestOptions) => Effect.Effect<void, McpClientError>
  }
>()("@mcp-effect/client/McpClient") {}

const make = Effect.fnUntraced(function* (transport: Transport["Service"], options: ConnectOptions) {
  const connection = yield* Connection.open(transport, options)
  return McpClient.of({
    endpoint: transport.endpoint,
    transport: connection.transport,
    agreement: connection.agreement,
    listTools: Effect.fn("McpClient.listTools")(function* (request?: RequestOptions) {
      return yield* walk({
        server: transport.endpoint,
        method: "tools/list",
        page: (cursor) => connection.request("tools/list", cursor === undefined ? {} : { cursor }, request),
        items: (page) => page.tools
      })
    }),
    callTool: Effect.fn("McpClient.callTool")(function* (name, args = {}, request?: RequestOptions) {
      const result = yield* connection.request("tools/call", { name, arguments: args }, request)
      if (result.resultType !== "input_required") return result
      return yield* new McpClientError({
        server: transport.endpoint,
        reason: new InputRequired({ method: "tools/call" })
      })
    }),
    ping: Effect.fn("McpClient.ping")(function* (request?: RequestOptions) {
      yield* connection.request("ping", {}, request)
    })
  })
})

/**
 * Connects, for as long as the scope lives.
 *
 * A URL (text or `URL`) speaks Streamable HTTP and needs an `HttpClient`; an array is a command with its arguments,
 * needs a `ChildProcessSpawner` and speaks over stdio; a `Transport` is used as it is.
 *
 * Fails with `NegotiationError` when the server could not be reached or understood, with `McpClientError` when connecting
 * as a whole took longer than `ConnectTimeout` (60 seconds) or the agreed session could not be opened. Closing the scope
 * ends the HTTP session or stops the child process.
 *
 * @example
 * ```ts
 * import { McpClient } from "@mcp-effect/client"
 * import { Effect } from "effect"
 *
 * const tools = Effect.gen(function*() {
 *   const client = yield* McpClient.connect(["npx", "-y", "@modelcontextprotocol/server-everything"])
 *   return yield* client.listTools()
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function connect(
  url: string | URL,
  options?: ConnectOptions
): Effect.Effect<McpClient["Service"], NegotiationError | McpClientError, Scope.Scope | HttpClient.HttpClient>
export function connect(
  command: ReadonlyArray<string>,
  options?: ConnectOptions
): Effect.Effect<McpClient["Service"], NegotiationError | McpClientError, Scope.Scope | ChildProcessSpawner>
export function connect(
  transport: Transport["Service"],
  options?: ConnectOptions
): Effect.Effect<McpClient["Service"], NegotiationError | McpClientError, Scope.Scope>
export function connect(
  target: string | URL | ReadonlyArray<string> | Transport["Service"],
  options?: ConnectOptions
): Effect.Effect<
  McpClient["Service"],
  NegotiationError | McpClientError,
  Scope.Scope | HttpClient.HttpClient | ChildProcessSpawner
>
export function connect(
  target: Target,
  options: ConnectOptions = {}
): Effect.Effect<
  McpClient["Service"],
  NegotiationError | McpClientError,
  Scope.Scope | HttpClient.HttpClient | ChildProcessSpawner
> {
  return Effect.flatMap(transportOf(target), (transport) => make(transport, options))
}

/**
 * The `McpClient` service over the `Transport` in the layer's input. Each call is one connection of its own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: ConnectOptions = {}
): Layer.Layer<McpClient, NegotiationError | McpClientError, Transport> =>
  Layer.effect(
    McpClient,
    Effect.flatMap(Transport, (transport) => make(transport, options))
  )
