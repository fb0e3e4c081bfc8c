import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import { Transport, type Wire } from "@mcp-effect/transport/Transport"
import {
  Exited,
  HttpRejected,
  MalformedReply,
  type Reason as WireReason,
  ResponseLost,
  TransportError,
  Unreachable
} from "@mcp-effect/transport/TransportError"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as McpClient from "../src/McpClient.ts"
import { McpClientError, RequestTimedOut } from "../src/McpClientError.ts"
import * as Peer from "./fixtures/peer.ts"

const endpoint = "http://localhost/mcp"

/** Each connect asks as a new program would. */
const forgetful = Effect.provide(EraMemory.layerInProcess)

/** A modern server over HTTP whose every answer but that to the probe is this failure of the wire, and how often it was asked. */
const broken = (reason: WireReason) => {
  const asked: Array<string> = []
  const wire: Wire = {
    exchange: (request: JsonRpc.Request) => {
      asked.push(request.method)
      return request.method === "server/discover"
        ? Effect.succeed({ jsonrpc: "2.0", id: request.id, result: { ...Peer.discovered() } })
        : Effect.fail(new TransportError({ endpoint, reason }))
    },
    send: () => Effect.void,
    ended: Effect.never
  }
  const transport = Transport.of({ kind: "http", endpoint, reopenable: true, open: () => Effect.succeed(wire) })
  return { transport, asked }
}

const rejected = (status: number, error?: JsonRpc.ErrorObject) =>
  new HttpRejected({
    status,
    body: error === undefined ? "" : JSON.stringify({ error }),
    sessionLost: false,
    ...(error === undefined ? {} : { error })
  })

/** What a call, and what a list, come to. */
const outcomes = Effect.fnUntraced(function* (reason: WireReason) {
  const { asked, transport } = broken(reason)
  const client = yield* forgetful(McpClient.connect(transport))
  const call = yield* Effect.flip(client.callTool("send_mail"))
  const list = yield* Effect.flip(client.listTools())
  assert.deepStrictEqual(
    asked.filter((method) => method === "tools/call"),
    ["tools/call"],
    "a call is never repeated on its own"
  )
  return { call, list }
})

const bytes = (error: McpClientError) => Schema.encodeSync(Schema.fromJsonString(McpClientError))(error)

describe("an answer that is an error", () => {
  it.effect("U-61: code, text and data of the server are kept, and the message names the method", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern((heard, me) => me.refuse(heard, -32602, "unknown tool", { tool: "nope" })))
      const client = yield* McpClient.connect(peer.transport)
      const error = yield* Effect.flip(client.callTool("nope"))
      assert.deepInclude(error.reason, {
        _tag: "ServerError",
        method: "tools/call",
        code: -32602,
        text: "unknown tool",
        data: { tool: "nope" }
      })
      assert.strictEqual(
        error.message,
        "a scripted server: the server answered tools/call with error -32602: unknown tool"
      )
    })
  )

  it.effect("U-61: one that wants more of the client says what to give when connecting", () =>
    Effect.gen(function* () {
      const wants = (requiredCapabilities: unknown) => ({ requiredCapabilities })
      const unclear = "it needs a capability that this client did not declare: `data` may say which"
      for (const [code, data, hint] of [
        [-32021, wants({ elicitation: {} }), "give the handler `elicitation.form` when connecting"],
        [-32021, wants({ elicitation: { url: {} } }), "give the handler `elicitation.url` when connecting"],
        [
          -32021,
          wants({ elicitation: { form: {}, url: {} }, roots: {} }),
          "give the handler `elicitation.form` and the handler `elicitation.url` and the handler `roots` when connecting"
        ],
        [-32021, wants({ sampling: {} }), "give the handler `sampling` when connecting"],
        [
          -32021,
          wants({ sampling: { tools: {} } }),
          "give the handler `sampling` with `samplingTools` when connecting"
        ],
        [-32021, wants({ extensions: { "a/b": {} } }), "give the extension it names when connecting"],
        [-32021, wants({ smell: {} }), unclear],
        [-32021, wants(null), unclear],
        [-32021, "elicitation", unclear],
        [-32021, undefined, unclear],
        [
          -32042,
          { elicitations: [{ mode: "url", url: "https://x.test/", message: "m", elicitationId: "1" }] },
          "the user has to open an address first: give the handler `elicitation.url` when connecting"
        ],
        [-32603, wants({ roots: {} }), undefined]
      ] as const) {
        const peer = Peer.make(Peer.modern((heard, me) => me.refuse(heard, code, "no", data)))
        const { message, reason } = yield* Effect.flip((yield* McpClient.connect(peer.transport)).callTool("a"))
        assert.strictEqual(reason._tag === "ServerError" && reason.hint, hint)
        const said = `a scripted server: the server answered tools/call with error ${code}: no`
        assert.strictEqual(message, hint === undefined ? said : `${said}; ${hint}`)
      }
    })
  )

  it.effect("M-HTTP: a 404 or 400 whose body is a JSON-RPC error is the server's answer", () =>
    Effect.gen(function* () {
      for (const status of [400, 404]) {
        const { call, list } = yield* outcomes(rejected(status, { code: -32601, message: "Method not found" }))
        assert.deepInclude(call.reason, { _tag: "ServerError", code: -32601, text: "Method not found" })
        assert.deepInclude(list.reason, { _tag: "ServerError", method: "tools/list", code: -32601 })
      }
    })
  )

  it.effect("T-NEG-6: a 401, 403 or 5xx is not, whatever its body says", () =>
    Effect.gen(function* () {
      for (const status of [401, 403, 500, 503]) {
        const { call, list } = yield* outcomes(rejected(status, { code: -32601, message: "Method not found" }))
        assert.notStrictEqual(call.reason._tag, "ServerError", `${status}`)
        assert.strictEqual(list.reason._tag, "WireFailed")
        assert.include(call.message, `MCP: HTTP ${status}`)
      }
    })
  )

  it.effect("M-RES-5, T-MOD-6: a result of an unknown kind, or one that cannot be read, is InvalidResult", () =>
    Effect.gen(function* () {
      const results = [{ resultType: "partial", content: [] }, { content: 5 }]
      const peer = Peer.make(Peer.modern(Peer.on("tools/call", () => results.shift() ?? {})))
      const client = yield* McpClient.connect(peer.transport)
      assert.strictEqual((yield* Effect.flip(client.callTool("a"))).reason._tag, "InvalidResult")
      assert.strictEqual((yield* Effect.flip(client.callTool("a"))).reason._tag, "InvalidResult")
    })
  )

  it.effect("T-CB-1: a tool that wants input, where nobody can answer, is InputRequired and not a result", () =>
    Effect.gen(function* () {
      const question = {
        method: "elicitation/create",
        params: { message: "?", requestedSchema: { type: "object", properties: {} } }
      }
      const peer = Peer.make(
        Peer.modern(
          Peer.on("tools/call", () => ({
            resultType: "input_required",
            requestState: "s",
            inputRequests: { k: question }
          }))
        )
      )
      const client = yield* McpClient.connect(peer.transport)
      assert.deepInclude(peer.heard()[0]?.params?.["_meta"], { "io.modelcontextprotocol/clientCapabilities": {} })
      const error = yield* Effect.flip(client.callTool("ask"))
      assert.strictEqual(error.reason._tag, "InputRequired")
      assert.include(error.message, "asks for input")
    })
  )
})

