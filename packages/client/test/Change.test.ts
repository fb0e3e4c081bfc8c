import { assert, describe, it } from "@effect/vitest"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import { type Standing, Transport, type Wire } from "@mcp-effect/transport/Transport"
import { HttpRejected, SpawnFailed, TransportError } from "@mcp-effect/transport/TransportError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { Change, type Filter } from "../src/Change.ts"
import * as Limits from "../src/Limits.ts"
import type * as McpClient from "../src/McpClient.ts"
import {
  asked,
  cancelled,
  connect,
  ended,
  everySecond,
  grant,
  granting,
  last,
  legacy,
  modern,
  note,
  restartable,
  settled,
  tell,
  uris,
  wanted
} from "./fixtures/announcer.ts"
import * as Peer from "./fixtures/peer.ts"

type Client = McpClient.McpClient["Service"]

const all: Filter = { tools: true, prompts: true, resources: true, resourceUris: [note] }

/** Runs a stream of changes and keeps what it says, in short words. */
const watching = Effect.fnUntraced(function* (client: Client, filter: Filter) {
  const seen: Array<string> = []
  const watched: Array<Filter> = []
  const fiber = yield* client.changes(filter).pipe(
    Stream.runForEach((change) =>
      Effect.sync(() => void (change._tag === "Watched" ? watched.push(change.filter) : seen.push(inShort(change))))
    ),
    Effect.result,
    Effect.forkChild({ startImmediately: true })
  )
  yield* settled
  return { seen, watched, fiber, stop: Effect.andThen(Fiber.interrupt(fiber), settled) }
})

const inShort = Change.$match({
  ToolsChanged: () => "tools",
  PromptsChanged: () => "prompts",
  ResourcesChanged: () => "resources",
  ResourceUpdated: ({ uri }) => uri,
  Watched: ({ filter }) => `watched ${JSON.stringify(filter)}`,
  Unwatched: ({ because, filter }) => `not ${JSON.stringify(filter)}: ${because}`
})

/** A server that can be restarted, and confirms nothing while it is hushed. */
const hushable = () => {
  let silent = false
  const peer = restartable(
    modern((heard, me) => {
      if (!silent) granting(heard, me)
    })
  )
  return {
    peer,
    hush: (yes: boolean) => {
      silent = yes
    }
  }
}

