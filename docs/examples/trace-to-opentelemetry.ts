/**
 * Sends spans and metrics to OpenTelemetry, over OTLP, with what `effect` brings. The server is told the trace, so what it
 * does itself can stand below the call that asked for it.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { McpClient, Metrics } from "@mcp-effect/client"
import { Script, ScriptedServer, Transcript } from "@mcp-effect/testing"
import { Console, Effect, Layer, Schema } from "effect"
import { FetchHttpClient, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Otlp } from "effect/observability"
import { createServer } from "node:http"

/** Everything the client does goes to a collector: `http://localhost:4318` is where they listen by default. */
const telemetry = (baseUrl: string) =>
  Otlp.layerJson({ baseUrl, resource: { serviceName: "travel-agent" } }).pipe(Layer.provide(FetchHttpClient.layer))

const work = Effect.gen(function* () {
  const server = yield* ScriptedServer.make(Script.both()) // stands for your server
  const client = yield* McpClient.connect(server.pipe(), { middleware: [Metrics.middleware] })
  yield* client.callTool("echo", { text: "hello" }).pipe(Effect.withSpan("plan a trip"))
  return Transcript.messages(yield* server.transcript).at(-1)
})

// The rest stands for your collector, and shows what it got.

const Value = Schema.Struct({ stringValue: Schema.String })
const Span = Schema.Struct({
  name: Schema.String,
  traceId: Schema.String,
  spanId: Schema.String,
  parentSpanId: Schema.optionalKey(Schema.String),
  attributes: Schema.Array(Schema.Struct({ key: Schema.String, value: Value }))
})
const Traces = Schema.Struct({
  resourceSpans: Schema.Array(Schema.Struct({ scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Span) })) }))
})

const program = Effect.gen(function* () {
  const received = new Map<string, string>()
  yield* HttpServer.serveEffect(
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      received.set(request.url, yield* request.text)
      return HttpServerResponse.empty({ status: 200 })
    })
  )
  const { address } = yield* HttpServer.HttpServer

  // what was not sent yet is sent when the layer is released
  const heard = yield* work.pipe(Effect.scoped, Effect.provide(telemetry(HttpServer.formatAddress(address))))

  const { resourceSpans } = yield* Schema.decodeEffect(Schema.fromJsonString(Traces))(received.get("/v1/traces") ?? "")
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  for (const { attributes, name, parentSpanId } of spans) {
    const parent = spans.find(({ spanId }) => spanId === parentSpanId)?.name ?? "nothing"
    const facts = attributes.filter(({ key }) => /^(mcp|gen_ai)/.test(key))
    yield* Console.log(
      `${name}, below ${parent}`,
      facts.map(({ key, value }) => `${key}=${value.stringValue}`).join(" ")
    )
  }
  const call = spans.find(({ attributes }) => attributes.some(({ value }) => value.stringValue === "tools/call"))
  yield* Console.log("the server was told:", JSON.stringify(heard).includes(`00-${call?.traceId}-${call?.spanId}-01`))
  yield* Console.log("metrics:", received.get("/v1/metrics")?.includes("mcp.client.operation.duration"))
})

const loopback = NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })
await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(loopback)))
