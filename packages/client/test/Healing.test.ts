import { assert, describe, it } from "@effect/vitest"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Revision from "@mcp-effect/protocol/Revision"
import { Transport, type Wire } from "@mcp-effect/transport/Transport"
import {
  Exited,
  HttpRejected,
  type Reason,
  ResponseLost,
  SpawnFailed,
  TransportError,
  Unreachable
} from "@mcp-effect/transport/TransportError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { TestClock } from "effect/testing"
import * as McpClient from "../src/McpClient.ts"
import { everySecond, restartable, settled } from "./fixtures/announcer.ts"
import * as Peer from "./fixtures/peer.ts"

type Client = McpClient.McpClient["Service"]

const said = (text: string) => ({ resultType: "complete", content: [{ type: "text", text }] })
const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : block)).join(" ")
const tools = (...tools: ReadonlyArray<object>) => ({
  resultType: "complete",
  tools,
  ttlMs: 60_000,
  cacheScope: "private"
})
const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })
const died = new Exited({ command: "peer", code: 3, signal: null, stderr: "out of luck" })

/** Every state of a connection from now on, in short. */
const statesOf = Effect.fnUntraced(function* (client: Client) {
  const states: Array<string> = []
  yield* SubscriptionRef.changes(client.state).pipe(
    Stream.runForEach(({ _tag }) => Effect.sync(() => void states.push(_tag))),
    Effect.forkChild({ startImmediately: true })
  )
  yield* settled
  return states
})

/** Reacts to the first message of a method in one way, and to the others in another. */
const first = (method: string, once: Peer.React, then: Peer.React): Peer.React => {
  let seen = false
  return (heard, peer) => {
    if (heard.method !== method || seen) return then(heard, peer)
    seen = true
    once(heard, peer)
  }
}

const refused =
  (code: number, data?: unknown): Peer.React =>
  (heard, peer) =>
    peer.refuse(heard, code, "no", data)

const listed = Peer.on("tools/list", () => tools(tool("a")))

const eras = { modern: Peer.modern, legacy: Peer.legacy }

let servers = 0
/** A host over HTTP, under a name of its own. It says what becomes of each request, and in which session it came. */
const host = (
  answer: (
    request: JsonRpc.Request,
    session: number,
    mirrored: ReadonlyArray<readonly [string, string]> | undefined
  ) => Effect.Effect<object, Reason>,
  era: "modern" | "legacy" = "legacy"
) => {
  const sent: Array<string> = []
  let sessions = 0
  let closed = 0
  const endpoint = `https://host-${++servers}.example/mcp`
  const failed = (reason: Reason) => new TransportError({ endpoint, reason })
  const open = Effect.gen(function* () {
    let session = 0
    yield* Effect.addFinalizer(() => Effect.sync(() => void closed++))
    const wire: Wire = {
      exchange: ({ id, method, params }, { mirrored }) => {
        sent.push(method)
        if (method === "initialize") session = ++sessions
        const result =
          method === "initialize"
            ? Effect.succeed(Peer.initialized())
            : method === "server/discover"
              ? era === "modern"
                ? Effect.succeed(Peer.discovered())
                : Effect.fail(new HttpRejected({ status: 400, body: "", mediaType: undefined, sessionLost: false }))
              : answer({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }, session, mirrored)
        return Effect.mapBoth(result, {
          onSuccess: (found): JsonRpc.Response => ({ jsonrpc: "2.0", id, result: JSON.parse(JSON.stringify(found)) }),
          onFailure: failed
        })
      },
      send: (message) => Effect.sync(() => void sent.push("method" in message ? message.method : "an answer")),
      ended: Effect.never
    }
    return wire
  })
  const transport = Transport.of({ kind: "http", endpoint, reopenable: true, open: () => open })
  return {
    transport,
    sent,
    closed: () => closed,
    count: (method: string) => sent.filter((each) => each === method).length
  }
}
const expired = new HttpRejected({ status: 404, body: "", mediaType: undefined, sessionLost: true })

