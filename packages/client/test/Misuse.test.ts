/** What programs and servers do wrong: each ends at once, in a typed way, and harms nobody else. */
import { assert, describe, it } from "@effect/vitest"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Limits from "../src/Limits.ts"
import * as McpClient from "../src/McpClient.ts"
import { InvalidOption, McpClientError } from "../src/McpClientError.ts"
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
          ["CallbackFailed", "CallbackFailed"]
        )
      })
    )
  )

  const form = { message: "?", requestedSchema: { type: "object", properties: {} } }

  const died = { callback: "the handler of elicitation/create", because: "Error: from the program", failed: 1 }

  it.effect("T-RPC-6: a handler that throws is reported, and answered for with -32603 in the legacy era", () =>
    reporting((reported) =>
      Effect.gen(function* () {
        const peer = Peer.make(Peer.legacy())
        yield* McpClient.connect(peer.transport, { mode: "legacy", handlers: { elicitation: { form: throwing } } })
        peer.say({ id: "q", method: "elicitation/create", params: form })
        yield* settled
        assert.deepInclude(peer.heard().at(-1), { id: "q", error: { code: -32603, message: "the handler failed" } })
        assert.lengthOf(reported, 1)
        assert.deepInclude(reported[0], died)
      })
    )
  )

  it.effect("T-RPC-6: a handler that throws is reported, and fails the call that asked in the modern era", () =>
    reporting((reported) =>
      Effect.gen(function* () {
        const inputRequests = { q: { method: "elicitation/create", params: form } }
        const peer = Peer.make(
          Peer.modern(Peer.on("tools/call", () => ({ resultType: "input_required", inputRequests, requestState: "s" })))
        )
        const client = yield* McpClient.connect(peer.transport, { handlers: { elicitation: { form: throwing } } })
        const { reason } = yield* Effect.flip(client.callTool("a"))
        assert.strictEqual(reason._tag, "InputRequired")
        yield* settled
        assert.deepInclude(reported[0], died)
      })
    )
  )

  it.effect.each([
    ["an interruption", Effect.interrupt],
    [
      "a deferred that is interrupted",
      Effect.flatMap(Deferred.make<never>(), (waited) =>
        Effect.andThen(Deferred.interrupt(waited), Deferred.await(waited))
      )
    ]
  ] as const)(
    "T-RPC-6: %s inside a handler is an answer in both eras, and no interruption of the one who called",
    ([, ends]) =>
      Effect.gen(function* () {
        const handlers = { elicitation: { form: () => ends } }
        const old = Peer.make(Peer.legacy())
        yield* McpClient.connect(old.transport, { mode: "legacy", handlers })
        old.say({ id: "q", method: "elicitation/create", params: form })
        yield* settled
        assert.deepInclude(old.heard().at(-1), {
          id: "q",
          error: { code: -32603, message: "the handler was interrupted" }
        })
        const inputRequests = { q: { method: "elicitation/create", params: form } }
        const now = Peer.make(
          Peer.modern(Peer.on("tools/call", () => ({ resultType: "input_required", inputRequests })))
        )
        const client = yield* McpClient.connect(now.transport, { handlers })
        const { reason } = yield* Effect.flip(client.callTool("a"))
        assert.strictEqual(reason._tag, "InputRequired")
        assert.include(reason.message, "the handler was interrupted")
      })
  )

  it.effect("L-ROOT-1: roots of which one is no file:// address are not sent; the error names it, in both eras", () =>
    Effect.gen(function* () {
      const handlers = { roots: Effect.succeed([{ uri: "file:///srv" }, { uri: "/srv/project" }]) }
      const message = "the address of a root begins with file://, and this one is /srv/project"
      const old = Peer.make(Peer.legacy())
      yield* McpClient.connect(old.transport, { mode: "legacy", handlers })
      old.say({ id: "q", method: "roots/list" })
      yield* settled
      assert.deepInclude(old.heard().at(-1), { id: "q", error: { code: -32603, message } })
      const inputRequests = { q: { method: "roots/list" } }
      const now = Peer.make(Peer.modern(Peer.on("tools/call", () => ({ resultType: "input_required", inputRequests }))))
      const client = yield* McpClient.connect(now.transport, { handlers })
      const { reason } = yield* Effect.flip(client.callTool("a"))
      assert.strictEqual(reason._tag, "InputRequired")
      assert.include(reason.message, message)
      assert.lengthOf(now.heard(), 2)
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
        assert.deepStrictEqual(
          reported.map((each) => each._tag === "UnexpectedMessage" && each.dropped),
          [1, 2, 4]
        )
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
      // No service has this port, and the system lends it to nobody.
      const client = yield* McpClient.connect("http://127.0.0.1:3/mcp", { mode: "2026-07-28" })
      const { reason } = yield* Effect.flip(client.callTool("a"))
      assert.strictEqual(reason._tag, "WireFailed")
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )
})

