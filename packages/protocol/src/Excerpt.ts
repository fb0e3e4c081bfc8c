/**
 * Text from outside, made fit for a message, a log line or a terminal: short, in one line, and without characters that
 * move a cursor, forge a line or turn the direction of what follows.
 *
 * @since 0.1.0
 */

/**
 * How much text from outside a message holds, in code points (U-05): 200.
 *
 * @category bounds
 * @since 0.1.0
 */
export const length = 200

// Controls, line and paragraph separators, and the marks that turn the direction of text around.
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/**
 * The beginning of a text: at most `codePoints`, what cannot be printed replaced by spaces. Long texts cost no more than
 * short ones.
 *
 * @category formatting
 * @since 0.1.0
 */
export const excerpt = (text: string, codePoints = length): string =>
  // One code unit more than twice the limit holds more code points than the limit, when there are that many.
  Array.from(text.slice(0, codePoints * 2 + 1))
    .slice(0, codePoints)
    .join("")
    .replace(unprintable, " ")
    .trim()

/**
 * The end of a text in the same form: the last words of a process matter more than its first.
 *
 * @category formatting
 * @since 0.1.0
 */
export const lastWords = (text: string, codePoints = length): string =>
  Array.from(text.slice(-(codePoints * 2 + 1)).trim())
    .slice(-codePoints)
    .join("")
    .replace(unprintable, " ")