describe("-32022 to a request", () => {
  it.effect("U-23: naming a version we speak, the request is sent once more in that version", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        Peer.modern(first("tools/list", refused(-32022, { supported: ["2026-07-28", "2027-01-01"] }), listed))
      )
      const client = yield* McpClient.connect(peer.transport)
      assert.lengthOf(yield* client.listTools(), 1)
      assert.deepStrictEqual(peer.methods(), ["server/discover", "tools/list", "tools/list"])
    })
  )

  it.effect("U-23: said again, or naming nothing we speak, it is the caller's error", () =>
    Effect.gen(function* () {
      for (const [supported, times, tag] of [
        [["2026-07-28"], 2, "ServerError"],
        [["2027-01-01"], 1, "NoMutualVersion"],
        ["all", 1, "ServerError"]
      ] as const) {
        const peer = Peer.make(Peer.modern(refused(-32022, { supported })))
        const client = yield* McpClient.connect(peer.transport)
        const { reason } = yield* Effect.flip(client.callTool("a"))
        assert.strictEqual(reason._tag, tag)
        assert.lengthOf(peer.methods(), 1 + times)
      }
    })
  )

  it.effect("U-23: a process that dies after that is restarted like any other", () =>
    Effect.gen(function* () {
      const peer = restartable(Peer.modern(first("tools/list", refused(-32022, { supported: ["2026-07-28"] }), listed)))
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      peer.hangUp(died)
      yield* settled
      assert.strictEqual(peer.opened(), 2)
    })
  )

  it.effect("T-NEG-9: a server of the other era is negotiated with again, once, and the request sent again", () =>
    Effect.gen(function* () {
      for (const [before, after] of [
        ["modern", "legacy"],
        ["legacy", "modern"]
      ] as const) {
        let era: "modern" | "legacy" = before
        const supported = { modern: ["2026-07-28"], legacy: ["2025-11-25"] }
        const peer = restartable((heard, me) => {
          if (heard.method !== "tools/call") return eras[era]()(heard, me)
          if (era === after) return me.answer(heard, said("done"))
          era = after
          me.refuse(heard, -32022, "no", { supported: supported[after] })
        })
        const client = yield* McpClient.connect(peer.transport)
        assert.strictEqual(client.agreement.era, before)
        assert.strictEqual(textOf(yield* client.callTool("a")), "done")
        assert.strictEqual(client.agreement.era, after)
        assert.lengthOf(
          peer.methods().filter((method) => method === "tools/call"),
          2
        )
      }
    })
  )
})

describe("-32020 to a tool call", () => {
  it.effect(
    "M-XH-20: the tools are listed again, past the cache, and the call is sent once more with their headers",
    () =>
      Effect.gen(function* () {
        const zone = { type: "string", "x-mcp-header": "Zone" }
        let renamed = false
        const headers: Array<ReadonlyArray<readonly [string, string]> | undefined> = []
        const { count, transport } = host(({ method }, _, mirrored) => {
          if (method === "tools/list") {
            const properties = renamed ? { zone: { ...zone, "x-mcp-header": "Region" } } : { zone }
            return Effect.succeed(tools(tool("a", { inputSchema: { type: "object", properties } })))
          }
          headers.push(mirrored)
          if (headers.length > 1) return Effect.succeed(said("done"))
          renamed = true
          const error = { code: -32020, message: "no" }
          return Effect.fail(
            new HttpRejected({ status: 400, body: "", mediaType: undefined, sessionLost: false, error })
          )
        }, "modern")
        const client = yield* McpClient.connect(transport)
        yield* client.listTools()
        assert.strictEqual(textOf(yield* client.callTool("a", { zone: "eu" })), "done")
        assert.deepStrictEqual(headers, [[["Mcp-Param-Zone", "eu"]], [["Mcp-Param-Region", "eu"]]])
        assert.strictEqual(count("tools/list"), 2)
      })
  )

  it.effect("M-XH-20: a list that does not come takes no longer than the call may", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        Peer.modern((heard, me) => {
          if (heard.method === "tools/call") refused(-32020)(heard, me)
        })
      )
      const client = yield* McpClient.connect(peer.transport)
      const calling = yield* Effect.forkChild(Effect.flip(client.callTool("a", {}, { timeout: "500 millis" })))
      yield* settled
      assert.strictEqual(peer.methods().at(-1), "tools/list")
      yield* TestClock.adjust("500 millis")
      assert.deepInclude((yield* Fiber.join(calling)).reason, { _tag: "RequestTimedOut", method: "tools/list" })
    })
  )

  it.effect("M-XH-20: said again, it is the caller's error", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern(Peer.on("tools/list", () => tools(tool("a")), refused(-32020))))
      const client = yield* McpClient.connect(peer.transport)
      const { reason } = yield* Effect.flip(client.callTool("a"))
      assert.deepInclude(reason, { _tag: "ServerError", code: -32020 })
      assert.deepStrictEqual(peer.methods().slice(1), ["tools/call", "tools/list", "tools/call"])
    })
  )
})