describe("programs without types", () => {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the parameter is the lie a program without types tells
  const untyped = <A>(value: unknown): A => JSON.parse(JSON.stringify(value))

  const refused = (effect: Effect.Effect<unknown, unknown, Scope.Scope>) =>
    Effect.map(Effect.flip(effect), (error) =>
      error instanceof McpClientError && error.reason._tag === "InvalidOption"
        ? [error.reason.option, error.reason.given]
        : error
    )

  it.effect("U-05: names and times that do not exist end in a typed error that says what may stand there", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern())
      const client = yield* McpClient.connect(peer.transport)
      const sent = peer.heard().length
      assert.deepStrictEqual(yield* refused(client.request(untyped<"ping">("no/such"), {})), ["method", '"no/such"'])
      assert.deepStrictEqual(yield* refused(client.live(untyped<"tools/list">("bogus"))), ["method", '"bogus"'])
      assert.deepStrictEqual(yield* refused(Stream.runDrain(client.pages(untyped<"tools/list">("bogus")))), [
        "method",
        '"bogus"'
      ])
      for (const timeout of ["soon", -1, -1e-7, "-5 seconds", true]) {
        const error = yield* refused(client.callTool("a", {}, { timeout: untyped(timeout) }))
        assert.deepStrictEqual(error, ["timeout", typeof timeout === "string" ? `"${timeout}"` : String(timeout)])
      }
      const noNumber = yield* refused(client.callTool("a", {}, { timeout: Number.NaN }))
      assert.deepStrictEqual(noNumber, ["timeout", "NaN"])
      assert.strictEqual(peer.heard().length, sent)
    })
  )

  it.effect("U-05: a message begins with a short form of a long command line", () =>
    Effect.sync(() => {
      const reason = new InvalidOption({ option: "timeout", given: "-1", allowed: "a time" })
      const error = new McpClientError({ server: `node ${"x".repeat(5_000)}`, reason })
      assert.isBelow(error.message.length, 300)
    })
  )
})

describe("what a server repeats", () => {
  it.effect("M-JSON-10: unexpected messages and answers to nothing are reported ever more rarely", () =>
    reporting((reported) =>
      Effect.gen(function* () {
        const peer = Peer.make(Peer.modern())
        yield* McpClient.connect(peer.transport)
        for (let i = 0; i < 1_000; i++) peer.say({ id: `q${i}`, method: "roots/list" })
        yield* settled
        const numbers = reported.map((each) => each._tag === "UnexpectedMessage" && each.dropped)
        assert.deepStrictEqual(numbers, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
      })
    )
  )

  it.effect("T-RPC-6: a report that throws harms nothing", () =>
    Effect.gen(function* () {
      const peer = Peer.make(Peer.modern())
      yield* McpClient.connect(peer.transport)
      peer.say({ id: "q", method: "roots/list" })
      yield* settled
      assert.deepStrictEqual(peer.methods(), ["server/discover"])
    }).pipe(Effect.provideService(Diagnostics, throwing))
  )

  it.effect(
    "T-RPC-6: a slow reader of a call's events loses the oldest, hears how many, and never loses the result",
    () =>
      reporting((reported) =>
        Effect.gen(function* () {
          const peer = Peer.make(
            Peer.modern((heard, me) => {
              if (heard.method !== "tools/call") return
              for (let progress = 0; progress < 100; progress++) {
                me.say({ method: "notifications/progress", params: { progressToken: heard.id, progress } })
              }
              me.answer(heard, { resultType: "complete", content: [] })
            })
          )
          const client = yield* McpClient.connect(peer.transport)
          const events = yield* Stream.runCollect(client.streamTool("a")).pipe(
            Effect.provideService(Limits.CallEventBuffer, 10)
          )
          assert.strictEqual(events.at(-1)?._tag, "Result")
          assert.isAtMost(events.length, 11)
          const lost = reported.map((each) => each._tag === "EventsDropped" && each.dropped)
          assert.deepStrictEqual(lost, [101 - events.length])
        })
      )
  )
})
