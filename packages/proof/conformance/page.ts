/** What a run of the conformance suite comes to: a line for a set, and the page of all. */
import { fileURLToPath } from "node:url"

/** What became of one scenario. */
export interface Result {
  readonly name: string
  /** Whether the suite counts it for the set. */
  readonly scored: boolean
  readonly passed: boolean
  /** Checks that were judged, and those of them that succeeded. */
  readonly judged: number
  readonly good: number
}

export interface Ran {
  readonly set: string
  readonly results: ReadonlyArray<Result>
}

export const file = fileURLToPath(new URL("../../../docs/conformance.md", import.meta.url))

const share = (results: ReadonlyArray<Result>) => `${results.filter(({ passed }) => passed).length}/${results.length}`

const checks = (results: ReadonlyArray<Result>) => {
  const sum = (of: "good" | "judged") => results.reduce((total, result) => total + result[of], 0)
  return `${sum("good")}/${sum("judged")}`
}

/** One line for a set. */
export const summary = ({ results, set }: Ran): string => {
  const scored = results.filter((result) => result.scored)
  return `${set}: scored ${share(scored)}, all ${share(results)}, checks ${checks(results)}`
}

/** A table as the formatter of this repository writes it. */
const table = (rows: ReadonlyArray<ReadonlyArray<string>>, right: ReadonlySet<number>) => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells
      .map((cell, at) => (right.has(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join(" | ")} |`
  const rule = widths.map((width, at) => (right.has(at) ? `${"-".repeat(width - 1)}:` : "-".repeat(width)))
  const [head = [], ...body] = rows
  return [line(head), line(rule), ...body.map(line)].join("\n")
}

const titles: Readonly<Record<string, string>> = {
  "2026-07-28": "Requirements of 2026-07-28",
  "2025-11-25": "Requirements of 2025-11-25",
  backcompat: "Sign-in as in 2025-03-26",
  extensions: "Extensions"
}

/** The page, from a run of every set. */
export const page = (ran: ReadonlyArray<Ran>): string => `# Conformance

What the official suite, \`@modelcontextprotocol/conformance\` 0.2.0-alpha.12, says of this client.
\`npx -y pnpm@12 conformance --write\` runs it and writes this page; without \`--write\` it is part of every check of a change.

The judge is strict: a scenario passes when no check failed or gave a warning, at least one check was judged, and the program
ended by itself with exit code 0. There is no list of failures that are put up with. The program is
\`packages/proof/conformance/client.ts\`: it uses the public API and connects in mode \`auto\` whatever the revision.

${table(
  [
    ["Set", "scored", "all scenarios", "checks"],
    ...ran.map(({ results, set }) => [
      titles[set] ?? set,
      share(results.filter(({ scored }) => scored)),
      share(results),
      checks(results)
    ])
  ],
  new Set([1, 2, 3])
)}

The suite scores neither extensions nor sign-in as in 2025-03-26; both have to pass here all the same. Left out are its four
scenarios of skills (\`sep-2640-*\`), an extension that this client does not speak.
${ran
  .map(
    ({ results, set }) => `
## ${titles[set] ?? set}

${table(
  [
    ["Scenario", "scored", "result", "checks"],
    ...results.map(({ good, judged, name, passed, scored }) => [
      `\`${name}\``,
      scored ? "yes" : "no",
      passed ? "passes" : "fails",
      `${good}/${judged}`
    ])
  ],
  new Set([3])
)}
`
  )
  .join("")}`
