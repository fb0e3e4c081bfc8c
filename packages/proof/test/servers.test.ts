/**
 * The client against real servers of both eras: the published reference servers, the official SDKs, Effect's own.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import type * as Progress from "@mcp-effect/protocol/Progress"
import * as Negotiated from "@mcp-effect/testing/Negotiated"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as Stdio from "@mcp-effect/transport/Stdio"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Servers from "../servers/Servers.ts"
import { patience } from "./fixtures/patience.ts"
import * as Watching from "./fixtures/watching.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 60_000 })

/** Each test begins without a memory of eras, so it asks as a new program would. */
const Platform = Layer.mergeAll(NodeServices.layer, NodeHttp.layer, EraMemory.layerInProcess, patience)

const targetOf = (server: Servers.RunningServer) =>
  server.kind === "stdio" ? [server.target.command, ...server.target.args] : server.target.url

const transportOf = (server: Servers.RunningServer) =>
  server.kind === "stdio" ? Stdio.make(server.target) : StreamableHttp.make(server.target)

const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : "")).join("\n")

type Start = (typeof Servers.all)[number]
type Rows<A = Start> = ReadonlyArray<readonly [name: string, start: A]>

const handshake = ["discover", "initialize"]

describe("in auto", () => {
  const rows: ReadonlyArray<readonly [name: string, era: "modern" | "legacy", rule: string, start: Start]> = [
    ["official-http", "modern", "P1", Servers.officialHttp],
    ["official-stdio", "modern", "P1", Servers.officialStdio],
    ["official-modern-only-http", "modern", "P1", Servers.officialModernOnlyHttp],
    ["effect-http", "modern", "P1", Servers.effectHttp],
    ["everything-stdio", "legacy", "P13", Servers.everythingStdio],
    ["everything-http", "legacy", "P14", Servers.everythingHttp],
    ["everything-sse", "legacy", "P21", Servers.everythingSse],
    ["filesystem-stdio", "legacy", "P13", Servers.filesystemStdio],
    ["sdk-http", "legacy", "P14", Servers.sdkHttp],
    ["sdk-stdio", "legacy", "P13", Servers.sdkStdio]
  ]

  const legacySteps = { stdio: handshake, http: handshake, sse: [...handshake, "open httpSse", "initialize"] }

  it.live.each(rows)(
    "U-01, U-07, U-60: %s is found to be %s by rule %s, lists its tools and answers a call",
    ([, era, rule, start]) =>
      Effect.gen(function* () {
        const server = yield* start
        const { expects } = server
        const client = yield* McpClient.connect(targetOf(server))
        const { agreement } = client
        const steps = era === "modern" ? ["discover"] : legacySteps[server.kind]
        Negotiated.check(agreement, { era, version: expects.version, rule, roundTrips: steps.length, steps })
        assert.strictEqual(agreement.era, expects.era)
        assert.strictEqual(agreement.identity?.name, expects.identity)
        assert.strictEqual(client.transport, server.kind)
        assert.isDefined(agreement.capabilities?.tools)
        assert.strictEqual(agreement.discover === undefined, era === "legacy")
        assert.strictEqual(agreement.initialize === undefined, era === "modern")
        const tools = yield* client.listTools()
        assert.includeMembers(
          tools.map(({ name }) => name),
          [...expects.tools]
        )
        assert.include(
          textOf(yield* client.callTool(expects.call.tool, expects.call.arguments)),
          expects.call.expectText
        )
      }).pipe(Effect.provide(Platform))
  )

  it.live.each<Rows[number]>([
    ["official-http", Servers.officialHttp],
    ["sdk-http", Servers.sdkHttp],
    ["sdk-stdio", Servers.sdkStdio],
    ["effect-http", Servers.effectHttp]
  ])("U-24, T-TOOL-4: %s tells progress in order, and a tool that fails is a result", ([, start]) =>
    Effect.gen(function* () {
      const client = yield* McpClient.connect(targetOf(yield* start))
      const steps: Array<Progress.Params> = []
      yield* client.callTool("count", { to: 5 }, { onProgress: (progress) => void steps.push(progress) })
      assert.deepStrictEqual(
        steps.map(({ progress, total }) => [progress, total]),
        [1, 2, 3, 4, 5].map((step) => [step, 5])
      )
      const failed = yield* client.callTool("fail", { because: "no such city" })
      assert.isTrue(failed.isError)
      assert.include(textOf(failed), "no such city")
    }).pipe(Effect.provide(Platform))
  )

  it.live.each<readonly [string, Start, ReadonlyArray<string>]>([
    ["official-http", Servers.officialHttp, []],
    ["sdk-http", Servers.sdkHttp, ["initialize", "notifications/initialized"]],
    ["filesystem-stdio", Servers.filesystemStdio, ["initialize", "notifications/initialized"]]
  ])("U-06: %s is not probed again by the same program", ([, start, again]) =>
    Effect.gen(function* () {
      const server = yield* start
      yield* Effect.scoped(McpClient.connect(targetOf(server)))
      const { transport, written } = Watching.listening(yield* transportOf(server))
      const client = yield* McpClient.connect(transport)
      assert.deepStrictEqual(written, [...again])
      assert.strictEqual(client.agreement.identity?.name, server.expects.identity)
      const { arguments: args, expectText, tool } = server.expects.call
      assert.include(textOf(yield* client.callTool(tool, args)), expectText)
    }).pipe(Effect.provide(Platform))
  )

  it.live("U-60: 25 calls at once, of both eras at the same time, each get their own answer", () =>
    Effect.gen(function* () {
      const starts: ReadonlyArray<Start> = [Servers.officialHttp, Servers.sdkHttp, Servers.sdkStdio]
      const clients = yield* Effect.forEach(starts, (start) =>
        Effect.flatMap(start, (server) => McpClient.connect(targetOf(server)))
      )
      const calls = clients.flatMap((client) =>
        Array.from({ length: 25 }, (_, n) => {
          const text = `${client.endpoint} ${n}`
          return Effect.map(client.callTool("echo", { text }), (result) => textOf(result) === text)
        })
      )
      const answers = yield* Effect.all(calls, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        answers.filter((own) => !own),
        []
      )
    }).pipe(Effect.provide(Platform))
  )
})