describe("changes of a modern server", () => {
  it.effect("U-25, M-SUB-1: are asked for with one subscription, and told from its acknowledgement on", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      const { seen } = yield* watching(yield* connect(peer), all)
      assert.deepStrictEqual(asked(peer).map(wanted), [
        {
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
          resourceSubscriptions: [note]
        }
      ])
      assert.deepStrictEqual(seen, [])
      tell(peer, last(peer), "tools/list_changed")
      yield* settled
      tell(peer, last(peer), "resources/updated", { uri: note })
      tell(peer, last(peer), "prompts/list_changed")
      tell(peer, last(peer), "resources/list_changed")
      yield* settled
      assert.deepStrictEqual(seen, ["tools", note, "prompts", "resources"])
    })
  )

  it.effect("M-SUB-5: `Watched` comes first, when the server has acknowledged and not before", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern())
      const client = yield* connect(peer)
      const { watched } = yield* watching(client, all)
      assert.deepStrictEqual(watched, [])
      grant(peer, asked(peer)[0]!)
      yield* settled
      assert.deepStrictEqual(watched, [all])
      yield* watching(client, { tools: true })
      assert.deepStrictEqual(watched, [all])
    })
  )

  it.effect("M-SUB-3, M-SUB-4: nothing is told that the stream did not ask for", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      const { seen } = yield* watching(yield* connect(peer), { tools: false, prompts: true })
      assert.deepStrictEqual(asked(peer).map(wanted), [{ promptsListChanged: true }])
      tell(peer, last(peer), "tools/list_changed")
      tell(peer, last(peer), "resources/updated", { uri: note })
      tell(peer, last(peer), "nonsense")
      tell(peer, last(peer), "prompts/list_changed")
      yield* settled
      assert.deepStrictEqual(seen, ["prompts"])
    })
  )

  it.effect("M-SUB-9: what the acknowledgement leaves out is told once, and the rest is heard", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        modern((heard, me) => {
          if (heard.method === "subscriptions/listen") grant(me, heard, { toolsListChanged: true })
        })
      )
      const { seen, watched } = yield* watching(yield* connect(peer), { tools: true, resourceUris: [note] })
      assert.deepStrictEqual(watched, [{ tools: true }])
      tell(peer, last(peer), "tools/list_changed")
      yield* settled
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(seen, [
        `not {"resourceUris":["${note}"]}: the server left it out of its acknowledgement`,
        "tools"
      ])
      assert.lengthOf(asked(peer), 1)
    })
  )

  it.effect("T-LIST-6, M-SUB-24: a refused subscription is told, never tried again, and the connection stays", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        modern((heard, me) => {
          if (heard.method === "subscriptions/listen") me.refuse(heard, -32601, "Method not found")
          else if (heard.method === "tools/list") me.answer(heard, { resultType: "complete", tools: [] })
        })
      )
      const client = yield* connect(peer)
      const { fiber, seen } = yield* watching(client, { tools: true })
      yield* TestClock.adjust("1 hour")
      yield* settled
      assert.lengthOf(seen, 1)
      assert.include(seen[0], 'not {"tools":true}: the server answered subscriptions/listen with error -32601')
      assert.lengthOf(asked(peer), 1)
      assert.isUndefined(fiber.pollUnsafe())
      assert.deepStrictEqual(yield* client.listTools(), [])
    })
  )

  it.effect("T-32: without an announced capability nothing is asked for; what is announced is", () =>
    Effect.gen(function* () {
      const silent = Peer.make(modern(granting, { tools: {}, resources: { listChanged: false } }))
      const none = yield* watching(yield* connect(silent), all)
      assert.lengthOf(asked(silent), 0)
      assert.deepStrictEqual(none.seen, [`not ${JSON.stringify(all)}: the server does not announce that it does`])

      const half = Peer.make(modern(granting, { tools: { listChanged: true } }))
      const some = yield* watching(yield* connect(half), { tools: true, prompts: true })
      assert.deepStrictEqual(asked(half).map(wanted), [{ toolsListChanged: true }])
      assert.deepStrictEqual(some.seen, ['not {"prompts":true}: the server does not announce that it does'])
    })
  )

  it.effect("T-32: an empty acknowledgement is as good as a refusal, and the subscription is given up", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        modern((heard, me) => {
          if (heard.method === "subscriptions/listen") grant(me, heard, {})
        })
      )
      const { seen } = yield* watching(yield* connect(peer), { tools: true })
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(seen, ['not {"tools":true}: the server left it out of its acknowledgement'])
      assert.lengthOf(asked(peer), 1)
      assert.deepStrictEqual(cancelled(peer), [last(peer)])
    })
  )

  it.effect("U-10: when the capabilities are unknown, everything is asked for", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      yield* watching(yield* connect(peer, { mode: "2026-07-28" }), { prompts: true })
      assert.deepStrictEqual(asked(peer).map(wanted), [{ promptsListChanged: true }])
    })
  )

  it.effect("T-34: streams share one subscription; a wider one is acknowledged before the old one is given up", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern())
      const client = yield* connect(peer)
      const tools = yield* watching(client, { tools: true })
      const [first] = asked(peer)
      grant(peer, first!)
      yield* settled

      const both = yield* watching(client, { tools: true, prompts: true })
      const second = asked(peer).at(-1)!
      assert.deepStrictEqual(asked(peer).map(wanted), [
        { toolsListChanged: true },
        { toolsListChanged: true, promptsListChanged: true }
      ])
      assert.deepStrictEqual(cancelled(peer), [])
      tell(peer, first?.id, "tools/list_changed")
      yield* settled
      assert.deepStrictEqual([tools.seen, both.seen], [["tools"], ["tools"]])

      grant(peer, second)
      yield* settled
      assert.deepStrictEqual(cancelled(peer), [first?.id])
      tell(peer, second.id, "prompts/list_changed")
      yield* settled
      assert.deepStrictEqual([tools.seen, both.seen], [["tools"], ["tools", "prompts"]])

      const again = yield* watching(client, { prompts: true })
      assert.lengthOf(asked(peer), 2)
      yield* again.stop
      yield* tools.stop
      assert.lengthOf(asked(peer), 2)
      yield* both.stop
      assert.lengthOf(asked(peer), 2)
      assert.deepStrictEqual(cancelled(peer), [first?.id, second.id])
    })
  )

  it.effect("T-34: what is refused to one stream leaves the subscription of the others as it is", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        modern((heard, me) => {
          if (heard.method !== "subscriptions/listen") return
          if (JSON.stringify(wanted(heard)).includes("bad://")) me.refuse(heard, -32602, "no such resource")
          else grant(me, heard)
        })
      )
      const client = yield* connect(peer)
      const good = yield* watching(client, { tools: true })
      const bad = yield* watching(client, { resourceUris: ["bad://one"] })
      assert.lengthOf(bad.seen, 1)
      assert.include(bad.seen[0], "-32602")
      tell(peer, asked(peer)[0]?.id, "tools/list_changed")
      yield* settled
      assert.deepStrictEqual(good.seen, ["tools"])
      assert.deepStrictEqual(cancelled(peer), [])
    })
  )

  it.effect("T-30: a subscription id that comes back as text is the same id", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern())
      const { fiber, seen } = yield* watching(yield* connect(peer), { tools: true })
      const id = String(last(peer))
      tell(peer, id, "subscriptions/acknowledged", { notifications: { toolsListChanged: true } })
      tell(peer, id, "tools/list_changed")
      yield* TestClock.adjust("2 minutes")
      yield* settled
      assert.deepStrictEqual(seen, ["tools"])
      assert.isUndefined(fiber.pollUnsafe())
      assert.lengthOf(asked(peer), 1)
    })
  )

  it.effect("T-60: a change outside of the subscription is not told, and not lost to `notifications`", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      const client = yield* connect(peer)
      const { seen } = yield* watching(client, { tools: true })
      const heard = yield* client.notifications.pipe(
        Stream.take(1),
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      peer.say({ method: "notifications/tools/list_changed" })
      yield* settled
      assert.deepStrictEqual(seen, [])
      assert.deepStrictEqual(
        (yield* Fiber.join(heard)).map(({ method }) => method),
        ["notifications/tools/list_changed"]
      )
    })
  )

  it.effect("M-SUB-15: a stream that is left ends the subscription", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      const { stop } = yield* watching(yield* connect(peer), { tools: true })
      yield* stop
      assert.deepStrictEqual(cancelled(peer), [last(peer)])
    })
  )

  it.effect("M-SUB-14: a part of a watched resource is told by its own address, a stranger is not", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      const { seen } = yield* watching(yield* connect(peer), { resourceUris: ["file:///a"] })
      for (const uri of ["file:///a/b", "file:///ab", "file:///a#c", "file:///a"]) {
        tell(peer, last(peer), "resources/updated", { uri })
      }
      yield* settled
      assert.deepStrictEqual(seen, ["file:///a/b", "file:///a#c", "file:///a"])
    })
  )

  it.effect("ends with the client", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const peer = Peer.make(modern(granting))
      const client = yield* connect(peer).pipe(Scope.provide(scope))
      const { fiber, seen } = yield* watching(client, { tools: true })
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
      assert.deepStrictEqual(seen, [])
      const late = yield* watching(client, { tools: true })
      assert.strictEqual((yield* Fiber.join(late.fiber))._tag, "Success")
    })
  )
})