describe("an answer that does not come", () => {
  it("T-RPC-5: names our two limits, since progress extends the first and not the second", () => {
    const { message } = new RequestTimedOut({ method: "tools/call", limit: 300 })
    assert.match(message, /within 300 ms .* `timeout` .* `RequestCap` where progress extends it/)
  })
})

describe("an answer that is lost", () => {
  const unknown: ReadonlyArray<readonly [string, WireReason]> = [
    ["the stream ended before the answer", new ResponseLost({ because: "the event stream ended before the answer" })],
    ["the process ended", new Exited({ command: "node", code: 1, signal: null, stderr: "boom" })],
    ["the connection broke", new Unreachable({ because: "ECONNRESET" })],
    ["what came back is no answer", new MalformedReply({ excerpt: "<html>", because: "it is no JSON" })],
    ["a gateway gave up", rejected(504)],
    ["the server waited too long for the rest of the request", rejected(408)],
    ["the server failed", rejected(500)]
  ]

  it.effect.each(unknown)(
    "T-LIFE-3: when %s a call is OutcomeUnknown, sent once, and a list is WireFailed",
    ([, reason]) =>
      Effect.gen(function* () {
        const { call, list } = yield* outcomes(reason)
        assert.strictEqual(call.reason._tag, "OutcomeUnknown")
        assert.include(call.message, "it may have run")
        assert.strictEqual(list.reason._tag, "WireFailed")
      })
  )

  const refused: ReadonlyArray<readonly [string, WireReason]> = [
    ["credentials are missing", rejected(401)],
    ["the path is wrong", rejected(404)],
    ["the request is too large", rejected(413)],
    ["the server asks to slow down", rejected(429)]
  ]

  it.effect.each(refused)("T-LIFE-3: when %s nothing ran, so a call is WireFailed", ([, reason]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* outcomes(reason)).call.reason._tag, "WireFailed")
    })
  )

  it.effect("T-LIFE-3: a server that goes away settles every open request at once, and none is repeated", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern())
      const client = yield* McpClient.connect(peer.transport)
      const requests = yield* Effect.forEach(
        [Effect.asVoid(client.callTool("a")), Effect.asVoid(client.callTool("b")), Effect.asVoid(client.listTools())],
        (request) => Effect.forkChild(Effect.result(request))
      )
      yield* Effect.repeat(Effect.yieldNow, { times: 50 })
      peer.hangUp(new Exited({ command: "peer", code: 137, signal: null, stderr: "out of memory" }))
      const results = yield* Fiber.joinAll(requests)
      assert.deepStrictEqual(
        results.map((result) => result._tag === "Failure" && result.failure.reason._tag),
        ["OutcomeUnknown", "OutcomeUnknown", "WireFailed"]
      )
      for (const result of results)
        if (result._tag === "Failure") assert.include(result.failure.message, "out of memory")
      assert.strictEqual(peer.methods().filter((method) => method === "tools/call").length, 2)
    })
  )
})

describe("McpClientError", () => {
  it.effect("U-61: is data, survives encoding, and one reason can be caught", () =>
    Effect.gen(function* () {
      const { call } = yield* outcomes(new ResponseLost({ because: "it ended" }))
      const back = yield* Schema.decodeEffect(Schema.fromJsonString(McpClientError))(bytes(call))
      assert.strictEqual(back.message, call.message)
      assert.strictEqual(back.server, endpoint)
      assert.include(Cause.pretty(Cause.fail(call)), "it may have run")
      const caught = yield* Effect.fail(call).pipe(
        Effect.catchReason("McpClientError", "OutcomeUnknown", ({ method }: { readonly method: string }) =>
          Effect.succeed(method)
        )
      )
      assert.strictEqual(caught, "tools/call")
    })
  )
})
