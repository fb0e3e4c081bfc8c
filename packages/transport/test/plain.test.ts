import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as ExchangeLog from "../src/ExchangeLog.ts"
import * as NodeHttp from "../src/NodeHttp.ts"
import * as StreamableHttp from "../src/StreamableHttp.ts"
import type { ExchangeOptions, Wire } from "../src/Transport.ts"
import type { TransportError } from "../src/TransportError.ts"
import { request, until } from "./fixtures/asking.ts"
import { held } from "./fixtures/heldPipe.ts"
import { event, events, type Handler, json, serve, success } from "./fixtures/httpServer.ts"
import { legacy, modern } from "./fixtures/revisions.ts"

/** Begins an exchange in plain calls: what it was told, and how to leave it. */
const begin = (wire: Wire, asked: JsonRpc.Request, how: ExchangeOptions) =>
  Effect.withFiber((caller) =>
    Effect.sync(() => {
      assert.strictEqual(wire.plain?.exchange, wire.exchange)
      const told: Array<Exit.Exit<JsonRpc.Response, TransportError>> = []
      const leave = wire.plain?.begin(asked, how, caller, (exit) => told.push(exit))
      return { told, leave: leave ?? (() => Effect.void) }
    })
  )

const cancelled = (id: number) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId: id, reason: "the caller stopped waiting" }
})

