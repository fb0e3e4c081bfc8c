/**
 * What decoding a `tools/list` of 1,000 tools costs on top of `JSON.parse` of the same text.
 *
 * Run `node packages/protocol/test/bench.ts`. The promise is at most 1.5 times the parsing.
 */
import * as Result from "effect/Result"
import * as JsonRpc from "../src/JsonRpc.ts"
import * as Revision from "../src/Revision.ts"

const tool = (index: number) => ({
  name: `tool_${index}`,
  title: `Tool ${index}`,
  description: `Does the thing number ${index}, carefully and as often as it takes.`,
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "Where it is" },
      limit: { type: "integer", minimum: 0 },
      tags: { type: "array", items: { type: "string" } }
    },
    required: ["path"]
  },
  annotations: { readOnlyHint: index % 2 === 0, title: `Tool ${index}` }
})

const result = {
  resultType: "complete",
  tools: Array.from({ length: 1_000 }, (_, index) => tool(index)),
  ttlMs: 60_000,
  cacheScope: "private"
}
const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result })

const now = () => performance.now()

/** The median of many runs, in milliseconds. */
const median = (work: () => unknown, runs = 60): number => {
  for (let run = 0; run < 10; run++) work()
  const times = Array.from({ length: runs }, () => {
    const start = now()
    work()
    return now() - start
  }).toSorted((a, b) => a - b)
  return times[Math.floor(runs / 2)] ?? Number.NaN
}

const spoiled = { ...result, tools: [...result.tools.slice(1), { name: "broken" }] }
const decode = (revision: Revision.Revision, from: JsonRpc.JsonObject) =>
  Result.getOrThrow(revision.decode("tools/list", from))

const startFirst = now()
decode(Revision.v2026_07_28, result)
const first = now() - startFirst

const rows: ReadonlyArray<readonly [name: string, milliseconds: number]> = [
  ["JSON.parse of the text", median(() => JSON.parse(text))],
  ["JsonRpc.parse of the text, limits included", median(() => JsonRpc.parse(text))],
  ["decoding, 2026-07-28", median(() => decode(Revision.v2026_07_28, result))],
  ["decoding, 2024-11-05", median(() => decode(Revision.v2024_11_05, result))],
  ["decoding with one bad tool among them", median(() => decode(Revision.v2026_07_28, spoiled))],
  ["decoding the first time", first]
]

const parse = rows[0]?.[1] ?? Number.NaN
for (const [name, milliseconds] of rows) {
  const ratio = (milliseconds / parse).toFixed(2)
  process.stdout.write(`${milliseconds.toFixed(2).padStart(8)} ms  ${ratio.padStart(5)} x  ${name}\n`)
}

const call = { name: "t", arguments: { a: 1 } }
const stamp = Revision.v2026_07_28.stamp({ client: { name: "c", version: "1" }, capabilities: {} })
const perCall = median(() => {
  for (let each = 0; each < 1_000; each++) {
    stamp(Result.getOrThrow(Revision.v2026_07_28.encode("tools/call", call)).params, { progressToken: each })
  }
})
process.stdout.write(`${perCall.toFixed(2).padStart(8)} µs  to encode and stamp one tools/call\n`)
const answer = { resultType: "complete", content: [{ type: "text", text: "hello" }] }
const perAnswer = median(() => {
  for (let each = 0; each < 1_000; each++) Result.getOrThrow(Revision.v2026_07_28.decode("tools/call", answer))
})
process.stdout.write(`${perAnswer.toFixed(2).padStart(8)} µs  to decode one result of tools/call\n`)
