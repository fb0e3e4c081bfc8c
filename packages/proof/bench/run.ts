/**
 * `node run.ts [--rounds N] [--write]`: this library beside other clients on one machine, in one run. Prints
 * docs/performance.md, or writes it; progress goes to stderr.
 *
 * Each client runs in a process of its own and stays connected. In each round each client runs once and the first one
 * rotates. What is told is the median of the rounds' ratios to this library.
 */
import { writeFile } from "node:fs/promises"
import { cpus, loadavg } from "node:os"
import { parseArgs } from "node:util"
import type { Era, Target } from "./client.ts"
import { endAll, start, targets, type Worker } from "./fleet.ts"
import { file, page, type Row } from "./page.ts"

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--"),
  options: { rounds: { type: "string", default: "5" }, write: { type: "boolean", default: false } }
})
const rounds = Number(values.rounds)
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`--rounds takes a whole number from 1, not ${values.rounds}`)

const clients = [
  { name: "@mcp-effect/client", path: `${import.meta.dirname}/adapter.ts` },
  { name: "@modelcontextprotocol/client", path: `${import.meta.dirname}/officialSdk.ts` },
  { name: "effect/ai", path: `${import.meta.dirname}/effectAi.ts` }
]
const eras: ReadonlyArray<Era> = ["modern", "legacy"]
const kinds: ReadonlyArray<Target["kind"]> = ["stdio", "http"]
const workloads = [
  { kind: "sequential", name: "one after another", calls: 200, inFlight: 1 },
  { kind: "concurrent", name: "64 in flight", calls: 640, inFlight: 64 }
] as const
/** Calls before the first that counts: by then the engine has compiled what a call passes through. */
const warmUp = 14_000
const connections = 200
/** Milliseconds: no further round of one measurement begins after the first, none at all of any after the second. */
const longest = 12_000
const latest = 130_000
/** Milliseconds after which the run is given up. */
const giveUp = 178_000

/** How many rounds there were where there were fewest. */
let fewest = rounds

const tell = (text: string) =>
  process.stderr.write(`${(performance.now() / 1_000).toFixed(0).padStart(4)} s  ${text}\n`)

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** What a client gave; `undefined` when it cannot do this, except for this library, which has to. */
const attempt = async <A>(at: number, work: Promise<A>): Promise<A | undefined> => {
  try {
    return await work
  } catch (error) {
    if (at === 0) throw error
    tell(`left out: ${String(error)}`)
    return undefined
  }
}

/** Asks each client once per round, the first one rotating: the answers by client. */
const inTurns = async <A>(times: number, ask: (at: number) => Promise<A | undefined>) => {
  const answers: ReadonlyArray<Array<A>> = clients.map(() => [])
  const began = performance.now()
  for (let round = 0; round < times; round++) {
    const now = performance.now()
    if (round > 0 && (now - began > longest || now > latest)) {
      tell(`stopped after ${round} of ${times} rounds: it takes too long here`)
      break
    }
    for (let turn = 0; turn < clients.length; turn++) {
      const at = (round + turn) % clients.length
      const answer = await ask(at)
      if (answer !== undefined) answers[at]?.push(answer)
    }
  }
  return answers
}

const begin = (at: number): Worker => {
  const { name, path } = clients[at] ?? { name: "", path: "" }
  return start(name, path)
}

/** Calls over one transport in one era: how each client compares to this library. */
const compare = async (target: Target, era: Era): Promise<ReadonlyArray<Row>> => {
  const workers: Array<Worker | undefined> = []
  for (const at of clients.keys()) {
    const worker = begin(at)
    const connected = await attempt(at, worker.ask({ task: "connect", era, target }, 30))
    if (connected === undefined) worker.end()
    workers.push(connected === undefined ? undefined : worker)
  }
  const rows: Array<Row> = []
  for (const { calls, inFlight, kind, name } of workloads) {
    tell(`${target.kind}, ${era}, ${name}`)
    const once = async (at: number) => workers[at]?.ask({ task: "calls", calls, inFlight }, 30)
    await inTurns(Math.ceil(warmUp / calls), once)
    const answers = await inTurns(rounds, once)
    fewest = Math.min(fewest, answers[0]?.length ?? 0)
    const ratios = (of: "cpu" | "wall") =>
      answers.map((theirs) =>
        theirs.length === 0
          ? undefined
          : median(theirs.map((one, round) => one[of] / (answers[0]?.[round]?.[of] ?? Number.NaN)))
      )
    const where = target.kind === "http" ? "HTTP" : "stdio"
    const ours = median((answers[0] ?? []).map(({ cpu }) => cpu)).toFixed(0)
    rows.push({
      area: kind,
      name: `${where}, ${era}, ${name} (${ours} µs)`,
      figures: ratios("cpu"),
      beside: ratios("wall")
    })
  }
  for (const worker of workers) worker?.end()
  return rows
}

/** One task in a fresh worker. */
const fresh = async <A>(at: number, task: (worker: Worker) => Promise<A>) => {
  const worker = begin(at)
  const answer = await attempt(at, task(worker))
  worker.end()
  return answer
}

process.on("exit", endAll)
setTimeout(() => {
  tell("given up: this machine is too busy for it; try fewer --rounds")
  process.exit(1)
}, giveUp).unref()
const load = loadavg()[0] ?? 0
const reached = await targets()
const calls: Array<Row> = []
for (const kind of kinds) for (const era of eras) calls.push(...(await compare(reached[kind], era)))

const held: Array<Row> = []
for (const era of eras) {
  tell(`idle connections, ${era}`)
  const order = { task: "idle", era, target: reached.http, connections } as const
  const answers = await inTurns(1, (at) => fresh(at, (worker) => worker.ask(order, 60)))
  const figures = answers.map(([one]) => (one === undefined ? undefined : one.each / 1024))
  held.push({ area: "idle", name: `KiB per connection, ${era}`, figures })
}

tell("imports")
const imports = await inTurns(rounds, (at) => fresh(at, (worker) => worker.ask({ task: "import" }, 30)))
fewest = Math.min(fewest, imports[0]?.length ?? 0)
const loading: ReadonlyArray<Row> = [
  {
    area: "import",
    name: "CPU time to import, ms",
    figures: imports.map((all) => median(all.map(({ millis }) => millis)))
  },
  { area: "import", name: "files loaded", figures: imports.map(([one]) => one?.modules) }
]
tell("done")

const text = page({
  machine: `${cpus().length} CPUs (${cpus()[0]?.model.trim() ?? "unknown"}), ${process.platform}, Node ${process.version}, load ${load.toFixed(1)} when it began`,
  rounds: fewest,
  connections,
  warmUp,
  clients: clients.map(({ name }) => name),
  calls,
  held,
  loading
})
if (values.write) await writeFile(file, text)
else process.stdout.write(text)
endAll()
