/**
 * A host with the official servers filesystem, memory and everything side by side, and scripted ones that misbehave.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Host from "@mcp-effect/host/Host"
import * as HostEvent from "@mcp-effect/host/HostEvent"
import * as ServerEntry from "@mcp-effect/host/ServerEntry"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as NodeScriptedServer from "@mcp-effect/testing/NodeScriptedServer"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { binOf } from "../servers/hosting.ts"
import * as Servers from "../servers/Servers.ts"
import { patience } from "./fixtures/patience.ts"
import * as Watching from "./fixtures/watching.ts"

const patient = 120_000

/** The three official servers as entries; the folder of `files` holds `hello.txt`. */
const three = Effect.gen(function* () {
  const files = yield* Servers.filesystemStdio
  const everything = yield* Servers.everythingStdio
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped()
  const memory = yield* binOf("memory", "@modelcontextprotocol/server-memory")
  return {
    file: String(files.expects.call.arguments["path"]),
    entries: [
      ServerEntry.stdio({ name: "files", ...files.target, approval: "allow" }),
      ServerEntry.stdio({ name: "everything", ...everything.target, approval: "allow" }),
      ServerEntry.stdio({
        name: "memory",
        command: process.execPath,
        args: [memory],
        env: { MEMORY_FILE_PATH: path.join(folder, "memory.json") },
        approval: "allow"
      })
    ]
  }
})

const scripted = (name: string, more: Partial<ServerEntry.Common> = {}) =>
  ServerEntry.stdio({ name, command: "scripted", approval: "allow", ...more })

const tools = (host: Host.Host["Service"], server: string) =>
  [...SubscriptionRef.getUnsafe(host.catalogue).tools.values()].filter((tool) => tool.server === server)

const seen = <A>(stream: Stream.Stream<A>, count: number) => Stream.runCollect(Stream.take(stream, count))

describe("a host with three official servers and two that misbehave", () => {
  it.live(
    "U-50, U-52, U-53, U-55: starts all beside a dead and a silent one, routes calls, and stops one without the others",
    () =>
      Effect.gen(function* () {
        const { entries, file } = yield* three
        const host = yield* Host.make()
        const mute = yield* ScriptedServer.make(Script.legacy({ on: { "*": Script.silence } }))
        yield* host.load([...entries, ServerEntry.stdio({ name: "dead", command: "no-such-command-anywhere" })])
        yield* host.add(scripted("mute"), mute.pipe("stdio"))
        const abouts = yield* Effect.forEach(["files", "everything", "memory"], host.ready, { concurrency: 3 })
        assert.deepStrictEqual(
          abouts.map(({ identity, tools: has }) => [identity?.name, has]),
          [
            ["secure-filesystem-server", true],
            ["mcp-servers/everything", true],
            ["memory-server", true]
          ]
        )
        const dead = yield* Effect.flip(host.ready("dead"))
        assert.strictEqual(dead._tag, "NegotiationError")
        assert.strictEqual(SubscriptionRef.getUnsafe((yield* host.server("mute")).state)._tag, "Connecting")

        const read = yield* host.callTool("files__read_text_file", { path: file })
        assert.include(JSON.stringify(read.content), "Hello from a file")
        const sum = yield* host.callTool({ server: "everything", tool: "get-sum" }, { a: 2, b: 3 })
        assert.include(JSON.stringify(sum.content), "is 5")
        assert.isNotTrue((yield* host.callTool("memory__read_graph")).isError)

        const long = yield* Effect.forkChild(
          host.callTool("everything__trigger-long-running-operation", { duration: 1, steps: 1 }),
          { startImmediately: true }
        )
        const mine = yield* Effect.forkChild(Effect.flip(host.callTool({ server: "files", tool: "nothing_here" })))
        yield* Fiber.join(mine)
        yield* host.start("files")
        const stopping = yield* Effect.forkChild(host.stop("files"), { startImmediately: true })
        assert.lengthOf(tools(host, "files"), 0)
        yield* Fiber.join(stopping)
        assert.isAbove(tools(host, "memory").length, 0)
        assert.isNotTrue((yield* Fiber.join(long)).isError)
        const error = yield* Effect.flip(host.callTool({ server: "files", tool: "read_text_file" }, { path: file }))
        assert.strictEqual(error.reason._tag, "NotReady")
        yield* host.start("files")
        yield* host.ready("files")
        assert.isAbove(tools(host, "files").length, 0)
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, patience])),
    patient
  )

  it.live("U-45: a stdio entry fails alone where there are no processes", () =>
    Effect.gen(function* () {
      const host = yield* Host.make()
      yield* host.load([ServerEntry.stdio({ name: "files", command: "x" })])
      const good = yield* ScriptedServer.make(Script.modern())
      yield* host.add(scripted("good"), good.pipe())
      yield* host.ready("good")
      const error = yield* Effect.flip(host.ready("files"))
      assert.strictEqual(error._tag === "HostError" ? error.reason._tag : error._tag, "CannotReach")
    }).pipe(Effect.scoped)
  )
})