describe("a session that expired", () => {
  it.effect("T-HTTP-1, T-HTTP-2: calls side by side share one new handshake, and each is sent once more", () =>
    Effect.gen(function* () {
      const { closed, count, transport } = host(({ params }, session) =>
        session === 1
          ? Effect.delay(Effect.fail(expired), Duration.millis(Number(params?.["name"])))
          : Effect.succeed(said(`${String(params?.["name"])} in ${session}`))
      )
      const client = yield* McpClient.connect(transport)
      const states = yield* statesOf(client)
      const names = ["10", "10", "10", "500", "1000"]
      const calling = yield* Effect.forkChild(
        Effect.forEach(names, (name) => Effect.map(client.callTool(name), textOf), { concurrency: "unbounded" })
      )
      for (const pause of ["10 millis", "490 millis", "500 millis"] as const) {
        yield* settled
        yield* TestClock.adjust(pause)
      }
      assert.deepStrictEqual(
        yield* Fiber.join(calling),
        names.map((name) => `${name} in 2`)
      )
      assert.strictEqual(count("initialize"), 2)
      assert.strictEqual(count("tools/call"), 10)
      assert.deepStrictEqual(states, ["Connected", "Reconnecting", "Connected"])
      assert.strictEqual(closed(), 0)
      yield* TestClock.adjust("60 seconds")
      yield* settled
      assert.strictEqual(closed(), 1)
    })
  )

  it.effect("T-HTTP-1: refused again in the new session, the call fails, and nothing goes round", () =>
    Effect.gen(function* () {
      const { count, transport } = host(() => Effect.fail(expired))
      const client = yield* McpClient.connect(transport)
      const { reason } = yield* Effect.flip(client.callTool("a"))
      assert.strictEqual(reason._tag, "WireFailed")
      assert.strictEqual(count("initialize"), 2)
      assert.strictEqual(count("tools/call"), 2)
    })
  )
})