describe("in the other modes", () => {
  it.live.each<Rows[number]>([
    ["official-http", Servers.officialHttp],
    ["official-stdio", Servers.officialStdio],
    ["effect-http", Servers.effectHttp]
  ])("U-01, U-32: legacy never probes %s, which speaks both eras", ([, start]) =>
    Effect.gen(function* () {
      const server = yield* start
      const { transport, written } = Watching.listening(yield* transportOf(server))
      const client = yield* McpClient.connect(transport, { mode: "legacy" })
      Negotiated.check(client.agreement, { era: "legacy", version: "2025-11-25", steps: ["initialize"] })
      assert.strictEqual(client.agreement.identity?.name, server.expects.identity)
      const { arguments: args, expectText, tool } = server.expects.call
      assert.include(textOf(yield* client.callTool(tool, args)), expectText)
      yield* client.ping()
      assert.deepStrictEqual(written, ["initialize", "notifications/initialized", "tools/call", "ping"])
    }).pipe(Effect.provide(Platform))
  )

  it.live("U-01: legacy fails against a server of the modern era alone, and says which mode to set", () =>
    Effect.gen(function* () {
      const server = yield* Servers.officialModernOnlyHttp
      const error = yield* Effect.flip(McpClient.connect(server.target.url, { mode: "legacy" }))
      assert.strictEqual(error.reason._tag, "ModernOnlyServer")
      assert.include("hint" in error ? error.hint : "", "Set mode 'auto'")
    }).pipe(Effect.provide(Platform))
  )

  it.live.each<Rows[number]>([
    ["official-modern-only-http", Servers.officialModernOnlyHttp],
    ["official-stdio", Servers.officialStdio],
    ["effect-http", Servers.effectHttp]
  ])("U-01: modern asks %s once", ([, start]) =>
    Effect.gen(function* () {
      const server = yield* start
      const { transport, written } = Watching.listening(yield* transportOf(server))
      const client = yield* McpClient.connect(transport, { mode: "modern" })
      Negotiated.check(client.agreement, { era: "modern", version: "2026-07-28", steps: ["discover"] })
      assert.deepStrictEqual(written, ["server/discover"])
    }).pipe(Effect.provide(Platform))
  )

  it.live.each<Rows[number]>([
    ["sdk-http", Servers.sdkHttp],
    ["sdk-stdio", Servers.sdkStdio]
  ])("U-01: modern never falls back to the handshake with %s", ([, start]) =>
    Effect.gen(function* () {
      const { transport, written } = Watching.listening(yield* transportOf(yield* start))
      const error = yield* Effect.flip(McpClient.connect(transport, { mode: "modern" }))
      Negotiated.check(error, { reason: "ModernUnavailable", steps: ["discover"] })
      assert.deepStrictEqual(written, ["server/discover"])
    }).pipe(Effect.provide(Platform))
  )

  it.live("U-10: a pinned version sends not one request; the first call is the first byte", () =>
    Watching.overHttp((requests) =>
      Effect.gen(function* () {
        const server = yield* Servers.officialHttp
        const client = yield* McpClient.connect(server.target.url, { mode: "2026-07-28" })
        Negotiated.check(client.agreement, {
          era: "modern",
          version: "2026-07-28",
          rule: "pin",
          roundTrips: 0,
          steps: []
        })
        assert.isUndefined(client.agreement.identity)
        assert.deepStrictEqual(requests, [])
        assert.strictEqual(textOf(yield* client.callTool("echo", { text: "hello" })), "hello")
        assert.deepStrictEqual(requests, [{ method: "POST", version: "2026-07-28", session: undefined, status: 200 }])
      })
    ).pipe(Effect.provide(Platform))
  )
})

