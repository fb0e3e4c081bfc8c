/**
 * What is remembered of an endpoint, against every kind of server that may stand there now: the first request finds out, one
 * new negotiation puts it right, and the memory is right afterwards.
 */
import { assert, describe, it } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Mode from "@mcp-effect/negotiation/Mode"
import type { Era } from "@mcp-effect/protocol/Version"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Transcript from "@mcp-effect/testing/Transcript"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

type Carrier = "stdio" | "http"

/** What stood there when the verdict was made. */
const before: Readonly<Record<string, { readonly script: Script.Script; readonly carriers: ReadonlyArray<Carrier> }>> =
  {
    modern: { script: Script.modern(), carriers: ["stdio", "http"] },
    legacy: { script: Script.legacy(), carriers: ["stdio", "http"] },
    "legacy over HTTP+SSE": { script: Script.legacy({ http: { transport: "sse" } }), carriers: ["http"] }
  }

/** An older server that does this to the probe, and to the one method that comes before the handshake, if any does. */
const strict = (early: Script.Turn) => (method: string | undefined) =>
  Script.legacy({
    on: {
      "server/discover": [early],
      ...(method === undefined ? {} : { [method]: [early, [Script.answer()]] })
    },
    again: {
      "server/discover": [early],
      ...(method === undefined ? {} : { [method]: [[Script.answer()]] })
    }
  })

/** What stands there now, given the method that comes first. */
const now: ReadonlyArray<
  readonly [
    what: string,
    script: (method: string | undefined) => Script.Script,
    carriers: ReadonlyArray<Carrier>,
    /** Which era is found in the end, whatever was remembered; absent where both work. */
    era: Era | undefined
  ]
> = [
  ["modern", () => Script.modern(), ["stdio", "http"], "modern"],
  ["of both eras", () => Script.both(), ["stdio", "http"], undefined],
  ["legacy and answers whatever comes", () => Script.legacy(), ["stdio"], undefined],
  ...[-32601, -32602, -32600, -32000, -32603, -32700, 0].map(
    (code) =>
      [
        `legacy and says ${code} before the handshake`,
        strict([Script.fail(code)]),
        ["stdio", "http"],
        "legacy"
      ] as const
  ),
  ["legacy and says -32000 with HTTP 400", strict([Script.fail(-32000, { status: 400 })]), ["http"], "legacy"],
  ...[400, 404, 405].map(
    (status) =>
      [`legacy and answers ${status} before the handshake`, strict([Script.http(status)]), ["http"], "legacy"] as const
  ),
  ["legacy with sessions", () => Script.legacy({ http: { session: true } }), ["http"], "legacy"],
  ["legacy over HTTP+SSE alone", () => Script.legacy({ http: { transport: "sse" } }), ["http"], "legacy"],
  ["legacy and silent before the handshake", strict(Script.silence), ["stdio"], "legacy"],
  ["legacy and exits before the handshake", strict([Script.exit(1)]), ["stdio"], "legacy"],
  ["legacy and closes before the handshake", strict([Script.close]), ["stdio"], "legacy"]
]

const cases = Object.entries(before).flatMap(([was, { carriers, script }]) =>
  now.flatMap(([is, make, where, era]) =>
    carriers
      .filter((carrier) => where.includes(carrier))
      .map((carrier) => ({
        name: `${was}, over ${carrier}, though it is ${is} now`,
        script,
        // Whoever is remembered as legacy is sent nothing before the handshake.
        make: (method: string) => make(was === "modern" ? method : undefined),
        carrier,
        era,
        // On weak evidence nothing is remembered.
        weak: is.includes("-32603") && was !== "legacy"
      }))
  )
)

/** What stands at the one address now. */
const stands = (script: Script.Script) => ScriptedServer.make(script, { name: "remembered" })

const heard = (server: ScriptedServer.ScriptedServer) =>
  Effect.map(server.transcript, (transcript) =>
    Transcript.messages(transcript).flatMap(({ method }) => (typeof method === "string" ? [method] : []))
  )

const open = (server: ScriptedServer.ScriptedServer, carrier: Carrier, options?: McpClient.ConnectOptions) =>
  McpClient.connect(carrier === "http" ? server.http : server.pipe("stdio"), options)

/** Everything on one clock that is in no hurry, with a memory of its own. */
const alone = <A, E>(effect: Effect.Effect<A, E>) =>
  ScriptedServer.unhurried(effect).pipe(Effect.provide(EraMemory.layerInProcess))

