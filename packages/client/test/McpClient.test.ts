import { Partition } from "../src/ResultCache.ts"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import { assert, describe, it } from "@effect/vitest"
import * as Mode from "@mcp-effect/negotiation/Mode"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type * as Progress from "@mcp-effect/protocol/Progress"
import { Transport, type Wire } from "@mcp-effect/transport/Transport"
import { Exited } from "@mcp-effect/transport/TransportError"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { version } from "../src/internal/version.ts"
import * as McpClient from "../src/McpClient.ts"
import * as Peer from "./fixtures/peer.ts"

const tool = (name: string) => ({ name, inputSchema: { type: "object" } })
const said = (text: string) => ({ content: [{ type: "text", text }] })
/** What a tool said, as text. */
const heardOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : block)).join(" ")
const echo = Peer.on("tools/call", ({ params }) => said(JSON.stringify(params?.["arguments"])))

/** Lets everything that can happen without time passing happen. */
const settled = Effect.repeat(Effect.yieldNow, { times: 50 })

const collected = () => {
  const diagnostics: Array<Diagnostic> = []
  return {
    diagnostics,
    collect: Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void diagnostics.push(diagnostic)))
  }
}

const modernMeta =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",' +
  `"io.modelcontextprotocol/clientInfo":{"name":"mcp-effect","version":"${version}"},` +
  '"io.modelcontextprotocol/clientCapabilities":{}}'
const handshake = (id: number) => [
  `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
    `"clientInfo":{"name":"mcp-effect","version":"${version}"}}}`,
  '{"jsonrpc":"2.0","method":"notifications/initialized"}'
]
const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{${modernMeta}}}`