describe("a process that died", () => {
  it.effect("T-STDIO-11: is restarted as the schedule says, and the states tell", () =>
    Effect.gen(function* () {
      const peer = restartable(Peer.modern(listed))
      let failures = 2
      const transport: Transport["Service"] = {
        ...peer.transport,
        open: (hear) =>
          Effect.suspend(() =>
            peer.opened() === 0 || failures-- <= 0
              ? peer.transport.open(hear)
              : Effect.fail(
                  new TransportError({ endpoint: "x", reason: new SpawnFailed({ command: "x", because: "not yet" }) })
                )
          )
      }
      const client = yield* McpClient.connect(transport, { reconnect: everySecond })
      const states = yield* statesOf(client)
      peer.hangUp(died)
      yield* settled
      const listing = yield* Effect.forkChild(client.listTools())
      yield* settled
      assert.strictEqual(peer.opened(), 1)
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.lengthOf(yield* Fiber.join(listing), 1)
      assert.strictEqual(peer.opened(), 2)
      assert.deepStrictEqual(states, ["Connected", "Reconnecting", "Connected"])
    })
  )

  it.effect(
    "T-LIFE-3, T-STDIO-11: what only reads is sent again; calls in flight fail once each, as OutcomeUnknown",
    () =>
      Effect.gen(function* () {
        const peer = restartable(Peer.modern(first("tools/list", () => {}, listed)))
        const client = yield* McpClient.connect(peer.transport)
        const listing = yield* Effect.forkChild(client.listTools())
        const calls = yield* Effect.forkChild(
          Effect.forEach([1, 2, 3, 4, 5], (n) => Effect.flip(client.callTool("send", { n })), {
            concurrency: "unbounded"
          })
        )
        yield* settled
        peer.hangUp(died)
        yield* settled
        assert.lengthOf(yield* Fiber.join(listing), 1)
        for (const error of yield* Fiber.join(calls)) {
          assert.strictEqual(error.reason._tag, "OutcomeUnknown")
          assert.include(error.message, "code 3")
        }
        assert.lengthOf(
          peer.methods().filter((method) => method === "tools/call"),
          5
        )
      })
  )

  it.effect("T-LIFE-3: a call is sent again when the server or the caller says that it may", () =>
    Effect.gen(function* () {
      const peer = restartable(
        Peer.modern(
          Peer.on(
            "tools/list",
            () => tools(tool("read", { annotations: { readOnlyHint: true } }), tool("send")),
            first(
              "tools/call",
              (_, me) => me.hangUp(died),
              Peer.on("tools/call", () => said("done"))
            )
          )
        )
      )
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      assert.strictEqual(textOf(yield* client.callTool("read")), "done")

      const other = restartable(
        Peer.modern(
          first(
            "tools/call",
            (_, me) => me.hangUp(died),
            Peer.on("tools/call", () => said("done"))
          )
        )
      )
      const careless = yield* McpClient.connect(other.transport)
      assert.strictEqual(textOf(yield* careless.callTool("send", {}, { repeatable: true })), "done")
    })
  )

  it.effect("T-LIFE-3: a call that follows at once on one that was lost has its remedy still before it", () =>
    Effect.gen(function* () {
      let deaths = 0
      const peer = restartable(
        Peer.modern((heard, me) => (++deaths < 3 ? me.hangUp(died) : me.answer(heard, said("done"))))
      )
      const client = yield* McpClient.connect(peer.transport)
      const calling = yield* Effect.flip(client.callTool("send")).pipe(
        Effect.andThen(client.callTool("send", {}, { repeatable: true })),
        Effect.forkChild
      )
      yield* settled
      yield* TestClock.adjust("1 second")
      assert.strictEqual(textOf(yield* Fiber.join(calling)), "done")
      assert.strictEqual(deaths, 3)
    })
  )

  it.effect("T-LIFE-3: a call that finds the process dead has its remedy still before it", () =>
    Effect.gen(function* () {
      let deaths = 0
      const peer = restartable(
        Peer.modern((heard, me) => (++deaths === 1 ? me.hangUp(died) : me.answer(heard, said("done"))))
      )
      const client = yield* McpClient.connect(peer.transport)
      yield* settled
      peer.hangUp(died)
      const calling = yield* Effect.forkChild(client.callTool("send", {}, { repeatable: true }))
      yield* settled
      assert.strictEqual(peer.opened(), 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(textOf(yield* Fiber.join(calling)), "done")
      assert.strictEqual(peer.opened(), 3)
    })
  )

  it.effect("T-LIFE-3: a call that finds the process dead never left, and goes to the next one", () =>
    Effect.gen(function* () {
      const peer = restartable(Peer.modern(Peer.on("tools/call", () => said("done"))))
      const client = yield* McpClient.connect(peer.transport)
      yield* settled
      peer.hangUp(died)
      assert.strictEqual(textOf(yield* client.callTool("send")), "done")
      assert.strictEqual(peer.opened(), 2)
    })
  )

  it.effect(
    "U-62: one that dies soon after each start is restarted no faster than the schedule says, then given up",
    () =>
      Effect.gen(function* () {
        const peer = restartable((heard, me) => {
          Peer.legacy()(heard, me)
          if (heard.method === "notifications/initialized") queueMicrotask(() => me.hangUp(died))
        })
        const reconnect = Schedule.spaced("10 seconds").pipe(Schedule.upTo({ times: 2 }))
        const client = yield* McpClient.connect(peer.transport, { reconnect })
        yield* settled
        for (const [seconds, opened] of [
          [9, 2],
          [1, 3],
          [10, 4],
          [60, 4]
        ] as const) {
          yield* TestClock.adjust(`${seconds} seconds`)
          yield* settled
          assert.strictEqual(peer.opened(), opened)
        }
        const state = yield* SubscriptionRef.get(client.state)
        assert.strictEqual(state._tag, "Lost")
        assert.include(state._tag === "Lost" ? state.error.message : "", "again and again")
      })
  )

  it.effect("U-62: one that dies after a steady time is restarted at once, however often", () =>
    Effect.gen(function* () {
      const peer = restartable(Peer.modern())
      yield* McpClient.connect(peer.transport, { reconnect: Schedule.recurs(0) })
      for (const opened of [2, 3, 4, 5]) {
        yield* settled
        yield* TestClock.adjust("31 seconds")
        peer.hangUp(died)
        yield* settled
        assert.strictEqual(peer.opened(), opened)
      }
    })
  )
})

describe("a connection that is lost", () => {
  /** A server that cannot be started again until it is said. */
  const stubborn = Effect.gen(function* () {
    const peer = restartable(Peer.modern(listed))
    let broken = false
    const transport: Transport["Service"] = {
      ...peer.transport,
      open: (hear) =>
        Effect.suspend(() =>
          broken
            ? Effect.fail(
                new TransportError({ endpoint: "x", reason: new SpawnFailed({ command: "x", because: "no" }) })
              )
            : peer.transport.open(hear)
        )
    }
    const scope = yield* Scope.make()
    const reconnect = everySecond.pipe(Schedule.upTo({ times: 1 }))
    const client = yield* McpClient.connect(transport, { reconnect }).pipe(Scope.provide(scope))
    const states = yield* statesOf(client)
    broken = true
    peer.hangUp(died)
    yield* settled
    return { client, peer, scope, states, mend: () => void (broken = false) }
  })

  it.effect("requests fail with Disconnected when the schedule is over, and the next one tries again", () =>
    Effect.gen(function* () {
      const { client, mend, states } = yield* stubborn
      const listing = yield* Effect.forkChild(Effect.flip(client.listTools()))
      yield* settled
      yield* TestClock.adjust("1 second")
      const error = yield* Fiber.join(listing)
      assert.strictEqual(error.reason._tag, "Disconnected")
      assert.include(error.message, "tools/list got no answer, since the connection is lost")
      mend()
      assert.lengthOf(yield* client.listTools(), 1)
      yield* settled
      assert.deepStrictEqual(states, ["Connected", "Reconnecting", "Lost", "Reconnecting", "Connected"])
    })
  )

  it.effect("T-LIFE-6: a read in flight when the scope closes fails, and nothing is opened for it", () =>
    Effect.gen(function* () {
      const peer = restartable(Peer.modern())
      const scope = yield* Scope.make()
      const client = yield* McpClient.connect(peer.transport).pipe(Scope.provide(scope))
      peer.hangUp(died)
      yield* settled
      const listing = yield* Effect.forkChild(Effect.flip(client.listTools()))
      yield* settled
      yield* Scope.close(scope, Exit.void)
      yield* settled
      assert.strictEqual((yield* Fiber.join(listing)).reason._tag, "WireFailed")
      assert.deepStrictEqual([peer.opened(), peer.closed()], [2, 2])
    })
  )

  it.effect("a request waits for a new session no longer than for an answer", () =>
    Effect.gen(function* () {
      const { client } = yield* stubborn
      const listing = yield* Effect.forkChild(Effect.flip(client.listTools({ timeout: "100 millis" })))
      yield* settled
      yield* TestClock.adjust("100 millis")
      assert.strictEqual((yield* Fiber.join(listing)).reason._tag, "RequestTimedOut")
    })
  )

  it.effect("T-LIFE-6: closing the scope ends all trying, and fails those who wait", () =>
    Effect.gen(function* () {
      const { client, mend, peer, scope } = yield* stubborn
      const listing = yield* Effect.forkChild(Effect.flip(client.listTools()))
      yield* settled
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Fiber.join(listing)).reason._tag, "Disconnected")
      mend()
      yield* TestClock.adjust("1 hour")
      yield* settled
      assert.strictEqual((yield* Effect.flip(client.listTools())).reason._tag, "WireFailed")
      assert.strictEqual(peer.opened(), 1)
      assert.strictEqual((yield* SubscriptionRef.get(client.state))._tag, "Closed")
    })
  )
})

