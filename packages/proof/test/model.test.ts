/**
 * Generated servers, the real client, and an oracle that knows only the decision table.
 *
 * `MODEL_RUNS=20` multiplies the number of servers, `MODEL_SEED=7` takes others.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptArbitraries from "@mcp-effect/testing/ScriptArbitraries"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { comparable, limits } from "../model/connecting.ts"
import { expected, type Mode, type Outcome, type Situation } from "../model/Oracle.ts"
import * as Peers from "../model/peers.ts"

const times = Number(process.env["MODEL_RUNS"] ?? 1)
const seed = Number(process.env["MODEL_SEED"] ?? 20_260_728)

const carrierOf = (kind: Situation["kind"]) => (kind === "http" ? "http" : "pipe")

interface Disagreement {
  readonly wanted: unknown
  readonly got: unknown
}

/** Fails with both outcomes where they differ. */
const agrees = (situation: Situation, connecting: Effect.Effect<Outcome>): Effect.Effect<true, Disagreement> =>
  Effect.flatMap(connecting, (outcome) => {
    const wanted = comparable(expected(situation), situation.mode)
    const got = comparable(outcome, situation.mode)
    return JSON.stringify(sorted(wanted)) === JSON.stringify(sorted(got))
      ? Effect.succeed(true as const)
      : Effect.fail({ wanted, got })
  })

const sorted = (value: object) => Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))

const holds = (
  servers: Arbitrary.Arbitrary<Script.Script>,
  property: (script: Script.Script) => Effect.Effect<true, Disagreement>,
  options: Arbitrary.CheckOptions
) =>
  Effect.map(Arbitrary.checkEffect(servers, property, { seed, ...options }), (result) => {
    if (result._tag === "Falsified") {
      assert.fail(`${Arbitrary.formatCheckFailure(result)}\n${JSON.stringify(result.shrunkInput)}`)
    }
    assert.strictEqual(result._tag, "Passed")
  })

describe("P1–P32, H1–H15: connecting to any server comes to what the table says", () => {
  const cases = (["stdio", "memory", "http"] as const).flatMap((kind) =>
    (["auto", "modern", "legacy", "pin"] as const).map((mode) => ({ kind, mode }))
  )

  it.effect.each(cases)(
    "over $kind in mode $mode, in memory",
    ({ kind, mode }) =>
      holds(
        ScriptArbitraries.script({ carrier: carrierOf(kind) }),
        (script) => agrees({ script, kind, mode, limits }, Peers.inMemory(script, kind, mode)),
        { runs: (mode === "auto" ? 250 : mode === "pin" ? 20 : 60) * times }
      ),
    { timeout: 60_000 * times }
  )

  it.live(
    "over stdio in mode auto, with child processes",
    () =>
      holds(
        ScriptArbitraries.script({ carrier: "pipe", waits: "never" }),
        (script) =>
          agrees({ script, kind: "stdio", mode: "auto", limits: Peers.processLimits }, Peers.inProcess(script, "auto")),
        { runs: 12 * times, concurrency: 6, maxShrinks: 8 }
      ),
    { timeout: 120_000 * times }
  )

  it.live(
    "over http in mode auto, with sockets",
    () =>
      holds(
        ScriptArbitraries.script({ carrier: "http", waits: "never" }),
        (script) =>
          agrees({ script, kind: "http", mode: "auto", limits: Peers.socketLimits }, overSocket(script, "auto")),
        { runs: 60 * times, concurrency: 4, maxShrinks: 8 }
      ),
    { timeout: 60_000 * times }
  )

  it.effect("reaches every row that settles an era, and every way to fail", () =>
    Effect.gen(function* () {
      const reached = new Set<string>()
      for (const kind of ["stdio", "http"] as const) {
        const scripts = yield* Arbitrary.sampleEffect(ScriptArbitraries.script({ carrier: carrierOf(kind) }), {
          count: 1_500,
          seed
        })
        for (const script of scripts) {
          for (const mode of ["auto", "legacy"] as const) {
            const outcome = expected({ script, kind, mode, limits })
            reached.add(outcome.outcome === "failed" ? outcome.reason : outcome.rule)
            if (outcome.outcome === "connected") reached.add(outcome.channel)
          }
        }
      }
      const rows = ["P1", "P2", "P5", "P7", "P8", "P10", "P11", "P12", "P13", "P14", "P16", "P17", "P21", "H14"]
      const channels = ["first", "again", "httpSse"]
      const reasons = [
        "AuthorizationDenied",
        "AuthorizationRequired",
        "ClosedDuringNegotiation",
        "HandshakeTimeout",
        "LegacyHandshakeFailed",
        "LegacyVersionUnsupported",
        "MalformedProbeReply",
        "ModernOnlyServer",
        "NoMutualVersion",
        "ProbeHttpStatus",
        "ProbeTimeout",
        "ProbeTransportFailure",
        "ServerExited",
        "TransportFallbackExhausted"
      ]
      assert.includeMembers([...reached], [...rows, ...channels, ...reasons])
    })
  )

  it.effect("is the same twice for the same seed, down to the bytes", () =>
    Effect.gen(function* () {
      const runs = Effect.gen(function* () {
        const scripts = yield* Arbitrary.sampleEffect(ScriptArbitraries.script({ carrier: "pipe" }), {
          count: 30,
          seed
        })
        return yield* Effect.forEach(scripts, (script) => Peers.inMemory(script, "stdio", "auto"))
      })
      assert.deepStrictEqual(yield* runs, yield* runs)
    })
  )
})

