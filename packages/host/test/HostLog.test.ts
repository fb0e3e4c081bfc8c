import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Host from "@mcp-effect/host/Host"
import * as HostLog from "@mcp-effect/host/HostLog"
import * as LogFile from "@mcp-effect/host/LogFile"
import * as ServerEntry from "@mcp-effect/host/ServerEntry"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
const read = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path))
const env = (variables: Readonly<Record<string, string>>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { ...variables } }))

/** Whether nothing holds an object any more, after full collections. */
const isLetGo = (held: WeakRef<object>) =>
  Effect.gen(function* () {
    setFlagsFromString("--expose-gc")
    const collect = runInNewContext("gc")
    for (let turn = 0; turn < 10 && held.deref() !== undefined; turn++) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      collect()
    }
    return held.deref() === undefined
  })

const secret = "pa$$-w0rd-of-the-entry"
const bearer = "token-of-another-entry"

describe("the log of a host", () => {
  it.live("lets go of hosts that have ended, with their last lines in it", () =>
    Effect.gen(function* () {
      const log = yield* HostLog.make()
      const hosted = Effect.gen(function* () {
        const server = yield* ScriptedServer.make(Script.modern())
        const host = yield* Host.make({ transport: () => Effect.succeed(server.pipe("stdio")) })
        yield* log.follow(host)
        yield* host.add(ServerEntry.stdio({ name: "s", command: "x" }))
        yield* host.ready("s")
        return new WeakRef(host)
      })
      const held = yield* Effect.scoped(hosted)
      const lines = yield* Stream.runCollect(Stream.takeUntil(log.lines, ({ text }) => text === "Stopped"))
      assert.strictEqual(lines.at(-1)?.text, "Stopped")
      assert.isTrue(yield* isLetGo(held))
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.live("U-59: spans runs in one file, in order, from the least level on, with secrets hidden and on one line", () =>
    Effect.gen(function* () {
      const path = `${yield* folder}/host.log`
      const run = (text: string) =>
        Effect.scoped(
          Effect.gen(function* () {
            const log = yield* HostLog.toFile({ path, level: "info" })
            yield* log.write({ text: "too little", level: "debug" })
            yield* log.write({ text, server: "files" })
            return yield* Stream.runCollect(Stream.take(log.lines, 1))
          })
        )
      const [line] = yield* run("first\nAuthorization: Bearer abc.def")
      assert.strictEqual(line?.server, "files")
      yield* run("second https://u:p@host/?token=abc")
      assert.match(
        yield* read(path),
        /^\S+ INFO \[files\] first\\nAuthorization: <redacted>\n\S+ INFO \[files\] second https:\/\/<redacted>@host\/\?token=<redacted>\n$/
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live(
    "U-59: has every connection event, request and tool call of a host that loads later, and the model's lines between",
    () =>
      Effect.gen(function* () {
        const path = `${yield* folder}/deeper/host.log`
        const leak = `no rights: ${secret}, Bearer ${bearer}`
        const scripts: Readonly<Record<string, Script.Script>> = {
          good: Script.legacy(),
          bad: Script.modern({ on: { "tools/call": [Script.fail(-32603, { message: leak })] } })
        }
        yield* Effect.scoped(
          Effect.gen(function* () {
            const log = yield* HostLog.toFile({ path })
            const host = yield* Host.make({
              approval: "allow",
              transport: ({ name }) =>
                Effect.map(ScriptedServer.make(scripts[name] ?? Script.modern()), (server) => server.pipe("stdio"))
            })
            yield* log.follow(host)
            yield* host.load([
              ServerEntry.stdio({ name: "good", command: "x" }),
              ServerEntry.stdio({ name: "bad", command: "x", env: { KEY: secret, B: `Bearer ${bearer}` } })
            ])
            yield* host.ready("good")
            yield* host.ready("bad")
            for (const n of [1, 2, 3]) {
              yield* log.write({ text: `model asks ${n}` })
              yield* host.callTool("good__echo", { text: "x" })
              yield* log.write({ text: `model reads ${n}` })
            }
            yield* Effect.flip(host.callTool("bad__echo", { text: "x" }))
            yield* log.write({ text: `the program says ${secret}`, level: "critical" })
            yield* host.stop("good")
          })
        )
        const text = yield* read(path)
        assert.notInclude(text, secret)
        assert.notInclude(text, bearer)
        assert.notMatch(text, /\[bad\] initialize/)
        for (const expected of [
          /^\S+Z NOTICE loaded: 2 added/m,
          /^\S+Z INFO \[good\] Connecting$/m,
          /^\S+Z INFO \[good\] Ready$/m,
          /^\S+Z DEBUG \[good\] tools\/list #\S+$/m,
          /^\S+Z DEBUG \[good\] tools\/list #\S+ answered in \d+ ms$/m,
          /^\S+Z ERROR \[bad\] tools\/call #\S+ failed: MCP error -32603: no rights: <redacted>, <redacted>$/m,
          /^\S+Z CRITICAL the program says <redacted>$/m,
          /^\S+Z DEBUG \[good\] server\/discover #\S+ failed: MCP error -32601: /m,
          /^\S+Z DEBUG \[good\] initialize #\S+ answered in \d+ ms$/m,
          /^\S+Z DEBUG \[bad\] server\/discover #\S+ answered in \d+ ms$/m,
          /^\S+Z INFO \[good\] Stopping\n\S+Z INFO \[good\] Stopped$/m,
          // It ran until the host came to its end.
          /^\S+Z INFO \[bad\] Stopping\n\S+Z INFO \[bad\] Stopped\n$/m
        ]) {
          assert.match(text, expected)
        }
        const lines = text.split("\n").map((line) => line.replace(/^\S+ \w+ (\[\w+\] )?/, ""))
        for (const n of [1, 2, 3]) {
          const between = lines.slice(lines.indexOf(`model asks ${n}`) + 1, lines.indexOf(`model reads ${n}`))
          assert.isTrue(
            between.some((line) => line.startsWith(`call ${n} of echo ended`)),
            text
          )
          assert.isTrue(between.some((line) => line.startsWith("tools/call")))
        }
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, EraMemory.layerNone]))
  )

  it.live("U-59: lines of the program stand exactly between what happened before and after them", () =>
    Effect.gen(function* () {
      const log = yield* HostLog.make({ replay: 1_000 })
      const server = yield* ScriptedServer.make(Script.legacy())
      const host = yield* Host.make({
        handlers: { approve: () => Effect.as(log.write({ text: "model asks the user" }), true) }
      })
      yield* log.follow(host)
      yield* host.load([])
      yield* log.write({ text: "mine" })
      yield* host.add(ServerEntry.stdio({ name: "s", command: "x" }), server.pipe())
      yield* log.write({ text: "added" })
      yield* host.ready("s")
      yield* host.callTool("s__echo", { text: "x" })
      yield* log.write({ text: "called" })
      yield* host.stop("s")
      yield* log.write({ text: "stopped" })
      const lines = yield* log.lines.pipe(
        Stream.takeUntil(({ text }) => text === "stopped"),
        Stream.map(({ text }) => text.replace(/ (#\d+|after \d+ ms|in \d+ ms)/g, "")),
        Stream.runCollect
      )
      assert.deepStrictEqual(lines.slice(0, 4), [
        "loaded: 0 added, 0 changed, 0 removed, 0 the same",
        "mine",
        "Connecting",
        "added"
      ])
      assert.deepStrictEqual(lines.slice(lines.indexOf("Ready") + 1), [
        "call 1 of echo",
        "model asks the user",
        "permitted echo, by handler: the handler said yes",
        "tools/call",
        "tools/call answered",
        "call 1 of echo ended: result",
        "called",
        "Stopping",
        "Stopped",
        "stopped"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("U-59: a log that comes late begins with the events the host has kept, and follows two hosts", () =>
    Effect.gen(function* () {
      const one = yield* Host.make({ replay: 2 })
      const other = yield* Host.make()
      for (let n = 0; n < 3; n++) yield* one.load([])
      const log = yield* HostLog.make()
      yield* log.follow(one)
      yield* log.follow(other)
      yield* other.load([])
      yield* one.load([])
      yield* log.write({ text: "end" })
      const lines = yield* Stream.runCollect(Stream.takeUntil(log.lines, ({ text }) => text === "end"))
      assert.lengthOf(lines, 5)
    }).pipe(Effect.scoped)
  )

  it.live("U-59: what a name says is secret is hidden in JSON, addresses and headers, and nothing beside it", () =>
    Effect.gen(function* () {
      const log = yield* HostLog.make()
      for (const [text, shown] of [
        [
          '{"refreshToken":"a\\"b","progressToken":"p","city":"x"}',
          '{"refreshToken":"<redacted>","progressToken":"p","city":"x"}'
        ],
        ["GET https://h.test/a?sig=zz&page=2#code=1", "GET https://h.test/a?sig=<redacted>&page=2#code=<redacted>"],
        ["x-api-key: abc, cookie=a; Bearer abc.def", "x-api-key: <redacted>, cookie=<redacted>; Bearer <redacted>"],
        ["the key to the city is: patience", "the key to the city is: patience"]
      ] as const) {
        yield* log.write({ text })
        const [line] = (yield* Stream.runCollect(Stream.takeUntil(log.lines, (line) => line.text === shown))).slice(-1)
        assert.strictEqual(line?.text, shown)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("U-59: the program's stream begins with the last lines, and says whose they are", () =>
    Effect.gen(function* () {
      const log = yield* HostLog.make({ replay: 2 })
      yield* log.hide("much too secret")
      for (const text of ["1", "2", "3: much too secret"]) yield* log.write({ text })
      yield* log.write({ text: "4", server: "files", level: "alert" })
      const late = yield* Stream.runCollect(Stream.take(log.lines, 2))
      assert.deepStrictEqual(
        late.map(({ level, server, text }) => [level, server, text]),
        [
          ["info", undefined, "3: <redacted>"],
          ["alert", "files", "4"]
        ]
      )
      assert.strictEqual(HostLog.format(late[1]!), "1970-01-01T00:00:00.000Z ALERT [files] 4")
      assert.strictEqual(yield* log.lost, 0)
    }).pipe(Effect.scoped)
  )
})

describe("the file of a log", () => {
  it.live(
    "U-59: a file that would grow too large becomes the first of the older ones, of which there are so many",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const home = yield* folder
        const path = `${home}/a.log`
        const file = yield* LogFile.make({ path, maxBytes: 10, files: 3 })
        for (const n of [1, 2, 3, 4, 5, 6, 7]) yield* file.append(`line${n}\n`)
        assert.deepStrictEqual((yield* fs.readDirectory(home)).toSorted(), ["a.log", "a.log.1", "a.log.2"])
        assert.deepStrictEqual(yield* Effect.forEach([path, `${path}.1`, `${path}.2`], read), [
          "line7\n",
          "line6\n",
          "line5\n"
        ])
        const again = yield* LogFile.make({ path, maxBytes: 12, files: 1 })
        yield* again.append("line8\n")
        assert.strictEqual(yield* read(path), "line7\nline8\n")
        yield* again.append("line9\n")
        assert.strictEqual(yield* read(path), "line9\n")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("U-59: a file or a folder that is removed meanwhile is made again, and no line after that is lost", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const home = `${yield* folder}/logs`
      const path = `${home}/a.log`
      const file = yield* LogFile.make({ path, maxBytes: 10, files: 3 })
      yield* file.append("line1\n")
      yield* fs.remove(path)
      yield* file.append("line2\n")
      // What was removed is not there to be set aside.
      assert.deepStrictEqual(yield* fs.readDirectory(home), ["a.log"])
      assert.strictEqual(yield* read(path), "line2\n")
      yield* file.append("line3\n")
      yield* fs.writeFileString(path, "")
      yield* file.append("line4\n")
      assert.deepStrictEqual(yield* Effect.forEach([path, `${path}.1`], read), ["line4\n", "line2\n"])
      yield* fs.remove(home, { recursive: true })
      yield* file.append("l5\n")
      assert.strictEqual(yield* read(path), "l5\n")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live(
    "U-59: a file that cannot be written is told in the host and in the lines, ever more rarely; nothing fails",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = `${yield* folder}/taken`
        yield* fs.makeDirectory(path)
        const seen: Array<Diagnostic> = []
        yield* Effect.scoped(
          Effect.gen(function* () {
            const log = yield* HostLog.toFile({ path, replay: 1_000 })
            const host = yield* Host.make()
            yield* log.follow(host)
            yield* host.load([])
            const [event] = yield* Stream.runCollect(Stream.take(host.diagnostics, 1))
            assert(event?.happening._tag === "Noticed")
            assert.deepInclude(event.happening.diagnostic, { _tag: "CallbackFailed", callback: `the log file ${path}` })
            for (let n = 0; n < 100; n++) yield* log.write({ text: `lost ${n}` })
            yield* Stream.runDrain(Stream.take(host.diagnostics, 6))
            yield* log.write({ text: "the last" })
            const lines = yield* Stream.runCollect(Stream.takeUntil(log.lines, ({ text }) => text === "the last"))
            const complaints = lines.filter(({ level }) => level === "warning")
            assert.include(complaints[0]?.text, `the log file ${path} of this program failed 1 time(s)`)
            assert.isAtMost(complaints.length, 8)
            assert.isAtLeast(complaints.length, 6)
            assert.lengthOf(lines, 102 + complaints.length)
          })
        ).pipe(Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void seen.push(diagnostic))))
        assert.deepInclude(seen[0], { _tag: "CallbackFailed", server: "host", callback: `the log file ${path}` })
        assert.isAtMost(seen.length, 8)

        const file = yield* LogFile.make({ path })
        yield* Effect.provideService(file.append("lost\n"), Diagnostics, () => Effect.void)
        yield* fs.remove(path, { recursive: true })
        yield* file.append("kept\n")
        assert.strictEqual(yield* read(path), "kept\n")
      }).pipe(
        Effect.scoped,
        Effect.provideService(Diagnostics, () => Effect.void),
        Effect.provide(NodeServices.layer)
      )
  )

  it.live("U-59: without a host a file that cannot be written is told in the lines alone", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* folder}/taken`
      yield* fs.makeDirectory(path)
      const log = yield* HostLog.toFile({ path })
      yield* log.write({ text: "lost" })
      const [, complaint] = yield* Stream.runCollect(Stream.take(log.lines, 2))
      assert.strictEqual(complaint?.level, "warning")
    }).pipe(
      Effect.scoped,
      Effect.provideService(Diagnostics, () => Effect.void),
      Effect.provide(NodeServices.layer)
    )
  )

  it.live.each([{ files: Number.NaN }, { files: 0 }, { files: 1e9 }, { maxBytes: Number.NaN }, { maxBytes: -1 }])(
    "U-59: %o is taken for the nearest that can be, and lines are written",
    (odd) =>
      Effect.gen(function* () {
        const path = `${yield* folder}/a.log`
        const file = yield* LogFile.make({ path, maxBytes: 10, ...odd })
        for (const n of [1, 2, 3]) yield* file.append(`line${n}\n`)
        assert.include(yield* read(path), "line3\n")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("U-59: a bare name goes to the user's documents; a path goes where it says", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const HOME = yield* folder
      const locate = (name: string, variables: Readonly<Record<string, string>>) =>
        LogFile.locate(name).pipe(env(variables))
      assert.strictEqual(yield* locate("a.log", { HOME }), `${HOME}/Documents/a.log`)
      assert.strictEqual(yield* locate("a.log", { HOME, XDG_DOCUMENTS_DIR: "/papers" }), "/papers/a.log")
      assert.strictEqual(yield* locate("/var/a.log", { HOME, XDG_DOCUMENTS_DIR: "/papers" }), "/var/a.log")
      yield* fs.makeDirectory(`${HOME}/.config`)
      const dirs = (line: string) =>
        fs.writeFileString(`${HOME}/.config/user-dirs.dirs`, `# written by a tool\n${line}\n`)
      yield* dirs('XDG_DOCUMENTS_DIR="$HOME/Dokumente"')
      assert.strictEqual(yield* locate("a.log", { HOME }), `${HOME}/Dokumente/a.log`)
      yield* dirs('XDG_DOCUMENTS_DIR="/mnt/papers"')
      assert.strictEqual(yield* locate("a.log", { HOME }), "/mnt/papers/a.log")
      yield* dirs('XDG_DOCUMENTS_DIR="$(rm -rf ~)"')
      assert.strictEqual(yield* locate("a.log", { HOME }), `${HOME}/Documents/a.log`)
      const file = yield* LogFile.make({ path: "b.log" }).pipe(env({ XDG_DOCUMENTS_DIR: HOME }))
      yield* file.append("here\n")
      assert.strictEqual(yield* read(`${HOME}/b.log`), "here\n")
      assert.strictEqual((yield* fs.stat(file.path)).mode & 0o777, 0o600)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
