import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import { TestClock } from "effect/testing"
import type { Agreement } from "../src/Agreement.ts"
import * as EraMemory from "../src/EraMemory.ts"
import * as Mode from "../src/Mode.ts"
import type { NegotiationError } from "../src/NegotiationError.ts"
import * as Negotiator from "../src/Negotiator.ts"
import * as Remembering from "../src/Remembering.ts"
import { httpStatus, Signal } from "../src/Signal.ts"
import type * as Terms from "../src/Terms.ts"
import type { Verdict } from "../src/Verdict.ts"
import {
  answered,
  discovered,
  exited,
  failed,
  http,
  initialized,
  malformed,
  newer,
  newestLegacy,
  pipe,
  terms,
  unreachable,
  unsupported
} from "./heard.ts"

interface Server {
  discover: Signal
  initialize: Signal
  open: Signal | undefined
  late?: ReturnType<typeof discovered>
}
const modernServer = (): Server => ({
  discover: answered(discovered([newer])),
  initialize: unsupported(newer),
  open: httpStatus(405)
})
const legacyServer = (discover: Signal = unsupported("2025-06-18")): Server => ({
  discover,
  initialize: answered(initialized("2025-06-18")),
  open: undefined
})

/** Connects to a server that may be replaced between two connections, and counts what it was asked. */
const connecting = (server: Server, options: Partial<Remembering.Options> = {}) => {
  const asked: Array<string> = []
  const asking = (what: string, signal: () => Signal) =>
    Effect.map(
      Effect.delay(
        Effect.sync(() => asked.push(what)),
        "10 millis"
      ),
      signal
    )
  const connect: Effect.Effect<Agreement, NegotiationError> = Remembering.negotiate({
    terms: pipe,
    endpoint: "x",
    key: "x",
    ...options
  }).pipe(
    Effect.provideService(Negotiator.Port, {
      discover: () => asking("discover", () => server.discover),
      initialize: () =>
        Effect.map(
          asking("initialize", () => server.initialize),
          (signal) => ({ signal, late: server.late })
        ),
      open: (how) => Effect.sync(() => (asked.push(how), server.open))
    })
  )
  const now = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(effect)
      yield* TestClock.adjust("1 second")
      return yield* Fiber.join(fiber)
    })
  return { asked, connect, connected: now(connect), refused: now(Effect.flip(connect)), since: () => asked.splice(0) }
}

const fresh = Effect.provide(EraMemory.layerInProcess)
const remembered = (key = "x"): Effect.Effect<Verdict | undefined> =>
  Effect.flatMap(EraMemory.EraMemory, (memory) => memory.recall(key))

