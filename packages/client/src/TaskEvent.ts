/**
 * What happens while a task runs, as `Tasks.stream` and `Tasks.follow` tell it.
 *
 * @since 0.1.0
 */
import type { InputRequest } from "@mcp-effect/protocol/InputRequired"
import type * as Task from "@mcp-effect/protocol/Task"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Data from "effect/Data"

/**
 * One event of a task. `Result` is the last, and there is one unless the stream fails.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskEvent = Data.TaggedEnum<{
  /** The task is there, or stands elsewhere now. Keep its `taskId` to go on in another process. */
  Changed: { readonly task: Task.Task }
  /** The server asks; the handlers answer. Each question comes once. */
  Asked: { readonly questions: Readonly<Record<string, InputRequest>> }
  Result: { readonly result: Tool.CallResult }
}>

/**
 * Constructors and matchers of `TaskEvent`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const TaskEvent = Data.taggedEnum<TaskEvent>()
