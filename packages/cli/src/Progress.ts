/**
 * Progress of a call, on standard error: at a terminal one line that is written over, elsewhere a line for each step.
 *
 * @since 0.1.0
 */
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Render from "./Render.ts"
import { screen } from "./Screen.ts"

/** How to leave the line that the cursor stands behind, while there is one that may be written over. */
const Line = Context.Reference<{ end: Effect.Effect<void> }>("@mcp-effect/cli/Progress/Line", {
  defaultValue: () => ({ end: Effect.void })
})

/**
 * Shows how far it is.
 *
 * @category formatting
 * @since 0.1.0
 */
export const show = Effect.fnUntraced(function* (text: string) {
  const line = Render.oneLine(text)
  const { breakAt } = yield* screen
  const stdio = yield* Stdio.Stdio
  if (!Number.isFinite(breakAt) || !(yield* stdio.stderrIsTerminal)) return yield* Console.error(line)
  const write = (part: string) => Effect.ignore(Stream.run(Stream.succeed(part), stdio.stderr({ endOnDone: false })))
  const at = yield* Line
  at.end = write("\n")
  // To the first column, and away with what stands there.
  yield* write(`\r\u001b[2K${Render.clip(line, breakAt - 1)}`)
})

/**
 * Leaves the line of the progress, so that something else can be written.
 *
 * @category formatting
 * @since 0.1.0
 */
export const leave = Effect.gen(function* () {
  const at = yield* Line
  const { end } = at
  at.end = Effect.void
  yield* end
})
