/**
 * A host with the official servers filesystem, memory and everything side by side, and scripted ones that misbehave.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Host from "@mcp-effect/host/Host"
import * as HostEvent from "@mcp-effect/host/HostEvent"
import * as ServerEntry from "@mcp-effect/host/ServerEntry"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { binOf } from "../servers/hosting.ts"
import * as Servers from "../servers/Servers.ts"

const patient = 60_000

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
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
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
