/** A wire over HTTP that is closed while something is on its way, and what must be left of it then: nothing. */
import { assert, describe, it } from "@effect/vitest"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import * as StreamableHttp from "../src/StreamableHttp.ts"
import type { ExchangeOptions, Incoming, Wire } from "../src/Transport.ts"
import type { TransportError } from "../src/TransportError.ts"
import { request, through, until } from "./fixtures/asking.ts"
import * as HeldHttp from "./fixtures/heldHttp.ts"
import { legacy, modern } from "./fixtures/revisions.ts"

const opened = Effect.fnUntraced(function* (
  onCall?: (call: HeldHttp.HeldCall) => void,
  hear: (message: Incoming) => void = () => {}
) {
  const { calls, client } = HeldHttp.make(onCall)
  const scope = yield* Scope.make()
  const { open } = yield* Effect.provideService(
    StreamableHttp.make({ url: "http://held.test/mcp" }),
    HttpClient.HttpClient,
    client
  )
  const wire = yield* Scope.provide(open(hear), scope)
  return { wire, calls, close: Scope.close(scope, Exit.void) }
})

const begin = (wire: Wire, asked: JsonRpc.Request, how: ExchangeOptions) =>
  Effect.withFiber((caller) =>
    Effect.sync(() => {
      const told: Array<Exit.Exit<JsonRpc.Response, TransportError>> = []
      const leave = wire.plain?.begin(asked, how, caller, (exit) => told.push(exit))
      return { told, leave }
    })
  )

const tags = (told: ReadonlyArray<{ readonly _tag: string }>) => told.map(({ _tag }) => _tag)
const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } }
const message = (method: string) => ({ jsonrpc: "2.0", method }) as const

let fibers = 0
const counted = Layer.succeed(Metric.FiberRuntimeMetrics, {
  recordFiberStart: () => void fibers++,
  recordFiberEnd: () => void fibers--
})

describe("a wire over HTTP that is closed", () => {
  it.live("while a request is being sent, by what is asked for it, ends the exchange", () =>
    Effect.gen(function* () {
      let close: Effect.Effect<void> = Effect.void
      const it = yield* opened(() => void Effect.runFork(close))
      close = it.close
      const { told } = yield* begin(it.wire, request(1), { revision: modern })
      assert.deepStrictEqual(tags(told), ["Failure"])
    })
  )

  it.live.each([
    ["its answer", { jsonrpc: "2.0", id: 1, result: {} }, "Success"],
    ["what comes before it", progress, "Failure"]
  ] as const)("M-HTTP-26: by %s, on a stream that stays open, leaves no fiber", ([, said, end]) =>
    Effect.gen(function* () {
      const { calls, close, wire } = yield* opened()
      const before = fibers
      const interim = () => void Effect.runFork(close)
      const { told } = yield* begin(wire, request(1), { revision: modern, interim })
      calls[0]?.event(said)
      yield* until(() => told.length > 0)
      yield* close
      yield* until(() => fibers <= before)
      assert.deepStrictEqual(tags(told), [end])
    }).pipe(Effect.provide(counted))
  )

  it.live("fails a message that is on its way", () =>
    Effect.gen(function* () {
      const { close, wire } = yield* opened()
      const sending = yield* Effect.forkChild(
        Effect.exit(wire.send(message("notifications/roots/list_changed"), legacy)),
        {
          startImmediately: true
        }
      )
      yield* close
      assert.strictEqual((yield* Fiber.join(sending))._tag, "Failure")
    })
  )

  it.live("before the server has taken `initialized` does not begin to hear the server's own stream", () =>
    Effect.gen(function* () {
      const { calls, close, wire } = yield* opened()
      const sending = yield* Effect.forkChild(Effect.exit(wire.send(message("notifications/initialized"), legacy)), {
        startImmediately: true
      })
      yield* close
      calls[0]?.status(202)
      yield* Fiber.join(sending)
      yield* through
      assert.deepStrictEqual(
        calls.map(({ method }) => method),
        ["POST"]
      )
    })
  )

  it.live("by the first that is heard on the server's own stream, ends that stream", () =>
    Effect.gen(function* () {
      let close: Effect.Effect<void> = Effect.void
      let heard = 0
      const it = yield* opened(
        (call) => (call.method === "GET" ? call.event(message("notifications/message")) : call.status(202)),
        () => {
          heard++
          Effect.runFork(close)
        }
      )
      const before = fibers
      close = it.close
      yield* it.wire.send(message("notifications/initialized"), legacy)
      yield* until(() => heard > 0)
      yield* until(() => fibers <= before)
    }).pipe(Effect.provide(counted))
  )
})

describe("an answer on the server's own stream", () => {
  it.live("T-RPC-1: to a request that was left is dropped, and not reported; to none it is", () => {
    const reported: Array<Diagnostic> = []
    return Effect.gen(function* () {
      const { calls, close, wire } = yield* opened((call) => {
        if (call.method === "POST" && calls.length === 1) call.status(202)
      })
      yield* wire.send(message("notifications/initialized"), legacy)
      yield* until(() => calls.some(({ method }) => method === "GET"))
      const { leave } = yield* begin(wire, request(7), { revision: legacy, onInterrupt: "silent" })
      yield* leave?.() ?? Effect.void
      const answer = (id: number) => ({ jsonrpc: "2.0", id, result: {} })
      calls.find(({ method }) => method === "GET")?.event(answer(7), answer(8))
      yield* until(() => reported.length > 0)
      assert.deepStrictEqual(
        reported.map((one) => one._tag === "UnknownResponse" && one.id),
        [8]
      )
      yield* close
    }).pipe(Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void reported.push(diagnostic))))
  })
})