const overSocket = (script: Script.Script, mode: Mode) => Effect.provide(Peers.overSocket(script, mode), NodeHttp.layer)

/** The traps, each as one server; what must come of it is written here, not computed. */
const traps: ReadonlyArray<{
  readonly title: string
  readonly kinds: ReadonlyArray<"stdio" | "http">
  readonly script: Script.Script
  readonly comes: string
  readonly heard: ReadonlyArray<string>
}> = [
  {
    title: "T-NEG-1, U-03, P16: a server that is silent at the probe is greeted the old way",
    kinds: ["stdio"],
    script: Script.legacy({ on: { "server/discover": Script.silence } }),
    comes: "2025-11-25",
    heard: ["server/discover", "initialize", "notifications/initialized"]
  },
  {
    title: "T-NEG-1, P16: a host that is silent is down, and no verdict",
    kinds: ["http"],
    script: Script.legacy({ on: { "server/discover": Script.silence } }),
    comes: "ProbeTimeout",
    heard: ["server/discover"]
  },
  {
    title: "T-NEG-2, P17: a server that exits when probed gets a fresh process",
    kinds: ["stdio"],
    script: Script.legacy({ on: { "server/discover": [Script.log("unexpected first message"), Script.exit(1)] } }),
    comes: "2025-11-25",
    heard: ["server/discover", "initialize", "notifications/initialized"]
  },
  {
    title: "T-NEG-2, P17: a second early exit is a failure",
    kinds: ["stdio"],
    script: Script.legacy({ on: { "*": [Script.exit(1)] } }),
    comes: "ServerExited",
    heard: ["server/discover", "initialize"]
  },
  {
    title: "H11: a server that keeps silent and ends at the next line gets a fresh process",
    kinds: ["stdio"],
    script: Script.legacy({
      on: { "server/discover": Script.silence, initialize: [Script.exit(1)] },
      again: { initialize: [Script.answer()] }
    }),
    comes: "2025-11-25",
    heard: ["server/discover", "initialize", "initialize", "notifications/initialized"]
  },
  ...[-32601, -32602, -32600, -32000, 0].map((code) => ({
    title: `T-NEG-3, P13, P14: code ${code} leads to the handshake`,
    kinds: ["stdio", "http"] as const,
    script: Script.legacy({ on: { "server/discover": [Script.fail(code, { message: "bad request before init" })] } }),
    comes: "2025-11-25",
    heard: ["server/discover", "initialize", "notifications/initialized"]
  })),
  {
    title: "T-NEG-3, U-02, P21: HTTP 400 with a text leads to the handshake",
    kinds: ["http"],
    script: Script.legacy({ on: { "server/discover": [Script.http(400, "nope", { "content-type": "text/plain" })] } }),
    comes: "2025-11-25",
    heard: ["server/discover", "initialize", "notifications/initialized"]
  },
  {
    title: "T-NEG-4, U-04, P9: a modern server of unknown versions is not greeted the old way",
    kinds: ["stdio", "http"],
    script: Script.make({ on: { "server/discover": [Script.unsupported(["2099-01-01"])] } }),
    comes: "NoMutualVersion",
    heard: ["server/discover"]
  },
  {
    title: "T-NEG-4, U-04, P6: -32022 with a shared version is asked once more",
    kinds: ["stdio", "http"],
    script: Script.modern({ on: { "server/discover": [[Script.unsupported(["2026-07-28"])], [Script.answer()]] } }),
    comes: "2026-07-28",
    heard: ["server/discover", "server/discover"]
  },
  {
    title: "T-NEG-5: a session guard's 400 leads to the handshake",
    kinds: ["http"],
    script: Script.legacy({ http: { session: true } }),
    comes: "2025-11-25",
    heard: ["server/discover", "initialize", "notifications/initialized"]
  },
  ...([401, 403, 500, 503] as const).map((status) => ({
    title: `T-NEG-6, U-05, P23, P24, P27: HTTP ${status} selects no era, whatever its body says`,
    kinds: ["http"] as const,
    script: Script.legacy({ on: { "server/discover": [Script.fail(-32601, { status })] } }),
    comes: status === 401 ? "AuthorizationRequired" : status === 403 ? "AuthorizationDenied" : "ProbeHttpStatus",
    heard: ["server/discover"]
  })),
  {
    title: "T-NEG-7, H2: a version nobody speaks ends the connect before it is confirmed",
    kinds: ["stdio", "http"],
    script: Script.make({ legacy: ["1999-01-01"] }),
    comes: "LegacyVersionUnsupported",
    heard: ["server/discover", "initialize"]
  },
  {
    title: "T-NEG-8, H5: a refused offer is a failure, and no guessing",
    kinds: ["stdio", "http"],
    script: Script.legacy({
      on: { initialize: [Script.fail(-32602, { data: { supported: ["2025-06-18"], requested: "2025-11-25" } })] }
    }),
    comes: "LegacyHandshakeFailed",
    heard: ["server/discover", "initialize"]
  },
  {
    title: "T-NEG-9, H4: a server that turns out to be modern is asked once more",
    kinds: ["stdio", "http"],
    script: Script.modern({ on: { "server/discover": [[Script.fail(-32603)], [Script.answer()]] } }),
    comes: "2026-07-28",
    heard: ["server/discover", "initialize", "server/discover"]
  },
  {
    title: "U-41, H6, H7: a server of the older HTTP+SSE is found at the same address",
    kinds: ["http"],
    script: Script.legacy({ http: { transport: "sse" } }),
    comes: "2025-11-25",
    heard: ["server/discover", "initialize", "initialize", "notifications/initialized"]
  }
]

