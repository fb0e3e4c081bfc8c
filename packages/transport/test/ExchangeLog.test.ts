import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Latch from "effect/Latch"
import * as PlatformError from "effect/PlatformError"
import * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import * as ExchangeLog from "../src/ExchangeLog.ts"
import * as Memory from "../src/Memory.ts"
import { type Incoming, type Standing, Transport } from "../src/Transport.ts"
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

  it.effect("L-HTTP-21: a recorded wire tells how the server's own stream stands as the wire below does", () =>
    Effect.gen(function* () {
      const missed: Standing = { _tag: "Open", missed: true }
      const below = Transport.of({
        ...server,
        open: (hear) =>
          Effect.map(server.open(hear), (wire) => ({
            ...wire,
            standing: (tell) => {
              tell(missed)
              return () => {}
            }
          }))
      })
      const told: Array<Standing> = []
      const wire = yield* ExchangeLog.record(below, () => {}).open(() => {})
      wire.standing?.((standing) => told.push(standing))
      assert.deepStrictEqual(told, [missed])
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

  it.effect("a replayed wire takes what is sent until its scope has closed", () =>
    Effect.gen(function* () {
      const note = { jsonrpc: "2.0", method: "notifications/initialized" } as const
      const scope = yield* Scope.make()
      const wire = yield* Scope.provide(
        ExchangeLog.replay("log", yield* recorded).open(() => {}),
        scope
      )
      yield* wire.send(note, modern)
      yield* Scope.close(scope, Exit.void)
      for (const late of [wire.send(note, modern), wire.exchange(request(1, "close"), how), wire.ended]) {
        assert.include((yield* Effect.flip(late)).message, "this side closed it")
      }
    })
  )

  it("leaves out lines that are no entries, and entries whose message is none", () => {
    const sent = { event: "sent", wire: 1, at: 0, message: { jsonrpc: "2.0", id: 1, method: "ping" } }
    const wrong = [{ id: 2 }, { id: 2, error: null }, { jsonrpc: "2.0", id: 1, result: 5 }, { method: 7 }, null, "text"]
    const lines = [sent, ...wrong.map((message) => ({ ...sent, event: "heard", message })), 7, null, { event: "sent" }]
    const text = [...lines.map((line) => JSON.stringify(line)), "", "{torn"].join("\n")
    assert.deepStrictEqual<unknown>(ExchangeLog.parse(text), [sent])
  })

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

  /** A disk whose file does with each write what `writeAll` says. */
  const diskOf = (
    writeAll: (text: string) => Effect.Effect<void, PlatformError.PlatformError>,
    open: Effect.Effect<void, PlatformError.PlatformError> = Effect.void
  ) =>
    FileSystem.layerNoop({
      open: () =>
        Effect.as(open, {
          ...unused,
          writeAll: (bytes) => Effect.suspend(() => writeAll(new TextDecoder().decode(bytes)))
        })
    })
  const full = PlatformError.systemError({
    _tag: "Unknown",
    module: "FileSystem",
    method: "writeAll",
    description: "no space left on device"
  })
  const not = Effect.die("not used")
  const unused: FileSystem.File = {
    [FileSystem.FileTypeId]: FileSystem.FileTypeId,
    stat: not,
    sync: not,
    seek: () => not,
    read: () => not,
    readAlloc: () => not,
    truncate: () => not,
    write: () => not,
    writeAll: () => not
  }

  const heard = () => {
    const reported: Array<Diagnostic> = []
    return {
      reported,
      collect: Effect.provideService(Diagnostics, (diagnostic: Diagnostic) =>
        Effect.sync(() => void reported.push(diagnostic))
      )
    }
  }
  const closed = (wire: number): ExchangeLog.Entry => ({ event: "closed", wire, at: 0 })
  const settled = Effect.repeat(Effect.yieldNow, { times: 20 })

  it.effect("T-RPC-6: a file that cannot be opened is a typed error", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.scoped(ExchangeLog.toFile("log.jsonl")))
      assert.strictEqual(error._tag, "PlatformError")
      assert.include(error.message, "no space left on device")
    }).pipe(Effect.provide(diskOf(() => Effect.void, Effect.fail(full))))
  )

  it.effect("T-RPC-6: a disk that is full is reported at each doubling, and written again once it has room", () => {
    const { collect, reported } = heard()
    let file = ""
    let isFull = false
    const disk = diskOf((text) => {
      // Half of it still fits.
      file += isFull ? text.slice(0, text.length / 2) : text
      return isFull ? Effect.fail(full) : Effect.void
    })
    return Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const write = yield* ExchangeLog.toFile("log.jsonl")
          for (let wire = 1; wire <= 12; wire++) {
            isFull = wire > 1 && wire < 12
            write(closed(wire))
            yield* settled
          }
        })
      )
      assert.deepStrictEqual(
        ExchangeLog.parse(file).map(({ wire }) => wire),
        [1, 12]
      )
      assert.deepStrictEqual(
        reported.map((each) => (each._tag === "CallbackFailed" ? each.failed : each._tag)),
        [1, 2, 4, 8]
      )
      const [first] = reported
      assert.deepInclude(first, { server: "log.jsonl", callback: "the exchange log (a write)" })
      assert.include(first?._tag === "CallbackFailed" ? first.because : "", "no space left on device")
    }).pipe(collect, Effect.provide(disk))
  })

  it.effect("T-RPC-6: a disk that cannot keep up loses entries beyond 64 Mi characters, and says so", () => {
    const { collect, reported } = heard()
    const large = "x".repeat(1024 * 1024)
    let written = 0
    const stuck = Latch.makeUnsafe(false)
    const disk = diskOf((text) => {
      written += text.length
      return stuck.await
    })
    return Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const write = yield* ExchangeLog.toFile("log.jsonl")
          write(closed(1))
          yield* settled
          for (let wire = 2; wire <= 101; wire++) write({ event: "opened", wire, at: 0, endpoint: large })
          yield* settled
          assert.isBelow(written, 100)
          assert.isTrue(reported.some((each) => each._tag === "CallbackFailed" && each.failed >= 32))
          assert.isTrue(reported.length <= 7)
          yield* stuck.open
          yield* settled
        })
      )
      // One entry may begin below the limit and end above it.
      assert.isAtMost(written, 65 * (large.length + 100))
      assert.isAtLeast(written, 63 * large.length)
    }).pipe(collect, Effect.provide(disk))
  })

  it.effect("U-62: a disk that hangs holds the end of the scope for 5 seconds and no longer, and is reported", () => {
    const { collect, reported } = heard()
    return Effect.gen(function* () {
      const closing = yield* Effect.gen(function* () {
        const write = yield* ExchangeLog.toFile("log.jsonl")
        write(closed(1))
        yield* settled
      }).pipe(Effect.scoped, Effect.forkChild({ startImmediately: true }))
      yield* settled
      yield* TestClock.adjust("4999 millis")
      yield* settled
      assert.isUndefined(closing.pollUnsafe())
      assert.lengthOf(reported, 0)
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(closing)
      assert.lengthOf(reported, 1)
    }).pipe(collect, Effect.provide(diskOf(() => Effect.never)))
  })
})
