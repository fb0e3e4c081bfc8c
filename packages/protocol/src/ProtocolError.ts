/**
 * Ways in which a message does not fit the protocol.
 *
 * None of them quotes what a message held: they name the place by a JSON pointer and what was expected there.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const place = (pointer: string) => (pointer === "" ? "it" : pointer)

/**
 * A server's answer is not what the method promises: the server breaks the protocol, or speaks another revision.
 *
 * What to change: tell the server's author; another version of the server, or of the protocol, may do better.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidResult extends Schema.TaggedError<InvalidResult>()("InvalidResult", {
  /** The method that was called. */
  method: Schema.String,
  /** Where in the result; empty for the whole. */
  pointer: Schema.String,
  /** What was expected there. */
  because: Schema.String
}) {
  override get message() {
    return `the server's answer to ${this.method} cannot be read: ${place(this.pointer)} ${this.because}`
  }
}

/**
 * The parameters of a request or notification from the other side cannot be read.
 *
 * What to change: answer a request with `ErrorCode.InvalidParams`; ignore a notification.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidParams extends Schema.TaggedError<InvalidParams>()("InvalidParams", {
  method: Schema.String,
  /** Where in the parameters; empty for the whole. */
  pointer: Schema.String,
  /** What was expected there. */
  because: Schema.String
}) {
  override get message() {
    return `the parameters of ${this.method} cannot be read: ${place(this.pointer)} ${this.because}`
  }
}

/**
 * The agreed revision has no such method. Nothing was sent.
 *
 * What to change: do without it on this server, or agree on another version.
 *
 * @category errors
 * @since 0.1.0
 */
export class MethodNotInRevision extends Schema.TaggedError<MethodNotInRevision>()("MethodNotInRevision", {
  method: Schema.String,
  version: Schema.String
}) {
  override get message() {
    return `revision ${this.version} has no method ${this.method}; use what takes its place there, or another version`
  }
}

/**
 * The agreed revision has no way to say a part of the message, and leaving it out would change what the message means.
 * Nothing was sent.
 *
 * What to change: leave out what stands at `pointer`, or agree on another version.
 *
 * @category errors
 * @since 0.1.0
 */
export class CannotCarry extends Schema.TaggedError<CannotCarry>()("CannotCarry", {
  method: Schema.String,
  version: Schema.String,
  /** Where in the message. */
  pointer: Schema.String
}) {
  override get message() {
    return `revision ${this.version} cannot carry ${place(this.pointer)} of ${this.method}; leave it out, or use a newer version`
  }
}
