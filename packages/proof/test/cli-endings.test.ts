/**
 * How the command ends: every exit code, readers that have seen enough, output that cannot be written, and signals.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ExitCode from "@mcp-effect/cli/ExitCode"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import * as Servers from "../servers/Servers.ts"
import { bin, chunks, command, dist } from "./fixtures/command.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

const kinds = ["--", process.execPath, fileURLToPath(new URL("fixtures/kinds.mjs", import.meta.url))]

/** Runs a line of a shell in which `mcp-effect` is the command. */
const shell = Effect.fnUntraced(function* (line: string, env: Readonly<Record<string, string>> = {}) {
  const spawner = yield* ChildProcessSpawner
  const child = yield* spawner.spawn(
    ChildProcess.make("bash", ["--norc", "-c", `mcp-effect() { "${process.execPath}" "${bin}" "$@"; }; ${line}`], {
      env: { TERM: "dumb", ...env },
      extendEnv: true,
      stdin: "ignore"
    })
  )
  const [out, err, code] = yield* Effect.all(
    [
      Stream.mkString(Stream.decodeText(child.stdout)),
      Stream.mkString(Stream.decodeText(child.stderr)),
      child.exitCode
    ],
    { concurrency: "unbounded" }
  )
  return { out, err, code: Number(code) }
})

/** A server that is alive, hears nothing, and stays when its standard input ends. */
const deaf = (file: string) => ["--", "bash", "-c", `echo $$ > '${file}'; trap '' PIPE; while :; do sleep 0.1; done`]

const isAlive = (pid: string) =>
  Effect.sync(() => {
    try {
      process.kill(Number(pid), 0)
      return true
    } catch {
      return false
    }
  })

describe("U-67: the end of the command", () => {
  it.live("has every exit code of the table", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-cli-" })
      const { target } = yield* Servers.officialStdio
      const server = ["--", target.command, ...target.args]
      const wrong = path.join(folder, "mcp.json")
      yield* fs.writeFileString(wrong, '{"mcpServers":{"one":{"args":1}}}')
      const rows: ReadonlyArray<readonly [name: ExitCode.Name, words: ReadonlyArray<string>, said: RegExp]> = [
        ["done", ["ping", ...server], /answered after/],
        ["toolFailed", ["call", "--yes", "fail", "because=rain", ...server], /^rain$/m],
        ["usage", ["pnig"], /Unknown subcommand "pnig"/],
        ["input", ["call", "add", "a=1", "b=two", ...server], /b must be of type number/],
        ["unreachable", ["ping", "http://127.0.0.1:9/mcp"], /ECONNREFUSED/],
        ["output", ["probe", "--save", path.join(folder, "no", "where"), ...server], /it is not there/],
        ["refused", ["read", "demo://nowhere", ...server], /-32602/],
        ["denied", ["call", "count", "to=1", ...server], /`--yes` says yes/],
        ["configuration", ["config", "check", wrong], /line 1, column/]
      ]
      const seen = yield* Effect.forEach(
        rows,
        Effect.fnUntraced(function* ([name, words, said]) {
          const { code, err, out } = yield* command(words)
          assert.strictEqual(code, ExitCode.codeOf(name), err)
          assert.match(out + err, said)
          return name
        }),
        { concurrency: 2 }
      )

      // A part of the program that is missing is a fault of the program.
      yield* fs.copy(dist, path.join(folder, "dist"))
      yield* fs.writeFileString(path.join(folder, "package.json"), '{"type":"module","version":"1.2.3"}')
      const part = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith("/cli/src/Look.ts")))
      assert.isDefined(part)
      yield* fs.remove(path.join(folder, "dist", part?.fileName ?? ""))
      const broken = yield* shell(`"${process.execPath}" "${folder}/dist/mcp-effect.js" ping http://127.0.0.1:9/mcp`)
      assert.strictEqual(broken.code, ExitCode.codeOf("internal"))
      assert.match(broken.err, /^this is a fault of mcp-effect 1\.2\.3: .*ERR_MODULE_NOT_FOUND|Cannot find module/)

      const spawner = yield* ChildProcessSpawner
      const signals = [
        ["SIGINT", "interrupted"],
        ["SIGTERM", "interrupted"],
        ["SIGHUP", "hungUp"]
      ] as const
      yield* Effect.forEach(
        signals,
        Effect.fnUntraced(function* ([signal, name]) {
          const child = yield* spawner.spawn(
            ChildProcess.make(process.execPath, [bin, "call", "wait", ...kinds], { stdin: "ignore" })
          )
          const begun = child.stderr.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead)
          assert.match(
            Option.getOrElse(yield* begun, () => ""),
            /^progress: 1 of 2/
          )
          yield* Effect.sync(() => process.kill(Number(child.pid), signal))
          assert.strictEqual(Number(yield* child.exitCode), ExitCode.codeOf(name), signal)
        }),
        { concurrency: 3 }
      )
      assert.deepStrictEqual(
        ExitCode.table.map(({ name }) => name).filter((name) => !seen.includes(name)),
        ["internal", "hungUp", "interrupted"]
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is quiet and 0 when a reader has seen enough, and 74 when the output cannot be written", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.everythingHttp
      const words = [
        `tools ${target.url}`,
        `tools --json ${target.url}`,
        `probe --explain ${target.url}`,
        `watch ${target.url}`,
        `--help`
      ]
      const runs = yield* Effect.forEach(
        words,
        (line) => shell(`mcp-effect ${line} | true; echo "code \${PIPESTATUS[0]}"`),
        { concurrency: 2 }
      )
      assert.deepStrictEqual(
        runs.map(({ err, out }) => [out, err]),
        words.map(() => ["code 0\n", ""])
      )
      const full = yield* shell(`mcp-effect tools ${target.url} > /dev/full`)
      assert.deepStrictEqual([full.code, full.err], [74, "the output cannot be written: ENOSPC\n"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("leaves no server behind: not on Ctrl-C, not when the terminal is gone, not when nobody reads on", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-cli-" })
      yield* Effect.forEach(
        ["INT", "HUP"],
        Effect.fnUntraced(function* (signal) {
          const file = `${folder}/${signal}`
          const spawner = yield* ChildProcessSpawner
          const child = yield* spawner.spawn(
            ChildProcess.make(process.execPath, [bin, "ping", ...deaf(file)], { stdin: "ignore", stderr: "ignore" })
          )
          const pid = yield* fs.readFileString(file).pipe(
            Effect.filterOrFail((text) => text.endsWith("\n")),
            Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 400 })
          )
          assert.isTrue(yield* isAlive(pid))
          yield* Effect.sync(() => process.kill(Number(child.pid), `SIG${signal}`))
          assert.strictEqual(Number(yield* child.exitCode), signal === "INT" ? 130 : 129)
          assert.isFalse(yield* isAlive(pid))
        }),
        { concurrency: "unbounded" }
      )
      const file = `${folder}/read`
      const server = `echo $$ > ${file}; '${process.execPath}' '${kinds[2]}'; trap "" PIPE; while :; do sleep 0.1; done`
      yield* shell(`mcp-effect watch -- bash -c '${server.replaceAll("'", `'\\''`)}' | true`)
      yield* Effect.filterOrFail(isAlive(yield* fs.readFileString(file)), (alive) => !alive).pipe(
        Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 200 })
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
