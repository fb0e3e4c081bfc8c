/**
 * What people really type, and what really answers there: each ends in a typed error that says what to change, within
 * its limit, and leaves nothing running.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer, type RequestListener, type ServerResponse } from "node:http"
import * as Watching from "./fixtures/watching.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 60_000 })

const Platform = Layer.mergeAll(NodeServices.layer, NodeHttp.layer, EraMemory.layerInProcess)

const rejections: Array<unknown> = []
const onRejection = (reason: unknown) => void rejections.push(reason)
beforeAll(() => void process.on("unhandledRejection", onRejection))
afterAll(() => {
  process.off("unhandledRejection", onRejection)
  assert.deepStrictEqual(rejections, [], "T-LIFE-5: nothing rejects unheard")
})

const limits = (probe: number, others: number) =>
  Context.empty().pipe(
    Context.add(Defaults.ProbeTimeout, Duration.millis(probe)),
    Context.add(Defaults.HandshakeTimeout, Duration.millis(others)),
    Context.add(Defaults.RequestTimeout, Duration.millis(others)),
    Context.add(Defaults.ShutdownPatience, Duration.millis(200))
  )

/** For what is waited for in vain: soon over, and long enough for a shell on a busy machine to start and say a word. */
const hasty = limits(2_500, 500)

/** For what ends by itself, long before. */
const patient = limits(30_000, 30_000)

/** How connecting there fails, and that it is over, processes and all, in a few seconds even on a busy machine. */
const failing = Effect.fnUntraced(function* (
  target: string | ReadonlyArray<string> | Transport["Service"],
  within = patient
) {
  const [took, found] = yield* Effect.timed(
    Watching.processes((pids) =>
      Effect.flip(Effect.scoped(McpClient.connect(target))).pipe(
        Effect.provideContext(within),
        Effect.map((error: NegotiationError | McpClientError) => ({ error, left: pids.filter(Watching.isAlive) }))
      )
    )
  )
  assert.isBelow(Duration.toSeconds(took), 20)
  assert.deepStrictEqual(found.left, [], "a process is left")
  return found.error
}, Effect.provide(Platform))

/** Whether such a failure is only found out by waiting. */
const inVain = (reason: string) => (reason.endsWith("Timeout") ? hasty : patient)

/** Everything a person may read of an error. */
const told = (error: NegotiationError | McpClientError) =>
  error._tag === "NegotiationError" ? `${error.message}\n${error.hint}` : error.message

