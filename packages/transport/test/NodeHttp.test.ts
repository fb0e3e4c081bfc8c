import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { once } from "node:events"
import { createServer as createHttpsServer } from "node:https"
import { createSecureServer } from "node:http2"
import { createServer, type Server, type Socket } from "node:net"
import { Readable } from "node:stream"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Agent } from "undici"
import { MockAgent } from "undici"
import { executeOf } from "../src/internal/direct.ts"
import * as NodeHttp from "../src/NodeHttp.ts"
import { through, until } from "./fixtures/asking.ts"
import { certificate, key } from "./fixtures/certificate.ts"
import { type Handler, serve } from "./fixtures/httpServer.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

const clientOf = (options?: Agent.Options) =>
  Effect.map(Layer.build(options === undefined ? NodeHttp.layer : NodeHttp.layerOptions(options)), (context) =>
    HttpClient.HttpClient.pipe(Effect.provideContext(context), Effect.runSync)
  )

const opened = Effect.fnUntraced(function* (handler: Handler, options?: Agent.Options) {
  const server = yield* serve(handler)
  return { ...server, client: yield* clientOf(options) }
})

const portOf = (server: { address: () => ReturnType<Server["address"]> }) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** A server that says bytes. */
const raw = (connected: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
        connected(socket)
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return { server, sockets, url: `http://127.0.0.1:${portOf(server)}/` }
    }),
    ({ server, sockets }) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
  )

const head = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"
const reasonOf = <A>(effect: Effect.Effect<A, HttpClientError>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)
const textOf = (sent: Effect.Effect<HttpClientResponse, HttpClientError>) => Effect.flatMap(sent, ({ text }) => text)

