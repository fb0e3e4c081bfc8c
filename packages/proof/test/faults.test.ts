/**
 * A network that fails between the client and real servers: each fault, at each step of a connection, ends in an answer or
 * in a typed error, within a bounded time, and leaves nothing behind.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import { McpClientError } from "@mcp-effect/client/McpClientError"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { type Fault, faultProxy } from "../../transport/test/fixtures/faultProxy.ts"
import * as Servers from "../servers/Servers.ts"
import { addedTo, handles } from "./fixtures/handles.ts"

const kinds = ["reset", "end", "destroy", "stall", "slow", "delay"] as const

/** Bytes of the answers that pass before the fault: none, a part of the first head, a part of a body. */
const places = [0, 90, 400]

/** Which step the fault meets; `close` is what the client does when its scope ends. */
const steps = ["connect", "list", "call", "stream", "close"] as const

interface Row {
  readonly name: string
  readonly mode: "auto" | "legacy"
  readonly start: (typeof Servers.all)[number]
  /** A tool that reports progress, and with what to call it. */
  readonly stream: readonly [tool: string, args: Readonly<Record<string, number>>]
}

const count = ["count", { to: 3 }] as const
const rows: ReadonlyArray<Row> = [
  { name: "official-http, modern", mode: "auto", start: Servers.officialHttp, stream: count },
  { name: "official-http, legacy", mode: "legacy", start: Servers.officialHttp, stream: count },
  { name: "sdk-http", mode: "auto", start: Servers.sdkHttp, stream: count },
  {
    name: "everything-http",
    mode: "auto",
    start: Servers.everythingHttp,
    stream: ["trigger-long-running-operation", { duration: 0.02, steps: 2 }]
  }
]

/**
 * So that a fault is waited for no longer than it takes to show, and a busy machine still answers in time; a network that
 * works gets the usual time.
 */
const quick = Context.empty().pipe(
  Context.add(Defaults.ConnectTimeout, Duration.millis(3_000)),
  Context.add(Defaults.HandshakeTimeout, Duration.millis(2_000)),
  Context.add(Defaults.RequestTimeout, Duration.millis(2_000)),
  Context.add(Defaults.ToolCallTimeout, Duration.millis(2_000)),
  Context.add(Defaults.SessionDeleteTimeout, Duration.millis(50))
)

const again = Schedule.spaced("5 millis").pipe(Schedule.upTo({ times: 2 }))

const isTyped = (exit: Exit.Exit<unknown, unknown>): boolean => {
  if (Exit.isSuccess(exit)) return true
  return exit.cause.reasons.every(
    (reason) =>
      reason._tag === "Fail" && (reason.error instanceof McpClientError || reason.error instanceof NegotiationError)
  )
}

const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (condition() ? Effect.void : Effect.delay(until(condition), 5)))

/** One whole connection with one fault in one step; the steps after it go over a network that works. */
const attempt = Effect.fnUntraced(function* (server: Servers.RunningServer, row: Row, step: string, fault: Fault) {
  if (server.kind === "stdio") return yield* Effect.die("not over HTTP")
  const url = new URL(server.target.url)
  const proxy = yield* faultProxy(Number(url.port))
  const { call } = server.expects
  const outcomes: Array<Exit.Exit<unknown, unknown>> = []
  const during = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      proxy.fault = name === step ? fault : { kind: "none", after: 0 }
      const exit = yield* Effect.exit(effect)
      outcomes.push(exit)
      return yield* exit
    })
  const converse = Effect.gen(function* () {
    const http = yield* Layer.build(NodeHttp.layer)
    const transport = yield* StreamableHttp.make({
      url: `http://127.0.0.1:${proxy.port}${url.pathname}`,
      reconnect: again
    }).pipe(Effect.provideContext(http))
    const client = yield* during(
      "connect",
      McpClient.connect(transport, { mode: row.mode, reconnect: again, relisten: again })
    )
    yield* Effect.exit(during("list", client.listTools()))
    yield* Effect.exit(during("call", client.callTool(call.tool, { ...call.arguments })))
    yield* Effect.exit(during("stream", Stream.runDrain(client.streamTool(row.stream[0], row.stream[1]))))
    yield* during("close", Effect.void)
  })
  const where = `${row.name}, ${step}: ${fault.kind} after ${fault.after} bytes`
  const whole = yield* Effect.exit(Effect.scoped(converse)).pipe(
    Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.die(`${where}: no end`) })
  )
  for (const outcome of [...outcomes, whole]) assert.isTrue(isTyped(outcome), `${where}: ${String(outcome)}`)
  yield* until(() => proxy.open.size === 0).pipe(
    Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.die(`${where}: a connection is left`) })
  )
  return outcomes.filter(Exit.isFailure).length
})

const Platform = Layer.mergeAll(NodeServices.layer, EraMemory.layerNone)

describe("a network that fails, between the client and a real server", () => {
  it.live.each(rows)(
    "T-LIFE-5, U-62: $name: every fault at every step ends in a typed outcome and leaves nothing",
    (row) =>
      Effect.gen(function* () {
        const server = yield* row.start
        const failuresWith = (step: string, fault: Fault) => Effect.scoped(attempt(server, row, step, fault))
        assert.strictEqual(yield* failuresWith("none", { kind: "none", after: 0 }), 0, "a network that works")
        const before = handles()
        const cases = steps.flatMap((step) =>
          kinds.flatMap((kind) => places.map((after) => ({ step, fault: { kind, after } })))
        )
        const failures = yield* Effect.forEach(cases, ({ fault, step }) => failuresWith(step, fault), {
          concurrency: 8
        }).pipe(Effect.provideContext(quick))
        const failed = failures.filter((times) => times > 0).length
        assert.isAbove(failed, 15)
        assert.isBelow(failed, cases.length - 15)
        yield* until(() => addedTo(before).length === 0).pipe(Effect.timeoutOption("20 seconds"))
        assert.deepStrictEqual(addedTo(before), [])
      }).pipe(Effect.provide(Platform)),
    120_000
  )
})
