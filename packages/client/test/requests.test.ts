/** What may come between a request and its answer: each ends once, in a typed way, and harms no other. */
import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import { type Plain, Transport, type Wire } from "@mcp-effect/transport/Transport"
import { Closed, TransportError } from "@mcp-effect/transport/TransportError"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import * as McpClient from "../src/McpClient.ts"
import type { Middleware } from "../src/Middleware.ts"
import * as OutputSchema from "../src/OutputSchema.ts"
import { restartable, settled } from "./fixtures/announcer.ts"
import * as Peer from "./fixtures/peer.ts"
import { recorded } from "./fixtures/spans.ts"

const said = (text: string) => ({ resultType: "complete", content: [{ type: "text", text }] })
const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : block)).join(" ")

const connected = Effect.fnUntraced(function* (react: Peer.React) {
  const peer = Peer.make(Peer.modern(react))
  const client = yield* McpClient.connect(peer.transport)
  yield* settled
  peer.lines.length = 0
  return { peer, client }
})

const cancellations = (peer: Peer.Peer) =>
  peer
    .heard()
    .filter(({ method }) => method === "notifications/cancelled")
    .map(({ params }) => params?.["requestId"])

describe("a request that nobody waits for any more", () => {
  it.effect("T-RPC-5: the loser of a race is cancelled once, and the winner's answer is the answer", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connected((heard, me) => {
        if (heard.params?.["name"] === "fast") me.answer(heard, said("won"))
      })
      const race = Effect.race(client.callTool("slow"), client.callTool("fast"))
      assert.strictEqual(textOf(yield* race), "won")
      yield* settled
      assert.deepStrictEqual(cancellations(peer), [2])
    })
  )

  it.effect("T-RPC-5: a limit around it cancels it once, and its own limit, passing later, does nothing", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connected(() => {})
      const calling = yield* client
        .callTool("slow")
        .pipe(Effect.timeout("1 second"), Effect.flip, Effect.forkChild({ startImmediately: true }))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(calling))._tag, "TimeoutError")
      yield* TestClock.adjust("2 minutes")
      yield* settled
      assert.deepStrictEqual(cancellations(peer), [2])
    })
  )

  it.live("T-RPC-5: an AbortSignal of a promise cancels it once", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connected(() => {})
      const controller = new AbortController()
      const promise = Effect.runPromiseExit(client.callTool("slow"), { signal: controller.signal })
      yield* settled
      controller.abort()
      const exit = yield* Effect.promise(() => promise)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      yield* settled
      assert.deepStrictEqual(cancellations(peer), [2])
    })
  )

  it.effect("M-MRTR, T-RPC-5: left while its questions are answered, it is not cancelled: it was answered", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        Peer.modern((heard, me) =>
          me.answer(heard, {
            resultType: "input_required",
            inputRequests: {
              k: {
                method: "elicitation/create",
                params: { message: "?", requestedSchema: { type: "object", properties: {} } }
              }
            }
          })
        )
      )
      let asked = 0
      let left = 0
      const client = yield* McpClient.connect(peer.transport, {
        handlers: {
          elicitation: {
            form: () =>
              Effect.onInterrupt(
                Effect.suspend(() => {
                  asked++
                  return Effect.never
                }),
                () => Effect.sync(() => void left++)
              )
          }
        }
      })
      const calling = yield* Effect.forkChild(client.callTool("a"))
      yield* settled
      yield* Fiber.interrupt(calling)
      yield* settled
      assert.deepStrictEqual([asked, left, cancellations(peer)], [1, 1, []])
    })
  )

  it.effect("T-LIFE-6: closing the scope with many in flight ends each in a typed way, and none is left", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern())
      const scope = yield* Scope.make()
      const client = yield* Scope.provide(McpClient.connect(peer.transport), scope)
      const calls = yield* Effect.forEach(
        Array.from({ length: 64 }, (_, at) => at),
        (at) => Effect.forkChild(at % 2 === 0 ? Effect.flip(client.callTool("slow")) : Effect.flip(client.listTools()))
      )
      yield* settled
      yield* Scope.close(scope, Exit.void)
      const ends = yield* Fiber.joinAll(calls)
      assert.deepStrictEqual([...new Set(ends.map(({ reason }) => reason._tag))].toSorted(), [
        "OutcomeUnknown",
        "WireFailed"
      ])
    })
  )
})

