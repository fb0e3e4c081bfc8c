/**
 * Endurance: 64 callers at one stdio and one HTTP server that die, refuse and cut connections by chance.
 *
 * A call is lost when neither answer nor failure comes, though the server answers within 30 ms or dies; one that the
 * client itself gives up as too late breaks the promise as well. It is doubled when what must run once ran twice. Memory
 * is what is held after a full collection.
 */
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as References from "effect/References"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { makeDice } from "./dice.ts"

export interface Options {
  readonly seed: number
  readonly seconds: number
  readonly callers: number
}

export interface Report {
  readonly calls: number
  readonly answered: number
  readonly interrupted: number
  /** Failures by the tag of their reason. */
  readonly failed: Readonly<Record<string, number>>
  /** Processes of the servers that were started. */
  readonly processes: number
  /** Calls without an outcome in time; calls that another's answer came to; calls that ran twice; defects. */
  readonly lost: number
  readonly mixed: number
  readonly doubled: number
  readonly defects: ReadonlyArray<string>
  /** Of the first lost calls: the tool, the server, the state of the connection and the second of the run. */
  readonly hanging: ReadonlyArray<string>
  /** MiB held, in equal steps of the run. */
  readonly held: ReadonlyArray<number>
  /** Open descriptors after a third of the run, and at its end. */
  readonly descriptors: readonly [number, number]
  /** Processes of servers that are still there when all is closed. */
  readonly left: number
}

const script = fileURLToPath(new URL("server.ts", import.meta.url))

/** Longer than the client itself waits for an answer, so a call that is still open then hangs. */
const patience = "90 seconds"

setFlagsFromString("--expose-gc")
const collect: unknown = runInNewContext("gc")

const heldNow = (): number => {
  if (typeof collect === "function") collect()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return Math.round(((heapUsed + arrayBuffers) / 1024 / 1024) * 10) / 10
}

const descriptorsNow = (): number => (existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0)

const isOurs = (pid: string): boolean =>
  existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(script)

/** The HTTP server, started again whenever it has died, at the port of its first start. */
const supervised = Effect.fnUntraced(function* (journal: string, dice: () => number) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const first = yield* Deferred.make<string>()
  let port = "0"
  const life = Effect.gen(function* () {
    const seed = String(Math.floor(dice() * 1e9))
    const child = yield* spawner.spawn(
      ChildProcess.make(process.execPath, [script, "http", seed, journal, port], {
        stdout: "ignore",
        forceKillAfter: "2 seconds"
      })
    )
    yield* child.stderr.pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach((line) => {
        const ready = /^ready (\d+)$/.exec(line)?.[1]
        if (ready === undefined) return Effect.void
        port = ready
        return Deferred.succeed(first, ready)
      })
    )
  }).pipe(Effect.scoped, Effect.ignore)
  yield* Effect.forkScoped(Effect.forever(life))
  return `http://127.0.0.1:${yield* Deferred.await(first)}/mcp`
})

