import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import * as Tracer from "effect/Tracer"
import * as HttpSse from "../src/HttpSse.ts"
import * as NodeHttp from "../src/NodeHttp.ts"
import * as StreamableHttp from "../src/StreamableHttp.ts"
import { type Incoming, type Standing, Transport, type Wire } from "../src/Transport.ts"
import type { Reason, TransportError } from "../src/TransportError.ts"
import { through, until } from "./fixtures/asking.ts"
import { event, events, type Handler, json, serve, success } from "./fixtures/httpServer.ts"
import { legacy, modern } from "./fixtures/revisions.ts"

const request = (id: JsonRpc.RequestId, method: string, params: JsonRpc.JsonObject = {}): JsonRpc.Request => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})
const old = { revision: legacy }
const now = { revision: modern }
const initialized: JsonRpc.Notification = { jsonrpc: "2.0", method: "notifications/initialized" }
const progress = (step: number): JsonRpc.Notification => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken: 1, progress: step }
})
const quick = Schedule.spaced("5 millis").pipe(Schedule.upTo({ times: 3 }))
const reasonOf = <A, R>(exchange: Effect.Effect<A, TransportError, R>) =>
  Effect.map(Effect.flip(exchange), ({ reason }): Reason => reason)

const clients: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["fetch", FetchHttpClient.layer],
  ["undici", NodeHttpClient.layerUndici],
  ["NodeHttp", NodeHttp.layer]
]

/** Web Crypto as a page without HTTPS has it. */
const insecure: typeof crypto = Object.create(crypto, {
  subtle: { value: undefined },
  getRandomValues: { value: (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes) }
})

