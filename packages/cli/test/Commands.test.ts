import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ExitCode from "../src/ExitCode.ts"
import * as Output from "../src/Output.ts"
import * as Target from "../src/Target.ts"
import { run } from "./fixtures/typed.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 60_000 })

const docs = join(import.meta.dirname, "../../../docs")
const fixture = join(import.meta.dirname, "fixtures/server.mjs")
const server = ["--", process.execPath, fixture, "modern"]

const fits = (name: keyof typeof Output.schemas, out: string) => {
  const read = Schema.decodeUnknownResult(Output.schemas[name])(JSON.parse(out))
  assert.isTrue(Result.isSuccess(read), `${name}: ${out}`)
}

const folder = mkdtempSync(join(tmpdir(), "mcp-effect-cli-"))
const configuration = join(folder, "mcp.json")
writeFileSync(
  configuration,
  JSON.stringify({ mcpServers: { here: { command: process.execPath, args: [fixture, "modern"] } } })
)
const broken = join(folder, "broken.json")
writeFileSync(broken, JSON.stringify({ mcpServers: { one: { args: 1 } } }))

describe("U-67: the commands", () => {
  it.live("call reads key=value, JSON, and refuses what may destroy when nobody can be asked", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* run("call", "echo", "n=1", "--yes", ...server)).out, '{"n":1}')
      assert.strictEqual((yield* run("call", "--yes", "echo", '{"a":[true]}', ...server)).out, '{"a":[true]}')
      const refused = yield* run("call", "echo", ...server)
      assert.deepStrictEqual([refused.code, refused.out], [77, ""])
      assert.include(refused.err, "`--yes` says yes")
      assert.strictEqual((yield* run("call", "--yes", "long", ...server)).code, 1)
      const unknown = yield* run("call", "--yes", "nowhere", ...server)
      assert.strictEqual(unknown.code, 65)
      assert.include(unknown.err, "it has echo, nothing, long")
    })
  )

  it.live("--json prints what the schemas of the page say", () =>
    Effect.gen(function* () {
      fits("probe", (yield* run("probe", "--json", "--explain", ...server)).out)
      fits("tools", (yield* run("tools", "--json", ...server)).out)
      fits("call", (yield* run("call", "--json", "--yes", "echo", ...server)).out)
      fits("ping", (yield* run("ping", "--json", ...server)).out)
      fits("servers", (yield* run("servers", "--json", "--config", configuration)).out)
      fits("config check", (yield* run("config", "check", "--json", configuration)).out)
      fits("auth status", (yield* run("auth", "status", "--json", "http://127.0.0.1:9/mcp")).out)
    })
  )

  it.live("a server of a configuration goes by its name, and an unknown name is answered with those there are", () =>
    Effect.gen(function* () {
      assert.match((yield* run("tools", "--config", configuration, "here")).out, /^echo {5}Says the text back$/m)
      const unknown = yield* run("tools", "--config", configuration, "there")
      assert.strictEqual(unknown.code, 64)
      assert.include(unknown.err, "it has here")
    })
  )

  it.live("config check exits with 78 for a wrong entry; config convert prints another form", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* run("config", "check", broken)).code, 78)
      const { out } = yield* run("config", "convert", "--to", "servers", configuration)
      assert.deepStrictEqual(Object.keys(JSON.parse(out)), ["servers"])
    })
  )

  it.live("what probe saves is taken as prior, and --record keeps the messages", () =>
    Effect.gen(function* () {
      const saved = join(folder, "saved.json")
      const log = join(folder, "log.jsonl")
      yield* run("probe", "--save", saved, ...server)
      const again = yield* run("probe", "--json", "--prior", saved, "--record", log, ...server)
      assert.strictEqual(JSON.parse(again.out).roundTrips, 0)
      assert.include(readFileSync(log, "utf8"), "tools/list")
    })
  )

  it.live("a server that does not declare a list is not asked for it, and that is no failure", () =>
    Effect.gen(function* () {
      const tools = yield* run("tools", "--", process.execPath, fixture, "bare")
      assert.deepStrictEqual([tools.code, tools.out], [0, "no tools: the server does not declare them"])
      const resources = yield* run("resources", "--json", ...server)
      assert.deepStrictEqual(JSON.parse(resources.out), { resources: [], templates: [] })
      fits("prompts", (yield* run("prompts", "--json", ...server)).out)
    })
  )

  it.live("a name with a slip in it is answered with the one that was meant", () =>
    Effect.gen(function* () {
      assert.include((yield* run("call", "ecoh", ...server)).err, 'did you mean "echo"? it has echo, nothing, long')
      const there = yield* run("tools", "--config", configuration, "Hear")
      assert.include(there.err, 'did you mean "here"?')
    })
  )

  it.live("a mistake in the options is told in two lines on standard error, without the whole help", () =>
    Effect.gen(function* () {
      const { code, err, out } = yield* run("ping", "--timeout", "soon", "http://127.0.0.1:9/mcp")
      assert.deepStrictEqual([code, out], [64, ""])
      assert.match(err, /^Invalid value for flag --timeout: "soon".*\nSee: mcp-effect ping --help$/)
      const header = yield* run("ping", "--header", "X: a\nb", "http://127.0.0.1:9/mcp")
      assert.deepStrictEqual([header.code, header.err], [64, "the header X has characters that HTTP does not allow"])
    })
  )

  it.live("a file that cannot be written exits with 74, one that cannot be read with 65", () =>
    Effect.gen(function* () {
      const nowhere = join(folder, "nowhere", "x")
      for (const option of ["--save", "--record"]) {
        const { code, err } = yield* run("probe", option, nowhere, ...server)
        assert.deepStrictEqual(
          [code, err.split("\n").at(-1)],
          [74, `${nowhere}: it is not there, or its folder is not`]
        )
      }
      const prior = yield* run("probe", "--prior", nowhere, ...server)
      assert.deepStrictEqual([prior.code, prior.err], [65, `${nowhere}: it is not there, or its folder is not`])
      assert.strictEqual((yield* run("probe", "--prior", fixture, ...server)).code, 65)
    })
  )

  it.live("two URLs, or a URL and a command, are refused and start nothing", () =>
    Effect.gen(function* () {
      for (const words of [
        ["http://a.invalid", "http://b.invalid"],
        ["http://a.invalid", ...server]
      ]) {
        const { code, out } = yield* run("probe", ...words)
        assert.deepStrictEqual([code, out], [64, ""])
      }
      assert.strictEqual((yield* run("probe", "--nonsense")).code, 64)
      assert.isBelow(Target.surplus(["x".repeat(10_000)])?.length ?? Infinity, 300)
    })
  )
})

describe("docs/command-line", () => {
  it("has every exit code, every command, and the schemas of this version", () => {
    const page = readFileSync(join(docs, "command-line.md"), "utf8").replaceAll(/ +\|/g, " |")
    for (const { code, meaning, name } of ExitCode.table) assert.include(page, `| ${code} | ${name} | ${meaning} |`)
    for (const name of Object.keys(Output.schemas)) assert.include(page, `mcp-effect ${name}`)
    assert.deepStrictEqual(JSON.parse(readFileSync(join(docs, "command-line.schema.json"), "utf8")), Output.document())
  })
})
