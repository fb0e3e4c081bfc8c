/**
 * Lines out of bytes.
 *
 * The split is made on the byte 0x0A before anything is decoded, so a character cut in two by a chunk is whole again in
 * its line (T-STDIO-2, T-STDIO-3). Each byte is looked at once and copied at most once, whatever the chunks.
 */

const newline = 10
const carriageReturn = 13
const byteOrderMark = "\uFEFF"

export interface Options {
  /** The longest line allowed, in bytes. */
  readonly limit: number
  /** Gets each line without its end. */
  readonly line: (text: string) => void
  /** Called once, when a line is too long; everything after is ignored. */
  readonly tooLong: () => void
}

const textDecoder = new TextDecoder()

/** Bytes of Node can become text themselves, without a view and in half the time. */
interface Bytes extends Uint8Array {
  readonly utf8Slice?: (start: number, end: number) => string
}

const decode = (bytes: Bytes, start: number, stop: number): string => {
  const end = stop > start && bytes[stop - 1] === carriageReturn ? stop - 1 : stop
  if (bytes.utf8Slice === undefined) return textDecoder.decode(bytes.subarray(start, end))
  const text = bytes.utf8Slice(start, end)
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}

/** Makes a reader: feed it chunks, in order. */
export const make = (options: Options): ((chunk: Uint8Array) => void) => {
  let parts: Array<Uint8Array> = []
  let held = 0
  let broken = false

  const join = (last: Uint8Array): Uint8Array => {
    const whole = new Uint8Array(held + last.length)
    let at = 0
    for (const part of parts) {
      whole.set(part, at)
      at += part.length
    }
    whole.set(last, at)
    parts = []
    held = 0
    return whole
  }

  const tooLong = () => {
    broken = true
    parts = []
    options.tooLong()
  }

  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      if (broken) return
      if (held + end - start > options.limit) return tooLong()
      if (held === 0) options.line(decode(chunk, start, end))
      else {
        const whole = join(chunk.subarray(start, end))
        options.line(decode(whole, 0, whole.length))
      }
      start = end + 1
    }
    if (broken || start === chunk.length) return
    parts.push(chunk.subarray(start))
    held += chunk.length - start
    if (held > options.limit) tooLong()
  }
}
