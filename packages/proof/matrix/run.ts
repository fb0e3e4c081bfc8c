/**
 * Connects to every server in every way, uses every feature, and lets other clients connect too: `pnpm run matrix`. One
 * line per cell that is not as expected, one line per server. `--write` writes `docs/compatibility.md`, when all is as expected.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { columns, measure as measureColumn, titleOf } from "./Column.ts"
import { expectedOf, inShort } from "./expected.ts"
import { features } from "./features.ts"
import { expected, measure, rows } from "./Matrix.ts"
import * as Others from "./Others.ts"
import { file, page } from "./page.ts"

class NotAsExpected extends Data.TaggedError("NotAsExpected")<{ readonly cells: number }> {
  override get message() {
    return `${this.cells} cells are not as expected`
  }
}

/** Prints what differs and a line in all; gives how many cells differ. */
const report = Effect.fnUntraced(function* (
  title: string,
  cells: ReadonlyArray<readonly [name: string, expected: string, found: string]>
) {
  const wrong = cells.filter(([, should, is]) => should !== is)
  for (const [name, should, is] of wrong) yield* Console.log(`  ${title}: ${name} ${is}; expected: ${should}`)
  yield* Console.log(
    `${wrong.length === 0 ? "ok  " : "FAIL"} ${title}: ${cells.length - wrong.length} of ${cells.length}`
  )
  return wrong.length
})

const connecting = Effect.forEach(
  rows,
  (row) =>
    Effect.flatMap(measure(row), (found) => {
      const should = expected(row)
      const names = ["auto", "rule", "over", "trips", "again", "legacy", "pinned"] as const
      return report(
        `connecting to ${row.server}`,
        names.map((name) => [name, String(should[name]), String(found[name])])
      )
    }),
  { concurrency: 3 }
)

const using = Effect.forEach(
  columns,
  (column) =>
    Effect.flatMap(measureColumn(column), (found) =>
      report(
        `features of ${titleOf(column)}`,
        features.map(({ name }) => {
          const outcome = found.get(name)
          return [name, inShort(expectedOf(column, name)), outcome === undefined ? "was not tried" : inShort(outcome)]
        })
      )
    ),
  { concurrency: 3 }
).pipe(Effect.provide(NodeHttp.layer))

const comparing = Effect.forEach(
  Others.rows,
  (row) =>
    Effect.flatMap(Others.measure(row), (found) => {
      const should = Others.expected(row)
      const names = ["ours", "official", "officialAuto", "inspector"] as const
      return report(
        `other clients of ${row.server}`,
        names.map((name) => [name, should[name], found[name]])
      )
    }),
  { concurrency: 3 }
)

const sum = (counts: ReadonlyArray<number>) => counts.reduce((all, count) => all + count, 0)

const program = Effect.gen(function* () {
  const cells = sum(yield* connecting) + sum(yield* using) + sum(yield* comparing)
  if (cells > 0) return yield* new NotAsExpected({ cells })
  if (process.argv.includes("--write")) {
    yield* Effect.sync(() => writeFileSync(file, page))
    yield* Console.log(`written: ${file}`)
  }
})

program.pipe(Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici]), NodeRuntime.runMain)
