import { assert, describe, it } from "@effect/vitest"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import { Transport } from "@mcp-effect/transport/Transport"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as McpClient from "../src/McpClient.ts"
import * as ResultCache from "../src/ResultCache.ts"
import * as Peer from "./fixtures/peer.ts"

const settled = Effect.repeat(Effect.yieldNow, { times: 50 })

const named = (name: string) => ({ name, inputSchema: { type: "object" } })

interface Hints {
  readonly ttlMs?: number
  readonly cacheScope?: string
}

/** A server whose lists and resources carry these hints and count how often they were asked for. */
const serving = (hints: Hints, more: Peer.React = () => {}, options: Parameters<typeof Peer.make>[1] = {}) => {
  let asked = 0
  const each = (result: () => object) => () => ({ ...result(), ...hints })
  const react = Peer.on(
    "tools/list",
    each(() => ({ tools: [named(`tool-${++asked}`)] })),
    Peer.on(
      "resources/read",
      each(() => ({ contents: [{ uri: "x:a", text: `read ${++asked}` }] })),
      Peer.on(
        "resources/list",
        each(() => ({ resources: [{ uri: `x:${++asked}`, name: "r" }] })),
        Peer.on(
          "resources/templates/list",
          each(() => ({ resourceTemplates: [{ uriTemplate: `x:${++asked}`, name: "t" }] })),
          Peer.on(
            "prompts/list",
            each(() => ({ prompts: [{ name: `p${++asked}` }] })),
            more
          )
        )
      )
    )
  )
  return Peer.make(Peer.modern(react), options)
}

const count = (peer: Peer.Peer, method: string) => peer.methods().filter((each) => each === method).length
const names = (tools: ReadonlyArray<{ readonly name: string }>) => tools.map(({ name }) => name)
const fresh = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, ResultCache.layerInProcess())

const minute = { ttlMs: 60_000, cacheScope: "private" }
const open = { ttlMs: 60_000, cacheScope: "public" }

describe("what may be kept", () => {
  it.effect("M-CACHE-6, M-CACHE-7: a list is fresh for its ttlMs, then asked for again", () =>
    Effect.gen(function* () {
      const peer = serving(minute)
      const client = yield* McpClient.connect(peer.transport)
      assert.deepStrictEqual(names(yield* client.listTools()), ["tool-1"])
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(names(yield* client.listTools()), ["tool-1"])
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(names(yield* client.listTools()), ["tool-2"])
    }).pipe(fresh)
  )

  it.effect("M-CACHE-6: 0, absent, negative and unreadable ttlMs are stale at once", () =>
    Effect.gen(function* () {
      for (const ttlMs of [0, undefined, -5, "60000", null]) {
        const peer = serving(JSON.parse(JSON.stringify({ ttlMs })))
        const client = yield* McpClient.connect(peer.transport)
        yield* client.listTools()
        yield* client.listTools()
        assert.strictEqual(count(peer, "tools/list"), 2, String(ttlMs))
      }
    }).pipe(fresh)
  )

  it.effect("M-CACHE-20: an absurd ttlMs is capped by MaxAge", () =>
    Effect.gen(function* () {
      const peer = serving({ ttlMs: Number.MAX_SAFE_INTEGER, cacheScope: "private" })
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      yield* TestClock.adjust("59 minutes")
      yield* client.listTools()
      assert.strictEqual(count(peer, "tools/list"), 1)
      yield* TestClock.adjust("1 minutes")
      yield* client.listTools()
      assert.strictEqual(count(peer, "tools/list"), 2)
      yield* TestClock.adjust("2 seconds")
      yield* client.listPrompts().pipe(Effect.provideService(ResultCache.MaxAge, Duration.seconds(1)))
      yield* TestClock.adjust("2 seconds")
      yield* client.listPrompts()
      assert.strictEqual(count(peer, "prompts/list"), 2)
    }).pipe(fresh)
  )

  it.effect("T-37: calls, prompts and completions are never kept, whatever hints they carry", () =>
    Effect.gen(function* () {
      const peer = serving(
        minute,
        Peer.on(
          "tools/call",
          () => ({ content: [], ...minute }),
          Peer.on("prompts/get", () => ({ messages: [], ...minute }))
        )
      )
      const client = yield* McpClient.connect(peer.transport)
      for (let i = 0; i < 2; i++) {
        yield* client.callTool("a")
        yield* client.getPrompt("p")
      }
      assert.deepStrictEqual(peer.methods().slice(1), ["tools/call", "prompts/get", "tools/call", "prompts/get"])
    }).pipe(fresh)
  )

  it.effect("legacy results are never kept, also when a server gives hints", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy(Peer.on("tools/list", () => ({ tools: [], ...minute }))))
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      yield* client.listTools()
      assert.strictEqual(count(peer, "tools/list"), 2)
    }).pipe(fresh)
  )

  it.effect("M-CACHE-2, M-CACHE-5: neither questions nor what was given after them are kept", () =>
    Effect.gen(function* () {
      const question = {
        method: "elicitation/create",
        params: { message: "?", requestedSchema: { type: "object", properties: {} } }
      }
      const peer = Peer.make(
        Peer.modern(
          Peer.on("resources/read", ({ params }) =>
            params?.["inputResponses"] === undefined
              ? { resultType: "input_required", inputRequests: { q: question }, ...minute }
              : { contents: [], ...minute }
          )
        )
      )
      const client = yield* McpClient.connect(peer.transport, {
        handlers: { elicitation: { form: () => Effect.succeed({ action: "accept" }) } }
      })
      yield* client.readResource("x:a")
      yield* client.readResource("x:a")
      assert.strictEqual(count(peer, "resources/read"), 4)
    }).pipe(fresh)
  )

  it.effect("U-09: discover asks now; with cache use it may be answered by what was kept", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.on("server/discover", () => Peer.discovered(minute)))
      const client = yield* McpClient.connect(peer.transport)
      yield* client.discover()
      yield* client.discover()
      assert.strictEqual(count(peer, "server/discover"), 3)
      yield* client.discover({ cache: "use" })
      assert.strictEqual(count(peer, "server/discover"), 3)
    }).pipe(fresh)
  )
})

