import { assert, describe, it } from "@effect/vitest"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpSse from "../src/HttpSse.ts"
import * as StreamableHttp from "../src/StreamableHttp.ts"
import type { Incoming } from "../src/Transport.ts"
import { request, until } from "./fixtures/asking.ts"
import { event, events, type Handler, json, type Seen, serve, success } from "./fixtures/httpServer.ts"
import { legacy } from "./fixtures/revisions.ts"

const old = { revision: legacy }

/** An old server: a stream on GET, 202 on POST, answers on the stream. `say` is what it does with a message. */
const oldServer = (
  endpoint: string,
  say: (stream: Parameters<Handler>[1], one: Seen, response: Parameters<Handler>[1]) => void = (
    stream,
    { json: { id } }
  ) => {
    if (id !== undefined) stream.write(event(success(id)))
  }
) => {
  let stream: Parameters<Handler>[1] | undefined
  const handler: Handler = (one, response) => {
    if (one.method === "GET") {
      events(response)
      response.write(`event: endpoint\ndata: ${endpoint}\n\n`)
      stream = response
      return
    }
    if (stream !== undefined) say(stream, one, response)
    if (!response.writableEnded) response.writeHead(202).end("Accepted")
  }
  return handler
}

const opened = (handler: Handler, options: Partial<HttpSse.Options> = {}) =>
  Effect.gen(function* () {
    const server = yield* serve(handler)
    const heard: Array<Incoming> = []
    const transport = yield* HttpSse.make({ url: server.url.replace("/mcp", "/a/sse"), ...options })
    const wire = yield* transport.open((message) => void heard.push(message))
    return { wire, heard, seen: server.seen }
  }).pipe(Effect.provide(FetchHttpClient.layer))