const told = (outcome: Outcome) => ({
  comes: outcome.outcome === "failed" ? outcome.reason : outcome.version,
  heard: outcome.heard
})

describe("the traps of negotiation", () => {
  const cases = traps.flatMap((trap) => trap.kinds.map((kind) => ({ ...trap, kind })))

  it.effect.each(cases)("$title ($kind in memory)", ({ comes, heard, kind, script }) =>
    Effect.map(Peers.inMemory(script, kind, "auto"), (outcome) =>
      assert.deepStrictEqual(told(outcome), { comes, heard })
    )
  )

  const real = (kind: "stdio" | "http") => cases.filter((trap) => trap.kind === kind)

  it.live(
    "the same with child processes",
    () =>
      Effect.forEach(
        real("stdio"),
        ({ comes, heard, script, title }) =>
          Effect.map(Peers.inProcess(script, "auto"), (outcome) =>
            assert.deepStrictEqual(told(outcome), { comes, heard }, title)
          ),
        { concurrency: 4 }
      ),
    { timeout: 120_000 }
  )

  it.live(
    "the same with sockets",
    () =>
      Effect.forEach(
        real("http"),
        ({ comes, heard, script, title }) =>
          Effect.map(overSocket(script, "auto"), (outcome) =>
            assert.deepStrictEqual(told(outcome), { comes, heard }, title)
          ),
        { concurrency: 4 }
      ),
    { timeout: 60_000 }
  )

  it.effect("T-NEG-10: a silent server is probed once before the handshake", () =>
    Effect.map(
      Peers.inMemory(Script.legacy({ on: { "server/discover": Script.silence } }), "stdio", "auto"),
      ({ heard }) =>
        assert.lengthOf(
          heard.filter((method) => method === "server/discover"),
          1
        )
    )
  )
})
