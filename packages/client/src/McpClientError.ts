/**
 * Ways an operation on a connected client can fail.
 *
 * `McpClientError` is the one error in the channel; its `reason` says which way it was. A tool that reports failure is
 * not here: that is a result (`isError`). Failing to connect has its own error, `NegotiationError`.
 *
 * @since 0.1.0
 */
import { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import { CannotCarry, InvalidResult } from "@mcp-effect/protocol/ProtocolError"
import * as Task from "@mcp-effect/protocol/Task"
import { TransportError } from "@mcp-effect/transport/TransportError"
import * as Duration from "effect/Duration"
import { format } from "effect/Formatter"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { neededIn } from "./internal/neededHandlers.ts"

/**
 * The server answered with a JSON-RPC error. Code and data are the server's, untouched; `ErrorCode.nameOf` names the
 * codes the protocol defines.
 *
 * What to change: what was asked, when `code` is about parameters or a name; what `hint` says, when the server wants a
 * capability this client did not declare (-32021) or an address opened first (-32042); otherwise see the server's log.
 *
 * @category errors
 * @since 0.1.0
 */
export class ServerError extends Schema.TaggedError<ServerError>()("ServerError", {
  method: Schema.String,
  code: Schema.Number,
  /** The server's own message. */
  text: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
}) {
  override get message() {
    const said = `the server answered ${this.method} with error ${this.code}: ${excerpt(this.text)}`
    return this.hint === undefined ? said : `${said}; ${this.hint}`
  }

  /** What to give when connecting, for an error that only wants that. */
  get hint(): string | undefined {
    if (this.code === ErrorCode.UrlElicitationRequired) {
      return "the user has to open an address first: give the handler `elicitation.url` when connecting"
    }
    if (this.code !== ErrorCode.MissingRequiredClientCapability) return undefined
    const needed = neededIn(this.data)
    return needed.length === 0
      ? "it needs a capability that this client did not declare: `data` may say which"
      : `give ${needed.join(" and ")} when connecting`
  }
}

/**
 * The server refused the version of this connection and named no other that could be spoken instead. Nothing ran.
 *
 * What to change: use mode `auto`, or update the older of the two.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoMutualVersion extends Schema.TaggedError<NoMutualVersion>()("NoMutualVersion", {
  method: Schema.String,
  /** What the server speaks: at most 32. */
  server: Schema.Array(Schema.String),
  /** What this connection may speak: one version when it was pinned. */
  client: Schema.Array(Schema.String)
}) {
  override get message() {
    const theirs = excerpt(this.server.join(", "))
    return `the server refused the version of ${this.method}: it speaks ${theirs}; this connection speaks ${this.client.join(", ")}. Use mode 'auto', or update the older of the two`
  }
}

/**
 * No answer came in time. The request was cancelled in the way of the wire.
 *
 * What to change: raise the `timeout` option of the call, or the `RequestTimeout` default, when the server needs
 * longer. With `resetOnProgress` that is how long it may be silent; `Defaults.RequestCap` ends it all the same.
 *
 * @category errors
 * @since 0.1.0
 */
export class RequestTimedOut extends Schema.TaggedError<RequestTimedOut>()("RequestTimedOut", {
  method: Schema.String,
  /** The limit, in milliseconds. */
  limit: Schema.Number
}) {
  override get message() {
    return `no answer to ${this.method} within ${this.limit} ms (our limit, not the server's); raise \`timeout\` if it needs longer, and \`RequestCap\` where progress extends it`
  }
}

/** What happened to a wire, and what to change where HTTP says so. */
const told = ({ hint, message }: TransportError) => (hint === undefined ? message : `${message}; ${hint}`)

/**
 * The wire failed, and asking again is safe: the request only reads, or it never left.
 *
 * What to change: ask again; when that fails too, see what `cause` says of the wire.
 *
 * @category errors
 * @since 0.1.0
 */
export class WireFailed extends Schema.TaggedError<WireFailed>()("WireFailed", {
  method: Schema.String,
  cause: TransportError
}) {
  override get message() {
    return `${this.method} failed: ${told(this.cause)}`
  }
}

/**
 * The wire failed after a call had been sent and before its answer came: the tool may have run, or not. Nothing was
 * sent again.
 *
 * What to change: find out what happened before you repeat the call. `repeatable` lets a call that may run twice be
 * sent again by itself.
 *
 * @category errors
 * @since 0.1.0
 */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  method: Schema.String,
  cause: TransportError
}) {
  override get message() {
    return `the answer to ${this.method} was lost, so it may have run: ${told(this.cause)}`
  }
}

