/** One line of the demo's table, in fixed columns, so that rows can be printed as they come. */
export interface Row {
  readonly ok: boolean
  readonly cells: ReadonlyArray<string>
}

const columns = [
  ["server", 26],
  ["transport", 10],
  ["era", 7],
  ["version", 11],
  ["trips", 6],
  ["tools", 6],
  ["a real call answered", 34],
  ["ms", 5]
] as const

const cell = (text: string, width: number) => {
  const line = text.replaceAll(/\s+/g, " ")
  return (line.length > width ? `${line.slice(0, width - 1)}…` : line).padEnd(width)
}

const line = (mark: string, cells: ReadonlyArray<string>) =>
  `${mark} ${columns.map(([, width], index) => cell(cells[index] ?? "", width)).join(" ")}`.trimEnd()

/** The names of the columns, and a rule under them. */
export const heading = [
  line(
    " ",
    columns.map(([name]) => name)
  ),
  line(
    " ",
    columns.map(([, width]) => "─".repeat(width))
  )
].join("\n")

/** One row; a failed one shows its reason in full below. */
export const table = (row: Row) => {
  const [, , , , , , answer = ""] = row.cells
  return row.ok ? line("✓", row.cells) : `${line("✗", row.cells)}\n    ${answer}`
}
