/**
 * A call that waits for answers, as plain JSON: keep it, store it, and go on with it in another process.
 *
 * In the modern era a server that needs something answers with questions and forgets the call; whoever repeats it with
 * the answers goes on with it (M-MRTR). `McpClient.begin` gives the questions instead of asking the handlers, and
 * `McpClient.resume` takes the answers. In the legacy era a server asks its handlers while the call is running, so a
 * call never pauses there.
 *
 * @since 0.1.0
 */
import * as InputRequired from "@mcp-effect/protocol/InputRequired"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Data from "effect/Data"
import * as Schema from "effect/Schema"

/**
 * A paused call. Treat it as a secret where its arguments or the server's state are one.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Continuation = Schema.Struct({
  tool: Schema.String,
  arguments: Schema.Record(Schema.String, Schema.Unknown),
  /** What the server asks, by keys that it chose; answer under the same keys. May be empty. */
  questions: InputRequired.InputRequests,
  /** The server's own state, sent back exactly as it came. */
  requestState: Schema.optionalKey(Schema.String),
  /** How many rounds this call has had. */
  round: Schema.Int
})

/**
 * A paused call.
 *
 * @category models
 * @since 0.1.0
 */
export type Continuation = typeof Continuation.Type

/**
 * What became of a call that is driven by hand.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome = Data.TaggedEnum<{
  /** The tool has answered. */
  Done: { readonly result: Tool.CallResult }
  /** The server wants answers first. */
  Paused: { readonly continuation: Continuation }
}>

/**
 * Constructors and matchers of `Outcome`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Outcome = Data.taggedEnum<Outcome>()
