/** What programs and servers do wrong: each ends at once, in a typed way, and harms nobody else. */
import { assert, describe, it } from "@effect/vitest"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { createServer } from "node:net"
import * as Limits from "../src/Limits.ts"
import * as McpClient from "../src/McpClient.ts"
import * as Peer from "./fixtures/peer.ts"

const settled = Effect.repeat(Effect.yieldNow, { times: 50 })

const echo = Peer.on("tools/call", ({ params }) => ({
  resultType: "complete",
  content: [{ type: "text", text: JSON.stringify(params?.["arguments"]) }]
}))

const circle: Record<string, unknown> = {}
circle["self"] = circle

const noJson: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>]> = [
  ["a bigint", { a: 1n }],
  ["a circle", circle],
  [
    "a getter that throws",
    {
      get a() {
        throw new Error("no")
      }
    }
  ],
  [
    "a toJSON that throws",
    {
      a: {
        toJSON: () => {
          throw new Error("no")
        }
      }
    }
  ]
]

describe("arguments", () => {
  it.effect.each(noJson)(
    "%s cannot be sent: WireFailed at once, nothing on the wire, and the next call works",
    ([, args]) =>
      Effect.gen(function* () {
        const peer = Peer.make(Peer.modern(echo))
        const client = yield* McpClient.connect(peer.transport)
        const { reason } = yield* Effect.flip(client.callTool("echo", args))
        assert.strictEqual(reason._tag, "WireFailed")
        assert.include(reason.message, "is no JSON, and was not sent")
        assert.deepStrictEqual(peer.methods(), ["server/discover"])
        assert.lengthOf((yield* client.callTool("echo", { a: 1 })).content, 1)
      })
  )
})

/** Runs a test with what was reported meanwhile. */
const reporting = <A, E, R>(test: (reported: ReadonlyArray<Diagnostic>) => Effect.Effect<A, E, R>) => {
  const reported: Array<Diagnostic> = []
  return Effect.provideService(test(reported), Diagnostics, (diagnostic) =>
    Effect.sync(() => void reported.push(diagnostic))
  )
}

const throwing = () => {
  throw new Error("from the program")
}

describe("functions of the program", () => {
  it.effect("T-RPC-6: `onProgress` and `onNotification` that throw are reported, and the answer still arrives", () =>
    reporting((reported) =>
      Effect.gen(function* () {
        const peer = Peer.make(
          Peer.modern((heard, me) => {
            if (heard.method !== "tools/call") return
            me.say({ method: "notifications/progress", params: { progressToken: heard.id, progress: 1 } })
            me.answer(heard, { resultType: "complete", content: [] })
          })
        )
        const client = yield* McpClient.connect(peer.transport)
        const result = yield* client.callTool("a", {}, { onProgress: throwing, onNotification: throwing })
        assert.deepStrictEqual(result.content, [])
        yield* settled
        assert.deepStrictEqual(
          reported.map(({ _tag }) => _tag),
          ["UnexpectedMessage", "UnexpectedMessage"]
        )
      })
    )
  )

  const form = { message: "?", requestedSchema: { type: "object", properties: {} } }

  it.effect("T-RPC-6: a handler that throws is answered for with -32603 in the legacy era", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy())
      yield* McpClient.connect(peer.transport, { mode: "legacy", handlers: { elicitation: { form: throwing } } })
      peer.say({ id: "q", method: "elicitation/create", params: form })
      yield* settled
      assert.deepInclude(peer.heard().at(-1), { id: "q", error: { code: -32603, message: "the handler failed" } })
    })
  )

  it.effect("T-RPC-6: a handler that throws fails the call that asked in the modern era", () =>
    Effect.gen(function* () {
      const inputRequests = { q: { method: "elicitation/create", params: form } }
      const peer = Peer.make(
        Peer.modern(Peer.on("tools/call", () => ({ resultType: "input_required", inputRequests, requestState: "s" })))
      )
      const client = yield* McpClient.connect(peer.transport, { handlers: { elicitation: { form: throwing } } })
      const { reason } = yield* Effect.flip(client.callTool("a"))
      assert.strictEqual(reason._tag, "InputRequired")
    })
  )

  it.effect("T-RPC-6: an answer of a handler that is no JSON is answered for with -32603", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.legacy())
      const decline = { action: "decline" as const, _meta: { a: 5n } }
      yield* McpClient.connect(peer.transport, {
        mode: "legacy",
        handlers: { elicitation: { form: () => Effect.succeed(decline) } }
      })
      peer.say({ id: "q", method: "elicitation/create", params: form })
      yield* settled
      assert.deepInclude(peer.heard().at(-1), { id: "q", error: { code: -32603, message: "the answer is no JSON" } })
    })
  )
})

describe("a server that asks too much", () => {
  it.effect("MaxOpenQuestions bounds what is answered at one time; the rest is dropped and reported", () =>
    reporting((reported) =>
      Effect.gen(function* () {
        let asked = 0
        const peer = Peer.make(Peer.legacy(echo))
        const client = yield* McpClient.connect(peer.transport, {
          mode: "legacy",
          handlers: {
            roots: Effect.suspend(() => {
              asked++
              return Effect.never
            })
          }
        }).pipe(Effect.provideService(Limits.MaxOpenQuestions, 3))
        for (let id = 0; id < 10; id++) peer.say({ id: `q${id}`, method: "roots/list" })
        yield* settled
        assert.strictEqual(asked, 3)
        assert.lengthOf(reported, 7)
        assert.lengthOf((yield* client.callTool("echo")).content, 1)
      })
    )
  )

  it.effect("MaxOpenQuestions bounds the questions of one round, and the call says so", () =>
    Effect.gen(function* () {
      const inputRequests = Object.fromEntries(
        Array.from({ length: 5 }, (_, index) => [`q${index}`, { method: "roots/list", params: {} }])
      )
      const peer = Peer.make(
        Peer.modern(Peer.on("tools/call", () => ({ resultType: "input_required", inputRequests })))
      )
      const client = yield* McpClient.connect(peer.transport, { handlers: { roots: Effect.succeed([]) } })
      const { reason } = yield* Effect.flip(
        client.callTool("a").pipe(Effect.provideService(Limits.MaxOpenQuestions, 4))
      )
      assert.include(reason.message, "5 questions at once")
    })
  )
})

describe("an answer past a bound", () => {
  it.effect("T-STDIO-4: nested too deeply, over a pipe, fails the one request in flight at once", () =>
    Effect.gen(function* () {
      const deep = JSON.parse(`${"[".repeat(600)}${"]".repeat(600)}`)
      const peer = Peer.make(
        Peer.modern(Peer.on("tools/call", () => ({ resultType: "complete", content: [], structuredContent: deep })))
      )
      const client = yield* McpClient.connect(peer.transport)
      const { reason } = yield* Effect.flip(client.callTool("a"))
      assert.include(reason.message, "nested too deeply")
    })
  )
})

describe("a port that refuses", () => {
  it.live("T-LIFE-3: a call that never left is WireFailed, not OutcomeUnknown", () =>
    Effect.gen(function* () {
      const port = yield* Effect.callback<number>((resume) => {
        const server = createServer()
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
        })
      })
      const client = yield* McpClient.connect(`http://127.0.0.1:${port}/mcp`, { mode: "2026-07-28" })
      const { reason } = yield* Effect.flip(client.callTool("a"))
      assert.strictEqual(reason._tag, "WireFailed")
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )
})