describe("a gap in what a modern server tells", () => {
  const closings: ReadonlyArray<readonly [how: string, close: (peer: Peer.Peer) => void]> = [
    ["a result", (peer) => peer.answer({ id: last(peer)! }, ended)],
    ["a cancellation", (peer) => peer.say({ method: "notifications/cancelled", params: { requestId: last(peer) } })],
    [
      "both",
      (peer) => {
        const id = last(peer)!
        peer.say({ method: "notifications/cancelled", params: { requestId: id } })
        peer.answer({ id }, ended)
      }
    ]
  ]
  for (const [how, close] of closings) {
    it.effect(
      `T-31, M-SUB-16: a subscription ended by ${how} is asked for again, and everything may have changed`,
      () =>
        Effect.gen(function* () {
          const peer = Peer.make(modern(granting))
          const { seen } = yield* watching(yield* connect(peer), { tools: true, resourceUris: [note] })
          close(peer)
          yield* settled
          assert.lengthOf(asked(peer), 1)
          yield* TestClock.adjust("1 second")
          yield* settled
          assert.lengthOf(asked(peer), 2)
          assert.deepStrictEqual(seen, ["tools", note])
          tell(peer, last(peer), "tools/list_changed")
          yield* settled
          assert.deepStrictEqual(seen, ["tools", note, "tools"])
        })
    )
  }

  it.effect(
    "T-31: a subscription the server cancelled leaves no request open, and its late result is nothing new",
    () =>
      Effect.gen(function* () {
        const peer = Peer.make(modern(granting))
        yield* watching(yield* connect(peer), { tools: true })
        const id = last(peer)!
        peer.say({ method: "notifications/cancelled", params: { requestId: String(id) } })
        yield* settled
        assert.deepStrictEqual(cancelled(peer), [id])
        yield* TestClock.adjust("1 second")
        yield* settled
        peer.answer({ id }, ended)
        yield* TestClock.adjust("10 seconds")
        assert.lengthOf(asked(peer), 2)
      })
  )

  it.effect("a cancellation that names another request changes nothing", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      yield* watching(yield* connect(peer), { tools: true })
      peer.say({ method: "notifications/cancelled", params: { requestId: 99 } })
      peer.say({ method: "notifications/cancelled" })
      yield* settled
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(asked(peer), 1)
    })
  )

  it.effect("M-SUB-19: after the process died the new one is asked, and everything may have changed", () =>
    Effect.gen(function* () {
      const peer = restartable(modern(granting))
      const client = yield* connect(peer)
      const { seen } = yield* watching(client, { tools: true, prompts: true })
      peer.hangUp()
      yield* settled
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.strictEqual(peer.opened(), 2)
      assert.lengthOf(asked(peer), 2)
      assert.deepStrictEqual(seen, ["tools", "prompts"])
    })
  )

  it.effect("M-SUB-9: a slow reader hears last what holds now, each of it once", () =>
    Effect.gen(function* () {
      const peer = restartable(
        modern((heard, me) => {
          // Every second process reports no tools.
          const tools = me.opened() % 2 === 1 ? { toolsListChanged: true } : {}
          if (heard.method === "subscriptions/listen") grant(me, heard, { promptsListChanged: true, ...tools })
        })
      )
      const client = yield* connect(peer)
      const chunks: Array<ReadonlyArray<Change>> = []
      const reading = Latch.makeUnsafe(false)
      yield* client.changes({ tools: true, prompts: true }).pipe(
        Stream.runForEachArray((changes) => {
          chunks.push(changes)
          return reading.await
        }),
        Effect.forkChild({ startImmediately: true })
      )
      yield* settled
      const renew = Effect.gen(function* () {
        peer.hangUp()
        yield* settled
        yield* TestClock.adjust("1 minute")
        yield* settled
      })
      const statuses = (changes: ReadonlyArray<Change> | undefined = []) =>
        changes.flatMap(({ _tag }) => (_tag === "Watched" || _tag === "Unwatched" ? [_tag] : []))
      assert.deepStrictEqual(chunks.map(statuses), [["Watched"]])
      yield* Effect.repeat(renew, { times: 2 })
      assert.strictEqual(peer.opened(), 4)
      yield* reading.open
      yield* settled
      // Not reported, reported and again not reported: the last word counts, and no word comes twice.
      assert.deepStrictEqual(chunks.map(statuses), [["Watched"], ["Watched", "Unwatched"]])
      assert.deepStrictEqual(chunks[1]?.filter(({ _tag }) => _tag === "ToolsChanged").length, 1)
    })
  )

  it.effect("U-62: a server that dies at every subscription is not chased faster than the schedule says", () =>
    Effect.gen(function* () {
      const peer = restartable(
        modern((heard, me) => {
          if (heard.method === "subscriptions/listen") me.hangUp()
        })
      )
      const relisten = Schedule.spaced("10 seconds").pipe(Schedule.upTo({ times: 3 }))
      const { fiber } = yield* watching(yield* connect(peer, { relisten }), { tools: true })
      for (let second = 0; second < 120; second++) {
        yield* TestClock.adjust("1 second")
        yield* settled
      }
      const result = yield* Fiber.join(fiber)
      assert.strictEqual(result._tag === "Failure" && result.failure.reason._tag, "WireFailed")
      assert.isAtMost(asked(peer).length, 4)
    })
  )

  it.effect(
    "T-33: a subscription that ends at once, each time, is given up when the schedule is over; so is the next stream",
    () =>
      Effect.gen(function* () {
        const peer = Peer.make(modern(Peer.on("subscriptions/listen", () => ended)))
        const client = yield* connect(peer, { relisten: everySecond.pipe(Schedule.upTo({ times: 3 })) })
        for (const times of [4, 8]) {
          const { fiber } = yield* watching(client, { tools: true })
          for (let second = 0; second < 5; second++) {
            yield* TestClock.adjust("1 second")
            yield* settled
          }
          const result = yield* Fiber.join(fiber)
          assert.strictEqual(result._tag === "Failure" && result.failure.reason._tag, "SubscriptionEnded")
          assert.lengthOf(asked(peer), times)
        }
      })
  )

  it.effect("U-62: the schedule begins anew after a change was heard, or after a steady time", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      const relisten = everySecond.pipe(Schedule.upTo({ times: 1 }))
      const { fiber } = yield* watching(yield* connect(peer, { relisten }), { tools: true })
      const endAndWait = Effect.gen(function* () {
        peer.answer({ id: last(peer)! }, ended)
        yield* settled
        yield* TestClock.adjust("1 second")
        yield* settled
      })
      yield* endAndWait
      tell(peer, last(peer), "tools/list_changed")
      yield* endAndWait
      yield* TestClock.adjust("30 seconds")
      yield* endAndWait
      assert.lengthOf(asked(peer), 4)
      yield* endAndWait
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Failure")
    })
  )

  /** A peer whose subscriptions meet these statuses, one after the other, before they get through. */
  const behind = (peer: Peer.Peer, ...statuses: ReadonlyArray<number>): Transport["Service"] => {
    let next = 0
    const rejected = (status: number) =>
      new HttpRejected({ status, body: "", mediaType: "text/html", sessionLost: false })
    return Transport.of({
      ...peer.transport,
      open: (hear) =>
        Effect.map(peer.transport.open(hear), (wire): Wire => ({
          ...wire,
          exchange: (request, how) => {
            const status = request.method === "subscriptions/listen" ? statuses[next++] : undefined
            return status === undefined
              ? wire.exchange(request, how)
              : Effect.fail(new TransportError({ endpoint: "x", reason: rejected(status) }))
          }
        }))
    })
  }

  it.effect("T-LIST-6: a status that means no, without a JSON-RPC error, is a refusal too", () =>
    Effect.gen(function* () {
      for (const status of [400, 404, 405, 501]) {
        const peer = Peer.make(modern(granting))
        const { fiber, seen } = yield* watching(yield* connect({ transport: behind(peer, status) }), { tools: true })
        yield* TestClock.adjust("1 hour")
        yield* settled
        assert.lengthOf(seen, 1)
        assert.include(seen[0], `not {"tools":true}: subscriptions/listen failed: MCP: HTTP ${status}`)
        assert.isUndefined(fiber.pollUnsafe())
        assert.lengthOf(asked(peer), 0)
      }
    })
  )

  it.effect("U-05: 401 and 403 fail at once; what may pass is asked again", () =>
    Effect.gen(function* () {
      for (const status of [401, 403]) {
        const peer = Peer.make(modern(granting))
        const { fiber } = yield* watching(yield* connect({ transport: behind(peer, status) }), { tools: true })
        const result = yield* Fiber.join(fiber)
        assert.include(result._tag === "Failure" && result.failure.message, `HTTP ${status}`)
      }
      const peer = Peer.make(modern(granting))
      const { seen, watched } = yield* watching(yield* connect({ transport: behind(peer, 429, 503) }), { tools: true })
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.deepStrictEqual(watched, [])
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.deepStrictEqual([watched, seen], [[{ tools: true }], []])
    })
  )

  it.effect("an internal error of the server passes: it is asked again", () =>
    Effect.gen(function* () {
      let times = 0
      const peer = Peer.make(
        modern((heard, me) => {
          if (heard.method !== "subscriptions/listen") return
          if (++times === 1) me.refuse(heard, -32603, "Subscription limit reached")
          else grant(me, heard)
        })
      )
      const { seen } = yield* watching(yield* connect(peer), { tools: true })
      yield* TestClock.adjust("1 second")
      yield* settled
      tell(peer, last(peer), "tools/list_changed")
      yield* settled
      assert.deepStrictEqual(seen, ["tools"])
      assert.lengthOf(asked(peer), 2)
    })
  )

  it.effect("M-SUB-23: only the acknowledgement has a time limit; without one the server is asked again", () =>
    Effect.gen(function* () {
      let silent = true
      const peer = Peer.make(
        modern((heard, me) => {
          if (heard.method === "subscriptions/listen" && !silent) grant(me, heard)
        })
      )
      const { seen } = yield* watching(yield* connect(peer), { tools: true })
      const never = last(peer)
      silent = false
      yield* TestClock.adjust("60 seconds")
      yield* settled
      assert.deepStrictEqual(cancelled(peer), [never])
      yield* TestClock.adjust("1 second")
      yield* settled
      yield* TestClock.adjust("24 hours")
      yield* settled
      tell(peer, last(peer), "tools/list_changed")
      yield* settled
      assert.deepStrictEqual(seen, ["tools"])
      assert.lengthOf(asked(peer), 2)
    })
  )

  it.effect(
    "U-60: a new session that does not confirm is waited for no longer than WatchPatience; what it confirms late is told",
    () =>
      Effect.gen(function* () {
        const { hush, peer } = hushable()
        const { seen } = yield* watching(yield* connect(peer), { tools: true })
        for (const _ of ["once", "again"]) {
          seen.length = 0
          hush(true)
          peer.hangUp()
          yield* settled
          yield* TestClock.adjust("4 seconds")
          yield* settled
          assert.deepStrictEqual(seen, [])
          yield* TestClock.adjust("1 second")
          yield* settled
          assert.deepStrictEqual(seen, ["tools"])
          yield* TestClock.adjust("20 seconds")
          yield* settled
          assert.deepStrictEqual(seen, ["tools"])
          hush(false)
          grant(peer, asked(peer).at(-1)!)
          yield* settled
          assert.deepStrictEqual(seen, ["tools", "tools"])
          yield* TestClock.adjust("1 minute")
          yield* settled
          assert.deepStrictEqual(seen, ["tools", "tools"])
        }
      })
  )

  it.effect("U-60: each new session is waited for as long as the one before", () =>
    Effect.gen(function* () {
      const { hush, peer } = hushable()
      const { seen } = yield* watching(yield* connect(peer), { tools: true })
      const wait = (seconds: number) => Effect.andThen(TestClock.adjust(`${seconds} seconds`), settled)
      peer.hangUp()
      yield* settled
      yield* wait(2)
      assert.deepStrictEqual(seen, ["tools"])
      hush(true)
      peer.hangUp()
      yield* settled
      // Two ends in a row: the second session is opened a second later.
      yield* wait(1)
      yield* wait(4)
      assert.deepStrictEqual(seen, ["tools"])
      yield* wait(1)
      assert.deepStrictEqual(seen, ["tools", "tools"])
      // This one never confirmed, and is asked again in vain.
      yield* wait(60)
      yield* wait(10)
      assert.lengthOf(asked(peer), 4)
      assert.deepStrictEqual(seen, ["tools", "tools"])
      peer.hangUp()
      yield* settled
      yield* wait(10)
      yield* wait(10)
      assert.deepStrictEqual(seen, ["tools", "tools", "tools"])
    })
  )

  it.effect("U-60: who watches for the first time waits for the first word, also on a connection watched before", () =>
    Effect.gen(function* () {
      const { hush, peer } = hushable()
      const client = yield* connect(peer)
      const first = yield* watching(client, { tools: true })
      hush(true)
      peer.hangUp()
      yield* settled
      yield* TestClock.adjust("1 second")
      yield* settled
      yield* first.stop
      yield* TestClock.adjust("2 minutes")
      yield* settled
      const late = yield* watching(client, { tools: true })
      yield* TestClock.adjust("20 seconds")
      yield* settled
      assert.deepStrictEqual([late.seen, late.watched], [[], []])
      grant(peer, asked(peer).at(-1)!)
      yield* settled
      assert.deepStrictEqual([late.seen, late.watched], [[], [{ tools: true }]])
      peer.hangUp()
      yield* settled
      yield* TestClock.adjust("10 seconds")
      yield* settled
      assert.deepStrictEqual(late.seen, ["tools"])
    })
  )

  it.effect("fails when the connection cannot be opened again", () =>
    Effect.gen(function* () {
      const once = Peer.make(modern(granting))
      const { fiber } = yield* watching(yield* connect(once), { tools: true })
      once.hangUp()
      yield* settled
      yield* TestClock.adjust("1 second")
      const result = yield* Fiber.join(fiber)
      assert.strictEqual(result._tag === "Failure" && result.failure.reason._tag, "WireFailed")
    })
  )

  it.effect("fails when the connection is lost for good, and may be watched again when it is back", () =>
    Effect.gen(function* () {
      let down = false
      const peer = restartable(modern(granting))
      const { endpoint, open } = peer.transport
      const refused = new TransportError({
        endpoint,
        reason: new SpawnFailed({ command: "peer", because: "NotFound" })
      })
      const transport = Transport.of({
        ...peer.transport,
        open: (hear) => (down ? Effect.fail(refused) : open(hear))
      })
      const client = yield* connect({ transport }, { reconnect: Schedule.recurs(0), relisten: everySecond })
      const { fiber } = yield* watching(client, { tools: true })
      down = true
      peer.hangUp()
      yield* settled
      yield* TestClock.adjust("1 second")
      const result = yield* Fiber.join(fiber)
      assert.include(result._tag === "Failure" && result.failure.message, "could not start `peer`")

      const early = yield* watching(client, { tools: true })
      assert.strictEqual((yield* Fiber.join(early.fiber))._tag, "Failure")
      down = false
      yield* Effect.ignore(client.listTools()).pipe(Effect.forkChild)
      yield* settled
      const again = yield* watching(client, { tools: true })
      tell(peer, last(peer), "tools/list_changed")
      yield* settled
      assert.deepStrictEqual(again.seen, ["tools"])
    })
  )
})

