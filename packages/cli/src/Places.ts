/**
 * Where the command keeps and finds files: tokens, configurations, saved verdicts.
 *
 * @since 0.1.0
 */
import * as ConfigurationFile from "@mcp-effect/host/ConfigurationFile"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import { homedir } from "node:os"
import { CommandFailed } from "./ExitCode.ts"
import * as Render from "./Render.ts"

/**
 * The file of tokens: `tokens.json` in `MCP_EFFECT_HOME`, else in `mcp-effect` under `XDG_CONFIG_HOME` or `~/.config`.
 *
 * @category places
 * @since 0.1.0
 */
export const tokens = Effect.map(Path.Path, (path) => {
  const { MCP_EFFECT_HOME: own, XDG_CONFIG_HOME: config } = process.env
  const folder = own || path.join(config || path.join(homedir(), ".config"), "mcp-effect")
  return path.join(folder, "tokens.json")
})

/**
 * Where a configuration is looked for in the working folder, in this order.
 *
 * @category places
 * @since 0.1.0
 */
export const configurations = [".mcp.json", "mcp.json", ".vscode/mcp.json"] as const

/**
 * The file a configuration is in: the one that was named, else the first that is there.
 *
 * @category places
 * @since 0.1.0
 */
export const configurationFile = Effect.fnUntraced(function* (named: Option.Option<string>) {
  if (Option.isSome(named)) return named.value
  const fs = yield* FileSystem.FileSystem
  for (const path of configurations) {
    if (yield* Effect.orElseSucceed(fs.exists(path), () => false)) return path
  }
  return yield* new CommandFailed({
    exit: "usage",
    because: `there is no configuration: none of ${configurations.join(", ")} is here. Name one with --config FILE`
  })
})

/**
 * The configuration.
 *
 * @category reading
 * @since 0.1.0
 */
export const configuration = Effect.fnUntraced(function* (
  named: Option.Option<string>,
  options: ConfigurationFile.LoadOptions = {}
) {
  const path = yield* configurationFile(named)
  const read = yield* Effect.mapError(
    ConfigurationFile.load(path, options),
    ({ message }) => new CommandFailed({ exit: "configuration", because: Render.oneLine(message) })
  )
  return { path: Render.oneLine(path), configuration: read }
})

/**
 * Why a file could not be read or written.
 *
 * @category formatting
 * @since 0.1.0
 */
export const because = (path: string, error: PlatformError): string =>
  Render.oneLine(`${path}: ${ConfigurationFile.because(error)}`)

/**
 * A file that could not be written.
 *
 * @category constructors
 * @since 0.1.0
 */
export const unwritten = (path: string) => (error: PlatformError) =>
  new CommandFailed({ exit: "output", because: because(path, error) })

/**
 * A file of JSON.
 *
 * @category reading
 * @since 0.1.0
 */
export const json = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const failed = (because: string) => new CommandFailed({ exit: "input", because })
  const text = yield* Effect.mapError(fs.readFileString(path), (error) => failed(because(path, error)))
  return yield* Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => failed(`${Render.oneLine(path)}: it is not JSON`)
  })
})