/**
 * The session is gone and no new one could be opened in its place. `cause` says why; the next request tries again.
 *
 * What to change: see what `cause` says: the server is down, or does not take this client any more.
 *
 * @category errors
 * @since 0.1.0
 */
export class Disconnected extends Schema.TaggedError<Disconnected>()("Disconnected", {
  method: Schema.String,
  cause: Schema.Union([NegotiationError, TransportError])
}) {
  override get message() {
    return `${this.method} got no answer, since the connection is lost: ${this.cause.message}`
  }
}

/**
 * The server asks for input before it answers (a multi round-trip request), and it cannot be given: there is no handler
 * for the question, a handler refused, or the server went on asking past `MaxInputRounds`.
 *
 * What to change: give the connection a handler for the question, or raise `MaxInputRounds`; `because` says which.
 *
 * @category errors
 * @since 0.1.0
 */
export class InputRequired extends Schema.TaggedError<InputRequired>()("InputRequired", {
  method: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `the server asks for input before it answers ${this.method}, which it did not get: ${this.because}`
  }
}

/**
 * The tool may not be called over HTTP: a header it declares breaks the rules, or an argument cannot be mirrored into
 * one (M-XH). Nothing was sent.
 *
 * What to change: the argument that `because` names; a wrong declaration is for the server's author. Over stdio the
 * tool can be called.
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolNotCallable extends Schema.TaggedError<ToolNotCallable>()("ToolNotCallable", {
  tool: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `MCP tool "${this.tool}" was not called: ${this.because}`
  }
}

/**
 * The method does not exist in the legacy era. Nothing was sent.
 *
 * What to change: do without it on this server: look at `agreement.era` first.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAvailableInLegacy extends Schema.TaggedError<NotAvailableInLegacy>()("NotAvailableInLegacy", {
  method: Schema.String,
  version: Schema.String
}) {
  override get message() {
    return `${this.method} does not exist in ${this.version}, the legacy version this connection speaks`
  }
}

/**
 * The method does not exist in the modern era. Nothing was sent.
 *
 * What to change: do without it on this server: look at `agreement.era` first.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAvailableInModern extends Schema.TaggedError<NotAvailableInModern>()("NotAvailableInModern", {
  method: Schema.String,
  version: Schema.String
}) {
  override get message() {
    return `${this.method} does not exist in ${this.version}, the modern version this connection speaks`
  }
}

/**
 * A list went on past `MaxPages` or `MaxItems`, or came back to a cursor it had already given.
 *
 * What to change: raise `MaxPages` or `MaxItems` for a list that is so long; a cursor that comes back is for the
 * server's author.
 *
 * @category errors
 * @since 0.1.0
 */
export class ListTooLong extends Schema.TaggedError<ListTooLong>()("ListTooLong", {
  method: Schema.String,
  pages: Schema.Number,
  items: Schema.Number,
  because: Schema.String
}) {
  override get message() {
    return `gave up on ${this.method} after ${this.pages} pages and ${this.items} items: ${this.because}`
  }
}

/**
 * The server ended a subscription to changes in good order, and did so again whenever it was asked anew.
 *
 * What to change: read the list or the resource now and then instead; the server's log may say why it ends them.
 *
 * @category errors
 * @since 0.1.0
 */
export class SubscriptionEnded extends Schema.TaggedError<SubscriptionEnded>()("SubscriptionEnded", {
  method: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `the server ended ${this.method}: ${this.because}`
  }
}

/**
 * What the tool gave does not fit the output schema it declares, or is missing (M-TOOL-21). The tool has run. A result
 * with `isError` never ends here.
 *
 * What to change: nothing here: the server's author has to correct the tool or the schema. `OutputSchema.layerNone`
 * checks nothing.
 *
 * @category errors
 * @since 0.1.0
 */
export class OutputInvalid extends Schema.TaggedError<OutputInvalid>()("OutputInvalid", {
  tool: Schema.String,
  /** A JSON pointer into `structuredContent`, empty for the whole. */
  pointer: Schema.String,
  because: Schema.String
}) {
  override get message() {
    const where = this.pointer === "" ? "the structured content" : this.pointer
    return `MCP tool "${this.tool}" broke its own output schema: at ${where}, ${this.because}; provide \`OutputSchema.layerNone\` to take such results all the same`
  }
}

