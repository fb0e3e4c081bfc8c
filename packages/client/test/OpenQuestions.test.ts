/** Questions of a legacy server that wait for their answer, and what ends them. */
import { assert, describe, it } from "@effect/vitest"
import { Transport, type Wire } from "@mcp-effect/transport/Transport"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import * as Limits from "../src/Limits.ts"
import * as McpClient from "../src/McpClient.ts"
import * as Peer from "./fixtures/peer.ts"

const settled = Effect.repeat(Effect.yieldNow, { times: 80 })

/** A `roots` handler that waits forever, and how often it was asked and taken back. */
const parking = () => {
  const count = { asked: 0, takenBack: 0 }
  const roots = Effect.suspend(() => {
    count.asked++
    return Effect.never
  }).pipe(Effect.onInterrupt(() => Effect.sync(() => void count.takenBack++)))
  return { count, roots }
}

/** A wire that does not tell its end. */
const endless = ({ transport }: Peer.Peer): Transport["Service"] =>
  Transport.of({
    ...transport,
    open: (hear) => Effect.map(transport.open(hear), (wire): Wire => ({ ...wire, ended: Effect.never }))
  })

const ask = (peer: Peer.Peer, id: string | number) => peer.say({ id, method: "roots/list" })

describe("the questions that are open at one time", () => {
  it.effect("MaxOpenQuestions counts each question, also when all have one id; a cancellation ends them all", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy())
      const { count, roots } = parking()
      yield* McpClient.connect(peer.transport, { mode: "legacy", handlers: { roots } }).pipe(
        Effect.provideService(Limits.MaxOpenQuestions, 3)
      )
      for (let times = 0; times < 10; times++) ask(peer, "same")
      yield* settled
      assert.deepStrictEqual(count, { asked: 3, takenBack: 0 })
      peer.say({ method: "notifications/cancelled", params: { requestId: "another" } })
      yield* settled
      assert.strictEqual(count.takenBack, 0)
      peer.say({ method: "notifications/cancelled", params: { requestId: "same" } })
      yield* settled
      assert.strictEqual(count.takenBack, 3)
      ask(peer, "same")
      yield* settled
      assert.strictEqual(count.asked, 4)
    })
  )

  it.effect("MaxOpenQuestions counts none of a process that is gone: each is taken back with its wire", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy(), { reopenable: true })
      const { count, roots } = parking()
      yield* McpClient.connect(peer.transport, { mode: "legacy", handlers: { roots } }).pipe(
        Effect.provideService(Limits.MaxOpenQuestions, 2)
      )
      for (let times = 1; times <= 5; times++) {
        ask(peer, 1)
        ask(peer, 2)
        yield* settled
        peer.hangUp()
        yield* settled
        assert.deepStrictEqual(count, { asked: 2 * times, takenBack: 2 * times })
        yield* TestClock.adjust("1 minute")
        yield* settled
        assert.strictEqual(peer.opened(), times + 1)
      }
    })
  )
})

describe("a question that waits while its connection closes", () => {
  it.effect("T-LIFE-6: is taken back before the scope is closed, and what it has to clean up is waited for", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy())
      const scope = yield* Scope.make()
      const done: Array<string> = []
      const cleaning = Effect.andThen(
        settled,
        Effect.sync(() => void done.push("cleaned up"))
      )
      const roots = Effect.onInterrupt(Effect.never, () => cleaning)
      yield* McpClient.connect(peer.transport, { mode: "legacy", handlers: { roots } }).pipe(Scope.provide(scope))
      ask(peer, 1)
      yield* settled
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(done, ["cleaned up"])
      assert.notInclude(peer.methods(), "an answer")
    })
  )

  const closings: ReadonlyArray<readonly [string, (close: Effect.Effect<void>) => Effect.Effect<unknown>]> = [
    ["at once", (close) => close],
    ["after a while", (close) => Effect.andThen(Effect.yieldNow, close)],
    ["in a fiber of its own", (close) => Effect.andThen(Effect.yieldNow, Effect.timeoutOption(close, "1 minute"))],
    [
      "from outside, and waits on",
      (close) =>
        Effect.andThen(
          Effect.sync(() => Effect.runFork(close)),
          Effect.never
        )
    ]
  ]

  it.effect.each(closings)(
    "T-LIFE-6: a handler may close it %s; all of the scope ends, and other questions too",
    ([, closing]) =>
      Effect.gen(function* () {
        const peer = Peer.make(Peer.legacy())
        const scope = yield* Scope.make()
        const { count, roots } = parking()
        const last = yield* Deferred.make<void>()
        // The first to be added is the last to run.
        yield* Scope.addFinalizer(scope, Deferred.succeed(last, undefined))
        const ended = yield* Deferred.make<void>()
        const form = () =>
          closing(Scope.close(scope, Exit.void)).pipe(
            Effect.orDie,
            Effect.as({ action: "decline" as const }),
            Effect.onExit(() => Deferred.succeed(ended, undefined))
          )
        yield* McpClient.connect(endless(peer), { mode: "legacy", handlers: { roots, elicitation: { form } } }).pipe(
          Scope.provide(scope)
        )
        ask(peer, 1)
        yield* settled
        peer.say({
          id: 2,
          method: "elicitation/create",
          params: { message: "?", requestedSchema: { type: "object", properties: {} } }
        })
        yield* Deferred.await(last)
        yield* Deferred.await(ended)
        assert.deepStrictEqual(count, { asked: 1, takenBack: 1 })
        assert.strictEqual(peer.closed(), 1)
      })
  )

  it.effect("T-LIFE-6: a connection that a handler opened may be closed by a handler of its own", () =>
    Effect.gen(function* () {
      const inner = Peer.make(Peer.legacy())
      const outer = Peer.make(Peer.legacy())
      let allClosed = false
      const roots = Effect.gen(function* () {
        const scope = yield* Scope.make()
        yield* Scope.addFinalizer(
          scope,
          Effect.sync(() => void (allClosed = true))
        )
        yield* McpClient.connect(inner.transport, {
          mode: "legacy",
          handlers: { roots: Effect.as(Effect.andThen(Effect.yieldNow, Scope.close(scope, Exit.void)), []) }
        }).pipe(Effect.orDie, Scope.provide(scope))
        ask(inner, 1)
        yield* settled
        return []
      })
      yield* McpClient.connect(outer.transport, { mode: "legacy", handlers: { roots } })
      ask(outer, 1)
      yield* Effect.repeat(settled, { times: 3 })
      assert.deepInclude(outer.heard().at(-1), { id: 1, result: { roots: [] } })
      assert.isTrue(allClosed)
      assert.strictEqual(outer.closed(), 0)
    })
  )
})
