#!/usr/bin/env node
/**
 * The `mcp-effect` command.
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Command from "effect/cli/Command"
import { readFileSync } from "node:fs"
import { mcpEffect } from "./Commands.ts"

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

mcpEffect.pipe(
  Command.run({ version }),
  Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici]),
  Effect.provideService(References.LogToStderr, true),
  NodeRuntime.runMain
)
