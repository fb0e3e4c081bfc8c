/** docs/performance.md, made from what was measured. What it says of losing follows from the figures. */
import { fileURLToPath } from "node:url"

/** What a row is about; each has a reason in case another client is ahead there. */
export type Area = "sequential" | "concurrent" | "idle" | "import"

/** A figure per client, this library first; less is better. Of calls it is CPU time, with elapsed time beside it. */
export interface Row {
  readonly area: Area
  readonly name: string
  readonly figures: ReadonlyArray<number | undefined>
  readonly beside?: ReadonlyArray<number | undefined>
}

export interface Measured {
  readonly machine: string
  readonly rounds: number
  readonly connections: number
  /** Calls before the first that counts. */
  readonly warmUp: number
  readonly clients: ReadonlyArray<string>
  readonly calls: ReadonlyArray<Row>
  readonly held: ReadonlyArray<Row>
  readonly loading: ReadonlyArray<Row>
}

export const file = fileURLToPath(new URL("../../../docs/performance.md", import.meta.url))

/** Less than this is no difference between two runs. */
const noise = 0.05

const reasons: Readonly<Record<Area, string>> = {
  sequential: `
  A call passes through more functions here than in a client of plain promises: a time limit, hooks for tracing, checks of
  what came back. The engine compiles each of them first, and rounds are short.`,
  concurrent: `
  A call passes through more functions here than in a client of plain promises, and each call over HTTP has a fiber and a
  scope of its own.`,
  idle: `
  A connection is a record of functions made for it, a state that can be watched, and what sees that its wire has ended;
  the rest begins with its first use. A program with a handful of servers does not feel it, one with hundreds of idle
  connections does.`,
  import: `
  The library is many small files, and those of Effect and undici come with them. The tables and decoders of all five
  revisions are among them. A bundler makes one file of all.`
}

const ahead = (theirs: number | undefined, ours: number | undefined): boolean =>
  theirs !== undefined && ours !== undefined && theirs < ours * (1 - noise)

const shown = (figure: number | undefined, digits: number): string =>
  figure === undefined || Number.isNaN(figure) ? "–" : figure.toFixed(digits)

const cell = ({ beside, figures }: Row, at: number): string => {
  const digits = beside === undefined ? 0 : 2
  const figure = shown(figures[at], digits)
  const marked = at > 0 && ahead(figures[at], figures[0]) ? `**${figure}**` : figure
  if (beside === undefined || figures[at] === undefined) return marked
  const elapsed = shown(beside[at], digits)
  return `${marked} (${at > 0 && ahead(beside[at], beside[0]) ? `**${elapsed}**` : elapsed})`
}

const table = (clients: ReadonlyArray<string>, rows: ReadonlyArray<Row>): string => {
  const lines = [
    ["", ...clients.map((name) => `\`${name}\``)],
    ...rows.map((row) => [row.name, ...clients.map((_, at) => cell(row, at))])
  ]
  const widths = ["", ...clients].map((_, column) => Math.max(3, ...lines.map((line) => (line[column] ?? "").length)))
  const [head, ...body] = lines.map((cells) => {
    const padded = cells.map((text, at) => (at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0)))
    return `| ${padded.join(" | ")} |`
  })
  const rule = widths.map((width, at) => (at === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`))
  return [head, `| ${rule.join(" | ")} |`, ...body].join("\n")
}

const titles: Readonly<Record<Area, string>> = {
  sequential: "Calls one after another",
  concurrent: "Calls side by side",
  idle: "Idle connections",
  import: "Import"
}

/** Whether a row has a client that is ahead of this library, in any of its figures. */
const lost = ({ beside, figures }: Row): boolean =>
  [figures, beside ?? []].some((values) => values.some((value) => ahead(value, values[0])))

const losses = ({ calls, clients, held, loading }: Measured): string => {
  const rows = [...calls, ...held, ...loading]
  const areas: ReadonlyArray<Area> = ["sequential", "concurrent", "idle", "import"]
  const found = areas.flatMap((area) => {
    const here = rows.filter((row) => row.area === area)
    const behind = here.filter(lost)
    if (behind.length === 0) return []
    const who = clients.filter((_, at) =>
      behind.some(({ beside, figures }) => ahead(figures[at], figures[0]) || ahead(beside?.[at], beside?.[0]))
    )
    const names = who.map((name) => `\`${name}\``).join(", ")
    return [`- **${titles[area]}**, in ${behind.length} of ${here.length} rows (${names}).${reasons[area]}`]
  })
  return found.length === 0 ? "In no row of this run was another client ahead." : found.join("\n")
}

/** The page. */
export const page = (measured: Measured): string =>
  `# Performance

\`npx -y pnpm@12 bench --write\` measures and writes this page. It compares clients on one machine in one run. It is no
promise for yours: run it there.

Machine: ${measured.machine}.

Each client runs in a process of its own against the same server, which answers at once, and loads what is published, not
sources. Clients take turns, the first one rotates, and figures are medians of ${measured.rounds} or more rounds, counted once a client
has made ${measured.warmUp.toLocaleString("en")} calls or was 12 seconds at it: the first thousands cost each of them more, while the engine compiles. Less
is better. Bold is where another client is ahead by more than ${noise * 100}%. A dash is what a client cannot do. Both clients on Effect
use undici for HTTP, the official SDK its default, \`fetch\`.

## Calls

What one call of a tool costs, as a ratio to this library: CPU time of the client's process (collector and compiler
included), and elapsed time in brackets. 2 means twice as much. What it cost this library, in µs of CPU, stands in brackets
behind the row. Single ratios move by up to a third from one run to the next, and elapsed time more.

Closer rivals over stdio, the official SDK of the first version and \`@ai-sdk/mcp\`, and how far all are from a client that
does nothing but read and write, are told in [the notes of the benchmark](../packages/proof/bench/README.md).

${table(measured.clients, measured.calls)}

## Memory

Heap that one idle connection over HTTP holds after a full collection, with ${measured.connections} of them open.

${table(measured.clients, measured.held)}

What calls and connections leave behind is a test: \`packages/proof/test/leaks.test.ts\`.

## Import

A client with both transports, imported from its files in a fresh process.

${table(measured.clients, measured.loading)}

## Where others are ahead, and why

${losses(measured)}
`