describe("a fault beside other requests", () => {
  it.effect("T-RPC-6: a validator that throws ends its own call with a defect, and no other", () =>
    Effect.gen(function* () {
      const waiting: Array<Peer.Heard> = []
      const { client, peer } = yield* connected((heard) => void waiting.push(heard))
      const definition = { name: "a", inputSchema: { type: "object" }, outputSchema: { type: "object" } } as const
      const call = (name: string, kept?: typeof definition) =>
        client
          .callTool(name, {}, kept === undefined ? {} : { definition: kept })
          .pipe(Effect.exit, Effect.forkChild({ startImmediately: true }))
      const before = yield* call("b")
      const faulty = yield* call("a", definition)
      const after = yield* call("b")
      yield* settled
      for (const heard of waiting) peer.answer(heard, { ...said("yes"), structuredContent: {} })
      const ends = yield* Fiber.joinAll([before, faulty, after])
      assert.deepStrictEqual(
        ends.map((exit) => (Exit.isSuccess(exit) ? "answered" : Cause.hasDies(exit.cause) ? "defect" : "failed")),
        ["answered", "defect", "answered"]
      )
    }).pipe(
      Effect.provideService(OutputSchema.Validator, {
        compile: () => {
          throw new Error("from the validator")
        }
      })
    )
  )

  it.effect("an answer among many that cannot be read fails its own call, and no other", () =>
    Effect.gen(function* () {
      const waiting: Array<Peer.Heard> = []
      const { client, peer } = yield* connected((heard) => void waiting.push(heard))
      const calls = yield* Effect.forEach(
        Array.from({ length: 64 }, (_, at) => at),
        (at) => Effect.forkChild(Effect.result(client.callTool("a", { at })))
      )
      yield* settled
      for (const [at, heard] of waiting.toReversed().entries()) {
        if (at === 31) peer.answer(heard, { content: "no list" })
        else if (at === 32) peer.say({ id: heard.id, result: [] })
        else peer.answer(heard, said(`${heard.id}`))
      }
      const ends = yield* Fiber.joinAll(calls)
      const failed = ends.flatMap((end, at) => (end._tag === "Failure" ? [`${at} ${end.failure.reason._tag}`] : []))
      assert.deepStrictEqual(failed, ["31 OutcomeUnknown", "32 InvalidResult"])
    })
  )
})

/** A wire whose plain form the test holds in its hands, behind a server that needs no handshake. */
const plainWire = (begin: Plain["begin"], more: (wire: Wire) => Partial<Wire> = () => ({})) => {
  const exchange: Wire["exchange"] = () => Effect.die(new Error("not in plain calls"))
  const wire: Wire = { exchange, plain: { exchange, begin }, send: () => Effect.void, ended: Effect.never }
  return Transport.of({
    kind: "memory",
    endpoint: "a wire in the hands of the test",
    reopenable: false,
    open: () => Effect.succeed({ ...wire, ...more(wire) })
  })
}
const pinned = { mode: "2026-07-28" } as const
const answerTo = ({ id }: JsonRpc.Request): JsonRpc.Response => ({ jsonrpc: "2.0", id, result: said("yes") })
const nothing = () => Effect.void

