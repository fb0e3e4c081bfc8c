import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as NodeStdio from "../src/NodeStdio.ts"
import * as Stdio from "../src/Stdio.ts"
import { type Incoming, Transport } from "../src/Transport.ts"
import { until } from "./fixtures/asking.ts"
import { legacy, modern } from "./fixtures/revisions.ts"

const script = `${import.meta.dirname}/fixtures/server.mjs`
const request = (id: JsonRpc.RequestId, method: string, params: JsonRpc.JsonObject = {}): JsonRpc.Request => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})
const plain = { revision: modern }
const alive = (pid: unknown) =>
  Effect.sync(() => {
    try {
      return process.kill(Number(pid), 0)
    } catch {
      return false
    }
  })
const result = (response: JsonRpc.Response): JsonRpc.JsonObject => {
  assert.isTrue("result" in response, JSON.stringify(response))
  return "result" in response ? response.result : {}
}

const collected = () => {
  const diagnostics: Array<Diagnostic> = []
  return {
    diagnostics,
    collect: Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void diagnostics.push(diagnostic)))
  }
}

const portable = (options: Stdio.Options) => Stdio.layer(options).pipe(Layer.provide(NodeServices.layer))
const variants: ReadonlyArray<readonly [string, (options: Stdio.Options) => Layer.Layer<Transport>]> = [
  ["Stdio", portable],
  ["NodeStdio", NodeStdio.layer]
]

