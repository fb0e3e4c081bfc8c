/**
 * The command as a person runs it: a process with its own exit code, against real servers.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import * as Servers from "../servers/Servers.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 60_000 })

const bin = fileURLToPath(new URL("../../cli/src/bin.ts", import.meta.url))

/** Runs the command in a terminal that has no colours to offer. */
const mcpEffect = (...words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner
    const child = yield* spawner.spawn(
      ChildProcess.make(process.execPath, [bin, ...words], { env: { TERM: "dumb" }, extendEnv: true, stdin: "ignore" })
    )
    const [out, err, code] = yield* Effect.all(
      [
        Stream.mkString(Stream.decodeText(child.stdout)),
        Stream.mkString(Stream.decodeText(child.stderr)),
        child.exitCode
      ],
      { concurrency: "unbounded" }
    )
    // oxlint-disable-next-line no-control-regex -- escape sequences are what must not be there
    assert.notMatch(out + err, /\u001b/)
    return { out, err, code: Number(code) }
  }).pipe(Effect.provide(NodeServices.layer))

describe("mcp-effect, run", () => {
  it.live("U-67: probes a server in a process and exits with 0", () =>
    Effect.gen(function* () {
      const { target } = yield* Servers.sdkStdio
      const { code, err, out } = yield* mcpEffect("probe", "--explain", "--", target.command, ...target.args)
      assert.deepStrictEqual([code, err], [0, ""])
      assert.match(out, /^era {11}legacy$/m)
      assert.match(out, /^identity {6}sdk 1\.32\.2$/m)
      assert.match(out, /^tools \(7\)$/m)
    })
  )

  it.live("U-67: probes a server behind an address, HTTP+SSE included, and exits with 0", () =>
    Effect.gen(function* () {
      const modern = yield* Servers.effectHttp
      assert.match((yield* mcpEffect("probe", modern.target.url)).out, /^era {11}modern$/m)
      const sse = yield* Servers.everythingSse
      const { code, out } = yield* mcpEffect("probe", sse.target.url)
      assert.strictEqual(code, 0)
      assert.match(out, /^transport {5}sse$/m)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    "U-67: exits with 64 without a target, and with 69 when the server cannot be reached; each is told once, in plain text",
    () =>
      Effect.gen(function* () {
        const none = yield* mcpEffect("probe")
        assert.deepStrictEqual([none.code, none.out], [64, ""])
        assert.strictEqual(none.err.match(/which server\?/g)?.length, 1)

        const refused = yield* mcpEffect("probe", "http://127.0.0.1:9/mcp")
        assert.deepStrictEqual([refused.code, refused.out], [69, ""])
        assert.strictEqual(refused.err.split("\n").length, 2)
      })
  )
})