describe("many servers, some of them bad", () => {
  it.live(
    "U-50: the calls of a process that is killed end typed, the server heals, and the others do not notice",
    () =>
      Effect.gen(function* () {
        const { entries } = yield* three
        const { args, command } = yield* NodeScriptedServer.make(
          Script.legacy({ on: { "tools/call": Script.silence }, again: { "tools/call": [Script.answer()] } })
        )
        yield* Watching.processes((pids) =>
          Effect.gen(function* () {
            const host = yield* Host.make()
            yield* host.load([ServerEntry.stdio({ name: "victim", command, args, approval: "allow" })])
            yield* host.ready("victim")
            const victim = pids.findLast(Watching.isAlive)
            yield* host.apply({ added: entries, changed: [], removed: [] })
            yield* Effect.forEach(entries, ({ name }) => host.ready(name), { concurrency: 3 })

            const calls = yield* Effect.forEach(Array.from({ length: 5 }), () =>
              Effect.forkChild(Effect.flip(host.callTool("victim__echo", { text: "x" })), { startImmediately: true })
            )
            const sent = Stream.filter(
              host.events,
              ({ happening, server }) =>
                server === "victim" && happening._tag === "Requested" && happening.method === "tools/call"
            )
            yield* seen(sent, 5)
            const other = yield* Effect.forkChild(
              Effect.forEach(Array.from({ length: 20 }), () => host.callTool("memory__read_graph"))
            )
            assert.isTrue(victim !== undefined && process.kill(victim, "SIGKILL"))
            const errors = yield* Effect.forEach(calls, Fiber.join)
            assert.deepStrictEqual(new Set(errors.map(({ reason }) => reason._tag)), new Set(["OutcomeUnknown"]))
            assert.isTrue((yield* Fiber.join(other)).every(({ isError }) => isError !== true))
            const healed = yield* host.callTool("victim__echo", { text: "well again" })
            assert.include(JSON.stringify(healed.content), "well again")
            yield* host.ready("victim")
            for (const { name } of entries) {
              assert.strictEqual(SubscriptionRef.getUnsafe((yield* host.server(name)).state)._tag, "Ready")
            }
            assert.isTrue(victim !== undefined && !Watching.isAlive(victim))
          }).pipe(Effect.scoped)
        )
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, patience])),
    patient
  )

  it.live(
    "U-50, U-53: of 50 entries, 40 are ready side by side while 10 bad ones fail, each with an error that says why",
    () =>
      Effect.gen(function* () {
        const inMemory = new Map<string, ScriptedServer.ScriptedServer>()
        for (let at = 0; at < 36; at++) {
          const script = at % 2 === 0 ? Script.legacy() : Script.modern()
          inMemory.set(`memory-${at}`, yield* ScriptedServer.make(script))
        }
        inMemory.set("silent-1", yield* ScriptedServer.make(Script.legacy({ on: { "*": Script.silence } })))
        const processes = yield* Effect.forEach(Array.from({ length: 4 }), () =>
          NodeScriptedServer.make(Script.legacy())
        )
        const node = (name: string, code: string) =>
          ServerEntry.stdio({ name, command: process.execPath, args: ["-e", code, name], connectTimeout: 60_000 })
        const bad = [
          ...["exit-1", "exit-2", "exit-3"].map((name) => node(name, "process.exit(1)")),
          ServerEntry.stdio({ name: "missing-1", command: "no-such-command-1" }),
          ServerEntry.stdio({ name: "missing-2", command: "no-such-command-2" }),
          scripted("silent-1", { connectTimeout: 8_000 }),
          { ...node("silent-2", "setInterval(() => {}, 1000)"), connectTimeout: 3_000 },
          ServerEntry.http({ name: "url-1", url: "http://127.0.0.1:1/mcp", connectTimeout: 60_000 }),
          ServerEntry.http({ name: "url-2", url: "not a url", connectTimeout: 60_000 }),
          ServerEntry.sse({ name: "url-3", url: "http://127.0.0.1:1/sse", connectTimeout: 60_000 })
        ]
        const good = [
          ...Array.from({ length: 36 }, (_, at) => scripted(`memory-${at}`)),
          ...processes.map(({ args, command }, at) => ServerEntry.stdio({ name: `process-${at}`, command, args }))
        ]
        const host = yield* Host.make({
          replay: 1_000,
          transport: ({ name }) => Effect.sync(() => inMemory.get(name)?.pipe("stdio"))
        })
        const began = yield* Clock.currentTimeMillis
        yield* host.load([...bad, ...good])
        yield* Effect.forEach(good.slice(0, 36), ({ name }) => host.ready(name), { concurrency: "unbounded" })
        // They were not waiting for the silent one.
        assert.strictEqual(SubscriptionRef.getUnsafe((yield* host.server("silent-1")).state)._tag, "Connecting")
        yield* Effect.forEach(good, ({ name }) => host.ready(name), { concurrency: "unbounded" })
        assert.strictEqual(SubscriptionRef.getUnsafe(host.catalogue).tools.size, 40)
        const errors = yield* Effect.forEach(bad, ({ name }) => Effect.flip(host.ready(name)), {
          concurrency: "unbounded"
        })
        const whole = (yield* Clock.currentTimeMillis) - began
        assert.isBelow(whole, 55_000)
        assert.deepStrictEqual(
          errors.map((error) => error.reason._tag),
          [
            "ServerExited",
            "ServerExited",
            "ServerExited",
            "SpawnFailed",
            "SpawnFailed",
            "ProbeTimeout",
            "ProbeTimeout",
            "ProbeTransportFailure",
            "ProbeTransportFailure",
            "ProbeTransportFailure"
          ]
        )
        for (const { name } of good) {
          assert.strictEqual(SubscriptionRef.getUnsafe((yield* host.server(name)).state)._tag, "Ready")
        }
      }).pipe(
        Effect.scoped,
        // The limits of the entries come first.
        Effect.provideService(Defaults.ProbeTimeout, Duration.minutes(1)),
        Effect.provide(Layer.mergeAll(NodeServices.layer, NodeHttp.layer, EraMemory.layerNone))
      ),
    patient
  )
})

