#!/usr/bin/env node
/**
 * The `mcp-effect` command.
 *
 * @since 0.1.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Runtime from "effect/Runtime"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { readFileSync } from "node:fs"
import { run } from "./Commands.ts"
import * as ExitCode from "./ExitCode.ts"

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

let ending: number | undefined

/** Ends the command as Ctrl-C does, so that servers are stopped too, but with a code of its own. */
const end = (code: number) => {
  if (ending !== undefined) return
  ending = code
  process.exitCode = code
  process.emit("SIGTERM")
}

const lost = (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as `head`, ends the command without a word.
  if (error.code === "EPIPE") return end(0)
  if (ending === undefined) process.stderr.write(`the output cannot be written: ${error.code ?? error.message}\n`)
  end(ExitCode.codeOf("output"))
}
process.stdout.on("error", lost)
process.stderr.on("error", lost)
process.once("SIGHUP", () => end(ExitCode.codeOf("hungUp")))

run(version)(process.argv.slice(2)).pipe(
  Effect.provide(NodeServices.layer),
  Effect.provideService(References.LogToStderr, true),
  // Colours are for terminals, whatever `FORCE_COLOR` says.
  Effect.updateService(TerminalCapabilities, (it) => ({ ...it, canColor: it.canColor && process.stdout.isTTY })),
  NodeRuntime.runMain({
    teardown: (exit, onExit) =>
      Runtime.defaultTeardown(exit, (code) => {
        // Written last and answered last: what was printed before has left.
        process.stdout.write("", () => onExit(ending ?? code))
      })
  })
)
