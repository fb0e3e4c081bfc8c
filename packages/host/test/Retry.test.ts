/** Servers that fail and are tried again, by a clock that stands still until it is moved. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as McpClientError from "@mcp-effect/client/McpClientError"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import type { Heard } from "@mcp-effect/negotiation/Evidence"
import { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import { MalformedProbeReply, ProbeTransportFailure } from "@mcp-effect/negotiation/ProbeReason"
import { ModernUnavailable, type Reason, TransportFallbackExhausted } from "@mcp-effect/negotiation/Reason"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import { Transport } from "@mcp-effect/transport/Transport"
import * as TransportError from "@mcp-effect/transport/TransportError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { TestClock } from "effect/testing"
import * as Host from "../src/Host.ts"
import { CannotReach, Crashed, HostError } from "../src/HostError.ts"
import * as HostEvent from "../src/HostEvent.ts"
import { verdictOn } from "../src/internal/startFailure.ts"
import * as ServerEntry from "../src/ServerEntry.ts"
import type { ServerState } from "../src/ServerState.ts"

const entry = (name: string) => ServerEntry.stdio({ command: "scripted", approval: "allow", name })

const doubling = Schedule.exponential("1 second")

const refused = new TransportError.Unreachable({ because: "connection refused", unsent: true })

/** A way to a server that is well, unless `trouble` says otherwise when it is opened. */
const wayTo = Effect.fnUntraced(function* (script: Script.Script = Script.legacy(), kind: "stdio" | "http" = "stdio") {
  const server = yield* ScriptedServer.make(script)
  const well = kind === "http" ? server.http : server.pipe(kind)
  const control = {
    opened: 0,
    trouble: (_opened: number): TransportError.Reason | undefined => undefined
  }
  const transport = Transport.of({
    ...well,
    open: (hear) =>
      Effect.suspend(() => {
        const reason = control.trouble(++control.opened)
        return reason === undefined
          ? well.open(hear)
          : Effect.fail(new TransportError.TransportError({ endpoint: well.endpoint, reason }))
      })
  })
  return Object.assign(control, { transport })
})

const stateOf = (host: Host.Host["Service"], name: string) =>
  Effect.map(host.server(name), ({ state }) => SubscriptionRef.getUnsafe(state))

const facts = (state: ServerState) =>
  state._tag === "Failed" ? { tries: state.tries, nextTry: state.nextTry, because: state.because } : { tag: state._tag }

const until = (host: Host.Host["Service"], name: string, fits: (state: ServerState) => boolean) =>
  Effect.flatMap(host.server(name), ({ state }) =>
    SubscriptionRef.changes(state).pipe(Stream.filter(fits), Stream.take(1), Stream.runDrain)
  )

const becomes = (host: Host.Host["Service"], name: string, tag: ServerState["_tag"]) =>
  until(host, name, ({ _tag }) => _tag === tag)

/** Waits for the failure with this number. */
const fails = (host: Host.Host["Service"], name: string, tries: number) =>
  until(host, name, (state) => state._tag === "Failed" && state.tries === tries)