describe("the key of what is kept", () => {
  it.effect("M-CACHE-4: one resource does not answer for another, nor one method for another", () =>
    Effect.gen(function* () {
      const peer = serving(minute)
      const client = yield* McpClient.connect(peer.transport)
      yield* client.readResource("x:a")
      yield* client.readResource("x:b")
      yield* client.readResource("x:a")
      yield* client.listTools()
      yield* client.listPrompts()
      assert.strictEqual(count(peer, "resources/read"), 2)
      assert.strictEqual(count(peer, "prompts/list"), 1)
    }).pipe(fresh)
  )

  it.effect("M-CACHE-15: each page is an entry with a clock of its own", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        Peer.modern(
          Peer.on("tools/list", ({ params }) =>
            params?.["cursor"] === undefined
              ? { tools: [named("a")], nextCursor: "", ttlMs: 60_000 }
              : { tools: [named("b")], ttlMs: 10_000 }
          )
        )
      )
      const client = yield* McpClient.connect(peer.transport)
      assert.deepStrictEqual(names(yield* client.listTools()), ["a", "b"])
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(names(yield* client.listTools()), ["a", "b"])
      assert.deepStrictEqual(
        peer
          .heard()
          .slice(1)
          .map(({ params }) => params?.["cursor"]),
        [undefined, "", ""]
      )
    }).pipe(fresh)
  )

  it.effect("M-CACHE-16: a cursor that holds no more makes a list start again without what was kept", () =>
    Effect.gen(function* () {
      let age = 1
      const peer = Peer.make(
        Peer.modern((heard, peer) => {
          const cursor = heard.params?.["cursor"]
          if (cursor === undefined)
            return peer.answer(heard, { tools: [named("a")], nextCursor: `age ${age}`, ...minute })
          if (cursor !== `age ${age}`) return peer.refuse(heard, -32602, "invalid cursor")
          peer.answer(heard, { tools: [named(`b${age}`)], ttlMs: 0 })
        })
      )
      const client = yield* McpClient.connect(peer.transport)
      assert.deepStrictEqual(names(yield* client.listTools()), ["a", "b1"])
      age = 2
      assert.deepStrictEqual(names(yield* client.listTools()), ["a", "b2"])
      age = 3
      const error = yield* Effect.flip(Stream.runCollect(client.pages("tools/list")))
      assert.strictEqual(error.reason._tag, "ServerError")
      assert.strictEqual((yield* Stream.runCollect(client.pages("tools/list"))).length, 2)
    }).pipe(fresh)
  )

  it.effect("T-36: further keys of _meta ask the server", () =>
    Effect.gen(function* () {
      const peer = serving(minute)
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      yield* client.listTools({ meta: { "com.example/tenant": "b" } })
      assert.strictEqual(count(peer, "tools/list"), 2)
    }).pipe(fresh)
  )

  const at = "https://example.test/mcp"

  /** The same server over HTTP, as far as the cache can tell. */
  const remote = (peer: Peer.Peer, endpoint = at) => Transport.of({ ...peer.transport, kind: "http", endpoint })

  it.effect("M-CACHE-11: a private result is never shared by two connections, unless they name one partition", () =>
    Effect.gen(function* () {
      const [left, right] = [serving(minute), serving(minute)]
      const asked = () => [count(left, "tools/list"), count(right, "tools/list")]
      const one = yield* McpClient.connect(remote(left))
      const two = yield* McpClient.connect(remote(right))
      const mine = Effect.provideService(ResultCache.Partition, "alice")
      yield* one.listTools()
      yield* two.listTools()
      assert.deepStrictEqual(asked(), [1, 1])
      yield* one.listTools().pipe(mine)
      yield* two.listTools().pipe(mine)
      assert.deepStrictEqual(asked(), [2, 1])
      yield* two.listTools().pipe(Effect.provideService(ResultCache.Partition, "bob"))
      assert.deepStrictEqual(asked(), [2, 2])
    }).pipe(fresh)
  )

  it.effect("M-CACHE-12: a public result is shared by connections to one address, and by no other server", () =>
    Effect.gen(function* () {
      const peer = serving(open)
      yield* (yield* McpClient.connect(remote(peer))).listTools()
      yield* (yield* McpClient.connect(remote(peer))).listTools()
      assert.strictEqual(count(peer, "tools/list"), 1)
      yield* (yield* McpClient.connect(remote(peer, `${at}/other`))).listTools()
      assert.strictEqual(count(peer, "tools/list"), 2)
      // What has no address may be another server behind the same name.
      yield* (yield* McpClient.connect(peer.transport)).listTools()
      yield* (yield* McpClient.connect(peer.transport)).listTools()
      assert.strictEqual(count(peer, "tools/list"), 4)
    }).pipe(fresh)
  )

  it.effect(
    "M-CACHE-21: servers at addresses that are shown alike share nothing, for what is hidden tells them apart",
    () =>
      Effect.gen(function* () {
        for (const [left, right] of [
          ["?key=a", "?key=b"],
          ["?api_key=a", "?api_key=b"],
          ["?tenant=a&token=a", "?tenant=a&token=b"]
        ] as const) {
          const peer = serving(open)
          const connect = Effect.fnUntraced(function* (query: string) {
            const { endpoint, setting = "" } = yield* StreamableHttp.make({ url: `${at}${query}` })
            const client = yield* McpClient.connect(
              Transport.of({ ...peer.transport, kind: "http", endpoint, setting })
            )
            return names(yield* client.listTools())
          })
          const asked = [yield* connect(left), yield* connect(right), yield* connect(left)]
          assert.deepStrictEqual(asked, [["tool-1"], ["tool-2"], ["tool-1"]], left)
        }
      }).pipe(fresh, Effect.provide(FetchHttpClient.layer))
  )

  it.effect("M-CACHE-21: a client that declares something else has entries of its own", () =>
    Effect.gen(function* () {
      const peer = serving(open)
      yield* (yield* McpClient.connect(remote(peer))).listTools()
      const handlers = { roots: Effect.succeed([]) }
      yield* (yield* McpClient.connect(remote(peer), { handlers })).listTools()
      yield* (yield* McpClient.connect(remote(peer), { handlers })).listTools()
      assert.strictEqual(count(peer, "tools/list"), 2)
    }).pipe(fresh)
  )

  it.effect("T-38, M-CACHE-20: an unknown cacheScope counts as private", () =>
    Effect.gen(function* () {
      const peer = serving({ ttlMs: 60_000, cacheScope: "everyone" })
      yield* (yield* McpClient.connect(remote(peer))).listTools()
      yield* (yield* McpClient.connect(remote(peer))).listTools()
      assert.strictEqual(count(peer, "tools/list"), 2)
    }).pipe(fresh)
  )
})

