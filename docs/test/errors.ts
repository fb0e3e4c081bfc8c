/**
 * Prints the entries of the page `docs/errors.md`, from the classes and their comments.
 *
 * `node docs/test/errors.ts` prints them; with `--write` they replace what stands between the markers of the page.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Parts, print } from "./printed.ts"

const root = join(import.meta.dirname, "../..")

export const page = join(root, "docs/errors.md")

/** The packages in the order a reader meets them, and what each is about. */
const packages: ReadonlyArray<readonly [name: string, about: string]> = [
  ["negotiation", "Connecting"],
  ["client", "Using a connection, and signing in"],
  ["transport", "The wire"],
  ["host", "Many servers"],
  ["protocol", "Messages"],
  ["testing", "Laws that do not hold"],
  ["cli", "The command line"]
]

/** A field of an error. */
export interface Field {
  readonly name: string
  readonly optional: boolean
  readonly about: string | undefined
}

/** An error, as its file tells it. */
export interface Entry {
  readonly package: string
  readonly module: string
  readonly tag: string
  /** What happened, and when. */
  readonly about: string
  /** What the reader can do about it; empty where the comment does not say. */
  readonly change: string
  /** What it says may be computed from: fields in the order of the class. */
  readonly fields: ReadonlyArray<Field>
}

const declared =
  /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n(?:\/\/[^\n]*\n)*export class (\w+) extends (?:Schema\.TaggedError<\w+>\(\)\(\s*"(\w+)",|Data\.TaggedError\("(\w+)"\))/g

/** The words of a comment: tags, examples and code blocks left out. */
export const words = (comment: string): string =>
  comment
    .replace(/^\/\*\*\s*|\s*\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .replace(/```[\s\S]*?```/g, "")
    .replace(/^@example[\s\S]*?(?=^@|(?![\s\S]))/gm, "")
    .replace(/^@.*$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim()

const closing: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" }

/** The text up to the bracket that closes the one at `start`, which is left out, like the one at the end. */
const bracketed = (text: string, start: number): string => {
  const open = [closing[text[start]!]!]
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at]!
    if (character === open.at(-1)) open.pop()
    else if (character in closing) open.push(closing[character]!)
    if (open.length === 0) return text.slice(start + 1, at)
  }
  return ""
}

const fieldsOf = (body: string): ReadonlyArray<Field> => {
  const fields: Array<Field> = []
  let rest = body
  while (true) {
    const next = /^\s*(\/\*\*[\s\S]*?\*\/)?(?:\s*\/\/[^\n]*)*\s*(?:readonly )?(\w+)(\??)\s*(?::|,|$)/.exec(rest)
    if (next === null) return fields
    rest = rest.slice(next[0].length)
    // the end of this field: a comma outside of brackets
    let depth = 0
    let end = next[0].endsWith(":") ? 0 : -1
    while (end >= 0 && end < rest.length) {
      const character = rest[end]!
      if (character in closing) depth++
      else if (Object.values(closing).includes(character)) depth--
      else if ((character === "," || character === "\n") && depth === 0) break
      end++
    }
    const type = end < 0 ? "" : rest.slice(0, end)
    if (end >= 0) rest = rest.slice(end + 1)
    fields.push({
      name: next[2]!,
      optional: next[3] === "?" || /optional/.test(type) || next[2] === "cause",
      about: next[1] === undefined ? undefined : words(next[1]).replaceAll("\n", " ")
    })
  }
}

/** Every error that the packages export. */
export const entries = (): ReadonlyArray<Entry> =>
  packages.flatMap(([name]) => {
    const folder = join(root, "packages", name, "src")
    return readdirSync(folder)
      .filter((file) => file.endsWith(".ts"))
      .toSorted()
      .flatMap((file) => {
        const text = readFileSync(join(folder, file), "utf8")
        return [...text.matchAll(declared)].map((match): Entry => {
          const after = match.index + match[0].length
          const typed = match[4] !== undefined && text[after] !== "<"
          const start = typed ? -1 : text.indexOf("{", after)
          const [about = "", change = ""] = words(match[1]!).split(/\n\nWhat to change: /)
          return {
            package: name,
            module: file.replace(".ts", ""),
            tag: (match[3] ?? match[4])!,
            about,
            change,
            fields: start < 0 ? [] : fieldsOf(bracketed(text, start))
          }
        })
      })
  })

const fieldLine = ({ about, name, optional }: Field): string =>
  `- \`${name}\`${optional ? " (if known)" : ""}${about === undefined ? "" : `: ${about}`}`

const entryText = ({ about, change, fields, module, package: of, tag }: Entry): string =>
  [
    `### ${tag}`,
    `\`@mcp-effect/${of}/${module}\``,
    about,
    ...(change === "" ? [] : [`**What to change:** ${change}`]),
    ...(fields.length === 0 ? [] : [fields.map(fieldLine).join("\n")])
  ].join("\n\n")

const errors = (): string => {
  const all = entries()
  return packages
    .flatMap(([name, about]) => {
      const own = all.filter((entry) => entry.package === name)
      return own.length === 0 ? [] : [`## ${about}`, ...own.map(entryText)]
    })
    .join("\n\n")
}

/** The printed parts of the page. */
export const parts: Parts = { errors }

if (import.meta.main) print(page, parts)
