import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import type { Incoming, Transport, Wire } from "@mcp-effect/transport/Transport"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as NodeHttpScriptedServer from "../src/NodeHttpScriptedServer.ts"
import * as NodeScriptedServer from "../src/NodeScriptedServer.ts"
import * as Script from "../src/Script.ts"
import * as ScriptedServer from "../src/ScriptedServer.ts"
import * as Transcript from "../src/Transcript.ts"

const sender: Revision.Sender = { client: { name: "test", version: "1" }, capabilities: {} }
const modern = Revision.v2026_07_28
const legacy = Revision.v2025_11_25

let ids = 0
const ask = (wire: Wire, method: string, params: Record<string, unknown> = {}, revision = modern) =>
  wire.exchange(
    { jsonrpc: "2.0", id: ++ids, method, params: revision.stamp(sender)(params) ?? {} },
    { revision, onInterrupt: "silent" }
  )
const discover = (wire: Wire) => ask(wire, "server/discover")
const hello = (wire: Wire) => ask(wire, "initialize", Revision.hello("2025-11-25", sender), legacy)

/** Every way to reach a server of one script. */
const carriers: ReadonlyArray<
  readonly [
    name: string,
    reach: (
      script: Script.Script
    ) => Effect.Effect<
      { readonly transport: Transport["Service"]; readonly transcript: Effect.Effect<Transcript.Transcript> },
      never,
      Scope.Scope
    >
  ]
> = [
  [
    "a pipe in memory",
    (script) =>
      Effect.map(ScriptedServer.make(script), (server) => ({
        transport: server.pipe("stdio"),
        transcript: server.transcript
      }))
  ],
  [
    "HTTP in memory",
    (script) => Effect.map(ScriptedServer.make(script), ({ http, transcript }) => ({ transport: http, transcript }))
  ],
  [
    "a child process",
    (script) =>
      Effect.map(NodeScriptedServer.make(script), (server) => ({
        transport: NodeStdio.make(server),
        transcript: server.transcript
      }))
  ],
  [
    "a socket on loopback",
    (script) =>
      Effect.flatMap(NodeHttpScriptedServer.make(script), ({ transcript, url }) =>
        Effect.map(StreamableHttp.make({ url }), (transport) => ({ transport, transcript }))
      ).pipe(Effect.provide(FetchHttpClient.layer))
  ]
]

const open = (transport: Transport["Service"], heard: Array<Incoming> = []) =>
  transport.open((message) => void heard.push(message))

const failed = <A, R>(effect: Effect.Effect<A, TransportError, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason._tag)