/** A server of one listener on loopback. */
const served = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const http = createServer(listener)
      http.listen(0, "127.0.0.1", () => {
        const address = http.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          http.close()
          http.closeAllConnections()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/mcp`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const answering =
  (answer: (response: ServerResponse) => void): RequestListener =>
  (_, response) =>
    answer(response)

const node = (script: string) => [process.execPath, "-e", script]
const sh = (script: string) => ["sh", "-c", script]

/** Reads its input for ever and says nothing. */
const silent = "process.stdin.resume()"

describe("a command", () => {
  const rows: ReadonlyArray<
    readonly [what: string, command: ReadonlyArray<string>, reason: string, says: ReadonlyArray<string>]
  > = [
    ["that does not exist", ["mcp-no-such-command"], "SpawnFailed", ["`mcp-no-such-command`", "Check the spelling"]],
    ["that is a folder", ["/tmp"], "SpawnFailed", ["PermissionDenied", "may be run"]],
    ["that a shell does not find", sh("mcp-no-such-command"), "ServerExited", ["with code 127", "not found"]],
    [
      "that exits at once with a word on stderr",
      sh("echo API_KEY is missing >&2; exit 3"),
      "ServerExited",
      ["with code 3", "API_KEY is missing", "Run the command by hand"]
    ],
    [
      "that exits at once without a word",
      ["true"],
      "ServerExited",
      ["with code 0", "its standard error is empty", "Run the command by hand"]
    ],
    ["that dies by a signal", sh("kill -9 $$"), "ServerExited", ["SIGKILL", "Run the command by hand"]],
    ["that never answers", node(silent), "HandshakeTimeout", ["raise the handshake limit", "P16"]],
    [
      "that writes no JSON and then nothing",
      sh("echo '{\"jsonrpc\": oops'; cat >/dev/null; true"),
      "HandshakeTimeout",
      ["raise the handshake limit"]
    ],
    [
      "that waits for something else and says so on stderr",
      sh("echo waiting for the database >&2; cat >/dev/null; true"),
      "HandshakeTimeout",
      ['the end of its standard error: "waiting for the database"', "raise the handshake limit"]
    ],
    ["that closes its output and lives on", sh("exec >&-; exec sleep 60"), "ClosedDuringNegotiation", ["initialize"]]
  ]

  it.live.each(rows)("U-61: %s", ([, command, reason, says]) =>
    Effect.gen(function* () {
      const error = yield* failing(command, inVain(reason))
      assert.strictEqual(error.reason._tag, reason, error.message)
      for (const text of says) assert.include(told(error), text)
    })
  )

  it.live("U-61: of a command that fills its stderr and never answers only the last words are told", () =>
    Effect.gen(function* () {
      const wordy = sh(
        "head -c 200000 /dev/zero | tr '\\0' x >&2; printf '\\033[31m\\nno licence\\n' >&2; cat >/dev/null; true"
      )
      for (const target of [wordy, NodeStdio.make({ command: wordy[0]!, args: wordy.slice(1) })]) {
        const error = yield* failing(target, hasty)
        if (error._tag !== "NegotiationError") return assert.fail(error.message)
        assert.match(error.stderr ?? "", /^x+ \[31m no licence$/)
        assert.strictEqual([...(error.stderr ?? "")].length, 200)
        assert.include(error.message, error.stderr ?? "none")
      }
    })
  )

  it.live("T-STDIO-1: lines that are no message are reported, and do not count as an answer", () =>
    Effect.gen(function* () {
      const diagnostics: Array<Diagnostic> = []
      const chatty = sh("echo Server ready on stdio; echo '[1, 2'; cat >/dev/null; true")
      yield* failing(chatty, hasty).pipe(
        Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void diagnostics.push(diagnostic)))
      )
      assert.deepStrictEqual(
        diagnostics.map((each) => each._tag === "NoiseSkipped" && each.excerpt),
        ["Server ready on stdio", "[1, 2"]
      )
    })
  )

  it.live("T-STDIO-4: a line larger than MaxMessageBytes ends the connect and names the limit", () =>
    Effect.gen(function* () {
      const error = yield* failing(sh("printf '{%5000s' x; cat >/dev/null; true")).pipe(
        Effect.provideService(Defaults.MaxMessageBytes, 1000)
      )
      assert.include(told(error), "1000 bytes")
    })
  )
})

describe("an address", () => {
  const html = "<!doctype html><title>Welcome</title><h1>Sign in</h1>"
  const rows: ReadonlyArray<
    readonly [what: string, listener: RequestListener, reason: string, says: ReadonlyArray<string>]
  > = [
    [
      "P29: of a page",
      answering((response) => response.setHeader("content-type", "text/html").end(html)),
      "MalformedProbeReply",
      ["text/html", "Sign in", "not of a web page"]
    ],
    [
      "P29: that accepts without an answer",
      answering((response) => response.writeHead(202).end()),
      "MalformedProbeReply",
      ["HTTP 202", "without an answer"]
    ],
    [
      "P29: whose JSON is broken",
      answering((response) => response.setHeader("content-type", "application/json").end('{"jsonrpc":')),
      "MalformedProbeReply",
      ["it is not JSON", '"{"jsonrpc":"']
    ],
    [
      "P29: whose event stream ends before the answer",
      answering((response) => response.setHeader("content-type", "text/event-stream").end(": hello\n\n")),
      "MalformedProbeReply",
      ["ended before the answer"]
    ],
    [
      "T-LIFE-5: that breaks off in the middle of an event",
      answering((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write("data: {", () => response.destroy())
      }),
      "MalformedProbeReply",
      ["Check that the address"]
    ],
    [
      "P30: that hangs up",
      answering((response) => response.destroy()),
      "ProbeTransportFailure",
      ["Check that it runs"]
    ],
    ["P16: that never answers", () => {}, "ProbeTimeout", ["raise the time limit", "set mode 'legacy'"]],
    [
      "P16: that begins to answer and stops",
      answering((response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.write("{")
      }),
      "ProbeTimeout",
      ["raise the time limit"]
    ],
    [
      "U-05, P23: that wants authorization",
      answering((response) =>
        response.writeHead(401, { "www-authenticate": 'Bearer realm="here"' }).end("who are you?")
      ),
      "AuthorizationRequired",
      ["MCP: HTTP 401 who are you?", 'Bearer realm="here"', "add a token"]
    ],
    [
      "U-05, P24: that refuses",
      answering((response) => response.writeHead(403).end()),
      "AuthorizationDenied",
      ["MCP: HTTP 403", "set mode 'legacy'"]
    ],
    [
      "U-05, P27: of a server that fails",
      answering((response) => response.writeHead(503, { "retry-after": "7" }).end("\u001b[31mdown")),
      "ProbeHttpStatus",
      ["MCP: HTTP 503 ", "down", "See its log"]
    ],
    [
      "U-05, P28: that has moved to another host",
      answering((response) => response.writeHead(308, { location: "https://example.com/mcp?key=s3cret" }).end()),
      "ProbeHttpStatus",
      ["MCP: HTTP 308", "Set the address to https://example.com/mcp"]
    ],
    [
      "U-05, P25: that asks to slow down",
      answering((response) => response.writeHead(429, { "retry-after": "7" }).end()),
      "ProbeHttpStatus",
      ["MCP: HTTP 429", "Try again in 7 s"]
    ]
  ]

  it.live.each(rows)("%s", ([, listener, reason, says]) =>
    Effect.gen(function* () {
      const { url } = yield* served(listener)
      const error = yield* failing(url, inVain(reason))
      assert.strictEqual(error.reason._tag, reason, error.message)
      for (const text of says) assert.include(told(error), text)
      for (const text of ["s3cret", "\u001b"]) assert.notInclude(told(error), text)
    })
  )

  it.live("P30: where nothing listens", () =>
    Effect.gen(function* () {
      // No service has this port, and the system lends it to nobody.
      const error = yield* failing("http://127.0.0.1:3/mcp")
      assert.strictEqual(error.reason._tag, "ProbeTransportFailure")
      assert.include(told(error), "ECONNREFUSED")
      assert.include(told(error), "Check that it runs")
    })
  )

  it.live.each(["", "not a url", "localhost:3000/mcp", "ftp://example.com/mcp"])("U-61: that is none: %j", (address) =>
    Effect.gen(function* () {
      const error = yield* failing(address)
      assert.strictEqual(error.reason._tag, "ProbeTransportFailure")
      assert.include(told(error), "the address is no")
    })
  )
})

const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)])

describe("again and again", () => {
  it.live("T-LIFE-2, T-LIFE-6: twenty connects cut short leave no process and no listener", () =>
    Effect.gen(function* () {
      const before = listeners()
      const left = yield* Watching.processes((pids) =>
        Effect.forEach(
          Array.from({ length: 20 }, (_, n) => n * 5),
          (limit) => Effect.scoped(McpClient.connect(node(silent))).pipe(Effect.timeoutOption(limit)),
          { concurrency: 5 }
        ).pipe(Effect.map(() => pids.filter(Watching.isAlive)))
      )
      assert.deepStrictEqual(left, [])
      assert.deepStrictEqual(listeners(), before)
    }).pipe(Effect.provideContext(hasty), Effect.provide(Platform))
  )
})
