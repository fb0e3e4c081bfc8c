/**
 * HTTP headers of MCP: their names, and how a value that plain ASCII cannot hold travels in one (M-HDR, M-ENC).
 *
 * @since 0.1.0
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type { JsonObject } from "./JsonRpc.ts"

/**
 * The version a request is written in.
 *
 * @category names
 * @since 0.1.0
 */
export const protocolVersion = "MCP-Protocol-Version"

/**
 * The session of a legacy server. Compare without regard to case; handle the value as a secret (L-HTTP-14).
 *
 * @category names
 * @since 0.1.0
 */
export const sessionId = "Mcp-Session-Id"

/**
 * The method of a modern request, never encoded (M-HDR-9).
 *
 * @category names
 * @since 0.1.0
 */
export const method = "Mcp-Method"

/**
 * The tool, prompt, resource or task of a modern request.
 *
 * @category names
 * @since 0.1.0
 */
export const name = "Mcp-Name"

/**
 * Begins the name of a header that mirrors an argument of a tool (M-XH).
 *
 * @category names
 * @since 0.1.0
 */
export const parameterPrefix = "Mcp-Param-"

/**
 * The last event seen, on the GET that takes up a broken stream of a legacy server.
 *
 * @category names
 * @since 0.1.0
 */
export const lastEventId = "Last-Event-ID"

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const fieldValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/**
 * Whether HTTP allows this as the name of a header: one or more letters, digits and ``!#$%&'*+-.^_`|~`` (RFC 9110, 5.6.2).
 *
 * @category guards
 * @since 0.1.0
 */
export const isName = (name: string): boolean => token.test(name)

/**
 * Whether HTTP allows this as the value of a header: tabs and characters of one byte that are no controls (RFC 9110, 5.5).
 * The empty string is one. `encode` makes one of any text.
 *
 * @category guards
 * @since 0.1.0
 */
export const isValue = (value: string): boolean => fieldValue.test(value)

const open = "=?base64?"
const close = "?="
const plain = /^[\x20-\x7e]*$/
const loneSurrogate = /[\ud800-\udfff]/u

const looksEncoded = (value: string) => value.startsWith(open) && value.endsWith(close)

/**
 * Writes a value so that it survives as a header: plain when it can be, else as base64 of its UTF-8 between markers.
 *
 * Encoded are: characters outside printable ASCII, blanks at either end, and plain text that looks encoded already
 * (M-ENC-2, M-ENC-3, T-MOD-1). The empty string stays empty. A lone surrogate has no UTF-8; ask `isEncodable` first.
 *
 * @example
 * import * as Header from "@mcp-effect/protocol/Header"
 *
 * Header.encode("eu-central-2") // "eu-central-2"
 * Header.encode("Zürich") // "=?base64?WsO8cmljaA==?="
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (value: string): string =>
  plain.test(value) && !value.startsWith(" ") && !value.endsWith(" ") && !looksEncoded(value)
    ? value
    : `${open}${Base64.encode(value)}${close}`

/**
 * Whether a text has a UTF-8 form, that is, holds no lone surrogate (T-21).
 *
 * @category guards
 * @since 0.1.0
 */
export const isEncodable = (value: string): boolean => !loneSurrogate.test(value)

/**
 * Reads a value back. Text without the markers is itself; markers are told by their exact case (M-ENC-4). `undefined`
 * when there is no base64 of UTF-8 between them: a server answers that with `HeaderMismatch`.
 *
 * @category encoding
 * @since 0.1.0
 */
export const decode = (value: string): string | undefined => {
  if (!looksEncoded(value) || value.length < open.length + close.length) return value
  const body = value.slice(open.length, -close.length)
  const text = Base64.decodeString(body)
  if (Result.isFailure(text)) return undefined
  // The decoder swallows a byte order mark and replaces bytes that are no UTF-8; writing the text again tells.
  return [text.success, `\ufeff${text.success}`].find((candidate) => Base64.encode(candidate) === body)
}

const naming: { readonly [method: string]: string } = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId"
}

/**
 * Which member of the parameters is mirrored into `Mcp-Name`; `undefined` for methods without it (M-HDR-3 to 5).
 *
 * @category names
 * @since 0.1.0
 */
export const namedBy = (requestMethod: string): string | undefined =>
  Object.hasOwn(naming, requestMethod) ? naming[requestMethod] : undefined

/**
 * The value of `Mcp-Name` for a request, encoded; `undefined` when the method has none.
 *
 * @example
 * import * as Header from "@mcp-effect/protocol/Header"
 *
 * Header.nameOf("resources/read", { uri: "file:///hé" }) // "=?base64?ZmlsZTovLy9ow6k=?="
 *
 * @category encoding
 * @since 0.1.0
 */
export const nameOf = (requestMethod: string, params: JsonObject | undefined): string | undefined => {
  const key = namedBy(requestMethod)
  const found = key === undefined || params === undefined || !Object.hasOwn(params, key) ? undefined : params[key]
  return typeof found === "string" ? encode(found) : undefined
}
