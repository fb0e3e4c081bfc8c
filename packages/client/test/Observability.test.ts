import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import { Closed, TransportError } from "@mcp-effect/transport/TransportError"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Tracer from "effect/Tracer"
import { TestClock } from "effect/testing"
import * as McpClient from "../src/McpClient.ts"
import * as Metrics from "../src/Metrics.ts"
import type { Middleware } from "../src/Middleware.ts"
import { settled } from "./fixtures/announcer.ts"
import * as Peer from "./fixtures/peer.ts"
import { recorded } from "./fixtures/spans.ts"

const said = (text: string) => ({ content: [{ type: "text", text }] })
const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : block)).join(" ")
const metaOf = (heard: Peer.Heard | undefined): unknown => heard?.params?.["_meta"]

describe("tracing", () => {
  it.effect.each([
    ["modern", "2026-07-28"],
    ["legacy", "2025-11-25"]
  ] as const)(
    "U-63: in the %s era each request is a span, described as OpenTelemetry's conventions say",
    ([era, version]) =>
      Effect.gen(function* () {
        const peer = Peer.make(
          era === "modern"
            ? Peer.modern(Peer.on("tools/call", () => said("yes")))
            : Peer.legacy(Peer.on("tools/call", () => said("yes")))
        )
        const client = yield* McpClient.connect(peer.transport)
        const { named, tracer } = recorded()
        yield* client.callTool("forecast", { city: "Oslo" }).pipe(Effect.withTracer(tracer))
        const [span, ...more] = named("mcp.request")
        assert.isEmpty(more)
        const heard = peer.heard().at(-1)
        assert.deepStrictEqual(Object.fromEntries(span?.attributes ?? []), {
          "mcp.method.name": "tools/call",
          "mcp.protocol.version": version,
          "jsonrpc.request.id": String(heard?.id),
          "network.transport": "pipe",
          "server.address": "a scripted server",
          "gen_ai.tool.name": "forecast",
          "gen_ai.operation.name": "execute_tool"
        })
        assert.strictEqual(span?.kind, "client")
        const operation = named("McpClient.callTool")[0]
        assert.strictEqual(span?.parent._tag === "Some" && span.parent.value.spanId, operation?.spanId)
      })
  )

  it.effect("M-META-23: the server is told the trace to go on with, in W3C form, beside what the caller says", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern(Peer.on("tools/call", () => said("yes"))))
      const client = yield* McpClient.connect(peer.transport)
      const { named, tracer } = recorded()
      const call = client.callTool("a", {}, { meta: { "com.example/shop": 7 } })
      yield* call.pipe(Effect.withSpan("mine"), Effect.withTracer(tracer))
      const [span] = named("mcp.request")
      const meta = metaOf(peer.heard().at(-1))
      assert.deepInclude(meta, {
        "com.example/shop": 7,
        traceparent: `00-${span?.traceId}-${span?.spanId}-01`
      })
      assert.match(`${span?.traceId} ${span?.spanId}`, /^[0-9a-f]{32} [0-9a-f]{16}$/)
      assert.strictEqual(span?.traceId, named("mine")[0]?.traceId)
    })
  )

  it.effect("U-63: what went wrong stands in the span, without the words of the server", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern((heard, me) => me.refuse(heard, -32602, "the secret is 42")))
      const client = yield* McpClient.connect(peer.transport)
      const { named, tracer } = recorded()
      yield* client.readResource("note://x").pipe(Effect.withTracer(tracer), Effect.flip)
      const attributes = Object.fromEntries(named("mcp.request")[0]?.attributes ?? [])
      assert.deepInclude(attributes, { "error.type": "-32602", "mcp.resource.uri": "note://x" })
      assert.notInclude(JSON.stringify(attributes), "secret")
    })
  )

  it.effect("M-META-23: where tracing is off, nothing is added to a request, whatever backend is there", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy(Peer.on("tools/call", () => said("yes"))))
      const client = yield* McpClient.connect(peer.transport)
      const { spans, tracer } = recorded()
      yield* client.callTool("a").pipe(Effect.withTracerEnabled(false), Effect.withTracer(tracer))
      assert.isUndefined(metaOf(peer.heard().at(-1)))
      assert.isEmpty(spans)
    })
  )

  it.effect.each([
    ["by hand", "order 7", undefined],
    ["in capitals", "0AF7651916CD43DD8448EB211C80319C", undefined],
    ["by nothing", "0".repeat(32), undefined],
    ["in 64 bits", "8448eb211c80319c", /"traceparent":"00-0{16}8448eb211c80319c-[0-9a-f]{16}-01"/]
  ] as const)("M-META-23: of a trace that is named %s only what W3C can read is sent", ([, traceId, sent]) =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy(Peer.on("tools/call", () => said("yes"))))
      const client = yield* McpClient.connect(peer.transport)
      const { named, tracer } = recorded()
      const outer = Tracer.externalSpan({ traceId, spanId: "b7ad6b7169203331" })
      yield* client.callTool("a").pipe(Effect.withParentSpan(outer), Effect.withTracer(tracer))
      assert.strictEqual(named("mcp.request")[0]?.traceId, traceId)
      const line = peer.lines.at(-1) ?? ""
      if (sent === undefined) assert.notInclude(line, "traceparent")
      else assert.match(line, sent)
    })
  )

  it.effect("without a tracing backend nothing is added to a request", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy(Peer.on("tools/call", () => said("yes"))))
      const client = yield* McpClient.connect(peer.transport)
      yield* client.callTool("a").pipe(Effect.withSpan("mine"))
      assert.isUndefined(metaOf(peer.heard().at(-1)))
    })
  )
})

