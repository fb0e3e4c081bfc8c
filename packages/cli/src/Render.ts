/**
 * Text for a terminal. Everything a server says is untrusted: control characters are replaced, so no server can move
 * the cursor, change colours or rewrite a line.
 *
 * @since 0.1.0
 */
import type * as Tool from "@mcp-effect/protocol/Tool"

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
 * The same for text of several lines that this program has put together: line breaks and indentation stay.
 *
 * @category formatting
 * @since 0.1.0
 */
export const lines = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.replaceAll(unprintable, "\ufffd"))
    .join("\n")

/**
 * Cut to a width, with an ellipsis when something is missing.
 *
 * @category formatting
 * @since 0.1.0
 */
export const clip = (text: string, width: number): string => {
  const points = [...text]
  return points.length > width ? `${points.slice(0, width - 1).join("")}…` : text
}

/**
 * Facts as two columns: a name and what it is. Facts that are not there are left out.
 *
 * @category formatting
 * @since 0.1.0
 */
export const facts = (rows: ReadonlyArray<readonly [name: string, value: string | undefined]>): string => {
  const known = rows.filter((row): row is readonly [string, string] => row[1] !== undefined && row[1] !== "")
  const width = Math.max(...known.map(([name]) => name.length))
  return known.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value)}`).join("\n")
}

/**
 * Tools, one per line: name and what it says it does.
 *
 * @category formatting
 * @since 0.1.0
 */
export const tools = (list: ReadonlyArray<Tool.Tool>, width: number): string => {
  const named = list.map(
    (tool) => [clip(oneLine(tool.name), 40), oneLine(tool.description ?? tool.title ?? "")] as const
  )
  const column = Math.max(0, ...named.map(([name]) => name.length))
  return named
    .map(([name, does]) => `  ${name.padEnd(column)}  ${clip(does, Math.max(20, width - column - 4))}`.trimEnd())
    .join("\n")
}

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

/**
 * Names with what they are, one per line.
 *
 * @category formatting
 * @since 0.1.0
 */
export const list = (
  rows: ReadonlyArray<{ readonly name: string; readonly description?: string | undefined }>,
  width: number
): string => {
  const named = rows.map(({ description = "", name }) => [clip(oneLine(name), 80), oneLine(description)] as const)
  const column = Math.min(40, Math.max(0, ...named.map(([name]) => name.length)))
  return named
    .map(([name, does]) => `${name.padEnd(column)}  ${clip(does, Math.max(20, width - column - 2))}`.trimEnd())
    .join("\n")
}
