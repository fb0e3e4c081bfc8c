/**
 * Tasks of 2025-11-25 on the wire: other names for the two durations, and a created task inside `task`.
 */
import type { JsonObject } from "../JsonRpc.ts"
import { isObject } from "./node.ts"

const renamed = (from: readonly [string, string], to: readonly [string, string]) => {
  const names = new Map(from.map((name, index) => [name, to[index] ?? name]))
  return (task: JsonObject): JsonObject =>
    from.some((name) => Object.hasOwn(task, name))
      ? Object.fromEntries(Object.entries(task).map(([name, value]) => [names.get(name) ?? name, value]))
      : task
}

const onWire = ["ttl", "pollInterval"] as const
const inModel = ["ttlMs", "pollIntervalMs"] as const

const inward = renamed(onWire, inModel)
const outward = renamed(inModel, onWire)

const flat = new Set(["tasks/get", "tasks/cancel", "notifications/tasks/status"])

const inEach = (result: JsonObject, rename: (task: JsonObject) => JsonObject): JsonObject => {
  const tasks = Object.hasOwn(result, "tasks") ? result["tasks"] : undefined
  return Array.isArray(tasks)
    ? { ...result, tasks: tasks.map((task: unknown) => (isObject(task) ? rename(task) : task)) }
    : result
}

/** What such a server sent, with the names of the model. */
export const fromWire = (method: string, message: JsonObject): JsonObject =>
  flat.has(method) ? inward(message) : method === "tasks/list" ? inEach(message, inward) : message

/** What is in the model, with the names such a server knows. */
export const toWire = (method: string, message: JsonObject): JsonObject =>
  flat.has(method) ? outward(message) : method === "tasks/list" ? inEach(message, outward) : message

/** A created task, taken out of its wrapping; `undefined` when the result holds none. */
export const unwrap = (result: JsonObject): JsonObject | undefined => {
  const task = Object.hasOwn(result, "task") ? result["task"] : undefined
  if (!isObject(task)) return undefined
  const { task: _, ...rest } = result
  return { ...rest, ...inward(task), resultType: "task" }
}

/** A created task, wrapped. */
export const wrap = (created: JsonObject): JsonObject => {
  const { _meta, resultType: _, ...task } = created
  return _meta === undefined ? { task: outward(task) } : { _meta, task: outward(task) }
}