describe("opening a connection", () => {
  it.effect("U-01, U-20: in auto a modern server is asked once, and every request says who asks", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern(echo))
      const client = yield* McpClient.connect(peer.transport)
      assert.deepStrictEqual(peer.lines, [discover])
      yield* client.callTool("echo", { a: 1 })
      assert.strictEqual(
        peer.lines[1],
        `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"a":1},${modernMeta}}}`
      )
    })
  )

  it.effect("U-01: in legacy the handshake is all that is sent, also to a server that speaks both eras", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.both(echo))
      const client = yield* McpClient.connect(peer.transport, { mode: "legacy" })
      yield* settled
      assert.deepStrictEqual(peer.lines, handshake(1))
      assert.strictEqual(client.agreement.era, "legacy")
      assert.strictEqual(client.agreement.roundTrips, 1)
      yield* client.callTool("echo")
      assert.strictEqual(
        peer.lines[2],
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}'
      )
    })
  )

  it.effect("P13: after a fallback the handshake is that of a plain legacy connect, but for the id", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy())
      const client = yield* McpClient.connect(peer.transport)
      yield* settled
      assert.deepStrictEqual(peer.lines, [discover, ...handshake(2)])
      assert.deepInclude(client.agreement, { era: "legacy", version: "2025-11-25", rule: "P13", roundTrips: 2 })
      assert.deepInclude(client.agreement.identity, { name: "legacy-peer", version: "2.0.0" })
    })
  )

  it.effect("U-01: in modern the handshake is never tried", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy())
      const error = yield* Effect.flip(McpClient.connect(peer.transport, { mode: "modern" }))
      assert.strictEqual(error.reason._tag, "ModernUnavailable")
      assert.include(error.message, "set mode 'auto'")
      assert.deepStrictEqual(peer.lines, [discover])
      assert.strictEqual(peer.closed(), 1)
    })
  )

  it.effect("U-10: a pinned version sends nothing and knows no identity; requests work at once", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern(echo))
      const client = yield* McpClient.connect(peer.transport, { mode: "2026-07-28" })
      yield* settled
      assert.deepStrictEqual(peer.lines, [])
      assert.strictEqual(client.agreement.roundTrips, 0)
      assert.isUndefined(client.agreement.identity)
      yield* client.callTool("echo")
      assert.strictEqual(
        peer.lines[0],
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},${modernMeta}}}`
      )
    })
  )

  it.effect("U-11: a legacy version cannot be pinned; nothing is opened", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy())
      const mode = Mode.Mode.Pin({ version: "2025-06-18", verify: false, prior: undefined })
      const error = yield* Effect.flip(McpClient.connect(peer.transport, { mode }))
      assert.strictEqual(error.reason._tag, "ModeInvalid")
      assert.include(error.message, "'2025-06-18' is a handshake-era version; use mode 'legacy'")
      assert.strictEqual(peer.opened(), 0)
    })
  )

  it.effect("U-07: says what it is called and who the server is, when it is told so", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        Peer.on("server/discover", () => Peer.discovered({ instructions: "Be kind." })),
        { endpoint: "a peer" }
      )
      const client = yield* McpClient.connect(peer.transport, { client: { name: "mine", version: "7" } })
      const info = peer.heard()[0]?.params?.["_meta"]
      assert.deepInclude(info, { "io.modelcontextprotocol/clientInfo": { name: "mine", version: "7" } })
      assert.strictEqual(client.endpoint, "a peer")
      assert.strictEqual(client.transport, "memory")
      assert.deepInclude(client.agreement.identity, { name: "modern-peer", version: "1.0.0" })
      assert.strictEqual(client.agreement.instructions, "Be kind.")
      assert.deepStrictEqual(
        client.agreement.evidence.map(({ asked, rule }) => [asked, rule]),
        [["discover", "P1"]]
      )
    })
  )

  it.effect("L-LIFE: nothing follows `notifications/initialized` before the transport has taken it", () =>
    Effect.gen(function* () {
      const taken = yield* Deferred.make<void>()
      const peer = Peer.make(Peer.legacy(echo))
      const sent: Array<string> = []
      const slow: Transport["Service"] = {
        ...peer.transport,
        open: (hear) =>
          Effect.map(peer.transport.open(hear), (wire): Wire => ({
            ...wire,
            send: (message, revision) => {
              sent.push("method" in message ? message.method : "an answer")
              return Effect.andThen(Deferred.await(taken), wire.send(message, revision))
            }
          }))
      }
      const connecting = yield* Effect.forkChild(McpClient.connect(slow, { mode: "legacy" }))
      yield* settled
      assert.deepStrictEqual(sent, ["notifications/initialized"])
      assert.isUndefined(connecting.pollUnsafe())
      yield* Deferred.succeed(taken, undefined)
      yield* (yield* Fiber.join(connecting)).listTools().pipe(Effect.timeout(1), Effect.exit, Effect.forkChild)
      yield* settled
      assert.deepStrictEqual(peer.methods(), ["initialize", "notifications/initialized", "tools/list"])
    })
  )

  it.effect("T-NEG-7: a version of the server's own choice that is unknown closes the connection unanswered", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.on("initialize", () => Peer.initialized({ protocolVersion: "1999-01-01" })))
      const error = yield* Effect.flip(McpClient.connect(peer.transport, { mode: "legacy" }))
      assert.strictEqual(error.reason._tag, "LegacyVersionUnsupported")
      assert.include(error.message, "1999-01-01")
      assert.deepStrictEqual(peer.methods(), ["initialize"])
      assert.strictEqual(peer.closed(), 1)
    })
  )

  it.effect("T-LIFE-6: a connect that fails, or is interrupted, closes what it opened", () =>
    Effect.gen(function* () {
      const refusing = Peer.make((heard, peer) => peer.refuse(heard, -32603))
      yield* Effect.flip(McpClient.connect(refusing.transport))
      assert.deepStrictEqual([refusing.opened(), refusing.closed()], [1, 1])

      const silent = Peer.make(() => {})
      const connecting = yield* Effect.forkChild(McpClient.connect(silent.transport))
      yield* settled
      yield* Fiber.interrupt(connecting)
      assert.deepStrictEqual([silent.opened(), silent.closed()], [1, 1])
      assert.deepStrictEqual(silent.methods(), ["server/discover"])
    })
  )

  it.effect("U-62: opening for a pinned version is bounded too, though nothing is asked", () =>
    Effect.gen(function* () {
      const stuck: Transport["Service"] = { ...Peer.make(() => {}).transport, open: () => Effect.never }
      const connecting = yield* Effect.forkChild(Effect.flip(McpClient.connect(stuck, { mode: "2026-07-28" })))
      yield* settled
      yield* TestClock.adjust("60 seconds")
      const error = yield* Fiber.join(connecting)
      assert.strictEqual(error.reason._tag, "RequestTimedOut")
      assert.include(error.message, "connect within 60000 ms")
    })
  )

  it.effect("U-62: connecting as a whole is bounded by ConnectTimeout, and its end is no verdict", () =>
    Effect.gen(function* () {
      const silent = Peer.make(() => {})
      const connecting = yield* McpClient.connect(silent.transport).pipe(
        Effect.provideService(Defaults.ConnectTimeout, Duration.seconds(3)),
        Effect.flip,
        Effect.forkChild
      )
      yield* settled
      yield* TestClock.adjust("3 seconds")
      const error = yield* Fiber.join(connecting)
      assert.strictEqual(error.reason._tag, "ProbeTimeout")
      assert.deepStrictEqual(silent.methods(), ["server/discover"])
      assert.strictEqual(silent.closed(), 1)
    })
  )
})

describe("a slow server on a pipe", () => {
  /** Connects to a peer that holds its answer to the probe back until after patience has ended. */
  const late = Effect.fnUntraced(function* (onInitialize: Peer.React) {
    let probe: Peer.Heard = {}
    const peer = Peer.make((heard, me) => {
      if (heard.method === "server/discover") probe = heard
      else if (heard.method === "initialize") {
        me.answer(probe, Peer.discovered())
        onInitialize(heard, me)
      }
    })
    const { collect, diagnostics } = collected()
    const connecting = yield* Effect.forkChild(Effect.result(collect(McpClient.connect(peer.transport))))
    yield* settled
    yield* TestClock.adjust("4999 millis")
    assert.deepStrictEqual(peer.methods(), ["server/discover"])
    yield* TestClock.adjust("1 millis")
    return { peer, diagnostics, result: yield* Fiber.join(connecting) }
  })

  it.effect("U-03, T-NEG-1: silence for 5 seconds leads to the handshake, and the probe is not cancelled", () =>
    Effect.gen(function* () {
      const peer = Peer.make((heard, me) => {
        if (heard.method === "initialize") me.answer(heard, Peer.initialized())
      })
      const connecting = yield* Effect.forkChild(McpClient.connect(peer.transport))
      yield* settled
      yield* TestClock.adjust("5 seconds")
      const { agreement } = yield* Fiber.join(connecting)
      assert.deepInclude(agreement, { era: "legacy", rule: "P16" })
      yield* settled
      assert.deepStrictEqual(peer.lines, [discover, ...handshake(2)])
    })
  )

  it.effect("U-03: the shorter of ProbeTimeout and StdioTimeout counts, and StartupGrace is added", () =>
    Effect.gen(function* () {
      const peer = Peer.make((heard, me) => {
        if (heard.method === "initialize") me.answer(heard, Peer.initialized())
      })
      const connecting = yield* McpClient.connect(peer.transport).pipe(
        Effect.provideService(Defaults.StdioTimeout, Duration.seconds(2)),
        Effect.provideService(Defaults.StartupGrace, Duration.seconds(1)),
        Effect.forkChild
      )
      yield* settled
      yield* TestClock.adjust("2999 millis")
      assert.deepStrictEqual(peer.methods(), ["server/discover"])
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(connecting)).agreement.rule, "P16")
    })
  )

  it.effect.each(["auto", "legacy"] as const)(
    "section 4: in %s, patience begins when the wire is open, and it is opened once",
    (mode) =>
      Effect.gen(function* () {
        const peer = Peer.make(Peer.both())
        const slow: Transport["Service"] = {
          ...peer.transport,
          open: (hear) => Effect.delay(peer.transport.open(hear), "45 seconds")
        }
        const connecting = yield* Effect.forkChild(McpClient.connect(slow, { mode }))
        yield* settled
        yield* TestClock.adjust("45 seconds")
        const { agreement } = yield* Fiber.join(connecting)
        assert.strictEqual(agreement.era, mode === "auto" ? "modern" : "legacy")
        assert.deepStrictEqual([peer.opened(), peer.closed()], [1, 0])
      })
  )

  it.effect("section 4: a late answer beside a handshake that works stays legacy, and is reported", () =>
    Effect.gen(function* () {
      const { diagnostics, peer, result } = yield* late((heard, me) => me.answer(heard, Peer.initialized()))
      assert.strictEqual(result._tag === "Success" && result.success.agreement.era, "legacy")
      assert.strictEqual(result._tag === "Success" && result.success.agreement.lasting, false)
      assert.deepStrictEqual(
        diagnostics.map(({ _tag }) => _tag),
        ["LateDiscover"]
      )
      assert.deepStrictEqual(peer.methods(), ["server/discover", "initialize", "notifications/initialized"])
    })
  )

  it.effect("H14: a late answer beside a handshake that fails is adopted", () =>
    Effect.gen(function* () {
      const { peer, result } = yield* late((heard, me) => me.refuse(heard, -32022))
      assert.isTrue(result._tag === "Success")
      if (result._tag === "Success") {
        assert.deepInclude(result.success.agreement, { era: "modern", version: "2026-07-28", rule: "H14" })
      }
      assert.deepStrictEqual(peer.methods(), ["server/discover", "initialize"])
    })
  )

  it.effect("H4: a handshake refused with -32022 that names a modern version is followed by one more probe", () =>
    Effect.gen(function* () {
      let probes = 0
      const peer = Peer.make((heard, me) => {
        if (heard.method === "initialize") me.refuse(heard, -32022, "no", { supported: ["2026-07-28"] })
        else if (++probes === 2) me.answer(heard, Peer.discovered())
      })
      const connecting = yield* Effect.forkChild(McpClient.connect(peer.transport))
      yield* settled
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(connecting)).agreement.era, "modern")
      assert.deepStrictEqual(
        peer.heard().map(({ id, method }) => [id, method]),
        [
          [1, "server/discover"],
          [2, "initialize"],
          [3, "server/discover"]
        ]
      )
    })
  )

  it.effect("P17, T-NEG-2: a server that goes away at the probe is opened again and shaken hands with", () =>
    Effect.gen(function* () {
      const gone = new Exited({ command: "peer", code: 1, signal: null, stderr: "unexpected first message" })
      const react: Peer.React = (heard, me) =>
        heard.method === "server/discover" ? me.hangUp(gone) : Peer.legacy(echo)(heard, me)
      const peer = Peer.make(react, { kind: "stdio", reopenable: true })
      const client = yield* McpClient.connect(peer.transport)
      assert.deepInclude(client.agreement, { era: "legacy", rule: "P17" })
      assert.deepStrictEqual([peer.opened(), peer.closed()], [2, 1])
      yield* settled
      assert.deepStrictEqual(peer.lines, [discover, ...handshake(2)])
      assert.strictEqual(heardOf(yield* client.callTool("echo")), "{}")
    })
  )
})

describe("what a server says unasked", () => {
  it.effect("L-PING: `ping` is answered, and any other request is refused with -32601, in the legacy era", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy())
      yield* McpClient.connect(peer.transport, { mode: "legacy" })
      peer.say({ id: "s1", method: "ping" })
      peer.say({ id: 7, method: "sampling/createMessage", params: {} })
      yield* settled
      assert.deepStrictEqual(peer.lines.slice(2), [
        '{"jsonrpc":"2.0","id":"s1","result":{}}',
        '{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"this client does not offer sampling/createMessage"}}'
      ])
    })
  )

  it.effect("P20: a request during the probe, or on a modern connection, is dropped without a byte and reported", () =>
    Effect.gen(function* () {
      const peer = Peer.make((heard, me) => {
        if (heard.method === "server/discover") {
          me.say({ id: 1, method: "ping" })
          me.say({ method: "notifications/message", params: { level: "info", data: "hello" } })
        }
        Peer.modern()(heard, me)
      })
      const { collect, diagnostics } = collected()
      yield* collect(
        Effect.gen(function* () {
          yield* McpClient.connect(peer.transport)
          peer.say({ id: 2, method: "roots/list" })
          yield* settled
        })
      )
      assert.deepStrictEqual(peer.methods(), ["server/discover"])
      assert.deepStrictEqual(
        diagnostics.map((diagnostic) => diagnostic._tag === "UnexpectedMessage" && diagnostic.method),
        ["ping", "roots/list"]
      )
    })
  )

  it.effect("P20: what comes between the probe and the handshake is answered in the era spoken by then", () =>
    Effect.gen(function* () {
      const peer = Peer.make((heard, me) => {
        if (heard.method === "initialize") me.say({ id: "early", method: "ping" })
        Peer.legacy()(heard, me)
      })
      yield* McpClient.connect(peer.transport)
      yield* settled
      assert.include(peer.lines, '{"jsonrpc":"2.0","id":"early","result":{}}')
    })
  )
})

describe("a handler", () => {
  it.effect("T-CB-2: is in place before the server can ask, even in one breath with its first answer", () =>
    Effect.gen(function* () {
      const params = { message: "?", requestedSchema: { type: "object", properties: {} } }
      const eager = Peer.make((heard, me) => {
        Peer.legacy()(heard, me)
        if (heard.method === "initialize") me.say({ id: "early", method: "elicitation/create", params })
      })
      yield* McpClient.connect(eager.transport, {
        mode: "legacy",
        handlers: { elicitation: { form: () => Effect.succeed({ action: "accept", content: {} }) } }
      })
      yield* settled
      const answered = eager.heard().find(({ id }) => id === "early")
      assert.deepStrictEqual(answered?.result, { action: "accept", content: {} })
    })
  )
})

describe("a request", () => {
  const connected = Effect.fnUntraced(function* (react: Peer.React, mode: "legacy" | "2026-07-28" = "legacy") {
    const peer = Peer.make(mode === "legacy" ? Peer.legacy(react) : Peer.modern(react))
    const client = yield* McpClient.connect(peer.transport, { mode })
    yield* settled
    peer.lines.length = 0
    return { peer, client }
  })

  it.effect("L-RPC: ids come from one counter, for concurrent requests too, and answers find their request", () =>
    Effect.gen(function* () {
      const waiting: Array<Peer.Heard> = []
      const { client, peer } = yield* connected((heard) => waiting.push(heard))
      const calls = yield* Effect.forEach([1, 2, 3], (n) => Effect.forkChild(client.callTool("echo", { n })))
      yield* settled
      for (const heard of waiting.toReversed()) peer.answer(heard, said(`${heard.id}`))
      const answers = yield* Fiber.joinAll(calls)
      assert.deepStrictEqual(answers.map(heardOf), ["2", "3", "4"])
    })
  )

  it.effect("L-PING: `ping` asks in the legacy era", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connected(Peer.on("ping", () => ({})))
      yield* client.ping()
      assert.deepStrictEqual(peer.lines, ['{"jsonrpc":"2.0","id":2,"method":"ping"}'])
    })
  )

  it.effect("U-22: `ping` in the modern era fails with NotAvailableInModern and sends nothing", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connected(() => {}, "2026-07-28")
      const error = yield* Effect.flip(client.ping())
      assert.strictEqual(error.reason._tag, "NotAvailableInModern")
      assert.include(error.message, "2026-07-28")
      assert.deepStrictEqual(peer.lines, [])
    })
  )

  it.effect("U-24: progress is heard in order and before the answer, and only that of this call", () =>
    Effect.gen(function* () {
      const events: Array<Progress.Params | string> = []
      const { client, peer } = yield* connected((heard, me) => {
        const progressToken = heard.id
        me.say({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } })
        me.say({ method: "notifications/progress", params: { progressToken: 99, progress: 50 } })
        me.say({ method: "notifications/progress", params: { progressToken, progress: "bad" } })
        me.say({ method: "notifications/progress", params: { progressToken, progress: 2, message: "done" } })
        me.answer(heard, said("counted"))
        me.say({ method: "notifications/progress", params: { progressToken, progress: 3 } })
      })
      yield* client.callTool("count", {}, { onProgress: (progress) => void events.push(progress) })
      events.push("answered")
      yield* settled
      assert.deepStrictEqual(events, [
        { progressToken: 2, progress: 1, total: 2 },
        { progressToken: 2, progress: 2, message: "done" },
        "answered"
      ])
      assert.deepStrictEqual(peer.heard()[0]?.params?.["_meta"], { progressToken: 2 })
    })
  )

  it.effect("T-RPC-5: no answer within RequestTimeout cancels once, and the error names our limit", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connected(() => {})
      const calling = yield* Effect.forkChild(Effect.flip(client.callTool("slow")))
      yield* settled
      yield* TestClock.adjust("60 seconds")
      const error = yield* Fiber.join(calling)
      assert.strictEqual(error.reason._tag, "RequestTimedOut")
      assert.include(error.message, "within 60000 ms (our limit, not the server's)")
      yield* settled
      assert.deepStrictEqual(peer.methods(), ["tools/call", "notifications/cancelled"])
      assert.deepInclude(peer.heard()[1]?.params, { requestId: 2 })
    })
  )

  const step = (me: Peer.Peer, progress: number) =>
    me.say({ method: "notifications/progress", params: { progressToken: 2, progress } })

  it.effect("T-RPC-2: resetOnProgress asks for progress by itself, and each step starts the time again", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connected(() => {})
      const calling = yield* Effect.forkChild(
        client.callTool("slow", {}, { timeout: "1 second", resetOnProgress: true })
      )
      yield* settled
      assert.deepStrictEqual(peer.heard()[0]?.params?.["_meta"], { progressToken: 2 })
      for (let half = 1; half <= 6; half++) {
        yield* TestClock.adjust("500 millis")
        step(peer, half)
        yield* settled
      }
      peer.answer({ id: 2 }, said("after 3 seconds"))
      assert.strictEqual(heardOf(yield* Fiber.join(calling)), "after 3 seconds")
    })
  )

  it.effect("T-RPC-3: RequestCap counts from the sending, and no progress moves it", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connected(() => {})
      const calling = yield* client
        .callTool("slow", {}, { timeout: "1 second", resetOnProgress: true })
        .pipe(
          Effect.flip,
          Effect.timed,
          Effect.provideService(Defaults.RequestCap, Duration.seconds(3)),
          Effect.forkChild
        )
      yield* settled
      for (let fifth = 1; fifth <= 20; fifth++) {
        yield* TestClock.adjust("200 millis")
        step(peer, fifth)
        yield* settled
      }
      const [took, error] = yield* Fiber.join(calling)
      assert.strictEqual(error.reason._tag, "RequestTimedOut")
      assert.strictEqual(Duration.toMillis(took), 3_000)
      assert.deepStrictEqual(peer.methods(), ["tools/call", "notifications/cancelled"])
    })
  )

  const asking = (requestState: string | undefined, inputRequests?: object) => ({
    resultType: "input_required",
    ...(requestState === undefined ? {} : { requestState }),
    ...(inputRequests === undefined ? {} : { inputRequests })
  })
  const form = {
    k: { method: "elicitation/create", params: { message: "?", requestedSchema: { type: "object", properties: {} } } }
  }
  const members = ({ heard }: Peer.Peer) =>
    heard().map(({ params }) => [params?.["name"], params?.["requestState"], params?.["inputResponses"]])

  it.effect(
    "U-27: a call driven by hand goes on with the answers and the state; without questions, with the state alone",
    () =>
      Effect.gen(function* () {
        const rounds = [
          asking("one", form),
          asking("two"),
          asking("three"),
          { resultType: "complete", ...said("done") }
        ]
        const peer = Peer.make(Peer.modern((heard, me) => me.answer(heard, rounds.shift() ?? {})))
        const client = yield* McpClient.connect(peer.transport, { mode: "2026-07-28" })
        const answers = { k: { action: "decline" } } as const
        let outcome = yield* client.begin("a")
        for (const given of [answers, undefined, {}]) {
          assert(outcome._tag === "Paused")
          outcome = yield* client.resume(outcome.continuation, given)
        }
        assert.strictEqual(outcome._tag, "Done")
        assert.deepStrictEqual(members(peer), [
          ["a", undefined, undefined],
          ["a", "one", answers],
          ["a", "two", undefined],
          ["a", "three", undefined]
        ])
      })
  )

  it.effect.each([
    ["a value of another type", { action: "accept", content: { n: "many" } }, "n"],
    ["no value for a field that is required", { action: "accept" }, "n"],
    ["no action", { content: { n: 1 } }, "accept, decline or cancel"],
    ["roots in the place of an action", { roots: [] }, "accept, decline or cancel"]
  ] as const)(
    "M-ELI-9: an answer with %s does not fit its form, so a call resumed with it fails before it is sent",
    ([, answer, named]) =>
      Effect.gen(function* () {
        const params = {
          message: "?",
          requestedSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
        }
        const peer = Peer.make(
          Peer.modern((heard, me) => me.answer(heard, asking("s", { k: { method: "elicitation/create", params } })))
        )
        const client = yield* McpClient.connect(peer.transport, { mode: "2026-07-28" })
        const outcome = yield* client.begin("a")
        assert(outcome._tag === "Paused")
        // As if it had come from somewhere that knows no types.
        const answers = JSON.parse(JSON.stringify({ k: answer }))
        const { reason } = yield* Effect.flip(client.resume(outcome.continuation, answers))
        assert.strictEqual(reason._tag, "InputRequired")
        assert.include(reason.message, "the answer to k")
        assert.include(reason.message, named)
        assert.lengthOf(members(peer), 1)
      })
  )

  it.effect("M-MRTR: an answer to something that nobody asked is not sent", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern((heard, me) => me.answer(heard, asking("s", form))))
      const client = yield* McpClient.connect(peer.transport, { mode: "2026-07-28" })
      const outcome = yield* client.begin("a")
      assert(outcome._tag === "Paused")
      const answers = { k: { action: "decline" }, other: { action: "decline" } } as const
      const { reason } = yield* Effect.flip(client.resume(outcome.continuation, answers))
      assert.include(reason.message, "nobody asked other")
      assert.lengthOf(members(peer), 1)
    })
  )

  it.effect("two connections made side by side need no more than what both need", () => {
    const { transport } = Peer.make(Peer.modern())
    const both = Effect.all([McpClient.connect(transport), McpClient.connect(transport)])
    // Another requirement, or one of any kind, would not compile.
    const alone: Effect.Effect<ReadonlyArray<McpClient.Client>, unknown> = Effect.scoped(both)
    return Effect.map(alone, (connected) => assert.lengthOf(connected, 2))
  })

  it.effect("T-CB-4: the state goes back exactly as it came, absent stays absent, and no other call has it", () =>
    Effect.gen(function* () {
      const state = '{"a": 1}\u0000 '
      const peer = Peer.make(
        Peer.modern((heard, me) => {
          const { inputResponses, name } = heard.params ?? {}
          if (inputResponses !== undefined || name === "other")
            return me.answer(heard, { resultType: "complete", ...said("done") })
          me.answer(heard, asking(name === "stateful" ? state : undefined, form))
        })
      )
      const client = yield* McpClient.connect(peer.transport, {
        mode: "2026-07-28",
        handlers: { elicitation: { form: () => Effect.succeed({ action: "decline" }) } }
      })
      const answers = { k: { action: "decline" } }
      yield* Effect.all([client.callTool("stateful"), client.callTool("other")], { concurrency: 2 })
      yield* client.callTool("stateless")
      assert.deepStrictEqual(members(peer), [
        ["stateful", undefined, undefined],
        ["other", undefined, undefined],
        ["stateful", state, answers],
        ["stateless", undefined, undefined],
        ["stateless", undefined, answers]
      ])
      assert.notProperty(peer.heard()[4]?.params, "requestState")
      assert.strictEqual(new Set(peer.heard().map(({ id }) => id)).size, 5)
    })
  )

  it.effect("T-CB-5: between rounds that only bring state there is a pause, which interrupting ends", () =>
    Effect.gen(function* () {
      let rounds = 0
      const { client, peer } = yield* connected((heard, me) => {
        if (heard.method !== "tools/call") return
        if (++rounds === 4) return me.answer(heard, { resultType: "complete", ...said("done") })
        me.answer(heard, asking("w"))
      }, "2026-07-28")
      const calling = yield* Effect.forkChild(client.callTool("slow"))
      yield* settled
      assert.lengthOf(peer.lines, 1)
      yield* TestClock.adjust("99 millis")
      yield* settled
      assert.lengthOf(peer.lines, 1)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(heardOf(yield* Fiber.join(calling)), "done")
      assert.lengthOf(peer.lines, 4)
      rounds = 0
      const stopped = yield* Effect.forkChild(client.callTool("slow"))
      yield* settled
      yield* Fiber.interrupt(stopped)
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(peer.lines, 5)
    })
  )

  it.effect("T-16, T-CB-5: that pause doubles from 100 ms up to 2 seconds, and begins anew after a question", () =>
    Effect.gen(function* () {
      const question = {
        method: "elicitation/create",
        params: { message: "Sure?", requestedSchema: { type: "object", properties: {} } }
      }
      let rounds = 0
      const peer = Peer.make((heard, me) => {
        if (heard.method !== "tools/call") return
        rounds++
        if (rounds === 10) return me.answer(heard, asking("w", { sure: question }))
        me.answer(heard, rounds === 13 ? { resultType: "complete", ...said("done") } : asking("w"))
      })
      const client = yield* McpClient.connect(peer.transport, {
        mode: "2026-07-28",
        handlers: { elicitation: { form: () => Effect.succeed({ action: "decline" }) } }
      })
      const calling = yield* client
        .callTool("slow", {}, { timeout: "1 hour" })
        .pipe(Effect.provideService(Defaults.MaxInputRounds, 20), Effect.forkChild)
      yield* settled
      const pauses = [100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000, 100, 200]
      let sent = 1
      for (const [index, pause] of pauses.entries()) {
        assert.lengthOf(peer.lines, sent, `before the pause of round ${index + 1}`)
        yield* TestClock.adjust(pause - 1)
        yield* settled
        assert.lengthOf(peer.lines, sent, `${pause - 1} ms after round ${index + 1}`)
        yield* TestClock.adjust(1)
        yield* settled
        // The tenth answer asks, so the next round follows at once.
        sent += index === 8 ? 2 : 1
      }
      assert.strictEqual(heardOf(yield* Fiber.join(calling)), "done")
      assert.lengthOf(peer.lines, 13)
    })
  )

  it.effect("T-RPC-5, T-RPC-1: interruption cancels once, and the late answer is dropped silently", () =>
    Effect.gen(function* () {
      const { collect, diagnostics } = collected()
      yield* collect(
        Effect.gen(function* () {
          const { client, peer } = yield* connected(() => {})
          const calling = yield* Effect.forkChild(client.callTool("slow", {}, { timeout: "1 hour" }))
          yield* settled
          yield* Fiber.interrupt(calling)
          peer.answer({ id: 2 }, said("late"))
          yield* settled
          assert.deepStrictEqual(peer.methods(), ["tools/call", "notifications/cancelled"])
        })
      )
      assert.deepStrictEqual(diagnostics, [])
    })
  )

  it.effect("T-TOOL-4: a tool that fails is a result", () =>
    Effect.gen(function* () {
      const { client } = yield* connected(Peer.on("tools/call", () => ({ isError: true, ...said("no such city") })))
      const result = yield* client.callTool("weather")
      assert.isTrue(result.isError)
      assert.strictEqual(heardOf(result), "no such city")
    })
  )
})

describe("listing tools", () => {
  const listing = Effect.fnUntraced(function* (pages: ReadonlyArray<object>) {
    const cursors: Array<unknown> = []
    const peer = Peer.make(
      Peer.modern(
        Peer.on("tools/list", ({ params }) => {
          cursors.push(params?.["cursor"])
          return pages[cursors.length - 1] ?? pages.at(-1) ?? {}
        })
      )
    )
    const client = yield* McpClient.connect(peer.transport)
    return { cursors, list: Effect.map(client.listTools(), (tools) => tools.map(({ name }) => name)) }
  })

  it.effect("T-LIST-1: walks every page", () =>
    Effect.gen(function* () {
      const { cursors, list } = yield* listing([
        { tools: [tool("a"), tool("b")], nextCursor: "2" },
        { tools: [], nextCursor: "3" },
        { tools: [tool("c")] }
      ])
      assert.deepStrictEqual(yield* list, ["a", "b", "c"])
      assert.deepStrictEqual(cursors, [undefined, "2", "3"])
    })
  )

  it.effect("T-LIST-2: an empty cursor is a cursor, and null is none", () =>
    Effect.gen(function* () {
      const { cursors, list } = yield* listing([
        { tools: [tool("a")], nextCursor: "" },
        { tools: [tool("b")], nextCursor: null }
      ])
      assert.deepStrictEqual(yield* list, ["a", "b"])
      assert.deepStrictEqual(cursors, [undefined, ""])
    })
  )

  it.effect("T-LIST-3: a cursor that was given before ends the walk with a typed error", () =>
    Effect.gen(function* () {
      const { cursors, list } = yield* listing([{ tools: [tool("a")], nextCursor: "same" }])
      const error = yield* Effect.flip(list)
      assert.strictEqual(error.reason._tag, "ListTooLong")
      assert.include(error.message, "a cursor it had given before")
      assert.deepStrictEqual(cursors, [undefined, "same"])
    })
  )

  it.effect("MaxPages and MaxItems bound the walk, the last page included, and the error names them", () =>
    Effect.gen(function* () {
      let page = 0
      const endless = Peer.make(
        Peer.modern(Peer.on("tools/list", () => ({ tools: [tool("a")], nextCursor: `${++page}` })))
      )
      const client = yield* McpClient.connect(endless.transport)
      const pages = yield* client.listTools().pipe(Effect.provideService(Defaults.MaxPages, 3), Effect.flip)
      assert.include(pages.message, "gave up on tools/list after 3 pages and 3 items: more than 3 pages (MaxPages)")

      const { list } = yield* listing([{ tools: [tool("a"), tool("b"), tool("c")] }])
      const items = yield* list.pipe(Effect.provideService(Defaults.MaxItems, 2), Effect.flip)
      assert.include(items.message, "more than 2 items (MaxItems)")
    })
  )

  it.effect.each([
    ["tools/list", "tools", { name: "a", inputSchema: { type: "object" } }],
    ["prompts/list", "prompts", { name: "a" }],
    ["resources/list", "resources", { uri: "a:b", name: "a" }],
    ["resources/templates/list", "resourceTemplates", { uriTemplate: "a:{b}", name: "a" }]
  ] as const)("T-LIST-3: %s page by page is bounded too, and gives the pages before", ([method, member, item]) =>
    Effect.gen(function* () {
      let asked = 0
      let next: (page: number) => string | undefined = () => "same"
      const peer = Peer.make(
        Peer.modern(Peer.on(method, () => ({ [member]: [item, item], nextCursor: next(++asked) ?? null })))
      )
      const client = yield* McpClient.connect(peer.transport)
      /** How many pages came, and how it ended. */
      const walked = Effect.gen(function* () {
        asked = 0
        let pages = 0
        const counting = Stream.runForEach(client.pages(method), () => Effect.sync(() => void pages++))
        const end = yield* Effect.match(counting, { onFailure: ({ message }) => message, onSuccess: () => "all" })
        return { asked, pages, end }
      })

      const again = yield* walked
      assert.deepInclude(again, { asked: 2, pages: 2 })
      assert.include(again.end, "a cursor it had given before")
      next = (page) => `${page}`
      const tooMany = yield* Effect.provideService(walked, Defaults.MaxPages, 3)
      assert.deepInclude(tooMany, { asked: 3, pages: 3 })
      assert.include(tooMany.end, "more than 3 pages (MaxPages)")
      const tooLong = yield* Effect.provideService(walked, Defaults.MaxItems, 5)
      assert.deepInclude(tooLong, { asked: 3, pages: 2 })
      assert.include(tooLong.end, "more than 5 items (MaxItems)")
      next = (page) => (page < 4 ? `${page}` : undefined)
      assert.deepStrictEqual(yield* walked, { asked: 4, pages: 4, end: "all" })
    })
  )

  it.effect("T-TOOL-1: one bad tool among many is left out and reported, and the others are there", () =>
    Effect.gen(function* () {
      const { collect, diagnostics } = collected()
      const list = Effect.flatMap(
        listing([{ tools: [tool("a"), { name: "bad", inputSchema: null }, "nonsense", tool("b")] }]),
        (found) => found.list
      )
      assert.deepStrictEqual(yield* collect(list), ["a", "b"])
      assert.deepStrictEqual(
        diagnostics.map((each) => each._tag === "ItemRejected" && [each.method, each.pointer, each.name]),
        [
          ["tools/list", "/tools/1", "bad"],
          ["tools/list", "/tools/2", undefined]
        ]
      )
    })
  )
})

const named = (name: string) => {
  const peer = Peer.make(Peer.modern(Peer.on("tools/call", () => said(name))), { endpoint: name })
  const layer = McpClient.layer().pipe(Layer.provide(Layer.succeed(Transport, peer.transport)))
  return { peer, layer }
}
const whoIs = Effect.fnUntraced(function* (client: McpClient.McpClient["Service"]) {
  return `${client.endpoint} says ${heardOf(yield* client.callTool("who"))}`
})
const answer = (name: string) => `${name} says ${name}`

describe("clients beside each other", () => {
  it.effect("decision 13: two layers nested in one program are two connections, each to its own server", () =>
    Effect.gen(function* () {
      const one = named("one")
      const two = named("two")
      yield* Effect.gen(function* () {
        const outer = yield* McpClient.McpClient
        assert.strictEqual(yield* whoIs(outer), answer("one"))
        yield* Effect.gen(function* () {
          const inner = yield* McpClient.McpClient
          assert.strictEqual(yield* whoIs(inner), answer("two"))
          assert.strictEqual(yield* whoIs(outer), answer("one"))
        }).pipe(Effect.provide(two.layer))
        assert.deepStrictEqual([one.peer.closed(), two.peer.closed()], [0, 1])
        assert.strictEqual(yield* whoIs(yield* McpClient.McpClient), answer("one"))
      }).pipe(Effect.provide(one.layer))
      assert.strictEqual(one.peer.closed(), 1)
    })
  )

  it.effect("T-LIFE-6: closing a scope ends its connection and no other; a call after that fails at once", () =>
    Effect.gen(function* () {
      const kept = named("kept")
      const left = named("left")
      const scope = yield* Scope.make()
      const other = yield* McpClient.connect(kept.peer.transport)
      const client = yield* McpClient.connect(left.peer.transport).pipe(Scope.provide(scope))
      yield* Scope.close(scope, Exit.void)
      yield* Scope.close(scope, Exit.void)
      const error = yield* Effect.flip(client.callTool("who"))
      assert.strictEqual(error.reason._tag, "WireFailed")
      assert.strictEqual(yield* whoIs(other), answer("kept"))
    })
  )
})

describe("what is remembered of a server", () => {
  const visit = (setting: string, partition?: string) =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy(), { kind: partition === undefined ? "stdio" : "http" })
      yield* Effect.scoped(McpClient.connect({ ...peer.transport, setting })).pipe(
        Effect.provideService(Partition, partition)
      )
      return peer.methods()[0]
    })

  it.effect("U-06: the same command in another folder, or with other variables, is another server", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* visit("here"), "server/discover")
      assert.strictEqual(yield* visit("here"), "initialize")
      assert.strictEqual(yield* visit("there"), "server/discover")
    }).pipe(Effect.provide(EraMemory.layerInProcess))
  )

  it.effect("U-06: the same address for another principal is another server", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* visit("", "ann"), "server/discover")
      assert.strictEqual(yield* visit("", "ann"), "initialize")
      assert.strictEqual(yield* visit("", "bob"), "server/discover")
    }).pipe(Effect.provide(EraMemory.layerInProcess))
  )

  it.effect("U-06: of addresses that are shown alike, what tells them apart is part of the name", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* visit("digest of one", "ann"), "server/discover")
      assert.strictEqual(yield* visit("digest of one", "ann"), "initialize")
      assert.strictEqual(yield* visit("digest of another", "ann"), "server/discover")
    }).pipe(Effect.provide(EraMemory.layerInProcess))
  )
})