describe("a wire with plain calls", () => {
  it.effect("may answer before `begin` returns, any number of times in a row; nothing is left", () =>
    Effect.gen(function* () {
      let left = 0
      const transport = plainWire((request, _how, _caller, settle) => {
        settle(Exit.succeed(answerTo(request)))
        return () => Effect.sync(() => void left++)
      })
      const client = yield* McpClient.connect(transport, pinned)
      for (let times = 0; times < 10_000; times++) yield* client.callTool("a")
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(left, 0)
    })
  )

  it.effect("may fail before `begin` returns", () =>
    Effect.gen(function* () {
      const endpoint = "a wire in the hands of the test"
      const gone = new TransportError({ endpoint, reason: new Closed({ because: "gone" }) })
      const transport = plainWire((_request, _how, _caller, settle) => {
        settle(Exit.fail(gone))
        return nothing
      })
      const client = yield* McpClient.connect(transport, pinned)
      const { reason } = yield* Effect.flip(client.listTools())
      assert.strictEqual(reason._tag === "WireFailed" && reason.cause, gone)
    })
  )

  it.effect("one made of it with an exchange of its own is used through that", () =>
    Effect.gen(function* () {
      const mine: Array<string> = []
      const transport = plainWire(
        () => assert.fail("past the exchange"),
        () => ({
          exchange: (request) =>
            Effect.sync(() => {
              mine.push(request.method)
              return answerTo(request)
            })
        })
      )
      const client = yield* McpClient.connect(transport, pinned)
      assert.strictEqual(textOf(yield* client.callTool("a")), "yes")
      assert.deepStrictEqual(mine, ["tools/call"])
    })
  )

  it.effect("that throws ends the one call with a defect, also when it is left; limits of others stay in force", () =>
    Effect.gen(function* () {
      const transport = plainWire(({ params }) => {
        if (params?.["name"] === "begin") throw new Error("begin")
        return () => {
          if (params?.["name"] === "leave") throw new Error("leave")
          return Effect.void
        }
      })
      const client = yield* McpClient.connect(transport, pinned)
      const call = (name: string) =>
        client
          .callTool(name, {}, { timeout: "1 second" })
          .pipe(Effect.exit, Effect.forkChild({ startImmediately: true }))
      const calls = yield* Effect.forEach(["other", "begin", "leave", "other"], call)
      yield* TestClock.adjust("1 second")
      const ends = yield* Fiber.joinAll(calls)
      assert.deepStrictEqual(
        ends.map((exit) => Exit.isFailure(exit) && (Cause.hasDies(exit.cause) ? "defect" : "failed")),
        ["failed", "defect", "defect", "failed"]
      )
    })
  )

  it.effect("T-RPC-5: is left once and at once, by an interruption and by a limit, and not waited for by a limit", () =>
    Effect.gen(function* () {
      const left: Array<unknown> = []
      const transport = plainWire(({ id }) => () => {
        left.push(id)
        return Effect.sleep("1 second")
      })
      const client = yield* McpClient.connect(transport, pinned)
      const limited = yield* Effect.forkChild(Effect.flip(client.callTool("a", {}, { timeout: "1 second" })))
      const interrupted = yield* Effect.forkChild(client.callTool("a"))
      yield* settled
      const ids = left.length
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.strictEqual(limited.pollUnsafe()?._tag, "Success")
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(interrupted))
      yield* settled
      assert.deepStrictEqual([ids, left.length, interrupting.pollUnsafe()], [0, 2, undefined])
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.deepStrictEqual([left.length, interrupting.pollUnsafe()?._tag], [2, "Success"])
    })
  )
})

