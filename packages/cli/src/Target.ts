/**
 * What a person typed to name a server: a URL, a command with its arguments after `--`, or a name from a configuration.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Result from "effect/Result"
import * as Render from "./Render.ts"

/**
 * The server to look into.
 *
 * @category models
 * @since 0.1.0
 */
export type Target =
  | { readonly url: string }
  | { readonly command: readonly [string, ...Array<string>] }
  | { readonly name: string }

/**
 * The words after `--`: a command that starts a server. They are set apart before anything else is read, so its options
 * are never taken for ours.
 *
 * @category services
 * @since 0.1.0
 */
export const ServerCommand = Context.Reference<ReadonlyArray<string>>("@mcp-effect/cli/ServerCommand", {
  defaultValue: () => []
})

/**
 * Sets the words after the first `--` apart.
 *
 * @category constructors
 * @since 0.1.0
 */
export const split = (
  words: ReadonlyArray<string>
): readonly [own: ReadonlyArray<string>, command: ReadonlyArray<string>] => {
  const at = words.indexOf("--")
  return at === -1 ? [words, []] : [words.slice(0, at), words.slice(at + 1)]
}

/** What was typed, fit for a message. */
const shown = (word: string) => Render.clip(Render.oneLine(word), 80)

/**
 * Takes the server from the words of a command, and gives back the words that are left. Fails with what to write.
 *
 * @category constructors
 * @since 0.1.0
 */
export const take = (
  words: ReadonlyArray<string>,
  command: ReadonlyArray<string>,
  verb: string
): Result.Result<{ readonly target: Target; readonly rest: ReadonlyArray<string> }, string> => {
  const [program, ...args] = command
  if (program !== undefined && program !== "") {
    const [first] = words
    return first !== undefined && isUrl(first) && !takesAddresses.has(verb)
      ? Result.fail(`which server? Both ${shown(first)} and a command after \`--\` are given; give one`)
      : Result.succeed({ target: { command: [program, ...args] }, rest: words })
  }
  const [first, ...rest] = words
  if (first !== undefined && isUrl(first)) {
    const because = problemOf(first)
    return because === undefined
      ? Result.succeed({ target: { url: first }, rest })
      : Result.fail(`${shown(first)}: ${because}. ${order}`)
  }
  if (first === undefined || first === "") {
    return Result.fail(
      "which server? Give a URL, a command after `--`, or a name from a configuration:\n" +
        `  mcp-effect ${verb} https://example.com/mcp\n` +
        `  mcp-effect ${verb} -- npx -y @modelcontextprotocol/server-everything\n` +
        `  mcp-effect ${verb} --config mcp.json files`
    )
  }
  return Result.succeed({ target: { name: first }, rest })
}

const order = "The server comes first: its http or https URL, its name in a configuration, or a command after `--`"

/**
 * Why no server can be at an address; nothing when one can.
 *
 * @category accessors
 * @since 0.1.0
 */
export const problemOf = (address: string): string | undefined => {
  const url = URL.parse(address)
  if (url === null) return "this is no URL"
  return url.protocol === "http:" || url.protocol === "https:" ? undefined : "no server is behind such an address"
}

/** Commands whose words after the server are addresses themselves. */
const takesAddresses: ReadonlySet<string> = new Set(["read", "watch"])

/**
 * Whether a word is an address and no name.
 *
 * @category guards
 * @since 0.1.0
 */
export const isUrl = (word: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(word)

/**
 * Refuses words that a command has no use for.
 *
 * @category constructors
 * @since 0.1.0
 */
export const surplus = (rest: ReadonlyArray<string>): string | undefined =>
  rest[0] === undefined
    ? undefined
    : `${shown(rest[0])} is one word too many. A command that starts a server goes after \`--\``

/**
 * What the person may have meant, for a target that cannot be reached as it was typed: an address without its scheme, or
 * a command with its arguments in one word.
 *
 * @category accessors
 * @since 0.1.0
 */
export const correction = (target: Target): string | undefined => {
  if ("url" in target || ("command" in target && target.command.length > 1)) return undefined
  const word = "name" in target ? target.name : target.command[0]
  if (/^(localhost|[\w-]+(\.[\w-]+)+|\[[\da-f:]+\])(:\d+)?\//i.test(word) || /^[\w.-]+:\d+$/.test(word)) {
    return `Did you mean http://${shown(word)}?`
  }
  return /\s/.test(word) ? `Did you mean \`-- ${shown(word)}\`? Every argument is a word of its own.` : undefined
}
