import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as ExchangeLog from "@mcp-effect/transport/ExchangeLog"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { echo, request } from "../src/internal/trial.ts"
import * as Recording from "../src/Recording.ts"
import * as Script from "../src/Script.ts"
import * as ScriptedServer from "../src/ScriptedServer.ts"

const revision = Revision.v2026_07_28
const bench = { revision, transcript: Effect.succeed([]) }
const log = (data: string) => ({ method: "notifications/message", params: { level: "info", data } })

/** A server that answers differently each time, tells things, fails, and ends. */
const original = Script.modern({
  on: {
    "tools/call": [
      [Script.say(log("one")), Script.answer({ resultType: "complete", content: [] })],
      [Script.fail(-32603, { message: "not now", data: { after: 2 } })],
      Script.silence,
      [Script.exit(3)]
    ]
  },
  again: { "tools/call": [Script.answer({ resultType: "complete", content: [{ type: "text", text: "again" }] })] }
})

/** What a client sees of a server: every answer, every word, how requests fail. */
const visit = Effect.fnUntraced(function* (transport: Transport["Service"]) {
  const seen: Array<unknown> = []
  const ask = (wire: Effect.Success<ReturnType<Transport["Service"]["open"]>>, message: JsonRpc.Request) =>
    wire
      .exchange(message, { revision })
      .pipe(
        Effect.match({ onFailure: ({ reason }) => seen.push(reason._tag), onSuccess: (answer) => seen.push(answer) })
      )
  const first = Effect.gen(function* () {
    const wire = yield* transport.open((message) => void seen.push(message))
    yield* ask(wire, request(bench, 1, "server/discover"))
    yield* ask(wire, echo(bench, 2, "a"))
    yield* ask(wire, echo(bench, 3, "b"))
    const unanswered = yield* Effect.forkChild(ask(wire, echo(bench, 4, "c")), { startImmediately: true })
    yield* Effect.yieldNow
    yield* Fiber.interrupt(unanswered)
    yield* ask(wire, echo(bench, 5, "d"))
  })
  yield* Effect.scoped(first)
  const second = Effect.gen(function* () {
    const wire = yield* transport.open((message) => void seen.push(message))
    yield* ask(wire, echo(bench, 1, "e"))
  })
  yield* Effect.scoped(second)
  return seen
})

describe("Recording", () => {
  it.effect("a script of a log answers, tells, fails, stays silent and ends as the recorded server did", () =>
    Effect.gen(function* () {
      const entries: Array<ExchangeLog.Entry> = []
      const server = yield* ScriptedServer.make(original)
      const real = yield* visit(ExchangeLog.record(server.pipe("stdio"), (entry) => void entries.push(entry)))
      assert.include(JSON.stringify(real), "again")

      const kept = ExchangeLog.parse(entries.map((entry) => JSON.stringify(entry)).join("\n"))
      const script = Recording.script(kept)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(script)), script, "a script is plain JSON")
      assert.deepStrictEqual([script.modern, script.legacy], [["2026-07-28"], []])
      const replayed = yield* ScriptedServer.make(script)
      assert.deepStrictEqual(yield* visit(replayed.pipe("stdio")), real)
    })
  )

  it.effect("a script of a log answers over HTTP too, and what the log does not hold is answered well-behaved", () =>
    Effect.gen(function* () {
      const entries: Array<ExchangeLog.Entry> = []
      const legacy = yield* ScriptedServer.make(Script.legacy({ on: { ping: [Script.fail(-32000)] } }))
      const how = { revision: Revision.v2025_11_25 }
      const hello = request({ ...bench, revision: Revision.v2025_11_25 }, 1, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "1" }
      })
      const talk = Effect.fnUntraced(function* (transport: Transport["Service"]) {
        const wire = yield* transport.open(() => {})
        return [
          yield* wire.exchange(hello, how),
          yield* Effect.result(wire.exchange({ jsonrpc: "2.0", id: 2, method: "ping" }, how))
        ]
      }, Effect.scoped)
      yield* talk(ExchangeLog.record(legacy.pipe(), (entry) => void entries.push(entry)))
      const script = Recording.script(entries)
      assert.deepStrictEqual([script.modern, script.legacy], [[], ["2025-11-25"]])
      const server = yield* ScriptedServer.make(script)
      assert.include(JSON.stringify(yield* talk(server.http)), "-32000")
      const wire = yield* server.pipe().open(() => {})
      const listed = yield* wire.exchange({ jsonrpc: "2.0", id: 3, method: "tools/list" }, how)
      assert.include(JSON.stringify(listed), "echo")
    }).pipe(Effect.scoped)
  )
})
