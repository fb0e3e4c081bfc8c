import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import { run } from "./fixtures/typed.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 60_000 })

const server = (kind: string) => ["--", process.execPath, `${import.meta.dirname}/fixtures/server.mjs`, kind]

describe("mcp-effect probe", () => {
  it.live("U-67: says of a server what it is, and lists its tools", () =>
    Effect.gen(function* () {
      const { code, err, out } = yield* run("probe", ...server("modern"))
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(out.split("\n").slice(1), [
        "transport     stdio",
        "era           modern",
        "version       2026-07-28",
        "identity      A Server 2.0",
        "capabilities  logging, tools",
        "round trips   1",
        "instructions  Be kind.",
        "",
        "tools (3)",
        "  echo     Says the text back",
        "  nothing",
        `  long     ${"word ".repeat(100).slice(0, 88)}…`
      ])
      assert.match(out, /^server {8}\S.*server\.mjs modern$/m)
      assert.match(err, /^note: MCP tool "bad" ignored: /)
    })
  )

  it.live("U-13, U-67: --explain shows each question, its answer and the rule", () =>
    Effect.gen(function* () {
      const { code, out } = yield* run("probe", "--explain", ...server("legacy"))
      assert.strictEqual(code, 0)
      assert.match(out, /^era {11}legacy$/m)
      assert.match(out, /^1\. asked server\/discover \(2026-07-28\), heard after .+: error -32601 "Method not found/m)
      assert.match(out, /^ {3}P13: INIT, because /m)
      assert.match(out, /^2\. asked initialize \(2025-11-25\), heard after .+: a result naming 2025-11-25$/m)
    })
  )

  it.live("U-01: --era modern never falls back, says so, and exits with 69", () =>
    Effect.gen(function* () {
      const { code, err, out } = yield* run("probe", "--era", "modern", "--explain", ...server("legacy"))
      assert.strictEqual(code, 69)
      assert.strictEqual(out, "")
      assert.include(err, "`--era modern` never falls back: use `--era auto`")
      assert.match(err, /^ {3}P13: FAIL\(ModernUnavailable\), because mode 'modern' never falls back$/m)
    })
  )

  it.live("U-52: a server that declares no tools is not asked for them", () =>
    Effect.gen(function* () {
      const { code, out } = yield* run("probe", ...server("bare"))
      assert.strictEqual(code, 0)
      assert.match(out, /^capabilities {2}prompts$/m)
      assert.match(out, /\n\ntools: not declared by the server$/)
    })
  )

  it.live("U-61: tools that are declared and cannot be listed are an error, after what is known", () =>
    Effect.gen(function* () {
      const { code, err, out } = yield* run("probe", ...server("mute"))
      assert.strictEqual(code, 76)
      assert.match(out, /^identity {6}a server 1\.0$/m)
      assert.include(err, "the server answered tools/list with error -32601: Method not found: tools/list")
    })
  )

  it.live(
    "T-SEC: nothing a hostile server says can move the cursor, change colours, turn text around or forge a line",
    () =>
      Effect.gen(function* () {
        const { code, err, out } = yield* run("probe", "--explain", ...server("hostile"))
        assert.strictEqual(code, 0)
        const printed = `${out}\n${err}`
        assert.match(printed, /evil.*\ufffd/)
        assert.match(err, /^note: skipped 1 line/m)
        // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
        assert.notMatch(
          printed,
          /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u
        )
        assert.deepStrictEqual(out.match(/^era .*$/gm), ["era           legacy"])
      })
  )
})

describe("what a person may get wrong", () => {
  it.live("U-67: no target says what to write, and exits with 64", () =>
    Effect.gen(function* () {
      const { code, err, out } = yield* run("probe")
      assert.strictEqual(code, 64)
      assert.strictEqual(out, "")
      assert.match(
        err,
        /^which server\? Give a URL, a command after `--`, or a name from a configuration:\n {2}mcp-effect probe https/
      )
    })
  )

  it.live("U-05: an address where nothing listens exits with 69, and is told once", () =>
    Effect.gen(function* () {
      const { code, err, out } = yield* run("probe", "http://127.0.0.1:9/mcp")
      assert.strictEqual(code, 69)
      assert.strictEqual(out, "")
      assert.strictEqual(
        err,
        "asked server/discover, the server was not reached: connect ECONNREFUSED 127.0.0.1:9. " +
          "Check that it runs, its address, the network and the certificate"
      )
    })
  )

  it.live("U-05: an HTTP status stands first, and what to change on a line of its own", () =>
    Effect.gen(function* () {
      const http = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const listening = createServer((_, response) => response.writeHead(403).end("go \u001b[31maway"))
          listening.listen(0, "127.0.0.1", () => resume(Effect.succeed(listening)))
        }),
        (listening) => Effect.sync(() => listening.close())
      )
      const address = http.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const { code, err } = yield* run("probe", `http://127.0.0.1:${port}/mcp`)
      assert.strictEqual(code, 69)
      const [status, advice, ...more] = err.split("\n")
      assert.strictEqual(status, "MCP: HTTP 403 go  [31maway")
      assert.match(`${advice}`, /^server\/discover was refused: .* use `--era legacy`/)
      assert.deepStrictEqual(more, [])
    })
  )

  it.live.each<readonly [word: string, advice: string]>([
    ["localhost:3000/mcp", "Did you mean http://localhost:3000/mcp?"],
    ["example.com:8080", "Did you mean http://example.com:8080?"],
    ["npx -y some-server", "Did you mean `-- npx -y some-server`? Every argument is a word of its own."],
    ["mcp-no-such-command", "Check the spelling, and that it is installed, on PATH and may be run"]
  ])("U-61: %s is answered with: %s", ([word, advice]) =>
    Effect.gen(function* () {
      const { code, err } = yield* run("probe", "--", word)
      assert.strictEqual(code, 69)
      assert.include(err, `\`${word}\``)
      assert.include(err, advice)
    })
  )

  it.live.each<readonly [words: ReadonlyArray<string>, because: string]>([
    [["probe", "ftp://example.com"], "ftp://example.com: no server is behind such an address. The server comes first"],
    [["read", "demo://hello", "http://127.0.0.1:9/mcp"], "demo://hello: no server is behind such an address"],
    [["probe", "http://"], "http://: this is no URL"]
  ])("U-67: %s starts nothing, exits with 64 and says: %s", ([words, because]) =>
    Effect.gen(function* () {
      const { code, err, out } = yield* run(...words)
      assert.deepStrictEqual([code, out], [64, ""])
      assert.include(err, because)
    })
  )
})