describe("the memory of eras", () => {
  it.effect("U-06 a modern server is asked once, and never again", () =>
    Effect.gen(function* () {
      const { connected, since } = connecting(modernServer())
      assert.strictEqual((yield* connected).roundTrips, 1)
      since()
      yield* TestClock.adjust("400 days")
      const again = yield* connected
      assert.deepInclude(again, { era: "modern", version: newer, roundTrips: 0 })
      assert.strictEqual(again.identity?.name, "scripted")
      assert.deepEqual(since(), [])
    }).pipe(fresh)
  )

  for (const [rule, discover, hours] of [
    ["P8", unsupported("2025-06-18"), 24],
    ["P2", answered(discovered(["2025-06-18"])), 24],
    ["P13", failed(-32601), 1],
    ["P16", Signal.Silent(), 1]
  ] as const)
    it.effect(`U-06 a legacy server found by ${rule} is not asked for ${hours} h`, () =>
      Effect.gen(function* () {
        const { connected, since } = connecting(legacyServer(discover))
        yield* connected
        assert.deepEqual(since(), ["discover", "initialize"])
        yield* TestClock.adjust(`${hours * 60 - 1} minutes`)
        assert.strictEqual((yield* connected).rule, rule)
        assert.deepEqual(since(), ["initialize"])
        yield* TestClock.adjust("1 minute")
        yield* connected
        assert.deepEqual(since(), ["discover", "initialize"])
      }).pipe(fresh)
    )

  it.effect("U-06 P17 H6 an exit and a step to HTTP+SSE are remembered too", () =>
    Effect.gen(function* () {
      const dying = connecting(legacyServer(exited()))
      yield* dying.connected
      yield* dying.connected
      assert.deepEqual(dying.since(), ["discover", "again", "initialize", "initialize"])
      const server = { ...legacyServer(httpStatus(404)), initialize: httpStatus(404) }
      const older = connecting(server, { terms: http, key: "sse" })
      const first = Effect.flatMap(EraMemory.EraMemory, (memory) =>
        memory.remember("sse", {
          era: "legacy",
          offer: newestLegacy,
          transport: "httpSse",
          rule: "P21",
          strength: "conventional",
          at: 0
        })
      )
      yield* first
      server.initialize = answered(initialized("2024-11-05"))
      assert.strictEqual((yield* older.connected).channel, "httpSse")
      assert.deepEqual(older.since(), ["httpSse", "initialize"])
    }).pipe(fresh)
  )

  for (const [rule, signal, on] of [
    ["P10", failed(-32022), pipe],
    ["P11", failed(-32021), pipe],
    ["P12", failed(-32050), pipe],
    ["P14", failed(-32603), pipe],
    ["P22", httpStatus(415), terms("http", { legacyStatuses: "spec" })]
  ] as const)
    it.effect(`${rule} a verdict on weak evidence is not remembered`, () =>
      Effect.gen(function* () {
        yield* connecting(legacyServer(signal), { terms: on }).connected
        assert.isUndefined(yield* remembered())
      }).pipe(fresh)
    )

  it.effect("section 4: a verdict that a late answer contradicts is not remembered", () =>
    Effect.gen(function* () {
      yield* connecting({ ...legacyServer(Signal.Silent()), late: discovered([newer]) }).connected
      assert.isUndefined(yield* remembered())
    }).pipe(fresh)
  )

  it.effect("no failure is remembered, and no mode that says what it wants", () =>
    Effect.gen(function* () {
      for (const signal of [httpStatus(401), httpStatus(503), malformed(), unreachable, Signal.Silent()])
        yield* connecting(legacyServer(signal), { terms: http }).refused
      yield* connecting({ ...legacyServer(), initialize: exited() }).refused
      for (const mode of ["legacy", Mode.pin(newer), Mode.autoFrom(discovered([newer]))] as const)
        yield* connecting(legacyServer(), { mode }).connected
      assert.isUndefined(yield* remembered())
    }).pipe(fresh)
  )

  for (const [what, mode] of [
    ["by name", "auto"],
    ["as a value", Mode.auto],
    ["from a prior that is null", Mode.autoFrom(null)]
  ] as const)
    it.effect(`U-06 mode auto, written ${what}, remembers`, () =>
      Effect.gen(function* () {
        const { connected, since } = connecting(modernServer(), { mode })
        yield* connected
        assert.deepEqual(since(), ["discover"])
        yield* connected
        assert.deepEqual(since(), [])
      }).pipe(fresh)
    )

  it.effect("H6 a remembered server that now speaks HTTP+SSE alone is remembered so, and keeps its date", () =>
    Effect.gen(function* () {
      const server = { ...legacyServer(httpStatus(404)) }
      const { connected, since } = connecting(server, { terms: http })
      yield* connected
      const saved = yield* remembered()
      assert.isTrue(saved?.era === "legacy" && saved.transport === "own")
      Object.assign(server, { initialize: httpStatus(404), open: Signal.Opened() })
      const moving = connecting(server, { terms: http })
      const { asked } = moving
      const opened = Effect.sync(() => {
        if (asked.includes("httpSse")) server.initialize = answered(initialized("2025-06-18"))
      })
      const fiber = yield* Effect.forkChild(moving.connect)
      for (let step = 0; step < 20; step++) yield* Effect.andThen(TestClock.adjust("5 millis"), opened)
      assert.strictEqual((yield* Fiber.join(fiber)).channel, "httpSse")
      assert.deepEqual<unknown>(yield* remembered(), { ...saved, transport: "httpSse" })
      assert.deepEqual(since(), ["discover", "initialize"])
    }).pipe(fresh)
  )

  it.effect("a verdict that was confirmed is not written again", () =>
    Effect.gen(function* () {
      const written: Array<string> = []
      const memory = yield* EraMemory.EraMemory
      const watching = EraMemory.EraMemory.of({
        ...memory,
        remember: (key, verdict) =>
          Effect.andThen(
            Effect.sync(() => written.push(key)),
            memory.remember(key, verdict)
          )
      })
      const { connected } = connecting(legacyServer())
      yield* Effect.provideService(Effect.andThen(connected, connected), EraMemory.EraMemory, watching)
      assert.deepEqual(written, ["x"])
    }).pipe(fresh)
  )

  it.effect("T-NEG-9 a legacy verdict that meets a modern server is replaced within the same connect", () =>
    Effect.gen(function* () {
      const server = legacyServer()
      const { connected, since } = connecting(server)
      yield* connected
      since()
      Object.assign(server, modernServer())
      assert.strictEqual((yield* connected).era, "modern")
      assert.deepEqual(since(), ["initialize", "discover"])
      assert.strictEqual((yield* remembered())?.era, "modern")
    }).pipe(fresh)
  )

  it.effect("section 4: a legacy verdict that a late answer contradicts is forgotten, and the next connect asks", () =>
    Effect.gen(function* () {
      const server = legacyServer()
      const { connected, since } = connecting(server)
      yield* connected
      assert.isDefined(yield* remembered())
      server.late = discovered([newer])
      assert.strictEqual((yield* connected).era, "legacy")
      assert.isUndefined(yield* remembered())
      delete server.late
      since()
      yield* connected
      assert.deepEqual(since(), ["discover", "initialize"])
    }).pipe(fresh)
  )

  it.effect("T-NEG-9 a legacy verdict whose handshake fails is forgotten, and the next connect asks", () =>
    Effect.gen(function* () {
      const server = legacyServer()
      const { connected, refused, since } = connecting(server)
      for (const initialize of [failed(-32601), Signal.Silent(), exited(), answered(initialized("1999-01-01"))]) {
        yield* connected
        server.initialize = initialize
        const error = yield* refused
        assert.deepInclude(error, { remembered: true, isRetryable: true })
        assert.isUndefined(yield* remembered())
        Object.assign(server, legacyServer())
        since()
      }
      yield* connected
      assert.deepEqual(since(), ["discover", "initialize"])
    }).pipe(fresh)
  )

  it.effect("an outage or a refusal leaves the verdict alone", () =>
    Effect.gen(function* () {
      const server = legacyServer(httpStatus(404))
      const { connected, refused } = connecting(server, { terms: http })
      yield* connected
      for (const initialize of [httpStatus(503), httpStatus(401), unreachable, malformed()]) {
        server.initialize = initialize
        assert.isFalse((yield* refused).remembered)
        assert.isDefined(yield* remembered())
      }
    }).pipe(fresh)
  )

  it.effect("a verdict confirmed every day still grows old", () =>
    Effect.gen(function* () {
      const { connected, since } = connecting(legacyServer())
      yield* connected
      yield* TestClock.adjust("23 hours")
      yield* connected
      since()
      yield* TestClock.adjust("1 hour")
      yield* connected
      assert.deepEqual(since(), ["discover", "initialize"])
    }).pipe(fresh)
  )

  it.effect("a verdict of no use under other terms is passed over", () =>
    Effect.gen(function* () {
      yield* connecting({ ...modernServer(), discover: answered(discovered(["2026-07-28"])) }).connected
      const { connected, since } = connecting(modernServer(), { terms: terms("stdio", { modern: [newer] }) })
      assert.strictEqual((yield* connected).version, newer)
      assert.deepEqual(since(), ["discover"])
    }).pipe(fresh)
  )
})

