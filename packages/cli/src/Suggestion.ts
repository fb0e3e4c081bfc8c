/**
 * What a person meant who typed a name that is not there.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { CommandFailed } from "./ExitCode.ts"
import * as Render from "./Render.ts"

/** How many letters one would have to add, drop or change. */
const distance = (from: string, to: string): number => {
  const letters = [...to]
  let row = Array.from({ length: letters.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1]
    for (const [j, other] of letters.entries()) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

const plain = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")

/** The longest name that is compared; a longer one nobody types. */
const longest = 128

/**
 * The name that is nearest to what was typed, when one is near: at most a third of its letters differ, or it holds what
 * was typed. Capitals and signs do not count.
 *
 * @category accessors
 * @since 0.1.0
 */
export const nearest = (typed: string, names: ReadonlyArray<string>): string | undefined => {
  const wanted = plain(typed)
  if (wanted === "" || wanted.length > longest) return undefined
  let best: { readonly name: string; readonly far: number } | undefined
  for (const name of names) {
    const letters = plain(name)
    if (letters === "" || letters.length > longest) continue
    const edits = distance(wanted, letters)
    const isPart = wanted.length > 2 && letters.includes(wanted)
    if (edits > Math.ceil(letters.length / 3) && !isPart) continue
    if (best === undefined || edits < best.far) best = { name, far: edits }
  }
  return best?.name
}

/**
 * What there is, for a name that is not: the nearest, and the first of all.
 *
 * @category formatting
 * @since 0.1.0
 */
export const instead = (typed: string, names: ReadonlyArray<string>): string => {
  const meant = nearest(typed, names)
  const shown = names.slice(0, 20).map((name) => Render.clip(Render.oneLine(name), 80))
  const more = names.length - shown.length
  const all = `it has ${shown.join(", ") || "none"}${more > 0 ? `, and ${more} more` : ""}`
  return meant === undefined ? all : `did you mean "${Render.clip(Render.oneLine(meant), 80)}"? ${all}`
}

/**
 * What a server has under a name. Fails with `input` and with what there is instead.
 *
 * @category accessors
 * @since 0.1.0
 */
export const find = <A extends { readonly name: string }>(
  what: "tool" | "prompt",
  all: ReadonlyArray<A>,
  wanted: string
): Effect.Effect<A, CommandFailed> => {
  const found = all.find(({ name }) => name === wanted)
  if (found !== undefined) return Effect.succeed(found)
  const typed = Render.clip(Render.oneLine(wanted), 80)
  const names = all.map(({ name }) => name)
  return Effect.fail(
    new CommandFailed({ exit: "input", because: `the server has no ${what} "${typed}"; ${instead(wanted, names)}` })
  )
}
