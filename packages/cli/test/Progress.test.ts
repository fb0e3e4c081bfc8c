import { assert, describe, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Terminal from "effect/Terminal"
import { TestConsole } from "effect/testing"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { AuthorizationFlow } from "@mcp-effect/client/AuthorizationFlow"
import { nobody } from "./fixtures/nobody.ts"
import * as Progress from "../src/Progress.ts"
import * as SignIn from "../src/SignIn.ts"

const steps = Effect.gen(function* () {
  yield* Progress.show("progress: 1 of 3, \u001b[2Jhalf\nway")
  yield* Progress.show(`progress: 2 of 3, ${"long ".repeat(50)}`)
  yield* Progress.leave
  yield* Console.error("something else")
  yield* Progress.leave
  yield* Progress.show("progress: 3 of 3")
  yield* Progress.leave
})

/** What goes to standard error past the console, and what the console is given. */
const written = <R>(isTerminal: boolean, steps: Effect.Effect<void, never, R>) =>
  Effect.gen(function* () {
    const parts: Array<string> = []
    const World = Layer.mergeAll(
      Stdio.layerTest({
        stderrIsTerminal: Effect.succeed(isTerminal),
        stderr: () => Sink.forEach((part) => Effect.sync(() => void parts.push(String(part))))
      }),
      Layer.succeed(Terminal.Terminal, nobody(40)),
      Layer.succeed(TerminalCapabilities, { canColor: false, canAnimate: true, canPrompt: false }),
      TestConsole.layer
    )
    return yield* Effect.gen(function* () {
      yield* steps
      return { parts, lines: yield* TestConsole.errorLines }
    }).pipe(Effect.provide(World))
  })

describe("U-67: progress", () => {
  it.effect(
    "at a terminal is one line that is written over and fits, and is left before something else is written",
    () =>
      Effect.gen(function* () {
        const over = "\r\u001b[2K"
        const { lines, parts } = yield* written(true, steps)
        assert.deepStrictEqual(parts, [
          `${over}progress: 1 of 3, \ufffd[2Jhalf way`,
          `${over}progress: 2 of 3, long long long long …`,
          "\n",
          `${over}progress: 3 of 3`,
          "\n"
        ])
        assert.deepStrictEqual(lines, ["something else"])
      })
  )

  it.effect("where standard error is no terminal is a line for each step, whole", () =>
    Effect.gen(function* () {
      const { lines, parts } = yield* written(false, steps)
      assert.deepStrictEqual(parts, [])
      assert.deepStrictEqual(lines, [
        "progress: 1 of 3, \ufffd[2Jhalf way",
        `progress: 2 of 3, ${"long ".repeat(50).trim()}`,
        "something else",
        "progress: 3 of 3"
      ])
    })
  )

  it.live("is left before somebody is asked whether to sign in", () =>
    Effect.gen(function* () {
      const asked = Effect.gen(function* () {
        yield* Progress.show("progress: 1 of 3")
        const { begin } = yield* AuthorizationFlow
        const issuer = "https://as.test"
        const { visit } = yield* begin({ issuer, redirectUris: undefined })
        yield* Effect.exit(visit({ address: new URL(issuer), issuer, isAnswer: () => true }))
      }).pipe(Effect.provide(SignIn.layerAsking), Effect.scoped, Effect.orDie)
      const { parts } = yield* written(true, asked)
      assert.deepStrictEqual(parts, ["\r\u001b[2Kprogress: 1 of 3", "\n"])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