describe("changes of a legacy server", () => {
  const subscribing: Peer.React = (heard, peer) => {
    if (heard.method?.startsWith("resources/") === true) peer.answer(heard, {})
  }
  const say = (peer: Peer.Peer, method: string, params?: JsonObject) =>
    peer.say({ method: `notifications/${method}`, ...(params === undefined ? {} : { params }) })

  it.effect("U-60: the same stream says the same of a legacy server", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy(subscribing))
      const { seen, watched } = yield* watching(yield* connect(peer), all)
      assert.deepStrictEqual(watched, [all])
      say(peer, "tools/list_changed")
      yield* settled
      say(peer, "resources/updated", { uri: note })
      say(peer, "prompts/list_changed", {})
      say(peer, "resources/list_changed")
      yield* settled
      assert.deepStrictEqual(seen, ["tools", note, "prompts", "resources"])
      assert.deepStrictEqual(uris(peer, "resources/subscribe"), [note])
      assert.lengthOf(asked(peer), 0)
    })
  )

  it.effect("T-LIST-5: a change the server never announced is told all the same", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy(subscribing, { tools: {} }))
      const { seen } = yield* watching(yield* connect(peer), { tools: true })
      say(peer, "tools/list_changed")
      yield* settled
      assert.deepStrictEqual(seen, ['not {"tools":true}: the server does not announce that it does', "tools"])
    })
  )

  it.effect("L-CAP: without `subscribe` no resource is subscribed to, and the stream says so", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy(subscribing, { resources: { subscribe: false } }))
      const { seen } = yield* watching(yield* connect(peer), { resourceUris: [note] })
      assert.deepStrictEqual(uris(peer, "resources/subscribe"), [])
      assert.lengthOf(seen, 1)
    })
  )

  it.effect("L-RES-2: however many streams watch a resource, it is subscribed to once, and left with the last", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy(subscribing))
      const client = yield* connect(peer)
      const one = yield* watching(client, { resourceUris: [note, "note://other"] })
      const two = yield* watching(client, { resourceUris: [note] })
      assert.deepStrictEqual(uris(peer, "resources/subscribe"), [note, "note://other"])
      say(peer, "resources/updated", { uri: note })
      yield* settled
      assert.deepStrictEqual([one.seen, two.seen], [[note], [note]])
      yield* one.stop
      assert.deepStrictEqual(uris(peer, "resources/unsubscribe"), ["note://other"])
      yield* two.stop
      assert.deepStrictEqual(uris(peer, "resources/unsubscribe"), ["note://other", note])

      yield* watching(client, { resourceUris: [note] })
      assert.deepStrictEqual(uris(peer, "resources/subscribe"), [note, "note://other", note])
    })
  )

  it.effect("L-RES-2: one resource the server refuses is told, and the others are watched", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        legacy((heard, me) => {
          if (heard.params?.["uri"] === "bad://one") me.refuse(heard, -32002, "Resource not found")
          else subscribing(heard, me)
        })
      )
      const { seen } = yield* watching(yield* connect(peer), { resourceUris: ["bad://one", note] })
      say(peer, "resources/updated", { uri: note })
      yield* settled
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(
        seen[0],
        'not {"resourceUris":["bad://one"]}: the server answered resources/subscribe with error -32002: Resource not found'
      )
      assert.deepStrictEqual(seen.slice(1), [note])
      assert.lengthOf(uris(peer, "resources/subscribe"), 2)
    })
  )

  it.effect("a stream that begins long after a session was replaced is subscribed at once", () =>
    Effect.gen(function* () {
      const peer = restartable(legacy(subscribing))
      const client = yield* connect(peer)
      yield* (yield* watching(client, { resourceUris: [note] })).stop
      peer.hangUp()
      yield* settled
      const { seen, watched } = yield* watching(client, { resourceUris: [note] })
      assert.deepStrictEqual(uris(peer, "resources/subscribe"), [note, note])
      assert.deepStrictEqual([watched, seen], [[{ resourceUris: [note] }], []])
    })
  )

  it.effect("L-RES-5, L-LIFE-15: a new session is subscribed again, and everything may have changed", () =>
    Effect.gen(function* () {
      const peer = restartable(legacy(subscribing))
      const { seen } = yield* watching(yield* connect(peer), { tools: true, resourceUris: [note] })
      peer.hangUp()
      yield* settled
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.deepStrictEqual(uris(peer, "resources/subscribe"), [note, note])
      assert.deepStrictEqual(seen, ["tools", note])
    })
  )

  it.effect("U-62: a server that dies soon after each subscription is not chased faster than the schedule says", () =>
    Effect.gen(function* () {
      const peer = restartable(
        legacy((heard, me) => {
          subscribing(heard, me)
          if (heard.method === "resources/subscribe") queueMicrotask(() => me.hangUp())
        })
      )
      const relisten = Schedule.spaced("10 seconds").pipe(Schedule.upTo({ times: 3 }))
      const { fiber } = yield* watching(yield* connect(peer, { relisten }), { resourceUris: [note] })
      for (let second = 0; second < 60; second++) {
        yield* TestClock.adjust("1 second")
        yield* settled
      }
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Failure")
      assert.lengthOf(uris(peer, "resources/subscribe"), 4)
    })
  )

  it.effect("a subscription that gets no answer is asked for again", () =>
    Effect.gen(function* () {
      let silent = true
      const peer = Peer.make(
        legacy((heard, me) => {
          if (!silent) subscribing(heard, me)
        })
      )
      const { seen } = yield* watching(yield* connect(peer), { resourceUris: [note] })
      silent = false
      yield* TestClock.adjust("60 seconds")
      yield* settled
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.deepStrictEqual(uris(peer, "resources/subscribe"), [note, note])
      assert.deepStrictEqual(seen, [])
    })
  )
})