describe("an era that is remembered", () => {
  const connect = (peer: Peer.Peer) => Effect.scoped(McpClient.connect(peer.transport))

  it.effect("T-NEG-9: modern, though the server is legacy now: negotiated again once, and the request sent again", () =>
    Effect.gen(function* () {
      let era: "modern" | "legacy" = "modern"
      const peer = restartable((heard, me) =>
        eras[era](
          era === "modern" || heard.method === "tools/call"
            ? (asked) => me.answer(asked, said("done"))
            : (asked) => me.refuse(asked, -32601)
        )(heard, me)
      )
      yield* connect(peer)
      era = "legacy"
      peer.lines.length = 0
      const unknown: Peer.React = (heard, me) => me.refuse(heard, -32601)
      const strict = first("tools/call", unknown, Peer.legacy(Peer.on("tools/call", () => said("done"))))
      const moved = Peer.make(strict, { kind: "stdio", reopenable: true, endpoint: peer.transport.endpoint })
      const client = yield* McpClient.connect(moved.transport)
      assert.deepStrictEqual(moved.methods(), [])
      assert.strictEqual(textOf(yield* client.callTool("a")), "done")
      assert.strictEqual(client.agreement.era, "legacy")
      assert.deepStrictEqual(moved.methods(), [
        "tools/call",
        "server/discover",
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/call"
      ])
    }).pipe(Effect.provide(EraMemory.layerInProcess))
  )

  it.effect("T-NEG-9: -32601 on a connection that was proven is the caller's error", () =>
    Effect.gen(function* () {
      const peer = restartable(Peer.modern(Peer.on("tools/list", () => tools(tool("a")), refused(-32601))))
      yield* connect(peer)
      const client = yield* McpClient.connect(peer.transport)
      yield* client.listTools()
      const { reason } = yield* Effect.flip(client.listPrompts())
      assert.deepInclude(reason, { _tag: "ServerError", code: -32601 })
      assert.strictEqual(peer.opened(), 2)
      assert.deepStrictEqual(peer.methods(), ["server/discover", "tools/list", "prompts/list"])
    }).pipe(Effect.provide(EraMemory.layerInProcess))
  )

  it.effect("U-10: a pinned version is no memory: -32601 is the caller's error at once", () =>
    Effect.gen(function* () {
      const peer = restartable(Peer.modern(refused(-32601)))
      const client = yield* McpClient.connect(peer.transport, { mode: "2026-07-28" })
      const { reason } = yield* Effect.flip(client.listPrompts())
      assert.deepInclude(reason, { _tag: "ServerError", code: -32601 })
      assert.deepStrictEqual(peer.methods(), ["prompts/list"])
    })
  )
})

