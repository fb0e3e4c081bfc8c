/**
 * Many servers, one catalogue, under the user's control (U-50 to U-58).
 *
 * A host runs servers side by side, keeps one catalogue of what they offer, sends each tool call to its owner, and lets no
 * call through that was not approved. What happens is told as a stream of events. Where entries come from
 * (`Configuration`), and where events go (`HostLog`), is left to others.
 *
 * @since 0.1.0
 */
import type { CallOptions as ClientCallOptions, ConnectOptions, RequestOptions } from "@mcp-effect/client/McpClient"
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import type { ServerLog } from "@mcp-effect/client/ServerLog"
import type { Diagnostic } from "@mcp-effect/protocol/Diagnostic"
import type { Implementation } from "@mcp-effect/protocol/Implementation"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type * as Prompt from "@mcp-effect/protocol/Prompt"
import type * as Resource from "@mcp-effect/protocol/Resource"
import type * as Tool from "@mcp-effect/protocol/Tool"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as SubscriptionRef from "effect/SubscriptionRef"
import type { Decision, Rule } from "./Approval.ts"
import type { Approved, Catalogue } from "./Catalogue.ts"
import type { HostedServer } from "./HostedServer.ts"
import type { HostError } from "./HostError.ts"
import type { HostEvent } from "./HostEvent.ts"
import type { HostHandlers } from "./HostHandlers.ts"
import { make as makeHost } from "./internal/host.ts"
import type { Approval, ServerEntry } from "./ServerEntry.ts"
import type { About, StartError } from "./ServerState.ts"

/**
 * How a collection of servers differs from the one before.
 *
 * @category models
 * @since 0.1.0
 */
export interface Difference {
  readonly added: ReadonlyArray<ServerEntry>
  readonly changed: ReadonlyArray<ServerEntry>
  readonly removed: ReadonlyArray<ServerEntry>
  readonly same: ReadonlyArray<ServerEntry>
}

/**
 * A tool: by its name in the catalogue, or by its server and its own name.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolRef = string | { readonly server: string; readonly tool: string }

/**
 * How to call a tool. `timeout` is the host's limit: time for approval and for questions to the user does not count.
 *
 * @category models
 * @since 0.1.0
 */
export type CallOptions = Omit<ClientCallOptions, "definition" | "resetOnProgress" | "task">

/**
 * What a server logged over the protocol. These are its own words; they are not among the host's events.
 *
 * @category models
 * @since 0.1.0
 */
export interface HostedLog {
  readonly server: string
  /** When it came, in milliseconds since 1970. */
  readonly at: number
  readonly log: ServerLog
}

/**
 * How a host is made. All of it has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<R = never> {
  readonly handlers?: HostHandlers<R>
  /** Whether calls need a yes where an entry does not say: `ask` (the default), or `allow` (U-56). */
  readonly approval?: Approval
  /** Rules in front of the handler; the first that fits decides. */
  readonly rules?: ReadonlyArray<Rule>
  /** Fingerprints of tools that were approved before, as `approved` gave them. */
  readonly approved?: Approved
  /**
   * What a refused call returns instead of a result, as a text with `isError`. Empty by default: then a refused call fails
   * with `ToolDenied` (U-57).
   */
  readonly deniedMessage?: string
  /** How long a tool call may take where neither the call nor the entry says. `ToolCallTimeout` (60 seconds) by default. */
  readonly toolTimeout?: Duration.Input
  /** How many events, decisions, diagnostics and logs a late subscriber still gets, each: a finite number. 256. */
  readonly replay?: number
  /** Who the servers are told is connecting. */
  readonly client?: Implementation
  /** How each connection is made, beside what the entry says: schedules, extensions, inspection, middleware. */
  readonly connect?: Omit<ConnectOptions<R>, "client" | "handlers" | "mode">
  /**
   * When to try again to start a server that failed, or was lost and did not come back, for a reason that may pass:
   * unreachable, too slow, a process that ended, HTTP 5xx. Each server has a schedule of its own; a server that was ready
   * for `Limits.SteadyAfter` (30 seconds) begins anew with it. By default after 1 second, then twice as long each time up
   * to 5 minutes, with jitter, without end; a `Retry-After` is waited for. `"never"` leaves it to `start`.
   */
  readonly retry?: Schedule.Schedule<unknown, StartError> | "never"
  /**
   * How to reach a server, where it is not as its entry says: a transport of your own, an HTTP client that signs in.
   * `undefined` is the usual way.
   */
  readonly transport?: (entry: ServerEntry) => Effect.Effect<Transport["Service"] | undefined, never, R>
}

/**
 * A host.
 *
 * @category services
 * @since 0.1.0
 */
