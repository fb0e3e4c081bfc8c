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
import type { Hook } from "@mcp-effect/negotiation/Negotiator"
import type * as Completion from "@mcp-effect/protocol/Completion"
import type { DiscoverResult } from "@mcp-effect/protocol/Discover"
import type { Implementation } from "@mcp-effect/protocol/Implementation"
import type { InitializeResult } from "@mcp-effect/protocol/Initialize"
import type { InputRequest, InputResponse } from "@mcp-effect/protocol/InputRequired"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type * as Logging from "@mcp-effect/protocol/Logging"
import type * as Method from "@mcp-effect/protocol/Method"
import type * as Progress from "@mcp-effect/protocol/Progress"
import type * as Prompt from "@mcp-effect/protocol/Prompt"
import type * as Resource from "@mcp-effect/protocol/Resource"
import type * as Tool from "@mcp-effect/protocol/Tool"
import { type Kind, Transport } from "@mcp-effect/transport/Transport"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as SubscriptionRef from "effect/SubscriptionRef"
import type { CallEvent } from "./CallEvent.ts"
import type { Change, Filter } from "./Change.ts"
import type { ConnectionState } from "./ConnectionState.ts"
import type * as Continuation from "./Continuation.ts"
import type { Options as ExtensionOptions } from "./ExtensionMethod.ts"
import type { Handlers } from "./Handlers.ts"
import { make } from "./internal/client.ts"
import { type Target, transportOf } from "./internal/target.ts"
import { makeTest } from "./internal/testClient.ts"
import type { Items, LiveList } from "./LiveList.ts"
import type { McpClientError } from "./McpClientError.ts"
import type { Middleware } from "./Middleware.ts"
import type * as ResultCache from "./ResultCache.ts"
import type { ServerLog } from "./ServerLog.ts"
import type { TestServer } from "./TestServer.ts"

/**
 * How to connect.
 *
 * @category models
 * @since 0.1.0
 */
export interface ConnectOptions<R = never> {
  /**
   * How the connection starts (U-01): `auto` (the default) asks `server/discover` and falls back to the handshake;
   * `modern` never falls back; `legacy` only shakes hands; a modern version sends nothing at all.
   */
  readonly mode?: Mode
  /** Who the client says it is. This library's own name and version by default. */
  readonly client?: Implementation
  /** What the program can do for the server. What is here is what the server is told; nothing by default. */
  readonly handlers?: Handlers<R>
  /** Settings of extensions this program speaks, by their names; modern era only. */
  readonly extensions?: Readonly<Record<string, JsonRpc.JsonObject>>
  /** Looks at what the server says of itself and may refuse it by failing (U-08). Modern era. */
  readonly inspectDiscover?: Hook<DiscoverResult, R>
  /** The same for the legacy era, before the handshake is completed. */
  readonly inspectInitialize?: Hook<InitializeResult, R>
  /**
   * When to try again to open a session in place of one that is gone. By default 10 times, from 250 ms to 30 s, with
   * jitter (the `Reconnect…` defaults).
   */
  readonly reconnect?: Schedule.Schedule<unknown, NegotiationError | McpClientError>
  /** What stands between the client and the wire; the first is the outermost. */
  readonly middleware?: ReadonlyArray<Middleware>
  /**
   * How often the server is asked for a sign of life, in the legacy era; without one the session is opened again. Off by
   * default. The modern era has no such request.
   */
  readonly heartbeat?: Duration.Input
  /**
   * When to ask again for changes after the server has stopped to report them, and after a session that did not last. As
   * `reconnect` by default. It begins anew when a change was heard, or after `SteadyAfter` (30 seconds) without trouble.
   */
  readonly relisten?: Schedule.Schedule<unknown, NegotiationError | McpClientError>
  /** Whether the server's log messages go to Effect's logger too (`ServerLog.toLogger`). They do not by default. */
  readonly forwardLogs?: boolean
}

