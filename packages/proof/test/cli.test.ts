/**
 * The command as a person runs it: a process with its own exit code, against real servers.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Servers from "../servers/Servers.ts"
import { chunks, command, mistakes } from "./fixtures/command.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

const mcpEffect = (...words: ReadonlyArray<string>) => command(words)

const fed = (input: string, ...words: ReadonlyArray<string>) => command(words, { input })

const document = "demo://resource/static/document/architecture.md"
const template = "demo://resource/dynamic/text/{resourceId}"

describe("mcp-effect, run", () => {
  it.live("U-67: starts quickly: for --version little is read, and nothing that connects", () =>
    Effect.gen(function* () {
      const [entry] = chunks
      const read = new Set(entry === undefined ? [] : [entry])
      for (const chunk of read) {
        for (const file of chunks) if (chunk.imports.includes(file.fileName)) read.add(file)
      }
      const modules = [...read].flatMap(({ moduleIds }) => moduleIds)
      assert.isAtMost(read.size, 3)
      assert.isAtMost(
        [...read].reduce((sum, { code }) => sum + code.length, 0),
        400_000
      )
      assert.isAtMost(modules.length, 250)
      assert.isTrue(modules.some((id) => id.endsWith("/Commands.ts")))
      assert.deepStrictEqual(
        modules.filter((id) => /\/undici\/|packages\/(client|host|negotiation|transport)\//.test(id)),
        []
      )
      assert.strictEqual((yield* mcpEffect("--version")).out, "mcp-effect v1.2.3\n")
    })
  )

  it.live("U-67: --json prints what docs/command-line.schema.json says, from servers of both eras", () =>
    Effect.gen(function* () {
      const everything = yield* Servers.everythingStdio
      const modern = yield* Servers.officialStdio
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-cli-" })
      const file = (yield* Path.Path).join(folder, "mcp.json")
      const { args, command: program } = modern.target
      yield* fs.writeFileString(file, JSON.stringify({ mcpServers: { here: { command: program, args } } }))
      const onEverything = ["--", everything.target.command, ...everything.target.args]
      const onModern = ["--", program, ...args]

      const table: ReadonlyArray<readonly [command: string, words: ReadonlyArray<string>, expects: RegExp]> = [
        ["probe", ["--explain", ...onModern], /"era": "modern"/],
        ["tools", onEverything, /"get-sum"/],
        ["call", ["get-sum", "a=2", "b=3", "--yes", ...onEverything], /is 5/],
        ["call", ["add", '{"a":1,"b":2}', "--yes", "--pin", "2026-07-28", ...onModern], /"sum": 3/],
        ["resources", onEverything, /\{resourceId\}/],
        ["resources", onModern, /demo:\/\/hello/],
        ["read", [document, ...onEverything], /"text": "#/],
        ["prompts", onEverything, /completable-prompt/],
        ["prompt", ["args-prompt", "city=Paris", ...onEverything], /Paris/],
        ["complete", ["prompt", "completable-prompt", "department=E", ...onEverything], /Engineering/],
        ["complete", ["resource", template, "resourceId=1", ...onEverything], /"1"/],
        ["ping", ["--timeout", "20", ...onModern], /server\/discover/],
        ["servers", ["--config", file], /"ready"/],
        ["config check", [file], /"here"/],
        ["auth status", ["http://127.0.0.1:9/mcp"], /"signedIn": false/]
      ]
      const runs = yield* Effect.forEach(table, ([name, words]) => mcpEffect(...name.split(" "), "--json", ...words), {
        concurrency: 2
      })
      for (const [at, { code, err, out }] of runs.entries()) {
        const [name, , expects] = table[at] ?? []
        assert.isDefined(name)
        if (name === undefined || expects === undefined) continue
        assert.strictEqual(code, 0, `${name}: ${err}`)
        assert.match(out, expects)
        assert.deepStrictEqual(mistakes(name, out), [], name)
        assert.notDeepEqual(mistakes(name, "[]"), [], name)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("U-67: reads arguments from standard input, with progress beside the result", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.officialStdio
      const { code, err, out } = yield* fed(
        '{"to":2}',
        "call",
        "count",
        "-",
        "--yes",
        "--",
        target.command,
        ...target.args
      )
      assert.deepStrictEqual([code, err], [0, "progress: 1 of 2\nprogress: 2 of 2\n"])
      assert.notMatch(out, /progress/)
      const broken = yield* fed("{", "call", "count", "-", "--yes", "--", target.command, ...target.args)
      assert.deepStrictEqual([broken.code, broken.out], [65, ""])
    })
  )

  it.live("U-67: refuses what the server at hand cannot take: headers of a process, a version that nobody speaks", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.officialStdio
      const server = ["--", target.command, ...target.args]
      const header = yield* mcpEffect("ping", "--header", "A: b", ...server)
      assert.strictEqual(header.code, 64)
      assert.include(header.err, "--header goes with a URL")
      const pin = yield* mcpEffect("ping", "--pin", "2026-01-01", ...server)
      assert.strictEqual(pin.code, 64)
      assert.include(pin.err, "--pin takes one of 2026-07-28")
      const both = yield* mcpEffect("probe", "http://127.0.0.1:9/mcp", ...server)
      assert.strictEqual(both.code, 64)
      assert.match((yield* mcpEffect("--completions", "bash")).out, /complete /)
    })
  )

  it.live("U-67: probes a server in a process and exits with 0", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.sdkStdio
      const { code, err, out } = yield* mcpEffect("probe", "--explain", "--", target.command, ...target.args)
      assert.deepStrictEqual([code, err], [0, ""])
      assert.match(out, /^era {11}legacy$/m)
      assert.match(out, /^identity {6}sdk 1\.32\.2$/m)
      assert.match(out, /^tools \(7\)$/m)
    })
  )

  it.live("U-67: probes a server behind an address, HTTP+SSE included, and exits with 0", () =>
    Effect.gen(function* () {
      const modern = yield* Servers.effectHttp
      assert.match((yield* mcpEffect("probe", modern.target.url)).out, /^era {11}modern$/m)
      const sse = yield* Servers.everythingSse
      const { code, out } = yield* mcpEffect("probe", sse.target.url)
      assert.strictEqual(code, 0)
      assert.match(out, /^transport {5}sse$/m)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    "U-67: exits with 64 without a target, and with 69 when the server cannot be reached; each is told once, in plain text",
    () =>
      Effect.gen(function* () {
        const none = yield* mcpEffect("probe")
        assert.deepStrictEqual([none.code, none.out], [64, ""])
        assert.strictEqual(none.err.match(/which server\?/g)?.length, 1)

        const refused = yield* mcpEffect("probe", "http://127.0.0.1:9/mcp")
        assert.deepStrictEqual([refused.code, refused.out], [69, ""])
        assert.strictEqual(refused.err.split("\n").length, 2)
      })
  )
})
