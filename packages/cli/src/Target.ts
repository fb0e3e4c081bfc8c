/**
 * What a person typed to name a server: a URL, or a command with its arguments after `--`.
 *
 * @since 0.1.0
 */

/**
 * The server to look into.
 *
 * @category models
 * @since 0.1.0
 */
export type Target = { readonly url: string } | { readonly command: readonly [string, ...Array<string>] }

/**
 * Reads the words of a command line. One word with a scheme (`https://…`) is a URL; anything else is a command.
 * `undefined` when there is no word at all.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (words: ReadonlyArray<string>): Target | undefined => {
  const [first, ...rest] = words
  if (first === undefined || first === "") return undefined
  return rest.length === 0 && /^[a-z][a-z0-9+.-]*:\/\//i.test(first) ? { url: first } : { command: [first, ...rest] }
}

/**
 * What the person may have meant, for a target that cannot be reached as it was typed: an address without its scheme, or
 * a command with its arguments in one word.
 *
 * @category accessors
 * @since 0.1.0
 */
export const correction = (target: Target): string | undefined => {
  if ("url" in target || target.command.length > 1) return undefined
  const [word] = target.command
  if (/^(localhost|[\w-]+(\.[\w-]+)+|\[[\da-f:]+\])(:\d+)?\//i.test(word) || /^[\w.-]+:\d+$/.test(word)) {
    return `Did you mean http://${word}?`
  }
  return /\s/.test(word) ? `Did you mean \`-- ${word}\`? Every argument is a word of its own.` : undefined
}
