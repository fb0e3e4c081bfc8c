import { assert, describe, it } from "@effect/vitest"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import * as McpClient from "../src/McpClient.ts"
import * as Peer from "./fixtures/peer.ts"

/** Lets everything that can happen without time passing happen. */
const settled = Effect.repeat(Effect.yieldNow, { times: 50 })

const connected = Effect.fnUntraced(function* (
  react: Peer.React,
  middleware: McpClient.ConnectOptions["middleware"],
  handlers: McpClient.ConnectOptions["handlers"] = {}
) {
  const peer = Peer.make(Peer.legacy(react))
  const client = yield* McpClient.connect(peer.transport, {
    mode: "legacy",
    handlers,
    ...(middleware === undefined ? {} : { middleware })
  })
  yield* settled
  peer.lines.length = 0
  return { peer, client }
})

/** The same rules hold in plain calls and, through middleware, in fibers. */
const ways: ReadonlyArray<readonly [string, McpClient.ConnectOptions["middleware"]]> = [
  ["in plain calls", undefined],
  ["through middleware", [(request, next) => next(request)]]
]

/** Forks a call, and says after how many milliseconds it came to an end, and to which. */
const timed = (call: Effect.Effect<unknown, { readonly reason: { readonly _tag: string } }>) =>
  call.pipe(
    Effect.as("Answered"),
    Effect.catch(({ reason }) => Effect.succeed(reason._tag)),
    Effect.timed,
    Effect.map(([took, end]) => `${end} after ${Duration.toMillis(took)} ms`),
    Effect.forkChild({ startImmediately: true })
  )

const endOf = <A>(fiber: Fiber.Fiber<A>) => {
  const exit = fiber.pollUnsafe()
  return exit === undefined ? "open" : exit._tag === "Success" ? exit.value : String(exit.cause)
}

describe.each(ways)("time limits %s", (_name, middleware) => {
  it.effect(
    "U-57: stand still while the server asks, as between the rounds of the modern era; those that begin meanwhile do not",
    () =>
      Effect.gen(function* () {
        const questions: Array<Deferred.Deferred<{ readonly action: "decline" }>> = []
        const form = Effect.suspend(() => {
          const question = Deferred.makeUnsafe<{ readonly action: "decline" }>()
          questions.push(question)
          return Deferred.await(question)
        })
        const { client, peer } = yield* connected(() => {}, middleware, { elicitation: { form: () => form } })
        const slow = () => timed(client.callTool("slow", {}, { timeout: 1_000 }))
        const ask = (id: string) => {
          const params = { message: "?", requestedSchema: { type: "object", properties: {} } }
          peer.say({ id, method: "elicitation/create", params })
          return settled
        }
        const answer = (at: number) =>
          Effect.andThen(Deferred.succeed(questions[at]!, { action: "decline" as const }), settled)
        // Alone, so that no other limit keeps the timer.
        const alone = yield* slow()
        yield* TestClock.adjust(400)
        yield* ask("zero")
        yield* TestClock.adjust(5_000)
        yield* answer(0)
        yield* TestClock.adjust(599)
        assert.strictEqual(endOf(alone), "open")
        yield* TestClock.adjust(1)
        yield* settled
        assert.strictEqual(endOf(alone), "RequestTimedOut after 6000 ms")

        const asked = yield* slow()
        yield* TestClock.adjust(400)
        yield* ask("one")
        const meanwhile = yield* slow()
        yield* TestClock.adjust(900)
        yield* ask("two")
        yield* answer(1)
        yield* TestClock.adjust(99)
        assert.deepStrictEqual([endOf(asked), endOf(meanwhile)], ["open", "open"])
        yield* answer(2)
        yield* TestClock.adjust(1)
        yield* settled
        assert.deepStrictEqual([endOf(asked), endOf(meanwhile)], ["open", "open"])
        yield* TestClock.adjust(99)
        yield* settled
        assert.deepStrictEqual([endOf(asked), endOf(meanwhile)], ["open", "RequestTimedOut after 1099 ms"])
        yield* TestClock.adjust(499)
        yield* settled
        assert.strictEqual(endOf(asked), "open")
        yield* TestClock.adjust(1)
        yield* settled
        assert.strictEqual(endOf(asked), "RequestTimedOut after 1999 ms")
      })
  )

  it.effect("T-RPC-5: one that passes, and takes another call with it, leaves the limits of all others in force", () =>
    Effect.gen(function* () {
      const { client } = yield* connected(() => {}, middleware)
      const slow = (timeout: number) => client.callTool("slow", {}, { timeout })
      const third = yield* timed(slow(3_000))
      const pair = yield* timed(Effect.all([slow(10_000), slow(1_000)], { concurrency: "unbounded" }))
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual([endOf(pair), endOf(third)], ["RequestTimedOut after 1000 ms", "open"])
      yield* TestClock.adjust(10_000)
      assert.strictEqual(endOf(third), "RequestTimedOut after 3000 ms")
    })
  )

  it.effect("T-RPC-5: one that passes at the same moment as that of the call it takes with it passes once", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connected(() => {}, middleware)
      const slow = client.callTool("slow", {}, { timeout: 1_000 })
      const third = yield* timed(slow)
      const pair = yield* timed(Effect.all([slow, slow], { concurrency: "unbounded" }))
      yield* TestClock.adjust(1_000)
      yield* settled
      assert.deepStrictEqual(
        [endOf(pair), endOf(third)],
        ["RequestTimedOut after 1000 ms", "RequestTimedOut after 1000 ms"]
      )
      const cancelled = peer.heard().filter(({ method }) => method === "notifications/cancelled")
      assert.sameMembers(
        cancelled.map(({ params }) => params?.["requestId"]),
        [2, 3, 4]
      )
    })
  )

  it.effect("T-RPC-5: a call made the moment another one's limit passes has its own, however long the rest wait", () =>
    Effect.gen(function* () {
      const { client } = yield* connected(() => {}, middleware)
      const slow = (timeout: number) => client.callTool("slow", {}, { timeout })
      const patient = yield* timed(slow(60_000))
      const again = yield* timed(Effect.catch(slow(1_000), () => slow(1_000)))
      yield* TestClock.adjust(1_000)
      assert.strictEqual(endOf(again), "open")
      yield* TestClock.adjust(1_000)
      assert.strictEqual(endOf(again), "RequestTimedOut after 2000 ms")
      yield* TestClock.adjust(58_000)
      assert.strictEqual(endOf(patient), "RequestTimedOut after 60000 ms")
    })
  )

  it.effect("T-RPC-5: each of many calls has its own, in whatever order they begin, end and are given up", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connected(() => {}, middleware)
      const limits = Array.from({ length: 64 }, (_, at) => 100 * (1 + ((at * 37) % 64)))
      const calls = yield* Effect.forEach(limits, (timeout) => timed(client.callTool("slow", {}, { timeout })))
      const endless = yield* timed(client.callTool("slow", {}, { timeout: "1 day" }))
      yield* settled
      const requests = peer.heard().filter(({ method }) => method === "tools/call")
      // Every third is answered and every fifth given up before any limit passes.
      for (const [at, fiber] of calls.entries()) {
        if (at % 3 === 0) peer.answer(requests[at] ?? {}, { content: [] })
        else if (at % 5 === 0) yield* Fiber.interrupt(fiber)
      }
      yield* TestClock.adjust(10_000)
      assert.deepStrictEqual(
        calls.flatMap((fiber, at) => (at % 3 !== 0 && at % 5 === 0 ? [] : [endOf(fiber)])),
        limits.flatMap((limit, at) =>
          at % 3 === 0 ? ["Answered after 0 ms"] : at % 5 === 0 ? [] : [`RequestTimedOut after ${limit} ms`]
        )
      )
      assert.strictEqual(endOf(endless), "open")
    })
  )
})

