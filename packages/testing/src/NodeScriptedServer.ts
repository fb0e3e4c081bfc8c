/**
 * A scripted server as a child process, on Node.
 *
 * `make` gives the command to start; whoever connects starts and stops the process, as with any server. Run by Node, this
 * very module is that process: its first argument is the script as JSON, its second a file for the transcript.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { fileURLToPath } from "node:url"
import type { Note } from "./internal/perform.ts"
import * as PipeServer from "./internal/pipeServer.ts"
import type { Script } from "./Script.ts"
import type { Entry, Transcript } from "./Transcript.ts"

/**
 * How to start the server, and what it heard.
 *
 * @category models
 * @since 0.1.0
 */
export interface NodeScriptedServer {
  readonly script: Script
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** What all processes of this command heard and said so far. */
  readonly transcript: Effect.Effect<Transcript>
}

const self = fileURLToPath(import.meta.url)

const entriesOf = (file: string): ReadonlyArray<Entry> =>
  NodeFs.existsSync(file)
    ? NodeFs.readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line): Entry => JSON.parse(line))
    : []

/**
 * Describes the process of a script. The script travels as an argument, so it must stay below 100 kB. The transcript is
 * kept in a temporary folder that goes with the scope.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (script: Script): Effect.Effect<NodeScriptedServer, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "mcp-scripted-"))),
      (folder) => Effect.sync(() => NodeFs.rmSync(folder, { recursive: true, force: true }))
    ),
    (folder) => {
      const file = NodePath.join(folder, "transcript.jsonl")
      return {
        script,
        command: process.execPath,
        args: [self, JSON.stringify(script), file],
        transcript: Effect.sync(() => entriesOf(file))
      }
    }
  )

/** Plays the script on this process's standard input and output until the input ends or the script says so. */
const play = Effect.fnUntraced(function* (script: Script, file: string | undefined) {
  const clock = yield* Clock.Clock
  const run = yield* FiberSet.makeRuntime()
  const note: Note = (entry) => {
    if (file !== undefined)
      NodeFs.appendFileSync(file, `${JSON.stringify({ ...entry, at: clock.currentTimeMillisUnsafe() })}\n`)
  }
  const wire = 1 + (file === undefined ? 0 : entriesOf(file).filter(({ event }) => event === "opened").length)
  let over = false
  const code = yield* Effect.callback<number>((resume) => {
    const server = PipeServer.make(script, wire, note, {
      stdout: (text) => void process.stdout.write(text),
      stderr: (text) => void process.stderr.write(text),
      exit: (last) => {
        over = true
        process.stdout.write("", () => resume(Effect.succeed(last)))
      },
      close: () => {
        over = true
        NodeFs.closeSync(1)
      }
    })
    process.stdin.setEncoding("utf8")
    process.stdin.on("data", (text: string) => {
      for (const work of server.take(text)) run(work)
    })
    process.stdin.on("end", () => {
      if (!over) note({ event: "ended", wire })
      resume(Effect.succeed(0))
    })
    run(server.open)
  })
  return yield* Effect.sync(() => process.exit(code))
}, Effect.scoped)

const [, entry, script, file] = process.argv
if (entry !== undefined && script !== undefined && NodeFs.existsSync(entry) && NodeFs.realpathSync(entry) === self) {
  Effect.runFork(play(JSON.parse(script), file))
}
