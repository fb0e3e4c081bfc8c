import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import type { Handlers } from "../src/Handlers.ts"
import * as McpClient from "../src/McpClient.ts"
import { TaskEvent } from "../src/TaskEvent.ts"
import * as Tasks from "../src/Tasks.ts"
import { settled } from "./fixtures/announcer.ts"
import * as Peer from "./fixtures/peer.ts"

const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : block)).join(" ")
const said = (text: string) => ({ content: [{ type: "text", text }] })
const asks = {
  method: "elicitation/create",
  params: { message: "Sure?", requestedSchema: { type: "object", properties: { yes: { type: "boolean" } } } }
}
const yes: Handlers = { elicitation: { form: () => Effect.succeed({ action: "accept", content: { yes: true } }) } }

let updates = 0
const task = (status: string, more: object = {}) => ({
  taskId: "t1",
  status,
  createdAt: "2026-08-01T00:00:00Z",
  lastUpdatedAt: `update ${++updates}`,
  ...more
})
const modernTask = (status: string, more: object = {}) => task(status, { ttlMs: null, pollIntervalMs: 500, ...more })
const legacyTask = (status: string, more: object = {}) => task(status, { ttl: null, pollInterval: 500, ...more })

/** A modern server that makes a task of every call; it stands as the script says, one step per question after it. */
const modern = (steps: ReadonlyArray<object>, first: object = modernTask("working")) => {
  const left = [...steps]
  return Peer.make(
    Peer.modern(
      Peer.on(
        "tools/call",
        () => ({ resultType: "task", ...first }),
        Peer.on(
          "tasks/get",
          () => ({ resultType: "complete", ...(left.length > 1 ? left.shift() : left[0]) }),
          Peer.on(
            "tasks/update",
            () => ({ resultType: "complete" }),
            (heard, peer) => {
              if (heard.method === "tasks/cancel") peer.answer(heard, { resultType: "complete" })
            }
          )
        )
      )
    )
  )
}

const connect = (peer: Peer.Peer, handlers: Handlers = {}) =>
  McpClient.connect(peer.transport, { extensions: Tasks.extensions, handlers })

const asked = (peer: Peer.Peer, method: string) => peer.heard().filter((heard) => heard.method === method)

const pass = (millis: number) => Effect.andThen(Effect.andThen(settled, TestClock.adjust(millis)), settled)

const inShort = TaskEvent.$match({
  Changed: ({ task: { status } }) => status,
  Asked: ({ questions }) => `asked ${Object.keys(questions).join(" ")}`,
  Result: ({ result }) => textOf(result)
})

const follow = Effect.fnUntraced(function* (stream: ReturnType<typeof Tasks.follow>) {
  const seen: Array<string> = []
  const fiber = yield* stream.pipe(
    Stream.runForEach((event) => Effect.sync(() => void seen.push(inShort(event)))),
    Effect.result,
    Effect.forkChild({ startImmediately: true })
  )
  return { seen, fiber }
})

