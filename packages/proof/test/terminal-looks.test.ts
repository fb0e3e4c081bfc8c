/**
 * How the output of the command looks on a narrow and on a wide terminal: broken at words, aligned, and in colours unless
 * they are not wanted.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { fileURLToPath } from "node:url"
import * as Servers from "../servers/Servers.ts"
import { ctrlC, terminal } from "./fixtures/terminal.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

const kinds = [process.execPath, fileURLToPath(new URL("fixtures/kinds.mjs", import.meta.url))] as const

describe("U-67: on a terminal", () => {
  it.live.each([60, 120])(
    "of %d columns nothing is torn apart, and every column of a table stands straight",
    (columns) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-cli-" })
        const file = (yield* Path.Path).join(folder, "mcp.json")
        const everything = yield* Servers.everythingHttp
        const [command, ...args] = kinds
        const servers = {
          one: { command, args },
          名前: { url: everything.target.url },
          gone: { url: "http://127.0.0.1:9/mcp" },
          off: { command: "x", disabled: true }
        }
        yield* fs.writeFileString(file, JSON.stringify({ mcpServers: { ...servers, wrong: { args: 1 } } }))
        const runs: ReadonlyArray<readonly [words: ReadonlyArray<string>, code: number, seen: ReadonlyArray<RegExp>]> =
          [
            [
              ["probe", "--explain", everything.target.url],
              0,
              [
                /^capabilities {2}completions, logging, prompts, resources,( tasks, tools|\n {14}tasks, tools)$/m,
                /^instructions {2}# Everything Server [^\n]*\n {14}\S/m,
                /^1\. asked server\/discover \(2026-07-28\), heard after \d+ms:/m,
                /^ {3}P14: INIT, because the fallback must not hang on/m,
                /^tools \(15\)\n {2}echo {2,}Echoes back the input string\n/m
              ]
            ],
            [["tools", everything.target.url], 0, [/^get-env {2,}Returns all environment var/m, /…$/m]],
            [
              ["resources", everything.target.url],
              0,
              [/^demo:\/\/resource\/static\/document\/how-it-works\.md(\n {4}| {2})Static document file exposed from/m]
            ],
            [
              ["servers", "--config", file],
              78,
              [
                /^one {3}ready, 2025-11-25, 5 tools\n名前 {2}ready, 2025-11-25, 13 tools\ngone {2}failed\n {4}asked/m,
                /^off {3}disabled$/m,
                /server\s+"wrong",\s+mcpServers\.wrong:/
              ]
            ],
            [
              ["config", "check", file],
              78,
              [/^wrong: line\s+1,\s+column/m, /4\s+servers\s+can\s+be\s+read,\s+1\s+problem$/]
            ],
            [["ping", "http://127.0.0.1:9/mcp"], 69, [/ECONNREFUSED/]]
          ]
        yield* Effect.forEach(
          runs,
          Effect.fnUntraced(function* ([words, code, seen]) {
            const at = yield* terminal(words, { columns })
            assert.strictEqual(yield* at.code, code)
            for (const wanted of seen) assert.match(at.screen(), wanted)
            assert.deepStrictEqual(at.torn(), [], words.join(" "))
          }),
          { concurrency: 2 }
        )
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("names are bold, states are in colours, and with NO_COLOR nothing is", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped({ prefix: "mcp-cli-" }), "mcp.json")
      const [command, ...args] = kinds
      const servers = { one: { command, args }, gone: { url: "http://127.0.0.1:9/mcp" } }
      yield* fs.writeFileString(file, JSON.stringify({ mcpServers: servers }))
      const painted = Effect.fnUntraced(function* (
        words: ReadonlyArray<string>,
        env: Readonly<Record<string, string>>
      ) {
        const at = yield* terminal(words, { env })
        yield* at.code
        return at.painted()
      })
      const shown = ["servers", "--config", file]
      assert.deepStrictEqual(yield* painted(shown, {}), ["one", "ready", "gone", "failed"])
      assert.includeMembers(yield* painted(["probe", "--", ...kinds], {}), ["era", "tools", "kinds", "wait", "名前"])
      assert.deepStrictEqual(yield* painted(shown, { NO_COLOR: "1" }), [])
      assert.deepStrictEqual(yield* painted(["probe", "--", ...kinds], { NO_COLOR: "1" }), [])
      assert.deepStrictEqual(yield* painted(["--help"], { NO_COLOR: "1" }), [])
      const asking = yield* terminal(["explore", "--", ...kinds], { env: { NO_COLOR: "1" } })
      yield* asking.sees(/❯ kinds - Repeats its arguments/)
      assert.deepStrictEqual(asking.painted(), [])
      yield* asking.type(ctrlC)
      assert.strictEqual(yield* asking.code, 130)
      // What comes after the command does not stand behind its last line.
      assert.match(asking.screen(), /\(leave\)$/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("progress and what is watched stand in lines of their own while they happen", () =>
    Effect.gen(function* () {
      const call = yield* terminal(["call", "wait", "--", ...kinds], { columns: 60 })
      yield* call.sees(/^progress: 1 of 2, half\ufffd\[31m way$/m)
      yield* call.type(ctrlC)
      assert.strictEqual(yield* call.code, 130)
      const steps = yield* terminal(["call", "steps", "--", ...kinds], { columns: 60 })
      assert.strictEqual(yield* steps.code, 0)
      // One line is written over; the note leaves it as it is, whichever step it comes after.
      const note = "note: skipped 1 line[^]*?noise\\n"
      const before = `(progress: (1, a long[^\\n]*…|2, nearly)\\n)?${note}progress: 3\\n`
      assert.match(steps.screen(), new RegExp(`^(${before}|progress: 3\\n${note})done$`))
      assert.deepStrictEqual(steps.torn(), [])
      const watch = yield* terminal(["watch", "demo://a", "--", ...kinds], { columns: 60 })
      yield* watch.sees(/^warning here: \{"level":"debug","evil":"\\u001b\[2J"\}$/m)
      yield* watch.sees(/^watching tools, resources, demo:\/\/a$/m)
      yield* watch.sees(/^not watching prompts: the server/m)
      yield* watch.sees(/^tools changed$/m)
      yield* watch.sees(/^resource updated: demo:\/\/a$/m)
      assert.deepStrictEqual(watch.torn(), [])
      yield* watch.type(ctrlC)
      assert.strictEqual(yield* watch.code, 130)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
