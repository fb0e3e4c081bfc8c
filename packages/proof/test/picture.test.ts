/**
 * The picture of the README: what the command writes at a terminal when it is asked how it found the era of a legacy and
 * of a modern server. `npx -y pnpm@12 run picture` draws it anew. Times and the port are made the same for every run.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { draw, type Run } from "../picture/Svg.ts"
import * as Servers from "../servers/Servers.ts"
import { terminal } from "./fixtures/terminal.ts"

const columns = 100

/** What one run of the command shows, under the line that started it. */
const shown = Effect.fnUntraced(
  function* (words: ReadonlyArray<string>) {
    const at = yield* terminal(words, { columns })
    assert.strictEqual(yield* at.code, 0)
    return { text: at.screen(), runs: at.runs() }
  },
  Effect.scoped,
  // On a busy machine a server may start so slowly that the first question is given up.
  Effect.repeat({ until: ({ text }) => !text.includes("no answer in time"), times: 5 })
)

/** The same for every run. */
const settled = (text: string) =>
  text.replace(/heard after [^:]*:/, "heard after 9ms:").replace(/127\.0\.0\.1:\d+/, "localhost:3000")

const screenOf = (words: ReadonlyArray<string>, runs: ReadonlyArray<ReadonlyArray<Run>>) => [
  [
    { column: 0, text: "$", style: "prompt" } satisfies Run,
    { column: 2, text: settled(`mcp-effect ${words.join(" ")}`), style: "bold" } satisfies Run
  ],
  ...runs.map((row) => row.map((run) => ({ ...run, text: settled(run.text) })))
]

describe("the picture of the README", () => {
  it.live(
    "U-67: is what the command shows of a legacy and of a modern server today",
    () =>
      Effect.gen(function* () {
        // so that `npx` finds the server that this workspace depends on
        process.chdir(join(import.meta.dirname, ".."))
        const legacy = ["probe", "--explain", "--", "npx", "-y", "@modelcontextprotocol/server-memory"]
        const { target } = yield* Servers.officialHttp
        const modern = ["probe", "--explain", target.url]
        const [old, recent] = [yield* shown(legacy), yield* shown(modern)]
        assert.match(old.text, /^era +legacy$/m)
        assert.match(recent.text, /^era +modern$/m)
        const rows = [...screenOf(legacy, old.runs), [], ...screenOf(modern, recent.runs)]
        const svg = draw("mcp-effect probe --explain, of a legacy server and of a modern one", columns, rows)
        yield* Effect.promise(() => expect(svg).toMatchFileSnapshot("../../../docs/probe-explain.svg"))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
