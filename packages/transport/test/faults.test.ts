import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { createServer } from "node:net"
import * as NodeHttp from "../src/NodeHttp.ts"
import * as Stream from "../src/Stream.ts"
import * as StreamableHttp from "../src/StreamableHttp.ts"
import type { Dialect, Transport } from "../src/Transport.ts"
import { TransportError } from "../src/TransportError.ts"
import { through, until } from "./fixtures/asking.ts"
import { type Fault, faultProxy, type FaultProxy } from "./fixtures/faultProxy.ts"
import { event, events, type Handler, json, serve, success } from "./fixtures/httpServer.ts"
import { legacy, modern } from "./fixtures/revisions.ts"

// Real sockets on a busy machine need more than the default.
vi.setConfig({ testTimeout: 120_000 })

const kinds = ["reset", "end", "destroy", "stall", "slow"] as const
const request: JsonRpc.Request = { jsonrpc: "2.0", id: 1, method: "x", params: {} }

/** Where to break: the first byte, all along the answer, and the last byte. */
const places = (size: number): ReadonlyArray<number> => [
  ...new Set([0, 1, ...Array.from({ length: 8 }, (_, i) => Math.floor((size * (i + 1)) / 9)), size - 1, size])
]

/**
 * Tries every fault at every place. Each must end in an answer or a `TransportError`, or wait quietly for its caller's
 * patience; and then nothing may be left.
 */
const everyFault = Effect.fnUntraced(function* <E>(
  proxy: FaultProxy,
  revision: Dialect,
  transport: Effect.Effect<Transport["Service"], E, Scope.Scope>
) {
  const attempt = Effect.fnUntraced(function* (fault: Fault) {
    proxy.fault = fault
    const before = proxy.shown
    // Whoever waits loses patience once there is nothing more to come.
    const vain = until(() => proxy.shown > before).pipe(Effect.andThen(through), Effect.andThen(Effect.sleep(100)))
    const patience = fault.kind === "stall" || fault.kind === "slow" ? vain : Effect.sleep("20 seconds")
    const outcome = yield* Effect.scoped(
      Effect.gen(function* () {
        const { open } = yield* transport
        const wire = yield* open(() => {})
        const waiting = Effect.as(patience, Option.none())
        return yield* Effect.exit(Effect.raceFirst(Effect.asSome(wire.exchange(request, { revision })), waiting))
      })
    ).pipe(Effect.timeout("30 seconds"))
    yield* until(Effect.sync(() => proxy.open.size === 0))
    return outcome
  })
  const whole = yield* attempt({ kind: "none", after: 0 })
  assert.isTrue(Exit.isSuccess(whole), "the way without a fault")
  const size = proxy.passed
  const tally = { answered: 0, failed: 0, waited: 0 }
  for (const kind of kinds) {
    for (const after of places(size)) {
      const outcome = yield* attempt({ kind, after })
      const where = `${kind} after ${after} of ${size} bytes`
      if (Exit.isFailure(outcome)) {
        const failure = Option.getOrUndefined(Exit.findErrorOption(outcome))
        assert.instanceOf(failure, TransportError, where)
        tally.failed++
      } else if (Option.isNone(outcome.value)) {
        assert.include(["stall", "slow"], kind, where)
        tally.waited++
      } else tally.answered++
    }
  }
  return tally
})

describe("faults on the way", () => {
  const overHttp = (revision: Dialect, handler: Handler) =>
    Effect.gen(function* () {
      const { server } = yield* serve(handler)
      const address = server.address()
      const proxy = yield* faultProxy(typeof address === "object" && address !== null ? address.port : 0)
      const client = Layer.build(NodeHttp.layer)
      const transport = Effect.flatMap(client, (context) =>
        StreamableHttp.make({
          url: `http://127.0.0.1:${proxy.port}/mcp`,
          reconnect: Schedule.spaced("5 millis").pipe(Schedule.upTo({ times: 2 }))
        }).pipe(Effect.provideContext(context))
      )
      return yield* everyFault(proxy, revision, transport)
    }).pipe(Effect.provideService(Defaults.SessionDeleteTimeout, Duration.millis(50)))

  it.live("JSON over HTTP: each ends in a typed outcome and leaves nothing", () =>
    Effect.gen(function* () {
      const tally = yield* overHttp(modern, ({ json: { id } }, response) =>
        json(response, success(id, { text: "x".repeat(100) }), { connection: "close" })
      )
      assert.isAbove(tally.failed, 10)
      assert.isAbove(tally.answered, 2)
    })
  )

  it.live("an event stream over HTTP, modern: each ends in a typed outcome and leaves nothing", () =>
    Effect.gen(function* () {
      const tally = yield* overHttp(modern, ({ json: { id } }, response) => {
        events(response, { connection: "close" })
        response.write(event({ jsonrpc: "2.0", method: "notifications/message", params: {} }))
        response.end(event(success(id)))
      })
      assert.isAbove(tally.failed, 10)
    })
  )

  it.live("an event stream over HTTP, legacy with event ids: taken up again, or lost in a typed way", () =>
    Effect.gen(function* () {
      const tally = yield* overHttp(legacy, (one, response) => {
        if (one.json.id === undefined && one.method === "POST") return response.writeHead(202).end()
        events(response, { connection: "close" })
        if (one.headers["last-event-id"] === undefined) response.write(`id: 1\ndata: \n\n`)
        return response.end(event(success(1), "2"))
      })
      assert.isAbove(tally.answered + tally.failed, 10)
    })
  )

  it.live("a byte stream over TCP: each ends in a typed outcome and leaves nothing", () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const listening = createServer((socket) => {
            socket.on("error", () => {})
            socket.on(
              "data",
              () => void socket.write(`noise\n${JSON.stringify(success(1, { text: "读".repeat(20) }))}\n`)
            )
          })
          listening.listen(0, "127.0.0.1", () => resume(Effect.succeed(listening)))
        }),
        (listening) => Effect.sync(() => void listening.close())
      )
      const address = server.address()
      const proxy = yield* faultProxy(typeof address === "object" && address !== null ? address.port : 0)
      const tally = yield* everyFault(
        proxy,
        modern,
        Stream.make("faulty", NodeSocket.makeNet({ port: proxy.port, host: "127.0.0.1" }))
      )
      assert.isAbove(tally.failed, 10)
      assert.isAbove(tally.answered, 2)
    })
  )
})