describe("one request and the cache", () => {
  it.effect("with bypass nothing is taken and nothing kept; with refresh the new result is kept", () =>
    Effect.gen(function* () {
      const peer = serving(minute)
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      assert.deepStrictEqual(names(yield* client.listTools({ cache: "bypass" })), ["tool-2"])
      assert.deepStrictEqual(names(yield* client.listTools()), ["tool-1"])
      assert.deepStrictEqual(names(yield* client.listTools({ cache: "refresh" })), ["tool-3"])
      assert.deepStrictEqual(names(yield* client.listTools()), ["tool-3"])
    }).pipe(fresh)
  )

  it.effect("M-XH-20: the refresh of tools after -32020 asks the server, however fresh the list is", () =>
    Effect.gen(function* () {
      let refused = false
      const peer = serving(minute, (heard, peer) => {
        if (heard.method !== "tools/call") return
        if (refused) return peer.answer(heard, { content: [] })
        refused = true
        peer.refuse(heard, -32020, "header mismatch")
      })
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      yield* client.callTool("tool-1")
      assert.strictEqual(count(peer, "tools/list"), 2)
    }).pipe(fresh)
  )

  it.effect("a failure is not kept", () =>
    Effect.gen(function* () {
      let asked = 0
      const peer = Peer.make(
        Peer.modern((heard, peer) =>
          ++asked === 1 ? peer.refuse(heard, -32603) : peer.answer(heard, { tools: [], ...minute })
        )
      )
      const client = yield* McpClient.connect(peer.transport)
      yield* Effect.flip(client.listTools())
      assert.deepStrictEqual(yield* client.listTools(), [])
    }).pipe(fresh)
  )
})