describe("a server that fails to start", () => {
  it.effect(
    "T-LIFE-4: one is ready at once, one after three refusals, and one whose command is missing stays failed",
    () =>
      Effect.gen(function* () {
        const [a, b, c] = [yield* wayTo(), yield* wayTo(), yield* wayTo()]
        b.trouble = (opened) => (opened <= 3 ? refused : undefined)
        c.trouble = () => new TransportError.SpawnFailed({ command: "no-such-command", because: "NotFound" })
        const host = yield* Host.make({ retry: doubling })
        yield* host.add(entry("b"), b.transport)
        yield* host.add(entry("c"), c.transport)
        yield* host.add(entry("a"), a.transport)
        yield* host.ready("a")
        yield* Effect.flip(host.ready("b"))
        yield* Effect.flip(host.ready("c"))
        const because = "it may be reachable later"
        const final = { tries: 1, nextTry: undefined, because: "the command cannot be started" }
        assert.deepStrictEqual(facts(yield* stateOf(host, "b")), { tries: 1, nextTry: 1_000, because })
        assert.deepStrictEqual(facts(yield* stateOf(host, "c")), final)
        yield* TestClock.adjust("1 second")
        yield* fails(host, "b", 2)
        assert.deepStrictEqual(facts(yield* stateOf(host, "b")), { tries: 2, nextTry: 3_000, because })
        yield* TestClock.adjust("2 seconds")
        yield* fails(host, "b", 3)
        assert.deepStrictEqual(facts(yield* stateOf(host, "b")), { tries: 3, nextTry: 7_000, because })
        yield* TestClock.adjust("3999 millis")
        assert.strictEqual(b.opened, 3)
        yield* TestClock.adjust("1 milli")
        yield* host.ready("b")
        assert.sameMembers([...SubscriptionRef.getUnsafe(host.catalogue).tools.keys()], ["a__echo", "b__echo"])
        yield* TestClock.adjust("1 day")
        assert.deepStrictEqual(facts(yield* stateOf(host, "c")), final)
        assert.deepStrictEqual([a.opened, b.opened, c.opened], [1, 4, 1])
      }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.effect("T-LIFE-4: by default it is tried after 1 second, then twice as long up to 5 minutes, without end", () =>
    Effect.gen(function* () {
      const way = yield* wayTo()
      way.trouble = () => refused
      const host = yield* Host.make()
      yield* host.add(entry("s"), way.transport)
      let now = 0
      for (let tries = 1; tries <= 20; tries++) {
        yield* fails(host, "s", tries)
        const state = yield* stateOf(host, "s")
        const pause = state._tag === "Failed" && state.nextTry !== undefined ? state.nextTry - now : Number.NaN
        const middle = Math.min(1_000 * 2 ** (tries - 1), 300_000)
        assert.isTrue(pause >= 0.8 * middle && pause <= 1.2 * middle + 1, `${pause} ms after failure ${tries}`)
        now += pause
        yield* TestClock.adjust(pause)
      }
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.effect("T-LIFE-4: `start` tries at once and begins anew; `stop` and the end of the host end the waiting", () =>
    Effect.gen(function* () {
      const way = yield* wayTo()
      way.trouble = () => refused
      const scope = yield* Scope.make()
      const host = yield* Host.make({ retry: doubling, replay: 1_000 }).pipe(Scope.provide(scope))
      yield* host.add(entry("s"), way.transport)
      yield* fails(host, "s", 1)
      yield* TestClock.adjust("1 second")
      yield* fails(host, "s", 2)
      yield* host.start("s")
      yield* Effect.flip(host.ready("s"))
      assert.include(facts(yield* stateOf(host, "s")), { tries: 1, nextTry: 2_000 })
      assert.strictEqual(way.opened, 3)
      yield* host.stop("s")
      assert.strictEqual((yield* stateOf(host, "s"))._tag, "Stopped")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(way.opened, 3)
      yield* host.start("s")
      yield* Effect.flip(host.ready("s"))
      const server = yield* host.server("s")
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(way.opened, 4)
      assert.strictEqual(SubscriptionRef.getUnsafe(server.state)._tag, "Stopped")
    }).pipe(Effect.provide(EraMemory.layerNone))
  )

  it.effect("T-LIFE-4: its failures say in the events and the log when it is tried again, or why it is not", () =>
    Effect.gen(function* () {
      const way = yield* wayTo(Script.legacy(), "http")
      way.trouble = (opened) =>
        opened === 1 ? refused : new TransportError.HttpRejected({ status: 401, body: "", sessionLost: false })
      const host = yield* Host.make({ retry: doubling })
      yield* host.add(entry("s"), way.transport)
      yield* fails(host, "s", 1)
      yield* TestClock.adjust("1 second")
      yield* fails(host, "s", 2)
      const texts = yield* host.events.pipe(
        Stream.filter(({ happening }) => happening._tag === "StateChanged"),
        Stream.map(({ happening }) => HostEvent.text(happening)),
        Stream.take(4),
        Stream.runCollect
      )
      assert.deepStrictEqual([texts[0], texts[2]], ["Connecting", "Connecting"])
      assert.include(texts[1], "(try 2 is at 1970-01-01T00:00:01.000Z: it may be reachable later)")
      assert.include(texts[3], "(it is not tried again: somebody has to sign in; `restart` the server then")
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.effect.each([
    ["never", "never" as const, "this host tries no server again"],
    ["what is no schedule", "sometimes" as never, 'its option `retry` is no schedule, and not "never"'],
    ["a schedule that has come to its end", Schedule.recurs(0), "the schedule has come to its end"],
    [
      "a schedule that breaks",
      Schedule.modifyDelay(Schedule.forever, () => Effect.die("out of order")),
      "the schedule broke: out of order"
    ],
    ["a schedule that waits for ever", Schedule.spaced(Duration.infinity), "it may be reachable later"]
  ] as const)("T-LIFE-4: with %s it stays failed until `start`", ([, retry, because]) =>
    Effect.gen(function* () {
      const way = yield* wayTo()
      way.trouble = (opened) => (opened === 1 ? refused : undefined)
      const host = yield* Host.make({ retry })
      yield* host.add(entry("s"), way.transport)
      yield* fails(host, "s", 1)
      assert.deepStrictEqual(facts(yield* stateOf(host, "s")), { tries: 1, nextTry: undefined, because })
      yield* TestClock.adjust("30 days")
      assert.strictEqual(way.opened, 1)
      yield* host.start("s")
      yield* host.ready("s")
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.effect.each([
    ["is waited for when it is short", 90_000, 90_000],
    ["past `MaxRetryAfter` leaves it to `start`", 600_000, undefined]
  ] as const)("T-LIFE-4: a `Retry-After` %s", ([, retryAfter, nextTry]) =>
    Effect.gen(function* () {
      const way = yield* wayTo(Script.legacy(), "http")
      way.trouble = () => new TransportError.HttpRejected({ status: 503, body: "", retryAfter, sessionLost: false })
      const host = yield* Host.make({ retry: doubling })
      yield* host.add(entry("s"), way.transport)
      yield* fails(host, "s", 1)
      assert.include(facts(yield* stateOf(host, "s")), { tries: 1, nextTry })
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.effect("T-LIFE-4: one whose transport can be opened once only is not tried again", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.legacy({ opening: [Script.close] }))
      const host = yield* Host.make({ retry: doubling })
      yield* host.add(entry("s"), server.pipe("memory"))
      yield* fails(host, "s", 1)
      assert.include(facts(yield* stateOf(host, "s")), { nextTry: undefined })
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("T-LIFE-4: a process that ends twice before it can serve is ready at its third start", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const code = `
        const { appendFileSync, readFileSync } = require("node:fs")
        const marks = process.argv[1] + "/starts"
        appendFileSync(marks, ".")
        if (readFileSync(marks, "utf8").length < 3) { console.error("the database is not up yet"); process.exit(1) }
        const results = {
          "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" },
          "tools/list": { tools: [{ name: "late", inputSchema: { type: "object" } }], ttlMs: 0, cacheScope: "private" }
        }
        require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
          const { id, method } = JSON.parse(line)
          if (!(method in results)) return
          const result = { resultType: "complete", ...results[method] }
          console.log(JSON.stringify({ jsonrpc: "2.0", id, result }))
        })`
      const host = yield* Host.make({ retry: Schedule.spaced("10 millis") })
      yield* host.add(ServerEntry.stdio({ name: "s", command: process.execPath, args: ["-e", code, folder] }))
      const error = yield* Effect.flip(host.ready("s"))
      assert.strictEqual(error.reason._tag, "ServerExited")
      assert.include(error.message, "the database is not up yet")
      yield* becomes(host, "s", "Ready")
      assert.deepStrictEqual([...SubscriptionRef.getUnsafe(host.catalogue).tools.keys()], ["s__late"])
      assert.strictEqual(yield* fs.readFileString(`${folder}/starts`), "...")
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(NodeServices.layer, EraMemory.layerNone)))
  )
})

describe("a server that was ready and is lost for good", () => {
  const dying = Script.legacy({ on: { "tools/call": [Script.exit(1)] } })
  const options: Host.Options = { retry: doubling, connect: { reconnect: Schedule.recurs(0) } }

  it.effect("T-LIFE-4: is tried again in the same way, begins anew after a steady time, and has its tools back", () =>
    Effect.gen(function* () {
      const way = yield* wayTo(dying)
      const host = yield* Host.make(options)
      yield* host.add(entry("s"), way.transport)
      yield* host.ready("s")
      const before = yield* (yield* host.server("s")).client
      way.trouble = () => refused
      yield* Effect.flip(host.callTool("s__echo", { text: "x" }))
      yield* fails(host, "s", 1)
      assert.include(facts(yield* stateOf(host, "s")), { nextTry: 1_000 })
      assert.strictEqual(SubscriptionRef.getUnsafe(host.catalogue).tools.size, 0)
      assert.strictEqual((yield* Effect.flip((yield* host.server("s")).client)).reason._tag, "NotReady")
      way.trouble = () => undefined
      yield* TestClock.adjust("1 second")
      yield* becomes(host, "s", "Ready")
      assert.deepStrictEqual([...SubscriptionRef.getUnsafe(host.catalogue).tools.keys()], ["s__echo"])
      assert.notStrictEqual(yield* (yield* host.server("s")).client, before)

      // Ready for a moment only: one more failure in a row.
      way.trouble = () => refused
      yield* Effect.flip(host.callTool("s__echo", { text: "x" }))
      yield* fails(host, "s", 2)
      assert.include(facts(yield* stateOf(host, "s")), { nextTry: 3_000 })
      way.trouble = () => undefined
      yield* TestClock.adjust("2 seconds")
      yield* becomes(host, "s", "Ready")

      yield* TestClock.adjust("30 seconds")
      way.trouble = () => refused
      yield* Effect.flip(host.callTool("s__echo", { text: "x" }))
      yield* fails(host, "s", 1)
      assert.include(facts(yield* stateOf(host, "s")), { nextTry: 34_000 })
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})

describe("what failed is told apart", () => {
  const web = ServerEntry.http({ name: "s", url: "https://example.com/mcp" })
  const wire = (reason: TransportError.Reason) =>
    new McpClientError.McpClientError({
      server: "s",
      reason: new McpClientError.WireFailed({
        method: "tools/list",
        cause: new TransportError.TransportError({ endpoint: "s", reason })
      })
    })
  const status = (status: number) => wire(new TransportError.HttpRejected({ status, body: "", sessionLost: false }))
  const server = (code: number) =>
    new McpClientError.McpClientError({
      server: "s",
      reason: new McpClientError.ServerError({ method: "tools/list", code, text: "no" })
    })
  const host = (reason: HostError["reason"]) => new HostError({ reason })
  const negotiating = (reason: Reason, remembered = false) =>
    new NegotiationError({ endpoint: "s", transport: "http", elapsed: 1, remembered, attempts: [], reason })
  const modern = (heard: Heard) => negotiating(new ModernUnavailable({ heard, rule: "P1" }))
  const both = (handshake: Heard, sse: Heard) => negotiating(new TransportFallbackExhausted({ handshake, sse }))
  const nobody = new MalformedProbeReply({ asked: "discover", because: "it is a page", excerpt: "" })
  const exited = new TransportError.Exited({ command: "s", code: 1, signal: null, stderr: "" })
  const starting = (because: string) => wire(new TransportError.SpawnFailed({ command: "s", because }))

  it.each([
    ["a machine with too many processes", starting("WouldBlock"), true],
    ["a command that is missing", starting("NotFound"), false],
    ["a command that may not be run", starting("PermissionDenied"), false],
    ["a process that ended", wire(exited), true],
    ["a wire that was closed", wire(new TransportError.Closed({ because: "it ended" })), true],
    ["HTTP 401", status(401), false],
    ["HTTP 403", status(403), false],
    ["HTTP 404", status(404), false],
    ["HTTP 429", status(429), true],
    ["HTTP 500", status(500), true],
    ["HTTP 501", status(501), false],
    ["HTTP 522", status(522), true],
    ["the server's internal error", server(-32603), true],
    ["parameters that do not fit", server(-32602), false],
    ["a version that is not supported", server(-32022), false],
    ["a machine without processes", host(new CannotReach({ server: "s", type: "stdio", needs: "HttpClient" })), false],
    ["silence where only modern will do", modern({ signal: "Silent" }), true],
    ["an older server where only modern will do", modern({ signal: "Failed", code: -32601 }), false],
    [
      "HTTP+SSE that is not there beside HTTP 503",
      both({ signal: "HttpStatus", status: 503 }, { signal: "HttpStatus", status: 404 }),
      true
    ],
    ["neither transport", both({ signal: "HttpStatus", status: 404 }, { signal: "HttpStatus", status: 405 }), false],
    ["a web page", negotiating(nobody), false],
    ["a web page after a remembered verdict", negotiating(nobody, true), true],
    ["a bug of this program", host(new Crashed({ server: "s", cause: "oops" })), false]
  ])("T-LIFE-4: %s", (_, error, again) => {
    assert.strictEqual(verdictOn({ error, entry: web, reopenable: true }).again, again)
  })

  it("T-LIFE-4: an address that is no URL", () => {
    const error = negotiating(new ProbeTransportFailure({ asked: "discover", because: "the address is no URL" }))
    const said = (url: string) => verdictOn({ error, entry: { ...web, url }, reopenable: true }).again
    assert.deepStrictEqual(["not a url", "ftp://example.com", web.url].map(said), [false, false, true])
  })
})