describe("metrics", () => {
  /** How many requests were counted, and how many seconds they took, under some attributes. */
  const counted = (attributes: Record<string, string>) =>
    Effect.map(Metric.value(Metric.withAttributes(Metrics.duration, attributes)), ({ count, sum }) => [count, sum])
  const call = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool" }
  const connect = (react: Peer.React) =>
    McpClient.connect(Peer.make(Peer.modern(react)).transport, { middleware: [Metrics.middleware] })
  const alone = Effect.provideServiceEffect(
    Metric.MetricRegistry,
    Effect.sync(() => new Map())
  )

  it.effect("requests are counted and timed by method and outcome", () =>
    Effect.gen(function* () {
      let times = 0
      const client = yield* connect((heard, me) => {
        if (heard.method !== "tools/call") return me.answer(heard, { tools: [] })
        times++
        if (times === 2) return me.answer(heard, { ...said("no"), isError: true })
        if (times === 3) return me.refuse(heard, -32602)
        if (times === 4) return me.refuse(heard, 12345)
        if (times !== 1) return
        return me.answer(heard, said("yes"))
      })
      yield* client.listTools()
      yield* client.callTool("a")
      yield* client.callTool("a")
      yield* Effect.flip(client.callTool("a"))
      yield* Effect.flip(client.callTool("a"))
      const slow = yield* Effect.forkChild(Effect.flip(client.callTool("a", {}, { timeout: "3 seconds" })))
      yield* settled
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(slow)
      yield* settled
      assert.deepStrictEqual(yield* counted({ "mcp.method.name": "tools/list" }), [1, 0])
      assert.deepStrictEqual(yield* counted(call), [1, 0])
      for (const error of ["tool_error", "InvalidParams", "other"]) {
        assert.deepStrictEqual(yield* counted({ ...call, "error.type": error }), [1, 0], error)
      }
      assert.deepStrictEqual(yield* counted({ ...call, "error.type": "interrupted" }), [1, 3])
    }).pipe(alone)
  )
})

describe("a middleware", () => {
  const connect = (
    middleware: ReadonlyArray<Middleware>,
    react: Peer.React = Peer.on("tools/call", () => said("yes"))
  ) => {
    const peer = Peer.make(Peer.modern(react))
    return Effect.map(McpClient.connect(peer.transport, { middleware }), (client) => ({ client, peer }))
  }

  it.effect("sees each request as it goes out, the first of a list outermost; the probe passes none", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const noting =
        (name: string): Middleware =>
        (request, next) => {
          seen.push(`${name} ${request.method}`)
          return Effect.tap(next(request), () => Effect.sync(() => seen.push(`${name} answered`)))
        }
      const { client, peer } = yield* connect([noting("outer"), noting("inner")])
      assert.isEmpty(seen)
      yield* client.callTool("a")
      assert.deepStrictEqual(seen, ["outer tools/call", "inner tools/call", "inner answered", "outer answered"])
      assert.deepStrictEqual(peer.methods(), ["server/discover", "tools/call"])
    })
  )

  it.effect("may rewrite a request and an answer", () =>
    Effect.gen(function* () {
      const shouting: Middleware = (request, next) =>
        Effect.map(next({ ...request, params: { ...request.params, name: "b" } }), (response): JsonRpc.Response =>
          "result" in response ? { ...response, result: said("YES") } : response
        )
      const { client, peer } = yield* connect([shouting])
      assert.strictEqual(textOf(yield* client.callTool("a")), "YES")
      assert.strictEqual(peer.heard().at(-1)?.params?.["name"], "b")
    })
  )

  it.effect("may answer from elsewhere, and then nothing is sent", () =>
    Effect.gen(function* () {
      const canned: Middleware = ({ id }) => Effect.succeed({ jsonrpc: "2.0", id, result: said("canned") })
      const { client, peer } = yield* connect([canned])
      assert.strictEqual(textOf(yield* client.callTool("a")), "canned")
      assert.deepStrictEqual(peer.methods(), ["server/discover"])
    })
  )

  it.effect("may send again; a failure of its own is one of the wire", () =>
    Effect.gen(function* () {
      let times = 0
      const again: Middleware = (request, next) =>
        Effect.flatMap(next(request), (response) =>
          "error" in response ? next({ ...request, id: 99 }) : Effect.succeed(response)
        )
      const flaky: Peer.React = (heard, me) =>
        ++times === 1 ? me.refuse(heard, -32603) : me.answer(heard, said("yes"))
      const { client } = yield* connect([again], flaky)
      assert.strictEqual(textOf(yield* client.callTool("a")), "yes")

      const cause = new TransportError({ endpoint: "x", reason: new Closed({ because: "no" }) })
      const closed = yield* connect([() => Effect.fail(cause)])
      const { reason } = yield* Effect.flip(closed.client.listTools())
      assert.strictEqual(reason._tag === "WireFailed" && reason.cause, cause)
    })
  )
})
