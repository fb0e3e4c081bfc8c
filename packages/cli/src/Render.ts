/**
 * Text for a terminal. Everything a server says is untrusted: control characters are replaced, so no server can move
 * the cursor, change colours or rewrite a line.
 *
 * @since 0.1.0
 */
import { displayWidth } from "effect/cli/CliOutput"
import type { Screen } from "./Screen.ts"

/**
 * What must not reach a terminal: controls, marks that turn the direction of text around, line and paragraph
 * separators, and characters that nobody sees (tags, a byte order mark, word joiners).
 */
const unprintable = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u200b\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu

/**
 * One line of text from outside, safe to print: white space becomes single spaces, what could harm becomes `\ufffd`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll(unprintable, "\ufffd").trim()

/**
 * The same for text of several lines: line breaks, tabs and indentation stay, and line ends of Windows become plain ones.
 *
 * @category formatting
 * @since 0.1.0
 */
export const lines = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => line.replaceAll(unprintable, (found) => (found === "\t" ? found : "\ufffd")))
    .join("\n")

/**
 * Columns that a line takes. Most text is ASCII, and measured at once.
 *
 * @category formatting
 * @since 0.1.0
 */
export const wide = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : displayWidth(text))

/**
 * Cut to a width in columns, with an ellipsis when something is missing.
 *
 * @category formatting
 * @since 0.1.0
 */
export const clip = (text: string, width: number): string => {
  // A character of no width is rare: eight of them for each column are too many.
  if (text.length <= 8 * width && wide(text) <= width) return text
  let kept = ""
  let columns = 0
  for (const point of text) {
    columns += wide(point)
    if (columns >= width) break
    kept += point
  }
  return `${kept}…`
}

/**
 * Filled up with spaces to a width in columns.
 *
 * @category formatting
 * @since 0.1.0
 */
export const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - wide(text)))

/**
 * Breaks one line at its spaces; every line after the first is indented. A word that does not fit stays whole, so that
 * addresses can be copied.
 *
 * @category formatting
 * @since 0.1.0
 */
export const broken = (line: string, width: number, indent = 0): string => {
  if (line.length <= width && wide(line) <= width) return line
  const margin = /^ */.exec(line)?.[0] ?? ""
  const rows: Array<string> = []
  let row = margin
  let used = margin.length
  let empty = true
  for (const word of line.slice(margin.length).split(" ")) {
    const size = wide(word)
    if (!empty && used + 1 + size > width) {
      rows.push(row)
      row = " ".repeat(indent) + word
      used = indent + size
    } else {
      row += empty ? word : ` ${word}`
      used += size + (empty ? 0 : 1)
    }
    empty = false
  }
  return [...rows, row].join("\n")
}

/**
 * Breaks every line of a text that this program has put together. Lines that go on are indented by three more.
 *
 * @category formatting
 * @since 0.1.0
 */
export const fitted = (text: string, { breakAt }: Pick<Screen, "breakAt">): string =>
  text
    .split("\n")
    .map((line) => broken(line, breakAt, (/^ */.exec(line)?.[0].length ?? 0) + 3))
    .join("\n")

/**
 * Facts as two columns: a name and what it is. Facts that are not there are left out.
 *
 * @category formatting
 * @since 0.1.0
 */
export const facts = (rows: ReadonlyArray<readonly [name: string, value: string | undefined]>, on: Screen): string => {
  const known = rows.filter((row): row is readonly [string, string] => row[1] !== undefined && row[1] !== "")
  const column = Math.max(...known.map(([name]) => name.length)) + 2
  return known
    .map(([name, value]) => {
      const text = broken(`${name.padEnd(column)}${oneLine(value)}`, on.breakAt, column)
      return `${on.paint("dim", name)}${text.slice(name.length)}`
    })
    .join("\n")
}

/**
 * A name and what it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
}

/**
 * Names with what they are, one per line, indented. Names stay whole, so that they can be copied; what they are is cut to
 * the width, and stands on a line of its own under a name that takes more than half of it.
 *
 * @category formatting
 * @since 0.1.0
 */
export const list = (rows: ReadonlyArray<Row>, on: Screen, indent = 0): string => {
  const named = rows.map(
    ({ description, name, title }) => [clip(oneLine(name), 500), oneLine(description ?? title ?? "")] as const
  )
  const half = Math.floor(on.columns / 2) - indent
  const column = Math.max(0, ...named.map(([name]) => wide(name)).filter((width) => width <= half))
  const margin = " ".repeat(indent)
  return named
    .map(([name, does]) => {
      const bold = margin + on.paint("bold", name)
      if (does === "") return bold
      return wide(name) > half
        ? `${bold}\n${margin}    ${clip(does, on.columns - indent - 4)}`
        : `${bold}${pad(name, column).slice(name.length)}  ${clip(does, on.columns - indent - column - 2)}`
    })
    .join("\n")
}

/**
 * A number of things, in words: `1 tool`, `2 tools`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? "" : "s"}`

/**
 * A value as JSON that is safe to print: what could harm a terminal is written as an escape, which JSON reads back as the
 * same character.
 *
 * @category formatting
 * @since 0.1.0
 */
export const json = (value: unknown, indent = 2): string =>
  JSON.stringify(value, null, indent)
    .split("\n")
    .map((line) =>
      line.replaceAll(unprintable, (found) =>
        [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")
      )
    )
    .join("\n")