/**
 * How to make one request.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestOptions {
  /**
   * How long to wait for the answer. `RequestTimeout` (60 seconds) by default; then the request is cancelled.
   * `Duration.infinity` waits as long as the caller does.
   */
  readonly timeout?: Duration.Input
  /** Whether progress starts that time again. It does not by default. `RequestCap` (10 minutes) holds all the same. */
  readonly resetOnProgress?: boolean
  /** Hears progress, in order and before the answer. Called synchronously; it must not throw. */
  readonly onProgress?: (progress: Progress.Params) => void
  /** Hears every notification that belongs to this request, progress too. Called synchronously; it must not throw. */
  readonly onNotification?: (notification: JsonRpc.Notification) => void
  /** Asks for log messages of this request, at this level and above; modern era only. */
  readonly logLevel?: Logging.Level
  /** Further keys of `_meta`. Keys of the protocol in it are ignored. With them nothing is taken from the cache. */
  readonly meta?: JsonRpc.JsonObject
  /**
   * What the request does with the cache, for what a modern server lets a client keep: `use` (the default) takes a result
   * that is still fresh, `refresh` asks and keeps, `bypass` asks and keeps nothing. See `ResultCache`.
   */
  readonly cache?: ResultCache.Use
}

/**
 * How to call a tool.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallOptions extends RequestOptions {
  /**
   * Whether the call does no harm when it runs twice, so that it may be sent again when its answer is lost. By default
   * what the server says of the tool (`readOnlyHint`, `idempotentHint`).
   */
  readonly repeatable?: boolean
  /**
   * The tool as a list once gave it, for a program that kept the list: its output schema, mirrored headers and hints then
   * hold without listing again (T-TOOL-7). By default what the last listing of this connection said.
   */
  readonly definition?: Tool.Tool
  /**
   * Asks a server of 2025-11-25 to make a task of the call, where it and the tool say that they can; `ttl` is how long it
   * shall keep the task: a time that ends, else `InvalidOption`; by default the server's own. A modern server decides by
   * itself. `Tasks` sets this; a plain call then fails with `BecameTask`.
   */
  readonly task?: { readonly ttl?: Duration.Input }
}

