/**
 * Ways the host itself refuses or gives up. What a server or a wire does wrong keeps its own error (`McpClientError`,
 * `NegotiationError`).
 *
 * @since 0.1.0
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Schema from "effect/Schema"

/**
 * There is no server of this name.
 *
 * What to change: use a name in `known`, or add the server first.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownServer extends Schema.TaggedError<UnknownServer>()("UnknownServer", {
  name: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  override get message() {
    const known = this.known.length === 0 ? "the host has none" : `the host has ${this.known.join(", ")}`
    return `there is no server ${excerpt(JSON.stringify(this.name))}; ${excerpt(known)}`
  }
}

/**
 * The name is taken.
 *
 * What to change: remove the other server first, or choose another name.
 *
 * @category errors
 * @since 0.1.0
 */
export class NameTaken extends Schema.TaggedError<NameTaken>()("NameTaken", { name: Schema.String }) {
  override get message() {
    return `there is a server ${excerpt(JSON.stringify(this.name))} already; remove it first, or choose another name`
  }
}

/**
 * The host is closed: the scope it was made in has ended, and its servers with it.
 *
 * What to change: use the host inside the scope it was made in, or make another.
 *
 * @category errors
 * @since 0.1.0
 */
export class HostClosed extends Schema.TaggedError<HostClosed>()("HostClosed", {}) {
  override get message() {
    return "the host is closed, since the scope it was made in has ended; make another one"
  }
}

/**
 * The server is not ready.
 *
 * What to change: wait with `ready`; for a server that failed see `because`.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotReady extends Schema.TaggedError<NotReady>()("NotReady", {
  server: Schema.String,
  /** Its state. */
  state: Schema.String,
  /** Why, when it failed. */
  because: Schema.UndefinedOr(Schema.String)
}) {
  override get message() {
    const why = this.because === undefined ? "" : `: ${this.because}`
    return `the server ${JSON.stringify(this.server)} is not ready, it is ${this.state}${why}; wait for \`ready\` before using it`
  }
}

/**
 * The server was stopped while something of it was going on. A tool call that was `sent` may have run; one that waited for
 * its approval did not.
 *
 * What to change: where it was `sent`, find out whether the call ran before you repeat it.
 *
 * @category errors
 * @since 0.1.0
 */
export class ServerStopped extends Schema.TaggedError<ServerStopped>()("ServerStopped", {
  server: Schema.String,
  /** Whether the request may have reached the server. */
  sent: Schema.Boolean
}) {
  override get message() {
    const server = JSON.stringify(this.server)
    return this.sent
      ? `the server ${server} was stopped before it answered; the call may have run`
      : `the server ${server} was stopped before the call was sent; it did not run`
  }
}

/**
 * The program has no way to reach such a server (U-45).
 *
 * What to change: provide the service that `needs` names, for example with `NodeServices.layer` or a layer of
 * `HttpClient`.
 *
 * @category errors
 * @since 0.1.0
 */
export class CannotReach extends Schema.TaggedError<CannotReach>()("CannotReach", {
  server: Schema.String,
  type: Schema.Literals(["stdio", "http", "sse"]),
  needs: Schema.Literals(["ChildProcessSpawner", "HttpClient"])
}) {
  override get message() {
    return `the server ${JSON.stringify(this.server)} is of type ${this.type}, which needs a ${this.needs} this program does not provide`
  }
}

/**
 * Something in this program broke while the server was being run: a transport or a hook that died. A bug, not a fault of
 * the server.
 *
 * What to change: the code that `cause` points to.
 *
 * @category errors
 * @since 0.1.0
 */
export class Crashed extends Schema.TaggedError<Crashed>()("Crashed", {
  server: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `running the server ${JSON.stringify(this.server)} died in this program: ${excerpt(String(this.cause))}`
  }
}

/**
 * There is no such tool now: its server is not ready, has no such tool, or its entry hides it.
 *
 * What to change: use a name that `catalogue` holds now.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownTool extends Schema.TaggedError<UnknownTool>()("UnknownTool", { name: Schema.String }) {
  override get message() {
    return `there is no tool ${excerpt(JSON.stringify(this.name))} in the catalogue now; look at \`catalogue\``
  }
}

/**
 * The call was refused (U-56). Nothing was sent.
 *
 * What to change: nothing, when the user meant it; otherwise the approval of the host or of the entry.
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolDenied extends Schema.TaggedError<ToolDenied>()("ToolDenied", {
  server: Schema.String,
  tool: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `the call of ${excerpt(this.tool)} on ${JSON.stringify(this.server)} was refused: ${this.because}`
  }
}

/**
 * The tool took longer than the host lets it (U-57); the call was cancelled.
 *
 * What to change: raise the entry's `timeout` when the tool needs longer.
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolTimedOut extends Schema.TaggedError<ToolTimedOut>()("ToolTimedOut", {
  server: Schema.String,
  tool: Schema.String,
  /** The limit, in milliseconds. Time for approval and for questions to the user does not count. */
  limit: Schema.Finite
}) {
  override get message() {
    return `${excerpt(this.tool)} on ${JSON.stringify(this.server)} did not answer within ${this.limit} ms (our limit, not the server's); raise the server's \`timeout\` if it needs longer`
  }
}

/**
 * Every way.
 *
 * @category errors
 * @since 0.1.0
 */
export const Reason = Schema.Union([
  UnknownServer,
  NameTaken,
  HostClosed,
  NotReady,
  ServerStopped,
  CannotReach,
  Crashed,
  UnknownTool,
  ToolDenied,
  ToolTimedOut
])

/**
 * Every way.
 *
 * @category errors
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * The host refused or gave up. Match the `reason`.
 *
 * What to change: look at the `reason`; each says its own.
 *
 * @category errors
 * @since 0.1.0
 */
export class HostError extends Schema.TaggedError<HostError>()("HostError", { reason: Reason }) {
  override get message() {
    return this.reason.message
  }
}
