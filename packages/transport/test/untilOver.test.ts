import { assert, describe, it, vi } from "@effect/vitest"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ExchangeLog from "../src/ExchangeLog.ts"
import * as NodeHttp from "../src/NodeHttp.ts"
import * as StreamableHttp from "../src/StreamableHttp.ts"
import type { ExchangeOptions, Wire } from "../src/Transport.ts"
import { Closed, type Reason } from "../src/TransportError.ts"
import { request, until } from "./fixtures/asking.ts"
import { held } from "./fixtures/heldPipe.ts"
import { event, events, type Handler, json, serve, success } from "./fixtures/httpServer.ts"
import { legacy, modern } from "./fixtures/revisions.ts"

// Real sockets on a busy machine need more than the default.
vi.setConfig({ testTimeout: 30_000 })

const tooLate = new Closed({ because: "the time was up" })

/** A time limit that the test holds in its hands. */
const limit = () => {
  let abandon: ((reason: Reason) => void) | undefined
  let begun = 0
  let over = 0
  const untilOver: ExchangeOptions["untilOver"] = (given) => {
    abandon = given
    begun++
    return () => void over++
  }
  return { untilOver, passes: () => abandon?.(tooLate), begun: () => begun, isOver: () => over > 0 }
}

const begin = (wire: Wire, asked: JsonRpc.Request, how: ExchangeOptions) =>
  Effect.forkChild(Effect.exit(wire.exchange(asked, how)), { startImmediately: true })

const reasonOf = Effect.fnUntraced(function* (fiber: Fiber.Fiber<Exit.Exit<JsonRpc.Response, { reason: Reason }>>) {
  const exit = yield* Fiber.join(fiber)
  return (yield* Effect.flip(exit)).reason
})

describe("a request ended early over a pipe", () => {
  it.effect("T-RPC-5: fails with the reason given, is cancelled once, and its late answer is not reported", () =>
    Effect.gen(function* () {
      const { diagnostics, say, sent, wire } = yield* held
      const time = limit()
      const fiber = yield* begin(wire, request(1), { revision: modern, untilOver: time.untilOver })
      yield* sent
      time.passes()
      assert.strictEqual(yield* reasonOf(fiber), tooLate)
      assert.isTrue(time.isOver())
      time.passes()
      say({ jsonrpc: "2.0", id: 1, result: {} })
      const [, ...after] = yield* sent
      assert.deepStrictEqual(after, [
        {
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: 1, reason: "the caller stopped waiting" }
        }
      ])
      assert.deepStrictEqual(diagnostics, [])
    })
  )

  it.effect("T-RPC-5: sends nothing when it was told to be silent, and never cancels initialize", () =>
    Effect.gen(function* () {
      const { sent, wire } = yield* held
      const [probe, handshake] = [limit(), limit()]
      const silent = { revision: modern, onInterrupt: "silent", untilOver: probe.untilOver } as const
      const one = yield* begin(wire, request(1), silent)
      const two = yield* begin(wire, request(2, "initialize"), { revision: legacy, untilOver: handshake.untilOver })
      yield* sent
      probe.passes()
      handshake.passes()
      assert.deepStrictEqual([yield* reasonOf(one), yield* reasonOf(two)], [tooLate, tooLate])
      assert.lengthOf(yield* sent, 2)
    })
  )

  it.effect("is never sent when it still waited for a full pipe", () =>
    Effect.gen(function* () {
      const { sent, setRoom, wire } = yield* held
      setRoom(false)
      yield* begin(wire, request(1), { revision: modern })
      yield* sent
      // The pipe keeps one message more; what comes after it waits.
      yield* begin(wire, request(2), { revision: modern })
      const time = limit()
      const waiting = yield* begin(wire, request(3), { revision: modern, untilOver: time.untilOver })
      time.passes()
      assert.strictEqual(yield* reasonOf(waiting), tooLate)
      setRoom(true)
      assert.deepStrictEqual(
        (yield* sent).map(({ id }) => id),
        [1, 2]
      )
    })
  )

  it.effect("is none after the answer: the limit is let go, and passing late changes nothing", () =>
    Effect.gen(function* () {
      const { say, sent, wire } = yield* held
      const time = limit()
      const fiber = yield* begin(wire, request(1), { revision: modern, untilOver: time.untilOver })
      yield* sent
      assert.deepStrictEqual([time.begun(), time.isOver()], [1, false])
      say({ jsonrpc: "2.0", id: 1, result: {} })
      assert.isTrue(time.isOver())
      time.passes()
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(fiber)))
      assert.lengthOf(yield* sent, 1)
    })
  )

  it.effect("is none after an interruption: the limit is let go, and one cancellation is sent", () =>
    Effect.gen(function* () {
      const { sent, wire } = yield* held
      const time = limit()
      const fiber = yield* begin(wire, request(1), { revision: modern, untilOver: time.untilOver })
      yield* sent
      yield* Fiber.interrupt(fiber)
      assert.isTrue(time.isOver())
      time.passes()
      assert.lengthOf(yield* sent, 2)
    })
  )

  it.effect("is told by `abandons`, and a wire with an exchange of its own does not claim it", () =>
    Effect.gen(function* () {
      const { wire } = yield* held
      assert.strictEqual(wire.abandons, wire.exchange)
      const inner = { kind: "stream", endpoint: "test", reopenable: false, open: () => Effect.succeed(wire) } as const
      const outer = yield* ExchangeLog.record(inner, () => Effect.void).open(() => {})
      assert.notStrictEqual(outer.abandons, outer.exchange)
    })
  )
})

describe("a request ended early over HTTP", () => {
  const opened = Effect.fnUntraced(function* (handler: Handler) {
    const { seen, url } = yield* serve(handler)
    const client = yield* Layer.build(NodeHttp.layer)
    const transport = yield* Effect.provideContext(StreamableHttp.make({ url }), client)
    const wire = yield* transport.open(() => {})
    assert.strictEqual(wire.abandons, wire.exchange)
    return { wire, seen }
  })

  it.live(
    "T-RPC-5, M-HTTP-27: fails with the reason given; the modern era closes the stream and sends nothing else",
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
          const time = limit()
          const fiber = yield* begin(wire, request(1, method), { revision: modern, untilOver: time.untilOver })
          yield* until(() => seen.length > count)
          time.passes()
          assert.strictEqual(yield* reasonOf(fiber), tooLate)
          assert.isTrue(time.isOver())
          yield* until(() => seen.at(-1)?.abandoned === true)
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
        const time = limit()
        const how = { revision: legacy, onInterrupt, untilOver: time.untilOver }
        const fiber = yield* begin(wire, request(id, method), how)
        yield* until(() => posts(method).length === 1)
        time.passes()
        assert.strictEqual(yield* reasonOf(fiber), tooLate)
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

  it.live("is none after the answer: the limit is let go, and passing late changes nothing", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(({ json: { id } }, response) => json(response, success(id)))
      const time = limit()
      yield* wire.exchange(request(1), { revision: legacy, untilOver: time.untilOver })
      assert.isTrue(time.isOver())
      time.passes()
      yield* wire.exchange(request(2), { revision: legacy })
      assert.deepStrictEqual(
        seen.filter(({ method }) => method === "POST").map(({ json }) => json.id),
        [1, 2]
      )
    })
  )
})
