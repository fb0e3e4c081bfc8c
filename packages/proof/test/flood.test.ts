/**
 * A server that says more than its client wants to read: 100,000 notifications, 20 MB and more, on real carriers.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Limits from "@mcp-effect/client/Limits"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as Stdio from "@mcp-effect/transport/Stdio"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as ChildProcess from "effect/process/ChildProcess"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const script = `${import.meta.dirname}/fixtures/flood.mjs`
const command = { command: process.execPath, args: [script] }
const times = 100_000

/** What is held after full collections, in MiB; the second frees the buffers that the first has found. */
const held = Effect.sync(() => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc")
  collect()
  collect()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1024 / 1024
})

/** How much more may be held: 1,024 messages are about 1 MiB, and what the machine adds is not much. */
const bound = 12

const url = ChildProcess.make(process.execPath, [script, "http"], { forceKillAfter: "2 seconds" }).pipe(
  Effect.flatMap(({ stdout }) => Stream.runHead(stdout.pipe(Stream.decodeText(), Stream.splitLines))),
  Effect.flatMap(Effect.fromOption)
)
const overHttp = Effect.flatMap(url, (address) => StreamableHttp.make({ url: address }))

type Needs = ChildProcessSpawner.ChildProcessSpawner | HttpClient.HttpClient | Scope.Scope

const carriers: ReadonlyArray<readonly [name: string, Effect.Effect<Transport["Service"], unknown, Needs>]> = [
  ["NodeStdio", Effect.sync(() => NodeStdio.make(command))],
  ["Stdio", Stdio.make(command)],
  ["StreamableHttp", overHttp]
]

describe("a flood of notifications", () => {
  it.live.each(carriers)(
    "100,000 of them cost no memory with a slow reader, who then gets the newest: %s",
    ([, carrier]) =>
      Effect.gen(function* () {
        const client = yield* McpClient.connect(yield* carrier)
        const before = yield* held
        const begun = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        const seen: Array<unknown> = []
        const all = yield* Deferred.make<void>()
        // Reads what comes first, and the next only after the flood.
        yield* client.notifications.pipe(
          Stream.runForEach(({ params }) => {
            seen.push(params?.["data"])
            return Effect.andThen(
              Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn)),
              params?.["data"] === times - 1 ? Deferred.succeed(all, undefined) : Effect.void
            )
          }),
          Effect.forkScoped({ startImmediately: true })
        )
        // What is held while the messages come, looked at again and again.
        let most = before
        yield* Deferred.await(begun).pipe(
          Effect.andThen(
            held.pipe(
              Effect.tap((now) => Effect.sync(() => void (most = Math.max(most, now)))),
              Effect.andThen(Effect.sleep("50 millis")),
              Effect.forever
            )
          ),
          Effect.raceFirst(client.callTool("flood", { times }))
        )
        const after = yield* held
        assert.isBelow(most - before, bound)
        assert.isBelow(after - before, bound)

        yield* Deferred.succeed(goOn, undefined)
        yield* Deferred.await(all)
        const buffer = yield* Limits.NotificationBuffer
        assert.isAtMost(seen.length, 2 * buffer)
        assert.deepStrictEqual(
          seen.slice(-buffer),
          Array.from({ length: buffer }, (_, index) => times - buffer + index)
        )
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, NodeHttp.layer, EraMemory.layerInProcess])),
    120_000
  )
})
