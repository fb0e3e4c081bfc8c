/**
 * `mcp-effect explore` at a terminal: every kind of question, a yes and a no, and every way out.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { fileURLToPath } from "node:url"
import * as Servers from "../servers/Servers.ts"
import { ctrlC, down, enter, terminal, up } from "./fixtures/terminal.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

const kinds = ["--", process.execPath, fileURLToPath(new URL("fixtures/kinds.mjs", import.meta.url))]

describe("U-67: explore", () => {
  it.live(
    "asks before a tool that may destroy something: a no leads back to the tools, a yes calls it; (leave) ends it",
    () =>
      Effect.gen(function* () {
        const { target } = yield* Servers.officialStdio
        const at = yield* terminal(["explore", "--", target.command, ...target.args])
        yield* at.sees(/Which tool\?/)
        yield* at.type(`${down}${down}${enter}`)
        yield* at.sees(/to \(integer\) \*/)
        yield* at.type(`2${enter}`)
        yield* at.sees(/"count" may destroy something. Call it\?/)
        yield* at.type("n")
        yield* at.sees(/not done[^]*Which tool\?/)
        assert.notMatch(at.screen(), /progress/)
        yield* at.type(`${down}${down}${enter}`)
        yield* at.sees(/to \(integer\) \*[^]*to \(integer\) \*/)
        yield* at.type(`2${enter}`)
        yield* at.sees(/Call it\?[^]*Call it\?/)
        yield* at.type("y")
        yield* at.sees(/yes\nprogress: 2 of 2\ncounted to 2\n[^]*Which tool\?/)
        yield* at.type(`${up}${enter}`)
        assert.strictEqual(yield* at.code, 0)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("asks for each argument as its schema says, and refuses what does not fit before it goes on", () =>
    Effect.gen(function* () {
      const at = yield* terminal(["explore", ...kinds])
      yield* at.sees(/kinds - Repeats its arguments/)
      yield* at.type(enter)
      yield* at.sees(/text \(string: A line\) \*/)
      yield* at.type(`two words${enter}`)
      yield* at.sees(/number \(number\) ›/)
      yield* at.type(`many${enter}`)
      yield* at.sees(/number must be of type number/)
      yield* at.type(`\u0015-2.5${enter}`)
      yield* at.sees(/whole \(integer\) › 7/)
      yield* at.type(enter)
      yield* at.sees(/yes \(boolean\)[^]*true[^]*false[^]*\(nothing\)/)
      yield* at.type(`${up}${enter}`)
      yield* at.sees(/colour \(string\) \*[^]*red[^]*blue/)
      yield* at.type(`${down}${enter}`)
      yield* at.sees(/list \(array\)/)
      yield* at.type(`["a"]${enter}`)
      yield* at.sees(/bag \(object\)/)
      yield* at.type(enter)
      yield* at.sees(/maybe \(string or null\)/)
      yield* at.type(enter)
      yield* at.sees(
        /^\{"text":"two words","number":-2\.5,"whole":7,"yes":false,"colour":"blue","list":\["a"\],"maybe":null\}$/m
      )
      yield* at.sees(/Which tool\?[^]*Which tool\?/)
      yield* at.type(ctrlC)
      assert.strictEqual(yield* at.code, 130)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("leads back to the tools on Ctrl-C in the middle of a form, and ends a running call with the command", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const record = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "record")
      const at = yield* terminal(["explore", "--record", record, ...kinds])
      yield* at.sees(/Which tool\?/)
      yield* at.type(enter)
      yield* at.sees(/text \(string/)
      yield* at.type(`half${ctrlC}`)
      yield* at.sees(/\nnot called\n[^]*Which tool\?/)
      yield* at.type(`${down}${enter}`)
      yield* at.sees(/^progress: 1 of 2, half\ufffd\[31m way$/m)
      yield* at.type(ctrlC)
      assert.strictEqual(yield* at.code, 130)
      assert.match(yield* fs.readFileString(record), /"event":"interrupted",.*"id":4\}$/m)
      assert.notMatch(yield* fs.readFileString(record), /"tools\/call","params":\{"name":"kinds"/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live(
    "finds a tool among many by what is typed, asks a form with every kind of field, and checks each answer",
    () =>
      Effect.gen(function* () {
        const { target } = yield* Servers.everythingStdio
        const at = yield* terminal(["explore", "--", target.command, ...target.args], { columns: 160 })
        yield* at.sees(/type to filter/)
        yield* at.type("elicitation-request")
        yield* at.sees(/❯ trigger-elicitation-request/)
        yield* at.type(enter)
        yield* at.sees(/The server asks: [^]*Answer\?/)
        yield* at.type(enter)
        yield* at.sees(/String \(Your full, legal name\) \*/)
        yield* at.type(enter)
        yield* at.sees(/is missing/)
        yield* at.type(`Ada${enter}`)
        yield* at.sees(/\? Boolean/)
        yield* at.type("y")
        yield* at.sees(/\? String with default .*It was a dark and stormy night\./)
        yield* at.type(enter)
        yield* at.sees(/\? String with email format/)
        yield* at.type(`nobody${enter}`)
        yield* at.sees(/is not an e-?mail/i)
        yield* at.type(`\u0015a@example.com${enter}`)
        yield* at.sees(/\? String with uri format/)
        yield* at.type(enter)
        yield* at.sees(/\? String with date format/)
        yield* at.type(`2026-07-28${enter}`)
        yield* at.sees(/\? Integer/)
        yield* at.type(`\u001541.5${enter}`)
        yield* at.sees(/is not a whole number/)
        yield* at.type(`\u001541${enter}`)
        yield* at.sees(/\? Number in range 1-1000/)
        yield* at.type(`\u00155000${enter}`)
        yield* at.sees(/is more than 1000/)
        yield* at.type(`\u00153.5${enter}`)
        yield* at.sees(/\? Untitled Single Select/)
        yield* at.type(`${down}${enter}`)
        yield* at.sees(/\? Untitled Multiple Select/)
        yield* at.type(enter)
        yield* at.sees(/\? Titled Single Select/)
        yield* at.type(`${down}${enter}`)
        yield* at.sees(/\? Titled Multiple Select/)
        yield* at.type(`${down}${down}${down} ${enter}`)
        yield* at.sees(/\? Legacy Titled Single Select/)
        yield* at.type(enter)
        yield* at.sees(/Raw result: [^]*\? Which tool\?/)
        const said = /Raw result: ([^]*?)\n\? Which/.exec(at.screen())?.[1] ?? ""
        assert.deepInclude(JSON.parse(said).content, {
          name: "Ada",
          check: true,
          firstLine: "It was a dark and stormy night.",
          email: "a@example.com",
          birthdate: "2026-07-28",
          integer: 41,
          number: 3.5,
          untitledMultipleSelectEnum: ["Guitar"],
          titledMultipleSelectEnum: ["fish-1", "fish-2"]
        })
        yield* at.type(ctrlC)
        assert.strictEqual(yield* at.code, 130)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("asks which server, when a configuration names several", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "mcp.json")
      const [, command, ...args] = kinds
      const servers = { none: { command: "mcp-no-such-command" }, kinds: { command, args } }
      yield* fs.writeFileString(file, JSON.stringify({ mcpServers: servers }))
      const at = yield* terminal(["explore", "--config", file])
      yield* at.sees(/Which server\?[^]*none[^]*kinds/)
      yield* at.type(`${down}${enter}`)
      yield* at.sees(/Which tool\?/)
      yield* at.type(ctrlC)
      assert.strictEqual(yield* at.code, 130)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
