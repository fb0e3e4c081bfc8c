/**
 * Tasks: work that goes on after the answer (L-TASK, M-TASK).
 *
 * 2025-11-25 has them as an experiment, 2026-07-28 as the extension `io.modelcontextprotocol/tasks` with other names
 * on the wire. Both read into the shape of the extension.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { InputRequests, InputResponses } from "./InputRequired.ts"
import { anyMeta, from, Json, list, maybe, named, open, result } from "./internal/shape.ts"
import * as Page from "./Page.ts"

/**
 * The name of the extension in capabilities.
 *
 * @category keys
 * @since 0.1.0
 */
export const extension = "io.modelcontextprotocol/tasks"

/**
 * Where a task stands; the last three are final.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Status = Schema.Literals(["working", "input_required", "completed", "failed", "cancelled"])

/**
 * Where a task stands.
 *
 * @category models
 * @since 0.1.0
 */
export type Status = typeof Status.Type

/**
 * Whether a task can still change.
 *
 * @category guards
 * @since 0.1.0
 */
export const isFinal = (status: Status): boolean => status !== "working" && status !== "input_required"

const fields = {
  taskId: Schema.String,
  status: Status,
  statusMessage: maybe(Schema.String),
  /** ISO 8601. */
  createdAt: Schema.String,
  /** ISO 8601. */
  lastUpdatedAt: Schema.String,
  /** How long it is kept after its creation, in milliseconds; `null` is without end. */
  ttlMs: Schema.NullOr(Schema.Finite),
  /** How long to wait before asking again, in milliseconds. */
  pollIntervalMs: maybe(Schema.Finite)
}

const later = from("2026-07-28")

const outcome = {
  inputRequests: later(maybe(InputRequests)),
  result: later(maybe(Json)),
  error: later(maybe(open({ code: Schema.Finite, message: Schema.String, data: maybe(Schema.Unknown) })))
}

/**
 * A task.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Task = open(fields).pipe(named("Task"))

/**
 * A task.
 *
 * @category models
 * @since 0.1.0
 */
export interface Task extends Schema.Schema.Type<typeof Task> {}

/**
 * A request was taken on as a task instead of being answered.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Created = open({ _meta: anyMeta, resultType: Schema.Literal("task"), ...fields })

/**
 * A request was taken on as a task.
 *
 * @category models
 * @since 0.1.0
 */
export interface Created extends Schema.Schema.Type<typeof Created> {}

/**
 * A task, with what belongs to its status: questions, the result, or the error. 2025-11-25 has none of the three; its
 * result comes from `tasks/result`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const GetResult = result({
  ...fields,
  ...outcome
})

/**
 * A task, with what belongs to its status.
 *
 * @category models
 * @since 0.1.0
 */
export interface GetResult extends Schema.Schema.Type<typeof GetResult> {}

/**
 * Names a task.
 *
 * @category schemas
 * @since 0.1.0
 */
export const IdParams = open({ taskId: Schema.String, _meta: anyMeta })

/**
 * Names a task.
 *
 * @category models
 * @since 0.1.0
 */
export interface IdParams extends Schema.Schema.Type<typeof IdParams> {}

/**
 * Answers questions of a task; modern era.
 *
 * @category schemas
 * @since 0.1.0
 */
export const UpdateParams = open({ taskId: Schema.String, inputResponses: InputResponses, _meta: anyMeta })

/**
 * Answers questions of a task.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdateParams extends Schema.Schema.Type<typeof UpdateParams> {}

/**
 * What `tasks/cancel` gave: the task in 2025-11-25, nothing in the extension.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CancelResult = result({
  ...fields,
  taskId: maybe(fields.taskId),
  status: maybe(Status),
  createdAt: maybe(fields.createdAt),
  lastUpdatedAt: maybe(fields.lastUpdatedAt),
  ttlMs: maybe(fields.ttlMs)
})

/**
 * What `tasks/cancel` gave.
 *
 * @category models
 * @since 0.1.0
 */
export interface CancelResult extends Schema.Schema.Type<typeof CancelResult> {}

/**
 * One page of tasks; 2025-11-25.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListResult = result({ tasks: list(Task), nextCursor: Page.nextCursor })

/**
 * One page of tasks.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListResult extends Schema.Schema.Type<typeof ListResult> {}

/**
 * The result of the request that became a task, as it is; 2025-11-25. Decode it again by that request's method.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PayloadResult = result({})

/**
 * The result of the request that became a task.
 *
 * @category models
 * @since 0.1.0
 */
export interface PayloadResult extends Schema.Schema.Type<typeof PayloadResult> {}

/**
 * A task changed: the task as `tasks/get` would give it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const StatusParams = open({
  ...fields,
  ...outcome,
  _meta: anyMeta
})

/**
 * A task changed.
 *
 * @category models
 * @since 0.1.0
 */
export interface StatusParams extends Schema.Schema.Type<typeof StatusParams> {}
