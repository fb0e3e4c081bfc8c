import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Equal, FileSystem, Queue, Stream } from "effect"
import * as Configuration from "../src/Configuration.ts"
import * as ConfigurationFile from "../src/ConfigurationFile.ts"
import * as ConfigurationHint from "../src/ConfigurationHint.ts"
import { candidates } from "../src/internal/commandPath.ts"
import * as ServerEntry from "../src/ServerEntry.ts"

const one = ServerEntry.stdio({ name: "a", command: "x" })
const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
const text = '[{ "name": "é", "command": "x" }]'

describe("a configuration file", () => {
  it.live("U-54: saving is atomic, keeps a link and permissions, and a new file is for its owner alone", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      yield* ConfigurationFile.save(`${at}/real.json`, Configuration.make([one]))
      assert.strictEqual((yield* fs.stat(`${at}/real.json`)).mode & 0o777, 0o600)
      yield* fs.chmod(`${at}/real.json`, 0o640)
      yield* fs.symlink(`${at}/real.json`, `${at}/link.json`)
      yield* ConfigurationFile.save(`${at}/link.json`, Configuration.make([one, { ...one, name: "b" }]))
      assert.strictEqual((yield* fs.stat(`${at}/real.json`)).mode & 0o777, 0o640)
      assert.strictEqual(yield* fs.readLink(`${at}/link.json`), `${at}/real.json`)
      assert.strictEqual((yield* ConfigurationFile.load(`${at}/real.json`)).entries.length, 2)
      assert.sameMembers(yield* fs.readDirectory(at), ["real.json", "link.json"])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("U-54: UTF-8 with and without a mark, UTF-16 on request; another encoding is named in the error", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      const path = `${at}/c.json`
      yield* fs.writeFileString(path, `\uFEFF${text}`)
      assert.strictEqual((yield* ConfigurationFile.load(path)).entries[0]?.name, "é")
      for (const encoding of ["utf-16le", "utf-16be"] as const) {
        const configuration = yield* Configuration.parse(text)
        yield* ConfigurationFile.save(path, configuration, { encoding })
        assert.strictEqual((yield* ConfigurationFile.load(path, { encoding })).entries[0]?.name, "é")
        const { reason } = yield* Effect.flip(ConfigurationFile.load(path))
        assert(reason._tag === "NotText")
        assert.strictEqual(reason.looksLike, encoding)
      }
      const missing = yield* Effect.flip(ConfigurationFile.load(`${at}/none.json`))
      assert.strictEqual(missing.reason._tag, "Unreadable")
      assert.match(missing.message, /: it cannot be read: it is not there, or its folder is not$/)
      const none = yield* Effect.flip(ConfigurationFile.load(import.meta.dirname))
      assert.match(none.message, /: it cannot be read: it is no file$/)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    "U-54: what somebody else wrote since it was read is not written over, unless forced; own saves do not count",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const at = yield* folder
        const path = `${at}/c.json`
        yield* fs.writeFileString(path, text)
        const mine = yield* ConfigurationFile.load(path)
        const changed = Configuration.withEntries(mine, [one])
        yield* ConfigurationFile.save(path, changed)
        yield* ConfigurationFile.save(path, Configuration.withEntries(changed, [one, { ...one, name: "b" }]))

        const theirs = '[{ "name": "theirs", "command": "y" }]'
        yield* fs.writeFileString(path, theirs)
        const error = yield* Effect.flip(ConfigurationFile.save(path, changed))
        assert.deepInclude(error.reason, { _tag: "ChangedMeanwhile", how: "rewritten" })
        assert.include(error.message, "load it again")
        assert.strictEqual(yield* fs.readFileString(path), theirs)
        assert.deepStrictEqual(yield* fs.readDirectory(at), ["c.json"])

        // Another file is another matter, and so is one made in code.
        yield* ConfigurationFile.save(`${at}/copy.json`, changed)
        yield* fs.remove(path)
        const gone = yield* Effect.flip(ConfigurationFile.save(path, changed))
        assert.deepInclude(gone.reason, { _tag: "ChangedMeanwhile", how: "removed" })
        yield* ConfigurationFile.save(path, changed, { force: true })
        yield* ConfigurationFile.save(path, changed)
        yield* ConfigurationFile.save(path, Configuration.make([one]))
        const again = yield* ConfigurationFile.load(path)
        assert.isTrue(Equal.equals(again.entries, [one]))
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("U-54: a link that leads to another file since it was read counts as rewritten", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      for (const name of ["one", "two"])
        yield* fs.writeFileString(`${at}/${name}.json`, `${text}${name === "two" ? " " : ""}`)
      yield* fs.symlink(`${at}/one.json`, `${at}/link.json`)
      const configuration = yield* ConfigurationFile.load(`${at}/link.json`)
      yield* fs.remove(`${at}/link.json`)
      yield* fs.symlink(`${at}/two.json`, `${at}/link.json`)
      const { reason } = yield* Effect.flip(ConfigurationFile.save(`${at}/link.json`, configuration))
      assert.strictEqual(reason._tag, "ChangedMeanwhile")
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("a watched file that is replaced tells what changed; a broken one is refused and changes nothing", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* folder}/c.json`
      const replace = (text: string) =>
        Effect.andThen(fs.writeFileString(`${path}.new`, text), fs.rename(`${path}.new`, path))
      yield* replace('[{"name":"a","command":"x"},{"name":"b","command":"x"}]')
      const events = yield* Queue.unbounded<ConfigurationFile.Event>()
      yield* ConfigurationFile.watch(path, { pause: "50 millis" }).pipe(
        Stream.runForEach((event) => Queue.offer(events, event)),
        Effect.forkScoped
      )
      const next = Effect.map(Queue.take(events), (event) =>
        event._tag === "Refused"
          ? event.error.reason._tag
          : Object.values(event.diff).map((list: Configuration.Diff["same"]) => list.map(({ name }) => name).join())
      )
      assert.deepStrictEqual(yield* next, ["a,b", "", "", ""])
      yield* replace('[{"name":"a","command":"y"},{"name":"b","command":7}]')
      assert.deepStrictEqual(yield* next, ["", "", "a", "b"])
      yield* replace("[")
      assert.strictEqual(yield* next, "SyntaxWrong")
      yield* replace('[{"name":"a","command":"y"}]')
      assert.deepStrictEqual(yield* next, ["", "b", "", "a"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("hints", () => {
  const hints = (text: string, options: ConfigurationHint.Options = {}) =>
    Effect.gen(function* () {
      const configuration = yield* Configuration.parse(text, { variables: { T: "s" } })
      const found = yield* ConfigurationHint.check(configuration, options)
      assert.notInclude(found.map(ConfigurationHint.describe).join(), "ghp_")
      return found.map(({ id }) => id)
    }).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord({ PATH: "/bin:/usr/bin" })),
      Effect.provide(NodeServices.layer)
    )

  for (const [members, ids] of [
    ['"command":"sh","args":["-c","true"]', []],
    ['"command":"sh","args":["--port 80"]', ["packed-arguments"]],
    ['"command":"sh -c"', ["packed-arguments", "command-missing"]],
    ['"command":"no-such-program"', ["command-missing"]],
    ['"command":"no-such-program","disabled":true', []],
    ['"command":"sh","args":["","\'a\'","|"]', ["empty-argument", "quoted-argument", "shell-syntax"]],
    ['"command":"sh","timeout":30', ["short-timeout"]],
    ['"command":"sh","env":["GH_TOKEN=ghp_0123456789012345678901234567"]', ["secret-in-file"]],
    ['"command":"sh","env":["DB_PASSWORD=correct.horse.battery"]', ["secret-in-file"]],
    ['"command":"sh","env":["DB_HOST=correct.horse.battery"]', []],
    ['"command":"sh","env":{"GH_TOKEN":"${T}"}', []],
    ['"command":"sh","environment":{},"argz":[],"tiemout":5', ["unknown-member", "unknown-member", "unknown-member"]],
    ['"command":"sh","envFile":".env"', ["unknown-member"]],
    ['"command":"sh","x-note":"mine"', []],
    ['"command":"sh","args":["$HOME"]', ["variable-not-read"]],
    ['"type":"stdio","command":"sh","url":"http://h"', ["foreign-member"]],
    ['"command":"sh","tools":[]', ["no-tools"]],
    ['"url":"http://h.test/","headers":{"X":"1"}', ["plain-http"]],
    ['"url":"http://127.0.0.1/","headers":{"X":"1"}', []]
  ] as const) {
    it.live(`{${members}} gets ${ids.length === 0 ? "no hint" : ids.join(", ")}`, () =>
      Effect.map(hints(`[{"name":"a",${members}}]`), (found) => assert.deepStrictEqual(found, [...ids]))
    )
  }

  it.live("`ask` without a handler is told, unless the entry allows", () =>
    Effect.gen(function* () {
      const text = '[{"name":"a","command":"sh"},{"name":"b","command":"sh","approval":"allow"}]'
      assert.deepStrictEqual(yield* hints(text, { approves: false }), ["ask-without-handler"])
      assert.deepStrictEqual(yield* hints(text, { approves: true }), [])
    })
  )

  it("a command is looked for as each platform does", () => {
    assert.deepStrictEqual(candidates({ command: "npx", platform: "linux", path: "/a:/b" }), ["/a/npx", "/b/npx"])
    assert.deepStrictEqual(candidates({ command: "./x", platform: "linux", path: "/a", cwd: "/w" }), ["/w/./x"])
    assert.deepStrictEqual(
      candidates({ command: "npx", platform: "win32", path: "C:\\n", extensions: ".EXE;.CMD", cwd: "D:\\w" }),
      ["D:\\w\\npx.exe", "D:\\w\\npx.cmd", "C:\\n\\npx.exe", "C:\\n\\npx.cmd"]
    )
    assert.strictEqual(candidates({ command: "C:\\n\\x.cmd", platform: "win32", path: "" })[0], "C:\\n\\x.cmd")
  })
})
