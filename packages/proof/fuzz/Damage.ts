/** Texts that were whole once, with damages, and how they may be cut. */
import * as Arbitraries from "@mcp-effect/testing/Arbitraries"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

export const number = (below: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: below - 1 })))

/** What texts are damaged with. */
const tokens = Arbitraries.element(
  "",
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "=",
  "null",
  "-0",
  "1e999",
  "\\u0000",
  "\\ud800",
  "\ud800",
  "\u0000",
  "\r",
  "\n",
  "\r\n\r\n",
  "\u2028",
  "\ufeff",
  "読😀",
  '"__proto__":{},',
  "//",
  "/*",
  "${input:x}",
  "=?base64?",
  "?=",
  "data: ",
  "id: \u0000",
  "retry: 1e9",
  "[".repeat(2_000),
  "9".repeat(400)
)

const damage = Arbitrary.all({ at: number(1_000), drop: Arbitraries.element(0, 1, 2, 7, 100), put: tokens })

/** One of these texts with up to six damages. */
export const damaged = (first: string, ...rest: ReadonlyArray<string>): Arbitrary.Arbitrary<string> =>
  Arbitrary.map(
    Arbitrary.all([Arbitraries.element(first, ...rest), Arbitrary.array(damage, { maxLength: 6 })]),
    ([text, damages]) =>
      damages.reduce((so, { at, drop, put }) => {
        const place = Math.floor((at / 1_000) * (so.length + 1))
        return so.slice(0, place) + put + so.slice(place + drop)
      }, text)
  )

/** A text in bytes, cut at these places. */
export const cut = (text: string, places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

/** A text and where it is cut. */
export const chunked = (texts: Arbitrary.Arbitrary<string>) =>
  Arbitrary.all({ text: texts, places: Arbitrary.array(number(5_000), { maxLength: 8 }) })
