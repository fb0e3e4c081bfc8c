/**
 * Runs the official conformance suite against `client.ts`, strictly.
 *
 * `node run.ts [set] [name…] [--write]` runs one set (the frozen sets of two revisions, the two scenarios of 2025-03-26,
 * the extensions), or all of them, and prints a line for each scenario and one for the set. A name keeps to the scenarios
 * that contain it. `--write` writes `docs/conformance.md`. A scenario passes when the suite says so without a failed or
 * doubtful check, the program ended by itself, and at least one check was judged. Two run at a time: the suite's own way
 * of starting all at once breaks healthy connections on a small machine. Exits with 1 when any scenario fails, with 2
 * when there is nothing to run.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import * as Page from "./page.ts"

class Failed extends Data.TaggedError("Failed")<{ readonly because: string }> {
  override readonly [Runtime.errorReported] = false
  override readonly [Runtime.errorExitCode] = this.because === "nothing to run" ? 2 : 1
}

const atOnce = 2
const timeout = "30000"
const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"))
const command = `"${process.execPath}" "${fileURLToPath(new URL("client.ts", import.meta.url))}"`

const run = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner
  const child = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [suite, ...args], { stdin: "ignore", extendEnv: true })
  )
  const text = yield* child.all.pipe(Stream.decodeText(), Stream.mkString)
  return { text, code: yield* child.exitCode }
}, Effect.scoped)

interface Scenario {
  readonly name: string
  readonly scored: boolean
}

const names = (text: string, pattern: RegExp, scored: boolean): ReadonlyArray<Scenario> =>
  Array.from(text.matchAll(pattern), (found) => ({ name: found[1] ?? "", scored }))

const sets = ["2026-07-28", "2025-11-25", "backcompat", "extensions"]

/** The scenarios of a set, as the suite lists them. */
const listed = Effect.fnUntraced(function* (set: string) {
  if (set === "backcompat") {
    const { text } = yield* run(["list", "--client"])
    return names(text, /^ {2}- (auth\/2025-03-26-\S+)/gm, false)
  }
  if (set === "extensions") {
    // The suite scores no extension. Those of skills (`sep-2640-*`) judge a client that speaks skills; this one does not.
    const { text } = yield* run(["list", "--client"])
    return names(text, /^ {2}- (auth\/\S+) \[extension\]/gm, false)
  }
  const { text } = yield* run(["list", "--client", "--requirements", set])
  const [required = "", unscored = ""] = text.split("Run and reported, but never scored:")
  const [, scored = ""] = required.split(/Client scenarios[^\n]*\n/)
  return [...names(scored, /^ {2}- (\S+)/gm, true), ...names(unscored, /^ +- (\S+) \[client\]/gm, false)]
})

const Checks = Schema.fromJsonString(Schema.Array(Schema.Struct({ id: Schema.String, status: Schema.String })))

const checksIn = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = yield* fs.readDirectory(folder, { recursive: true })
  const file = files.find((name) => path.basename(name) === "checks.json")
  if (file === undefined) return []
  return yield* Schema.decodeUnknownEffect(Checks)(yield* fs.readFileString(path.join(folder, file)))
})

const judge = Effect.fnUntraced(function* (set: string, { name, scored }: Scenario) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "conformance-" })
  const version =
    set === "extensions"
      ? []
      : set === "backcompat"
        ? ["--spec-version", "2025-03-26"]
        : ["--spec-version", set, "--force"]
  const output = ["--timeout", timeout, "-o", folder]
  const { code, text } = yield* run(["client", "--command", command, "--scenario", name, ...output, ...version])

  const checks = yield* Effect.orElseSucceed(checksIn(folder), () => [])
  const judged = checks.filter(({ status }) => status === "SUCCESS" || status === "FAILURE" || status === "WARNING")
  const bad = judged.filter(({ status }) => status !== "SUCCESS")
  const notes = [...new Set(bad.map(({ id, status }) => (status === "WARNING" ? `${id} (warning)` : id)))]
  if (text.includes("CLIENT TIMED OUT")) notes.push("[timed out]")
  else if (text.includes("CLIENT EXITED WITH ERROR")) notes.push("[exit code]")
  if (judged.length === 0) notes.push("[nothing judged]")

  const passed = code === 0 && text.includes("OVERALL: PASSED") && judged.length > 0 && bad.length === 0
  const counts = `${judged.length - bad.length}/${judged.length}`
  yield* Console.log(
    `${passed ? "PASS" : "FAIL"} ${scored ? "s" : "n"} ${name} ${counts} ${notes.join(", ")}`.trimEnd()
  )
  if (!passed && process.env["VERBOSE"] !== undefined) yield* Console.log(text)
  return { name, scored, passed, judged: judged.length, good: judged.length - bad.length }
}, Effect.scoped)

const conform = Effect.fnUntraced(function* (set: string, wanted: ReadonlyArray<string>) {
  const scenarios = (yield* listed(set)).filter(
    ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part))
  )
  const results = yield* Effect.forEach(scenarios, (scenario) => judge(set, scenario), { concurrency: atOnce })
  yield* Console.log(Page.summary({ set, results }))
  return { set, results }
})

const program = Effect.gen(function* () {
  const args = process.argv.slice(2).filter((argument) => argument !== "--")
  const [set, ...wanted] = args.filter((argument) => argument !== "--write")
  if (set !== undefined && !sets.includes(set)) return yield* new Failed({ because: "nothing to run" })
  const ran = yield* Effect.forEach(set === undefined ? sets : [set], (each) => conform(each, wanted))
  if (ran.every(({ results }) => results.length === 0)) return yield* new Failed({ because: "nothing to run" })
  if (args.includes("--write") && set === undefined) {
    yield* (yield* FileSystem.FileSystem).writeFileString(Page.file, Page.page(ran))
  }
  if (ran.some(({ results }) => results.some(({ passed }) => !passed))) {
    return yield* new Failed({ because: "a scenario failed" })
  }
})

program.pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