describe("a task of a modern server", () => {
  it.effect("M-TASK-1, M-TASK-4: the extension is declared with each request, and an ordinary answer is one", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern(Peer.on("tools/call", () => said("at once"))))
      const client = yield* connect(peer)
      assert.strictEqual(textOf(yield* Tasks.call(client, "report")), "at once")
      const [call] = asked(peer, "tools/call")
      assert.deepInclude(call?.params?.["_meta"], {
        "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } }
      })
      assert.notProperty(call?.params, "task")
    })
  )

  it.effect("M-TASK-11: is asked after as often as the server says, which may change, until it is done", () =>
    Effect.gen(function* () {
      const peer = modern([
        modernTask("working", { pollIntervalMs: 2000 }),
        modernTask("completed", { result: said("done") })
      ])
      const calling = yield* Effect.forkChild(Effect.flatMap(connect(peer), (client) => Tasks.call(client, "report")))
      for (const [millis, times] of [
        [499, 0],
        [1, 1],
        [1999, 1],
        [1, 2]
      ] as const) {
        yield* pass(millis)
        assert.lengthOf(asked(peer, "tasks/get"), times)
      }
      assert.strictEqual(textOf(yield* Fiber.join(calling)), "done")
      assert.lengthOf(asked(peer, "tasks/cancel"), 0)
    })
  )

  it.effect("U-62: no server has itself asked without a pause, or never again", () =>
    Effect.gen(function* () {
      for (const [pollIntervalMs, least] of [
        [0, 100],
        [1e12, 60_000]
      ] as const) {
        const peer = modern(
          [modernTask("completed", { result: said("done") })],
          modernTask("working", { pollIntervalMs })
        )
        yield* Effect.forkChild(Effect.flatMap(connect(peer), (client) => Tasks.call(client, "report")))
        yield* pass(least - 1)
        assert.lengthOf(asked(peer, "tasks/get"), 0)
        yield* pass(1)
        assert.lengthOf(asked(peer, "tasks/get"), 1)
      }
    })
  )

  it.effect("M-TASK-12, M-TASK-13: its questions go to the handlers, and each is answered once", () =>
    Effect.gen(function* () {
      const peer = modern([
        modernTask("input_required", { inputRequests: { a: asks } }),
        modernTask("input_required", { inputRequests: { a: asks, b: asks } }),
        modernTask("completed", { result: said("done") })
      ])
      const client = yield* connect(peer, yes)
      const { fiber, seen } = yield* follow(Tasks.stream(client, "report"))
      for (let times = 0; times < 3; times++) yield* pass(500)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, [
        "working",
        "input_required",
        "asked a",
        "input_required",
        "asked b",
        "completed",
        "done"
      ])
      const answer = { action: "accept", content: { yes: true } }
      assert.deepStrictEqual(
        asked(peer, "tasks/update").map(({ params }) => [params?.["taskId"], params?.["inputResponses"]]),
        [
          ["t1", { a: answer }],
          ["t1", { b: answer }]
        ]
      )
    })
  )

  it.effect("M-TASK-12: a question nobody can answer ends the call, and the task is cancelled", () =>
    Effect.gen(function* () {
      const peer = modern([modernTask("input_required", { inputRequests: { a: asks } })])
      const client = yield* connect(peer)
      const calling = yield* Effect.forkChild(Effect.flip(Tasks.call(client, "report")))
      yield* pass(500)
      assert.strictEqual((yield* Fiber.join(calling)).reason._tag, "InputRequired")
      assert.lengthOf(asked(peer, "tasks/cancel"), 1)
    })
  )

  it.effect("M-TASK-7, M-TASK-8: a failed one gives the server's error; a tool that failed is a result", () =>
    Effect.gen(function* () {
      const error = { code: -32050, message: "out of paper", data: { tray: 2 } }
      for (const [last, tag] of [
        [modernTask("failed", { error }), "ServerError"],
        [modernTask("cancelled", { statusMessage: "by the night shift" }), "TaskEnded"],
        [modernTask("completed"), "InvalidResult"],
        [modernTask("failed", { statusMessage: "no paper left" }), "InvalidResult"]
      ] as const) {
        const client = yield* connect(modern([last]))
        const calling = yield* Effect.forkChild(Effect.flip(Tasks.call(client, "report")))
        yield* pass(500)
        const failure = yield* Fiber.join(calling)
        assert.strictEqual(failure.reason._tag, tag)
        if (failure.reason._tag === "ServerError")
          assert.deepInclude(failure.reason, { code: -32050, data: { tray: 2 } })
        if (failure.reason._tag === "TaskEnded") assert.include(failure.message, "by the night shift")
        if (failure.reason._tag === "InvalidResult") {
          const facts = last.status === "failed" ? ["/error", "the task failed", "no paper left"] : ["/result", "done"]
          for (const fact of facts) assert.include(failure.message, fact)
        }
      }
      // What is done has its result, whatever else stands beside it.
      const done = modernTask("completed", { result: { ...said("no ink"), isError: true }, error })
      const client = yield* connect(modern([done]))
      const calling = yield* Effect.forkChild(Tasks.call(client, "report"))
      yield* pass(500)
      assert.isTrue((yield* Fiber.join(calling)).isError)
    })
  )

  it.effect("M-TASK-15: one that stands still past its ttlMs is given up", () =>
    Effect.gen(function* () {
      const still = modernTask("working", { ttlMs: 1200 })
      const client = yield* connect(modern([still], still))
      yield* TestClock.adjust("1 hour")
      const calling = yield* Effect.forkChild(Effect.flip(Tasks.call(client, "report")))
      yield* pass(500)
      yield* pass(500)
      assert.isUndefined(calling.pollUnsafe())
      yield* pass(500)
      assert.deepInclude((yield* Fiber.join(calling)).reason, { _tag: "TaskEnded", how: "expired" })
    })
  )

  it.effect("L-TASK-4, M-TASK-14: interrupting cancels by tasks/cancel, never by notifications/cancelled", () =>
    Effect.gen(function* () {
      const peer = modern([modernTask("working")])
      const client = yield* connect(peer)
      const calling = yield* Effect.forkChild(Tasks.call(client, "report"))
      yield* pass(500)
      yield* Fiber.interrupt(calling)
      assert.deepInclude(asked(peer, "tasks/cancel")[0]?.params, { taskId: "t1" })
      assert.lengthOf(asked(peer, "notifications/cancelled"), 0)
    })
  )

  it.effect("a stream that is left early cancels; `abandoned: leave` lets the task go on", () =>
    Effect.gen(function* () {
      for (const [abandoned, cancelled] of [
        ["cancel", 1],
        ["leave", 0]
      ] as const) {
        const peer = modern([modernTask("working")])
        const client = yield* connect(peer)
        yield* Tasks.stream(client, "report", {}, { abandoned }).pipe(Stream.take(1), Stream.runDrain)
        yield* settled
        assert.lengthOf(asked(peer, "tasks/cancel"), cancelled)
      }
    })
  )

  it.effect("a cancellation that gets no answer holds nobody up for longer than TaskCancelTimeout", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        Peer.modern(Peer.on("tools/call", () => ({ resultType: "task", ...modernTask("working") })))
      )
      const client = yield* connect(peer)
      const calling = yield* Effect.forkChild(Tasks.call(client, "report"))
      yield* settled
      const stopping = yield* Effect.forkChild(Fiber.interrupt(calling))
      yield* pass(4999)
      assert.isUndefined(stopping.pollUnsafe())
      yield* pass(1)
      assert.isDefined(stopping.pollUnsafe())
    })
  )

  it.effect("M-TASK-9: its id goes on in another client; an id the server does not know is its error", () =>
    Effect.gen(function* () {
      const peer = modern([modernTask("working"), modernTask("completed", { result: said("done") })])
      const started = yield* Effect.flatMap(connect(peer), (client) => Tasks.start(client, "report"))
      assert.strictEqual(started._tag === "Running" && started.task.taskId, "t1")
      const { fiber, seen } = yield* follow(Tasks.follow(yield* connect(peer), "t1"))
      yield* pass(500)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, ["working", "completed", "done"])

      const strange = Peer.make(Peer.modern((heard, me) => me.refuse(heard, -32602)))
      const error = yield* Effect.flip(Tasks.result(yield* connect(strange), "t2"))
      assert.deepInclude(error.reason, { _tag: "ServerError", method: "tasks/get", code: -32602 })
    })
  )

  it.effect("M-TASK-16: one that the server knows no more while it is followed has ended, and is not cancelled", () =>
    Effect.gen(function* () {
      for (const code of [-32602, -32603]) {
        const steps = [modernTask("working")]
        const peer = Peer.make(
          Peer.modern((heard, me) => {
            if (heard.method === "tools/call") return me.answer(heard, { resultType: "task", ...modernTask("working") })
            const step = steps.shift()
            return step === undefined
              ? me.refuse(heard, code, "unknown task")
              : me.answer(heard, { resultType: "complete", ...step })
          })
        )
        const client = yield* connect(peer)
        const calling = yield* Effect.forkChild(Effect.flip(Tasks.call(client, "report")))
        yield* pass(500)
        yield* pass(500)
        const { message, reason } = yield* Fiber.join(calling)
        if (code === -32602) {
          assert.deepInclude(reason, { _tag: "TaskEnded", how: "expired", because: "unknown task" })
          assert.include(message, "since the server keeps it no longer: unknown task")
        } else assert.deepInclude(reason, { _tag: "ServerError", method: "tasks/get", code })
        assert.lengthOf(asked(peer, "tasks/get"), 2)
        assert.lengthOf(asked(peer, "tasks/cancel"), 0)
      }
    })
  )

  it.effect("M-TASK-4: a plain call says that it became a task, and holds it; undeclared, the answer is invalid", () =>
    Effect.gen(function* () {
      const peer = modern([modernTask("working")])
      const { reason } = yield* Effect.flip((yield* connect(peer)).callTool("report"))
      assert.strictEqual(reason._tag === "BecameTask" && reason.task.taskId, "t1")
      const undeclared = yield* McpClient.connect(peer.transport)
      assert.strictEqual((yield* Effect.flip(undeclared.callTool("report"))).reason._tag, "InvalidResult")
    })
  )
})

