import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { TestClock } from "effect/testing"
import { Change } from "../src/Change.ts"
import type * as McpClient from "../src/McpClient.ts"
import {
  asked,
  cancelled,
  connect,
  grant,
  granting,
  last,
  legacy,
  modern,
  restartable,
  settled,
  tell
} from "./fixtures/announcer.ts"
import * as HttpServer from "./fixtures/httpServer.ts"
import * as Peer from "./fixtures/peer.ts"

const tool = (name: string) => ({ name, inputSchema: { type: "object" } })
const complete = { resultType: "complete" }

/** Answers every list with one item that is named after how often it was fetched. */
const counting = (rest: Peer.React = granting): Peer.React => {
  const times = new Map<string, number>()
  return (heard, peer) => {
    const { method } = heard
    if (method?.endsWith("/list") !== true) return rest(heard, peer)
    const count = (times.get(method) ?? 0) + 1
    times.set(method, count)
    const name = `${method} ${count}`
    peer.answer(heard, {
      ...complete,
      tools: [tool(name)],
      prompts: [{ name }],
      resources: [{ name, uri: `note://${count}` }],
      resourceTemplates: [{ name, uriTemplate: `note://${count}/{part}` }]
    })
  }
}

const fetches = (peer: Peer.Peer, method = "tools/list") => asked(peer, method).length
const namesIn = (live: { readonly value: { readonly items: ReadonlyArray<{ readonly name: string }> } }) =>
  live.value.items.map(({ name }) => name)
const afterDebounce = Effect.andThen(TestClock.adjust("100 millis"), settled)

const eras: ReadonlyArray<
  readonly [era: string, peer: () => Peer.Peer, changed: (peer: Peer.Peer, what: string) => void]
> = [
  ["modern", () => Peer.make(modern(counting())), (peer, what) => tell(peer, last(peer), `${what}/list_changed`)],
  [
    "legacy",
    () => Peer.make(legacy(counting())),
    (peer, what) => peer.say({ method: `notifications/${what}/list_changed` })
  ]
]

for (const [era, make, changed] of eras) {
  describe(`a live list of a ${era} server`, () => {
    it.effect("U-60: has its first value at once, and the next after a change", () =>
      Effect.gen(function* () {
        const peer = make()
        const client = yield* connect(peer)
        const tools = yield* client.live("tools/list")
        assert.deepStrictEqual(tools.value, { items: [tool("tools/list 1")], trouble: undefined })
        const seen = yield* SubscriptionRef.changes(tools).pipe(
          Stream.take(2),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true })
        )
        changed(peer, "tools")
        yield* settled
        yield* afterDebounce
        const names = (yield* Fiber.join(seen)).map(({ items }) => items[0]?.name)
        assert.deepStrictEqual(names, ["tools/list 1", "tools/list 2"])
      })
    )

    it.effect("follows prompts, resources and templates too, each for its own change", () =>
      Effect.gen(function* () {
        const peer = make()
        const client = yield* connect(peer)
        const prompts = yield* client.live("prompts/list")
        const resources = yield* client.live("resources/list")
        const templates = yield* client.live("resources/templates/list")
        changed(peer, "resources")
        yield* settled
        yield* afterDebounce
        assert.deepStrictEqual(
          [namesIn(prompts), namesIn(resources), namesIn(templates)],
          [["prompts/list 1"], ["resources/list 2"], ["resources/templates/list 2"]]
        )
      })
    )

    it.effect("T-LIST-4: 200 changes in a row cost one fetch", () =>
      Effect.gen(function* () {
        const peer = make()
        const tools = yield* (yield* connect(peer)).live("tools/list")
        for (let times = 0; times < 200; times++) {
          changed(peer, "tools")
          if (times % 20 === 0) yield* TestClock.adjust(1)
        }
        yield* settled
        yield* afterDebounce
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(fetches(peer), 2)
        assert.deepStrictEqual(namesIn(tools), ["tools/list 2"])
      })
    )
  })
}

