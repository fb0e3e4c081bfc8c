/**
 * Completions of shells: printed by the command, and tried in the shells that are here.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Stream from "effect/Stream"
import { bin, command } from "./fixtures/command.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

const commands = "auth call complete config explore ping probe prompt prompts read resources servers tools watch".split(
  " "
)

/** What `bash` proposes when Tab is pressed at the end of a line, in a folder with a file `notes.json`. */
const proposed = Effect.fnUntraced(function* (...lines: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-cli-" })
  yield* fs.writeFileString(path.join(folder, "notes.json"), "{}")
  const script = path.join(folder, "try.sh")
  yield* fs.writeFileString(
    script,
    `mcp-effect() { "${process.execPath}" "${bin}" "$@"; }
     source <(mcp-effect --completions bash)
     for COMP_LINE in "$@"; do
       read -ra COMP_WORDS <<< "$COMP_LINE"
       [[ "$COMP_LINE" == *" " ]] && COMP_WORDS+=("")
       COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMP_POINT=\${#COMP_LINE}; COMPREPLY=()
       function=$(complete -p mcp-effect | sed 's/.*-F \\([^ ]*\\).*/\\1/')
       "$function" mcp-effect "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null
       echo "\${COMPREPLY[*]}"
     done`
  )
  const spawner = yield* ChildProcessSpawner
  const child = yield* spawner.spawn(
    ChildProcess.make("bash", ["--norc", script, ...lines], { cwd: folder, stdin: "ignore", stderr: "inherit" })
  )
  const out = yield* Stream.mkString(Stream.decodeText(child.stdout))
  assert.strictEqual(Number(yield* child.exitCode), 0)
  return out.split("\n").map((line) =>
    line
      .split(" ")
      .filter((word) => word !== "")
      .map((word) => word.trim())
      .toSorted()
  )
})

describe("U-67: completions", () => {
  it.live("are offered by bash: commands, the commands in them, options, what options may be, and files", () =>
    Effect.gen(function* () {
      const [all, pr, auth, option, era, to, ...files] = yield* proposed(
        "mcp-effect ",
        "mcp-effect pr",
        "mcp-effect auth ",
        "mcp-effect call --ye",
        "mcp-effect probe --era m",
        "mcp-effect config convert --to ",
        "mcp-effect probe --prior no",
        "mcp-effect servers --config no",
        "mcp-effect config check no"
      )
      assert.includeMembers(all ?? [], commands)
      assert.deepStrictEqual(pr, ["probe", "prompt", "prompts"])
      assert.includeMembers(auth ?? [], ["login", "logout", "status"])
      assert.deepStrictEqual(option, ["--yes"])
      assert.deepStrictEqual(era, ["modern"])
      assert.deepStrictEqual(to, ["array", "mcpServers", "servers"])
      assert.deepStrictEqual(files.slice(0, 3), [["notes.json"], ["notes.json"], ["notes.json"]])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live.each(["bash", "zsh", "fish", "powershell"])("are printed for %s, with every command and option", (name) =>
    Effect.gen(function* () {
      const { code, err, out } = yield* command(["--completions", name])
      assert.deepStrictEqual([code, err], [0, ""])
      for (const word of [...commands, "login", "convert", "explain", "timeout", "mcpServers"])
        assert.include(out, word)
      const fs = yield* FileSystem.FileSystem
      const file = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped({ prefix: "mcp-cli-" }), "completions")
      yield* fs.writeFileString(file, out)
      // Where the shell is here, it has to understand every line.
      const spawner = yield* ChildProcessSpawner
      const reading = spawner.spawn(ChildProcess.make(name, ["-n", file], { stdin: "ignore" }))
      const read = yield* reading.pipe(
        Effect.flatMap(({ exitCode }) => exitCode),
        Effect.map(Number),
        Effect.catchTag("PlatformError", () => Effect.succeed(0))
      )
      assert.strictEqual(read, 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
