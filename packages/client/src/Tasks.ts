/**
 * Calls that go on after the answer: a server may make a task of a call, and the client asks after it until it is done.
 *
 * Both forms are here behind one API: the extension `io.modelcontextprotocol/tasks` of 2026-07-28, where the server alone
 * decides (M-TASK), and the experiment of 2025-11-25, where the call asks for it (L-TASK). A server without tasks simply
 * answers, so a program may call everything through this module. Declare the extension when connecting, with
 * `extensions`; then plain calls of that client fail with `BecameTask` when the server makes a task of them.
 *
 * @since 0.1.0
 */
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import type { InputRequest } from "@mcp-effect/protocol/InputRequired"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import { InvalidResult } from "@mcp-effect/protocol/ProtocolError"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as Task from "@mcp-effect/protocol/Task"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Version from "@mcp-effect/protocol/Version"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { isInputRequired } from "./internal/rounds.ts"
import * as Limits from "./Limits.ts"
import type { CallOptions, Client } from "./McpClient.ts"
import { McpClientError, ServerError, TaskEnded } from "./McpClientError.ts"
import { TaskEvent } from "./TaskEvent.ts"

/**
 * What a client declares that can handle tasks: give it to `connect` or `layer` as `extensions`.
 *
 * @example
 * ```ts
 * import { McpClient, Tasks } from "@mcp-effect/client"
 * import { Effect } from "effect"
 *
 * export const report = Effect.gen(function*() {
 *   const client = yield* McpClient.connect("https://example.com/mcp", { extensions: Tasks.extensions })
 *   return yield* Tasks.call(client, "write_report", { year: 2026 })
 * })
 * ```
 *
 * @category extensions
 * @since 0.1.0
 */
export const extensions: Readonly<Record<string, JsonRpc.JsonObject>> = { [Task.extension]: {} }

/**
 * How a task is followed.
 *
 * @category models
 * @since 0.1.0
 */
export interface FollowOptions {
  /**
   * What becomes of the task when nobody follows it any more before it is done: `cancel` (the default) asks the server to
   * stop it, `leave` lets it go on; `follow` can take it up again.
   */
  readonly abandoned?: "cancel" | "leave"
}

/**
 * How a tool is called that may become a task. The timeout is that of the call alone, not of the task.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskOptions extends CallOptions, FollowOptions {}

/**
 * What became of a call: it was answered, or the server made a task of it.
 *
 * @category models
 * @since 0.1.0
 */
export type Started = Data.TaggedEnum<{
  Answered: { readonly result: Tool.CallResult }
  Running: { readonly task: Task.Task }
}>

/**
 * Constructors and matchers of `Started`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Started = Data.taggedEnum<Started>()

/**
 * Calls a tool and gives back the task, if the server made one, instead of waiting for it.
 *
 * @category calling
 * @since 0.1.0
 */
export const start = (
  client: Client,
  name: string,
  args: JsonRpc.JsonObject = {},
  options: CallOptions = {}
): Effect.Effect<Started, McpClientError> =>
  client.callTool(name, args, { ...options, task: options.task ?? {} }).pipe(
    Effect.map((result) => Started.Answered({ result })),
    Effect.catchReason("McpClientError", "BecameTask", ({ task }) => Effect.succeed(Started.Running({ task })))
  )

/**
 * Calls a tool and waits for the result, however the server comes to it. Questions go to the handlers.
 *
 * A task is asked after as often as the server says, between `Limits.TaskPollLeast` and `Limits.TaskPollMost`. One that
 * fails gives the server's error (`ServerError`); one that was cancelled, or that the server keeps no longer, `TaskEnded`.
 * Interrupting cancels the task.
 *
 * @category calling
 * @since 0.1.0
 */
export const call = (
  client: Client,
  name: string,
  args?: JsonRpc.JsonObject,
  options: TaskOptions = {}
): Effect.Effect<Tool.CallResult, McpClientError> =>
  Effect.flatMap(start(client, name, args, options), (started) =>
    started._tag === "Answered" ? Effect.succeed(started.result) : watch(client, started.task, options, () => {})
  )

/**
 * The same as a stream of what happens on the way; the result is the last. A stream that is left early abandons the task.
 *
 * @category calling
 * @since 0.1.0
 */