/**
 * The server made a task of the call instead of answering it, and this operation waits for no task. Only a client that
 * declared the extension gets this.
 *
 * What to change: call with `Tasks.call`, or go on with `Tasks.follow`.
 *
 * @category errors
 * @since 0.1.0
 */
export class BecameTask extends Schema.TaggedError<BecameTask>()("BecameTask", {
  method: Schema.String,
  task: Task.Task
}) {
  override get message() {
    return `the server made a task of ${this.method}, which goes on; follow it with \`Tasks.follow\`, or call with \`Tasks.call\``
  }
}

/**
 * A task came to an end without a result: it was cancelled, or the server keeps it no longer, since its `ttlMs` is over or
 * the server began anew. A task that failed gives the server's own error (`ServerError`).
 *
 * What to change: start the call again, if it was not cancelled on purpose.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskEnded extends Schema.TaggedError<TaskEnded>()("TaskEnded", {
  taskId: Schema.String,
  how: Schema.Literals(["cancelled", "expired"]),
  /** What the server said of it, if anything. */
  because: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const told = this.because === undefined ? "" : `: ${excerpt(this.because)}`
    const why = this.how === "cancelled" ? "it was cancelled" : "the server keeps it no longer"
    return `the task ended without a result, since ${why}${told}`
  }
}

/**
 * The program gave an option or a name that does not exist; programs without types can. Nothing was sent.
 *
 * What to change: give what `allowed` names.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidOption extends Schema.TaggedError<InvalidOption>()("InvalidOption", {
  /** What was given: `timeout`, `method`. */
  option: Schema.String,
  /** The value, cut short. */
  given: Schema.String,
  /** What may stand there. */
  allowed: Schema.String
}) {
  override get message() {
    return `${this.option} cannot be ${this.given}: give ${this.allowed}`
  }

  /** Of a value as it was given, whatever it is. */
  static of(option: string, given: unknown, allowed: string): InvalidOption {
    const shown = Result.try(() => excerpt(format(given)))
    return new InvalidOption({
      option,
      given: Result.getOrElse(shown, () => `a value of type ${typeof given}`),
      allowed
    })
  }
}

/**
 * A time that a program gave, in milliseconds: zero or more, infinite ones too. `InvalidOption` for everything else, such as
 * a time below zero, however small, or a text that is no time; programs without types can give it.
 *
 * @category guards
 * @since 0.1.0
 */
export const timeOf = (option: string, given: Duration.Input): Result.Result<number, InvalidOption> => {
  const read = Result.try(() => Duration.fromInput(given))
  const time = Result.isSuccess(read) ? Option.getOrUndefined(read.success) : undefined
  const value = time === undefined || Number.isNaN(given) ? Number.NaN : Duration.toMillis(time)
  // What rounds to zero keeps its sign only here.
  const negative = typeof given === "number" ? given < 0 : typeof given === "string" && given.trim().startsWith("-")
  return value >= 0 && !negative
    ? Result.succeed(value)
    : Result.fail(
        InvalidOption.of(
          option,
          given,
          'a time of zero or more: milliseconds, "5 seconds", a Duration, or Duration.infinity'
        )
      )
}

/**
 * Every way an operation can fail.
 *
 * @category errors
 * @since 0.1.0
 */
export const Reason = Schema.Union([
  InvalidOption,
  ServerError,
  NoMutualVersion,
  RequestTimedOut,
  WireFailed,
  OutcomeUnknown,
  InvalidResult,
  Disconnected,
  InputRequired,
  ToolNotCallable,
  NotAvailableInLegacy,
  NotAvailableInModern,
  CannotCarry,
  ListTooLong,
  SubscriptionEnded,
  OutputInvalid,
  BecameTask,
  TaskEnded
])

/**
 * Every way an operation can fail.
 *
 * @category errors
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * An operation on a client failed. Match the `reason`:
 *
 * ```ts
 * import { McpClient } from "@mcp-effect/client"
 * import { Effect } from "effect"
 *
 * export const search = (client: McpClient.Client) =>
 *   client
 *     .callTool("search", { q: "effect" })
 *     .pipe(Effect.catchReason("McpClientError", "RequestTimedOut", () => Effect.succeed(undefined)))
 * ```
 *
 * What to change: look at the `reason`; each says its own.
 *
 * @category errors
 * @since 0.1.0
 */
export class McpClientError extends Schema.TaggedError<McpClientError>()("McpClientError", {
  /** The server, as its transport names it. */
  server: Schema.String,
  reason: Reason
}) {
  override get message() {
    return `${excerpt(this.server)}: ${this.reason.message}`
  }
}
