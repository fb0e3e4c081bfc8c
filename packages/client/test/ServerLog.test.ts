import { assert, describe, it } from "@effect/vitest"
import type { Diagnostic } from "@mcp-effect/protocol/Diagnostic"
import { Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type * as Logging from "@mcp-effect/protocol/Logging"
import { Transport, type Wire } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as Limits from "../src/Limits.ts"
import type * as McpClient from "../src/McpClient.ts"
import * as ServerLog from "../src/ServerLog.ts"
import { asked, connect, legacy, modern, restartable, settled } from "./fixtures/announcer.ts"
import * as Peer from "./fixtures/peer.ts"

type Client = McpClient.McpClient["Service"]

const said = { content: [{ type: "text", text: "done" }] }
const answering: Peer.React = (heard, peer) => {
  if (heard.method === "tools/call") peer.answer(heard, { resultType: "complete", ...said })
  else if (heard.method === "logging/setLevel") peer.answer(heard, {})
}
const log = (peer: Peer.Peer, params: JsonObject) => peer.say({ method: "notifications/message", params })

/** Collects what a stream says while the test runs. */
const collecting = Effect.fnUntraced(function* <A, E>(stream: Stream.Stream<A, E>) {
  const seen: Array<A> = []
  yield* stream.pipe(
    Stream.runForEach((each) => Effect.sync(() => void seen.push(each))),
    Effect.forkChild({ startImmediately: true })
  )
  return seen
})

/** A peer whose log messages come with the answer to a call, as they do over HTTP. */
const logging = (peer: Peer.Peer, ...messages: ReadonlyArray<JsonObject>): Transport["Service"] =>
  Transport.of({
    ...peer.transport,
    open: (hear) =>
      Effect.map(peer.transport.open(hear), (wire): Wire => ({
        ...wire,
        exchange: (request, how) => {
          if (request.method === "tools/call") {
            for (const params of messages) {
              how.interim?.({ jsonrpc: "2.0", method: "notifications/message", params })
            }
          }
          return wire.exchange(request, how)
        }
      }))
  })

describe("the log of a server", () => {
  for (const [era, react] of [
    ["modern", modern(answering)],
    ["legacy", legacy(answering)]
  ] as const) {
    it.effect(`M-LOG-6, L-LOG-2: is decoded, over a pipe of a ${era} server without an owner (T-29)`, () =>
      Effect.gen(function* () {
        const peer = Peer.make(react)
        const seen = yield* collecting((yield* connect(peer)).logs)
        log(peer, { level: "warning", logger: "db", data: { rows: 3 } })
        log(peer, { level: "emergency", data: "fire" })
        yield* settled
        assert.deepStrictEqual(seen, [
          { level: "warning", logger: "db", data: { rows: 3 }, request: undefined },
          { level: "emergency", logger: undefined, data: "fire", request: undefined }
        ])
      })
    )
  }

  it.effect("L-LOG-3: an unknown level reads as info; what is no log message is dropped and reported", () =>
    Effect.gen(function* () {
      const diagnostics: Array<Diagnostic> = []
      const peer = Peer.make(legacy())
      const client = yield* connect(peer).pipe(
        Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void diagnostics.push(diagnostic)))
      )
      const seen = yield* collecting(client.logs)
      log(peer, { level: "chatty", data: 1 })
      log(peer, { data: "no level" })
      log(peer, { level: "info", data: null })
      yield* settled
      assert.deepStrictEqual(
        seen.map(({ data, level }) => [level, data]),
        [
          ["info", 1],
          ["info", null]
        ]
      )
      assert.deepStrictEqual(
        diagnostics.map((each) => each._tag === "UnexpectedMessage" && each.method),
        ["notifications/message"]
      )
    })
  )

  it.effect("M-LOG-4: names the request where the wire tells, and the caller's own listener hears it too", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(answering))
      const client = yield* connect({ transport: logging(peer, { level: "info", data: "during" }) })
      const heard: Array<string> = []
      const seen = yield* collecting(client.logs)
      yield* client.callTool("search", {}, { onNotification: ({ method }) => void heard.push(method) })
      log(peer, { level: "info", data: "beside" })
      yield* settled
      assert.deepStrictEqual(
        seen.map(({ data, request }) => [data, request]),
        [
          ["during", { method: "tools/call", target: "search" }],
          ["beside", undefined]
        ]
      )
      assert.deepStrictEqual(heard, ["notifications/message"])
    })
  )

  it.effect("a slow reader keeps the newest NotificationBuffer messages, and the same holds for `notifications`", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy())
      const client = yield* connect(peer)
      const slowly = <A>(stream: Stream.Stream<A>) => {
        const seen: Array<A> = []
        return stream.pipe(
          Stream.runForEachArray((some) =>
            Effect.andThen(
              Effect.sync(() => void seen.push(...some)),
              Effect.sleep("1 second")
            )
          ),
          Effect.provideService(Limits.NotificationBuffer, 4),
          Effect.forkChild({ startImmediately: true }),
          Effect.as(seen)
        )
      }
      const logs = yield* slowly(client.logs)
      const notifications = yield* slowly(client.notifications)
      log(peer, { level: "info", data: 0 })
      yield* settled
      for (let data = 1; data <= 10_000; data++) log(peer, { level: "info", data })
      yield* settled
      yield* TestClock.adjust("1 minute")
      yield* settled
      const expected = [0, 9_997, 9_998, 9_999, 10_000]
      assert.deepStrictEqual(
        logs.map(({ data }) => data),
        expected
      )
      assert.deepStrictEqual(
        notifications.map(({ params }) => params?.["data"]),
        expected
      )
    })
  )

  it.effect("T-LIFE-6: ends with the client, after what waits; a stream of a closed client is over at once", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy())
      const scope = yield* Scope.make()
      const client = yield* connect(peer).pipe(Scope.provide(scope))
      const all = Effect.all([Stream.runCount(client.logs), Stream.runCount(client.notifications)], {
        concurrency: "unbounded"
      })
      const counted = yield* Effect.forkChild(all, { startImmediately: true })
      yield* settled
      log(peer, { level: "info", data: "the last" })
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* Fiber.join(counted), [1, 1])
      assert.deepStrictEqual(yield* all, [0, 0])
    })
  )
})

