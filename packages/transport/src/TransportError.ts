/**
 * Ways a wire can fail, each with the facts.
 *
 * One error, `TransportError`, with a closed union of reasons. A transport never says what a failure means for the era
 * of a server, nor whether a call may be sent again: negotiation and the client decide that from these facts.
 *
 * @since 0.1.0
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Schema from "effect/Schema"

/** The last lines a process wrote, each made fit to print: at most ten. */
const lastLines = (text: string): string =>
  text
    .trimEnd()
    .slice(-2_000)
    .split("\n")
    .slice(-10)
    .map((line) => excerpt(line))
    .join("\n")

/**
 * The command could not be started: it does not exist, may not be run, or its folder is missing.
 *
 * What to change: the spelling of the command; see that it is installed, on PATH, and may be run.
 *
 * @category errors
 * @since 0.1.0
 */
export class SpawnFailed extends Schema.TaggedError<SpawnFailed>()("SpawnFailed", {
  /** The command as it was configured. */
  command: Schema.String,
  /** What the platform said, for example `NotFound` or `PermissionDenied`. */
  because: Schema.String
}) {
  override get message() {
    if (this.command.trim() === "") return "no command was given. Name the program to start"
    return `could not start \`${this.command}\`: ${this.because}. Check the spelling, and that it is installed and on PATH`
  }
}

/**
 * The child process ended. What was in flight may or may not have run.
 *
 * What to change: what the end of `stderr` names; run the command by hand to see more.
 *
 * @category errors
 * @since 0.1.0
 */
export class Exited extends Schema.TaggedError<Exited>()("Exited", {
  /** The command as it was configured. */
  command: Schema.String,
  /** The exit code, or null when a signal ended the process or the code is not known. */
  code: Schema.NullOr(Schema.Finite),
  /** The signal that ended the process, or null. */
  signal: Schema.NullOr(Schema.String),
  /** The end of what the process wrote to its standard error, at most `Defaults.StderrTailBytes`. */
  stderr: Schema.String
}) {
  override get message() {
    const how = this.signal === null ? `exit code ${this.code ?? "unknown"}` : `signal ${this.signal}`
    const last = lastLines(this.stderr)
    return `\`${this.command}\` ended (${how})${last === "" ? " and wrote nothing to stderr" : `; its stderr ends with:\n${last}`}`
  }
}

/**
 * The wire was closed, by this side or the other, without a process to blame.
 *
 * What to change: open a new wire to go on.
 *
 * @category errors
 * @since 0.1.0
 */
export class Closed extends Schema.TaggedError<Closed>()("Closed", {
  because: Schema.String
}) {
  override get message() {
    return `the connection is closed: ${this.because}. Open a new one to go on`
  }
}

/**
 * No answer could be got at all: no such host, connection refused, TLS failure, an address that is no URL.
 *
 * What to change: the address; see that the server is running.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  because: Schema.String,
  /** Whether it is certain that nothing was sent: the name is unknown, or the connection was refused. */
  unsent: Schema.optional(Schema.Boolean),
  cause: Schema.optional(Schema.Defect())
}) {
  override get message() {
    return `the server cannot be reached: ${this.because}. Check the address, and that the server is running`
  }
}

/**
 * A JSON-RPC error as it stood in a body.
 *
 * @category models
 * @since 0.1.0
 */
export const RpcError = Schema.Struct({
  code: Schema.Finite,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
})

const hints: ReadonlyArray<readonly [from: number, to: number, hint: string]> = [
  [300, 399, "redirects are followed only to the same origin and only for 307 and 308"],
  [401, 401, "the server wants authorization: give it a token, or let the client sign in"],
  [403, 403, "the server refuses these credentials, or this origin"],
  [404, 404, "nothing answers at this path: check the URL, it is often /mcp"],
  [405, 405, "this path does not take POST: check the URL, it may belong to the older HTTP+SSE transport"],
  [406, 415, "the server does not take this kind of request: check that the URL is an MCP endpoint"],
  [408, 408, "the server gave up waiting: try again"],
  [413, 413, "the request is larger than the server allows"],
  [425, 429, "the server asks to slow down: try again later"],
  [431, 431, "the headers are larger than the server allows: shorten the mirrored arguments"],
  [500, 599, "the server, or something in front of it, failed: try again later, and look at its log"]
]

/**
 * The server, or something in front of it, answered with a status outside 2xx.
 *
 * `message` begins `MCP: HTTP <status>` and goes on with the excerpt of the body (U-05); `hint` says what to change.
 *
 * What to change: it depends on the status, and `hint` says it.
 *
 * @category errors
 * @since 0.1.0
 */