describe("M-CACHE-13: a change ends what was kept before its time", () => {
  const lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] as const
  const changes = {
    "notifications/tools/list_changed": ["tools/list"],
    "notifications/prompts/list_changed": ["prompts/list"],
    "notifications/resources/list_changed": ["resources/list", "resources/templates/list"]
  }

  for (const [method, dropped] of Object.entries(changes)) {
    it.effect(`${method} ends ${dropped.join(" and ")} and nothing else`, () =>
      Effect.gen(function* () {
        const peer = serving(minute)
        const client = yield* McpClient.connect(peer.transport)
        const all = Effect.forEach(lists, (list) => Stream.runDrain(client.pages(list)))
        yield* all
        peer.say({ method })
        yield* settled
        yield* all
        assert.deepStrictEqual(
          lists.filter((list) => count(peer, list) === 2),
          dropped
        )
      }).pipe(fresh)
    )
  }

  it.effect("notifications/resources/updated ends the resource, and what it is a part of", () =>
    Effect.gen(function* () {
      const peer = serving(minute)
      const client = yield* McpClient.connect(peer.transport)
      const uris = ["file:///a/b/c", "file:///a/b", "file:///a/", "file:///a/bc", "file:///z"]
      const all = Effect.forEach(uris, (uri) => client.readResource(uri))
      yield* all
      peer.say({ method: "notifications/resources/updated", params: { uri: "file:///a/b/c" } })
      yield* settled
      yield* all
      const again = peer
        .heard()
        .slice(1 + uris.length)
        .map(({ params }) => params?.["uri"])
      assert.deepStrictEqual(again, uris.slice(0, 3))
    }).pipe(fresh)
  )

  it.effect("a result that was on its way when the change came is given, and not kept", () =>
    Effect.gen(function* () {
      let waiting: Peer.Heard | undefined
      const peer = Peer.make(
        Peer.modern((heard, peer) => {
          if (heard.method !== "tools/list") return peer.answer(heard, { prompts: [], ...minute })
          if (waiting !== undefined) return peer.answer(heard, { tools: [named("new")], ...minute })
          waiting = heard
        })
      )
      const client = yield* McpClient.connect(peer.transport)
      const listing = yield* Effect.forkChild(client.listTools(), { startImmediately: true })
      yield* settled
      peer.say({ method: "notifications/tools/list_changed" })
      yield* client.listPrompts()
      peer.answer(waiting ?? {}, { tools: [named("old")], ...minute })
      assert.deepStrictEqual(names(yield* Fiber.join(listing)), ["old"])
      assert.deepStrictEqual(names(yield* client.listTools()), ["new"])
    }).pipe(fresh)
  )

  it.effect("a storm of changes is bounded: past MaxPendingDrops the connection forgets all it kept", () =>
    Effect.gen(function* () {
      const peer = serving(minute)
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      for (let i = 0; i < 20; i++) peer.say({ method: "notifications/resources/updated", params: { uri: `x:${i}` } })
      yield* settled
      yield* client.listTools()
      yield* client.listTools()
      assert.strictEqual(count(peer, "tools/list"), 2)
    }).pipe(fresh, Effect.provideService(ResultCache.MaxPendingDrops, 10))
  )
})

