/**
 * `mcp-effect watch --json`: what happens, while it happens, as one value a line.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import * as Servers from "../servers/Servers.ts"
import { bin, command, mistakes } from "./fixtures/command.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

/** Watches until so many lines have come, doing something after the first, and ends with Ctrl-C. */
const watching = Effect.fnUntraced(function* (
  words: ReadonlyArray<string>,
  lines: number,
  doing: Effect.Effect<unknown, unknown, ChildProcessSpawner> = Effect.void
) {
  const spawner = yield* ChildProcessSpawner
  const child = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [bin, "watch", "--json", ...words], { stdin: "ignore", stderr: "inherit" })
  )
  let begun = false
  const seen = yield* child.stdout.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.tap(() => {
      if (begun) return Effect.void
      begun = true
      return doing
    }),
    Stream.take(lines),
    Stream.runCollect
  )
  yield* Effect.sync(() => process.kill(Number(child.pid), "SIGINT"))
  assert.strictEqual(Number(yield* child.exitCode), 130)
  for (const line of seen) assert.deepStrictEqual(mistakes("watch", line), [], line)
  return Array.from(seen)
})

/** The changes among the lines, by their tags. */
const tags = (lines: ReadonlyArray<string>) =>
  lines
    .flatMap((line): ReadonlyArray<string> => {
      const { change } = JSON.parse(line)
      return change === undefined ? [] : [`${change._tag}`]
    })
    .toSorted()

describe("U-67, U-25: watch --json", () => {
  it.live("prints each change of a modern server as it happens", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.officialHttp
      const announce = command(["call", "--yes", target.url, "announce"])
      const lines = yield* watching([target.url, "demo://hello"], 3, announce)
      assert.match(lines[0] ?? "", /"_tag":"Watched"/)
      assert.deepStrictEqual(tags(lines), ["ResourceUpdated", "ToolsChanged", "Watched"])
      assert.include(lines.join("\n"), '"uri":"demo://hello"')
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("prints logs of a legacy server beside its changes, with harmful characters escaped", () =>
    Effect.gen(function* () {
      const kinds = fileURLToPath(new URL("fixtures/kinds.mjs", import.meta.url))
      const lines = yield* watching(["demo://a", "--", process.execPath, kinds], 5)
      // oxlint-disable-next-line no-control-regex -- escape sequences are what must not be there
      assert.notMatch(lines.join(""), /\u001b/)
      const values = lines.map((line) => JSON.parse(line))
      const log = values.find(({ event }) => event === "log")
      assert.deepStrictEqual(log, {
        event: "log",
        level: "warning",
        logger: "here",
        data: { level: "debug", evil: "\u001b[2J" }
      })
      assert.deepStrictEqual(tags(lines), ["ResourceUpdated", "ToolsChanged", "Unwatched", "Watched"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
