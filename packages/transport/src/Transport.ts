/**
 * The transport contract: how messages reach a server.
 *
 * A transport opens wires. A wire carries exchanges: one request out, messages that belong to it in, one response last.
 * Because a transport *opens*, a negotiation can begin again on a fresh wire, and reconnecting is an ordinary retry
 * around a scope. A transport knows bytes and headers; what differs by protocol revision it reads from the `Revision`
 * that comes with each message, and it never decides which era a server belongs to.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type { Revision } from "@mcp-effect/protocol/Revision"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { TransportError } from "./TransportError.ts"

/**
 * What carries the bytes. `stdio` is a child process, `http` Streamable HTTP, `sse` the older HTTP+SSE, `memory` a
 * server object in the same program, `stream` any other byte stream.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "stdio" | "http" | "sse" | "memory" | "stream"

/**
 * A message that is no answer: a notification, or (legacy era) a request of the server.
 *
 * @category models
 * @since 0.1.0
 */
export type Incoming = JsonRpc.Notification | JsonRpc.Request

/**
 * The part of a revision that a transport reads. Any `Revision` is one.
 *
 * @category models
 * @since 0.1.0
 */
export type Dialect = Pick<Revision, "version" | "habits">

/**
 * How to carry one exchange.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExchangeOptions {
  /** The revision whose habits apply: headers, session, cancellation. */
  readonly revision: Dialect
  /**
   * Hears, in order and before the response, what belongs to this request. Called synchronously; it must not throw.
   *
   * On a wire that carries everything in one line, a notification belongs to a request when its progress token or its
   * subscription id is the request's id; so ask for progress with the request's id as token.
   */
  readonly interim?: ((message: Incoming) => void) | undefined
  /**
   * What an interruption tells the server: `cancel` (the default) in the way of the wire, or nothing at all. The probe
   * and `initialize` are silent.
   */
  readonly onInterrupt?: "cancel" | "silent"
  /** Tool arguments mirrored into headers, already encoded: `[["Mcp-Param-Zone", "eu"]]`. Pipes ignore them. */
  readonly mirrored?: ReadonlyArray<readonly [name: string, value: string]> | undefined
}

/**
 * An exchange in plain calls, for callers who make thousands and keep time themselves: no effect, no fiber.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plain {
  /**
   * The `exchange` this is the plain form of. When the wire has another one, it was made of this wire and does more, so
   * `begin` must not be used. A wire with an `exchange` of its own so needs no thought for its plain form.
   */
  readonly exchange: Wire["exchange"]
  /**
   * Sends a request for a fiber. `settle` is told once how the exchange ended, perhaps before this returns; it must not
   * throw. What comes back ends the exchange early, as an interruption does: it acts when it is called, and the effect it
   * gives waits until all of it is done. `settle` is then told nothing. It may be called when the exchange is over, and again,
   * and then does nothing.
   */
  readonly begin: (
    request: JsonRpc.Request,
    options: ExchangeOptions,
    caller: Fiber.Fiber<unknown, unknown>,
    settle: (exit: Exit.Exit<JsonRpc.Response, TransportError>) => void
  ) => () => Effect.Effect<void>
}

/**
 * How the stream stands on which a server says what nobody asked for, where that is apart from the answers.
 *
 * - `Open`: it is heard. When it had broken and was taken up again, `missed` says that what the server said in between may
 *   be lost; it is not where the server numbers its events (L-HTTP-21).
 * - `None`: it is not heard, and not tried again over this wire; `because` says why, for example that the server has none
 *   (L-HTTP-10). When it was open before, something may have been missed.
 *
 * @category models
 * @since 0.1.0
 */
export type Standing =
  | { readonly _tag: "Open"; readonly missed: boolean }
  | { readonly _tag: "None"; readonly missed: boolean; readonly because: string }

/**
 * An open connection to a server. It lives as long as the scope it was opened in.
 *
 * @category models
 * @since 0.1.0
 */
export interface Wire {
  /**
   * Sends a request and waits for its answer. A JSON-RPC error is an answer, not a failure; over HTTP only a 2xx
   * answer is one, every other status fails with `HttpRejected`, which holds the body's JSON-RPC error if it had one.
   */
  readonly exchange: (
    request: JsonRpc.Request,
    options: ExchangeOptions
  ) => Effect.Effect<JsonRpc.Response, TransportError>
  /** The same exchange in plain calls, from wires that have it. */
  readonly plain?: Plain
  /** Sends a notification, or the answer to a server's request; done when the transport has taken it (HTTP: 2xx). */
  readonly send: (
    message: JsonRpc.Notification | JsonRpc.Response,
    revision: Dialect
  ) => Effect.Effect<void, TransportError>
  /** The end of what the server's process has written to its standard error so far, for a server that says nothing else. */
  readonly stderr?: (() => string) | undefined
  /**
   * Tells how the server's own stream stands: at once when that is known, and whenever it changes, until what comes back
   * is called. `tell` is called synchronously and must not throw. Absent where everything comes over one line, and silent
   * in revisions without such a stream.
   */
  readonly standing?: ((tell: (standing: Standing) => void) => () => void) | undefined
  /**
   * Fails when the wire is gone for good (the child exited, the stream closed, the server forgot the session); never ends
   * otherwise.
   */
  readonly ended: Effect.Effect<never, TransportError>
}

/**
 * Opens a wire. `hear` gets every message that belongs to no exchange, synchronously and in order; it must not throw.
 *
 * @category models
 * @since 0.1.0
 */
export type Open = (hear: (message: Incoming) => void) => Effect.Effect<Wire, TransportError, Scope.Scope>

/**
 * Opens wires to one server. Provide it as a layer (`Stdio.layer`, `StreamableHttp.layer`, your own) to
 * `McpClient.layer`.
 *
 * @category services
 * @since 0.1.0
 */
export class Transport extends Context.Service<
  Transport,
  {
    readonly kind: Kind
    /** Names the server in messages and in keys of what is kept of it: a URL, a command line. Holds no secrets. */
    readonly endpoint: string
    /**
     * What else tells this server from others of the same endpoint, where its era is remembered and its results are kept:
     * the folder and the names of the variables a command runs with, a digest of a URL whose secrets `endpoint` does not
     * show. It may be written to a file, so it holds no secrets either. Nothing by default.
     */
    readonly setting?: string
    /** Whether a second wire can be opened after the first one is gone. */
    readonly reopenable: boolean
    readonly open: Open
    /** Opens a wire to the same server over HTTP+SSE, for servers that refuse Streamable HTTP (U-41). */
    readonly openHttpSse?: Open
  }
>()("@mcp-effect/transport/Transport") {}
