/** A screen of a terminal as a picture: text stays text, every piece stands in its column whatever font there is. */

/** A piece of a row that looks the same throughout. */
export interface Run {
  readonly column: number
  readonly text: string
  readonly style: "plain" | "bold" | "dim" | "prompt"
}

const cell = { width: 8, height: 19, margin: 18 }

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const span = ({ column, style, text }: Run) => {
  // viewers do not agree on the width of spaces at the ends
  const shown = text.trim()
  const first = column + text.length - text.trimStart().length
  const at = `x="${cell.margin + first * cell.width}" textLength="${[...shown].length * cell.width}"`
  return `<tspan ${at}${style === "plain" ? "" : ` class="${style}"`}>${escaped(shown)}</tspan>`
}

/** Draws rows. The title is what a reader who does not see the picture gets. */
export const draw = (title: string, columns: number, rows: ReadonlyArray<ReadonlyArray<Run>>): string => {
  const width = columns * cell.width + 2 * cell.margin
  const height = rows.length * cell.height + 2 * cell.margin
  const lines = rows.flatMap((row, index) => {
    const runs = row.filter(({ text }) => text.trim() !== "")
    if (runs.length === 0) return []
    return [`<text y="${cell.margin + index * cell.height + 14}">${runs.map(span).join("")}</text>`]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d8dee9; white-space: pre }
.bold { font-weight: 700; fill: #ffffff }
.dim { fill: #8b98ad }
.prompt { font-weight: 700; fill: #8fd18f }
</style>
<rect width="100%" height="100%" rx="8" fill="#1b2130"/>
${lines.join("\n")}
</svg>
`
}