/**
 * A connected client: what `connect` gives, and what the service `McpClient` is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Client {
  /** Names the server: its URL or its command line, without secrets. */
  readonly endpoint: string
  /** What carries the messages in the end; `sse` when HTTP fell back to HTTP+SSE. */
  readonly transport: Kind
  /** What was agreed, and why (U-07). A connection that had to be opened again shows the newest. */
  readonly agreement: Agreement
  /** How the connection is doing. Read it once, or follow its changes. */
  readonly state: SubscriptionRef.SubscriptionRef<ConnectionState>
  /**
   * Every notification of the server but progress, as it came. Late subscribers miss what was before; slow ones lose
   * the oldest past `Limits.NotificationBuffer` (1,024). Ends with the client.
   */
  readonly notifications: Stream.Stream<JsonRpc.Notification>
  /**
   * Asks the server what it is, now (U-09): past the cache, unless the options say `use`. In the legacy era the reason is
   * `NotAvailableInLegacy`.
   */
  readonly discover: (options?: RequestOptions) => Effect.Effect<DiscoverResult, McpClientError>
  /** Every tool, over all pages. A tool that cannot be read is left out and reported as a diagnostic. */
  readonly listTools: (options?: RequestOptions) => Effect.Effect<ReadonlyArray<Tool.Tool>, McpClientError>
  /**
   * Calls a tool. A tool that fails gives a result with `isError`; the error channel is for everything else, also for
   * structured content that breaks the schema the tool was listed with (`OutputInvalid`, `OutputSchema`). When the wire
   * breaks before the answer, the reason is `OutcomeUnknown` and nothing is sent again, unless the tool may be
   * repeated. Questions of the server go to the handlers. Interrupting cancels.
   *
   * TypeScript refuses an `interface` as arguments ("Index signature … is missing"): use a `type`, or spread it,
   * `{ ...args }`.
   */
  readonly callTool: (
    name: string,
    args?: JsonRpc.JsonObject,
    options?: CallOptions
  ) => Effect.Effect<Tool.CallResult, McpClientError>
  /** The same call as a stream: progress, log messages and rounds of questions as they come, the result last. */
  readonly streamTool: (
    name: string,
    args?: JsonRpc.JsonObject,
    options?: CallOptions
  ) => Stream.Stream<CallEvent, McpClientError>
  /** Calls a tool and gives back the server's questions instead of asking the handlers; see `Continuation`. */
  readonly begin: (
    name: string,
    args?: JsonRpc.JsonObject,
    options?: CallOptions
  ) => Effect.Effect<Continuation.Outcome, McpClientError>
  /** Goes on with a paused call: with answers under the keys of its questions, if it had any. */
  readonly resume: (
    continuation: Continuation.Continuation,
    answers?: Readonly<Record<string, InputResponse>>,
    options?: CallOptions
  ) => Effect.Effect<Continuation.Outcome, McpClientError>
  /** Answers questions of the server with the handlers, as a call would; `InputRequired` when one of them does not. */
  readonly answer: (
    questions: Readonly<Record<string, InputRequest>>
  ) => Effect.Effect<Readonly<Record<string, InputResponse>>, McpClientError>
  /** Every prompt, over all pages. */
  readonly listPrompts: (options?: RequestOptions) => Effect.Effect<ReadonlyArray<Prompt.Prompt>, McpClientError>
  /** Fills in a prompt. */
  readonly getPrompt: (
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions
  ) => Effect.Effect<Prompt.GetResult, McpClientError>
  /** Every resource, over all pages. */
  readonly listResources: (options?: RequestOptions) => Effect.Effect<ReadonlyArray<Resource.Resource>, McpClientError>
  /** Every template of resources, over all pages. */
  readonly listResourceTemplates: (
    options?: RequestOptions
  ) => Effect.Effect<ReadonlyArray<Resource.Template>, McpClientError>
  /** Reads a resource. */
  readonly readResource: (uri: string, options?: RequestOptions) => Effect.Effect<Resource.ReadResult, McpClientError>
  /** Proposes values for an argument of a prompt or of a resource template; servers should stop at 100. */
  readonly complete: (
    params: Completion.Params,
    options?: RequestOptions
  ) => Effect.Effect<Completion.Result, McpClientError>
  /**
   * Any list, page by page: `pages("tools/list")`. Bounded by `MaxPages` and `MaxItems` like the others. A listing of
   * tools says as much about later calls as `listTools`, as far as it was read.
   */
  readonly pages: <M extends ListMethod>(
    method: M,
    options?: RequestOptions
  ) => Stream.Stream<Listings[M], McpClientError>
  /**
   * Asks for a sign of life. Only the legacy era has it; on a modern connection the reason is `NotAvailableInModern`
   * and nothing is sent.
   */
  readonly ping: (options?: RequestOptions) => Effect.Effect<void, McpClientError>
  /** Any method of the protocol with its own parameters and result. Questions of the server are in the result. */
  readonly request: <M extends Method.Method>(
    method: M,
    params: Method.Params<M>,
    options?: RequestOptions
  ) => Effect.Effect<Method.Result<M>, McpClientError>
  /**
   * A method that the protocol does not define: parameters go as they are, and the result comes as it is. A name of the
   * protocol is refused (`InvalidOption`). `ExtensionMethod` puts types on both sides.
   */
  readonly extension: (
    method: string,
    params: JsonRpc.JsonObject,
    options?: ExtensionOptions
  ) => Effect.Effect<JsonRpc.JsonObject, McpClientError>
  /**
   * What changes on the server, from the time the stream runs. All that is watched shares one subscription, which is
   * made again after a gap; then a change is told for everything watched, since something may have been missed. A
   * change that still waits for a slow reader is not told twice. What the server does not report comes as `Unwatched`.
   *
   * Fails when asking again has come to its end (`relisten`), or when the connection is lost; ends with the client.
   */
  readonly changes: (filter: Filter) => Stream.Stream<Change, McpClientError>
  /**
   * A list that follows the server as long as the scope lives. Fails when the first fetch fails; later failures stand
   * in `trouble`. Several changes within `Limits.LiveDebounce` (100 ms) cost one fetch.
   */
  readonly live: <M extends ListMethod>(
    method: M
  ) => Effect.Effect<SubscriptionRef.SubscriptionRef<LiveList<Items[M]>>, McpClientError, Scope.Scope>
  /** What the server logs, from the time the stream runs. Bounded like `notifications`, and ends with the client. */
  readonly logs: Stream.Stream<ServerLog>
  /**
   * How much the server shall log. A legacy server is told at once, and again in each new session; a modern one with
   * every later request that has no `logLevel` of its own. A level that does not exist is `InvalidOption`.
   */
  readonly setLogLevel: (level: Logging.Level) => Effect.Effect<void, McpClientError>
  /** Says that the answer to `roots` is another one now. Does nothing in the modern era, or without that handler. */
  readonly rootsChanged: Effect.Effect<void, McpClientError>
}

/**
 * The service of a connected client, for programs that are given theirs by a layer.
 *
 * @category services
 * @since 0.1.0
 */
