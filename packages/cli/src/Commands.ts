/**
 * The command tree of `mcp-effect`.
 *
 * @since 0.1.0
 */
import * as Command from "effect/cli/Command"
import { probe } from "./Probe.ts"

/**
 * The root command. Run it with `Command.run`, or with `Command.runWith` where the arguments are given.
 *
 * @category commands
 * @since 0.1.0
 */
export const mcpEffect = Command.make("mcp-effect").pipe(
  Command.withDescription("Look into Model Context Protocol servers of any era"),
  Command.withSubcommands([probe])
)
