/**
 * What a long-running program keeps: 100,000 calls and 1,000 connections leave heap, handles and fibers as they were.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Stream from "effect/Stream"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { addedTo, handles } from "./fixtures/handles.ts"

const script = `${import.meta.dirname}/../bench/server.mjs`

/** What is held after full collections, in MiB, once what is being closed is closed. */
const held = Effect.gen(function* () {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc")
  for (let turn = 0; turn < 3; turn++) {
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    collect()
  }
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1024 / 1024
})

/** Fibers that began and did not end, of those whose context has the counter. */
let fibers = 0
const counting = Layer.succeed(Metric.FiberRuntimeMetrics, {
  recordFiberStart: () => void fibers++,
  recordFiberEnd: () => void fibers--
})

/** What is about to end gets the time for it. */
const ended = (running: number) =>
  Effect.sync(() => fibers <= running).pipe(
    Effect.delay("5 millis"),
    Effect.repeat({ until: (yes) => yes }),
    Effect.timeoutOption("10 seconds")
  )

const url = ChildProcess.make(process.execPath, [script, "http"], { forceKillAfter: "2 seconds" }).pipe(
  Effect.flatMap(({ stdout }) => Stream.runHead(stdout.pipe(Stream.decodeText(), Stream.splitLines))),
  Effect.flatMap(Effect.fromOption)
)

const call = (client: McpClient.McpClient["Service"], times: number) =>
  Effect.forEach(
    Array.from({ length: times }, (_, at) => at),
    (at) => client.callTool("echo", { text: `message ${at}` }),
    { concurrency: 64, discard: true }
  )

/** What the young collections of a busy client had to copy, in bytes for each of its calls; the collector tells in a trace. */
const copiedPerCall = Effect.fnUntraced(function* (mode: string, over: string) {
  const calls = 6_000
  const youngMiB = 16
  const flags = ["--expose-gc", "--trace-gc", "--trace-gc-nvp"]
  const sizes = ["min", "max"].map((bound) => `--${bound}-semi-space-size=${youngMiB}`)
  const arguments_ = [`${import.meta.dirname}/fixtures/busyClient.ts`, mode, over, script, String(calls)]
  const { stdout } = yield* ChildProcess.make(process.execPath, [...flags, ...sizes, ...arguments_])
  const lines = yield* Stream.runCollect(stdout.pipe(Stream.decodeText(), Stream.splitLines))
  const copied = lines
    .slice(lines.indexOf("busy for a while"))
    .flatMap((line) => [...line.matchAll(/ gc=s .* promoted=(\d+) .*new_space_survived=(\d+)/g)])
    .map(([, old, young]) => Number(old) + Number(young))
  assert.isAbove(copied.length, 5, "young collections")
  return copied.reduce((sum, bytes) => sum + bytes, 0) / calls
})

const services = Layer.mergeAll(NodeServices.layer, NodeHttp.layer, EraMemory.layerNone, counting)

describe("leaks", () => {
  it.live.each(["modern", "legacy"] as const)(
    "100,000 calls over one pipe, 64 at a time, leave less than 8 MiB, no handle and no fiber: %s",
    (mode) =>
      Effect.gen(function* () {
        const client = yield* McpClient.connect(NodeStdio.make({ command: process.execPath, args: [script] }), { mode })
        yield* call(client, 5_000)
        const before = yield* held
        const busy = handles()
        const running = fibers
        yield* call(client, 100_000)
        const after = yield* held
        assert.isBelow(after - before, 8)
        assert.deepStrictEqual(addedTo(busy), [])
        yield* ended(running)
        assert.isAtMost(fibers, running)
      }).pipe(Effect.scoped, Effect.provide(services)),
    300_000
  )

  it.live.each(["modern", "legacy"] as const)(
    "1,000 connections over HTTP, opened, used and closed, leave less than 8 MiB, no handle and no fiber: %s",
    (mode) =>
      Effect.gen(function* () {
        const address = yield* url
        const once = Effect.gen(function* () {
          const transport = yield* StreamableHttp.make({ url: address })
          const client = yield* McpClient.connect(transport, { mode })
          yield* call(client, 1)
        }).pipe(Effect.scoped)
        const many = (times: number) => Effect.replicateEffect(once, times, { concurrency: 8, discard: true })
        yield* many(100)
        const before = yield* held
        const busy = handles()
        const running = fibers
        yield* many(1_000)
        const after = yield* held
        assert.isBelow(after - before, 8)
        assert.deepStrictEqual(addedTo(busy), [])
        yield* ended(running)
        assert.isAtMost(fibers, running)
      }).pipe(Effect.scoped, Effect.provide(services)),
    300_000
  )

  it.live.each([
    ["modern", "stdio", 1_500],
    ["legacy", "stdio", 1_500],
    ["modern", "http", 4_500],
    ["legacy", "http", 4_500]
  ] as const)(
    "nothing of a call outlives it, so young collections copy little of 64 calls in flight: %s, %s",
    ([mode, over, bound]) =>
      Effect.gen(function* () {
        assert.isBelow(yield* copiedPerCall(mode, over), bound)
      }).pipe(Effect.scoped, Effect.provide(services)),
    60_000
  )
})