describe("a legacy server whose own stream is apart from its answers", () => {
  const answering: Peer.React = (heard, peer) => {
    if (heard.method?.startsWith("resources/") === true) peer.answer(heard, {})
  }

  /** A peer with such a stream; `stand` says how it stands. */
  const apart = (peer: Peer.Peer, first?: Standing) => {
    const told = new Set<(standing: Standing) => void>()
    let standing = first
    const transport = Transport.of({
      ...peer.transport,
      open: (hear) =>
        Effect.map(peer.transport.open(hear), (wire): Wire => ({
          ...wire,
          standing: (tell) => {
            told.add(tell)
            if (standing !== undefined) tell(standing)
            return () => void told.delete(tell)
          }
        }))
    })
    const stand = (now: Standing) => {
      standing = { ...now, missed: false }
      for (const tell of told) tell(now)
      return settled
    }
    return { transport, stand, listeners: () => told.size }
  }
  const filter: Filter = { tools: true, resourceUris: [note] }
  const open: Standing = { _tag: "Open", missed: false }
  const none: Standing = { _tag: "None", missed: false, because: "MCP: HTTP 405" }
  const unwatched = `not ${JSON.stringify(filter)}: the server has no stream to report it on: MCP: HTTP 405`

  it.effect("L-HTTP-9: is watched when its stream is open, and not before", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy(answering))
      const { stand, transport } = apart(peer)
      const { seen, watched } = yield* watching(yield* connect({ transport }), filter)
      assert.deepStrictEqual(watched, [])
      yield* stand(open)
      yield* TestClock.adjust("1 minute")
      yield* settled
      assert.deepStrictEqual([watched, seen], [[filter], []])
    })
  )

  it.effect("L-HTTP-9: a stream that opens late is not waited for, and everything may have changed until then", () =>
    Effect.gen(function* () {
      for (const [standing, then] of [
        [open, []],
        [none, [unwatched]]
      ] as const) {
        const { stand, transport } = apart(Peer.make(legacy(answering)))
        const { seen, watched } = yield* watching(yield* connect({ transport }), filter)
        yield* TestClock.adjust("1 second")
        yield* settled
        assert.deepStrictEqual([watched, seen], [[filter], []])
        yield* stand(standing)
        assert.deepStrictEqual(seen, ["tools", note, ...then])
      }
    })
  )

  it.effect("L-HTTP-21: what changes while its stream is down is told when it is open again", () =>
    Effect.gen(function* () {
      const { stand, transport } = apart(Peer.make(legacy(answering)), open)
      const { seen, watched } = yield* watching(yield* connect({ transport }), filter)
      yield* stand(open)
      assert.deepStrictEqual(seen, [])
      yield* stand({ _tag: "Open", missed: true })
      assert.deepStrictEqual([watched, seen], [[filter], ["tools", note]])
    })
  )

  it.effect("L-HTTP-10, T-HTTP-3: without a stream nothing is watched, which is told once; the connection stays", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy(Peer.on("tools/list", () => ({ tools: [] }), answering)))
      const { transport } = apart(peer, none)
      const client = yield* connect({ transport })
      const { fiber, seen, watched } = yield* watching(client, filter)
      yield* TestClock.adjust("1 hour")
      yield* settled
      assert.deepStrictEqual([watched, seen], [[], [unwatched]])
      assert.isUndefined(fiber.pollUnsafe())
      assert.deepStrictEqual(yield* client.listTools(), [])
      assert.strictEqual(client.state.value._tag, "Connected")
      // What it says all the same, with an answer, is told.
      peer.say({ method: "notifications/tools/list_changed" })
      yield* settled
      assert.deepStrictEqual(seen, [unwatched, "tools"])
    })
  )

  it.effect("L-HTTP-10: a stream that is given up is told after what was missed; no subscription is touched", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy(answering))
      const { listeners, stand, transport } = apart(peer, open)
      const client = yield* connect({ transport })
      const { seen } = yield* watching(client, filter)
      yield* stand({ ...none, missed: true })
      assert.deepStrictEqual(seen, ["tools", note, unwatched])
      const late = yield* watching(client, { prompts: true })
      assert.deepStrictEqual([late.watched, late.seen.length], [[], 1])
      assert.deepStrictEqual(uris(peer, "resources/subscribe"), [note])
      assert.deepStrictEqual(uris(peer, "resources/unsubscribe"), [])
      assert.strictEqual(listeners(), 1)
    })
  )

  it.effect("what a server refuses keeps its own reason", () =>
    Effect.gen(function* () {
      const { transport } = apart(Peer.make(legacy(answering, { tools: { listChanged: true } })), none)
      const { seen } = yield* watching(yield* connect({ transport }), { tools: true, prompts: true })
      assert.deepStrictEqual(
        new Set(seen),
        new Set([
          'not {"tools":true}: the server has no stream to report it on: MCP: HTTP 405',
          'not {"prompts":true}: the server does not announce that it does'
        ])
      )
    })
  )

  it.effect("a session that is replaced is listened to no more", () =>
    Effect.gen(function* () {
      const peer = restartable(legacy(answering))
      const { listeners, transport } = apart(peer, open)
      const { seen } = yield* watching(yield* connect({ transport }), { tools: true })
      peer.hangUp()
      yield* settled
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.deepStrictEqual(seen, ["tools"])
      assert.strictEqual(listeners(), 1)
    })
  )
})

