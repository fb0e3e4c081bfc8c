import { assert, describe, it } from "@effect/vitest"
import * as Diagnostic from "@mcp-effect/protocol/Diagnostic"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Memory from "../src/Memory.ts"
import type { Incoming, Transport } from "../src/Transport.ts"
import { legacy, modern } from "./fixtures/revisions.ts"

const request = (id: JsonRpc.RequestId, method: string, params: JsonRpc.JsonObject = {}): JsonRpc.Request => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})
const opened = (transport: Transport["Service"]) =>
  Effect.gen(function* () {
    const heard: Array<Incoming> = []
    const wire = yield* transport.open((message) => void heard.push(message))
    return { wire, heard }
  })
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {}
}
const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }

/** Speaks both eras to a server with the tool `add`, and asks it for a sum. */
const sums = Effect.fnUntraced(function* (transport: Transport["Service"]) {
  const call = { name: "add", arguments: { a: 1, b: 2 } }
  const now = yield* opened(transport)
  const modernSum = yield* now.wire.exchange(request(1, "tools/call", { ...call, _meta: meta }), { revision: modern })
  const then = yield* opened(transport)
  yield* then.wire.exchange(request(1, "initialize", hello), { revision: legacy })
  yield* then.wire.send({ jsonrpc: "2.0", method: "notifications/initialized" }, legacy)
  const legacySum = yield* then.wire.exchange(request(2, "tools/call", call), { revision: legacy })
  return [modernSum, legacySum].map((answer) =>
    JsonRpc.isSuccess(answer) ? answer.result["structuredContent"] : answer.error
  )
})

const Tools = Toolkit.make(
  Tool.make("add", {
    parameters: Schema.Struct({ a: Schema.Int, b: Schema.Int }),
    success: Schema.Struct({ sum: Schema.Int })
  })
)
const registrations = McpServer.toolkit(Tools).pipe(
  Layer.provide(Tools.toLayer({ add: ({ a, b }) => Effect.succeed({ sum: a + b }) }))
)

