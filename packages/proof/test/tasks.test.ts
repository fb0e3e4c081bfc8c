/**
 * Tasks of both forms, live: the extension of 2026-07-28 on the official modern server, the experiment of 2025-11-25 on
 * the legacy SDK and on the reference server. One program for both.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import * as Tasks from "@mcp-effect/client/Tasks"
import type { TaskEvent } from "@mcp-effect/client/TaskEvent"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Task from "@mcp-effect/protocol/Task"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Column, columns } from "../matrix/Column.ts"
import { patience } from "./fixtures/patience.ts"

const Platform = Layer.mergeAll(NodeServices.layer, NodeHttp.layer, EraMemory.layerInProcess, patience)

/** Long enough for a process on a busy machine; a task of the reference server takes four seconds. */
const patient = 60_000

const on = (server: string, era: Column["era"]) =>
  columns.filter((column) => column.server === server && column.era === era && column.mode === "auto")

const rows = [...on("server", "modern"), ...on("sdk", "legacy")]

const connect = Effect.fnUntraced(function* ({ era, start }: Column, asked: Array<string> = []) {
  const { transport } = yield* start("tasks", "/")
  const client = yield* McpClient.connect(transport, {
    extensions: Tasks.extensions,
    handlers: {
      elicitation: {
        form: ({ message, requestedSchema }) =>
          Effect.sync(() => {
            asked.push(message)
            const [field = ""] = Object.keys(requestedSchema.properties)
            return { action: "accept" as const, content: { [field]: field === "answer" ? "cherries" : "technical" } }
          })
      }
    }
  })
  assert.strictEqual(client.agreement.era, era)
  yield* client.listTools()
  return client
})

type Client = McpClient.McpClient["Service"]

const begin = Effect.fnUntraced(function* (client: Client, tool: string) {
  const started = yield* Tasks.start(client, tool)
  if (started._tag === "Answered") return assert.fail(`${tool} did not become a task`)
  return started.task
})

const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : "")).join("\n")

const statuses = (events: ReadonlyArray<TaskEvent>) =>
  events.map((event) => (event._tag === "Changed" ? event.task.status : event._tag))