describe("a slow reader of changes", () => {
  /** A reader that takes what waits only when the gate is open. */
  const slow = Effect.fnUntraced(function* (client: Client, filter: Filter) {
    const seen: Array<string> = []
    yield* client.changes(filter).pipe(
      Stream.filter(({ _tag }) => _tag !== "Watched"),
      Stream.rechunk(1),
      Stream.runForEach((change) =>
        Effect.andThen(
          Effect.sync(() => void seen.push(inShort(change))),
          Effect.sleep("1 second")
        )
      ),
      Effect.forkChild({ startImmediately: true })
    )
    yield* settled
    return seen
  })

  it.effect("misses no kind of change, and is told none twice while it waits", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy())
      const seen = yield* slow(yield* connect(peer), { tools: true, prompts: true })
      peer.say({ method: "notifications/tools/list_changed" })
      yield* settled
      for (let times = 0; times < 10_000; times++) {
        peer.say({ method: "notifications/tools/list_changed" })
        if (times === 5_000) peer.say({ method: "notifications/prompts/list_changed" })
      }
      yield* settled
      yield* TestClock.adjust("1 minute")
      yield* settled
      assert.deepStrictEqual(seen, ["tools", "tools", "prompts"])
    })
  )

  it.effect("gets the watched resource in place of its parts when more than MaxPendingChanges of them wait", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      const client = yield* connect(peer).pipe(Effect.provideService(Limits.MaxPendingChanges, 2))
      const seen = yield* slow(client, { resourceUris: ["file:///a"] })
      tell(peer, last(peer), "resources/updated", { uri: "file:///a" })
      yield* settled
      for (let part = 0; part < 100; part++) {
        tell(peer, last(peer), "resources/updated", { uri: `file:///a/${part}` })
      }
      yield* settled
      yield* TestClock.adjust("1 minute")
      yield* settled
      assert.deepStrictEqual(seen, ["file:///a", "file:///a/0", "file:///a/1", "file:///a"])
    })
  )
})

