import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import { TestClock } from "effect/testing"
import * as ExchangeLog from "../src/ExchangeLog.ts"
import * as Memory from "../src/Memory.ts"
import type { Incoming } from "../src/Transport.ts"
import { modern } from "./fixtures/revisions.ts"

const request = (id: JsonRpc.RequestId, method: string, params: JsonRpc.JsonObject = {}): JsonRpc.Request => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})
const how = { revision: modern }

/** Counts, echoes, and closes when asked to. */
const server = Memory.make("server", ({ close, send }) =>
  Effect.succeed((message) => {
    if (!JsonRpc.isRequest(message) || message.method === "silent") return
    if (message.method === "close") return close("enough")
    send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: message.id, progress: 1 } })
    send({ jsonrpc: "2.0", method: "notifications/message", params: { data: "log" } })
    send({ jsonrpc: "2.0", id: message.id, result: message.params ?? {} })
  })
)

const call = { name: "login", arguments: { user: "ann", password: "s3cret" }, _meta: { progressToken: 1 } }

describe("ExchangeLog", () => {
  const recorded = Effect.gen(function* () {
    const entries: Array<ExchangeLog.Entry> = []
    const transport = ExchangeLog.record(server, (entry) => void entries.push(entry))
    yield* Effect.scoped(
      Effect.gen(function* () {
        const wire = yield* transport.open(() => {})
        yield* TestClock.adjust(5)
        yield* wire.exchange(request(1, "tools/call", call), { revision: modern, interim: () => {} })
        const fiber = yield* Effect.forkChild(wire.exchange(request(2, "silent"), how), { startImmediately: true })
        yield* Fiber.interrupt(fiber)
        yield* Effect.exit(wire.exchange(request(3, "close"), how))
      })
    )
    return entries
  })

  it.effect("writes every message with direction and time, and how exchanges and wires end", () =>
    Effect.gen(function* () {
      const entries = yield* recorded
      assert.deepStrictEqual(
        entries.map(({ at, event, wire }) => [event, wire, at]),
        [
          ["opened", 1, 0],
          ["sent", 1, 5],
          ["heard", 1, 5],
          ["heard", 1, 5],
          ["heard", 1, 5],
          ["sent", 1, 5],
          ["interrupted", 1, 5],
          ["sent", 1, 5],
          ["failed", 1, 5],
          ["closed", 1, 5]
        ]
      )
      assert.deepInclude(entries[8], { id: 3, reason: "Closed" })
    })
  )

  it.effect("T-RPC-6: a writer that throws is reported once, and the exchange goes on", () =>
    Effect.gen(function* () {
      const reported: Array<Diagnostic> = []
      let called = 0
      const transport = ExchangeLog.record(server, () => {
        called++
        throw new Error("disk full")
      })
      const wire = yield* transport
        .open(() => {})
        .pipe(Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void reported.push(diagnostic))))
      assert.deepInclude(yield* wire.exchange(request(1, "x", { a: 1 }), how), { result: { a: 1 } })
      assert.strictEqual(called, 1)
      assert.deepInclude(reported[0], { _tag: "CallbackFailed", because: "Error: disk full", failed: 1 })
      assert.lengthOf(reported, 1)
    })
  )

  it.effect("hides what looks like a secret, and nothing else", () =>
    Effect.gen(function* () {
      const entries = yield* recorded
      assert.notInclude(JSON.stringify(entries), "s3cret")
      assert.deepInclude(entries[1], {
        message: request(1, "tools/call", { ...call, arguments: { user: "ann", password: "<redacted>" } })
      })
    })
  )

  it.effect("a log is replayed: the same requests get the same answers, under new ids", () =>
    Effect.gen(function* () {
      const entries = ExchangeLog.parse((yield* recorded).map((entry) => JSON.stringify(entry)).join("\n") + "\n{torn")
      const heard: Array<string> = []
      const seen: Array<Incoming> = []
      const wire = yield* ExchangeLog.replay("log", entries).open(({ method }) => void heard.push(method))
      const again = request(40, "tools/call", { ...call, _meta: { progressToken: 40 } })
      const answer = yield* wire.exchange(again, { revision: modern, interim: (message) => void seen.push(message) })
      assert.deepInclude(answer, { id: 40 })
      assert.deepStrictEqual(
        [heard, seen.map(({ params }) => params)],
        [["notifications/message"], [{ progressToken: 40, progress: 1 }]]
      )
      assert.include((yield* Effect.flip(wire.exchange(request(41, "close"), how))).message, "the log holds a failure")
      const missing = yield* Effect.flip(wire.exchange(request(42, "tools/list"), how))
      assert.include(missing.message, "the log holds no further tools/list")
    })
  )

  it.live("a file holds everything that was written before its scope closed", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* fs.makeTempDirectoryScoped()}/log.jsonl`
      yield* Effect.scoped(
        Effect.gen(function* () {
          const transport = ExchangeLog.record(server, yield* ExchangeLog.toFile(path))
          const wire = yield* transport.open(() => {})
          yield* Effect.forEach([1, 2, 3], (id) => wire.exchange(request(id, "x"), how))
        })
      )
      const entries = ExchangeLog.parse(yield* fs.readFileString(path))
      assert.strictEqual(entries.filter(({ event }) => event === "sent").length, 3)
      assert.strictEqual(entries.at(-1)?.event, "closed")
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})