const reasonOf = <A>(effect: Effect.Effect<A, McpClientError>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

const live = <E>(title: string, of: ReadonlyArray<Column>, test: (column: Column) => Effect.Effect<void, E>) =>
  it.live.each(of)(`${title}: $server, $era, over $over`, test, patient)

const run = <E>(effect: Effect.Effect<void, E, Layer.Success<typeof Platform> | Scope.Scope>) =>
  effect.pipe(Effect.scoped, Effect.provide(Platform))

describe.concurrent("a task", () => {
  live("M-TASK-4, M-TASK-6, L-TASK-3: is followed from its beginning to its result", rows, (column) =>
    run(
      Effect.gen(function* () {
        const client = yield* connect(column)
        const events = yield* Stream.runCollect(Tasks.stream(client, "bake"))
        assert.deepStrictEqual(statuses(events), ["working", "completed", "Result"])
        const last = events.at(-1)
        assert.strictEqual(last?._tag === "Result" ? textOf(last.result) : "", "baked")
      })
    )
  )

  live("M-TASK-10, L-TASK-4: is named, asked after once, and waited for later", rows, (column) =>
    run(
      Effect.gen(function* () {
        const client = yield* connect(column)
        const task = yield* begin(client, "bake")
        assert.strictEqual((yield* Tasks.get(client, task.taskId)).taskId, task.taskId)
        assert.strictEqual(textOf(yield* Tasks.result(client, task.taskId)), "baked")
        assert.strictEqual((yield* Tasks.get(client, task.taskId)).status, "completed")
      })
    )
  )

  live("M-TASK-14, L-TASK-4: ends when it is cancelled, and says so", rows, (column) =>
    run(
      Effect.gen(function* () {
        const client = yield* connect(column)
        const { taskId } = yield* begin(client, "brew")
        yield* Tasks.cancel(client, taskId)
        const reason = yield* reasonOf(Tasks.result(client, taskId))
        assert.deepInclude(reason, { _tag: "TaskEnded", taskId, how: "cancelled" })
      })
    )
  )

  live("M-CAN-15, L-CAN-2: that nobody follows any more is cancelled at the server", rows, (column) =>
    run(
      Effect.gen(function* () {
        const client = yield* connect(column)
        const [event] = yield* Stream.runCollect(Stream.take(Tasks.stream(client, "brew"), 1))
        assert.strictEqual(event?._tag, "Changed")
        const taskId = event?._tag === "Changed" ? event.task.taskId : ""
        assert.strictEqual((yield* Tasks.get(client, taskId)).status, "cancelled")
      })
    )
  )

  live("M-TASK-14: that is left may go on", rows, (column) =>
    run(
      Effect.gen(function* () {
        const client = yield* connect(column)
        const options = { abandoned: "leave" } as const
        const [event] = yield* Stream.runCollect(Stream.take(Tasks.stream(client, "brew", {}, options), 1))
        const taskId = event?._tag === "Changed" ? event.task.taskId : ""
        assert.isFalse(Task.isFinal((yield* Tasks.get(client, taskId)).status))
        yield* Tasks.cancel(client, taskId)
      })
    )
  )

  live("M-TASK-16, L-TASK-4: that the server does not know is its error", rows, (column) =>
    run(
      Effect.gen(function* () {
        const client = yield* connect(column)
        assert.deepInclude(yield* reasonOf(Tasks.result(client, "no-such-task")), { _tag: "ServerError", code: -32602 })
      })
    )
  )

  live("M-TASK-7: that fails gives the error that the call would have had", on("server", "modern"), (column) =>
    run(
      Effect.gen(function* () {
        const client = yield* connect(column)
        const reason = yield* reasonOf(Tasks.call(client, "burn"))
        assert.deepInclude(reason, { _tag: "ServerError", method: "tools/call", text: "the oven is on fire" })
      })
    )
  )

  live("L-TASK-3: that fails gives the result that the call would have had", on("sdk", "legacy"), (column) =>
    run(
      Effect.gen(function* () {
        const result = yield* Tasks.call(yield* connect(column), "burn")
        assert.strictEqual(textOf(result), "the oven is on fire")
        assert.isTrue(result.isError)
      })
    )
  )

  live("M-TASK-12: that asks is answered by the handlers, and goes on", on("server", "modern"), (column) =>
    run(
      Effect.gen(function* () {
        const asked: Array<string> = []
        const events = yield* Stream.runCollect(Tasks.stream(yield* connect(column, asked), "order"))
        assert.includeMembers(statuses(events), ["input_required", "Asked", "Result"])
        const last = events.at(-1)
        assert.strictEqual(last?._tag === "Result" ? textOf(last.result) : "", "filled with cherries")
        assert.deepStrictEqual(asked, ["Which filling?"])
      })
    )
  )

  live("L-TASK-5: that asks is answered by the handlers, and goes on", on("everything", "legacy"), (column) =>
    run(
      Effect.gen(function* () {
        const client = yield* connect(column)
        const args = { topic: "tasks", ambiguous: true }
        const events = yield* Stream.runCollect(Tasks.stream(client, "simulate-research-query", args))
        assert.includeMembers(statuses(events), ["working", "input_required", "Result"])
        const last = events.at(-1)
        assert.include(last?._tag === "Result" ? textOf(last.result) : "", "**Clarification**: technical")
      })
    )
  )

  live("U-60: goes on in another client of the same server", on("server", "modern"), (column) =>
    run(
      Effect.gen(function* () {
        if (column.over === "stdio") {
          // A process serves one client; its tasks end with it, and another process does not know them.
          const { taskId } = yield* begin(yield* connect(column), "bake")
          const another = yield* connect(column)
          assert.deepInclude(yield* reasonOf(Tasks.get(another, taskId)), { _tag: "ServerError", code: -32602 })
          return
        }
        const { transport } = yield* column.start("tasks", "/")
        const first = yield* McpClient.connect(transport, { extensions: Tasks.extensions })
        const { taskId } = yield* begin(first, "bake")
        const second = yield* McpClient.connect(transport, { extensions: Tasks.extensions })
        assert.strictEqual(textOf(yield* Tasks.result(second, taskId)), "baked")
      })
    )
  )

  live("M-TASK-1: of a plain call is named in the error, and can be followed", on("server", "modern"), (column) =>
    run(
      Effect.gen(function* () {
        const client = yield* connect(column)
        const reason = yield* reasonOf(client.callTool("bake"))
        assert.strictEqual(reason._tag, "BecameTask")
        if (reason._tag !== "BecameTask") return
        assert.strictEqual(textOf(yield* Tasks.result(client, reason.task.taskId)), "baked")
      })
    )
  )

  live("M-TASK-2: is not made for a client that does not declare them", on("server", "modern"), (column) =>
    run(
      Effect.gen(function* () {
        const { transport } = yield* column.start("tasks", "/")
        const client = yield* McpClient.connect(transport)
        assert.strictEqual(textOf(yield* Tasks.call(client, "bake")), "bake without a task")
      })
    )
  )
})