describe("Memory", () => {
  it.effect("U-43: a server that throws ends its wire: what is open fails, what comes after too, and no one else", () =>
    Effect.gen(function* () {
      let thrown = 0
      const transport = Memory.make("frail", ({ send }) =>
        Effect.succeed((message) => {
          if (!JsonRpc.isRequest(message)) return
          if (message.method === "crash") throw new Error(`crash ${++thrown}`)
          if (message.method === "ping") send({ jsonrpc: "2.0", id: message.id, result: {} })
        })
      )
      const { wire } = yield* opened(transport)
      const other = yield* opened(transport)
      const ask = (id: number, method: string) => Effect.flip(wire.exchange(request(id, method), { revision: modern }))
      const waiting = yield* Effect.forkChild(ask(1, "silent"), { startImmediately: true })
      const because = "the server threw Error: crash 1"
      for (const error of [yield* ask(2, "crash"), yield* Fiber.join(waiting), yield* ask(3, "ping")]) {
        assert.deepInclude(error.reason, { _tag: "Closed", because })
      }
      assert.deepInclude((yield* Effect.flip(wire.ended)).reason, { because })
      assert.isTrue(JsonRpc.isSuccess(yield* other.wire.exchange(request(1, "ping"), { revision: modern })))
      assert.strictEqual(thrown, 1)
    })
  )

  it.effect("U-43: a linked pair carries messages both ways, in order, each in a turn of its own", () =>
    Effect.gen(function* () {
      const received: Array<JsonRpc.Message> = []
      const transport = Memory.make("pair", ({ send }) =>
        Effect.succeed((message) => {
          received.push(message)
          if (!JsonRpc.isRequest(message)) return
          send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: message.id, progress: 1 } })
          send([
            { jsonrpc: "2.0", id: 5, method: "ping" },
            { jsonrpc: "2.0", id: message.id, result: { ok: true } }
          ])
        })
      )
      const { heard, wire } = yield* opened(transport)
      const seen: Array<string> = []
      const answer = yield* wire.exchange(request(1, "x"), {
        revision: legacy,
        interim: ({ method }) => void seen.push(method)
      })
      assert.deepInclude(answer, { result: { ok: true } })
      assert.deepStrictEqual([seen, heard.map(({ method }) => method)], [["notifications/progress"], ["ping"]])
      assert.deepStrictEqual(received, [request(1, "x")])
      assert.deepInclude(transport, { kind: "memory", endpoint: "pair", reopenable: true })
    })
  )

  it.effect("the server's end closes the wire; what is no message is reported", () =>
    Effect.gen(function* () {
      const diagnostics: Array<Diagnostic.Diagnostic> = []
      const transport = Memory.make("pair", ({ close, send }) =>
        Effect.succeed(() => {
          send("noise")
          close("enough")
        })
      )
      const { wire } = yield* opened(transport).pipe(
        Effect.provideService(Diagnostic.Diagnostics, (one) => Effect.sync(() => void diagnostics.push(one)))
      )
      const error = yield* Effect.flip(wire.exchange(request(1, "x"), { revision: modern }))
      assert.deepInclude(error.reason, { _tag: "Closed", because: "enough" })
      assert.deepInclude(diagnostics[0], { _tag: "NoiseSkipped", excerpt: `"noise"` })
    })
  )

  it.effect("T-RPC-5: a server that closed the wire is told nothing more, though one end then leads to another", () =>
    Effect.gen(function* () {
      const received: Array<JsonRpc.Message> = []
      const transport = Memory.make("pair", ({ close }) =>
        Effect.succeed((message) => {
          received.push(message)
          if (received.length === 2) close("enough")
        })
      )
      const { wire } = yield* opened(transport)
      // The failure of the first interrupts the second, which is still open then.
      const both = [1, 2].map((id) => wire.exchange(request(id, "x"), { revision: modern }))
      const { reason } = yield* Effect.flip(Effect.all(both, { concurrency: "unbounded" }))
      yield* Effect.promise(() => Promise.resolve())
      assert.strictEqual(reason._tag, "Closed")
      assert.deepStrictEqual(received, [request(1, "x"), request(2, "x")])
    })
  )

  it.effect("T-RPC-5: an interrupted request is cancelled with a notification", () =>
    Effect.gen(function* () {
      const received: Array<JsonRpc.Message> = []
      const transport = Memory.make("pair", () => Effect.succeed((message) => void received.push(message)))
      const { wire } = yield* opened(transport)
      const fiber = yield* Effect.forkChild(wire.exchange(request(1, "x"), { revision: modern }), {
        startImmediately: true
      })
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => Promise.resolve())
      assert.deepInclude(received[1], { method: "notifications/cancelled" })
    })
  )

  it.effect("U-43: a server of an SDK is connected for each wire and closed with it", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const transport = Memory.fromSdk("sdk", () => ({
        connect: (given) => {
          log.push("connect")
          Object.assign(given, {
            onclose: () => log.push("onclose"),
            onmessage: (message: JsonRpc.Message) =>
              JsonRpc.isRequest(message) ? given.send({ jsonrpc: "2.0", id: message.id, result: {} }) : undefined
          })
          return given.start()
        },
        close: () => {
          log.push("close")
          return Promise.resolve()
        }
      }))
      for (const id of [1, 2]) {
        yield* Effect.scoped(
          Effect.flatMap(opened(transport), ({ wire }) => wire.exchange(request(id, "x"), { revision: legacy }))
        )
      }
      assert.deepStrictEqual(log, ["connect", "close", "connect", "close"])
    })
  )

  it.effect(
    "U-43: what a server of an SDK gives is as if it had been written: members that are undefined are none",
    () =>
      Effect.gen(function* () {
        const transport = Memory.fromSdk("sdk", () => ({
          connect: (given) => {
            Object.assign(given, {
              onmessage: (message: JsonRpc.Message) =>
                JsonRpc.isRequest(message)
                  ? given.send({ jsonrpc: "2.0", id: message.id, result: { tools: [{ name: "a", title: undefined }] } })
                  : undefined
            })
            return given.start()
          },
          close: () => Promise.resolve()
        }))
        const { wire } = yield* opened(transport)
        const answer = yield* wire.exchange(request(1, "tools/list"), { revision: legacy })
        assert(JsonRpc.isSuccess(answer))
        assert.deepStrictEqual(answer.result, { tools: [{ name: "a" }] })
      })
  )

  it.effect("a server of an SDK that does not start fails the opening", () =>
    Effect.gen(function* () {
      const transport = Memory.fromSdk("sdk", () => ({
        connect: () => Promise.reject(new Error("already connected")),
        close: () => Promise.resolve()
      }))
      const error = yield* Effect.flip(opened(transport))
      assert.include(error.message, "already connected")
    })
  )

  it.live("U-43: an Effect server written for stdio is spoken to in both eras", () =>
    Effect.gen(function* () {
      const server = McpServer.layerStdio({
        name: "effect",
        version: "1",
        protocols: [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25],
        registrations
      })
      const transport = yield* Memory.fromStdio("effect", server)
      const answers = yield* Effect.scoped(sums(transport))
      assert.deepStrictEqual(answers, [{ sum: 3 }, { sum: 3 }])
    })
  )

  it.live("an Effect server that cannot be built ends the wire and says why", () =>
    Effect.gen(function* () {
      const transport = yield* Memory.fromStdio("broken", Layer.effectDiscard(Effect.fail(new Error("no database"))))
      const { wire } = yield* opened(transport)
      assert.include((yield* Effect.flip(wire.ended)).message, "no database")
    })
  )

  it.live("U-43: a web handler is spoken to over Streamable HTTP without a socket", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const transport = yield* Memory.fromHandler("handler", async (given) => {
        seen.push(`${given.method} ${given.url} ${given.headers.get("mcp-method")}`)
        const { id } = JSON.parse(await given.text())
        return Response.json({ jsonrpc: "2.0", id, result: {} })
      })
      const { wire } = yield* opened(transport)
      assert.deepInclude(yield* wire.exchange(request(1, "tools/list"), { revision: modern }), { id: 1, result: {} })
      assert.deepStrictEqual(seen, ["POST http://localhost/mcp tools/list"])
      assert.deepInclude(transport, { kind: "http", endpoint: "handler" })
      assert.isUndefined(transport.openHttpSse)
    })
  )
})