export class HttpRejected extends Schema.TaggedError<HttpRejected>()("HttpRejected", {
  status: Schema.Finite,
  /** The media type without parameters, lower case. */
  mediaType: Schema.optional(Schema.String),
  /** The beginning of the body: at most 200 code points, control characters replaced. */
  body: Schema.String,
  /** The JSON-RPC error in the body, whatever its content type said. */
  error: Schema.optional(RpcError),
  /** The `WWW-Authenticate` header. */
  challenge: Schema.optional(Schema.String),
  /** How long the server asks to wait, in milliseconds. */
  retryAfter: Schema.optional(Schema.Finite),
  /** Where a redirect leads, as an absolute URL with secrets removed. */
  location: Schema.optional(Schema.String),
  /** What the HTTP client says stands behind the refusal, for example why nobody could be signed in. */
  cause: Schema.optional(Schema.Defect()),
  /**
   * Whether the request carried a session id and the answer says that this session is gone: 404, or a 400 whose body
   * speaks of the session (T-HTTP-1, T-HTTP-2). Nothing was executed.
   */
  sessionLost: Schema.Boolean
}) {
  override get message() {
    return this.body === "" ? `MCP: HTTP ${this.status}` : `MCP: HTTP ${this.status} ${this.body}`
  }

  /** What to change. */
  get hint(): string {
    if (this.sessionLost) return "the session is gone: initialize again"
    const known = hints.find(([from, to]) => this.status >= from && this.status <= to)
    const hint = known === undefined ? "check that the URL is an MCP endpoint" : known[2]
    if (this.location !== undefined) return `${hint}; this one leads to ${this.location}`
    return this.retryAfter === undefined ? hint : `${hint}; the server asks to wait ${this.retryAfter} ms`
  }
}

/**
 * Something came back that is no answer to the request: a web page, broken JSON, another request's answer, nothing.
 *
 * What to change: see that the address or the command is that of an MCP server; `excerpt` shows what came instead.
 *
 * @category errors
 * @since 0.1.0
 */
export class MalformedReply extends Schema.TaggedError<MalformedReply>()("MalformedReply", {
  /** The HTTP status, over HTTP. */
  status: Schema.optional(Schema.Finite),
  /** The media type without parameters, lower case, over HTTP. */
  mediaType: Schema.optional(Schema.String),
  /** The beginning of what came: at most 200 code points, control characters replaced. */
  excerpt: Schema.String,
  because: Schema.String
}) {
  override get message() {
    const about = [this.status === undefined ? undefined : `HTTP ${this.status}`, this.mediaType].filter(
      (fact) => fact !== undefined
    )
    const facts = about.length === 0 ? "" : ` (${about.join(", ")})`
    const body = this.excerpt === "" ? "" : `: ${this.excerpt}`
    return `the reply is no answer to the request, ${this.because}${facts}${body}. Check that this is an MCP server`
  }
}

/**
 * The answer was lost on its way: the stream ended or broke before it came. The request may have run.
 *
 * What to change: ask again, if the request may run twice; a proxy that cuts quiet streams needs a longer limit.
 *
 * @category errors
 * @since 0.1.0
 */
export class ResponseLost extends Schema.TaggedError<ResponseLost>()("ResponseLost", {
  because: Schema.String
}) {
  override get message() {
    return `the answer was lost: ${this.because}. The request may have run, so repeat it only if that does no harm`
  }
}

/**
 * A hook swallowed the response and supplied no other (U-44, `HttpHooks.takeOver`). The request may have run.
 *
 * What to change: nothing, when the hook meant it; otherwise let it return a response.
 *
 * @category errors
 * @since 0.1.0
 */
export class ResponseTaken extends Schema.TaggedError<ResponseTaken>()("ResponseTaken", {
  /** The status of the response that was swallowed. */
  status: Schema.Finite
}) {
  override get message() {
    return `a hook took over the response (HTTP ${this.status}) and supplied no other. Let it pass, or supply one`
  }
}

/**
 * A message could not be written as JSON, and was not sent: a `bigint`, a circle, or a getter that threw.
 *
 * What to change: what was to be sent: give values that JSON has.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotJson extends Schema.TaggedError<NotJson>()("NotJson", {
  /** What the writer said. */
  because: Schema.String
}) {
  override get message() {
    return `the message is no JSON, and was not sent: ${excerpt(this.because)}`
  }
}

/**
 * A message is larger than allowed, and was not read to its end.
 *
 * What to change: raise `Defaults.MaxMessageBytes`, if the server is trusted with that much memory.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", {
  /** The limit in bytes, `Defaults.MaxMessageBytes`. */
  limit: Schema.Finite,
  /** What was too large: `line`, `body` or `event`. */
  what: Schema.String
}) {
  override get message() {
    return `the server sent more in one ${this.what} than ${this.limit} bytes. Raise Defaults.MaxMessageBytes if that is right`
  }
}

/**
 * Every reason.
 *
 * @category errors
 * @since 0.1.0
 */
export const Reason = Schema.Union([
  SpawnFailed,
  Exited,
  Closed,
  Unreachable,
  HttpRejected,
  MalformedReply,
  ResponseLost,
  ResponseTaken,
  NotJson,
  TooLarge
])

/**
 * Every reason.
 *
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * A wire failed, or could not be opened. `reason` holds the facts; `message` is the reason's.
 *
 * What to change: look at the `reason`; each says its own.
 *
 * @example
 * ```ts
 * wire.exchange(request, options).pipe(
 *   Effect.catchReason("TransportError", "HttpRejected", (rejected) => signIn(rejected.challenge))
 * )
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class TransportError extends Schema.TaggedError<TransportError>()("TransportError", {
  /** The endpoint of the transport: a URL or a command line, without secrets. */
  endpoint: Schema.String,
  reason: Reason
}) {
  override get message() {
    return this.reason.message
  }

  /** What to change, where the message does not say it already. */
  get hint(): string | undefined {
    return this.reason._tag === "HttpRejected" ? this.reason.hint : undefined
  }
}