describe("an answer that was lost", () => {
  const ways: ReadonlyArray<readonly [string, Reason]> = [
    ["the answer broke off", new ResponseLost({ because: "the stream ended" })],
    ["the connection broke before an answer began", new Unreachable({ because: "other side closed" })]
  ]

  it.effect.each(ways)("T-24, M-HTTP-24: %s: what only reads is asked again, once", ([, lost]) =>
    Effect.gen(function* () {
      let times = 0
      const { transport } = host(() => (++times === 1 ? Effect.fail(lost) : Effect.succeed(tools(tool("a")))), "modern")
      assert.lengthOf(yield* (yield* McpClient.connect(transport)).listTools(), 1)

      const deaf = host(() => Effect.fail(lost), "modern")
      const error = yield* Effect.flip((yield* McpClient.connect(deaf.transport)).listTools())
      assert.strictEqual(error.reason._tag, "WireFailed")
      assert.strictEqual(deaf.count("tools/list"), 2)
    })
  )

  it.effect("T-24: what never left is not asked again, since it would not leave now either", () =>
    Effect.gen(function* () {
      const { count, transport } = host(
        () => Effect.fail(new Unreachable({ because: "connection refused", unsent: true })),
        "modern"
      )
      const { reason } = yield* Effect.flip((yield* McpClient.connect(transport)).listTools())
      assert.strictEqual(reason._tag, "WireFailed")
      assert.strictEqual(count("tools/list"), 1)
    })
  )

  it.effect.each(ways)("T-LIFE-3: %s: a call is not", ([, lost]) =>
    Effect.gen(function* () {
      const { count, transport } = host(() => Effect.fail(lost), "modern")
      const { reason } = yield* Effect.flip((yield* McpClient.connect(transport)).callTool("send"))
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      assert.strictEqual(count("tools/call"), 1)
    })
  )
})