describe("an exchange in plain calls over a pipe", () => {
  it.effect("is told its answer once, and leaving it afterwards does nothing", () =>
    Effect.gen(function* () {
      const { say, sent, wire } = yield* held
      const { leave, told } = yield* begin(wire, request(1), { revision: modern })
      assert.deepStrictEqual([(yield* sent).length, told.length], [1, 0])
      say({ jsonrpc: "2.0", id: 1, result: {} })
      assert.deepStrictEqual(told, [Exit.succeed<JsonRpc.Response>({ jsonrpc: "2.0", id: 1, result: {} })])
      yield* leave()
      assert.deepStrictEqual([(yield* sent).length, told.length], [1, 1])
    })
  )

  it.effect("T-RPC-5: left early, is cancelled once at once and told nothing; its late answer is not reported", () =>
    Effect.gen(function* () {
      const { diagnostics, say, sent, wire } = yield* held
      const { leave, told } = yield* begin(wire, request(1), { revision: modern })
      yield* sent
      yield* leave()
      yield* leave()
      say({ jsonrpc: "2.0", id: 1, result: {} })
      const [, ...after] = yield* sent
      assert.deepStrictEqual([after, told, diagnostics], [[cancelled(1)], [], []])
    })
  )

  it.effect("T-RPC-5: sends nothing when it was told to be silent, and never cancels initialize", () =>
    Effect.gen(function* () {
      const { sent, wire } = yield* held
      const probe = yield* begin(wire, request(1), { revision: modern, onInterrupt: "silent" })
      const handshake = yield* begin(wire, request(2, "initialize"), { revision: legacy })
      yield* sent
      yield* probe.leave()
      yield* handshake.leave()
      assert.deepStrictEqual([probe.told, handshake.told], [[], []])
      assert.lengthOf(yield* sent, 2)
    })
  )

  it.effect("is never sent when it was left while it waited for a full pipe", () =>
    Effect.gen(function* () {
      const { sent, setRoom, wire } = yield* held
      setRoom(false)
      yield* begin(wire, request(1), { revision: modern })
      yield* sent
      // The pipe keeps one message more; what comes after it waits.
      yield* begin(wire, request(2), { revision: modern })
      const { leave, told } = yield* begin(wire, request(3), { revision: modern })
      yield* leave()
      setRoom(true)
      assert.deepStrictEqual(
        (yield* sent).map(({ id }) => id),
        [1, 2]
      )
      assert.deepStrictEqual(told, [])
    })
  )

  it.effect("is never sent when it was left because one that waited before it could not be sent", () =>
    Effect.gen(function* () {
      const { sent, setRoom, wire } = yield* held
      setRoom(false)
      yield* begin(wire, request(1), { revision: modern })
      yield* sent
      yield* begin(wire, request(2), { revision: modern })
      // No JSON can be made of the first that waits, and who waits for both then waits for neither.
      const unwritable = JSON.parse("{}")
      unwritable.self = unwritable
      const both = Effect.all(
        [
          wire.exchange(request(3, "x", unwritable), { revision: modern }),
          wire.exchange(request(4), { revision: modern })
        ],
        { concurrency: "unbounded" }
      )
      const failed = yield* Effect.forkChild(Effect.flip(both), { startImmediately: true })
      const last = yield* begin(wire, request(5), { revision: modern })
      setRoom(true)
      assert.strictEqual((yield* Fiber.join(failed)).reason._tag, "NotJson")
      assert.deepStrictEqual(
        (yield* sent).map(({ id }) => id),
        [1, 2, 5]
      )
      assert.deepStrictEqual(last.told, [])
    })
  )

  it.effect("waits for a pipe that is full again after each, and goes in the order in which it came", () =>
    Effect.gen(function* () {
      const { drain, sent, setRoom, wire } = yield* held
      const large = { text: "x".repeat(5_000) }
      setRoom(false)
      for (const id of [1, 2, 3, 4]) yield* begin(wire, request(id, "x", large), { revision: modern })
      const orders: Array<ReadonlyArray<unknown>> = []
      for (let times = 0; times < 4; times++) {
        orders.push((yield* sent).map(({ id }) => id))
        drain()
        if (times === 0) yield* begin(wire, request(5, "x", large), { revision: modern })
      }
      orders.push((yield* sent).map(({ id }) => id))
      assert.deepStrictEqual(orders, [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]])
    })
  )

  it.effect("waits no longer than it has to, also when another is left while the pipe takes what it held back", () =>
    Effect.withFiber((caller) =>
      Effect.gen(function* () {
        const { reactTo, say, sent, setRoom, wire } = yield* held
        // A server in the same program answers while it is written to.
        reactTo((lines) => {
          if (lines.includes('"id":3')) say({ jsonrpc: "2.0", id: 1, result: {} })
        })
        let leaveThird: (() => Effect.Effect<void>) | undefined
        wire.plain?.begin(request(1), { revision: modern }, caller, () => void leaveThird?.())
        setRoom(false)
        yield* begin(wire, request(2), { revision: modern })
        yield* sent
        leaveThird = (yield* begin(wire, request(3), { revision: modern })).leave
        yield* begin(wire, request(4), { revision: modern })
        setRoom(true)
        assert.deepStrictEqual<ReadonlyArray<unknown>>(yield* sent, [
          request(1),
          request(2),
          request(3),
          cancelled(3),
          request(4)
        ])
      })
    )
  )

  it.effect("T-RPC-1: once the wire is closed, by what an answer led to, the rest that came is nobody's", () =>
    Effect.withFiber((caller) =>
      Effect.gen(function* () {
        const { close, diagnostics, heard, say, wire } = yield* held
        wire.plain?.begin(request(1), { revision: modern }, caller, () => void Effect.runFork(close))
        const { told } = yield* begin(wire, request(2), { revision: modern })
        say(
          { jsonrpc: "2.0", id: 1, result: {} },
          { jsonrpc: "2.0", id: 2, result: {} },
          { jsonrpc: "2.0", method: "notifications/message", params: {} }
        )
        assert.deepStrictEqual([told.map(({ _tag }) => _tag), diagnostics, heard], [["Failure"], [], []])
      })
    )
  )

  it.effect("over a wire that is gone, is told so before it returns", () =>
    Effect.gen(function* () {
      const { end, wire } = yield* held
      end("the server closed its output")
      const { told } = yield* begin(wire, request(1), { revision: modern })
      assert.deepStrictEqual(
        told.map((exit) => Exit.isFailure(exit)),
        [true]
      )
    })
  )

  it.effect("is not that of a wire made of another one with an exchange of its own", () =>
    Effect.gen(function* () {
      const { wire } = yield* held
      const inner = { kind: "stream", endpoint: "test", reopenable: false, open: () => Effect.succeed(wire) } as const
      const outer = yield* ExchangeLog.record(inner, () => Effect.void).open(() => {})
      assert.notStrictEqual(outer.plain?.exchange, outer.exchange)
    })
  )
})