describe("watching as a whole", () => {
  it.effect("leaves nothing behind: a thousand streams come and go over one connection", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      const client = yield* connect(peer)
      const kept = yield* watching(client, { tools: true })
      for (let times = 0; times < 1_000; times++) {
        yield* client.changes({ tools: true }).pipe(Stream.runDrain, Effect.timeoutOption(0), Effect.forkChild)
      }
      yield* settled
      yield* TestClock.adjust(1)
      yield* settled
      assert.lengthOf(asked(peer), 1)
      tell(peer, last(peer), "tools/list_changed")
      yield* settled
      assert.deepStrictEqual(kept.seen, ["tools"])
    })
  )

  it.effect("an empty filter asks for nothing and says nothing", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(granting))
      const { seen } = yield* watching(yield* connect(peer), {})
      assert.lengthOf(asked(peer), 0)
      assert.deepStrictEqual(seen, [])
    })
  )

  it.effect("the limit of an acknowledgement is RequestTimeout of the connection", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern())
      const client = yield* connect(peer, { relisten: Schedule.recurs(0) }).pipe(
        Effect.provideService(Defaults.RequestTimeout, Duration.seconds(3))
      )
      const { fiber } = yield* watching(client, { tools: true })
      yield* TestClock.adjust("3 seconds")
      const result = yield* Fiber.join(fiber)
      assert.strictEqual(result._tag === "Failure" && result.failure.reason._tag, "RequestTimedOut")
    })
  )
})