const soaking = Effect.fnUntraced(function* ({ callers, seconds, seed }: Options, journal: string) {
  const dice = makeDice(seed)
  const options = { reconnect: Schedule.spaced("100 millis") }
  const url = yield* supervised(journal, dice)
  const connecting = (target: string | ReadonlyArray<string>) =>
    McpClient.connect(target, options).pipe(Effect.retry(Schedule.spaced("100 millis")))
  const clients = yield* Effect.all([
    connecting([process.execPath, script, "stdio", String(seed), journal]),
    connecting(url)
  ])

  const failed: Record<string, number> = {}
  const defects: Array<string> = []
  const hanging: Array<string> = []
  const held: Array<number> = []
  const count = { calls: 0, answered: 0, interrupted: 0, lost: 0, mixed: 0 }
  const begun = yield* Clock.currentTimeMillis
  const until = begun + seconds * 1000

  const call = Effect.fnUntraced(function* (caller: number) {
    const nonce = `${caller}-${count.calls++}`
    const client = clients[dice() < 0.5 ? 0 : 1]
    const tool = dice() < 0.5 ? "once" : "look"
    const work = client.callTool(tool, { nonce })
    const patient = dice() >= 0.02
    const exit = yield* Effect.exit(
      patient
        ? Effect.timeoutOption(work, patience)
        : Effect.as(Effect.timeoutOption(work, Math.floor(dice() * 20)), undefined)
    )
    if (Exit.isSuccess(exit)) {
      if (exit.value === undefined) count.interrupted++
      else if (exit.value._tag === "None") {
        count.lost++
        const { _tag: state } = yield* SubscriptionRef.get(client.state)
        const second = Math.round(((yield* Clock.currentTimeMillis) - begun) / 1000)
        if (hanging.length < 10) hanging.push(`${tool} at ${client.endpoint.slice(0, 20)}, ${state}, second ${second}`)
      } else {
        const first = exit.value.value.content[0]
        if (first?.type === "text" && first.text === nonce) count.answered++
        else count.mixed++
      }
      return
    }
    const error = Cause.findErrorOption(exit.cause)
    if (error._tag === "None") return void defects.push(Cause.pretty(exit.cause).slice(0, 2_000))
    const reason = error.value.reason._tag
    failed[reason] = (failed[reason] ?? 0) + 1
  })

  const caller = (index: number) =>
    Effect.gen(function* () {
      while ((yield* Clock.currentTimeMillis) < until) {
        yield* call(index)
        yield* Effect.sleep(Math.floor(dice() * 20))
      }
    })

  let descriptors = 0
  const watch = Effect.gen(function* () {
    const steps = 12
    for (let step = 1; step <= steps; step++) {
      yield* Effect.sleep((seconds * 1000) / (steps + 1))
      held.push(heldNow())
      if (step === steps / 3) descriptors = descriptorsNow()
    }
  })

  yield* Effect.all([watch, ...Array.from({ length: callers }, (_, index) => caller(index))], {
    concurrency: "unbounded",
    discard: true
  })
  return { ...count, failed, defects, hanging, held, descriptors: [descriptors, descriptorsNow()] as const }
})

/** Runs the soak. Needs processes, files and an HTTP client. */
export const run = Effect.fnUntraced(
  function* (options: Options) {
    const fs = yield* FileSystem.FileSystem
    const journal = `${yield* fs.makeTempDirectoryScoped({ prefix: "mcp-soak-" })}/journal`
    yield* fs.writeFileString(journal, "")
    const found = yield* Effect.scoped(soaking(options, journal))

    const lines = readFileSync(journal, "utf8").split("\n")
    const pids = lines.flatMap((line) => (line.startsWith("pid ") ? [line.slice(4)] : []))
    const ran = lines.filter((line) => line.startsWith("ran "))
    const report: Report = {
      ...found,
      processes: pids.length,
      doubled: ran.length - new Set(ran).size,
      left: pids.filter(isOurs).length
    }
    return report
  },
  Effect.scoped,
  Effect.provide(EraMemory.layerInProcess),
  Effect.provideService(References.MinimumLogLevel, "Error")
)

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** How much more is held in the last third than in the second, in MiB: the first warms up. */
export const growth = ({ held }: Report): number => {
  const third = Math.floor(held.length / 3)
  return median(held.slice(-third)) - median(held.slice(third, 2 * third))
}

/** What of a report breaks a promise; empty when all hold. */
export const broken = (report: Report): ReadonlyArray<string> => [
  ...(report.lost === 0 ? [] : [`${report.lost} calls without an outcome`]),
  ...(Object.hasOwn(report.failed, "RequestTimedOut") ? ["answers that came too late"] : []),
  ...(report.mixed === 0 ? [] : [`${report.mixed} calls got another's answer`]),
  ...(report.doubled === 0 ? [] : [`${report.doubled} calls ran twice`]),
  ...report.defects.slice(0, 3),
  ...(growth(report) < 8 ? [] : [`${growth(report)} MiB more are held: ${report.held.join(" ")}`]),
  // Each caller may hold a socket or two at either moment; what leaks does so with every call or restart.
  ...(report.descriptors[1] - report.descriptors[0] < 200
    ? []
    : [`more descriptors are open: ${report.descriptors.join(", then ")}`]),
  ...(report.left === 0 ? [] : [`${report.left} processes are left`]),
  ...(report.answered > report.calls / 2 ? [] : ["fewer than half of the calls were answered"])
]