describe.each(carriers)("U-66: one script over %s", (name, reach) => {
  const http = name.includes("HTTP") || name.includes("socket")

  it.live("answers like a server of both eras where the script says nothing else", () =>
    Effect.gen(function* () {
      const { transcript, transport } = yield* reach(Script.both({ name: "two-faced" }))
      const wire = yield* open(transport)
      const discovered = yield* discover(wire)
      const initialized = yield* hello(wire)
      const called = yield* ask(wire, "tools/call", { name: "echo", arguments: { text: "hello" } })
      const unknown = yield* failedOrCode(ask(wire, "prompts/list"))
      assert.deepInclude("result" in discovered ? discovered.result : {}, {
        supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
      })
      assert.deepInclude("result" in initialized ? initialized.result : {}, { protocolVersion: "2025-11-25" })
      assert.deepInclude("result" in called ? called.result : {}, { content: [{ type: "text", text: "hello" }] })
      assert.strictEqual(unknown, -32601)
      assert.deepStrictEqual(Transcript.methods(yield* transcript), [
        "server/discover",
        "initialize",
        "tools/call",
        "prompts/list"
      ])
    })
  )

  it.live("takes the turns of a method one after the other, and stays with the last", () =>
    Effect.gen(function* () {
      const { transport } = yield* reach(
        Script.modern({ on: { "server/discover": [[Script.fail(-32603, { id: "null" })], [Script.answer()]] } })
      )
      const wire = yield* open(transport)
      const heard = [yield* discover(wire), yield* discover(wire), yield* discover(wire)]
      assert.deepStrictEqual(
        heard.map((answer) => "result" in answer),
        [false, true, true]
      )
    })
  )

  it.live("says what the script says before the answer", () =>
    Effect.gen(function* () {
      const { transport } = yield* reach(
        Script.modern({
          on: {
            "server/discover": [
              Script.say({ method: "notifications/message", params: { level: "info", data: "one" } }),
              Script.say({ id: 7, method: "ping" }),
              Script.answer()
            ]
          }
        })
      )
      const heard: Array<Incoming> = []
      const wire = yield* open(transport, heard)
      yield* discover(wire)
      assert.deepStrictEqual(
        heard.map(({ method }) => method),
        ["notifications/message", "ping"]
      )
    })
  )

  it.live("waits for the answers to what it asked", () =>
    Effect.gen(function* () {
      const questions = ["q-1", 2].map((id) => Script.say({ id, method: "ping" }))
      const { transcript, transport } = yield* reach(
        Script.legacy({ on: { "tools/call": [...questions, Script.hear, Script.answer()] } })
      )
      const asked = yield* Queue.unbounded<JsonRpc.Request>()
      const wire = yield* transport.open((message) => {
        if ("id" in message) Queue.offerUnsafe(asked, message)
      })
      const answer = (id: JsonRpc.RequestId) => wire.send({ jsonrpc: "2.0", id, result: {} }, legacy)
      const called = ask(wire, "tools/call", { name: "echo", arguments: { text: "hello" } }, legacy)
      const calling = yield* Effect.forkScoped(called)
      assert.strictEqual((yield* Queue.take(asked)).id, "q-1")
      assert.strictEqual((yield* Queue.take(asked)).id, 2)
      yield* answer(2)
      yield* answer("q-1")
      assert.isTrue("result" in (yield* Fiber.join(calling)))
      const order = (yield* transcript).flatMap((entry) =>
        entry.event === "heard"
          ? Transcript.methods([entry])
          : entry.event === "said" && entry.text.includes("hello")
            ? ["the answer"]
            : []
      )
      assert.deepStrictEqual(order, ["tools/call", "response", "response", "the answer"])
    })
  )

  it.live("ends its output when the script says close", () =>
    Effect.gen(function* () {
      const { transport } = yield* reach(Script.modern({ on: { "tools/list": [Script.close] } }))
      const wire = yield* open(transport)
      const { reason } = yield* Effect.flip(ask(wire, "tools/list"))
      assert.include(http ? ["Unreachable"] : ["Closed", "Exited"], reason._tag)
    })
  )

  it.live("breaks off when the script says exit", () =>
    Effect.gen(function* () {
      const { transport, transcript } = yield* reach(
        Script.modern({ on: { "server/discover": [Script.log("out of order"), Script.exit(3)] } })
      )
      const wire = yield* open(transport)
      const { reason } = yield* Effect.flip(discover(wire))
      if (http) assert.strictEqual(reason._tag, "Unreachable")
      else assert.deepInclude(reason, { _tag: "Exited", code: 3, stderr: "out of order\n" })
      assert.strictEqual((yield* transcript).at(-1)?.event, "ended")
    })
  )
})

const failedOrCode = (exchange: ReturnType<typeof ask>) =>
  exchange.pipe(
    Effect.map((answer) => ("error" in answer ? answer.error.code : undefined)),
    Effect.catchReason("TransportError", "HttpRejected", ({ error }) => Effect.succeed(error?.code))
  )