export class Host extends Context.Service<
  Host,
  {
    /** The servers by name, in the order they were added. */
    readonly servers: SubscriptionRef.SubscriptionRef<ReadonlyMap<string, HostedServer>>
    /** One server; `UnknownServer` when there is none of that name. */
    readonly server: (name: string) => Effect.Effect<HostedServer, HostError>
    /**
     * Adds a server and starts it, unless it is disabled. `NameTaken` when there is one of that name, `HostClosed` when the
     * scope of the host has ended.
     */
    readonly add: (entry: ServerEntry, transport?: Transport["Service"]) => Effect.Effect<HostedServer, HostError>
    /** Stops a server and takes it away. */
    readonly remove: (name: string) => Effect.Effect<void, HostError>
    /**
     * Stops and clears everything, then starts these, disabled ones excepted. Of two of one name the first counts. It does
     * not wait until they are ready. A host that is closed starts none, here and in `apply`.
     */
    readonly load: (entries: Iterable<ServerEntry>) => Effect.Effect<void>
    /** Starts, restarts and removes only what differs: for files that are watched. Of two of one name the first counts. */
    readonly apply: (difference: Omit<Difference, "same">) => Effect.Effect<void>
    /** Starts a server, if it does not run; does not wait until it is ready. One that failed is tried again at once. */
    readonly start: (name: string) => Effect.Effect<void, HostError>
    /** Stops a server. The others do not notice. */
    readonly stop: (name: string) => Effect.Effect<void, HostError>
    readonly restart: (name: string) => Effect.Effect<void, HostError>
    /** Waits until a server is ready, or has failed: also where it will be tried again. */
    readonly ready: (name: string) => Effect.Effect<About, StartError>
    /** Everything the running servers offer. Read it once, or follow its changes. */
    readonly catalogue: SubscriptionRef.SubscriptionRef<Catalogue>
    /**
     * Calls a tool where it lives, once the call is approved. A tool that fails gives a result with `isError`.
     *
     * `ToolDenied` when it was refused, `ToolTimedOut` when it took too long, `ServerStopped` when its server was stopped
     * meanwhile, `UnknownTool` and `NotReady` when there is nothing to call; `McpClientError` for everything that the server
     * or the wire did wrong. Interrupting cancels.
     */
    readonly callTool: (
      tool: ToolRef,
      args?: JsonObject,
      options?: CallOptions
    ) => Effect.Effect<Tool.CallResult, HostError | McpClientError>
    /** Fills in a prompt of a server. */
    readonly getPrompt: (
      prompt: { readonly server: string; readonly prompt: string },
      args?: Readonly<Record<string, string>>,
      options?: RequestOptions
    ) => Effect.Effect<Prompt.GetResult, HostError | McpClientError>
    /** Reads a resource of a server. */
    readonly readResource: (
      resource: { readonly server: string; readonly uri: string },
      options?: RequestOptions
    ) => Effect.Effect<Resource.ReadResult, HostError | McpClientError>
    /** The fingerprints of the tools that were approved so far; keep them for the next `Options.approved`. */
    readonly approved: Effect.Effect<Approved>
    /** Approves a tool as it is defined now, so that it is not marked as changed. A yes of the handler does this too. */
    readonly approve: (tool: ToolRef) => Effect.Effect<void, HostError>
    /**
     * What happens, beginning with the last `Options.replay` events. Slow readers lose the oldest past 1,024 more; a gap in
     * `sequence` shows it, and `missed` counts it. Ends with the host, like the three below.
     */
    readonly events: Stream.Stream<HostEvent>
    /**
     * Calls a function with each event as it happens, beginning with the kept ones, as long as the scope lives. It is called
     * synchronously and misses nothing, so it should be quick. One that throws is a `CallbackFailed` and hears no more.
     */
    readonly listen: (hear: (event: HostEvent) => void) => Effect.Effect<void, never, Scope.Scope>
    /** Puts a diagnostic of the program's own among the events, as the host's: a log that cannot be written, say. */
    readonly report: (diagnostic: Diagnostic) => Effect.Effect<void>
    /** Those of the events that are diagnostics (`Noticed`, `Advised`), with a replay of their own. */
    readonly diagnostics: Stream.Stream<HostEvent>
    /** Every decision on a tool call. */
    readonly decisions: Stream.Stream<Decision>
    /** What servers log over the protocol. */
    readonly logs: Stream.Stream<HostedLog>
    /** How many items slow readers of these streams have lost. */
    readonly missed: Effect.Effect<number>
  }
>()("@mcp-effect/host/Host") {}

/**
 * A host without servers, for as long as the scope lives. Closing the scope stops all of them.
 *
 * Where there is a `ChildProcessSpawner`, servers of type `stdio` can run; where there is an `HttpClient`, those behind a
 * URL. Neither is required: without them such servers fail alone, with `CannotReach` (U-45).
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: <R = never>(options?: Options<R>) => Effect.Effect<Host["Service"], never, R | Scope.Scope> =
  makeHost

/**
 * The `Host` service. Provide what its servers need: a `ChildProcessSpawner`, an `HttpClient`.
 *
 * @example
 * ```ts
 * import { Host, ServerEntry } from "@mcp-effect/host"
 * import { NodeServices } from "@effect/platform-node"
 * import { Effect, Layer } from "effect"
 *
 * export const program = Effect.gen(function* () {
 *   const host = yield* Host.Host
 *   yield* host.add(ServerEntry.stdio({ name: "files", command: "npx", args: ["-y", "some-server"] }))
 *   yield* host.ready("files")
 *   return yield* host.callTool("files__list", { folder: "/" })
 * }).pipe(Effect.provide(Host.layer({ approval: "allow" }).pipe(Layer.provide(NodeServices.layer))))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>(options?: Options<R>): Layer.Layer<Host, never, Exclude<R, Scope.Scope>> =>
  Layer.effect(Host, make(options))
