/**
 * The extension `io.modelcontextprotocol/tasks` of 2026-07-28 on the official modern server. Its SDK has no tasks, but
 * carries what a server adds by itself: the task of a call, and methods of an extension. Legacy clients get a plain
 * answer, as do clients that do not declare the extension (M-TASK-2).
 */
import * as Task from "@mcp-effect/protocol/Task"
import {
  acceptedContent,
  type CallToolResult,
  type McpServer,
  ProtocolError,
  type ServerContext
} from "@modelcontextprotocol/server"
import { randomUUID } from "node:crypto"
import { z } from "zod"

interface Kept {
  readonly taskId: string
  readonly createdAt: string
  status: Task.Status
  lastUpdatedAt: string
  more: Readonly<Record<string, unknown>>
}

/** The tasks of one server, whatever instance of it is asked. */
export type TaskStore = Map<string, Kept>

const now = () => new Date().toISOString()

const said = (text: string): CallToolResult => ({ content: [{ type: "text", text }] })

const shown = ({ createdAt, lastUpdatedAt, more, status, taskId }: Kept) => ({
  taskId,
  status,
  createdAt,
  lastUpdatedAt,
  ttlMs: 60_000,
  pollIntervalMs: 100,
  ...more
})

const move = (task: Kept, status: Task.Status, more: Kept["more"] = {}) => {
  if (Task.isFinal(task.status)) return
  task.status = status
  task.more = more
  task.lastUpdatedAt = now()
}

/** Whether the client of a request declares the extension; legacy requests carry no envelope. */
const declares = ({ mcpReq: { envelope } }: ServerContext): boolean =>
  JSON.stringify(envelope ?? {}).includes(`"${Task.extension}"`)

const order = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Which filling?",
    requestedSchema: { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] }
  }
}

/** Tools that become tasks, and what happens to each task. */
const work: Readonly<Record<string, (task: Kept) => void>> = {
  /** Is done soon. */
  bake: (task) => void setTimeout(() => move(task, "completed", { result: said("baked") }), 50),
  /** Fails soon. */
  burn: (task) =>
    void setTimeout(() => move(task, "failed", { error: { code: -32603, message: "the oven is on fire" } }), 50),
  /** Goes on until it is cancelled. */
  brew: () => undefined,
  /** Asks, and is done when it has the answer. */
  order: (task) => move(task, "input_required", { inputRequests: { filling: order } })
}

const Named = z.looseObject({ taskId: z.string() })
const Filling = z.object({ answer: z.string() })

export const addTasks = (server: McpServer, store: TaskStore): void => {
  const find = (taskId: string): Kept => {
    const task = store.get(taskId)
    if (task === undefined) throw new ProtocolError(-32602, `there is no task ${taskId}`)
    return task
  }
  server.server.registerCapabilities({ extensions: { [Task.extension]: {} } })

  for (const [name, begin] of Object.entries(work)) {
    server.registerTool(name, { description: "Takes its time" }, (context) => {
      if (!declares(context)) return said(`${name} without a task`)
      const at = now()
      const task: Kept = { taskId: randomUUID(), createdAt: at, status: "working", lastUpdatedAt: at, more: {} }
      store.set(task.taskId, task)
      begin(task)
      const created = { resultType: "task", ...shown({ ...task, more: {} }) }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK has no type for it, and carries it
      return created as unknown as CallToolResult
    })
  }
  server.server.setRequestHandler("tasks/get", { params: Named }, ({ taskId }) => shown(find(taskId)))
  server.server.setRequestHandler("tasks/cancel", { params: Named }, ({ taskId }) => {
    move(find(taskId), "cancelled", { statusMessage: "the client asked for it" })
    return {}
  })
  // The SDK takes the answers out of the parameters, as it does for a call that comes again with them.
  server.server.setRequestHandler("tasks/update", { params: Named }, ({ taskId }, { mcpReq: { inputResponses } }) => {
    const filling = acceptedContent(inputResponses, "filling", Filling)
    if (filling !== undefined) move(find(taskId), "completed", { result: said(`filled with ${filling.answer}`) })
    return {}
  })
}