describe("the timer of all limits", () => {
  it.effect.each<readonly [string, ReadonlyArray<Middleware>]>([
    ["in plain calls", []],
    ["through middleware", [(request, next) => next(request)]]
  ])("%s, sleeps only while something is waited for, however requests came to their ends", ([, middleware]) =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let sleeping = 0
      const counted: Clock.Clock = {
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
        currentTimeMillis: clock.currentTimeMillis,
        currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
        currentTimeNanos: clock.currentTimeNanos,
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (duration) =>
          Effect.acquireUseRelease(
            Effect.sync(() => sleeping++),
            () => clock.sleep(duration),
            () => Effect.sync(() => sleeping--)
          )
      }
      const peer = Peer.make(
        Peer.modern((heard, me) => {
          const name = heard.params?.["name"]
          if (name === "answered") me.answer(heard, said("yes"))
          if (name === "refused") me.refuse(heard, -32603)
          if (name === "unreadable") me.answer(heard, { content: "no list" })
          if (name === "broken") me.say({ id: heard.id, result: [] })
        })
      )
      const client = yield* Effect.provideService(
        McpClient.connect(peer.transport, { middleware }),
        Clock.Clock,
        counted
      )
      const call = (name: string, timeout: Duration.Input) =>
        client.callTool(name, { big: name === "no JSON" ? 1n : 1 }, { timeout })
      for (const name of ["answered", "refused", "unreadable", "broken", "no JSON", "left", "silent"]) {
        // The first sets the timer, and the second must not set it again.
        for (const timeout of ["1 second", "10 minutes"] as const) {
          const calling = yield* Effect.forkChild(Effect.exit(call(name, timeout)), { startImmediately: true })
          yield* settled
          if (name === "left") yield* Fiber.interrupt(calling)
          if (name === "silent") yield* TestClock.adjust(timeout)
          yield* settled
          assert.isDefined(calling.pollUnsafe(), name)
        }
        yield* TestClock.adjust("1 second")
        yield* settled
        assert.strictEqual(sleeping, 0, name)
      }
    })
  )
})

describe("a request that is traced", () => {
  const watched = () => {
    const { spans, tracer } = recorded()
    /** Each span, with its parent and its error. */
    const shown = () =>
      spans.map(({ attributes, name, parent, status }) => {
        const over = parent._tag === "Some" ? spans.find(({ spanId }) => spanId === parent.value.spanId)?.name : "none"
        return [name, over, attributes.get("error.type"), status._tag]
      })
    return { shown, traced: Effect.withTracer(tracer) }
  }

  it.effect("U-63, U-23: sent again, it is a second span beside the first, which keeps its error", () =>
    Effect.gen(function* () {
      let times = 0
      const { client } = yield* connected((heard, me) =>
        ++times === 1
          ? me.refuse(heard, -32022, "no", { supported: ["2026-07-28"], requested: "2026-07-28" })
          : me.answer(heard, said("yes"))
      )
      const { shown, traced } = watched()
      yield* traced(client.callTool("a"))
      assert.deepStrictEqual(shown(), [
        ["McpClient.callTool", "none", undefined, "Ended"],
        ["mcp.request", "McpClient.callTool", "-32022", "Ended"],
        ["mcp.request", "McpClient.callTool", undefined, "Ended"]
      ])
    })
  )

  it.effect("U-63, M-MRTR: questions are answered, and rounds sent, beside it and not inside", () =>
    Effect.gen(function* () {
      let times = 0
      const peer = Peer.make(
        Peer.modern((heard, me) =>
          me.answer(
            heard,
            ++times === 1
              ? {
                  resultType: "input_required",
                  inputRequests: {
                    k: {
                      method: "elicitation/create",
                      params: { message: "?", requestedSchema: { type: "object", properties: {} } }
                    }
                  }
                }
              : said("yes")
          )
        )
      )
      const client = yield* McpClient.connect(peer.transport, {
        handlers: {
          elicitation: { form: () => Effect.withSpan(Effect.succeed({ action: "decline" } as const), "answering") }
        }
      })
      const { shown, traced } = watched()
      yield* traced(client.callTool("a"))
      assert.deepStrictEqual(
        shown().map(([name, over]) => [name, over]),
        [
          ["McpClient.callTool", "none"],
          ["mcp.request", "McpClient.callTool"],
          ["answering", "McpClient.callTool"],
          ["mcp.request", "McpClient.callTool"]
        ]
      )
    })
  )

  it.effect("U-63: a limit that passes and an interruption end its span, and the limit stands in it", () =>
    Effect.gen(function* () {
      const { client } = yield* connected(() => {})
      const { shown, traced } = watched()
      const limited = yield* Effect.forkChild(Effect.exit(traced(client.callTool("a", {}, { timeout: "1 second" }))))
      const left = yield* Effect.forkChild(traced(client.callTool("a")))
      yield* settled
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(limited)
      yield* Fiber.interrupt(left)
      const requests = shown().filter(([name]) => name === "mcp.request")
      assert.deepStrictEqual(requests, [
        ["mcp.request", "McpClient.callTool", "RequestTimedOut", "Ended"],
        ["mcp.request", "McpClient.callTool", undefined, "Ended"]
      ])
    })
  )
})

