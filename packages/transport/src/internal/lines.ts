/**
 * Lines out of bytes.
 *
 * The split is made on the byte 0x0A before anything is decoded, so a character cut in two by a chunk is whole again in
 * its line (T-STDIO-2, T-STDIO-3). Each byte is looked at once and copied at most once, whatever the chunks.
 */

const newline = 10
const carriageReturn = 13

export interface Options {
  /** The longest line allowed, in bytes. */
  readonly limit: number
  /** Gets each line without its end. */
  readonly line: (text: string) => void
  /** Called once, when a line is too long; everything after is ignored. */
  readonly tooLong: () => void
}

const textDecoder = new TextDecoder()

const decode = (bytes: Uint8Array): string =>
  textDecoder.decode(bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes)

/** Makes a reader: feed it chunks, in order. */
export const make = (options: Options): ((chunk: Uint8Array) => void) => {
  let parts: Array<Uint8Array> = []
  let held = 0
  let broken = false

  const join = (last: Uint8Array): Uint8Array => {
    if (held === 0) return last
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
      options.line(decode(join(chunk.subarray(start, end))))
      start = end + 1
    }
    if (broken || start === chunk.length) return
    parts.push(chunk.subarray(start))
    held += chunk.length - start
    if (held > options.limit) tooLong()
  }
}
