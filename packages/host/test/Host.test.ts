import { assert, describe, it } from "@effect/vitest"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import { Diagnostic } from "@mcp-effect/protocol/Diagnostic"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Transcript from "@mcp-effect/testing/Transcript"
import { Transport } from "@mcp-effect/transport/Transport"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type * as Approval from "../src/Approval.ts"
import * as Configuration from "../src/Configuration.ts"
import * as Host from "../src/Host.ts"
import * as HostEvent from "../src/HostEvent.ts"
import * as ServerEntry from "../src/ServerEntry.ts"
import type { ServerState } from "../src/ServerState.ts"

const entry = (name: string, more: Partial<ServerEntry.CommonOptions> = {}) =>
  ServerEntry.stdio({ command: "scripted", approval: "allow", ...more, name })

const toolNames = (host: Host.Host["Service"]) => [...SubscriptionRef.getUnsafe(host.catalogue).tools.keys()]

const seen = <A>(stream: Stream.Stream<A>, count: number) => Stream.runCollect(Stream.take(stream, count))

const hello = { text: "hello" }

const until = <A>(ref: SubscriptionRef.SubscriptionRef<A>, fits: (value: A) => boolean) =>
  SubscriptionRef.changes(ref).pipe(Stream.filter(fits), Stream.take(1), Stream.runDrain)

const becomes = (host: Host.Host["Service"], name: string, tag: ServerState["_tag"]) =>
  Effect.flatMap(host.server(name), ({ state }) => until(state, ({ _tag }) => _tag === tag))

/** What a server has heard, once there is such a message among it. */
const hears = (server: ScriptedServer.ScriptedServer, fits: (message: JsonObject) => boolean) =>
  Effect.map(server.transcript, Transcript.messages).pipe(
    Effect.delay("5 millis"),
    Effect.repeat({ until: (messages) => messages.some(fits), times: 400 })
  )

/** A host whose servers are these scripts, by name. */
const hostOf = Effect.fnUntraced(function* (
  scripts: Readonly<Record<string, Script.Script>>,
  options: Host.Options = {}
) {
  const servers = new Map<string, ScriptedServer.ScriptedServer>()
  for (const [name, script] of Object.entries(scripts)) servers.set(name, yield* ScriptedServer.make(script))
  const host = yield* Host.make({
    ...options,
    transport: ({ name }) => Effect.sync(() => servers.get(name)?.pipe("stdio"))
  })
  const heard = (name: string) => servers.get(name)?.transcript ?? Effect.succeed<Transcript.Transcript>([])
  return { host, servers, heard }
})

const legacyWith = (capabilities: JsonObject, on: NonNullable<Script.Options["on"]> = {}) =>
  Script.legacy({ on: { initialize: [Script.answer(Script.initialized("2025-11-25", { capabilities }))], ...on } })