describe.each(variants)("%s", (_name, layer) => {
  const opened = Effect.fnUntraced(function* (options: Partial<Stdio.Options> = {}) {
    const heard: Array<Incoming> = []
    const transport = yield* Transport.pipe(
      Effect.provide(layer({ command: process.execPath, args: [script], ...options }))
    )
    const wire = yield* transport.open((message) => void heard.push(message))
    return { wire, heard, endpoint: transport.endpoint }
  })
  it.live("answers a request and ends with its scope", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened()
      assert.deepStrictEqual(yield* wire.exchange(request(1, "echo", { a: 1 }), plain), {
        jsonrpc: "2.0",
        id: 1,
        result: { a: 1 }
      })
    })
  )

  it.live("T-STDIO-1: skips noise on stdout, reports it, and reads on", () =>
    Effect.gen(function* () {
      const { collect, diagnostics } = collected()
      const { wire } = yield* collect(opened())
      yield* wire.exchange(request(1, "noise"), plain)
      const noise = diagnostics.filter((diagnostic) => diagnostic._tag === "NoiseSkipped")
      assert.deepStrictEqual(
        noise.map(({ excerpt, skipped }) => [excerpt, skipped]),
        [
          ["Server v1.2 ready", 1],
          ["{not json}", 2],
          ["[1]", 4]
        ]
      )
    })
  )

  it.live("T-STDIO-2, L-STDIO-6: strips a byte order mark and a carriage return", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened()
      assert.deepStrictEqual(result(yield* wire.exchange(request(1, "crlf"), plain)), { t: "a" })
    })
  )

  it.live("T-STDIO-3: reads an answer that comes byte by byte", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened()
      const params = { t: "a—😀读" }
      assert.deepStrictEqual(result(yield* wire.exchange(request(1, "bytes", params), plain)), params)
    })
  )

  it.live("T-STDIO-4: ends with TooLarge when a line passes the limit, and names the limit", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened().pipe(Effect.provideService(Defaults.MaxMessageBytes, 1024 * 1024))
      const error = yield* Effect.flip(wire.exchange(request(1, "endless"), plain))
      assert.strictEqual(error.reason._tag, "TooLarge")
      assert.include(error.message, "1048576")
      assert.strictEqual((yield* Effect.flip(wire.ended)).reason._tag, "TooLarge")
    })
  )

  it.live("T-STDIO-4: reads a 10 MiB answer in a moment", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened()
      const text = "读".repeat(3_500_000)
      const [took, answer] = yield* Effect.timed(wire.exchange(request(1, "echo", { text }), plain))
      assert.strictEqual(result(answer)["text"], text)
      assert.isBelow(Duration.toSeconds(took), 20)
    })
  )

  it.live("T-STDIO-5: reads stderr always and keeps only its end", () =>
    Effect.gen(function* () {
      let seen = 0
      const { wire } = yield* opened({ onStderr: (bytes) => void (seen += bytes.length) }).pipe(
        Effect.provideService(Defaults.StderrTailBytes, 1_000)
      )
      yield* wire.exchange(request(1, "chatter"), plain)
      yield* until(Effect.sync(() => seen === 256 * 1024))
      const error = yield* Effect.flip(wire.exchange(request(2, "exit"), plain))
      assert.strictEqual(error.reason._tag, "Exited")
      if (error.reason._tag === "Exited") assert.isAtMost(error.reason.stderr.length, 1_000)
    })
  )

  it.live("T-RPC-6: `onStderr` that throws is reported once and not called again, and nothing else happens", () =>
    Effect.gen(function* () {
      const { collect, diagnostics } = collected()
      let called = 0
      const onStderr = () => {
        called++
        throw new Error("from the program")
      }
      const { wire } = yield* collect(opened({ onStderr }))
      for (const id of [1, 2]) yield* wire.exchange(request(id, "chatter"), plain)
      const error = yield* Effect.flip(wire.exchange(request(3, "exit"), plain))
      assert.strictEqual(error.reason._tag, "Exited")
      if (error.reason._tag === "Exited") assert.isAbove(error.reason.stderr.length, 1_000)
      assert.strictEqual(called, 1)
      assert.deepStrictEqual(
        diagnostics.flatMap((each) => (each._tag === "CallbackFailed" ? [[each.callback, each.because]] : [])),
        [["onStderr", "Error: from the program"]]
      )
    })
  )

  it.live("T-STDIO-7, T-SEC-6: puts entries on top of a safe part of the environment", () =>
    Effect.gen(function* () {
      const secret = Redacted.make("s3cret")
      process.env["MCP_EFFECT_PARENT"] = "seen"
      const { wire } = yield* opened({ env: { K: "v", TOKEN: secret, USER: undefined }, cwd: import.meta.dirname })
      const { cwd, env } = result(yield* wire.exchange(request(1, "env"), plain))
      assert.include(env, { K: "v", TOKEN: "s3cret", PATH: process.env["PATH"] })
      assert.doesNotHaveAnyKeys(env, ["MCP_EFFECT_PARENT", "USER"])
      assert.strictEqual(cwd, import.meta.dirname)
      const all = yield* opened({ inheritEnv: true })
      assert.include(result(yield* all.wire.exchange(request(1, "env"), plain))["env"], { MCP_EFFECT_PARENT: "seen" })
    })
  )

  it.live("T-STDIO-8: leaves no grandchild, whether the server or its wrapper ends first", () =>
    Effect.gen(function* () {
      const started = yield* Effect.scoped(
        Effect.gen(function* () {
          const direct = yield* opened()
          const wrapped = yield* opened({ command: "sh", args: ["-c", `"${process.execPath}" "${script}"; true`] })
          return [
            result(yield* direct.wire.exchange(request(1, "grandchild"), plain))["pid"],
            result(yield* wrapped.wire.exchange(request(1, "grandchild"), plain))["pid"]
          ]
        })
      )
      yield* Effect.forEach(started, (pid) => until(Effect.map(alive(pid), (yes) => !yes)))
    }).pipe(Effect.provideService(Defaults.ShutdownPatience, Duration.millis(300)))
  )

  it.live("T-STDIO-9: a server that heeds the end of its input is gone at once", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { wire } = yield* Scope.provide(opened(), scope)
      const { pid } = result(yield* wire.exchange(request(1, "pid"), plain))
      const [took] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.isFalse(yield* alive(pid))
      assert.isBelow(Duration.toMillis(took), 60_000)
    }).pipe(Effect.provideService(Defaults.ShutdownPatience, Duration.minutes(1)))
  )

  it.live("L-STDIO-7: a server that heeds nothing is killed in the end", () =>
    Effect.gen(function* () {
      const pid = yield* Effect.scoped(
        Effect.gen(function* () {
          const { wire } = yield* opened()
          return result(yield* wire.exchange(request(1, "stubborn"), plain))["pid"]
        })
      )
      assert.isFalse(yield* alive(pid))
    }).pipe(Effect.provideService(Defaults.ShutdownPatience, Duration.millis(100)))
  )

  it.live("T-STDIO-10: a write after the child is gone fails that send and the wire, nothing else", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened()
      yield* wire.exchange(request(1, "deaf"), plain)
      const notification = { jsonrpc: "2.0", method: "notifications/initialized" } as const
      yield* until(Effect.isFailure(wire.send(notification, legacy)))
      const error = yield* Effect.flip(wire.ended)
      assert.include(["Exited", "Closed"], error.reason._tag)
    })
  )

  it.live("T-STDIO-11: an exit fails each open exchange once, with code, signal and stderr", () =>
    Effect.gen(function* () {
      const { wire, endpoint } = yield* opened()
      const waiting = yield* Effect.forkChild(
        Effect.all(
          [1, 2, 3, 4].map((id) => Effect.flip(wire.exchange(request(id, "silent"), plain))),
          { concurrency: "unbounded" }
        ),
        { startImmediately: true }
      )
      const error = yield* Effect.flip(wire.exchange(request(5, "exit"), plain))
      assert.strictEqual(error.endpoint, endpoint)
      assert.deepInclude(error.reason, { _tag: "Exited", code: 3, signal: null, stderr: "first\nfatal: no database\n" })
      assert.include(error.message, "exit code 3")
      assert.include(error.message, "fatal: no database")
      assert.deepStrictEqual(
        (yield* Fiber.join(waiting)).map(({ reason }) => reason._tag),
        ["Exited", "Exited", "Exited", "Exited"]
      )
      assert.strictEqual((yield* Effect.flip(wire.exchange(request(6, "echo"), plain))).reason._tag, "Exited")
    })
  )

  it.live("T-STDIO-11: names the signal that ended the child", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened()
      const error = yield* Effect.flip(wire.exchange(request(1, "killed"), plain))
      assert.deepInclude(error.reason, { _tag: "Exited", code: null, signal: "SIGKILL" })
    })
  )

  it.live("T-STDIO-11: an answer written just before the exit still counts", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened()
      assert.deepStrictEqual(result(yield* wire.exchange(request(1, "exitWithAnswer"), plain)), {})
    })
  )

  it.live("M-STDIO-16: a server that closes its output has ended the wire", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened()
      const error = yield* Effect.flip(wire.exchange(request(1, "mute"), plain))
      assert.deepInclude(error.reason, { _tag: "Closed", because: "the server closed its output" })
    }).pipe(Effect.provideService(Defaults.ShutdownPatience, Duration.millis(100)))
  )

  it.live("T-STDIO-12: a big request and big output do not block each other", () =>
    Effect.gen(function* () {
      const { collect } = collected()
      const { wire } = yield* collect(opened({ args: [script, "flood"] }))
      const text = "x".repeat(8 * 1024 * 1024)
      assert.strictEqual(result(yield* wire.exchange(request(1, "echo", { text }), plain))["text"], text)
    })
  )

  it.live("holds requests back while the server does not read, and lets them be interrupted", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened({ args: ["-e", "setInterval(() => {}, 1000)"] })
      const text = "x".repeat(4 * 1024 * 1024)
      const sent: Array<number> = []
      const waiting = yield* Effect.forkChild(
        Effect.forEach(
          [1, 2, 3, 4],
          (id) =>
            wire
              .send({ jsonrpc: "2.0", method: "notifications/big", params: { text } }, modern)
              .pipe(Effect.andThen(Effect.sync(() => void sent.push(id)))),
          { concurrency: "unbounded" }
        )
      )
      yield* Effect.sleep(100)
      assert.isBelow(sent.length, 4)
      yield* Fiber.interrupt(waiting)
    }).pipe(Effect.provideService(Defaults.ShutdownPatience, Duration.millis(100)))
  )

  it.live("a missing command fails with SpawnFailed and says so", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(opened({ command: "no-such-command", args: [Redacted.make("s3cret"), "a b"] }))
      assert.strictEqual(error.endpoint, `no-such-command <redacted> "a b"`)
      assert.deepInclude(error.reason, { _tag: "SpawnFailed", command: "no-such-command", because: "NotFound" })
      assert.include(error.message, "could not start `no-such-command`: NotFound")
    })
  )

  it.live("a missing folder fails with SpawnFailed", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(opened({ cwd: "/no/such/folder" }))
      assert.strictEqual(error.reason._tag, "SpawnFailed")
    })
  )

  it.live("a second wire is a second process", () =>
    Effect.gen(function* () {
      const transport = yield* Transport.pipe(Effect.provide(layer({ command: process.execPath, args: [script] })))
      assert.isTrue(transport.reopenable)
      const pid = Effect.flatMap(
        transport.open(() => {}),
        (wire) => Effect.map(wire.exchange(request(1, "pid"), plain), (response) => result(response)["pid"])
      )
      assert.notStrictEqual(yield* pid, yield* pid)
    })
  )

  it.live("T-RPC-1, T-RPC-5: an interrupted request is cancelled once, and its late answer is dropped silently", () =>
    Effect.gen(function* () {
      const { collect, diagnostics } = collected()
      const { wire } = yield* collect(opened())
      const arrived = yield* Deferred.make<void>()
      const interim = () => void Deferred.doneUnsafe(arrived, Exit.void)
      const fiber = yield* Effect.forkChild(wire.exchange(request(4, "late"), { revision: modern, interim }))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      const { heard } = result(yield* wire.exchange(request(5, "heard"), plain))
      assert.isArray(heard)
      if (Array.isArray(heard)) {
        assert.deepStrictEqual(
          heard.map((message) => [message.method, message.params.requestId]),
          [
            ["late", undefined],
            ["notifications/cancelled", 4],
            ["heard", undefined]
          ]
        )
      }
      assert.deepStrictEqual(diagnostics, [])
    })
  )

  it.live("T-RPC-5: neither initialize nor a silent exchange is cancelled on the wire", () =>
    Effect.gen(function* () {
      const { wire } = yield* opened()
      const start = { startImmediately: true }
      const probe = yield* Effect.forkChild(
        wire.exchange(request(1, "silent"), { revision: modern, onInterrupt: "silent" }),
        start
      )
      const handshake = yield* Effect.forkChild(wire.exchange(request(2, "initialize"), { revision: legacy }), start)
      let id = 3
      const heard = Effect.suspend(() => wire.exchange(request(id++, "heard"), plain)).pipe(
        Effect.map((answer) => {
          const { heard } = result(answer)
          assert.isArray(heard)
          return Array.isArray(heard) ? heard.map(({ method }) => method).filter((method) => method !== "heard") : []
        })
      )
      yield* until(Effect.map(heard, ({ length }) => length === 2))
      yield* Fiber.interruptAll([probe, handshake])
      assert.deepStrictEqual(yield* heard, ["silent", "initialize"])
    })
  )

  it.live("delivers 10,000 progress notifications, in order and before the answer in the same chunk", () =>
    Effect.gen(function* () {
      const { wire, heard } = yield* opened()
      const seen: Array<unknown> = []
      yield* wire.exchange(request(1, "progress", { times: 10_000 }), {
        revision: modern,
        interim: (message) => void seen.push(message.params?.["progress"])
      })
      assert.deepStrictEqual(
        seen,
        Array.from({ length: 10_000 }, (_, i) => i)
      )
      assert.deepStrictEqual(heard, [])
    })
  )

  it.live("M-STDIO-9: tells a listen stream's notifications from those for everybody", () =>
    Effect.gen(function* () {
      const { wire, heard } = yield* opened()
      const seen: Array<string> = []
      yield* wire.exchange(request(1, "listen"), {
        revision: modern,
        interim: (message) => void seen.push(message.method)
      })
      assert.deepStrictEqual(seen, ["notifications/tools/list_changed"])
      assert.deepStrictEqual(
        heard.map(({ method }) => method),
        ["notifications/message", "ping"]
      )
    })
  )
})