describe("first connects to one endpoint", () => {
  const ten = (connect: Effect.Effect<Agreement, NegotiationError>) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 10 }, () => Effect.result(connect)),
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust("2 minutes")
      return yield* Fiber.join(fiber)
    })

  it.effect("U-06 share one negotiation", () =>
    Effect.gen(function* () {
      const modern = connecting(modernServer())
      yield* ten(modern.connect)
      assert.deepEqual(modern.since(), ["discover"])
      const legacy = connecting(legacyServer(), { key: "legacy" })
      yield* ten(legacy.connect)
      assert.deepEqual(legacy.since(), ["discover", ...Array.from({ length: 10 }, () => "initialize")])
    }).pipe(fresh)
  )

  it.effect("run side by side when the first one fails, and each within its own deadline", () =>
    Effect.gen(function* () {
      const server = modernServer()
      server.discover = httpStatus(503)
      const { connect, since } = connecting(server, { terms: http })
      const results = yield* ten(connect)
      assert.isTrue(results.every(({ _tag }) => _tag === "Failure"))
      assert.lengthOf(since(), 10)
      const waiting = Remembering.negotiate({ terms: pipe, endpoint: "x", key: "hangs" }).pipe(
        Effect.provideService(Negotiator.Port, {
          discover: () => Effect.never,
          initialize: () => Effect.never,
          open: () => Effect.never
        }),
        Effect.flip
      )
      const first = yield* Effect.forkChild(waiting)
      yield* TestClock.adjust("20 seconds")
      const second = yield* Effect.forkChild(waiting)
      yield* TestClock.adjust("40 seconds")
      yield* Fiber.join(first)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* Fiber.join(second)).reason._tag, "ProbeTimeout")
      assert.strictEqual(yield* Clock.currentTimeMillis, 200_000)
    }).pipe(fresh)
  )

  it.effect("go on when the first one is interrupted", () =>
    Effect.gen(function* () {
      const { connect, since } = connecting(modernServer())
      const first = yield* Effect.forkChild(connect, { startImmediately: true })
      const second = yield* Effect.forkChild(connect, { startImmediately: true })
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(second)).era, "modern")
      assert.deepEqual(since(), ["discover"])
    }).pipe(fresh)
  )
})