describe("the log of a server in Effect's logger", () => {
  const written = () => {
    const lines: Array<readonly [level: string, message: unknown, annotations: unknown]> = []
    const logger = Logger.make(({ fiber, logLevel, message }) => {
      lines.push([logLevel, message, fiber.getRef(References.CurrentLogAnnotations)])
    })
    return { lines, logged: Effect.provide(Logger.layer([logger])) }
  }

  it.effect("`forwardLogs` writes every message from the first on, with who said it and about what", () =>
    Effect.gen(function* () {
      const { lines, logged } = written()
      const greeting: Peer.React = (heard, peer) => {
        if (heard.method === "server/discover") log(peer, { level: "notice", data: "welcome" })
        modern(answering)(heard, peer)
      }
      const peer = Peer.make(greeting, { endpoint: "a library" })
      const transport = logging(peer, { level: "critical", logger: "db", data: { lost: true } })
      yield* logged(
        Effect.gen(function* () {
          const client = yield* connect({ transport }, { forwardLogs: true })
          yield* client.callTool("search")
          yield* settled
        })
      )
      assert.deepStrictEqual(lines, [
        ["Info", ["welcome"], { server: "a library", "mcp.level": "notice" }],
        [
          "Fatal",
          [{ lost: true }],
          {
            server: "a library",
            "mcp.level": "critical",
            "mcp.logger": "db",
            "mcp.method": "tools/call",
            "mcp.target": "search"
          }
        ]
      ])
    })
  )

  it.effect("is silent unless it is asked for", () =>
    Effect.gen(function* () {
      const { lines, logged } = written()
      const peer = Peer.make(legacy())
      yield* logged(connect(peer))
      log(peer, { level: "error", data: "unheard" })
      yield* settled
      assert.deepStrictEqual(lines, [])
    })
  )

  it("the eight levels of the protocol map onto Effect's", () => {
    const levels: ReadonlyArray<Logging.Level> = [
      "debug",
      "info",
      "notice",
      "warning",
      "error",
      "critical",
      "alert",
      "emergency"
    ]
    assert.deepStrictEqual(levels.map(ServerLog.severityOf), [
      "Debug",
      "Info",
      "Info",
      "Warn",
      "Error",
      "Fatal",
      "Fatal",
      "Fatal"
    ])
  })
})