describe("a task of 2025-11-25", () => {
  const able = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } }
  /** A server that makes a task of a call when asked to. */
  const legacy = (
    steps: ReadonlyArray<object>,
    result: Peer.React = (heard, peer) => peer.answer(heard, said("done")),
    taskSupport = "optional",
    capabilities: object = able
  ) => {
    const left = [...steps]
    return Peer.make((heard, peer) => {
      switch (heard.method) {
        case "initialize":
          return peer.answer(heard, Peer.initialized({ capabilities }))
        case "tools/list":
          return peer.answer(heard, {
            tools: [{ name: "report", inputSchema: { type: "object" }, execution: { taskSupport } }]
          })
        case "tools/call":
          return peer.answer(
            heard,
            heard.params !== undefined && "task" in heard.params ? { task: legacyTask("working") } : said("at once")
          )
        case "tasks/get":
          return peer.answer(heard, (left.length > 1 ? left.shift() : left[0]) ?? {})
        case "tasks/cancel":
          return peer.answer(heard, legacyTask("cancelled"))
        case "tasks/result":
          return result(heard, peer)
        default:
          return Peer.legacy()(heard, peer)
      }
    })
  }
  const listed = Effect.fnUntraced(function* (peer: Peer.Peer, handlers?: Handlers) {
    const client = yield* connect(peer, handlers)
    yield* client.listTools()
    return client
  })

  it.effect("L-TASK-1, L-TASK-3: is asked for by the call, and its result comes from tasks/result", () =>
    Effect.gen(function* () {
      const peer = legacy([legacyTask("completed")])
      const client = yield* listed(peer)
      const calling = yield* Effect.forkChild(Tasks.call(client, "report", {}, { task: { ttl: "1 minute" } }))
      yield* pass(500)
      assert.strictEqual(textOf(yield* Fiber.join(calling)), "done")
      assert.deepStrictEqual(asked(peer, "tools/call")[0]?.params?.["task"], { ttl: 60_000 })
    })
  )

  it.effect(
    "L-TASK-1: is not asked for with a time that cannot be sent: InvalidOption, whatever the server can do",
    () =>
      Effect.gen(function* () {
        const capable = legacy([legacyTask("completed")])
        const incapable = legacy([], undefined, "forbidden")
        const now = modern([])
        for (const [peer, client] of [
          [capable, yield* listed(capable)],
          [incapable, yield* listed(incapable)],
          [now, yield* connect(now)]
        ] as const) {
          for (const ttl of [
            JSON.parse('"soon"'),
            Number.NaN,
            -4,
            "-4 seconds",
            Number.POSITIVE_INFINITY,
            "Infinity"
          ]) {
            const { reason } = yield* Effect.flip(Tasks.start(client, "report", {}, { task: { ttl } }))
            assert.deepInclude(reason, { _tag: "InvalidOption", option: "task.ttl" }, String(ttl))
          }
          assert.lengthOf(asked(peer, "tools/call"), 0)
        }
      })
  )

  it.effect("L-TASK-2: is not asked for where server or tool cannot; then the call is answered", () =>
    Effect.gen(function* () {
      for (const peer of [
        legacy([], undefined, "forbidden"),
        legacy([], undefined, "optional", { tools: {} }),
        legacy([], undefined, "required", { tools: {}, tasks: {} })
      ]) {
        assert.strictEqual(textOf(yield* Tasks.call(yield* listed(peer), "report")), "at once")
        assert.notProperty(asked(peer, "tools/call")[0]?.params, "task")
      }
    })
  )

  it.effect("L-TASK-5: for input the result is waited for, and the answer names the task", () =>
    Effect.gen(function* () {
      const related = { "io.modelcontextprotocol/related-task": { taskId: "t1" } }
      let waiting: Peer.Heard = {}
      const peer = legacy([legacyTask("input_required")], (heard, me) => {
        waiting = heard
        me.say({ id: "q1", ...asks, params: { ...asks.params, _meta: related } })
      })
      const client = yield* listed(peer, yes)
      const calling = yield* Effect.forkChild(Tasks.call(client, "report"))
      yield* pass(500)
      assert.deepStrictEqual(peer.heard().find(({ id, method }) => id === "q1" && method === undefined)?.result, {
        action: "accept",
        content: { yes: true },
        _meta: related
      })
      peer.answer(waiting, said("done"))
      assert.strictEqual(textOf(yield* Fiber.join(calling)), "done")
    })
  )

  it.effect("L-TASK-3, L-TASK-4: a failed one gives what the call would have given; interrupting cancels", () =>
    Effect.gen(function* () {
      const failing = yield* listed(legacy([legacyTask("failed")], (heard, me) => me.refuse(heard, -32050)))
      const calling = yield* Effect.forkChild(Effect.flip(Tasks.call(failing, "report")))
      yield* pass(500)
      assert.deepInclude((yield* Fiber.join(calling)).reason, { _tag: "ServerError", code: -32050 })

      const peer = legacy([legacyTask("working")])
      const leaving = yield* Effect.forkChild(Tasks.call(yield* listed(peer), "report"))
      yield* pass(500)
      yield* Fiber.interrupt(leaving)
      assert.lengthOf(asked(peer, "tasks/cancel"), 1)
      assert.lengthOf(asked(peer, "notifications/cancelled"), 0)
    })
  )
})
