import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Notification from "../src/Notification.ts"
import * as Question from "../src/Question.ts"
import * as ServerSide from "../src/ServerSide.ts"
import * as Version from "../src/Version.ts"

const newest = ServerSide.of("2026-07-28")
const before = ServerSide.of("2025-11-25")
const oldest = ServerSide.of("2024-11-05")

const tagOf = (result: Result.Result<unknown, { readonly _tag: string }>) =>
  Result.isFailure(result) ? result.failure._tag : "read"

describe("the other side", () => {
  it("is there for every version", () => {
    for (const version of [...Version.modern, ...Version.legacy]) {
      assert.strictEqual(ServerSide.of(version).version, version)
    }
  })

  it("reads a request of its revision, and refuses those of others and unknown ones", () => {
    assert.deepEqual(Result.getOrThrow(before.request("tools/call", { name: "a", arguments: { x: 1 } })), {
      method: "tools/call",
      params: { name: "a", arguments: { x: 1 } }
    })
    assert.strictEqual(tagOf(newest.request("server/discover", {})), "read")
    assert.strictEqual(tagOf(before.request("server/discover", {})), "MethodNotInRevision")
    assert.strictEqual(tagOf(newest.request("ping", {})), "MethodNotInRevision")
    assert.strictEqual(tagOf(newest.request("constructor", {})), "MethodNotInRevision")
    assert.strictEqual(tagOf(before.request("tools/call", {})), "InvalidParams")
  })

  it("hears a notification of its revision, and refuses those of others and unknown ones", () => {
    const cancelled = { requestId: 7, reason: "enough" }
    assert.deepEqual(Result.getOrThrow(before.hear("notifications/cancelled", cancelled)), {
      method: "notifications/cancelled",
      params: cancelled
    })
    assert.strictEqual(tagOf(before.hear("notifications/initialized", {})), "read")
    assert.strictEqual(tagOf(newest.hear("notifications/initialized", {})), "MethodNotInRevision")
    assert.strictEqual(tagOf(before.hear("notifications/odd", {})), "MethodNotInRevision")
    assert.strictEqual(tagOf(before.hear("toString", {})), "MethodNotInRevision")
    assert.strictEqual(tagOf(before.hear("notifications/progress", { progress: 1 })), "InvalidParams")
  })

  it("asks and tells only what its revision has", () => {
    const form = { message: "who?", requestedSchema: { type: "object" as const, properties: {} } }
    assert.strictEqual(tagOf(before.ask("elicitation/create", form)), "read")
    assert.strictEqual(tagOf(oldest.ask("elicitation/create", form)), "MethodNotInRevision")
    assert.strictEqual(tagOf(newest.ask("ping", {})), "MethodNotInRevision")
    const completed = { elicitationId: "1" }
    assert.strictEqual(tagOf(before.tell("notifications/elicitation/complete", completed)), "read")
    assert.strictEqual(tagOf(oldest.tell("notifications/elicitation/complete", completed)), "MethodNotInRevision")
  })

  it("writes a task where tasks are results of their own, and wrapped where they were", () => {
    const task = {
      resultType: "task" as const,
      taskId: "t",
      status: "working" as const,
      createdAt: "2026-01-01T00:00:00Z",
      lastUpdatedAt: "2026-01-01T00:00:00Z",
      ttlMs: 1_000
    }
    const written = (side: ServerSide.ServerSide) => Result.getOrThrow(side.result("tools/call", task)).result
    assert.deepInclude(written(newest), { resultType: "task", taskId: "t" })
    assert.notProperty(written(newest), "task")
    assert.deepInclude(written(before)["task"], { taskId: "t", ttl: 1_000 })
  })

  it("reads the answer to a question, and refuses what is none", () => {
    assert.deepEqual(Result.getOrThrow(before.answer("roots/list", { roots: [{ uri: "file:///a" }] })).value, {
      roots: [{ uri: "file:///a" }]
    })
    assert.strictEqual(tagOf(before.answer("roots/list", {})), "InvalidResult")
    assert.strictEqual(tagOf(before.answer("elicitation/create", { action: "perhaps" })), "InvalidResult")
  })

  it("knows every question and notification by its own name alone", () => {
    for (const method of Object.keys(Question.questions)) assert.isTrue(Question.isQuestion(method))
    for (const method of ["tools/list", "toString", ""]) assert.isFalse(Question.isQuestion(method))
    assert.notProperty(Notification.sent, "notifications/message")
  })
})