describe("U-66: a scripted server in memory", () => {
  it.effect("waits by the test clock, on a pipe and over HTTP", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(
        Script.modern({ on: { "server/discover": [Script.wait("2 seconds"), Script.answer()] } })
      )
      for (const transport of [server.pipe(), server.http]) {
        const asking = yield* Effect.forkChild(Effect.flatMap(open(transport), discover))
        yield* TestClock.adjust("1999 millis")
        assert.isUndefined(asking.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        assert.isTrue("result" in (yield* Fiber.join(asking)))
      }
      const times = (yield* server.transcript).filter(({ event }) => event === "said").map(({ at }) => at)
      assert.deepStrictEqual(times, [2000, 4000])
    })
  )

  it.effect("counts pipes, and behaves otherwise on the second", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(
        Script.modern({ on: { "*": [Script.exit(1)] }, again: { "*": [Script.answer()] } })
      )
      const transport = server.pipe("stdio")
      assert.strictEqual(yield* failed(Effect.scoped(Effect.flatMap(open(transport), discover))), "Exited")
      assert.isTrue("result" in (yield* Effect.flatMap(open(transport), discover)))
      assert.strictEqual(Transcript.wires(yield* server.transcript), 2)
    })
  )

  it.effect("says of its pipes that only a process can be opened again", () =>
    Effect.map(ScriptedServer.make(Script.both()), ({ pipe }) =>
      assert.deepStrictEqual(
        [pipe(), pipe("memory"), pipe("stream"), pipe("stdio")].map(({ kind, reopenable }) => [kind, reopenable]),
        [
          ["memory", false],
          ["memory", false],
          ["stream", false],
          ["stdio", true]
        ]
      )
    )
  )

  it.effect("closes a pipe that is no process instead of exiting", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.modern({ opening: [Script.exit(1)] }))
      assert.strictEqual(yield* failed(Effect.flatMap(open(server.pipe("stream")), discover)), "Closed")
    })
  )

  it.effect("notes that a client has left before the answer (M-HTTP-27)", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.modern({ on: { "server/discover": Script.silence } }))
      const wire = yield* open(server.http)
      const asking = yield* Effect.forkChild(discover(wire), { startImmediately: true })
      yield* Effect.yieldNow
      yield* Fiber.interrupt(asking)
      assert.deepStrictEqual(
        (yield* server.transcript).map(({ event }) => event),
        ["heard", "ended"]
      )
    })
  )

  const html = [
    ["a page instead of an answer", [Script.page()], "MalformedReply"],
    ["202 and no body", [Script.http(202)], "MalformedReply"],
    ["an event stream that ends early", [Script.end], "ResponseLost"],
    ["an event stream that breaks", [Script.write(": on its way\n\n"), Script.close], "ResponseLost"],
    ["a foreign id", [Script.answer(undefined, { id: "foreign" })], "MalformedReply"],
    ["HTTP 503", [Script.http(503, "busy")], "HttpRejected"],
    ["a redirect to another origin", [Script.http(307, "", { location: "http://other.test/" })], "HttpRejected"]
  ] as const
  it.effect.each(html)("gives %s over HTTP", ([, turn, reason]) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.modern({ on: { "server/discover": turn } }))
      const wire = yield* open(server.http)
      assert.strictEqual(yield* failed(discover(wire)), reason)
    })
  )

  it.effect("redirects to itself, and answers there", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(
        Script.modern({
          on: { "server/discover": [[Script.http(308, "", { location: "/moved" })], [Script.answer()]] }
        })
      )
      const wire = yield* open(server.http)
      assert.isTrue("result" in (yield* discover(wire)))
      assert.deepStrictEqual(
        Transcript.heard(yield* server.transcript).map(({ http }) => http?.path),
        ["/mcp", "/moved"]
      )
    })
  )

  it.effect("refuses a modern request whose headers and body disagree (M-HTTP-34)", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.modern())
      const wire = yield* open(server.http)
      const answer = wire.exchange(
        { jsonrpc: "2.0", id: 1, method: "server/discover", params: modern.stamp(sender)(undefined) ?? {} },
        { revision: legacy }
      )
      assert.strictEqual(yield* failedOrCode(answer), -32020)
    })
  )

  const statuses = [
    ["a modern server that is asked the new way", Script.modern(), modern, 404],
    ["a modern server that is asked the old way", Script.modern(), legacy, 200],
    ["a server of both eras that is asked the new way", Script.both(), modern, 404],
    ["a server of both eras that is asked the old way", Script.both(), legacy, 200],
    ["an older server that is asked the new way", Script.legacy(), modern, 200],
    ["an older server that is asked the old way", Script.legacy(), legacy, 200]
  ] as const
  it.effect.each(statuses)(
    "M-HTTP-30: a method that is not there has the status of its era: %s",
    ([, script, revision, status]) =>
      Effect.gen(function* () {
        const server = yield* ScriptedServer.make(script)
        const wire = yield* open(server.http)
        assert.strictEqual(yield* failedOrCode(ask(wire, "completion/complete", {}, revision)), -32601)
        const said = (yield* server.transcript).flatMap((entry) => (entry.event === "said" ? [entry.status] : []))
        assert.deepStrictEqual(said, [status])
      })
  )

  it.effect.each([
    [-32601, 404],
    [-32020, 400],
    [-32021, 400],
    [-32022, 400],
    [-32602, 200],
    [-32000, 200]
  ] as const)("M-HTTP-30 to 34: code %s of a modern server has status %s", ([code, status]) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.modern({ on: { "tools/list": [Script.fail(code)] } }))
      const wire = yield* open(server.http)
      assert.strictEqual(yield* failedOrCode(ask(wire, "tools/list")), code)
      assert.deepInclude((yield* server.transcript).at(1), { event: "said", status })
    })
  )

  it.effect("keeps a session: refuses strangers, forgets it on DELETE (L-HTTP-15, T-NEG-5)", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.legacy({ http: { session: true } }))
      const before = yield* open(server.http)
      assert.strictEqual(yield* failedOrCode(ask(before, "tools/list", {}, legacy)), -32000)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const wire = yield* open(server.http)
          yield* hello(wire)
          assert.isTrue("result" in (yield* ask(wire, "tools/list", {}, legacy)))
        })
      )
      const last = Transcript.heard(yield* server.transcript).at(-1)
      assert.deepInclude(last?.http, { method: "DELETE" })
      assert.strictEqual(last?.http?.headers["mcp-session-id"], "session-1")
    })
  )

  it.effect("takes no more messages than its limit", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.modern({ limit: 2 }))
      for (const [transport, reason] of [
        [server.pipe(), "Closed"],
        [server.http, "Unreachable"]
      ] as const) {
        const wire = yield* open(transport)
        yield* discover(wire)
        yield* discover(wire)
        assert.strictEqual(yield* failed(discover(wire)), reason)
      }
    })
  )

  it.effect("speaks the older HTTP+SSE at the same address", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.legacy({ http: { transport: "sse" } }))
      const streamable = yield* open(server.http)
      assert.strictEqual(yield* failed(hello(streamable)), "HttpRejected")
      const sse = yield* server.http.openHttpSse?.(() => undefined) ?? Effect.die("no HTTP+SSE")
      const answer = yield* hello(sse)
      assert.deepInclude("result" in answer ? answer.result : {}, { protocolVersion: "2025-11-25" })
      const paths = Transcript.heard(yield* server.transcript).map(({ http }) => `${http?.method} ${http?.path}`)
      assert.deepStrictEqual(paths, ["POST /mcp", "GET /mcp", "POST /messages?session=1"])
    })
  )

  it.effect("asks in input rounds, and reads the answers when the request comes again", () =>
    Effect.gen(function* () {
      const inputRequests = { who: { method: "roots/list" } }
      const asks = Script.inputRequired(inputRequests, { requestState: "s" })
      const server = yield* ScriptedServer.make(
        Script.modern({ on: { "tools/call": [[Script.answer(asks)], [Script.answer()]] } })
      )
      const wire = yield* open(server.pipe())
      const call = { name: "echo", arguments: { text: "hello" } }
      const first = yield* ask(wire, "tools/call", call)
      assert.deepStrictEqual("result" in first ? first.result : {}, {
        resultType: "input_required",
        inputRequests,
        requestState: "s"
      })
      const second = yield* ask(wire, "tools/call", { ...call, inputResponses: { who: { roots: [] } } })
      assert.deepInclude("result" in second ? second.result : {}, { content: [{ type: "text", text: "hello" }] })
    })
  )
})
