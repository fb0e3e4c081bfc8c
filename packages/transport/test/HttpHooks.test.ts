import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Tracer from "effect/Tracer"
import * as HttpHooks from "../src/HttpHooks.ts"
import * as NodeHttp from "../src/NodeHttp.ts"
import * as StreamableHttp from "../src/StreamableHttp.ts"
import type { Incoming } from "../src/Transport.ts"
import { request, until } from "./fixtures/asking.ts"
import { event, events, type Handler, json, serve, success } from "./fixtures/httpServer.ts"
import { modern } from "./fixtures/revisions.ts"

const now = { revision: modern }

const clients: ReadonlyArray<readonly [string, Layer.Layer<HttpClient.HttpClient>]> = [
  ["fetch", FetchHttpClient.layer],
  ["undici", NodeHttpClient.layerUndici],
  ["NodeHttp", NodeHttp.layer]
]

describe.each(clients)("U-44: HttpHooks over %s", (_name, client) => {
  const opened = Effect.fnUntraced(function* (hook: HttpHooks.Hook, handler: Handler) {
    const { seen, url } = yield* serve(handler)
    const context = yield* Layer.build(HttpHooks.layer(hook).pipe(Layer.provide(client)))
    const transport = yield* Effect.provideContext(StreamableHttp.make({ url }), context)
    return { wire: yield* transport.open(() => {}), seen }
  })
  const answering: Handler = ({ json: { id, method } }, response) => {
    if (method === "json") return json(response, success(id, { a: 1 }))
    if (method === "chunked") {
      response.writeHead(200, { "content-type": "application/json" })
      response.write(" ")
      return response.end(JSON.stringify(success(id, { a: 1 })))
    }
    events(response)
    return response.end(event({ jsonrpc: "2.0", method: "notifications/message", params: {} }) + event(success(id)))
  }

  it.live("headers are asked for anew for each request, and do not show in spans", () =>
    Effect.gen(function* () {
      let token = 0
      const spans: Array<Tracer.NativeSpan> = []
      const hook = HttpHooks.headers(
        Effect.sync(() => ({ "X-Key": Redacted.make(`s3cret-${++token}`), "x-tenant": "a" }))
      )
      const { seen, wire } = yield* opened(hook, answering)
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      yield* Effect.repeat(wire.exchange(request(1, "json"), now), { times: 1 }).pipe(Effect.withTracer(tracer))
      assert.deepStrictEqual(
        seen.map(({ headers }) => [headers["x-key"], headers["x-tenant"]]),
        [
          ["s3cret-1", "a"],
          ["s3cret-2", "a"]
        ]
      )
      assert.strictEqual(spans.length, 2)
      assert.notInclude(spans.map((span) => [...span.attributes.values()].map(String).join()).join(), "s3cret")
    })
  )

  it.live("a hook that gives no headers fails the request", () =>
    Effect.gen(function* () {
      const { seen, wire } = yield* opened(HttpHooks.headers(Effect.fail(new Error("no token"))), answering)
      const error = yield* Effect.flip(wire.exchange(request(1, "json"), now))
      assert.deepInclude(error.reason, { _tag: "Unreachable", because: "no token" })
      assert.strictEqual(seen.length, 0)
    })
  )

  it.live("T-RPC-6: hooks that throw or die fail their request in a typed way, or are reported and passed over", () =>
    Effect.gen(function* () {
      const throwing = (): never => {
        throw new Error("from the program")
      }
      for (const hook of [
        HttpHooks.headers(Effect.die(new Error("from the program"))),
        HttpHooks.headers(Effect.suspend(throwing)),
        HttpHooks.takeOver(throwing),
        HttpHooks.takeOver(() => Effect.die(new Error("from the program")))
      ]) {
        const { wire } = yield* opened(hook, answering)
        const { reason } = yield* Effect.flip(wire.exchange(request(1, "json"), now))
        assert.deepInclude(reason, { _tag: "Unreachable", because: "from the program", unsent: false })
      }
      for (const hook of [
        HttpHooks.observe(throwing),
        HttpHooks.observe(() => Effect.die(new Error("from the program"))),
        HttpHooks.observe(() => Effect.succeed({ chunk: throwing })),
        HttpHooks.observe(() => Effect.succeed({ end: throwing }))
      ]) {
        const reported: Array<Diagnostic> = []
        yield* Effect.gen(function* () {
          const { wire } = yield* opened(hook, answering)
          for (const method of ["chunked", "events"]) {
            reported.length = 0
            assert.property(yield* wire.exchange(request(1, method), now), "result")
            // The end of a stream comes after its answer.
            yield* until(() => reported.length > 0)
            assert.deepStrictEqual(
              reported.flatMap((each) => (each._tag === "CallbackFailed" ? [each.because] : [])),
              ["Error: from the program"]
            )
          }
        }).pipe(Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void reported.push(diagnostic))))
      }
    })
  )

  it.live("an observer sees status, headers and body of every response, and changes nothing", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const hook = HttpHooks.observe(({ headers, method, status }) =>
        Effect.sync(() => {
          log.push(`${method} ${status} ${headers["content-type"]}`)
          return { chunk: (bytes) => void log.push(new TextDecoder().decode(bytes)), end: () => void log.push("end") }
        })
      )
      const { wire } = yield* opened(hook, answering)
      for (const method of ["json", "chunked"]) {
        log.length = 0
        assert.deepInclude(yield* wire.exchange(request(1, method), now), { result: { a: 1 } })
        assert.strictEqual(log[0], "POST 200 application/json")
        assert.deepInclude(JSON.parse(log.slice(1, -1).join("")), { result: { a: 1 } })
        assert.strictEqual(log.at(-1), "end")
      }
    })
  )

  it.live("observing does not hold an event stream back", () =>
    Effect.gen(function* () {
      let bytes = 0
      const heard: Array<Incoming> = []
      const hook = HttpHooks.observe(() => Effect.succeed({ chunk: (part: Uint8Array) => void (bytes += part.length) }))
      const { wire } = yield* opened(hook, ({ json: { id } }, response) => {
        events(response)
        response.write(event({ jsonrpc: "2.0", method: "notifications/message", params: {} }))
        const wait = () => (heard.length > 0 ? response.end(event(success(id))) : setTimeout(wait, 5))
        wait()
      })
      yield* wire.exchange(request(1, "x"), { revision: modern, interim: (message) => void heard.push(message) })
      assert.isAbove(bytes, 50)
    })
  )

  it.live("a response can be replaced, swallowed, or read and let pass", () =>
    Effect.gen(function* () {
      const hook = HttpHooks.takeOver(({ headers, status }, text) => {
        switch (headers["x-do"]) {
          case "supply":
            return Effect.succeed(
              HttpHooks.Decision.Supply({ response: Response.json(success(1, { supplied: status })) })
            )
          case "swallow":
            return Effect.succeed(HttpHooks.Decision.Swallow())
          case "read":
            return Effect.as(text, HttpHooks.Decision.Pass())
          default:
            return Effect.succeed(HttpHooks.Decision.Pass())
        }
      })
      const { wire } = yield* opened(hook, ({ json: { id, method } }, response) =>
        json(response, success(id, { a: 1 }), { "x-do": String(method) })
      )
      const ask = (method: string) => wire.exchange(request(1, method), now)
      assert.deepInclude(yield* ask("supply"), { result: { supplied: 200 } })
      assert.deepInclude(yield* ask("read"), { result: { a: 1 } })
      assert.deepInclude(yield* ask("pass"), { result: { a: 1 } })
      const error = yield* Effect.flip(ask("swallow"))
      assert.deepInclude(error.reason, { _tag: "ResponseTaken", status: 200 })
      assert.include(error.message, "a hook took over the response (HTTP 200)")
    })
  )
})
