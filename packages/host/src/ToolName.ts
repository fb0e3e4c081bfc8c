/**
 * The names under which a language model sees the tools of many servers (T-TOOL-5).
 *
 * A name is a pure function of the server's name and the tool's, so it is the same in each run and in each order of
 * starting. It has at most 64 characters of `[a-zA-Z0-9_-]`, which is what the narrowest model interfaces take.
 *
 * Plain names stay readable: `files__read_file`. What is too long or has other characters is cut, and ends in twelve
 * digits of a SHA-256 over both full names. The two kinds never meet: a plain name holds `__` once, a cut one twice.
 *
 * @since 0.1.0
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

/**
 * The longest name, in characters. 64.
 *
 * @category bounds
 * @since 0.1.0
 */
export const maxLength = 64

// No `_` at an end and no two in a row, so that the one `__` in a plain name is where the two parts meet.
const plain = /^[a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*$/

const digits = 12

const shorten = (text: string, length: number): string =>
  text
    .normalize("NFKD")
    .replaceAll(/[^a-zA-Z0-9-]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .slice(0, length)
    .replace(/_$/, "") || "x"

/**
 * The name for a tool of a server.
 *
 * @example
 * ```ts
 * import { ToolName } from "@mcp-effect/host"
 *
 * ToolName.of("files", "read_file") // "files__read_file"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (server: string, tool: string): string => {
  if (plain.test(server) && plain.test(tool) && server.length + tool.length + 2 <= maxLength)
    return `${server}__${tool}`
  const digest = bytesToHex(sha256(utf8ToBytes(JSON.stringify([server, tool])))).slice(0, digits)
  return `${shorten(server, 16)}__${shorten(tool, maxLength - digits - 4 - 16)}__${digest}`
}

/**
 * The server and the tool of a plain name; `undefined` for a cut one, which only the catalogue can turn back
 * (`Catalogue.find`).
 *
 * @category accessors
 * @since 0.1.0
 */
export const parts = (name: string): { readonly server: string; readonly tool: string } | undefined => {
  const [server, tool, ...rest] = name.split("__")
  return server === undefined || tool === undefined || rest.length > 0 || of(server, tool) !== name
    ? undefined
    : { server, tool }
}