describe("a memory that outlives the program", () => {
  const program = <A, E, R>(body: Effect.Effect<A, E, R>) =>
    Effect.provide(body, Layer.fresh(EraMemory.layerKeyValueStore), { local: true })

  it.effect("U-06 keeps modern verdicts and legacy ones on proof, and no others", () =>
    Effect.gen(function* () {
      const proof = connecting(legacyServer(), { key: "proof" })
      const custom = connecting(legacyServer(failed(-32601)), { key: "custom" })
      const modern = connecting(modernServer(), { key: "modern" })
      const all = Effect.all([proof.connected, custom.connected, modern.connected])
      yield* program(Effect.andThen(all, all))
      for (const { since } of [proof, custom, modern]) since()
      yield* program(all)
      assert.deepEqual(proof.since(), ["initialize"])
      assert.deepEqual(custom.since(), ["discover", "initialize"])
      assert.deepEqual(modern.since(), [])
    }).pipe(Effect.provide(KeyValueStore.layerMemory))
  )

  it.effect("a conventional verdict takes the place of an older proof", () =>
    Effect.gen(function* () {
      const server = legacyServer()
      const { connected, since } = connecting(server)
      yield* program(
        Effect.gen(function* () {
          yield* connected
          yield* TestClock.adjust("24 hours")
          server.discover = failed(-32601)
          yield* connected
        })
      )
      const store = yield* KeyValueStore.KeyValueStore
      assert.strictEqual(yield* store.size, 0)
      assert.lengthOf(since(), 4)
    }).pipe(Effect.provide(KeyValueStore.layerMemory))
  )

  it.effect("counts what it cannot read as none", () =>
    Effect.gen(function* () {
      const store = yield* KeyValueStore.KeyValueStore
      for (const text of ["", "{", "null", "[]", '{"era":"modern"}', '{"__proto__":{"era":"legacy"}}']) {
        yield* store.set("mcp-effect/era/x", text)
        const { connected, since } = connecting(modernServer())
        yield* program(connected)
        assert.deepEqual(since(), ["discover"], text)
      }
    }).pipe(Effect.provide(KeyValueStore.layerMemory))
  )

  it.effect("a store that fails is reported, and fails no connection", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const broken = new KeyValueStore.KeyValueStoreError({ method: "get", message: "disk full" })
      const store = KeyValueStore.makeStringOnly({
        get: () => Effect.fail(broken),
        set: () => Effect.fail(broken),
        remove: () => Effect.fail(broken),
        clear: Effect.fail(broken),
        clearPrefix: () => Effect.fail(broken),
        keys: Effect.fail(broken),
        size: Effect.fail(broken)
      })
      yield* program(connecting(modernServer()).connected).pipe(
        Effect.provideService(KeyValueStore.KeyValueStore, store),
        Effect.provide(Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))]))
      )
      assert.isAtLeast(lines.length, 2)
      assert.include(lines[0], "disk full")
    })
  )

  it.effect("a memory that forgets at once asks every time", () =>
    Effect.gen(function* () {
      const { connected, since } = connecting(modernServer())
      yield* connected
      yield* connected
      assert.deepEqual(since(), ["discover", "discover"])
    }).pipe(Effect.provide(EraMemory.layerNone))
  )

  it.effect("holds 1,000 endpoints in the program, and drops the one not used for longest", () =>
    Effect.gen(function* () {
      const store = EraMemory.inProcess()
      const verdict: Verdict = { era: "modern", discover: discovered([newer]), rule: "P1", at: 0 }
      for (let index = 0; index < EraMemory.maxEntries; index++) yield* store.remember(`${index}`, verdict)
      yield* store.recall("0")
      yield* store.remember("one more", verdict)
      assert.isDefined(yield* store.recall("0"))
      assert.isUndefined(yield* store.recall("1"))
    })
  )
})

