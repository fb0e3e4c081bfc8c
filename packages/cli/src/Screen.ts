/**
 * What output is written on: how wide it is, whether lines are broken at words, and whether there are colours. A file or
 * a pipe is 100 columns wide for tables, its lines are not broken, and nothing on it has a colour.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Terminal from "effect/Terminal"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { styleText } from "node:util"

/**
 * How a piece of text looks where there are colours.
 *
 * @category models
 * @since 0.1.0
 */
export type Style = "bold" | "dim" | "green" | "red" | "yellow"

/**
 * What output is written on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Screen {
  /** Columns for tables: those of the terminal, from 40 to 160; 100 where there is no terminal. */
  readonly columns: number
  /** Where lines are broken; not at all where there is no terminal. */
  readonly breakAt: number
  readonly paint: (style: Style, text: string) => string
}

/**
 * A file or a pipe.
 *
 * @category constants
 * @since 0.1.0
 */
export const plain: Screen = { columns: 100, breakAt: Infinity, paint: (_, text) => text }

/**
 * What standard output is.
 *
 * @category accessors
 * @since 0.1.0
 */
export const screen = Effect.gen(function* () {
  const { canAnimate, canColor } = yield* TerminalCapabilities
  const paint: Screen["paint"] = canColor
    ? (style, text) => (text === "" ? "" : styleText(style, text, { validateStream: false }))
    : plain.paint
  if (!canAnimate) return { ...plain, paint }
  const columns = Math.min(160, Math.max(40, (yield* (yield* Terminal.Terminal).columns) || plain.columns))
  return { columns, breakAt: columns, paint }
})