describe("a request that was healed", () => {
  const form = {
    resultType: "input_required",
    requestState: "s",
    inputRequests: {
      k: {
        method: "elicitation/create",
        params: { message: "?", requestedSchema: { type: "object", properties: {} } }
      }
    }
  }
  const asking = { elicitation: { form: () => Effect.succeed({ action: "decline" } as const) } }
  const version = { supported: ["2026-07-28"], requested: "2026-07-28" }

  it.effect("U-23, M-MRTR: goes through its rounds, and each round may be healed anew", () =>
    Effect.gen(function* () {
      let times = 0
      const peer = Peer.make(
        Peer.modern((heard, me) => {
          times++
          if (times % 2 === 1) me.refuse(heard, -32022, "no", version)
          else me.answer(heard, times < 6 ? form : said("yes"))
        })
      )
      const client = yield* McpClient.connect(peer.transport, { handlers: asking })
      assert.strictEqual(textOf(yield* client.callTool("a")), "yes")
      const calls = peer.heard().slice(1)
      assert.deepStrictEqual(
        calls.map(({ id, params }) => [id, params?.["requestState"]]),
        [
          [2, undefined],
          [3, undefined],
          [4, "s"],
          [5, "s"],
          [6, "s"],
          [7, "s"]
        ]
      )
    })
  )

  it.effect("U-23: and then refused for another reason, fails with that one", () =>
    Effect.gen(function* () {
      let times = 0
      const { client } = yield* connected((heard, me) =>
        ++times === 1 ? me.refuse(heard, -32022, "no", version) : me.refuse(heard, -32602, "never")
      )
      const { reason } = yield* Effect.flip(client.callTool("a"))
      assert.deepInclude(reason, { _tag: "ServerError", code: -32602 })
    })
  )

  it.effect("U-23: is left like any other: cancelled once, under the id it has by then", () =>
    Effect.gen(function* () {
      let times = 0
      const { client, peer } = yield* connected((heard, me) => {
        if (heard.id !== undefined && ++times === 1) me.refuse(heard, -32022, "no", version)
      })
      const calling = yield* Effect.forkChild(client.callTool("a"))
      yield* settled
      yield* Fiber.interrupt(calling)
      yield* settled
      assert.deepStrictEqual(cancellations(peer), [3])
    })
  )

  it.effect("T-LIFE-3, L-ELI-8: whose process died is asked in the next one, opens an address there, and goes on", () =>
    Effect.gen(function* () {
      let times = 0
      const opened: Array<string> = []
      const seen: Array<unknown> = []
      const page = { mode: "url", message: "sign in", url: "https://issuer.test/device", elicitationId: "e" }
      const peer = restartable(
        Peer.legacy((heard, me) => {
          if (heard.method !== "tools/call") return
          times++
          if (times === 1) me.hangUp()
          else if (times === 2) me.refuse(heard, -32042, "open this first", { elicitations: [page] })
          else me.answer(heard, said("yes"))
        })
      )
      const client = yield* McpClient.connect(peer.transport, {
        mode: "legacy",
        middleware: [
          (request, next) => {
            seen.push([request.method, request.id])
            return next(request)
          }
        ],
        handlers: {
          elicitation: {
            url: ({ url }) =>
              Effect.sync(() => {
                opened.push(url)
                return { action: "accept" } as const
              })
          }
        }
      })
      const calling = yield* Effect.forkChild(client.callTool("a", {}, { repeatable: true }))
      yield* settled
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(textOf(yield* Fiber.join(calling)), "yes")
      assert.deepStrictEqual([opened, peer.opened()], [[page.url], 2])
      // Every one of them went through the middleware, under an id of its own.
      const asked = peer.heard().filter(({ method }) => method === "tools/call")
      assert.deepStrictEqual(
        seen,
        asked.map(({ id, method }) => [method, id])
      )
      assert.lengthOf(asked, 3)
    })
  )
})