export const stream = (
  client: Client,
  name: string,
  args?: JsonRpc.JsonObject,
  options: TaskOptions = {}
): Stream.Stream<TaskEvent, McpClientError> =>
  eventsOf((tell) =>
    Effect.flatMap(start(client, name, args, options), (started) =>
      started._tag === "Answered" ? Effect.succeed(started.result) : watch(client, started.task, options, tell)
    )
  )

/**
 * Goes on with a task that was started before, in another process perhaps. An id the server does not know gives
 * `ServerError` with code -32602.
 *
 * @category following
 * @since 0.1.0
 */
export const follow = (
  client: Client,
  taskId: string,
  options: FollowOptions = {}
): Stream.Stream<TaskEvent, McpClientError> =>
  eventsOf((tell) => Effect.flatMap(get(client, taskId), (task) => watch(client, task, options, tell)))

/**
 * Waits for the result of a task that was started before.
 *
 * @category following
 * @since 0.1.0
 */
export const result = (
  client: Client,
  taskId: string,
  options: FollowOptions = {}
): Effect.Effect<Tool.CallResult, McpClientError> =>
  Effect.flatMap(get(client, taskId), (task) => watch(client, task, options, () => {}))

/**
 * Asks once how a task stands.
 *
 * @category following
 * @since 0.1.0
 */
export const get = (client: Client, taskId: string): Effect.Effect<Task.GetResult, McpClientError> =>
  client.request("tasks/get", { taskId })

/**
 * Asks the server to stop a task. It may end in another way all the same (M-TASK-14).
 *
 * @category following
 * @since 0.1.0
 */
export const cancel = (client: Client, taskId: string): Effect.Effect<void, McpClientError> =>
  Effect.asVoid(client.request("tasks/cancel", { taskId }))

/** Runs what tells events, as a stream that ends with the result. */
const eventsOf = (
  run: (tell: (event: TaskEvent) => void) => Effect.Effect<Tool.CallResult, McpClientError>
): Stream.Stream<TaskEvent, McpClientError> =>
  Stream.callback<TaskEvent, McpClientError>((queue) =>
    run((event) => void Queue.offerUnsafe(queue, event)).pipe(
      Effect.tap((result) => Queue.offer(queue, TaskEvent.Result({ result }))),
      Effect.matchCauseEffect({
        onSuccess: () => Queue.end(queue),
        onFailure: (cause) => Queue.failCause(queue, cause)
      })
    )
  )

/** Follows a task to its end, and gives it up in good order when that does not come. */
const watch = (
  client: Client,
  first: Task.Task,
  { abandoned = "cancel" }: FollowOptions,
  tell: (event: TaskEvent) => void
): Effect.Effect<Tool.CallResult, McpClientError> => {
  let status = first.status
  const note = (task: Task.Task) => {
    status = task.status
    tell(TaskEvent.Changed({ task }))
  }
  return Effect.onExit(poll(client, first, tell, note), (exit) =>
    Exit.isSuccess(exit) || Task.isFinal(status) || abandoned === "leave" || !isGivenUp(exit)
      ? Effect.void
      : Effect.flatMap(Limits.TaskCancelTimeout, (timeout) =>
          Effect.ignore(client.request("tasks/cancel", { taskId: first.taskId }, { timeout }))
        )
  )
}

/** Whether it was this side that stopped: the caller, or a question without an answer. */
const isGivenUp = (exit: Exit.Failure<unknown, McpClientError>) =>
  exit.cause.reasons.every((cause) => cause._tag !== "Fail" || cause.error.reason._tag === "InputRequired")

