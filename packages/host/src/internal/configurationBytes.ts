/**
 * The bytes of a configuration: UTF-8 unless another encoding is asked for, with or without a byte order mark.
 */
import * as Result from "effect/Result"
import { NotText } from "../ConfigurationError.ts"

export type Encoding = "utf-8" | "utf-16le" | "utf-16be"

const marks: ReadonlyArray<readonly [encoding: Encoding, mark: ReadonlyArray<number>]> = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]]
]

const markOf = (bytes: Uint8Array) => marks.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))

/** Whether the bytes begin with a byte order mark. */
export const isMarked = (bytes: Uint8Array): boolean => markOf(bytes) !== undefined

/** A configuration begins with an ASCII character, so the place of its first zero tells. */
const guess = (bytes: Uint8Array): Encoding | undefined =>
  markOf(bytes)?.[0] ?? (bytes[0] === 0 ? "utf-16be" : bytes[1] === 0 ? "utf-16le" : undefined)

export const decode = (bytes: Uint8Array, encoding: Encoding): Result.Result<string, NotText> => {
  const looksLike = guess(bytes)
  const wrong = (): NotText =>
    new NotText({ encoding, ...(looksLike === undefined || looksLike === encoding ? {} : { looksLike }) })
  if (looksLike !== undefined && looksLike !== encoding) return Result.fail(wrong())
  return Result.try({ try: () => new TextDecoder(encoding, { fatal: true }).decode(bytes), catch: wrong })
}

export const encode = (text: string, encoding: Encoding, marked: boolean): Uint8Array => {
  const whole = marked ? `\uFEFF${text}` : text
  if (encoding === "utf-8") return new TextEncoder().encode(whole)
  const bytes = new Uint8Array(whole.length * 2)
  const view = new DataView(bytes.buffer)
  for (let at = 0; at < whole.length; at++) view.setUint16(at * 2, whole.charCodeAt(at), encoding === "utf-16le")
  return bytes
}