describe("a call", () => {
  const hung = Script.legacy({ on: { "tools/call": Script.silence } })

  it.live("U-57: ends with our limit; time for approval does not count", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(hung)
      const host = yield* Host.make({
        handlers: { approve: () => Effect.delay(Effect.succeed(true), "120 millis") }
      })
      yield* host.add(scripted("slow", { timeout: 100, approval: "ask" }), server.pipe())
      yield* host.ready("slow")
      const error = yield* Effect.flip(host.callTool("slow__echo", { text: "x" }))
      assert.strictEqual(error.reason._tag, "ToolTimedOut")
      assert.include(error.message, "our limit")
    }).pipe(Effect.scoped)
  )

  it.live("U-50: ends with `ServerStopped` when its server is stopped", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(hung)
      const host = yield* Host.make({ approval: "allow" })
      yield* host.add(scripted("slow"), server.pipe("stdio"))
      yield* host.ready("slow")
      const call = yield* Effect.forkChild(Effect.flip(host.callTool("slow__echo", { text: "x" })), {
        startImmediately: true
      })
      yield* host.stop("slow")
      assert.strictEqual((yield* Fiber.join(call)).reason._tag, "ServerStopped")
    }).pipe(Effect.scoped)
  )

  it.live("U-56: with `ask` and no handler it is refused, told and recorded; nothing is sent", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.modern())
      const host = yield* Host.make()
      yield* host.add(scripted("s", { approval: "ask" }), server.pipe())
      yield* host.ready("s")
      const error = yield* Effect.flip(host.callTool("s__echo", { text: "x" }))
      assert.strictEqual(error.reason._tag, "ToolDenied")
      const [decision] = yield* seen(host.decisions, 1)
      assert.deepInclude(decision, { server: "s", tool: "echo", permitted: false, by: "mode" })
      const [diagnostic] = yield* seen(host.diagnostics, 1)
      assert.strictEqual(diagnostic?.happening._tag, "Advised")
      assert.notInclude(JSON.stringify(yield* server.transcript), "tools/call")
    }).pipe(Effect.scoped)
  )

  it.live("U-57: a refusal returns the denied message where there is one", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.modern())
      const host = yield* Host.make({
        deniedMessage: "The user said no.",
        handlers: { approve: () => Effect.succeed(false) }
      })
      yield* host.add(scripted("s", { approval: "ask" }), server.pipe())
      yield* host.ready("s")
      const { content, isError } = yield* host.callTool("s__echo", { text: "x" })
      assert.isTrue(isError)
      assert.deepStrictEqual(content, [{ type: "text", text: "The user said no." }])
    }).pipe(Effect.scoped)
  )

  it.live("U-53: an error of the server is an event with request id, code and `MCP error <code>: <message>`", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(
        Script.modern({ on: { "tools/call": [Script.fail(-32603, { message: "broken" })] } })
      )
      const host = yield* Host.make()
      yield* host.add(scripted("s"), server.pipe())
      yield* host.ready("s")
      yield* Effect.flip(host.callTool("s__echo", { text: "x" }))
      const found = yield* host.events.pipe(
        Stream.filter(({ happening }) => happening._tag === "RequestFailed"),
        Stream.take(1),
        Stream.runCollect
      )
      const failed = found[0]?.happening
      assert.isTrue(failed?._tag === "RequestFailed" && failed.id !== undefined && failed.code === -32603)
      assert.include(failed === undefined ? "" : HostEvent.text(failed), "MCP error -32603: broken")
    }).pipe(Effect.scoped)
  )

  it.live("U-51, U-53: late subscribers get the last events, and only so many", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(Script.modern())
      const host = yield* Host.make({ replay: 3 })
      yield* host.add(scripted("s"), server.pipe("stdio"))
      yield* host.ready("s")
      yield* host.restart("s")
      yield* host.ready("s")
      yield* host.stop("s")
      const last = yield* seen(host.events, 3)
      assert.deepStrictEqual(
        last.map(({ sequence }) => sequence - (last[0]?.sequence ?? 0)),
        [0, 1, 2]
      )
      const ending = last.at(-1)?.happening
      assert.isTrue(ending?._tag === "StateChanged" && ending.state._tag === "Stopped")
    }).pipe(Effect.scoped)
  )
})