describe("a server that is remembered as", () => {
  it.live.each(cases.map((row) => [row.name, row] as const))(
    "U-06, T-NEG-9: %s: is listed, called, and remembered as it is",
    ([, { carrier, era, make, script, weak }]) =>
      Effect.gen(function* () {
        const first = yield* stands(script)
        yield* Effect.scoped(Effect.flatMap(open(first, carrier), (client) => client.listTools()))
        const server = yield* stands(make("tools/list"))
        const began = yield* Clock.currentTimeMillis
        const found = yield* Effect.scoped(
          Effect.gen(function* () {
            const client = yield* open(server, carrier)
            assert.lengthOf(yield* client.listTools(), 1)
            const { content } = yield* client.callTool("echo", { text: "hello" })
            assert.lengthOf(content, 1)
            return client.agreement.era
          })
        )
        assert.isBelow((yield* Clock.currentTimeMillis) - began, 30_000)
        assert.include([era, undefined], era === undefined ? undefined : found)
        // Once: nothing goes round.
        const asked = (yield* heard(server)).filter((method) => method === "server/discover")
        assert.isAtMost(asked.length, 2)

        const before = (yield* heard(server)).length
        yield* Effect.scoped(Effect.flatMap(open(server, carrier), (client) => client.listTools()))
        const again = (yield* heard(server)).slice(before)
        assert.strictEqual(again.includes("server/discover"), weak)
        assert.strictEqual(again.includes("initialize"), found === "legacy")
      }).pipe(Effect.scoped, alone)
  )

  it.live.each(cases.filter(({ era }) => era === "legacy").map((row) => [row.name, row] as const))(
    "T-NEG-9, T-LIFE-3: %s: a first request that is a call runs at most once, and the next one is answered",
    ([, { carrier, make, script }]) =>
      Effect.gen(function* () {
        const first = yield* stands(script)
        yield* Effect.scoped(Effect.flatMap(open(first, carrier), (client) => client.listTools()))
        const server = yield* stands(make("tools/call"))
        const client = yield* open(server, carrier)
        yield* Effect.exit(client.callTool("echo", { text: "hello" }))
        const { content } = yield* client.callTool("echo", { text: "hello" })
        assert.lengthOf(content, 1)
        assert.strictEqual(client.agreement.era, "legacy")
        const calls = (yield* heard(server)).filter((method) => method === "tools/call")
        assert.isAtMost(calls.length, 3)
      }).pipe(Effect.scoped, alone)
  )

  it.live("U-12, T-NEG-9: modern by a saved verdict of the program: negotiated again all the same", () =>
    Effect.gen(function* () {
      const first = yield* stands(Script.modern())
      const saved = yield* Effect.scoped(Effect.map(open(first, "stdio"), (client) => client.agreement.raw))
      assert.isDefined(saved)
      const server = yield* stands(strict([Script.fail(-32602)])("tools/list"))
      const client = yield* open(server, "stdio", { mode: Mode.autoFrom(saved) })
      assert.deepStrictEqual(yield* heard(server), [])
      assert.lengthOf(yield* client.listTools(), 1)
      assert.strictEqual(client.agreement.era, "legacy")
    }).pipe(Effect.scoped, alone)
  )

  it.live(
    "T-NEG-9: modern, which it still is: an error to the first request is the caller's, and nothing is restarted",
    () =>
      Effect.gen(function* () {
        for (const code of [-32601, -32602, -32603, -32000]) {
          const first = yield* stands(Script.modern())
          yield* Effect.scoped(open(first, "stdio"))
          const server = yield* stands(Script.modern({ on: { "tools/call": [Script.fail(code)] } }))
          const client = yield* open(server, "stdio")
          const { reason } = yield* Effect.flip(client.callTool("echo", { text: "hello" }))
          assert.deepInclude(reason, { _tag: "ServerError", code })
          assert.deepStrictEqual(yield* heard(server), ["tools/call", "server/discover"])
          const wires = (yield* server.transcript).filter(({ event }) => event === "opened")
          assert.isAtMost(wires.length, 1)
        }
      }).pipe(Effect.scoped, alone)
  )

  it.live("T-NEG-9: modern, which it still is, and slow: the first list is waited for", () =>
    Effect.gen(function* () {
      const first = yield* stands(Script.modern())
      yield* Effect.scoped(open(first, "stdio"))
      const server = yield* stands(
        Script.modern({ on: { "tools/list": [Script.wait("20 seconds"), Script.answer()] } })
      )
      const client = yield* open(server, "stdio")
      assert.lengthOf(yield* client.listTools(), 1)
      assert.strictEqual(client.agreement.era, "modern")
    }).pipe(Effect.scoped, alone)
  )
})