describe("what happens the moment a time limit passes", () => {
  it.effect("T-RPC-5: a middleware that then ends another call leaves the limits of all others in force", () =>
    Effect.gen(function* () {
      let onInterrupt: (id: unknown) => void = () => {}
      const { client } = yield* connected(() => {}, [
        (request, next) => Effect.onInterrupt(next(request), () => Effect.sync(() => onInterrupt(request.id)))
      ])
      const slow = (timeout: number) => client.callTool("slow", {}, { timeout })
      const last = yield* timed(slow(3_000))
      const taken = yield* timed(slow(10_000))
      const short = yield* timed(slow(1_000))
      onInterrupt = (id) => (id === 4 ? taken.interruptUnsafe() : undefined)
      yield* TestClock.adjust(1_000)
      yield* settled
      assert.strictEqual(endOf(short), "RequestTimedOut after 1000 ms")
      assert.include(endOf(taken), "Interrupt")
      yield* TestClock.adjust(10_000)
      assert.strictEqual(endOf(last), "RequestTimedOut after 3000 ms")
    })
  )

  it.effect("T-NEG-1, T-NEG-9: the probe that follows has its own limit, however long other calls may wait", () =>
    Effect.gen(function* () {
      const kind = { kind: "stdio", reopenable: true, endpoint: "a server that fell silent" } as const
      yield* Effect.scoped(McpClient.connect(Peer.make(Peer.modern(), kind).transport))
      const silent = Peer.make(() => {}, kind)
      const client = yield* McpClient.connect(silent.transport)
      yield* timed(client.callTool("slow"))
      yield* timed(client.listTools())
      yield* TestClock.adjust("5 seconds")
      yield* settled
      assert.deepStrictEqual(silent.methods(), [
        "tools/call",
        "tools/list",
        "notifications/cancelled",
        "server/discover"
      ])
      assert.strictEqual(silent.opened(), 1)
      yield* TestClock.adjust("5 seconds")
      yield* settled
      assert.strictEqual(silent.opened(), 2)
    }).pipe(Effect.provide(EraMemory.layerInProcess))
  )

  it.effect.each([
    ["back", -3_600_000],
    ["forward", 3_600_000]
  ] as const)("T-RPC-5: the time of day that is set %s an hour meanwhile changes no limit", ([, by]) =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let offset = 0
      const wall = () => clock.currentTimeMillisUnsafe() + offset
      const adjustable: Clock.Clock = {
        currentTimeMillisUnsafe: wall,
        currentTimeMillis: Effect.sync(wall),
        currentTimeNanosUnsafe: () => BigInt(wall()) * 1_000_000n,
        currentTimeNanos: Effect.sync(() => BigInt(wall()) * 1_000_000n),
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (duration) => clock.sleep(duration)
      }
      const { client } = yield* Effect.provideService(
        connected(() => {}, undefined),
        Clock.Clock,
        adjustable
      )
      const short = yield* timed(client.callTool("slow", {}, { timeout: 1_000 }))
      const long = yield* timed(client.callTool("slow", {}, { timeout: 60_000 }))
      offset = by
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual([endOf(short), endOf(long)], ["RequestTimedOut after 1000 ms", "open"])
      yield* TestClock.adjust(60_000)
      assert.strictEqual(endOf(long), "RequestTimedOut after 60000 ms")
    })
  )
})