describe("the store", () => {
  it.effect("drops the entry not used for longest, and whole groups", () =>
    Effect.gen(function* () {
      const store = ResultCache.inProcess({ entries: 2 })
      const key = (id: string, group = "g") => ({ group, id })
      const entry = { result: {}, storedAt: 0, freshUntil: 1 }
      yield* store.set(key("a"), entry)
      yield* store.set(key("b", "h"), entry)
      yield* store.get(key("a"))
      yield* store.set(key("c"), entry)
      assert.isUndefined(yield* store.get(key("b", "h")))
      assert.isDefined(yield* store.get(key("a")))
      yield* store.drop("g")
      assert.isUndefined(yield* store.get(key("a")))
      assert.isUndefined(yield* store.get(key("c")))
    })
  )

  it.effect("is bounded in size, and keeps nothing that would fill a quarter of it", () =>
    Effect.gen(function* () {
      const store = ResultCache.inProcess({ size: 1_000 })
      const entry = (length: number) => ({ result: { text: "x".repeat(length) }, storedAt: 0, freshUntil: 1 })
      const key = (id: string) => ({ group: "g", id })
      yield* store.set(key("big"), entry(300))
      assert.isUndefined(yield* store.get(key("big")))
      for (let i = 0; i < 10; i++) yield* store.set(key(`${i}`), entry(190))
      const kept = yield* Effect.forEach(
        Array.from({ length: 10 }, (_, i) => `${i}`),
        (id) => store.get(key(id))
      )
      assert.deepStrictEqual(kept.map((each) => each !== undefined).lastIndexOf(false), 4)
    })
  )

  it.effect("may be one of your own, keeping text: results are read again; what cannot be read is asked for", () =>
    Effect.gen(function* () {
      const kept = new Map<string, string>()
      const mine: ResultCache.ResultCache = {
        get: ({ id }) => Effect.sync(() => (kept.has(id) ? JSON.parse(kept.get(id) ?? "") : undefined)),
        set: ({ id }, entry) => Effect.sync(() => void kept.set(id, JSON.stringify(entry))),
        drop: () => Effect.void
      }
      const peer = serving(open)
      const client = yield* McpClient.connect(peer.transport).pipe(Effect.provideService(ResultCache.ResultCache, mine))
      yield* client.listTools()
      assert.deepStrictEqual(names(yield* client.listTools()), ["tool-1"])
      for (const id of kept.keys()) kept.set(id, '{"result":{"resultType":"?"},"storedAt":0,"freshUntil":9e15}')
      assert.deepStrictEqual(names(yield* client.listTools()), ["tool-2"])
    })
  )

  it.effect("that keeps nothing makes every request ask", () =>
    Effect.gen(function* () {
      const peer = serving(minute)
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      yield* client.listTools()
      assert.strictEqual(count(peer, "tools/list"), 2)
    }).pipe(Effect.provide(ResultCache.layerNone))
  )

  it.effect("M-CACHE-20: a clock that was set back makes what is kept stale", () =>
    Effect.gen(function* () {
      const peer = serving(minute)
      yield* TestClock.setTime(1_000_000)
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      yield* TestClock.setTime(10_000)
      yield* client.listTools()
      assert.strictEqual(count(peer, "tools/list"), 2)
    }).pipe(fresh)
  )
})