describe("the level of the log", () => {
  const levelOf = (peer: Peer.Peer) =>
    asked(peer, "tools/call").map(({ params }) => {
      const meta = params?.["_meta"]
      return typeof meta === "object" && meta !== null && "io.modelcontextprotocol/logLevel" in meta
        ? meta["io.modelcontextprotocol/logLevel"]
        : undefined
    })

  it.effect(
    "M-LOG-9: a modern server is asked with every later request, and with its own level where one is given",
    () =>
      Effect.gen(function* () {
        const peer = Peer.make(modern(answering))
        const client = yield* connect(peer)
        yield* client.callTool("a")
        yield* client.setLogLevel("warning")
        yield* client.callTool("b")
        yield* client.callTool("c", {}, { logLevel: "debug", meta: { "example.com/x": 1 } })
        assert.deepStrictEqual(levelOf(peer), [undefined, "warning", "debug"])
        assert.lengthOf(asked(peer, "logging/setLevel"), 0)
      })
  )

  it.effect.each([
    ["modern", modern(answering), "error"],
    ["legacy", legacy(answering), undefined]
  ] as const)(
    "M-LOG-9, L-LOG-4: of a %s server no level is asked that does not exist: InvalidOption, and the one before holds",
    ([, react, sent]) =>
      Effect.gen(function* () {
        const peer = Peer.make(react)
        const client = yield* connect(peer)
        yield* client.setLogLevel("error")
        const before = peer.lines.length
        for (const level of ["loud", "ERROR", null, 3].map((each) => JSON.parse(JSON.stringify(each)))) {
          const { reason } = yield* Effect.flip(client.setLogLevel(level))
          assert.deepInclude(reason, { _tag: "InvalidOption", option: "level" })
        }
        assert.lengthOf(peer.lines, before)
        yield* client.callTool("a")
        assert.deepStrictEqual(levelOf(peer), [sent])
      })
  )

  it.effect("M-LOG-5: a subscription to changes never asks for log messages", () =>
    Effect.gen(function* () {
      const peer = Peer.make(modern(answering))
      const client = yield* connect(peer)
      yield* client.setLogLevel("debug")
      yield* Effect.forkChild(Stream.runDrain(client.changes({ tools: true })), { startImmediately: true })
      yield* settled
      assert.notInclude(JSON.stringify(asked(peer)[0]), "logLevel")
    })
  )

  it.effect("L-LOG-4: a legacy server is told at once, and again in a new session; requests say nothing of it", () =>
    Effect.gen(function* () {
      const peer = restartable(legacy(answering))
      const client = yield* connect(peer)
      yield* client.setLogLevel("warning")
      yield* client.setLogLevel("error")
      yield* client.callTool("a")
      peer.hangUp()
      yield* settled
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.deepStrictEqual(
        asked(peer, "logging/setLevel").map(({ params }) => params),
        [{ level: "warning" }, { level: "error" }, { level: "error" }]
      )
      assert.deepStrictEqual(levelOf(peer), [undefined])
    })
  )

  it.effect("L-LOG-1: a legacy server that has no levels says so, and is not asked again", () =>
    Effect.gen(function* () {
      const peer = restartable(
        legacy((heard, me) => {
          if (heard.method === "logging/setLevel") me.refuse(heard, -32601, "Method not found")
        })
      )
      const client = yield* connect(peer)
      const error = yield* Effect.flip(client.setLogLevel("debug"))
      assert.deepInclude(error.reason, { _tag: "ServerError", code: -32601 })
      peer.hangUp()
      yield* settled
      assert.lengthOf(asked(peer, "logging/setLevel"), 1)
    })
  )
})

describe("roots that change", () => {
  const roots = Effect.succeed([{ uri: "file:///home" }])
  const told = (peer: Peer.Peer) => asked(peer, "notifications/roots/list_changed")
  const changing = Effect.fnUntraced(function* (
    react: Peer.React,
    handlers: McpClient.ConnectOptions["handlers"] = {}
  ) {
    const peer = Peer.make(react)
    const client: Client = yield* connect(peer, { handlers })
    yield* settled
    yield* client.rootsChanged
    yield* settled
    return peer
  })

  it.effect("L-ROOT-1: a legacy server is told, and was told that it would be", () =>
    Effect.gen(function* () {
      const peer = yield* changing(legacy(), { roots })
      assert.strictEqual(peer.lines.at(-1), '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}')
      assert.lengthOf(told(peer), 1)
      const hello = asked(peer, "initialize")[0]?.params
      assert.deepStrictEqual(hello?.["capabilities"], { roots: { listChanged: true } })
    })
  )

  it.effect("L-ROOT-3: a modern server is not, and asks when it needs them", () =>
    Effect.gen(function* () {
      const peer = yield* changing(modern(), { roots })
      assert.deepStrictEqual(told(peer), [])
      assert.include(JSON.stringify(peer.heard()[0]), '"io.modelcontextprotocol/clientCapabilities":{"roots":{}}')
    })
  )

  it.effect("nothing is said by a client that never offered any", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(told(yield* changing(legacy())), [])
    })
  )

  it.effect("fails when the wire is gone", () =>
    Effect.gen(function* () {
      const peer = Peer.make(legacy())
      const client: Client = yield* connect(peer, { handlers: { roots } })
      peer.hangUp()
      yield* settled
      const telling = yield* Effect.forkChild(Effect.flip(client.rootsChanged))
      assert.strictEqual((yield* Fiber.join(telling)).reason._tag, "WireFailed")
    })
  )
})