describe("NodeHttp", () => {
  it.live("sends what the request says, and gives what the response says", () =>
    Effect.gen(function* () {
      const { client, seen, url } = yield* opened((_, response) => {
        response.setHeader("set-cookie", ["a=1; Path=/", "b=2"])
        response.setHeader("X-Several", ["one", "two"])
        response.writeHead(404, { "content-type": "application/json" }).end('{"é":[1]}')
      })
      const request = HttpClientRequest.put(`${url}?q=1#part`, {
        urlParams: { r: "ä b" },
        headers: { "X-Tenant": "t", cookie: "c=3" },
        body: HttpBody.text("hällo", "text/plain")
      })
      const response = yield* client.execute(request)
      assert.include(seen[0], { method: "PUT", path: "/mcp?q=1&r=%C3%A4+b", body: "hällo" })
      assert.include(seen[0]?.headers, {
        "x-tenant": "t",
        cookie: "c=3",
        "content-length": "6",
        "content-type": "text/plain"
      })
      assert.strictEqual(response.status, 404)
      assert.strictEqual(response.url, `${url}?q=1&r=%C3%A4+b`)
      assert.include(response.headers, { "content-type": "application/json", "x-several": "one, two" })
      assert.deepStrictEqual(Object.keys(response.cookies.cookies), ["a", "b"])
      assert.deepStrictEqual(yield* response.json, { é: [1] })
      assert.strictEqual(yield* response.text, '{"é":[1]}', "a body that was collected can be asked for again")
      assert.strictEqual((yield* response.arrayBuffer).byteLength, 10)
    })
  )

  it.live("follows no redirect and asks for no compression", () =>
    Effect.gen(function* () {
      const { client, seen, url } = yield* opened((_, response) =>
        response.writeHead(307, { location: "/elsewhere" }).end()
      )
      const { headers, status, text } = yield* client.get(url)
      assert.deepStrictEqual([status, headers["location"], yield* text], [307, "/elsewhere", ""])
      assert.deepStrictEqual(
        seen.map(({ headers, path }) => [path, headers["accept-encoding"]]),
        [["/mcp", undefined]]
      )
    })
  )

  it.live("reads forms, url-encoded and in parts", () =>
    Effect.gen(function* () {
      const form = new FormData()
      form.set("name", "wert")
      form.set("file", new File(["in it"], "f.txt"))
      const { client, url } = yield* opened(({ body, headers }, response) =>
        response.writeHead(200, { "content-type": headers["content-type"] ?? "" }).end(body)
      )
      const echoed = yield* client.post(url, { body: HttpBody.formData(form) })
      const back = yield* echoed.formData
      assert.strictEqual(back.get("name"), "wert")
      const file = back.get("file")
      assert.strictEqual(file instanceof File ? yield* Effect.promise(() => file.text()) : file, "in it")
      const encoded = yield* client.post(url, { body: HttpBody.text("a=1&b=2", "application/x-www-form-urlencoded") })
      assert.deepStrictEqual((yield* encoded.urlParamsBody).params, [
        ["a", "1"],
        ["b", "2"]
      ])
    })
  )

  it.live("sends a stream as it comes, and gives the request up when the stream fails", () =>
    Effect.gen(function* () {
      const closed: Array<boolean> = []
      const { client, seen, url } = yield* opened(({ body }, response) => response.end(body))
      const parts = Stream.encodeText(Stream.make("one ", "two"))
      assert.strictEqual(yield* textOf(client.post(url, { body: HttpBody.stream(parts) })), "one two")
      assert.strictEqual(seen[0]?.headers["transfer-encoding"], "chunked")

      const { url: other } = yield* raw((socket) => socket.resume().on("close", () => void closed.push(true)))
      const failing = Stream.concat(parts, Stream.fail("the disk is gone"))
      const reason = yield* reasonOf(client.post(other, { body: HttpBody.stream(failing) }))
      assert.strictEqual(reason._tag, "EncodeError")
      assert.strictEqual("cause" in reason ? reason.cause : undefined, "the disk is gone")
      yield* until(() => closed.length === 1)
    })
  )

  it.live("sends a raw body of the kinds that Node sends, and no other", () =>
    Effect.gen(function* () {
      const { client, url } = yield* opened(({ body }, response) => response.end(body))
      const send = (given: unknown) => textOf(client.post(url, { body: HttpBody.raw(given) }))
      assert.deepStrictEqual(
        [yield* send("text"), yield* send(Buffer.from("bytes")), yield* send(Readable.from(["in ", "parts"]))],
        ["text", "bytes", "in parts"]
      )
      assert.strictEqual((yield* reasonOf(send(new Map())))._tag, "EncodeError")
    })
  )

  it.live("a body of ten megabytes comes whole, collected and as a stream", () =>
    Effect.gen(function* () {
      const large = Buffer.alloc(10 << 20, "äöü-")
      const { client, url } = yield* opened((_, response) => response.end(large))
      const collected = yield* textOf(client.get(url))
      assert.isTrue(collected === large.toString())
      const { stream } = yield* client.get(url)
      const chunks = yield* Stream.runCollect(stream)
      assert.isTrue(Buffer.concat(chunks).equals(large))
    })
  )

  it.live("a reader that is slow makes the server wait", () =>
    Effect.gen(function* () {
      const block = Buffer.alloc(256 * 1024, "x")
      const blocks = 400
      let accepted = 0
      const { client, url } = yield* opened((_, response) => {
        const more = () => {
          while (accepted < blocks) {
            accepted++
            if (!response.write(block)) return void response.once("drain", more)
          }
          response.end()
        }
        more()
      })
      const { stream } = yield* client.get(url)
      const sizes: Array<number> = []
      let bytes = 0
      yield* Stream.runForEach(stream, (chunk) =>
        Effect.gen(function* () {
          bytes += chunk.length
          if (sizes.length < 3) {
            yield* Effect.sleep(100)
            sizes.push(accepted)
          }
        })
      )
      assert.isBelow(sizes[2] ?? blocks, blocks / 4, "the server had to wait")
      assert.strictEqual(bytes, blocks * block.length)
    })
  )

  it.live("an unread body waits in bounds, and is there when it is asked for", () =>
    Effect.gen(function* () {
      const block = Buffer.alloc(256 * 1024, "x")
      let accepted = 0
      const { client, url } = yield* opened((_, response) => {
        const more = () => {
          while (accepted < 200) {
            accepted++
            if (!response.write(block)) return void response.once("drain", more)
          }
          response.end()
        }
        more()
      })
      const response = yield* client.get(url)
      const settled = (before: number): Effect.Effect<void> =>
        Effect.suspend(() => (before === accepted ? Effect.void : Effect.delay(settled(accepted), 150)))
      yield* settled(-1)
      assert.isBelow(accepted, 100)
      assert.strictEqual((yield* response.text).length, 200 * block.length)
    })
  )

  it.live("a reader that stops early lets go of the connection", () =>
    Effect.gen(function* () {
      const { client, seen, url } = yield* opened((_, response) => void response.write("first"))
      const { stream } = yield* client.get(url)
      const first = yield* Stream.runHead(Stream.decodeText(stream))
      assert.strictEqual(first._tag === "Some" ? first.value : "", "first")
      yield* until(() => seen[0]?.abandoned === true)
    })
  )

  it.live.each(["as any client", "as the wires do"])("a response that nobody reads is given up: sent %s", (how) =>
    Effect.gen(function* () {
      const { client, seen, url } = yield* opened((_, response) => void response.write("first"))
      const execute = how === "as any client" ? client.execute : executeOf(client)
      yield* execute(HttpClientRequest.get(url))
      const gone = Effect.suspend(() => {
        collect()
        return Effect.sync(() => seen[0]?.abandoned === true)
      })
      yield* Effect.repeat(Effect.delay(gone, 20), { until: (yes) => yes })
    })
  )

  it.live("a body is read once as a stream", () =>
    Effect.gen(function* () {
      const { client, url } = yield* opened((_, response) => response.end("body"))
      const response = yield* client.get(url)
      assert.strictEqual(yield* Stream.mkString(Stream.decodeText(response.stream)), "body")
      const reason = yield* reasonOf(response.text)
      assert.strictEqual(reason._tag, "DecodeError")
    })
  )

  it.live(
    "an interruption gives the request up: before the answer, in the body, and while it waits for a connection",
    () =>
      Effect.gen(function* () {
        const { client, seen, url } = yield* opened(
          ({ path }, response) => {
            if (path === "/mcp/body") response.write("first")
          },
          { connections: 1 }
        )
        const silent = yield* Effect.forkChild(client.get(url), { startImmediately: true })
        yield* until(() => seen.length === 1)
        const queued = yield* Effect.forkChild(client.get(`${url}/queued`), { startImmediately: true })
        yield* through
        yield* Fiber.interrupt(queued)
        yield* Fiber.interrupt(silent)
        yield* until(() => seen[0]?.abandoned === true)

        const response = yield* client.get(`${url}/body`)
        const reading = yield* Effect.forkChild(response.text, { startImmediately: true })
        yield* through
        yield* Fiber.interrupt(reading)
        yield* until(() => seen[1]?.abandoned === true)
        assert.deepStrictEqual(
          seen.map(({ path }) => path),
          ["/mcp", "/mcp/body"],
          "what was given up while it waited was never sent"
        )
      })
  )

  it.live("says how a request failed: refused, cut off before and in the answer, no HTTP", () =>
    Effect.gen(function* () {
      const client = yield* clientOf()
      // No service has this port, and the system lends it to nobody.
      const refused = yield* reasonOf(client.get("http://127.0.0.1:3/"))
      assert.strictEqual(refused._tag, "TransportError")
      assert.include(String("cause" in refused ? refused.cause : ""), "ECONNREFUSED")

      const { url: deaf } = yield* raw((socket) => socket.once("data", () => socket.resetAndDestroy()))
      assert.strictEqual((yield* reasonOf(client.get(deaf)))._tag, "TransportError")

      const { url: rude } = yield* raw((socket) => socket.once("data", () => socket.end("SSH-2.0-OpenSSH\r\n")))
      assert.strictEqual((yield* reasonOf(client.get(rude)))._tag, "TransportError")

      const { url: torn } = yield* raw((socket) =>
        socket.once("data", () => socket.write(`${head}five.`, () => socket.resetAndDestroy()))
      )
      assert.strictEqual((yield* reasonOf(textOf(client.get(torn))))._tag, "DecodeError")
      const streamed = Effect.flatMap(client.get(torn), ({ stream }) => Stream.runDrain(stream))
      assert.strictEqual((yield* reasonOf(streamed))._tag, "DecodeError")

      assert.strictEqual((yield* reasonOf(client.get("http://[/")))._tag, "InvalidUrlError")
      assert.strictEqual((yield* reasonOf(client.get("ftp://127.0.0.1/")))._tag, "TransportError")
    })
  )

  it.live("sixty-four requests at a time get their own answers, and later ones use the connections again", () =>
    Effect.gen(function* () {
      const waiting: Array<() => void> = []
      const { client, seen, url } = yield* opened(({ body }, response) => {
        waiting.push(() => response.end(body))
        if (waiting.length === 64) for (const answer of waiting.splice(0).toReversed()) answer()
      })
      const round = Effect.forEach(
        Array.from({ length: 64 }, (_, index) => `number ${index}`),
        (text) =>
          Effect.map(textOf(client.post(url, { body: HttpBody.text(text) })), (back) => assert.strictEqual(back, text)),
        { concurrency: "unbounded", discard: true }
      )
      yield* Effect.repeat(round, { times: 3 })
      assert.strictEqual(seen.length, 256)
      // The pool opens some more while it settles.
      assert.isAtMost(new Set(seen.map(({ connection }) => connection)).size, 128)
    })
  )

  it.live("a connection that the server closed between two requests is replaced", () =>
    Effect.gen(function* () {
      const { client, seen, server, url } = yield* opened((_, response) => response.end("ok"))
      assert.strictEqual(yield* textOf(client.get(url)), "ok")
      server.closeAllConnections()
      yield* through
      assert.strictEqual(yield* textOf(client.get(url)), "ok")
      assert.deepStrictEqual(
        seen.map(({ connection }) => connection),
        [0, 1]
      )
    })
  )

  it.live("what comes before the response is passed over", () =>
    Effect.gen(function* () {
      const { client, url } = yield* opened((_, response) => {
        response.writeEarlyHints({ link: "</a.css>; rel=preload" })
        response.end("ok")
      })
      const response = yield* client.get(url)
      assert.deepStrictEqual([response.status, yield* response.text], [200, "ok"])
    })
  )

  it.live("the end of the scope ends the connections and what runs on them", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* serve(() => {})
      const scope = yield* Scope.make()
      const client = yield* Effect.provideService(clientOf(), Scope.Scope, scope)
      const running = yield* Effect.forkChild(client.get(url), { startImmediately: true })
      yield* until(() => seen.length === 1)
      yield* Scope.close(scope, Exit.void)
      const exit = yield* Fiber.await(running)
      assert.isTrue(Exit.isFailure(exit) && !Cause.hasDies(exit.cause))
      yield* until(() => seen[0]?.abandoned === true)
      assert.strictEqual((yield* reasonOf(client.get(url)))._tag, "TransportError")
    })
  )

  it.live.each(["http/1.1", "h2"] as const)("TLS by the options of the agent: %s", (protocol) =>
    Effect.gen(function* () {
      const options = { cert: certificate, key }
      const text = "secret ".repeat(50_000)
      const server = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server =
            protocol === "h2"
              ? createSecureServer(options, ({ httpVersion }, response) => response.end(`${httpVersion} ${text}`))
              : createHttpsServer(options, ({ httpVersion }, response) => void response.end(`${httpVersion} ${text}`))
          server.listen(0, "127.0.0.1")
          await once(server, "listening")
          return server
        }),
        (server) => Effect.sync(() => server.close())
      )
      const url = `https://localhost:${portOf(server)}/`
      const trusting = yield* clientOf({ connect: { ca: certificate } })
      const expected = `${protocol === "h2" ? "2.0" : "1.1"} ${text}`
      assert.isTrue((yield* textOf(trusting.get(url))) === expected)
      const streamed = Stream.mkString(
        Stream.decodeText(Stream.unwrap(Effect.map(trusting.get(url), ({ stream }) => stream)))
      )
      assert.isTrue((yield* streamed) === expected)
      const strict = yield* clientOf()
      const reason = yield* reasonOf(strict.get(url))
      assert.include(String("cause" in reason ? reason.cause : ""), "self-signed")
    })
  )

  it.live("a tracer sees each request, and the server its trace", () =>
    Effect.gen(function* () {
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const { client, seen, url } = yield* opened((_, response) => response.writeHead(503).end())
      yield* Effect.withTracer(client.get(url), tracer)
      const [span] = spans
      assert.strictEqual(span?.attributes.get("http.response.status_code"), 503)
      assert.include(String(seen[0]?.headers["traceparent"]), span?.traceId ?? "none")
    })
  )

  it.live("any dispatcher will do, and an upgrade is refused", () =>
    Effect.gen(function* () {
      const mock = new MockAgent()
      mock.disableNetConnect()
      mock.get("https://example.test").intercept({ path: "/a" }).reply(200, "mocked").times(2)
      const client = NodeHttp.make(mock)
      assert.strictEqual(yield* textOf(client.get("https://example.test/a")), "mocked")
      const response = yield* client.get("https://example.test/a")
      assert.strictEqual((yield* reasonOf(response.upgrade))._tag, "StatusCodeError")
      assert.strictEqual((yield* reasonOf(client.get("https://example.test/b")))._tag, "TransportError")
    })
  )

  it.live("a dispatcher that throws fails the request, as any client and as the wires send it", () =>
    Effect.gen(function* () {
      const mock = new MockAgent()
      mock.dispatch = () => {
        throw new Error("no more sockets")
      }
      const client = NodeHttp.make(mock)
      for (const execute of [client.execute, executeOf(client)]) {
        const reason = yield* reasonOf(execute(HttpClientRequest.get("https://example.test/a")))
        assert.strictEqual(reason._tag, "TransportError")
        assert.include(String(reason.cause), "no more sockets")
      }
    })
  )
})
