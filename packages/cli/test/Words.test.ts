/**
 * Any words at all: the command is run in this process with a server behind one address, no files, no processes, and a
 * terminal whose person leaves every question.
 */
import * as NodePath from "@effect/platform-node/NodePath"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as HttpClient from "effect/http/HttpClient"
import { HttpClientError, TransportError } from "effect/http/HttpClientError"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as PlatformError from "effect/PlatformError"
import { ChildProcessSpawner, make as makeSpawner } from "effect/process/ChildProcessSpawner"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Terminal from "effect/Terminal"
import { TestClock, TestConsole } from "effect/testing"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import * as Commands from "../src/Commands.ts"
import * as ExitCode from "../src/ExitCode.ts"
import { nobody } from "./fixtures/nobody.ts"

const url = "http://peer.test/mcp"
const tools = [
  { name: "echo", inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
  { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }
]
const about = { resultType: "complete", ttlMs: 0, cacheScope: "private" }
const answers: { readonly [method: string]: object } = {
  "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {}, prompts: {}, completions: {} } },
  "tools/list": { tools },
  "tools/call": { content: [{ type: "text", text: "done" }] },
  "prompts/list": { prompts: [{ name: "greet" }] },
  "prompts/get": { messages: [{ role: "user", content: { type: "text", text: "hello" } }] },
  "completion/complete": { completion: { values: ["Ada"] } }
}

/** An older server, which takes 45 seconds to answer the handshake. */
const slow = (request: HttpClientRequest, method: string, id: unknown) => {
  if (method !== "initialize") {
    const status = method === "notifications/initialized" ? 202 : 404
    return Effect.succeed(HttpClientResponse.fromWeb(request, new Response("", { status })))
  }
  const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "slow", version: "1" } }
  const answer = Response.json({ jsonrpc: "2.0", id, result })
  return Effect.delay(Effect.succeed(HttpClientResponse.fromWeb(request, answer)), "45 seconds")
}

const peer = HttpClient.make((request, address) => {
  if (address.host === "slow.test" && request.body._tag === "Uint8Array") {
    const { id, method } = JSON.parse(new TextDecoder().decode(request.body.body))
    return slow(request, method, id)
  }
  if (address.host !== "peer.test" || request.body._tag !== "Uint8Array") {
    return Effect.fail(new HttpClientError({ reason: new TransportError({ request, description: "nobody is there" }) }))
  }
  const { id, method } = JSON.parse(new TextDecoder().decode(request.body.body))
  const result = answers[method]
  const error = { code: -32601, message: "Method not found" }
  const body = { jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result: { ...about, ...result } }) }
  const headers = { "content-type": "application/json" }
  return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(JSON.stringify(body), { headers })))
})

const absent = PlatformError.systemError({ _tag: "NotFound", module: "ChildProcess", method: "spawn" })

const World = Layer.mergeAll(
  FileSystem.layerNoop({}),
  NodePath.layer,
  Stdio.layerTest({}),
  Layer.succeed(HttpClient.HttpClient, peer),
  Layer.succeed(
    ChildProcessSpawner,
    makeSpawner(() => Effect.fail(absent))
  ),
  Layer.succeed(Terminal.Terminal, nobody(0)),
  Layer.succeed(TerminalCapabilities, { canColor: false, canAnimate: false, canPrompt: true }),
  EraMemory.layerInProcess,
  TestConsole.layer
)

const run = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(Commands.run("0.0.0")(words))
    let code = -1
    Runtime.defaultTeardown(exit, (given) => {
      code = given
    })
    const out = (yield* TestConsole.logLines).join("\n")
    return { exit, code, out, err: (yield* TestConsole.errorLines).join("\n") }
  }).pipe(Effect.provide(World))