describe("an exchange in plain calls over HTTP", () => {
  const opened = Effect.fnUntraced(function* (handler: Handler) {
    const { seen, url } = yield* serve(handler)
    const client = yield* Layer.build(NodeHttp.layer)
    const transport = yield* Effect.provideContext(StreamableHttp.make({ url }), client)
    const wire = yield* transport.open(() => {})
    return { wire, seen }
  })

  it.live("is told its answer once, and leaving it afterwards does nothing", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(({ json: { id } }, response) => json(response, success(id)))
      const { leave, told } = yield* begin(wire, request(1), { revision: legacy })
      yield* until(() => told.length > 0)
      yield* leave()
      yield* wire.exchange(request(2), { revision: legacy })
      assert.isTrue(told.every(Exit.isSuccess))
      assert.lengthOf(told, 1)
      assert.deepStrictEqual(
        seen.filter(({ method }) => method === "POST").map(({ json }) => json.id),
        [1, 2]
      )
    })
  )

  it.live(
    "T-RPC-5, M-HTTP-27: left early, closes its stream in the modern era, sends nothing else, is told nothing",
    () =>
      Effect.gen(function* () {
        const { seen, wire } = yield* opened(({ json: { id, method } }, response) => {
          if (method === "last") return json(response, success(id))
          if (method === "headers") return
          events(response)
          response.write(
            event({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } })
          )
        })
        for (const method of ["headers", "stream"]) {
          const count = seen.length
          const { leave, told } = yield* begin(wire, request(1, method), { revision: modern })
          yield* until(() => seen.length > count)
          yield* leave()
          yield* until(() => seen.at(-1)?.abandoned === true)
          assert.deepStrictEqual(told, [])
        }
        yield* wire.exchange(request(2, "last"), { revision: modern })
        assert.deepStrictEqual(
          seen.map(({ json: { method } }) => method),
          ["headers", "stream", "last"]
        )
      })
  )

  it.live("T-RPC-5, L-HTTP-7: the legacy era sends one cancellation, but not for initialize or when silent", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(({ json: { id } }, response) => {
        if (id === undefined) response.writeHead(202).end()
      })
      const posts = (method: string) => seen.filter(({ json }) => json.method === method)
      for (const [id, method, onInterrupt] of [
        [1, "initialize", "cancel"],
        [2, "silent", "silent"],
        [3, "tools/call", "cancel"]
      ] as const) {
        const { leave } = yield* begin(wire, request(id, method), { revision: legacy, onInterrupt })
        yield* until(() => posts(method).length === 1)
        yield* leave()
        yield* until(() => posts(method)[0]?.abandoned === true)
      }
      yield* until(() => posts("notifications/cancelled").length > 0)
      assert.deepStrictEqual(
        seen.filter(({ method }) => method === "POST").map(({ json }) => json.method),
        ["initialize", "silent", "tools/call", "notifications/cancelled"]
      )
      assert.deepInclude(posts("notifications/cancelled")[0]?.json.params, { requestId: 3 })
    })
  )

  it.live("M-HTTP-26: that closes the wire with its answer leaves nothing that waits", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let sleeping = 0
      const counted: Clock.Clock = Object.assign(Object.create(clock), {
        sleep: (duration: Duration.Duration) =>
          Effect.acquireUseRelease(
            Effect.sync(() => sleeping++),
            () => clock.sleep(duration),
            () => Effect.sync(() => sleeping--)
          )
      })
      const scope = yield* Scope.make()
      const { seen, wire } = yield* opened(({ json: { id } }, response) => {
        events(response)
        response.write(event(success(id)))
      }).pipe(Scope.provide(scope), Effect.provideService(Clock.Clock, counted))
      let told = 0
      yield* Effect.withFiber((caller) =>
        Effect.sync(() =>
          wire.plain?.begin(request(1), { revision: modern }, caller, () => {
            told++
            Effect.runFork(Scope.close(scope, Exit.void))
          })
        )
      )
      yield* until(() => seen[0]?.closed === true)
      assert.deepStrictEqual([told, sleeping], [1, 0])
    })
  )
})