describe("a heartbeat", () => {
  const beating = Effect.fnUntraced(function* (react: Peer.React) {
    const peer = restartable(Peer.legacy(react))
    yield* McpClient.connect(peer.transport, { mode: "legacy", heartbeat: "10 seconds" })
    yield* settled
    return {
      peer,
      wait: (seconds: number) => Effect.andThen(TestClock.adjust(`${seconds} seconds`), settled)
    }
  })

  it.effect("any answer is a sign of life, an error too", () =>
    Effect.gen(function* () {
      const { peer, wait } = yield* beating(refused(-32601))
      for (let beat = 0; beat < 5; beat++) yield* wait(10)
      assert.strictEqual(peer.opened(), 1)
      assert.strictEqual(peer.methods().filter((method) => method === "ping").length, 5)
    })
  )

  it.effect("silence for as long again leads to a new session", () =>
    Effect.gen(function* () {
      const { peer, wait } = yield* beating(() => {})
      yield* wait(10)
      yield* wait(9)
      assert.strictEqual(peer.opened(), 1)
      yield* wait(1)
      assert.deepStrictEqual([peer.opened(), peer.closed()], [2, 1])
    })
  )

  it.effect("what was open then says that there was no sign of life", () =>
    Effect.gen(function* () {
      const peer = restartable(Peer.legacy(() => {}))
      const client = yield* McpClient.connect(peer.transport, { mode: "legacy", heartbeat: "10 seconds" })
      const call = yield* Effect.forkChild(Effect.flip(client.callTool("send")), { startImmediately: true })
      yield* settled
      yield* TestClock.adjust("20 seconds")
      const { message, reason } = yield* Fiber.join(call)
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      assert.include(message, "this side closed it: no sign of life for 10000 ms (heartbeat)")
    })
  )

  it.effect("U-22: the modern era has none", () =>
    Effect.gen(function* () {
      const peer = restartable(Peer.modern())
      yield* McpClient.connect(peer.transport, { heartbeat: "10 seconds" })
      yield* TestClock.adjust("1 minute")
      yield* settled
      assert.deepStrictEqual(peer.methods(), ["server/discover"])
      assert.isFalse(Revision.v2026_07_28.supports("ping"))
    })
  )
})
