/**
 * The command as a person runs it: a process with its own exit code, against real servers.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ExitCode from "@mcp-effect/cli/ExitCode"
import * as Output from "@mcp-effect/cli/Output"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { fileURLToPath } from "node:url"
import * as Servers from "../servers/Servers.ts"
import { chunks, command, mistakes } from "./fixtures/command.ts"
import { behindTls, certificate } from "./fixtures/tls.ts"

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
      const path = yield* Path.Path
      const file = path.join(folder, "mcp.json")
      const { args, command: program } = modern.target
      yield* fs.writeFileString(file, JSON.stringify({ mcpServers: { here: { command: program, args } } }))
      const onEverything = ["--", everything.target.command, ...everything.target.args]
      const onModern = ["--", program, ...args]

      const broken = path.join(folder, "broken.json")
      const entries = { gone: { url: "http://127.0.0.1:9/mcp" }, off: { command: "x", disabled: true } }
      yield* fs.writeFileString(broken, JSON.stringify({ mcpServers: { ...entries, wrong: { args: 1 } } }))
      const dead = path.join(folder, "dead.json")
      yield* fs.writeFileString(dead, JSON.stringify({ mcpServers: entries }))

      const table: ReadonlyArray<
        readonly [command: string, words: ReadonlyArray<string>, expects: RegExp, exit?: ExitCode.Name]
      > = [
        ["probe", ["--explain", ...onModern], /"era": "modern"/],
        ["probe", ["--era", "legacy", ...onEverything], /"era": "legacy"/],
        ["probe", ["--pin", "2026-07-28", ...onModern], /"roundTrips": 0/],
        ["tools", onEverything, /"get-sum"/],
        ["tools", ["get-sum", ...onEverything], /^\{\n  "tools": \[\n    \{\n      "name": "get-sum"/],
        ["call", ["get-sum", "a=2", "b=3", "--yes", ...onEverything], /is 5/],
        ["call", ["get-tiny-image", "--yes", ...onEverything], /"mimeType": "image\/png"/],
        ["call", ["add", '{"a":1,"b":2}', "--yes", "--pin", "2026-07-28", ...onModern], /"sum": 3/],
        ["call", ["fail", "because=rain", "--yes", ...onModern], /"isError": true/, "toolFailed"],
        ["resources", onEverything, /\{resourceId\}/],
        ["resources", onModern, /demo:\/\/hello/],
        ["read", [document, ...onEverything], /"text": "#/],
        ["read", [template.replace("text/{resourceId}", "blob/1"), ...onEverything], /"blob": "/],
        ["prompts", onEverything, /completable-prompt/],
        ["prompts", ["args-prompt", ...onEverything], /"name": "args-prompt"/],
        ["prompt", ["args-prompt", "city=Paris", ...onEverything], /Paris/],
        ["complete", ["prompt", "completable-prompt", "department=E", ...onEverything], /Engineering/],
        ["complete", ["prompt", "completable-prompt", "nothing=E", ...onEverything], /"values": \[\]/],
        ["complete", ["resource", template, "resourceId=1", ...onEverything], /"1"/],
        ["ping", ["--timeout", "20", ...onModern], /server\/discover/],
        ["ping", ["--era", "legacy", ...onModern], /"ping"/],
        ["servers", ["--config", file], /"ready"/],
        ["servers", ["--config", dead], /"failed"[^]*"disabled"/, "unreachable"],
        ["servers", ["--config", broken], /"entry": "wrong"/, "configuration"],
        ["config check", [file], /"here"/],
        ["config check", [broken], /"entry": "wrong"/, "configuration"],
        ["auth status", ["http://127.0.0.1:9/mcp"], /"signedIn": false/],
        ["auth logout", ["http://127.0.0.1:9/mcp"], /"signedIn": false/]
      ]
      const runs = yield* Effect.forEach(
        table,
        ([name, words]) => command([...name.split(" "), "--json", ...words], { env: { MCP_EFFECT_HOME: folder } }),
        { concurrency: 2 }
      )
      for (const [at, { code, err, out }] of runs.entries()) {
        const [name, words, expects, exit = "done"] = table[at] ?? []
        assert.isDefined(name)
        if (name === undefined || expects === undefined) continue
        const typed = `${name} ${words?.join(" ")}: ${err}`
        assert.strictEqual(code, ExitCode.codeOf(exit), typed)
        assert.match(out, expects, typed)
        assert.deepStrictEqual(mistakes(name, out), [], typed)
        assert.notDeepEqual(mistakes(name, "[]"), [], name)
      }
      // The other two need a sign-in, and a terminal that is watched: they have tests of their own.
      const shown = new Set(table.map(([name]) => name))
      assert.deepStrictEqual(
        Object.keys(Output.schemas).filter((name) => !shown.has(name)),
        ["watch", "auth login"]
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("U-67: --json prints nothing on standard output when there is nothing to tell", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.officialStdio
      const server = ["--", target.command, ...target.args]
      const rows: ReadonlyArray<readonly [words: readonly [string, ...Array<string>], exit: ExitCode.Name]> = [
        [["probe", "http://127.0.0.1:9/mcp"], "unreachable"],
        [["call", "count", "to=1", ...server], "denied"],
        [["call", "nowhere", ...server], "input"],
        [["read", "demo://nowhere", ...server], "refused"],
        [["complete", "prompt", "greet", "who=A", ...server], "refused"],
        [["explore", ...server], "usage"],
        [["servers", "--config", "/nowhere/mcp.json"], "configuration"]
      ]
      yield* Effect.forEach(
        rows,
        Effect.fnUntraced(function* ([[name, ...words], exit]) {
          const { code, err, out } = yield* command([name, "--json", ...words])
          assert.deepStrictEqual([code, out], [ExitCode.codeOf(exit), ""], `${name} ${words.join(" ")}`)
          assert.isAbove(err.length, 10)
        }),
        { concurrency: 2 }
      )
    })
  )

  it.live(
    "U-67: what probe saves saves the next connection its questions; what --record keeps has no secret in it",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-cli-" })
        const [saved, record] = [path.join(folder, "saved.json"), path.join(folder, "record.jsonl")]
        const { target } = yield* Servers.officialHttp
        const secret = ["--header", "Authorization: Bearer SECRET-1", "--header", "X-Key: SECRET-2"]
        const first = yield* mcpEffect("probe", "--json", "--save", saved, ...secret, "--record", record, target.url)
        assert.deepStrictEqual([first.code, JSON.parse(first.out).roundTrips], [0, 1])
        const again = yield* mcpEffect("probe", "--json", "--prior", saved, "--record", record, target.url)
        assert.deepStrictEqual([again.code, JSON.parse(again.out).roundTrips], [0, 0])
        const { identity, instructions } = JSON.parse(first.out)
        assert.deepInclude(JSON.parse(again.out), { identity, instructions })
        const recorded = yield* fs.readFileString(record)
        assert.strictEqual(recorded.match(/"method":"server\/discover"/g)?.length, 1)
        assert.strictEqual(recorded.match(/"method":"tools\/list"/g)?.length, 2)
        for (const line of recorded.trimEnd().split("\n")) assert.isObject(JSON.parse(line))
        assert.notInclude(recorded + (yield* fs.readFileString(saved)), "SECRET")
        assert.strictEqual((yield* fs.stat(record)).mode & 0o777, 0o600)
        const other = yield* mcpEffect("probe", "--prior", saved, "--era", "legacy", target.url)
        assert.strictEqual(other.code, 64)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("U-67: reads arguments as the schema says, as one JSON object, and from standard input", () =>
    Effect.gen(function* () {
      const server = ["--", process.execPath, fileURLToPath(new URL("fixtures/kinds.mjs", import.meta.url))]
      const words = ["text=1", "number=-2.5", "whole=-3", "yes=true", "colour=red", 'list=["a b"]', 'bag={"c":null}']
      const object = { text: "1", number: -2.5, whole: -3, yes: true, colour: "red", list: ["a b"], bag: { c: null } }
      const typed = yield* mcpEffect("call", "kinds", ...words, "maybe=12", ...server)
      assert.deepStrictEqual([typed.code, typed.err], [0, ""])
      assert.deepStrictEqual(JSON.parse(typed.out), { ...object, maybe: "12" })
      const json = yield* mcpEffect("call", "kinds", JSON.stringify(object), ...server)
      assert.deepStrictEqual(JSON.parse(json.out), object)
      const given = yield* fed(` ${JSON.stringify(object, null, 2)}\n`, "call", "kinds", "-", ...server)
      assert.deepStrictEqual(JSON.parse(given.out), object)
      const green = yield* mcpEffect("call", "kinds", "text=", "colour=green", ...server)
      assert.deepStrictEqual([green.code, green.err], [65, "colour must be one of red, blue\n"])
      const other = yield* mcpEffect("call", "名前", ...server)
      assert.deepStrictEqual([other.code, other.out], [0, "done\n"])
      assert.include((yield* mcpEffect("tools", ...server)).out, "名前     ファイル — a name in other letters\n")
    })
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

  it.live("U-61, U-67: a certificate that nobody vouches for is named, and NODE_EXTRA_CA_CERTS vouches for it", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.effectHttp
      const fs = yield* FileSystem.FileSystem
      const file = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped({ prefix: "mcp-cli-" }), "ca.pem")
      yield* fs.writeFileString(file, certificate)
      const url = yield* behindTls(target.url)
      const strange = yield* mcpEffect("probe", url)
      assert.deepStrictEqual([strange.code, strange.out], [69, ""])
      assert.match(strange.err, /^asked server\/discover, [^\n]*self-signed certificate[^\n]*\n$/)
      const known = yield* command(["probe", url], { env: { NODE_EXTRA_CA_CERTS: file } })
      assert.strictEqual(known.code, 0)
      assert.match(known.out, /^era {11}modern$/m)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