describe("when the scope closes", () => {
  it.live("U-30, T-LIFE-7: all calls share one HTTP session, which DELETE ends: the server no longer knows it", () =>
    Watching.overHttp((requests) =>
      Effect.gen(function* () {
        const server = yield* Servers.sdkHttp
        yield* Effect.scoped(
          Effect.gen(function* () {
            const client = yield* McpClient.connect(server.target.url)
            yield* client.callTool("echo", { text: "in session" })
            yield* client.callTool("echo", { text: "in the same" })
          })
        )
        const last = requests.at(-1)
        assert.deepInclude(last, { method: "DELETE", version: "2025-11-25", status: 200 })
        const session = requests.find((each) => each.method === "POST" && each.session !== undefined)?.session
        assert.isString(session)
        const sessions = requests.flatMap((each) => (each.session === undefined ? [] : [each.session]))
        assert.deepStrictEqual([...new Set(sessions)], [session])
        assert.strictEqual(last?.session, session)
        const after = yield* HttpClient.execute(
          HttpClientRequest.post(server.target.url, { headers: { "mcp-session-id": `${session}` } })
        )
        assert.strictEqual(after.status, 404)
      })
    ).pipe(Effect.provide(Platform))
  )

  it.live("U-22, T-MOD-4: the modern era has nothing to end: no session, no DELETE, no GET", () =>
    Watching.overHttp((requests) =>
      Effect.gen(function* () {
        const server = yield* Servers.officialHttp
        yield* Effect.scoped(
          Effect.flatMap(McpClient.connect(server.target.url), (client) => client.callTool("echo", { text: "hi" }))
        )
        assert.deepStrictEqual(requests, [
          { method: "POST", version: "2026-07-28", session: undefined, status: 200 },
          { method: "POST", version: "2026-07-28", session: undefined, status: 200 }
        ])
      })
    ).pipe(Effect.provide(Platform))
  )

  it.live.each<Rows<typeof Servers.filesystemStdio | typeof Servers.everythingStdio>[number]>([
    ["sdk-stdio", Servers.sdkStdio],
    ["official-stdio", Servers.officialStdio],
    ["everything-stdio", Servers.everythingStdio],
    ["filesystem-stdio", Servers.filesystemStdio]
  ])("T-LIFE-1, U-40: %s leaves no process behind, after success, failure or interruption", ([, start]) =>
    Watching.processes((pids) =>
      Effect.gen(function* () {
        const server = yield* start
        const target = [server.target.command, ...server.target.args]
        yield* Effect.scoped(
          Effect.gen(function* () {
            const client = yield* McpClient.connect(target)
            yield* client.listTools()
            assert.deepStrictEqual(pids.filter(Watching.isAlive), [...pids])
          })
        )
        // The limit strikes at another moment each time: before the process runs, and while it starts.
        for (const limit of ["5 millis", "200 millis"] as const)
          yield* Effect.scoped(McpClient.connect(target)).pipe(Effect.timeoutOption(limit))
        assert.isAtLeast(pids.length, 2)
        assert.deepStrictEqual(pids.filter(Watching.isAlive), [])
      })
    ).pipe(Effect.provide(Platform))
  )

  const variants: ReadonlyArray<readonly [string, (options: Stdio.Options) => Layer.Layer<Transport>]> = [
    ["Stdio", (options) => Stdio.layer(options).pipe(Layer.provide(NodeServices.layer))],
    ["NodeStdio", NodeStdio.layer]
  ]
  it.live.each(variants)("T-STDIO-8: over %s, what the server has started goes with it", ([, layer]) =>
    Effect.gen(function* () {
      const { target } = yield* Servers.sdkStdio
      let stderr = ""
      const started = {
        command: "sh",
        args: ["-c", 'sleep 600 >&2 & echo "started $!" >&2; exec "$0" "$@"', target.command, ...target.args],
        onStderr: (bytes: Uint8Array) => void (stderr += new TextDecoder().decode(bytes))
      }
      const grandchild = yield* Effect.gen(function* () {
        yield* (yield* McpClient.McpClient).listTools()
        // It was written before the answer, and comes by another way.
        yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => /started \d+\n/.test(stderr) })
        const pid = Number(/started (\d+)/.exec(stderr)?.[1])
        assert.isTrue(Watching.isAlive(pid))
        return pid
      }).pipe(Effect.provide(McpClient.layer().pipe(Layer.provide(layer(started)))))
      assert.isFalse(Watching.isAlive(grandchild))
    })
  )
})