describe("servers side by side", () => {
  it.live("U-51, U-52: only what a server advertises is fetched, and anew after each start", () =>
    Effect.gen(function* () {
      const { heard, host } = yield* hostOf({ plain: legacyWith({ tools: {} }), bare: legacyWith({}) })
      yield* host.load([entry("plain"), entry("bare")])
      assert.deepInclude(yield* host.ready("plain"), {
        identity: { name: "scripted", version: "1.0.0" },
        tools: true,
        prompts: false,
        resources: false,
        logging: false
      })
      assert.isFalse((yield* host.ready("bare")).tools)
      yield* host.stop("plain")
      assert.lengthOf(SubscriptionRef.getUnsafe((yield* host.server("plain")).lists).tools, 0)
      yield* host.start("plain")
      yield* host.start("plain")
      yield* host.ready("plain")
      const lists = (name: string) =>
        Effect.map(heard(name), (all) => Transcript.methods(all).filter((method) => method.endsWith("/list")))
      assert.deepStrictEqual(yield* lists("plain"), ["tools/list", "tools/list"])
      assert.deepStrictEqual(yield* lists("bare"), [])
      assert.strictEqual(Transcript.wires(yield* heard("plain")), 2)
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("U-55: a tool that two servers have goes to the one that is named", () =>
    Effect.gen(function* () {
      const { heard, host } = yield* hostOf({ a: Script.modern(), b: Script.legacy() })
      yield* host.load([entry("a"), entry("b")])
      yield* Effect.all([host.ready("a"), host.ready("b")])
      assert.deepStrictEqual(toolNames(host), ["a__echo", "b__echo"])
      yield* host.callTool("b__echo", hello)
      assert.notInclude(Transcript.methods(yield* heard("a")), "tools/call")
      assert.include(Transcript.methods(yield* heard("b")), "tools/call")
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("U-50: `apply` restarts what changed and leaves the rest alone, calls included", () =>
    Effect.gen(function* () {
      const slow = Script.legacy({ on: { "tools/call": [Script.wait("300 millis"), Script.answer()] } })
      const { heard, host } = yield* hostOf({ same: slow, other: Script.legacy(), gone: Script.legacy(), late: slow })
      yield* host.load([entry("same"), entry("other"), entry("gone")])
      yield* Effect.all(["same", "other", "gone"].map(host.ready))
      const call = yield* Effect.forkChild(host.callTool("same__echo", hello), { startImmediately: true })
      yield* host.apply({
        added: [entry("late")],
        changed: [entry("other", { timeout: 5 })],
        removed: [entry("gone")]
      })
      yield* Effect.all(["late", "other"].map(host.ready))
      assert.isNotTrue((yield* Fiber.join(call)).isError)
      assert.deepStrictEqual(toolNames(host), ["late__echo", "other__echo", "same__echo"])
      const wires = Effect.forEach(["same", "other", "gone", "late"], (name) =>
        Effect.map(heard(name), Transcript.wires)
      )
      assert.deepStrictEqual(yield* wires, [1, 2, 1, 1])
      assert.strictEqual((yield* host.server("other")).entry.timeout, 5)
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("U-50: of two entries of one name `apply` and `load` start the first alone, and advise", () =>
    Effect.gen(function* () {
      const { heard, host } = yield* hostOf({ s: Script.legacy() })
      const twice = [entry("s", { timeout: 1 }), entry("s", { timeout: 2 })]
      yield* host.apply({ added: twice, changed: [], removed: [] })
      yield* host.ready("s")
      yield* host.load(twice)
      yield* host.ready("s")
      assert.strictEqual((yield* host.server("s")).entry.timeout, 1)
      yield* host.load([])
      const all = yield* heard("s")
      assert.strictEqual(Transcript.wires(all), all.filter(({ event }) => event === "ended").length)
      const advice = yield* seen(host.diagnostics, 2)
      assert.deepStrictEqual(
        advice.map(({ happening }) => HostEvent.text(happening)),
        Array.from({ length: 2 }, () => "two entries have this name; the first counts")
      )
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("U-50: a server that is lost fails and withdraws its tools; they are back when it is", () =>
    Effect.gen(function* () {
      const dies = yield* ScriptedServer.make(Script.legacy({ on: { "tools/call": [Script.exit(1)] } }))
      const dead = yield* ScriptedServer.make(Script.legacy({ opening: [Script.exit(1)] }))
      const good = yield* ScriptedServer.make(Script.legacy())
      let now = dies
      const transport = Transport.of({
        ...dies.pipe("stdio"),
        open: (hear) => Effect.suspend(() => now.pipe("stdio").open(hear))
      })
      const host = yield* Host.make({ connect: { reconnect: Schedule.recurs(0) }, retry: Schedule.spaced("20 millis") })
      yield* host.add(entry("s"), transport)
      yield* host.ready("s")
      assert.deepStrictEqual(toolNames(host), ["s__echo"])
      now = dead
      yield* Effect.flip(host.callTool("s__echo", hello))
      yield* Effect.exit(Effect.flatMap((yield* host.server("s")).client, (client) => client.ping()))
      yield* becomes(host, "s", "Failed")
      assert.deepStrictEqual(toolNames(host), [])
      assert.strictEqual((yield* Effect.flip(host.callTool({ server: "s", tool: "echo" }))).reason._tag, "NotReady")
      now = good
      yield* becomes(host, "s", "Ready")
      assert.deepStrictEqual(toolNames(host), ["s__echo"])
      assert.isNotTrue((yield* host.callTool("s__echo", hello)).isError)
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("U-50, U-53: a stop at any moment of connecting ends in `Stopped`, and nothing happens after it", () =>
    Effect.gen(function* () {
      const { host } = yield* hostOf({ s: Script.legacy() }, { replay: 5_000 })
      for (let pauses = 0; pauses < 80; pauses++) {
        yield* host.load([entry("s")])
        const { lists, state } = yield* host.server("s")
        for (let at = 0; at < pauses; at++) yield* Effect.yieldNow
        yield* pauses % 2 === 0 ? host.stop("s") : host.load([])
        yield* Effect.sleep("1 millis")
        assert.strictEqual(SubscriptionRef.getUnsafe(state)._tag, "Stopped", `after ${pauses} pauses`)
        assert.lengthOf(SubscriptionRef.getUnsafe(lists).tools, 0)
        assert.deepStrictEqual(toolNames(host), [])
      }
      yield* host.load([])
      // A listener is told the kept ones at once.
      const events: Array<HostEvent.HostEvent> = []
      yield* Effect.scoped(host.listen((event) => void events.push(event)))
      const states = events.flatMap(({ happening }) =>
        happening._tag === "StateChanged" ? [happening.state._tag] : []
      )
      assert.isAbove(states.length, 200)
      for (const [at, tag] of states.entries()) {
        if (tag === "Stopping") assert.strictEqual(states[at + 1], "Stopped")
        if (tag === "Stopped") assert.isTrue(states[at + 1] === undefined || states[at + 1] === "Connecting")
      }
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})

describe("U-53, U-59: what a request that failed is worth", () => {
  it.live("a probe that an older server does not know is for debugging, the same request later is an error", () =>
    Effect.gen(function* () {
      const discovered = [Script.answer(), Script.fail(-32603, { message: "broken" })]
      const { host } = yield* hostOf({
        old: Script.legacy(),
        modern: Script.modern({ on: { "server/discover": discovered.map((step) => [step]) } })
      })
      const failed: Array<readonly [string | undefined, string]> = []
      yield* host.listen(({ happening, level, server }) => {
        if (happening._tag === "RequestFailed") failed.push([server, level])
      })
      yield* host.load([entry("old"), entry("modern")])
      yield* Effect.all([host.ready("old"), host.ready("modern")])
      assert.deepStrictEqual(failed, [["old", "debug"]])
      const client = yield* Effect.flatMap(host.server("modern"), (server) => server.client)
      yield* Effect.flip(client.discover())
      assert.deepStrictEqual(failed.slice(1), [["modern", "error"]])
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})

describe("a server that is stopped during a call", () => {
  it.live("U-50: the call may have run, when it was sent before", () =>
    Effect.gen(function* () {
      const { host, servers } = yield* hostOf({ s: Script.modern({ on: { "tools/call": Script.silence } }) })
      yield* host.add(entry("s"))
      yield* host.ready("s")
      const call = yield* Effect.forkChild(Effect.flip(host.callTool("s__echo", hello)), { startImmediately: true })
      const server = servers.get("s")
      assert(server !== undefined)
      yield* hears(server, ({ method }) => method === "tools/call")
      yield* host.stop("s")
      const { message, reason } = yield* Fiber.join(call)
      assert.deepInclude(reason, { _tag: "ServerStopped", server: "s", sent: true })
      assert.include(message, "may have run")
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})

describe("a host whose scope has ended", () => {
  it.live("U-50: adds nothing and says so, and loads nothing", () =>
    Effect.gen(function* () {
      const { heard, host } = yield* Effect.scoped(hostOf({ s: Script.modern() }))
      assert.strictEqual((yield* Effect.flip(host.add(entry("s")))).reason._tag, "HostClosed")
      yield* host.load([entry("s")])
      yield* host.apply({ added: [entry("s")], changed: [], removed: [] })
      assert.strictEqual(SubscriptionRef.getUnsafe(host.servers).size, 0)
      assert.strictEqual((yield* Effect.flip(host.start("s"))).reason._tag, "UnknownServer")
      assert.deepStrictEqual(yield* heard("s"), [])
    }).pipe(Effect.provide(EraMemory.layerNone))
  )
})

describe("a server that was removed", () => {
  it.live("U-50: stays stopped, however it is started again, also at the same time", () =>
    Effect.gen(function* () {
      const { heard, host } = yield* hostOf({ s: Script.legacy() })
      for (let pauses = 0; pauses < 30; pauses++) {
        const server = yield* host.add(entry("s"))
        yield* server.ready
        const restarting = yield* Effect.forkChild(
          Effect.andThen(
            Effect.forEach(Array.from({ length: pauses }), () => Effect.yieldNow),
            server.restart
          ),
          { startImmediately: true }
        )
        yield* host.remove("s")
        yield* Fiber.join(restarting)
        yield* server.start
        yield* Effect.sleep("1 millis")
        assert.strictEqual(SubscriptionRef.getUnsafe(server.state)._tag, "Stopped", `after ${pauses} pauses`)
        const error = yield* Effect.flip(server.ready)
        assert.strictEqual(error.reason._tag, "NotReady")
      }
      const all = yield* heard("s")
      assert.lengthOf(
        all.filter(({ event }) => event === "ended"),
        Transcript.wires(all)
      )
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})

describe("a call that takes too long", () => {
  const script = { on: { "tools/call": Script.silence } }
  const wires = [
    ["a pipe of the handshake era", Script.legacy(script), "stdio", true],
    ["a modern pipe", Script.modern(script), "stdio", true],
    ["HTTP of the handshake era", Script.legacy(script), "http", true],
    ["modern HTTP", Script.modern(script), "http", false]
  ] as const

  it.live.each(wires)("U-57, T-CONF-5: is cancelled over %s, in the way of the wire", ([, played, kind, notified]) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(played)
      const host = yield* Host.make()
      yield* host.add(entry("s", { timeout: 50 }), kind === "http" ? server.http : server.pipe(kind))
      yield* host.ready("s")
      const error = yield* Effect.flip(host.callTool("s__echo", hello))
      assert.strictEqual(error.reason._tag, "ToolTimedOut")
      if (notified) {
        const heard = yield* hears(server, ({ method }) => method === "notifications/cancelled")
        const ids = heard.flatMap(({ id, method }) => (method === "tools/call" ? [id] : []))
        assert.deepInclude(heard.at(-1), { method: "notifications/cancelled" })
        assert.deepInclude(heard.at(-1)?.["params"], { requestId: ids[0] })
      } else assert.strictEqual((yield* server.transcript).at(-1)?.event, "ended")
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})

describe("approval", () => {
  it.live("U-56: with `allow` the handler sees tool and arguments, and may veto", () =>
    Effect.gen(function* () {
      const seen: Array<Pick<Approval.Call, "server" | "arguments" | "mode">> = []
      const { heard, host } = yield* hostOf(
        { s: Script.modern() },
        {
          handlers: {
            approve: ({ arguments: args, mode, server, tool }) =>
              Effect.sync(() => {
                seen.push({ server: `${server}/${tool.name}`, arguments: args, mode })
                return args["text"] === "bad" ? false : undefined
              })
          }
        }
      )
      yield* host.add(entry("s"))
      yield* host.ready("s")
      assert.isNotTrue((yield* host.callTool("s__echo", hello)).isError)
      const error = yield* Effect.flip(host.callTool("s__echo", { text: "bad" }))
      assert.strictEqual(error.reason._tag, "ToolDenied")
      assert.deepStrictEqual(seen, [
        { server: "s/echo", arguments: hello, mode: "allow" },
        { server: "s/echo", arguments: { text: "bad" }, mode: "allow" }
      ])
      assert.lengthOf(
        Transcript.methods(yield* heard("s")).filter((method) => method === "tools/call"),
        1
      )
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("U-56: a yes to a tool that is exchanged while the user reads does not count", () =>
    Effect.gen(function* () {
      const list = (description: string) =>
        Script.answer({
          tools: ["echo", "poke"].map((name) => ({ name, description, inputSchema: { type: "object" } }))
        })
      const reading = yield* Deferred.make<void>()
      const read = yield* Deferred.make<void>()
      const script = legacyWith(
        { tools: { listChanged: true } },
        {
          "tools/list": [[list("harmless")], [list("not so harmless")]],
          "tools/call": [
            Script.say({ method: "notifications/tools/list_changed" }),
            Script.answer({ content: [{ type: "text", text: "done" }] })
          ]
        }
      )
      const { heard, host } = yield* hostOf(
        { s: script },
        {
          rules: [{ tool: "poke", decide: "allow", because: "it is ours" }],
          handlers: {
            approve: () => Effect.as(Effect.andThen(Deferred.succeed(reading, undefined), Deferred.await(read)), true)
          }
        }
      )
      yield* host.add(entry("s", { approval: "ask" }))
      yield* host.ready("s")
      const call = yield* Effect.forkChild(Effect.flip(host.callTool("s__echo", hello)))
      yield* Deferred.await(reading)
      yield* host.callTool("s__poke")
      yield* until(host.catalogue, ({ tools }) => tools.get("s__echo")?.tool.description === "not so harmless")
      yield* Deferred.succeed(read, undefined)
      const error = yield* Fiber.join(call)
      assert.strictEqual(error.reason._tag, "ToolDenied")
      assert.include(error.message, "definition changed")
      assert.lengthOf(
        Transcript.methods(yield* heard("s")).filter((method) => method === "tools/call"),
        1
      )
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})

describe("a call that is approved while its server is restarted or stopped", () => {
  it.live.each(["restart", "stop"] as const)(
    "U-50, U-56: %s ends it with `ServerStopped`, whichever is first",
    (verb) =>
      Effect.gen(function* () {
        for (let pauses = 0; pauses < 30; pauses++) {
          const [asked, yes] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const approve = () =>
            Deferred.succeed(asked, undefined).pipe(Effect.andThen(Deferred.await(yes)), Effect.as(true))
          const { heard, host } = yield* hostOf({ s: Script.legacy() }, { approval: "ask", handlers: { approve } })
          yield* host.add(ServerEntry.stdio({ name: "s", command: "scripted" }))
          yield* host.ready("s")
          const call = yield* Effect.forkChild(Effect.flip(host.callTool("s__echo", hello)), { startImmediately: true })
          yield* Deferred.await(asked)
          const saying = Effect.andThen(
            Effect.forEach(Array.from({ length: pauses }), () => Effect.yieldNow),
            Deferred.succeed(yes, undefined)
          )
          yield* Effect.all([host[verb]("s"), saying], { concurrency: "unbounded" })
          const { message, reason } = yield* Fiber.join(call)
          assert.deepInclude(reason, { _tag: "ServerStopped", server: "s", sent: false }, `after ${pauses} pauses`)
          assert.include(message, "it did not run")
          assert.notInclude(Transcript.methods(yield* heard("s")), "tools/call")
        }
      }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})

describe("questions of a server", () => {
  const form = { message: "Name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } }
  const asks = { method: "elicitation/create", params: form }
  const asking = {
    legacy: Script.legacy({
      on: { "tools/call": [Script.say({ id: "q", ...asks }), Script.wait("100 millis"), Script.answer()] }
    }),
    modern: Script.modern({
      on: {
        "tools/call": [
          [Script.answer({ resultType: "input_required", inputRequests: { q: asks }, requestState: "s" })],
          [Script.answer()]
        ]
      }
    })
  }
  const hostWith = (script: Script.Script, elicitation: Partial<ServerEntry.Elicitation>) =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const answer = (_question: unknown, server: string) =>
        Effect.sync(() => {
          seen.push(server)
          return { action: "accept", content: { name: "Ada" } } as const
        })
      const { host, servers } = yield* hostOf(
        { s: script },
        { handlers: { elicitation: { form: answer, url: answer } } }
      )
      yield* host.add(entry("s", { elicitation }))
      yield* host.ready("s")
      return { host, seen, server: servers.get("s")! }
    })

  it.live.each([{}, { url: true }])("U-58: in a mode its entry keeps off (%o) get -32602 before any handler", (off) =>
    Effect.gen(function* () {
      const { host, seen, server } = yield* hostWith(asking.legacy, off)
      yield* host.callTool("s__echo", hello)
      const heard = yield* hears(server, ({ id }) => id === "q")
      const answer = heard.find(({ id }) => id === "q")
      assert.deepInclude(answer?.["error"], { code: -32602 })
      assert.deepStrictEqual(seen, [])
      const declared = JSON.stringify(heard.find(({ method }) => method === "initialize")?.["params"])
      assert.notInclude(declared, `"form"`)

      const modern = yield* hostWith(asking.modern, off)
      const error = yield* Effect.flip(modern.host.callTool("s__echo", hello))
      assert.strictEqual(error.reason._tag, "InputRequired")
      assert.deepStrictEqual(modern.seen, [])
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("U-58: in a mode its entry allows reach the host's handler with the server's name, in both eras", () =>
    Effect.gen(function* () {
      for (const script of [asking.legacy, asking.modern]) {
        const { host, seen } = yield* hostWith(script, { form: true })
        assert.isNotTrue((yield* host.callTool("s__echo", hello)).isError)
        assert.deepStrictEqual(seen, ["s"])
      }
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})

describe("options that types would not let through", () => {
  it.live.each(["nonsense", -5, -1e-7, Number.NaN])(
    "U-61: a time limit of %s is told as such; nothing is sent",
    (given) =>
      Effect.gen(function* () {
        const { host, heard } = yield* hostOf({ s: Script.modern() })
        const timeout = given as never
        yield* host.add(entry("s", given === null ? {} : { timeout }))
        yield* host.ready("s")
        const how = given === null ? { timeout: {} as never } : {}
        const { reason } = yield* Effect.flip(host.callTool("s__echo", hello, how))
        assert.deepInclude(reason, { _tag: "InvalidOption", option: "timeout" })
        assert.notInclude(JSON.stringify(yield* heard("s")), "tools/call")
        yield* host.add(ServerEntry.stdio({ name: "t", command: "x", connectTimeout: Number.NaN }))
        const error = yield* Effect.flip(host.ready("t"))
        assert.deepInclude(error.reason, { _tag: "InvalidOption", option: "connectTimeout" })
      }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live.each([
    [-1, 0],
    [1.5, 1],
    [Number.NaN, 256],
    [Infinity, 256]
  ] as const)("U-53: of %s kept events there are %i", ([given, kept]) =>
    Effect.gen(function* () {
      const host = yield* Host.make({ replay: given })
      for (let n = 0; n < 300; n++) yield* host.load([])
      let heard = 0
      yield* host.listen(() => heard++)
      assert.strictEqual(heard, kept)
    }).pipe(Effect.scoped)
  )
})

describe("a file of fifty servers", () => {
  it.live(
    "U-54: ten cannot be read and are reported with line and field; the forty others are ready side by side",
    () =>
      Effect.gen(function* () {
        const faults = [
          '"command": 7',
          '"command": "x", "url": "http://h.test"',
          '"url": "ftp://h.test"',
          '"command": "${NOT_SET}"',
          '"command": "x", "era": "2024-11-05"',
          '"type": "carrier-pigeon"',
          '"command": "x", "args": "--packed into one"',
          '"command": "x", "env": ["NOT A PAIR"]',
          '"command": "x", "timeout": "soon"',
          '"url": "http://h.test", "headers": { "A B": "1" }'
        ]
        const lines = Array.from({ length: 50 }, (_, at) => {
          const fault = at % 5 === 2 ? faults[(at - 2) / 5] : undefined
          return `  "s${at}": { ${fault ?? '"command": "x"'} }`
        })
        const { entries, problems } = yield* Configuration.parse(`{ "mcpServers": {\n${lines.join(",\n")}\n} }`, {
          variables: {}
        })
        assert.lengthOf(entries, 40)
        assert.deepStrictEqual(
          [...new Set(problems.map(({ entry, line }) => `${entry} in line ${line}`))],
          faults.map((_, at) => `s${at * 5 + 2} in line ${at * 5 + 4}`)
        )
        for (const problem of problems) assert.include(problem.message, `mcpServers.${problem.entry}`)
        const { host } = yield* hostOf(Object.fromEntries(entries.map(({ name }) => [name, Script.modern()])))
        yield* host.load(entries)
        yield* Effect.forEach(entries, ({ name }) => host.ready(name), { concurrency: "unbounded" })
        assert.lengthOf(toolNames(host), 40)
      }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})

describe("streams of a host", () => {
  it.live("U-50, U-53: each server has its own events, which no other pushes out, until it is removed", () =>
    Effect.gen(function* () {
      const { host } = yield* hostOf({ quiet: Script.modern(), loud: Script.modern() }, { replay: 12 })
      for (const name of ["quiet", "loud"]) {
        yield* host.add(entry(name))
        yield* host.ready(name)
      }
      for (let n = 0; n < 10; n++) yield* host.callTool("loud__echo", hello)
      const { events } = yield* host.server("quiet")
      const texts = yield* Effect.forkChild(
        Stream.runCollect(Stream.map(events, ({ happening }) => HostEvent.text(happening).replace(/ (#|in ).*/, ""))),
        { startImmediately: true }
      )
      yield* host.remove("quiet")
      const own = yield* Fiber.join(texts)
      assert.strictEqual(own[0], "Connecting")
      assert.deepStrictEqual(own.slice(-3), ["Ready", "Stopping", "Stopped"])
      const { events: loud } = yield* host.server("loud")
      const all = yield* seen(loud, 12)
      assert.deepStrictEqual([...new Set(all.map(({ server }) => server))], ["loud"])
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("U-53, U-56, U-59: each gives a late subscriber its last entries, only so many, and then what comes", () =>
    Effect.gen(function* () {
      const { host } = yield* hostOf(
        {
          s: legacyWith(
            { tools: {}, logging: {} },
            {
              "tools/call": [
                Script.say({ method: "notifications/message", params: { level: "info", data: "said" } }),
                Script.answer()
              ]
            }
          )
        },
        { replay: 3 }
      )
      yield* host.add(entry("s"))
      yield* host.ready("s")
      for (let n = 0; n < 5; n++) {
        yield* host.callTool("s__echo", { text: String(n) })
        yield* host.report(Diagnostic.LateDiscover({ server: String(n) }))
      }
      yield* seen(host.logs, 3)
      const missing = <A>(stream: Stream.Stream<A>) => Effect.timeoutOption(Stream.runDrain(Stream.drop(stream, 3)), 20)
      const late = yield* seen(host.decisions, 3)
      assert.deepStrictEqual(
        late.map(({ arguments: args }) => args["text"]),
        ["2", "3", "4"]
      )
      const noticed = (yield* seen(host.diagnostics, 3)).map(({ happening }) =>
        happening._tag === "Noticed" ? happening.diagnostic.server : undefined
      )
      assert.deepStrictEqual(noticed, ["2", "3", "4"])
      for (const { log, server } of yield* seen(host.logs, 3)) assert.deepStrictEqual([server, log.data], ["s", "said"])
      const next = yield* Effect.forkChild(seen(host.diagnostics, 4), { startImmediately: true })
      yield* host.report(Diagnostic.LateDiscover({ server: "new" }))
      const [last] = (yield* Fiber.join(next)).slice(-1)
      assert.isTrue(last?.happening._tag === "Noticed" && last.happening.diagnostic.server === "new")
      for (const stream of [host.events, host.decisions, host.logs]) {
        assert.isTrue(Option.isNone(yield* missing<unknown>(stream)))
      }
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("U-53: a listener hears each event when it happens, from the kept ones on, until its scope ends", () =>
    Effect.gen(function* () {
      const { host } = yield* hostOf({}, { replay: 2 })
      for (let n = 0; n < 3; n++) yield* host.load([])
      const heard: Array<number> = []
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* host.listen(({ sequence }) => void heard.push(sequence))
          assert.deepStrictEqual(heard, [2, 3])
          // What a listener makes happen comes after what made it, for every listener.
          const after: Array<number> = []
          yield* host.listen(({ sequence }) => {
            if (sequence === 4) Effect.runSync(host.report(Diagnostic.LateDiscover({ server: "mine" })))
          })
          yield* host.listen(({ sequence }) => void after.push(sequence))
          yield* host.load([])
          assert.deepStrictEqual(after, [2, 3, 4, 5])
          const [last] = (yield* seen(host.events, 2)).slice(-1)
          assert.deepInclude(last?.happening, { _tag: "Noticed" })
        })
      )
      yield* host.load([])
      assert.deepStrictEqual(heard, [2, 3, 4, 5])
    }).pipe(Effect.scoped)
  )

  it.live("U-53: a listener that throws is told once, hears no more and harms nobody", () =>
    Effect.gen(function* () {
      const { host } = yield* hostOf({})
      let calls = 0
      yield* host.listen(() => {
        calls++
        throw new Error("broken listener")
      })
      for (let n = 0; n < 3; n++) yield* host.load([])
      assert.strictEqual(calls, 1)
      const [event] = yield* seen(host.diagnostics, 1)
      assert.include(event === undefined ? "" : HostEvent.text(event.happening), "broken listener")
    }).pipe(Effect.scoped)
  )

  it.live("U-53: a reader that does not keep up loses the oldest events, and it shows", () =>
    Effect.gen(function* () {
      const { host } = yield* hostOf({ s: Script.modern() }, { replay: 1 })
      const gaps: Array<number> = []
      const go = yield* Deferred.make<void>()
      let last = 0
      yield* Effect.forkChild(
        Stream.runForEach(host.events, ({ sequence }) =>
          Effect.suspend(() => {
            if (last !== 0 && sequence !== last + 1) gaps.push(sequence - last - 1)
            last = sequence
            return Deferred.await(go)
          })
        ),
        { startImmediately: true }
      )
      yield* host.add(entry("s"))
      yield* host.ready("s")
      assert.strictEqual(yield* host.missed, 0)
      yield* Effect.forEach(Array.from({ length: 300 }), () => host.callTool("s__echo", hello), { discard: true })
      const missed = yield* host.missed
      assert.isAbove(missed, 0)
      let newest = 0
      yield* host.listen(({ sequence }) => void (newest = sequence))
      yield* Deferred.succeed(go, undefined)
      yield* Effect.repeat(Effect.sleep("1 millis"), { until: () => last === newest })
      assert.strictEqual(
        gaps.reduce((sum, gap) => sum + gap, 0),
        missed
      )
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})