describe("HttpSse", () => {
  it.live("U-42, L-SSE-1 to 5, 8: messages go to the endpoint, answers and notifications come on the stream", () =>
    Effect.gen(function* () {
      const { heard, seen, wire } = yield* opened(
        oldServer("/messages?s=1", (stream, { json: { id } }) => {
          if (id === undefined) return
          stream.write(event({ jsonrpc: "2.0", method: "notifications/message", params: {} }))
          stream.write(
            `event: endpoint\ndata: /other\n\nevent: odd\ndata: x\n\ndata: ${JSON.stringify(success(id))}\n\n`
          )
        }),
        { headers: { "x-tenant": "a" } }
      )
      yield* wire.exchange(request(1, "initialize"), old)
      yield* wire.send({ jsonrpc: "2.0", method: "notifications/initialized" }, legacy)
      yield* wire.exchange(request(2, "tools/list"), old)
      assert.deepStrictEqual(
        seen.map(({ headers, method, path }) => [method, path, headers["x-tenant"], headers["mcp-protocol-version"]]),
        [
          ["GET", "/a/sse", "a", undefined],
          ["POST", "/messages?s=1", "a", undefined],
          ["POST", "/messages?s=1", "a", "2025-11-25"],
          ["POST", "/messages?s=1", "a", "2025-11-25"]
        ]
      )
      assert.deepStrictEqual(
        heard.map(({ method }) => method),
        ["notifications/message", "notifications/message"]
      )
    })
  )

  it.live.each([
    ["messages?s=1", "/a/messages?s=1"],
    ["/messages?s=1", "/messages?s=1"],
    ["?s=1", "/a/sse?s=1"]
  ] as const)("T-SSE-5: the endpoint %s is resolved by the standard rules", ([endpoint, path]) =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(oldServer(endpoint))
      yield* wire.exchange(request(1, "x"), old)
      assert.strictEqual(seen[1]?.path, path)
    })
  )

  it.live("T-SSE-5: messageUrl wins over the endpoint the server names", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(oldServer("/wrong"), { messageUrl: "../right" })
      yield* wire.exchange(request(1, "x"), old)
      assert.strictEqual(seen[1]?.path, "/right")
    })
  )

  it.live("L-SSE-3: an endpoint at another origin is refused, and nothing is sent there", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(opened(oldServer("https://evil.test/messages")))
      assert.deepInclude(error.reason, {
        _tag: "MalformedReply",
        because: "its endpoint event names another origin",
        excerpt: "https://evil.test/messages"
      })
    })
  )

  it.live("T-SSE-6: what is no HTTP+SSE server fails at once, asked once", () =>
    Effect.gen(function* () {
      let asked = 0
      const refusing: Handler = (_seen, response) => {
        asked++
        response.writeHead(404).end("nothing here")
      }
      assert.strictEqual((yield* Effect.flip(opened(refusing))).message, "MCP: HTTP 404 nothing here")
      assert.strictEqual(asked, 1)
      const page = yield* Effect.flip(opened((_seen, response) => response.writeHead(200).end("<html>")))
      assert.deepInclude(page.reason, { _tag: "MalformedReply", because: "it is no event stream", excerpt: "<html>" })
      const ending: Handler = (_seen, response) => {
        events(response)
        response.end()
      }
      assert.include((yield* Effect.flip(opened(ending))).message, "it named no endpoint")
    })
  )

  it.live("L-COMPAT-4: a silent stream without an endpoint event is given up", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(opened((_seen, response) => events(response)))
      assert.deepInclude(error.reason, { because: "no endpoint event came within 50ms" })
    }).pipe(Effect.provideService(Defaults.EndpointTimeout, Duration.millis(50)))
  )

  it.live("L-SSE-6: the end of the stream ends the wire and what is open", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened(oldServer("/m", (stream) => void stream.end()))
      const error = yield* Effect.flip(wire.exchange(request(1, "x"), old))
      assert.deepInclude(error.reason, { _tag: "Closed", because: "the server ended its event stream" })
      assert.strictEqual((yield* Effect.flip(wire.ended)).reason._tag, "Closed")
      const send = wire.send({ jsonrpc: "2.0", method: "x" }, legacy)
      assert.strictEqual((yield* Effect.flip(send)).reason._tag, "Closed")
    })
  )

  it.live("a refused POST fails its request alone", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened(
        oldServer("/m", (stream, { json: { id, method } }, response) => {
          if (method === "refused") response.writeHead(400).end("no")
          else stream.write(event(success(id)))
        })
      )
      assert.strictEqual((yield* Effect.flip(wire.exchange(request(1, "refused"), old))).message, "MCP: HTTP 400 no")
      yield* wire.exchange(request(2, "x"), old)
    })
  )

  it.live("L-SSE-5: an answer in the body of a POST is understood", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened(
        oldServer("/m", (_stream, { json: { id } }, response) => json(response, success(id)))
      )
      assert.deepInclude(yield* wire.exchange(request(1, "x"), old), { id: 1 })
    })
  )

  it.live("T-RPC-5: an interrupted request is cancelled with a POST; closing ends the stream", () =>
    Effect.gen(function* () {
      const seen = yield* Effect.scoped(
        Effect.gen(function* () {
          const { seen, wire } = yield* opened(oldServer("/m", () => {}))
          const fiber = yield* Effect.forkChild(wire.exchange(request(3, "x"), old), { startImmediately: true })
          yield* until(Effect.sync(() => seen.length === 2))
          yield* Fiber.interrupt(fiber)
          yield* until(Effect.sync(() => seen.length === 3))
          return seen
        })
      )
      assert.deepInclude(seen[2]?.json, { method: "notifications/cancelled" })
      yield* until(Effect.sync(() => seen[0]?.abandoned === true))
    })
  )

  it.live("U-41: Streamable HTTP offers HTTP+SSE for the same URL", () =>
    Effect.gen(function* () {
      const server = yield* serve(oldServer("/m"))
      const transport = yield* StreamableHttp.make({ url: server.url })
      assert.isDefined(transport.openHttpSse)
      const wire = yield* (transport.openHttpSse ?? transport.open)(() => {})
      assert.deepInclude(yield* wire.exchange(request(1, "x"), old), { id: 1 })
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )
})