const poll = Effect.fnUntraced(function* (
  client: Client,
  first: Task.Task,
  tell: (event: TaskEvent) => void,
  note: (task: Task.Task) => void
): Effect.fn.Return<Tool.CallResult, McpClientError> {
  const { taskId } = first
  const answered = new Set<string>()
  const began = yield* Clock.currentTimeMillis
  const ended = (how: TaskEnded["how"], because: string | undefined) =>
    new McpClientError({
      server: client.endpoint,
      reason: new TaskEnded({ taskId, how, ...(because === undefined ? {} : { because }) })
    })
  note(first)
  if (first.status === "working") yield* pause(first)
  let before = first
  while (true) {
    const task = yield* Effect.catchIf(
      get(client, taskId),
      // The id was the server's own, so it can only be that it is not known any more (M-TASK-16).
      ({ reason }) => reason._tag === "ServerError" && reason.code === ErrorCode.InvalidParams,
      ({ reason }) => ended("expired", reason._tag === "ServerError" ? reason.text : undefined)
    )
    const isSame = task.lastUpdatedAt === before.lastUpdatedAt && task.status === before.status
    if (!isSame || task.statusMessage !== before.statusMessage) note(task)
    switch (task.status) {
      case "cancelled":
        return yield* ended("cancelled", task.statusMessage)
      case "completed":
      case "failed":
        return yield* hasPayload(client) ? payloadOf(client, taskId) : outcome(client.endpoint, task)
      case "input_required":
        // Here the server asks with requests of its own while `tasks/result` waits (L-TASK-5).
        if (hasPayload(client)) return yield* payloadOf(client, taskId)
        yield* answer(client, task, answered, tell)
        break
      case "working":
        break
    }
    const isOld = task.ttlMs !== null && (yield* Clock.currentTimeMillis) - began >= task.ttlMs
    if (isSame && isOld) return yield* ended("expired", task.statusMessage)
    before = task
    yield* pause(task)
  }
})

/** Waits as long as the server says, within our own bounds. */
const pause = Effect.fnUntraced(function* ({ pollIntervalMs }: Task.Task) {
  const wanted = pollIntervalMs === undefined ? yield* Limits.TaskPollPause : Duration.millis(pollIntervalMs)
  const minimum = yield* Limits.TaskPollLeast
  yield* Effect.sleep(Duration.clamp(wanted, { minimum, maximum: yield* Limits.TaskPollMost }))
})

/** Answers what was not answered before: a key is asked once in the life of a task (M-TASK-11, M-TASK-13). */
const answer = Effect.fnUntraced(function* (
  client: Client,
  { inputRequests = {}, taskId }: Task.GetResult,
  answered: Set<string>,
  tell: (event: TaskEvent) => void
) {
  const questions: Readonly<Record<string, InputRequest>> = Object.fromEntries(
    Object.entries(inputRequests).filter(([key]) => !answered.has(key))
  )
  const keys = Object.keys(questions)
  if (keys.length === 0) return
  tell(TaskEvent.Asked({ questions }))
  yield* client.request("tasks/update", { taskId, inputResponses: yield* client.answer(questions) })
  for (const key of keys) answered.add(key)
})

/** Whether the result is to be asked for, as in 2025-11-25; else it stands in the task. */
const hasPayload = ({ agreement: { version } }: Client) =>
  Version.isLegacy(version) && Revision.of(version).supports("tasks/result")

/** The result itself, or the error the call would have had; it may take as long as the task does. */
const payloadOf = (client: Client, taskId: string) =>
  Effect.flatMap(client.request("tasks/result", { taskId }, { timeout: Duration.infinity }), (payload) =>
    read(client.endpoint, payload)
  )

const outcome = (
  server: string,
  { error, result, status, statusMessage }: Task.GetResult
): Effect.Effect<Tool.CallResult, McpClientError> => {
  if (status === "failed" && error === undefined && result === undefined) {
    const said = statusMessage === undefined ? "" : ` and the server says: ${excerpt(statusMessage)}`
    const because = `is missing, though the task failed${said}`
    return Effect.fail(
      new McpClientError({ server, reason: new InvalidResult({ method: "tools/call", pointer: "/error", because }) })
    )
  }
  if (status === "completed" || error === undefined) return read(server, result)
  const { code, data, message: text } = error
  const reason = new ServerError({ method: "tools/call", code, text, ...(data === undefined ? {} : { data }) })
  return Effect.fail(new McpClientError({ server, reason }))
}

/** All revisions read results alike. */
const read = (
  server: string,
  found: JsonRpc.JsonObject | undefined
): Effect.Effect<Tool.CallResult, McpClientError> => {
  const invalid = (because: string) =>
    new McpClientError({ server, reason: new InvalidResult({ method: "tools/call", pointer: "/result", because }) })
  if (found === undefined) return Effect.fail(invalid("is missing, though the task is done"))
  const decoded = Revision.v2026_07_28.decode("tools/call", found)
  if (Result.isFailure(decoded)) return Effect.fail(new McpClientError({ server, reason: decoded.failure }))
  const { value } = decoded.success
  return isInputRequired(value) ? Effect.fail(invalid("is a question, though the task is done")) : Effect.succeed(value)
}
