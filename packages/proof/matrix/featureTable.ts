/** The table of features as text: one line per feature, one column per server and era, notes for what is not there. */
import * as Arr from "effect/Array"
import { type Column, columns, type Outcome } from "./Column.ts"
import { expectedOf, inShort } from "./expected.ts"
import { features, type Name } from "./features.ts"

const line = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`

/** Columns of the page: those of one server and era, whatever they are connected over. */
const groups = Object.entries(Arr.groupBy(columns, ({ era, server }) => `${server.split(",")[0]}, ${era}`))

const distinct = (values: ReadonlyArray<string>) => [...new Set(values)].join(", ")

/** Outcomes that occur, and what those columns have in common: the transport, or else the mode. */
const byOutcome = (group: ReadonlyArray<Column>, name: Name): ReadonlyArray<readonly [Outcome, string]> => {
  const alike = Object.values(Arr.groupBy(group, (column) => inShort(expectedOf(column, name))))
  const over = alike.map((columns) => distinct(columns.map((column) => column.over)))
  return alike.map((columns, index) => [
    expectedOf(columns[0], name),
    new Set(over).size === alike.length ? over[index]! : distinct(columns.map(({ mode }) => `\`${mode}\``))
  ])
}

const makeNotes = () => {
  const notes: Array<string> = []
  return {
    notes,
    mark: (because: string): string => {
      if (!notes.includes(because)) notes.push(because)
      return `[${notes.indexOf(because) + 1}]`
    }
  }
}

const cellOf = (group: ReadonlyArray<Column>, name: Name, mark: (because: string) => string): string => {
  const all = byOutcome(group, name)
  const told = (outcome: Outcome) =>
    outcome.is === "works" ? "✓" : mark(outcome.is === "error" ? `typed error \`${outcome.reason}\`` : outcome.because)
  return all.map(([outcome, where]) => (all.length === 1 ? told(outcome) : `${where} ${told(outcome)}`)).join("; ")
}

const { mark, notes } = makeNotes()

const rows = features.map(({ name }) => line([name, ...groups.map(([, group]) => cellOf(group, name, mark))]))

/** How each server was connected to. */
const ways = groups.map(([title, group]) => {
  const modes = distinct(group.map(({ mode }) => `\`${mode}\``))
  return `- **${title}**: over ${distinct(group.map(({ over }) => over))}; mode ${modes}`
})

export const featureTable = `${line(["", ...groups.map(([title]) => title)])}
${line(["---", ...groups.map(() => ":---:")])}
${rows.join("\n")}

${notes.map((note, index) => `- [${index + 1}] ${note}`).join("\n")}

How each was connected to:

${ways.join("\n")}`

/** How many cells there are, one test each. */
export const cellCount = columns.length * features.length
