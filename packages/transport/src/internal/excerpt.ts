/**
 * Short, safe pieces of what a server sent, for error messages and diagnostics.
 */

// Line separators and direction marks are no control characters by category, but they can forge a log line too.
const unsafe = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** The first code points of a text, control characters replaced by spaces. */
export const excerpt = (text: string, codePoints = 200): string =>
  Array.from(text.slice(0, 2 * codePoints))
    .slice(0, codePoints)
    .join("")
    .replace(unsafe, " ")
    .trim()

/** The last lines of a text, for an error message: at most ten, at most 2,000 characters. */
export const lastLines = (text: string): string => text.trimEnd().slice(-2_000).split("\n").slice(-10).join("\n")
