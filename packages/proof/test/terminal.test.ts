/**
 * The command at a terminal: a pseudo-terminal of `script` (util-linux), keys typed into it, and the screen that a
 * terminal emulator makes of the output.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import Xterm from "@xterm/headless"
import * as Servers from "../servers/Servers.ts"
import { bin } from "./fixtures/command.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

class NotSeen extends Data.TaggedError("NotSeen")<{ readonly wanted: RegExp; readonly screen: string }> {
  override get message() {
    return `${this.wanted} is not on the screen:\n${this.screen}`
  }
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

/** Starts the command at a terminal of 100 columns and 30 rows. */
const terminal = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner
  const keys = yield* Queue.unbounded<string>()
  const line = `stty cols 100 rows 30; exec ${[process.execPath, bin, ...words].map(quoted).join(" ")}`
  const child = yield* spawner.spawn(
    ChildProcess.make("script", ["-qefc", line, "/dev/null"], {
      env: { SHELL: "/bin/sh", TERM: "xterm-256color" },
      extendEnv: true,
      stdin: Stream.encodeText(Stream.fromQueue(keys)),
      forceKillAfter: "2 seconds"
    })
  )
  const emulator = new Xterm.Terminal({ allowProposedApi: true, cols: 100, rows: 30 })
  yield* Effect.addFinalizer(() => Effect.sync(() => emulator.dispose()))
  yield* child.stdout.pipe(
    Stream.runForEach((bytes) => Effect.callback<void>((resume) => emulator.write(bytes, () => resume(Effect.void)))),
    Effect.ignore,
    Effect.forkScoped
  )
  const screen = () => {
    const { active } = emulator.buffer
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? "")
      .join("\n")
      .trimEnd()
  }
  const sees = (wanted: RegExp) =>
    Effect.suspend(() =>
      wanted.test(screen()) ? Effect.void : Effect.fail(new NotSeen({ wanted, screen: screen() }))
    ).pipe(Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 600 }))
  return { screen, sees, type: (text: string) => Queue.offer(keys, text), code: Effect.map(child.exitCode, Number) }
})

const enter = "\r"
const ctrlC = "\u0003"

describe("U-67: at a terminal", () => {
  it.live("explore picks a tool, asks for its arguments, shows the result and asks again; Ctrl-C leaves", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.officialStdio
      const at = yield* terminal("explore", "--", target.command, ...target.args)
      yield* at.sees(/Which tool\?/)
      yield* at.type(enter)
      yield* at.sees(/text \(string\) \*/)
      yield* at.type(`good morning${enter}`)
      yield* at.sees(/^good morning$/m)
      yield* at.sees(/Which tool\?[^]*Which tool\?/)
      yield* at.type(ctrlC)
      assert.strictEqual(yield* at.code, 130)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("call asks before it calls, shows progress, and then the result; a no ends it with 77", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.officialStdio
      const server = ["--", target.command, ...target.args]
      const at = yield* terminal("call", "count", "to=2", ...server)
      yield* at.sees(/"count" may destroy something/)
      yield* at.type("y")
      yield* at.sees(/progress: 1 of 2\nprogress: 2 of 2\n/)
      assert.strictEqual(yield* at.code, 0)
      const no = yield* terminal("call", "count", "to=2", ...server)
      yield* no.sees(/"count" may destroy something/)
      yield* no.type("n")
      assert.strictEqual(yield* no.code, 77)
      assert.notMatch(no.screen(), /progress/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("call asks the form of the server, and sends what was typed", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.officialStdio
      const at = yield* terminal("call", "--yes", "ask", "question=Tea?", "--", target.command, ...target.args)
      yield* at.sees(/The server asks: Tea\?/)
      yield* at.sees(/Answer\?/)
      yield* at.type(enter)
      yield* at.sees(/answer/)
      yield* at.type(`please${enter}`)
      assert.strictEqual(yield* at.code, 0)
      assert.match(at.screen(), /please\n?$/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("watch shows a change when it happens, and Ctrl-C ends it with 130", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.officialHttp
      const at = yield* terminal("watch", target.url, "demo://hello")
      yield* at.sees(/^watching .*demo:\/\/hello$/m)
      const other = yield* terminal("call", "--yes", target.url, "announce")
      assert.strictEqual(yield* other.code, 0)
      yield* at.sees(/^tools changed$/m)
      yield* at.sees(/^resource updated: demo:\/\/hello$/m)
      yield* at.type(ctrlC)
      assert.strictEqual(yield* at.code, 130)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
