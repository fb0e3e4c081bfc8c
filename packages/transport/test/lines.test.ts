import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Lines from "../src/internal/lines.ts"

/** The lines of a text whose bytes come cut at these places, as bytes of Node and as plain bytes. */
const linesOf = (text: string, cuts: ReadonlyArray<number> = []) => {
  const bytes = Buffer.from(text)
  const at = cuts.map((cut) => Math.abs(cut) % (bytes.length + 1)).toSorted((a, b) => a - b)
  return [(cut: Buffer): Uint8Array => cut, (cut: Buffer): Uint8Array => Uint8Array.from(cut)].map((kind) => {
    const seen: Array<string> = []
    const read = Lines.make({ limit: 1_000_000, line: (line) => void seen.push(line), tooLong: () => {} })
    for (const [i, start] of [0, ...at].entries()) read(kind(bytes.subarray(start, at[i] ?? bytes.length)))
    return seen
  })
}

describe("bytes of Node and plain bytes", () => {
  it.prop(
    "T-STDIO-2, T-STDIO-3: give the same lines however they are cut",
    { texts: Schema.Array(Schema.String), cuts: Schema.Array(Schema.Int) },
    ({ cuts, texts }) => {
      const lines = texts.map((text) => JSON.stringify({ text, also: "读😀" }))
      const text = lines.map((line, i) => line + (i % 2 === 0 ? "\n" : "\r\n")).join("")
      assert.deepStrictEqual(linesOf(text, cuts), [lines, lines])
    }
  )

  it("give the same for empty lines, a mark of byte order and what is no UTF-8", () => {
    const lines = ["", "\r", "a", "\uFEFFb", "\uFFFD"]
    assert.deepStrictEqual(linesOf("\n\r\r\n\uFEFFa\r\n\uFEFF\uFEFFb\n\uFFFD\n"), [lines, lines])
    const broken: ReadonlyArray<Uint8Array> = [
      Buffer.from([0x22, 0xff, 0xc3, 0x0a]),
      Uint8Array.of(0x22, 0xff, 0xc3, 0x0a)
    ]
    for (const bytes of broken) {
      const seen: Array<string> = []
      Lines.make({ limit: 10, line: (line) => void seen.push(line), tooLong: () => {} })(bytes)
      assert.deepStrictEqual(seen, ['"\uFFFD\uFFFD'])
    }
  })
})