const verbs = "probe tools call resources read prompts prompt complete ping explore servers config auth"
const known = [
  ...`${verbs} check convert login status logout echo look greet - -- = n=1 n=x who=A {"n":1} { [] -h --help`.split(
    " "
  ),
  ...`--era auto modern legacy --pin 2026-07-28 2025-06-18 --header A:b --timeout 5 0 -1 NaN --json --yes`.split(" "),
  ...`--explain --save --prior --record --config --to servers --no-json --version -v --log-level debug`.split(" "),
  ...`--completions bash --wizard --unknown -x resource ${url} http://nobody.test/ ftp://x http:// :// localhost:1/`.split(
    " "
  ),
  "",
  " ",
  "\u0000",
  "\u001b[2J",
  "--header=",
  "名前",
  "__proto__",
  "constructor=1",
  "x".repeat(10_000)
]

const Word = Arbitrary.schema(Schema.Union([Schema.Literals(known), Schema.Literals(known), Schema.String]))
const Verb = Arbitrary.schema(Schema.Literals(verbs.split(" ")))
const Words = Arbitrary.array(Word, { maxLength: 8 })
const codes = new Set<number>(ExitCode.table.map(({ code }) => code))

/** What has to be so, whatever was typed. */
const sound = (words: ReadonlyArray<string>) =>
  Effect.map(run(words), ({ code, err, exit, out }) => {
    const typed = JSON.stringify(words.map((word) => word.slice(0, 80)))
    assert.isTrue(codes.has(code), `${typed} exits with ${code}`)
    assert.notStrictEqual(code, ExitCode.codeOf("internal"), `${typed}: ${err}`)
    assert.isTrue(Exit.isSuccess(exit) || !Cause.hasDies(exit.cause), typed)
    if (code !== 0 && code !== ExitCode.codeOf("interrupted")) assert.isAbove(`${out}${err}`.trim().length, 5, typed)
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    assert.notMatch(out + err, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/, typed)
    for (const line of err.split("\n")) assert.isBelow(line.length, 20_000, typed)
  })

describe("U-67: any words at all", () => {
  it.effect.prop("end with a code of the table and a message, never with a fault", [Words], ([words]) => sound(words), {
    arbitrary: { runs: 300 },
    timeout: 120_000
  })

  it.effect.prop(
    "after a command and a server that is there end the same way",
    [Verb, Words],
    ([verb, words]) => sound([verb, url, ...words]),
    { arbitrary: { runs: 300 }, timeout: 120_000 }
  )

  it.effect("can lead to every kind of end here", () =>
    Effect.gen(function* () {
      const rows: ReadonlyArray<readonly [words: ReadonlyArray<string>, exit: ExitCode.Name]> = [
        [["call", url, "look"], "done"],
        [["probe"], "usage"],
        [["call", url, "echo", "n=x"], "input"],
        [["probe", "http://nobody.test/"], "unreachable"],
        [["probe", url, "--save", "x"], "output"],
        [["read", url, "x:y"], "refused"],
        [["call", url, "echo", "n=1", "--json"], "denied"],
        [["servers", "--config", "x"], "configuration"],
        [["call", url, "echo", "n=1"], "interrupted"]
      ]
      for (const [words, exit] of rows) {
        const { code } = yield* run(words)
        assert.strictEqual(code, ExitCode.codeOf(exit), words.join(" "))
      }
    })
  )
})

describe("U-67: --timeout", () => {
  const probed = (...options: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(run(["probe", "http://slow.test/mcp", ...options]))
      yield* TestClock.adjust("50 seconds")
      return yield* Fiber.join(running)
    })

  it.effect("is for the handshake too: without it a slow one is given up after 30 seconds, with that advice", () =>
    Effect.gen(function* () {
      const { code, err } = yield* probed()
      assert.strictEqual(code, ExitCode.codeOf("unreachable"))
      assert.include(err, "raise `--timeout` for one that starts slowly")
      const patient = yield* probed("--timeout", "60")
      assert.strictEqual(patient.code, 0)
      assert.match(patient.out, /^identity {6}slow 1$/m)
    })
  )
})
