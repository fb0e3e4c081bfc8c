/**
 * What happens while a tool runs, for `McpClient.streamTool`.
 *
 * @since 0.1.0
 */
import type * as InputRequired from "@mcp-effect/protocol/InputRequired"
import type * as Logging from "@mcp-effect/protocol/Logging"
import type * as Progress from "@mcp-effect/protocol/Progress"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Data from "effect/Data"

/**
 * One thing that happened during a call. `Result` is the last.
 *
 * @category models
 * @since 0.1.0
 */
export type CallEvent = Data.TaggedEnum<{
  /** How far the tool is. */
  Progress: { readonly progress: Progress.Params }
  /**
   * The server logged something that belongs to this call. Over a pipe log messages name no request, so there they come
   * only with `McpClient.notifications`.
   */
  Log: { readonly message: Logging.MessageParams }
  /** The server asks before it goes on; the handlers are answering. Modern era. */
  Asked: { readonly questions: InputRequired.InputRequired["inputRequests"] }
  /** The tool has answered. */
  Result: { readonly result: Tool.CallResult }
}>

/**
 * Constructors and matchers of `CallEvent`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const CallEvent = Data.taggedEnum<CallEvent>()
