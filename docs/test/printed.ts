/**
 * Pages with parts that are printed from code. A part stands between `<!-- printed: name -->` and `<!-- end -->`; the file
 * that prints it runs alone, and its test holds the page against it.
 */
import { readFileSync, writeFileSync } from "node:fs"

/** What prints each part of a page, by the name in its marker. */
export type Parts = Readonly<Record<string, () => string>>

const marked = (name: string) => new RegExp(`(<!-- printed: ${name} -->)([\\s\\S]*?)(<!-- end -->)`, "u")

// A formatter pads the tables of a page; padding says nothing.
const bare = (part: string) => part.replaceAll(/ +/gu, " ").replaceAll(/-{3,}/gu, "---").trim()

/** What a page holds of a part, and what it should hold, comparable. */
export const compared = (page: string, parts: Parts, name: string) => ({
  held: bare(marked(name).exec(readFileSync(page, "utf8"))?.[2] ?? `${page} has no part "${name}"`),
  printed: bare(parts[name]?.() ?? "")
})

/** Prints the parts, or with `--write` puts them into the page. */
export const print = (page: string, parts: Parts): void => {
  const printed = Object.entries(parts).map(([name, part]) => [name, part()] as const)
  if (!process.argv.includes("--write")) {
    process.stdout.write(`${printed.map(([, text]) => text).join("\n\n")}\n`)
    return
  }
  const text = printed.reduce(
    (done, [name, part]) =>
      done.replace(marked(name), (_, open: string, __: string, end: string) => `${open}\n\n${part}\n\n${end}`),
    readFileSync(page, "utf8")
  )
  writeFileSync(page, text)
}

const cell = (text: string) => text.replaceAll("|", "\\|")

/** A table of Markdown. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")