describe("a DiscoverResult out of all measure", () => {
  it.effect("is agreed on, and not remembered", () =>
    Effect.gen(function* () {
      const instructions = "x".repeat(EraMemory.maxVerdictLength)
      const server = { ...modernServer(), discover: answered(discovered([newer], { instructions })) }
      const { connected, since } = connecting(server)
      yield* connected
      yield* connected
      assert.deepEqual(since(), ["discover", "discover"])
    }).pipe(fresh)
  )
})

it("the bounds of a memory are the ones that its page tells", () => {
  assert.strictEqual(EraMemory.maxEntries, 1_000)
  assert.strictEqual(EraMemory.maxVerdictLength, 1_048_576)
})

describe("keys", () => {
  it("of HTTP tell ports, paths, queries and partitions apart, and nothing else", () => {
    const key = EraMemory.keyOfHttp("https://example.com/mcp")
    for (const same of ["HTTPS://Example.com:443/mcp", "https://me:pw@example.com/mcp", "https://example.com/mcp#x"])
      assert.strictEqual(EraMemory.keyOfHttp(same), key)
    const others = [
      "http://example.com/mcp",
      "https://example.com:8443/mcp",
      "https://example.com/other",
      "https://example.com/mcp?a=1",
      "https://example.com/mcp?a=2"
    ]
    assert.strictEqual(
      new Set([
        key,
        ...others.map((url) => EraMemory.keyOfHttp(url)),
        EraMemory.keyOfHttp("https://example.com/mcp", "work")
      ]).size,
      7
    )
    assert.strictEqual(EraMemory.keyOfHttp("https://example.com"), EraMemory.keyOfHttp("https://example.com/"))
    assert.notInclude(EraMemory.keyOfHttp("https://me:pw@example.com/mcp?token=s3cret"), "s3cret")
    assert.notInclude(EraMemory.keyOfHttp("s3cret"), "s3cret")
  })

  it("of commands tell arguments, folders and names of the environment apart, and show none of them", () => {
    const base = { command: "npx", args: ["-y", "server", "--token=s3cret"] }
    const key = EraMemory.keyOfStdio(base)
    assert.notInclude(key, "s3cret")
    assert.strictEqual(
      EraMemory.keyOfStdio({ ...base, env: ["B", "A"] }),
      EraMemory.keyOfStdio({ ...base, env: ["A", "B"] })
    )
    assert.strictEqual(
      new Set([
        key,
        EraMemory.keyOfStdio({ ...base, args: ["-y", "server"] }),
        EraMemory.keyOfStdio({ ...base, cwd: "/srv" }),
        EraMemory.keyOfStdio({ ...base, env: ["A"] }),
        EraMemory.keyOfStdio({ ...base, command: "bunx" })
      ]).size,
      5
    )
  })
})

describe("a remembered modern verdict", () => {
  const says = (signal: Signal, on: Terms.Terms = http) => Remembering.disproves(on, signal)
  it("section 7: is disproved by -32022 without a version of ours, -32601, or a 400, 404 or 405 that is not modern", () => {
    const withError = (status: number, code: number) => httpStatus(status, { error: { code, message: "" } })
    for (const signal of [
      unsupported("2099-01-01"),
      failed(-32022),
      failed(-32601),
      httpStatus(400),
      httpStatus(404),
      withError(400, -32000),
      withError(404, -32601)
    ])
      assert.isTrue(says(signal))
    for (const signal of [
      unsupported(newer),
      failed(-32602),
      failed(-32603),
      withError(400, -32021),
      httpStatus(401),
      httpStatus(503),
      unreachable,
      Signal.Silent(),
      answered({})
    ])
      assert.isFalse(says(signal))
  })
})
