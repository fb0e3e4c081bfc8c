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
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { readFileSync } from "node:fs"
import { run } from "./Commands.ts"

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

// A reader that has seen enough, such as `head`, ends the command without a word.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0)
})

run(version)(process.argv.slice(2)).pipe(
  Effect.provide(NodeServices.layer),
  Effect.provideService(References.LogToStderr, true),
  // Colours are for terminals, whatever `FORCE_COLOR` says.
  Effect.updateService(TerminalCapabilities, (it) => ({ ...it, canColor: it.canColor && process.stdout.isTTY })),
  NodeRuntime.runMain
)