describe("a live list", () => {
  it.effect("T-LIST-4: changes during a fetch cost one more; there is never more than one at a time", () =>
    Effect.gen(function* () {
      const held: Array<Peer.Heard> = []
      let hold = false
      const counted = counting()
      const peer = Peer.make(
        modern((heard, me) => (hold && heard.method === "tools/list" ? void held.push(heard) : counted(heard, me)))
      )
      const tools = yield* (yield* connect(peer)).live("tools/list")
      hold = true
      for (let storm = 0; storm < 5; storm++) {
        tell(peer, last(peer), "tools/list_changed")
        yield* settled
        yield* afterDebounce
      }
      assert.lengthOf(held, 1)
      peer.answer(held[0]!, { ...complete, tools: [tool("held")] })
      yield* settled
      assert.deepStrictEqual(namesIn(tools), ["held"])
      hold = false
      yield* afterDebounce
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(fetches(peer), 3)
      assert.deepStrictEqual(namesIn(tools), ["tools/list 2"])
    })
  )

  it.effect("a fetch that fails keeps the items and says so; the next that succeeds takes the trouble away", () =>
    Effect.gen(function* () {
      let broken = false
      const counted = counting()
      const peer = Peer.make(
        modern((heard, me) =>
          broken && heard.method === "tools/list" ? me.refuse(heard, -32603, "broken") : counted(heard, me)
        )
      )
      const tools = yield* (yield* connect(peer)).live("tools/list")
      const change = Effect.gen(function* () {
        tell(peer, last(peer), "tools/list_changed")
        yield* settled
        yield* afterDebounce
      })
      broken = true
      yield* change
      assert.deepStrictEqual(namesIn(tools), ["tools/list 1"])
      assert.strictEqual(tools.value.trouble?.reason._tag, "ServerError")
      broken = false
      yield* change
      assert.deepStrictEqual(namesIn(tools), ["tools/list 2"])
      assert.isUndefined(tools.value.trouble)
    })
  )

  it.effect("fails when the first fetch fails, and leaves nothing watched", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        modern((heard, me) =>
          heard.method === "tools/list" ? me.refuse(heard, -32603, "broken") : granting(heard, me)
        )
      )
      const client = yield* connect(peer)
      const error = yield* Effect.flip(Effect.scoped(client.live("tools/list")))
      yield* settled
      assert.strictEqual(error.reason._tag, "ServerError")
      assert.deepStrictEqual(cancelled(peer), [last(peer)])
    })
  )

  it.effect("is first fetched when the server has confirmed that it reports, so that no change falls in between", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(counting(() => {})))
      const client = yield* connect(peer)
      const live = yield* Effect.forkChild(client.live("tools/list"))
      yield* settled
      assert.strictEqual(fetches(peer), 0)
      grant(peer, asked(peer)[0]!)
      yield* settled
      assert.deepStrictEqual(namesIn(yield* Fiber.join(live)), ["tools/list 1"])
      assert.strictEqual(fetches(peer), 1)
    })
  )

  it.effect("M-SUB-9: does not wait longer than WatchPatience for that, and fetches again when it comes late", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(counting(() => {})))
      const client = yield* connect(peer)
      const scope = yield* Effect.scope
      const live = yield* client.live("tools/list").pipe(Scope.provide(scope), Effect.forkChild)
      yield* settled
      yield* TestClock.adjust("5 seconds")
      const tools = yield* Fiber.join(live)
      assert.deepStrictEqual(namesIn(tools), ["tools/list 1"])
      grant(peer, asked(peer)[0]!)
      yield* settled
      yield* afterDebounce
      assert.deepStrictEqual(namesIn(tools), ["tools/list 2"])
    })
  )

  it.effect("T-LIST-6, M-CACHE-8: of a server that does not report is fetched once and not polled", () =>
    Effect.gen(function* () {
      const refusing: Peer.React = (heard, peer) => {
        if (heard.method === "subscriptions/listen") peer.refuse(heard, -32601)
      }
      const peer = Peer.make(modern(counting(refusing)))
      const tools = yield* (yield* connect(peer)).live("tools/list")
      yield* TestClock.adjust("1 hour")
      yield* settled
      assert.strictEqual(fetches(peer), 1)
      assert.isUndefined(tools.value.trouble)
    })
  )

  it.effect("M-SUB-22: is fetched again after a new session", () =>
    Effect.gen(function* () {
      const peer = restartable(modern(counting()))
      const tools = yield* (yield* connect(peer)).live("tools/list")
      peer.hangUp()
      yield* settled
      yield* TestClock.adjust("1 second")
      yield* settled
      yield* afterDebounce
      assert.deepStrictEqual(namesIn(tools), ["tools/list 2"])
    })
  )

  it.effect("M-SUB-22: is fetched again after WatchPatience when the new session does not say that it reports", () =>
    Effect.gen(function* () {
      let silent = false
      const peer = restartable(
        modern(
          counting((heard, me) => {
            if (!silent) granting(heard, me)
          })
        )
      )
      const tools = yield* (yield* connect(peer)).live("tools/list")
      silent = true
      peer.hangUp()
      yield* settled
      yield* TestClock.adjust("5 seconds")
      yield* settled
      yield* afterDebounce
      assert.deepStrictEqual(namesIn(tools), ["tools/list 2"])
      yield* TestClock.adjust("30 seconds")
      yield* settled
      assert.strictEqual(fetches(peer), 2)
      assert.isUndefined(tools.value.trouble)
    })
  )

  it.effect("shares the subscription with the others, and gives it up with its scope", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(counting()))
      const client = yield* connect(peer)
      const scope = yield* Scope.make()
      yield* client.live("resources/list").pipe(Scope.provide(scope))
      yield* client.live("resources/templates/list").pipe(Scope.provide(scope))
      assert.lengthOf(asked(peer), 1)
      yield* Scope.close(scope, Exit.void)
      yield* settled
      assert.deepStrictEqual(cancelled(peer), [last(peer)])
    })
  )

  it.effect("says so when nothing can be heard any more, and goes on when the connection is back", () =>
    Effect.gen(function* () {
      const counted = counting()
      let down = false
      const peer = restartable(legacy((heard, me) => (down ? me.hangUp() : counted(heard, me))))
      const client: McpClient.McpClient["Service"] = yield* connect(peer, { mode: "legacy" })
      const tools = yield* client.live("tools/list")
      assert.isUndefined(tools.value.trouble)
      down = true
      tell(peer, undefined, "tools/list_changed")
      yield* settled
      yield* afterDebounce
      yield* settled
      assert.deepStrictEqual(namesIn(tools), ["tools/list 1"])
      assert.isDefined(tools.value.trouble)
      down = false
      for (let second = 0; second < 5; second++) {
        yield* TestClock.adjust("1 second")
        yield* settled
      }
      assert.deepStrictEqual(namesIn(tools), ["tools/list 2"])
      assert.isUndefined(tools.value.trouble)
    })
  )
})