export class McpClient extends Context.Service<McpClient, Client>()("@mcp-effect/client/McpClient") {}

/**
 * What each list gives, page by page.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listings {
  readonly "tools/list": Tool.ListResult
  readonly "prompts/list": Prompt.ListResult
  readonly "resources/list": Resource.ListResult
  readonly "resources/templates/list": Resource.TemplatesResult
}

/**
 * The methods that list something page by page.
 *
 * @category models
 * @since 0.1.0
 */
export type ListMethod = keyof Listings

/**
 * What handlers need, told by the handlers alone: a result that is used as `any` somewhere would say it otherwise.
 *
 * @category models
 * @since 0.1.0
 */
export type Needed<R> = [R][R extends unknown ? 0 : never]

/**
 * Connects, for as long as the scope lives.
 *
 * A URL (text or `URL`) speaks Streamable HTTP and needs an `HttpClient`; an array is a command with its arguments,
 * needs a `ChildProcessSpawner` and speaks over stdio; a `Transport` is used as it is. On Node, `NodeStdio.make` in place
 * of the array also lets go of a process that left its group and holds the pipes, which else keeps the program alive.
 *
 * Fails with `NegotiationError` when the server could not be reached or understood, or when connecting as a whole took
 * longer than `ConnectTimeout` (60 seconds); with `McpClientError` when the agreed session could not be opened. Closing
 * the scope ends the HTTP session or stops the child process.
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
export function connect<R = never>(
  url: string | URL,
  options?: ConnectOptions<R>
): Effect.Effect<Client, NegotiationError | McpClientError, Needed<R> | Scope.Scope | HttpClient.HttpClient>
export function connect<R = never>(
  command: ReadonlyArray<string>,
  options?: ConnectOptions<R>
): Effect.Effect<Client, NegotiationError | McpClientError, Needed<R> | Scope.Scope | ChildProcessSpawner>
export function connect<R = never>(
  transport: Transport["Service"],
  options?: ConnectOptions<R>
): Effect.Effect<Client, NegotiationError | McpClientError, Needed<R> | Scope.Scope>
export function connect<R = never>(
  target: string | URL | ReadonlyArray<string> | Transport["Service"],
  options?: ConnectOptions<R>
): Effect.Effect<
  Client,
  NegotiationError | McpClientError,
  Needed<R> | Scope.Scope | HttpClient.HttpClient | ChildProcessSpawner
>
export function connect<R = never>(
  target: Target,
  options: ConnectOptions<R> = {}
): Effect.Effect<
  Client,
  NegotiationError | McpClientError,
  R | Scope.Scope | HttpClient.HttpClient | ChildProcessSpawner
> {
  return Effect.flatMap(transportOf(target), (transport) => make(transport, options))
}

/**
 * The `McpClient` service over the `Transport` in the layer's input. Each call is one connection of its own.
 *
 * A bundled program then holds the transport that it provides and no other. `connect`, which takes an address or a
 * command, brings HTTP and stdio along.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>(
  options: ConnectOptions<R> = {}
): Layer.Layer<McpClient, NegotiationError | McpClientError, Transport | Exclude<R, Scope.Scope>> =>
  Layer.effect(
    McpClient,
    Effect.flatMap(Transport, (transport) => make(transport, options))
  )

/**
 * The `McpClient` service for tests: a client of a made-up server, given as functions. What the server does not have gives
 * the errors a real one would.
 *
 * @example
 * ```ts
 * import { McpClient } from "@mcp-effect/client"
 * import { Effect } from "effect"
 *
 * const weather = McpClient.layerTest({
 *   tools: [{ tool: "weather", call: ({ city }) => Effect.succeed(`sunny in ${city}`) }]
 * })
 *
 * export const test = Effect.gen(function*() {
 *   const client = yield* McpClient.McpClient
 *   return yield* client.callTool("weather", { city: "Oslo" })
 * }).pipe(Effect.provide(weather))
 * ```
 *
 * @category testing
 * @since 0.1.0
 */
export const layerTest = <R = never>(
  server: TestServer,
  options: Pick<ConnectOptions<R>, "client" | "extensions" | "forwardLogs" | "handlers" | "middleware"> = {}
): Layer.Layer<McpClient, never, Exclude<R, Scope.Scope>> => Layer.effect(McpClient, makeTest(server, options))
