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
 * Reads the words of a command line. One word that is an `http` or `https` URL is a URL; anything else is a command.
 * `undefined` when there is no word at all.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (words: ReadonlyArray<string>): Target | undefined => {
  const [first, ...rest] = words
  if (first === undefined) return undefined
  return rest.length === 0 && /^https?:\/\//i.test(first) ? { url: first } : { command: [first, ...rest] }
}