describe("a list that never rests", () => {
  it.effect("T-LIST-4: a server that reports a change after every fetch is asked ever more rarely", () =>
    Effect.gen(function* () {
      const answer = counting()
      const peer: Peer.Peer = Peer.make(
        modern((heard, me) => {
          answer(heard, me)
          if (heard.method === "tools/list") tell(me, last(peer), "tools/list_changed")
        })
      )
      const client = yield* connect(peer)
      yield* client.live("tools/list")
      yield* Effect.repeat(Effect.andThen(TestClock.adjust("100 millis"), settled), { times: 300 })
      assert.isAbove(fetches(peer), 8)
      assert.isBelow(fetches(peer), 25)
    })
  )
})

describe("a live list over HTTP", () => {
  it.live("L-HTTP-16, T-HTTP-1: follows a server that was restarted, though nobody asks it anything", () =>
    Effect.gen(function* () {
      const server = yield* HttpServer.serve
      const client = yield* HttpServer.connectTo(server)
      const tools = yield* client.live("tools/list")
      yield* HttpServer.until(() => server.open() === 1)
      server.tool = "two"
      server.restart()
      yield* HttpServer.until(() => tools.value.items[0]?.name === "two" && server.open() === 1)
      assert.strictEqual(client.state.value._tag, "Connected")
      assert.deepStrictEqual(
        server.asked.filter((method) => method === "initialize"),
        ["initialize", "initialize"]
      )
    })
  )

  it.live.each(["end", "destroy"] as const)(
    "L-HTTP-21: learns what changed while the server's stream was down (%s), when it cannot say it again",
    (how) =>
      Effect.gen(function* () {
        const server = yield* HttpServer.serve
        const tools = yield* (yield* HttpServer.connectTo(server)).live("tools/list")
        assert.strictEqual(server.open(), 1)
        server.tool = "two"
        server.cut(how)
        yield* HttpServer.until(() => tools.value.items[0]?.name === "two")
        assert.deepStrictEqual(
          server.asked.filter((what) => what === "GET" || what === "initialize"),
          ["initialize", "GET", "GET"]
        )
      })
  )

  it.live(
    "L-HTTP-10, T-HTTP-3: of a server without a stream is fetched once, and the client is as good as before",
    () =>
      Effect.gen(function* () {
        for (const status of [405, 404, 400]) {
          const server = yield* HttpServer.serve
          server.stream = status
          const client = yield* HttpServer.connectTo(server)
          const tools = yield* client.live("tools/list")
          const changes = yield* client.changes({ tools: true }).pipe(Stream.take(1), Stream.runCollect)
          assert.deepStrictEqual(changes, [
            Change.Unwatched({
              filter: { tools: true },
              because: `the server has no stream to report it on: MCP: HTTP ${status}`
            })
          ])
          assert.deepStrictEqual([namesIn(tools), tools.value.trouble], [["one"], undefined])
          assert.lengthOf(yield* client.listTools(), 1)
          assert.deepStrictEqual(
            server.asked.filter((what) => what === "GET" || what === "initialize"),
            ["initialize", "GET"]
          )
        }
      })
  )

  it.live("T-HTTP-1: a call that is being answered goes on when the stream tells that the session is gone", () =>
    Effect.gen(function* () {
      const server = yield* HttpServer.serve
      const client = yield* HttpServer.connectTo(server)
      const call = yield* Effect.forkChild(client.callTool("slow"))
      yield* HttpServer.until(() => server.calls.length === 1 && server.open() === 1)
      server.restart()
      yield* HttpServer.until(() => server.asked.filter((what) => what === "GET").length === 2)
      yield* settled
      server.calls[0]?.()
      assert.deepStrictEqual((yield* Fiber.join(call)).content, [])
      assert.lengthOf(server.calls, 1)
    })
  )
})