describe.each(clients)("StreamableHttp over %s", (_name, client) => {
  /** The client lives as long as the test. */
  const made = (options: StreamableHttp.Options) =>
    Effect.flatMap(Layer.build(client), (context) => Effect.provideContext(StreamableHttp.make(options), context))
  const opened = Effect.fnUntraced(function* (handler: Handler, options: Partial<StreamableHttp.Options> = {}) {
    const server = yield* serve(handler)
    const heard: Array<Incoming> = []
    const transport = yield* made({ url: server.url, ...options })
    const wire = yield* transport.open((message) => void heard.push(message))
    return { wire, heard, seen: server.seen, url: server.url, endpoint: transport.endpoint }
  })
  const answering = (handler: Handler, request_ = request(1, "tools/list"), how: { revision: typeof modern } = now) =>
    Effect.flatMap(opened(handler), ({ wire }) => wire.exchange(request_, how))

  it.live("U-21, M-HTTP-7, M-HDR-1 to 6, T-MOD-4: a modern request carries its headers, and no session", () =>
    Effect.gen(function* () {
      const { endpoint, seen, url, wire } = yield* opened(
        ({ json: { id } }, response) => json(response, success(id), { "mcp-session-id": "never" }),
        { headers: { "X-Tenant": "a", Authorization: Redacted.make("Bearer s3cret") } }
      )
      yield* wire.exchange(request(1, "tools/call", { name: "Zürich" }), {
        revision: modern,
        mirrored: [["Mcp-Param-Zone", "eu"]]
      })
      yield* wire.exchange(request(2, "tools/list"), now)
      assert.strictEqual(endpoint, url)
      const [call, list] = seen
      assert.include(call?.headers, {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "=?base64?WsO8cmljaA==?=",
        "mcp-param-zone": "eu",
        "x-tenant": "a",
        authorization: "Bearer s3cret"
      })
      assert.include(list?.headers, { "mcp-method": "tools/list" })
      assert.doesNotHaveAnyKeys(list?.headers, ["mcp-session-id", "mcp-name", "mcp-param-zone"])
    })
  )

  it.live("L-HTTP-14 to 20, T-HTTP-11: a session comes from initialize, is sent after it and deleted at the end", () =>
    Effect.gen(function* () {
      const seen = yield* Effect.scoped(
        Effect.gen(function* () {
          const { seen, wire } = yield* opened(({ json: { id }, method }, response) => {
            if (method === "DELETE") response.writeHead(405).end()
            else if (id === undefined) response.writeHead(202, { "MCP-SESSION-ID": "other" }).end()
            else json(response, success(id), { "MCP-Session-ID": id === 1 ? "AbC-1" : "other" })
          })
          yield* wire.exchange(request(1, "initialize"), old)
          yield* wire.send(initialized, legacy)
          yield* wire.exchange(request(2, "tools/list"), old)
          return seen
        })
      )
      const facts = seen
        .filter(({ method }) => method !== "GET")
        .map(({ headers, method }) => [method, headers["mcp-session-id"], headers["mcp-protocol-version"]])
      assert.deepStrictEqual(facts, [
        ["POST", undefined, undefined],
        ["POST", "AbC-1", "2025-11-25"],
        ["POST", "AbC-1", "2025-11-25"],
        ["DELETE", "AbC-1", "2025-11-25"]
      ])
      assert.doesNotHaveAnyKeys(seen[1]?.headers, ["mcp-method", "mcp-name"])
    })
  )

  it.live("L-DEV-5: no session is taken from a refusal, another request, or an error; an odd id is none", () =>
    Effect.gen(function* () {
      let handshakes = 0
      const { seen, wire } = yield* opened(({ json: { id, method } }, response) => {
        const headers = { "mcp-session-id": "nope" }
        if (method !== "initialize") return json(response, success(id), headers)
        handshakes++
        if (handshakes === 1) return json(response, {}, headers, 400)
        if (handshakes === 2) return json(response, { jsonrpc: "2.0", id, error: { code: -1, message: "" } }, headers)
        return json(response, success(id), { "mcp-session-id": "two words" })
      })
      yield* Effect.flip(wire.exchange(request(1, "initialize"), old))
      yield* wire.exchange(request(2, "initialize"), old)
      yield* wire.exchange(request(3, "tools/list"), old)
      yield* wire.exchange(request(4, "initialize"), old)
      yield* wire.exchange(request(5, "tools/list"), old)
      assert.deepStrictEqual(
        seen.map(({ headers }) => headers["mcp-session-id"]),
        [undefined, undefined, undefined, undefined, undefined]
      )
    })
  )

  it.effect("L-HTTP-17: a DELETE that is not answered does not hold up the end for longer than its limit", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { seen, wire } = yield* opened(({ json: { id }, method }, response) => {
        if (method !== "DELETE") json(response, success(id), { "mcp-session-id": "a" })
      }).pipe(Scope.provide(scope))
      yield* wire.exchange(request(1, "initialize"), old)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.withLive(until(() => seen.at(-1)?.method === "DELETE"))
      yield* TestClock.adjust(99)
      yield* TestClock.withLive(through)
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(closing)
    }).pipe(Effect.provideService(Defaults.SessionDeleteTimeout, Duration.millis(100)))
  )

  it.live("T-HTTP-1, T-HTTP-2: a lost session is named as such, and only for a request that carried one", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened(({ json: { id, method } }, response) => {
        if (method === "initialize") return json(response, success(id), { "mcp-session-id": "a" })
        if (method === "plain") return response.writeHead(404).end()
        if (method === "worded") return response.writeHead(400).end("Bad Request: No valid session ID provided")
        return json(response, { jsonrpc: "2.0", id: null, error: { code: -32602, message: "bad" } }, {}, 400)
      })
      const before = yield* reasonOf(wire.exchange(request(1, "plain"), old))
      assert.deepInclude(before, { _tag: "HttpRejected", status: 404, sessionLost: false })
      yield* wire.exchange(request(2, "initialize"), old)
      assert.deepInclude(yield* reasonOf(wire.exchange(request(3, "plain"), old)), { status: 404, sessionLost: true })
      assert.deepInclude(yield* reasonOf(wire.exchange(request(4, "worded"), old)), { status: 400, sessionLost: true })
      assert.deepInclude(yield* reasonOf(wire.exchange(request(5, "other"), old)), {
        status: 400,
        sessionLost: false,
        error: { code: -32602, message: "bad" }
      })
    })
  )

  it.live("T-HTTP-5: any 2xx accepts a notification, whatever its body", () =>
    Effect.gen(function* () {
      const bodies = [
        (response: Parameters<Handler>[1]) => response.writeHead(202).end(),
        (response: Parameters<Handler>[1]) => response.writeHead(204).end(),
        (response: Parameters<Handler>[1]) => response.writeHead(202, { "content-type": "text/plain" }).end("Accepted"),
        (response: Parameters<Handler>[1]) => json(response, null),
        // Held open: nobody waits for its end.
        (response: Parameters<Handler>[1]) => events(response)
      ]
      const { wire } = yield* opened((_seen, response) => bodies.shift()?.(response))
      yield* Effect.repeat(wire.send(initialized, modern), { times: 4 })
      assert.strictEqual(bodies.length, 0)
    })
  )

  it.live("U-05: a refused notification fails with the status and what the body says", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened((_seen, response) =>
        response.writeHead(403).end(`no\u0007way ${"😀".repeat(300)}`)
      )
      const error = yield* Effect.flip(wire.send(initialized, modern))
      assert.strictEqual(error.message, `MCP: HTTP 403 no way ${"😀".repeat(193)}`)
      assert.include(error.hint, "credentials")
    })
  )

  it.live("U-05: a refusal keeps the facts: challenge, retry-after, JSON-RPC error without a content type", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened(({ json: { method } }, response) => {
        if (method === "auth") response.writeHead(401, { "www-authenticate": "Bearer realm=x" }).end()
        else if (method === "busy") response.writeHead(503, { "retry-after": "7" }).end("busy")
        else
          response
            .writeHead(400)
            .end(JSON.stringify({ error: { code: -32022, message: "v", data: { supported: [] } } }))
      })
      const auth = yield* Effect.flip(wire.exchange(request(1, "auth"), now))
      assert.strictEqual(auth.message, "MCP: HTTP 401")
      assert.deepInclude(auth.reason, { challenge: "Bearer realm=x", body: "" })
      assert.deepInclude(yield* reasonOf(wire.exchange(request(2, "busy"), now)), { retryAfter: 7_000 })
      assert.deepInclude(yield* reasonOf(wire.exchange(request(3, "x"), now)), {
        error: { code: -32022, message: "v", data: { supported: [] } },
        mediaType: undefined
      })
    })
  )

  it.live("T-HTTP-6: a web page, nothing, or another type fails the request at once; the wire goes on", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened(({ json: { id, method } }, response) => {
        if (method === "page") response.writeHead(200, { "content-type": "text/html" }).end("<html>login</html>")
        else if (method === "none") response.writeHead(200).end()
        else if (method === "accepted") response.writeHead(202).end()
        else if (method === "empty") response.writeHead(204).end()
        else if (method === "broken") response.writeHead(200, { "content-type": "application/json" }).end("{")
        else if (method === "foreign") json(response, success(99))
        else if (method === "null") json(response, null)
        else if (method === "untyped") response.writeHead(200).end(JSON.stringify(success(id)))
        else json(response, success(id))
      })
      const fails = (method: string) => reasonOf(wire.exchange(request(1, method), now))
      assert.deepInclude(yield* fails("page"), {
        _tag: "MalformedReply",
        status: 200,
        mediaType: "text/html",
        excerpt: "<html>login</html>"
      })
      assert.deepInclude(yield* fails("none"), { because: "it is empty" })
      assert.deepInclude(yield* fails("accepted"), { status: 202, because: "it was accepted without an answer" })
      assert.deepInclude(yield* fails("empty"), { status: 204, because: "it was accepted without an answer" })
      assert.deepInclude(yield* fails("broken"), { because: "it is not JSON", excerpt: "{" })
      assert.deepInclude(yield* fails("foreign"), { because: "it answers request 99, not 1" })
      assert.deepInclude(yield* fails("null"), { because: "it is not an object" })
      yield* wire.exchange(request(1, "untyped"), now)
      yield* wire.exchange(request(1, "fine"), now)
    })
  )

  it.live("L-DEV-8, T-RPC-4: an error with a null or foreign id, or an id echoed as text, answers its POST", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened(({ json: { method } }, response) => {
        if (method === "text") json(response, success("1"))
        else
          json(response, {
            jsonrpc: "2.0",
            id: method === "null" ? null : "server-error",
            error: { code: -1, message: "" }
          })
      })
      assert.deepInclude(yield* wire.exchange(request(1, "text"), now), { id: 1 })
      assert.deepInclude(yield* wire.exchange(request(1, "null"), now), { id: 1, error: { code: -1, message: "" } })
      assert.deepInclude(yield* wire.exchange(request(1, "foreign"), now), { id: 1 })
    })
  )

  it.live("T-RPC-7: an array is taken apart: what is no answer first, then the answer", () =>
    Effect.gen(function* () {
      const { heard, wire } = yield* opened(({ json: { id } }, response) => json(response, [progress(1), success(id)]))
      assert.deepInclude(yield* wire.exchange(request(1, "x"), now), { result: {} })
      assert.deepStrictEqual(heard, [progress(1)])
    })
  )

  it.live("T-HTTP-7: 307 and 308 to the same origin are followed with the body; nothing else is", () =>
    Effect.gen(function* () {
      const { seen, url, wire } = yield* opened(({ json: { id, method }, path }, response) => {
        if (path === "/mcp/") return json(response, success(id))
        const [status, location] = String(method).split(" ")
        return response.writeHead(Number(status), { location }).end()
      })
      yield* wire.exchange(request(1, "307 /mcp/"), now)
      yield* wire.exchange(request(2, "308 mcp/"), now)
      assert.strictEqual(seen[1]?.body, seen[0]?.body)
      assert.strictEqual(seen[1]?.headers["mcp-method"], "307 /mcp/")
      const moved = yield* Effect.flip(wire.exchange(request(3, "301 /mcp/"), now))
      assert.deepInclude(moved.reason, { _tag: "HttpRejected", status: 301, location: `${url}/` })
      assert.include(moved.hint, `${url}/`)
      const other = "https://user:pass@other.test/mcp?access_token=s3cret"
      const away = yield* Effect.flip(wire.exchange(request(4, `307 ${other}`), now))
      assert.deepInclude(away.reason, { _tag: "HttpRejected", status: 307 })
      assert.notInclude(JSON.stringify(away), "pass@")
      const before = seen.length
      assert.deepInclude(yield* reasonOf(wire.exchange(request(5, "307 /mcp"), now)), { status: 307 })
      assert.strictEqual(seen.length - before, 6)
    })
  )

  it.live("T-SEC-2: another origin, were it only another port, hears nothing, least of all a secret", () =>
    Effect.gen(function* () {
      const other = yield* serve(({ json: { id } }, response) => json(response, success(id)))
      const { seen, wire } = yield* opened(
        ({ json: { method } }, response) => response.writeHead(Number(method), { location: other.url }).end(),
        { headers: { Authorization: Redacted.make("Bearer s3cret"), "X-Key": Redacted.make("s3cret") } }
      )
      for (const status of [301, 302, 303, 307, 308]) {
        const reason = yield* reasonOf(wire.exchange(request(status, String(status)), now))
        assert.deepInclude(reason, { _tag: "HttpRejected", status, location: other.url })
      }
      assert.lengthOf(seen, 5)
      assert.deepStrictEqual(other.seen, [])
    })
  )

  it.live("M-HTTP-16, U-24, T-SSE-3: messages on an event stream are heard in order, before the answer", () =>
    Effect.gen(function* () {
      const { heard, wire } = yield* opened(({ json: { id } }, response) => {
        events(response)
        response.write(
          `: keepalive\n\nid: p0\ndata: \n\nevent: ping\ndata: x\n\n${event(progress(1))}${event(progress(2))}`
        )
        response.end(event({ jsonrpc: "2.0", id: 7, method: "roots/list" }) + event(success(id, { done: true })))
      })
      const seen: Array<Incoming> = []
      const answer = yield* wire.exchange(request(1, "x"), {
        revision: legacy,
        interim: (message) => void seen.push(message)
      })
      assert.deepStrictEqual(answer, { jsonrpc: "2.0", id: 1, result: { done: true } })
      assert.deepStrictEqual(seen, [progress(1), progress(2), { jsonrpc: "2.0", id: 7, method: "roots/list" }])
      assert.deepStrictEqual(heard, [])
    })
  )

  it.live("T-SSE-1, T-SSE-2, T-SSE-4: line ends, chunks and characters may be cut anywhere", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened(({ json: { id } }, response) => {
        events(response)
        const bytes = Buffer.from(
          `\ufeffevent: message\r\ndata: {"jsonrpc":"2.0",\r\ndata: "id":${String(id)},"result":{"t":"读取😀"}}\r\n\r\n`
        )
        let at = 0
        const next = () => {
          if (at === bytes.length) return response.end()
          response.write(bytes.subarray(at, ++at), () => setImmediate(next))
        }
        next()
      })
      assert.deepInclude(yield* wire.exchange(request(1, "x"), now), { result: { t: "读取😀" } })
    })
  )

  it.live("T-HTTP-8, M-HTTP-24: a stream that ends or breaks before the answer loses it", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened(({ json: { method } }, response) => {
        events(response)
        response.write(event(progress(1)), () => {
          if (method === "end") response.end()
          else response.destroy()
        })
      })
      assert.deepInclude(yield* reasonOf(wire.exchange(request(1, "end"), now)), {
        _tag: "ResponseLost",
        because: "the event stream ended before the answer"
      })
      assert.strictEqual((yield* reasonOf(wire.exchange(request(1, "break"), now)))._tag, "ResponseLost")
    })
  )

  it.live("a body that breaks off loses the answer", () =>
    Effect.gen(function* () {
      const reason = yield* reasonOf(
        answering((_seen, response) => {
          response.writeHead(200, { "content-type": "application/json", "content-length": "1000" })
          response.write(`{"jsonrpc":`, () => response.destroy())
        })
      )
      assert.strictEqual(reason._tag, "ResponseLost")
    })
  )

  it.live("a broken message event fails the request; an event for another request is reported and passed over", () =>
    Effect.gen(function* () {
      const diagnostics: Array<Diagnostic> = []
      const { wire } = yield* opened(({ json: { id, method } }, response) => {
        events(response)
        response.end(method === "broken" ? "data: {\n\n" : event(success(99)) + event(success(id)))
      }).pipe(Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void diagnostics.push(diagnostic))))
      assert.deepInclude(yield* reasonOf(wire.exchange(request(1, "broken"), now)), {
        _tag: "MalformedReply",
        excerpt: "{"
      })
      yield* wire.exchange(request(1, "x"), now)
      assert.deepInclude(diagnostics[0], { _tag: "UnknownResponse", id: 99 })
    })
  )

  it.live("a body or an event over the limit fails with TooLarge", () =>
    Effect.gen(function* () {
      const text = "x".repeat(2_000)
      const { wire } = yield* opened(({ json: { id, method } }, response) => {
        if (method === "event") {
          events(response)
          response.end(event(success(id, { text })))
        } else if (method === "chunked") {
          response.writeHead(200, { "content-type": "application/json" })
          response.write(" ")
          response.end(JSON.stringify(success(id, { text })))
        } else
          json(response, success(id, { text }), {
            "content-length": String(JSON.stringify(success(id, { text })).length)
          })
      }).pipe(Effect.provideService(Defaults.MaxMessageBytes, 1_000))
      for (const [method, what] of [
        ["event", "event"],
        ["chunked", "body"],
        ["announced", "body"]
      ] as const) {
        assert.deepInclude(yield* reasonOf(wire.exchange(request(1, method), now)), {
          _tag: "TooLarge",
          limit: 1_000,
          what
        })
      }
    })
  )

  it.live("connections are used again after JSON and after event streams", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(({ json: { id, method } }, response) => {
        if (method === "json") return json(response, success(id))
        events(response)
        response.write(event(success(id)))
        setTimeout(() => response.end(), 5)
      })
      for (let id = 0; id < 6; id++) {
        yield* wire.exchange(request(id, id % 2 === 0 ? "json" : "events"), now)
        yield* until(Effect.sync(() => seen.at(-1)?.closed === true))
        yield* through
      }
      assert.deepStrictEqual(new Set(seen.map(({ connection }) => connection)), new Set([0]))
    })
  )

  it.live("M-HTTP-26: a stream held open after its answer is let go", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(({ json: { id } }, response) => {
        events(response)
        response.write(event(success(id)))
      })
      yield* wire.exchange(request(1, "x"), now)
      yield* until(Effect.sync(() => seen[0]?.abandoned === true))
    })
  )

  it.live("T-RPC-5, M-HTTP-27: interrupting a modern request closes its stream and sends nothing else", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(({ json: { method } }, response) => {
        if (method === "headers") return
        events(response)
        response.write(event(progress(1)))
      })
      for (const method of ["headers", "stream"]) {
        const count = seen.length
        const fiber = yield* Effect.forkChild(wire.exchange(request(1, method), now), { startImmediately: true })
        yield* until(Effect.sync(() => seen.length > count))
        yield* through
        yield* Fiber.interrupt(fiber)
        yield* until(Effect.sync(() => seen.at(-1)?.abandoned === true))
      }
      assert.strictEqual(seen.length, 2)
    })
  )

  it.live("T-RPC-5, L-HTTP-7: interrupting a legacy request sends one cancellation, except for initialize", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(({ json: { id } }, response) => {
        if (id === undefined) response.writeHead(202).end()
      })
      const posts = (method: string) => seen.filter(({ json }) => json.method === method)
      for (const [id, method, onInterrupt] of [
        [1, "initialize", "cancel"],
        [2, "silent", "silent"],
        [3, "tools/call", "cancel"]
      ] as const) {
        const how = { revision: legacy, onInterrupt }
        const fiber = yield* Effect.forkChild(wire.exchange(request(id, method), how), { startImmediately: true })
        yield* until(Effect.sync(() => posts(method).length === 1))
        yield* Fiber.interrupt(fiber)
      }
      yield* until(Effect.sync(() => posts("notifications/cancelled").length > 0))
      yield* Effect.sleep(30)
      assert.deepStrictEqual(
        posts("notifications/cancelled").map(({ json }) => json.params),
        [{ requestId: 3, reason: "the caller stopped waiting" }]
      )
    })
  )

  /** A legacy server with a session; `stream` answers GET. */
  const withStream = (stream: Handler, options: Partial<StreamableHttp.Options> = {}) =>
    Effect.gen(function* () {
      const legacyServer: Handler = (one, response, raw) => {
        if (one.method === "GET") stream(one, response, raw)
        else if (one.method === "DELETE" || one.json.id === undefined) response.writeHead(202).end()
        else if (one.json.method === "initialize") json(response, success(one.json.id), { "mcp-session-id": "s" })
      }
      const all = yield* opened(legacyServer, { reconnect: quick, ...options })
      yield* all.wire.exchange(request(0, "initialize"), old)
      yield* all.wire.send(initialized, legacy)
      const gets = () => all.seen.filter(({ method }) => method === "GET")
      return { ...all, gets }
    })
  const toolsChanged: JsonRpc.Notification = { jsonrpc: "2.0", method: "notifications/tools/list_changed" }

  it.live("L-HTTP-9: the server's own stream is heard once initialized is accepted, with session and version", () =>
    Effect.gen(function* () {
      const ping = { jsonrpc: "2.0", id: 1, method: "ping" }
      const { gets, heard, wire } = yield* withStream((_seen, response) => {
        events(response)
        response.write(event(toolsChanged) + event(ping) + event(success(7, { late: true })))
      })
      assert.deepInclude(yield* wire.exchange(request(7, "no answer"), old), { result: { late: true } })
      assert.deepStrictEqual(heard, [toolsChanged, ping])
      assert.include(gets()[0]?.headers, {
        accept: "text/event-stream",
        "mcp-session-id": "s",
        "mcp-protocol-version": "2025-11-25"
      })
      assert.doesNotHaveAnyKeys(gets()[0]?.headers, ["last-event-id", "content-type"])
    })
  )

  it.live(
    "L-HTTP-11, M-HTTP-26: a request that was answered on the server's own stream is let go, and not cancelled",
    () =>
      Effect.gen(function* () {
        const { seen, wire } = yield* withStream((_seen, response) => {
          events(response)
          response.write(event(success(7, { here: true })))
        })
        assert.deepInclude(yield* wire.exchange(request(7, "no answer"), old), { result: { here: true } })
        const asked = () => seen.find(({ json: { method } }) => method === "no answer")
        yield* until(Effect.sync(() => asked()?.abandoned === true))
        assert.notInclude(
          seen.map(({ json: { method } }) => method),
          "notifications/cancelled"
        )
      })
  )

  it.live.each([
    ["405", (response: Parameters<Handler>[1]) => response.writeHead(405).end()],
    ["404", (response: Parameters<Handler>[1]) => response.writeHead(404).end()],
    ["501", (response: Parameters<Handler>[1]) => response.writeHead(501).end()],
    ["a page", (response: Parameters<Handler>[1]) => response.writeHead(200).end("MCP endpoint, use POST")]
  ] as const)("T-HTTP-3, T-HTTP-4: GET answered with %s means no stream here: asked once", ([, stream]) =>
    Effect.gen(function* () {
      const { gets } = yield* withStream((_seen, response) => stream(response))
      yield* until(Effect.sync(() => gets().length > 0))
      yield* Effect.sleep(60)
      assert.strictEqual(gets().length, 1)
    })
  )

  it.live("T-HTTP-4: a stream that ends at once each time is given up after the schedule's tries", () =>
    Effect.gen(function* () {
      const { gets } = yield* withStream((_seen, response) => {
        events(response)
        response.end()
      })
      yield* until(Effect.sync(() => gets().length === 4))
      yield* Effect.sleep(60)
      assert.strictEqual(gets().length, 4)
    })
  )

  it.live.each([
    ["404", (response: Parameters<Handler>[1]) => response.writeHead(404).end()],
    [
      "a 400 that speaks of it",
      (response: Parameters<Handler>[1]) => response.writeHead(400).end("No valid session ID")
    ]
  ] as const)(
    "L-HTTP-16, T-HTTP-2: a stream refused with %s for its session, once it was open, ends the wire",
    ([, no]) =>
      Effect.gen(function* () {
        const { gets, seen, wire } = yield* withStream((_seen, response) => {
          if (gets().length > 1) return no(response)
          events(response)
          response.destroy()
        })
        const { reason } = yield* Effect.flip(wire.ended)
        assert.strictEqual(reason._tag === "HttpRejected" && reason.sessionLost, true)
        assert.strictEqual(gets().length, 2)
        const call = yield* Effect.forkChild(wire.exchange(request(7, "no answer"), old), { startImmediately: true })
        yield* until(() => seen.some(({ json: { method } }) => method === "no answer"))
        assert.isUndefined(call.pollUnsafe())
      })
  )

  it.live("T-HTTP-3: a first GET that is answered with 404 does not say that the session is gone", () =>
    Effect.gen(function* () {
      const { gets, wire } = yield* withStream((_seen, response) => response.writeHead(404).end())
      const ended = yield* Effect.forkChild(Effect.flip(wire.ended), { startImmediately: true })
      yield* until(() => gets()[0]?.closed === true)
      yield* through
      assert.isUndefined(ended.pollUnsafe())
    })
  )

  it.live("L-HTTP-13, T-HTTP-9: the server's own stream is taken up again after its last event", () =>
    Effect.gen(function* () {
      const { gets, heard } = yield* withStream((_seen, response) => {
        events(response)
        if (gets().length === 1) response.write(event(toolsChanged, "e-1"), () => response.destroy())
        else response.write(event(toolsChanged, "e-2"))
      })
      yield* until(Effect.sync(() => heard.length === 2))
      assert.deepStrictEqual(
        gets().map(({ headers }) => headers["last-event-id"]),
        [undefined, "e-1"]
      )
    })
  )

  /** What a wire tells of its stream until `times` words are said. */
  const toldOf = Effect.fnUntraced(function* (wire: Wire, times: number) {
    const told: Array<Standing> = []
    const stop = wire.standing?.((standing) => void told.push(standing))
    yield* until(() => told.length === times)
    yield* through
    stop?.()
    return told
  })
  const openly: Standing = { _tag: "Open", missed: false }

  it.live("L-HTTP-21: a stream taken up again says that something may be missing, unless its events are numbered", () =>
    Effect.gen(function* () {
      for (const id of [undefined, "e-1"]) {
        const { gets, wire } = yield* withStream((_seen, response) => {
          events(response)
          if (gets().length > 1) return
          response.write(event(toolsChanged, id), () => setTimeout(() => response.destroy(), 20))
        })
        assert.deepStrictEqual(yield* toldOf(wire, 2), [openly, { _tag: "Open", missed: id === undefined }])
        // What was missed is said to those who were there.
        assert.deepStrictEqual(yield* toldOf(wire, 1), [openly])
      }
    })
  )

  it.live.each([
    ["405", "MCP: HTTP 405", (response: Parameters<Handler>[1]) => response.writeHead(405).end()],
    ["503 each time", "MCP: HTTP 503", (response: Parameters<Handler>[1]) => response.writeHead(503).end()],
    [
      "a page",
      "GET was answered with text/html",
      (response: Parameters<Handler>[1]) => response.writeHead(200, { "content-type": "text/html" }).end()
    ]
  ] as const)(
    "T-HTTP-3, T-HTTP-4: GET answered with %s: the wire says that there is no stream, and why",
    ([, because, no]) =>
      Effect.gen(function* () {
        const { wire } = yield* withStream((_seen, response) => no(response))
        assert.deepStrictEqual(yield* toldOf(wire, 1), [{ _tag: "None", missed: false, because }])
      })
  )

  it.live("T-HTTP-4: a stream that is given up after it was open says so, and that something may be missing", () =>
    Effect.gen(function* () {
      const { wire } = yield* withStream((_seen, response) => {
        events(response)
        response.end()
      })
      const told = yield* toldOf(wire, 5)
      assert.deepStrictEqual(told.at(-1), { _tag: "None", missed: true, because: "it ends again and again" })
    })
  )

  it.live("U-22, T-MOD-4: a modern wire opens no stream of its own", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened((_seen, response) => response.writeHead(202).end())
      yield* wire.send(initialized, modern)
      yield* Effect.sleep(30)
      assert.deepStrictEqual(
        seen.map(({ method }) => method),
        ["POST"]
      )
    })
  )

  /** A server whose answer to POST breaks after an event with an id. */
  const breaking = (again: Handler, priming = "id: s1-7\ndata: \n\n") =>
    opened(
      (one, response, raw) => {
        if (one.method === "GET") return again(one, response, raw)
        events(response)
        response.end(priming)
      },
      { reconnect: quick }
    )

  it.live("T-HTTP-9, L-HTTP-24: a broken answer is taken up by GET from its last event, never by a second POST", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* breaking((_seen, response) => {
        events(response)
        if (seen.length === 2) response.end(event(progress(1), "s1-8"))
        else response.end(event(success(1, { done: true })))
      })
      const heard: Array<Incoming> = []
      const answer = yield* wire.exchange(request(1, "x"), {
        revision: legacy,
        interim: (message) => void heard.push(message)
      })
      assert.deepInclude(answer, { result: { done: true } })
      assert.deepStrictEqual(heard, [progress(1)])
      assert.deepStrictEqual(
        seen.map(({ headers, method }) => [method, headers["last-event-id"]]),
        [
          ["POST", undefined],
          ["GET", "s1-7"],
          ["GET", "s1-8"]
        ]
      )
    })
  )

  it.live(
    "T-HTTP-9: an answer that breaks more often than the schedule has tries goes on as long as something comes",
    () =>
      Effect.gen(function* () {
        const { seen, wire } = yield* breaking((_seen, response) => {
          events(response)
          const taken = seen.length - 1
          if (taken <= 8) response.end(event(progress(taken), `s1-${7 + taken}`))
          else response.end(event(success(1, { done: true })))
        })
        const answer = yield* wire.exchange(request(1, "x"), old)
        assert.deepInclude(answer, { result: { done: true } })
        assert.lengthOf(seen, 10)
      })
  )

  it.live("T-HTTP-4: an answer of which nothing more comes is given up after the schedule's tries", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* breaking((_seen, response) => {
        events(response)
        response.end(": nothing\n\n")
      })
      assert.strictEqual((yield* reasonOf(wire.exchange(request(1, "x"), old)))._tag, "ResponseLost")
      assert.lengthOf(seen, 4)
    })
  )

  it.live("L-HTTP-22: the delay of a retry line is kept to", () =>
    Effect.gen(function* () {
      const { wire } = yield* breaking((_seen, response) => {
        events(response)
        response.end(event(success(1)))
      }, "id: a\nretry: 300\ndata: \n\n")
      const [took] = yield* Effect.timed(wire.exchange(request(1, "x"), old))
      assert.isAtLeast(Duration.toMillis(took), 290)
      // No seconds.
      assert.isBelow(Duration.toSeconds(took), 20)
    })
  )

  it.live(
    "T-HTTP-8: a broken answer is lost when there is no event id, when GET is refused, and in the modern era",
    () =>
      Effect.gen(function* () {
        const refusing: Handler = (_seen, response) => response.writeHead(405).end()
        const unnamed = yield* breaking(refusing, "data: \n\n")
        assert.strictEqual((yield* reasonOf(unnamed.wire.exchange(request(1, "x"), old)))._tag, "ResponseLost")
        const refused = yield* breaking(refusing)
        const reason = yield* reasonOf(refused.wire.exchange(request(1, "x"), old))
        assert.deepInclude(reason, { _tag: "ResponseLost" })
        assert.include(reason.message, "MCP: HTTP 405")
        assert.strictEqual((yield* reasonOf(refused.wire.exchange(request(2, "x"), now)))._tag, "ResponseLost")
        assert.deepStrictEqual(
          refused.seen.map(({ method }) => method),
          ["POST", "GET", "POST"]
        )
        const busy = yield* breaking((_seen, response) => response.writeHead(503).end())
        assert.strictEqual((yield* reasonOf(busy.wire.exchange(request(1, "x"), old)))._tag, "ResponseLost")
        assert.strictEqual(busy.seen.length, 4)
      })
  )

  it.live("a server that is not there is Unreachable, and says why without secrets", () =>
    Effect.gen(function* () {
      const url = yield* Effect.scoped(
        Effect.map(
          serve(() => {}),
          (server) => server.url
        )
      )
      const transport = yield* made({
        url: url.replace("//", "//user:s3cret@").concat("?access_token=s3cret"),
        headers: { authorization: "s3cret" }
      })
      const wire = yield* transport.open(() => {})
      const error = yield* Effect.flip(wire.exchange(request(1, "x"), now))
      assert.strictEqual(error.reason._tag, "Unreachable")
      assert.notInclude(`${error.endpoint} ${error.message} ${JSON.stringify(error)}`, "s3cret")
    })
  )

  it.effect("U-06, M-CACHE-21: what an address hides is told apart by a digest; one that hides nothing has none", () =>
    Effect.gen(function* () {
      const facts = Effect.fnUntraced(function* (url: string) {
        const both = yield* Effect.all([made({ url }), Effect.provide(HttpSse.make({ url }), client)])
        const [{ endpoint, setting }, sse] = both
        assert.strictEqual(sse.setting, setting)
        assert.notMatch(JSON.stringify([endpoint, setting, sse.endpoint]), /s3cret|an{2,3}a/)
        return { endpoint, setting }
      })
      for (const url of ["https://h.test/mcp?tenant=a", "https://h.test/mcp?key=REDACTED", "no address"]) {
        assert.deepStrictEqual(yield* facts(url), { endpoint: url, setting: undefined })
      }
      const [one, other, again, anna, annna] = yield* Effect.all(
        [
          "https://h.test/mcp?key=s3cret1",
          "https://h.test/mcp?key=s3cret2",
          "HTTPS://h.test:443/mcp?key=s3cret1",
          "https://anna:s3cret@h.test/mcp",
          "https://annna:s3cret@h.test/mcp"
        ].map(facts)
      )
      assert.strictEqual(one?.endpoint, "https://h.test/mcp?key=REDACTED")
      assert.deepStrictEqual([other?.endpoint, anna?.endpoint], [one?.endpoint, annna?.endpoint])
      assert.deepStrictEqual(again, one)
      for (const made of [one, other, anna, annna]) assert.match(String(made?.setting), /^[0-9a-f]{64}$/)
      assert.notStrictEqual(other?.setting, one?.setting)
      assert.notStrictEqual(anna?.setting, annna?.setting)
    })
  )

  it.effect("M-CACHE-21: where no digest can be made, an address that hides something is told from every other", () =>
    Effect.gen(function* () {
      const url = "https://h.test/mcp?key=s3cret"
      const [one, other] = yield* Effect.all([made({ url }), made({ url })])
      assert.match(`${one.setting} ${other.setting}`, /^[0-9a-f]{64} [0-9a-f]{64}$/)
      assert.notStrictEqual(one.setting, other.setting)
      assert.isUndefined((yield* made({ url: "https://h.test/mcp" })).setting)
    }).pipe(Effect.provideService(WebCrypto, insecure))
  )

  it.live("M-META-23: where tracing is off, a request has no span and names no trace, whatever backend is there", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(({ json: { id } }, response) => json(response, success(id)))
      const spans: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          spans.push(options.name)
          return new Tracer.NativeSpan(options)
        }
      })
      const asked = (id: number) => Effect.withTracer(wire.exchange(request(id, "tools/list"), now), tracer)
      yield* Effect.withTracerEnabled(asked(1), false)
      assert.deepStrictEqual(spans, [])
      yield* asked(2)
      assert.strictEqual(spans.length, 1)
      assert.match(
        JSON.stringify(seen.map(({ headers }) => headers["traceparent"] ?? "none")),
        /^\["none","00-[0-9a-f]{32}-/
      )
    })
  )

  it.live("an address or a header that cannot be sent fails the opening, without showing the value", () =>
    Effect.gen(function* () {
      const openWith = (options: StreamableHttp.Options) =>
        Effect.flatMap(made(options), ({ open }) => Effect.flip(open(() => {})))
      assert.deepInclude((yield* openWith({ url: "not a url" })).reason, { because: "the address is no URL" })
      assert.deepInclude((yield* openWith({ url: "ftp://h/" })).reason, {
        because: "the address is no http or https URL"
      })
      const error = yield* openWith({ url: "http://h/", headers: { "x-key": Redacted.make("s3\ncret") } })
      assert.include(error.message, "x-key")
      assert.notInclude(error.message, "cret")
    })
  )

  it.live("closing the wire fails what is in flight, and everything after", () =>
    Effect.gen(function* () {
      const server = yield* serve(() => {})
      const transport = yield* made({ url: server.url })
      const [wire, fiber] = yield* Effect.scoped(
        Effect.gen(function* () {
          const wire = yield* transport.open(() => {})
          const fiber = yield* Effect.forkDetach(Effect.flip(wire.exchange(request(1, "x"), now)), {
            startImmediately: true
          })
          yield* until(Effect.sync(() => server.seen.length === 1))
          return [wire, fiber] as const
        })
      )
      assert.strictEqual((yield* Fiber.join(fiber)).reason._tag, "Closed")
      assert.strictEqual((yield* Effect.flip(wire.ended)).reason._tag, "Closed")
      assert.strictEqual((yield* reasonOf(wire.exchange(request(2, "x"), now)))._tag, "Closed")
      yield* until(Effect.sync(() => server.seen[0]?.abandoned === true))
    })
  )

  it.live("a client that filters statuses or adds headers of its own works the same", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* serve((_seen, response) => response.writeHead(418).end("teapot"))
      const custom = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, (inner) => HttpClient.filterStatusOk(inner))
      ).pipe(Layer.provide(client))
      const context = yield* Layer.build(StreamableHttp.layer({ url }).pipe(Layer.provide(custom)))
      const wire = yield* Context.get(context, Transport).open(() => {})
      const error = yield* Effect.flip(wire.exchange(request(1, "x"), now))
      assert.strictEqual(error.message, "MCP: HTTP 418 teapot")
      assert.strictEqual(seen.length, 1)
    })
  )

  it.effect("what a client says stands behind a status is kept as the cause", () =>
    Effect.gen(function* () {
      const cause = new Error("nobody signed in")
      const refusing = HttpClient.make((request) => {
        const response = HttpClientResponse.fromWeb(request, new Response("no", { status: 401 }))
        const reason = new HttpClientError.StatusCodeError({ request, response, cause })
        return Effect.fail(new HttpClientError.HttpClientError({ reason }))
      })
      const context = yield* Layer.build(
        StreamableHttp.layer({ url: "https://h.test/mcp" }).pipe(
          Layer.provide(Layer.succeed(HttpClient.HttpClient, refusing))
        )
      )
      const wire = yield* Context.get(context, Transport).open(() => {})
      const reason = yield* reasonOf(wire.exchange(request(1, "x"), now))
      assert(reason._tag === "HttpRejected")
      assert.strictEqual(reason.cause, cause)
      assert.strictEqual(reason.message, "MCP: HTTP 401 no")
    })
  )
})

describe("StreamableHttp over undici", () => {
  it.live.each([
    ["comments now and then", ": still here\n\n"],
    ["nothing at all", undefined]
  ] as const)("T-HTTP-10: waits for a stream that says %s, whatever limits its connections have", ([, comment]) =>
    Effect.gen(function* () {
      // What cuts after five minutes elsewhere, made small; undici looks at its clock about once a second.
      const hasty = NodeHttpClient.layerUndiciOptions({ bodyTimeout: 100, headersTimeout: 100 })
      const { url } = yield* serve(({ json: { id } }, response) => {
        events(response)
        const ticking = setInterval(() => comment !== undefined && response.write(comment), 500)
        setTimeout(() => {
          clearInterval(ticking)
          response.end(event(success(id, { late: true })))
        }, 2_500)
      })
      const transport = yield* Effect.provideContext(StreamableHttp.make({ url }), yield* Layer.build(hasty))
      const wire = yield* transport.open(() => {})
      const [took, answer] = yield* Effect.timed(wire.exchange(request(1, "x"), now))
      assert.deepInclude(answer, { result: { late: true } })
      assert.isAtLeast(Duration.toMillis(took), 2_400)
    })
  )
})
