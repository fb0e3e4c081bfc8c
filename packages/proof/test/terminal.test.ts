/**
 * The command at a terminal, as a person sees it.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Servers from "../servers/Servers.ts"
import { ctrlC, enter, terminal } from "./fixtures/terminal.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

describe("U-67: at a terminal", () => {
  it.live("explore picks a tool, asks for its arguments, shows the result and asks again; Ctrl-C leaves", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.officialStdio
      const at = yield* terminal(["explore", "--", target.command, ...target.args])
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
      const at = yield* terminal(["call", "count", "to=2", ...server])
      yield* at.sees(/"count" may destroy something/)
      yield* at.type("y")
      yield* at.sees(/^progress: 2 of 2\ncounted to 2$/m)
      assert.strictEqual(yield* at.code, 0)
      const no = yield* terminal(["call", "count", "to=2", ...server])
      yield* no.sees(/"count" may destroy something/)
      yield* no.type("n")
      assert.strictEqual(yield* no.code, 77)
      assert.notMatch(no.screen(), /progress/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("call asks the form of the server, and sends what was typed", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.officialStdio
      const at = yield* terminal(["call", "--yes", "ask", "question=Tea?", "--", target.command, ...target.args])
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
      const at = yield* terminal(["watch", target.url, "demo://hello"])
      yield* at.sees(/^watching .*demo:\/\/hello$/m)
      const other = yield* terminal(["call", "--yes", target.url, "announce"])
      assert.strictEqual(yield* other.code, 0)
      yield* at.sees(/^tools changed$/m)
      yield* at.sees(/^resource updated: demo:\/\/hello$/m)
      yield* at.type(ctrlC)
      assert.strictEqual(yield* at.code, 130)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
