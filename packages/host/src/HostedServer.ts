/**
 * One server of a host: how to run it, how it is doing and what it offers (U-50 to U-53).
 *
 * Each is a connection of its own. What one does, or fails to do, never holds up another.
 *
 * @since 0.1.0
 */
import type { Client } from "@mcp-effect/client/McpClient"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as SubscriptionRef from "effect/SubscriptionRef"
import type { Lists } from "./Catalogue.ts"
import type { HostError } from "./HostError.ts"
import type { HostEvent } from "./HostEvent.ts"
import type { ServerEntry } from "./ServerEntry.ts"
import type { About, ServerState, StartError } from "./ServerState.ts"

/**
 * One server of a host.
 *
 * @category models
 * @since 0.1.0
 */
export interface HostedServer {
  readonly name: string
  /** What it was made from. */
  readonly entry: ServerEntry
  /** How it is doing. Read it once, or follow its changes. */
  readonly state: SubscriptionRef.SubscriptionRef<ServerState>
  /** Its lists, kept in step with it; empty while it does not run. Tools that the entry hides are in it too. */
  readonly lists: SubscriptionRef.SubscriptionRef<Lists>
  /**
   * What happens to it: those of the host's events that are its own, beginning with the last `Options.replay` of them. Ends
   * when the server is removed.
   */
  readonly events: Stream.Stream<HostEvent>
  /**
   * Begins to connect and returns at once; `ready` waits for the outcome. Does nothing when the server runs already. A
   * failure is a state and an event. One that failed is tried again at once, as if for the first time. A server that was
   * removed stays stopped.
   */
  readonly start: Effect.Effect<void>
  /**
   * Withdraws its tools at once, ends its calls with `ServerStopped`, and closes the connection; done when the process is
   * gone. One that failed is not tried again. Does nothing when the server does not run.
   */
  readonly stop: Effect.Effect<void>
  /** `stop`, then `start`. */
  readonly restart: Effect.Effect<void>
  /**
   * Waits until it is ready. Fails with the error of a server that failed, also where it will be tried again (follow `state`
   * to wait longer), and with `NotReady` when nobody started it.
   */
  readonly ready: Effect.Effect<About, StartError>
  /**
   * The connection itself, for what the host has no word for. Tool calls made on it are neither approved nor timed by the
   * host. `NotReady` while there is none; another one after the server failed or was stopped.
   */
  readonly client: Effect.Effect<Client, HostError>
}
