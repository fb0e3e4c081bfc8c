import { assert, describe, it } from "@effect/vitest"
import type { DiscoverResult } from "@mcp-effect/protocol/Discover"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import { TestClock } from "effect/testing"
import * as Evidence from "../src/Evidence.ts"
import * as Mode from "../src/Mode.ts"
import { NegotiationError } from "../src/NegotiationError.ts"
import * as Negotiator from "../src/Negotiator.ts"
import { httpStatus, Signal } from "../src/Signal.ts"
import * as Terms from "../src/Terms.ts"
import * as Verdict from "../src/Verdict.ts"
import {
  answered,
  discovered,
  exited,
  failed,
  http,
  initialized,
  malformed,
  newer,
  newestLegacy,
  pipe,
  terms,
  unreachable,
  unsupported
} from "./heard.ts"
import { agreed, type Line, play, refusal } from "./scripted.ts"

class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}
const speaks: Line = ["discover", newer, answered(discovered(["2026-07-28", newer], { instructions: "be kind" }))]
const shakes: Line = ["initialize", newestLegacy, answered(initialized("2025-06-18", { instructions: "be brief" }))]

describe("modes", () => {
  it.effect("U-01 U-07 auto asks once and tells what it got from a modern server", () =>
    Effect.gen(function* () {
      const agreement = agreed(yield* play([speaks]))
      assert.deepInclude(agreement, {
        era: "modern",
        version: newer,
        rule: "P1",
        strength: "definitive",
        channel: "first",
        roundTrips: 1,
        instructions: "be kind"
      })
      assert.deepInclude(agreement.identity, { name: "scripted", version: "1.0.0" })
      assert.deepEqual(agreement.capabilities, { tools: {} })
      assert.deepEqual(agreement.discover?.supportedVersions, ["2026-07-28", newer])
    })
  )

  it.effect("U-07 the same questions have answers in the legacy era", () =>
    Effect.gen(function* () {
      const agreement = agreed(yield* play([["discover", newer, failed(-32601)], shakes]))
      assert.deepInclude(agreement, { era: "legacy", version: "2025-06-18", instructions: "be brief" })
      assert.deepInclude(agreement.identity, { name: "scripted" })
      assert.isUndefined(agreement.discover)
    })
  )

  it.effect("U-01 modern retries a corrected version, and never shakes hands", () =>
    Effect.gen(function* () {
      const lines: ReadonlyArray<Line> = [
        ["discover", newer, unsupported("2026-07-28")],
        ["discover", "2026-07-28", speaks[2]]
      ]
      assert.strictEqual(agreed(yield* play(lines, { mode: "modern" })).era, "modern")
      for (const [signal, cause, text] of [
        [failed(-32601), undefined, "'modern' never falls back"],
        [httpStatus(404, { body: "gone" }), undefined, "MCP: HTTP 404 gone"],
        [unsupported("2099-01-01"), "NoMutualVersion", "the server supports 2099-01-01"],
        [httpStatus(401, { challenge: "Bearer" }), "AuthorizationRequired", "MCP: HTTP 401"],
        [httpStatus(503), "ProbeHttpStatus", "MCP: HTTP 503"],
        [Signal.Silent(), "ProbeTimeout", "nothing in time"]
      ] as const) {
        const { reason, message, isRetryable } = refusal(
          yield* play([["discover", newer, signal]], { terms: http, mode: "modern" })
        )
        assert.strictEqual(reason._tag, "ModernUnavailable")
        if (reason._tag !== "ModernUnavailable") continue
        assert.strictEqual(reason.cause?._tag, cause)
        assert.include(message, text)
        assert.strictEqual(isRetryable, cause === "ProbeHttpStatus" || cause === "ProbeTimeout")
      }
    })
  )

  it.effect("U-01 U-10 the evidence says why a mode refused: its own reason, or the one of the row that failed", () =>
    Effect.gen(function* () {
      const why = (signal: Signal, mode: Mode.Input, version: string) =>
        Effect.map(
          play([["discover", version, signal]], { terms: http, mode }),
          (played) => refusal(played).attempts.at(-1)?.because ?? ""
        )
      const pinned = Mode.pin("2026-07-28", { verify: true })
      for (const [mode, version, because] of [
        [pinned, "2026-07-28", "a pin that is verified takes nothing else"],
        ["modern", newer, "mode 'modern' never falls back"]
      ] as const) {
        assert.strictEqual(yield* why(failed(-32601), mode, version), because)
        const other = yield* why(httpStatus(401, { challenge: "Bearer" }), mode, version)
        assert.notStrictEqual(other, because)
        assert.isAbove(other.length, 10)
      }
    })
  )

  it.effect("U-01 legacy sends nothing before the handshake, and offers what it is told to", () =>
    Effect.gen(function* () {
      assert.strictEqual(agreed(yield* play([shakes], { mode: "legacy" })).roundTrips, 1)
      const offer = "2025-03-26"
      const chosen = play([["initialize", offer, answered(initialized(offer))]], { mode: Mode.legacy({ offer }) })
      assert.strictEqual(agreed(yield* chosen).version, offer)
      for (const wrong of [newer, "1999-01-01"]) {
        const error = refusal(yield* play([], { mode: Mode.legacy({ offer: wrong }) }))
        assert.strictEqual(error.reason._tag, "ModeInvalid")
        assert.include(error.message, `'${wrong}' cannot be offered`)
      }
    })
  )

  it.effect("U-10 a pin sends nothing and knows no identity", () =>
    Effect.gen(function* () {
      const agreement = agreed(yield* play([], { mode: Mode.pin("2026-07-28") }))
      assert.deepInclude(agreement, {
        era: "modern",
        version: "2026-07-28",
        rule: "pin",
        roundTrips: 0,
        lasting: false
      })
      assert.isUndefined(agreement.identity)
      assert.isUndefined(agreement.capabilities)
      assert.lengthOf(agreement.evidence, 0)
    })
  )

  it.effect("U-10 a pin that is verified asks once, and takes nothing but its version", () =>
    Effect.gen(function* () {
      const mode = Mode.pin("2026-07-28", { verify: true })
      const ask = (signal: Signal) => play([["discover", "2026-07-28", signal]], { mode })
      const agreement = agreed(yield* ask(answered(discovered([newer, "2026-07-28"]))))
      assert.deepInclude(agreement, { version: "2026-07-28", roundTrips: 1 })
      for (const signal of [
        answered(discovered([newer])),
        unsupported("2026-07-28"),
        failed(-32601),
        exited(),
        malformed()
      ]) {
        const error = refusal(yield* ask(signal))
        assert.strictEqual(error.reason._tag, "PinnedVersionUnavailable")
      }
    })
  )

  it.effect("U-11 a legacy string is refused before any I/O, with what to write instead", () =>
    Effect.gen(function* () {
      const real = { terms: Terms.make({ kind: "stdio" }) }
      const parsed = Mode.fromInput("2025-06-18", real.terms)
      assert.strictEqual(
        Result.isFailure(parsed) && parsed.failure.message,
        "mode must be 'auto', 'modern', 'legacy' or one of ['2026-07-28']; got '2025-06-18' " +
          "('2025-06-18' is a handshake-era version; use mode 'legacy')"
      )
      for (const wrong of ["2025-06-18", "2024-10-07", "2030-01-01", "", "Auto"]) {
        const error = refusal(yield* play([], { ...real, mode: Mode.pin(wrong) }))
        assert.strictEqual(error.reason._tag, "ModeInvalid")
        assert.include(error.message, `got '${wrong}'`)
      }
      for (const junk of [null, 7, {}, { _tag: "Pin" }, { _tag: "Legacy", offer: 3 }, []])
        assert.isTrue(Result.isFailure(Mode.fromInput(junk, real.terms)))
      for (const fine of ["auto", "modern", "legacy", "2026-07-28", Mode.auto])
        assert.isTrue(Result.isSuccess(Mode.fromInput(fine, real.terms)))
    })
  )

  it("U-11 a literal legacy version does not compile as a pin", () => {
    // @ts-expect-error it is of the handshake era
    const wrong = Mode.pin("2025-06-18")
    // @ts-expect-error the same as a plain mode
    const alike: Mode.Input = "2025-06-18"
    assert.isTrue(Result.isFailure(Mode.fromInput(wrong, pipe)))
    assert.isTrue(Result.isFailure(Mode.fromInput(alike, pipe)))
  })

  it.effect("the transport sse takes neither modern nor a pin, and never probes", () =>
    Effect.gen(function* () {
      const sse = { terms: terms("sse") }
      for (const mode of ["modern", Mode.pin(newer)] as const)
        assert.strictEqual(refusal(yield* play([], { ...sse, mode })).reason._tag, "ModeInvalid")
      assert.strictEqual(agreed(yield* play([shakes], sse)).era, "legacy")
      const mode = Mode.autoFrom(discovered([newer]))
      assert.strictEqual(refusal(yield* play([], { ...sse, mode })).reason._tag, "PriorInvalid")
    })
  )

  it.effect("terms without one of the eras never enter it, and without both are refused", () =>
    Effect.gen(function* () {
      const onlyLegacy = yield* play([shakes], { terms: terms("stdio", { modern: [] }) })
      assert.strictEqual(agreed(onlyLegacy).era, "legacy")
      const onlyModern = yield* play([["discover", newer, failed(-32601)]], { terms: terms("stdio", { legacy: [] }) })
      assert.strictEqual(refusal(onlyModern).reason._tag, "ModernUnavailable")
      const nothing = yield* play([], { terms: terms("stdio", { modern: [], legacy: [] }) })
      assert.strictEqual(refusal(nothing).reason._tag, "ModeInvalid")
    })
  )
})

describe("saved verdicts", () => {
  it.effect("U-12 a DiscoverResult saved as text makes a connection without a round trip", () =>
    Effect.gen(function* () {
      const first = agreed(yield* play([speaks]))
      const text = JSON.stringify(Verdict.fromAgreement(first, 0))
      const saved: unknown = JSON.parse(text)
      for (const mode of [Mode.autoFrom(saved), Mode.autoFrom(discovered([newer], { instructions: "be kind" }))]) {
        const again = agreed(yield* play([], { mode }))
        assert.deepInclude(again, {
          era: "modern",
          version: newer,
          roundTrips: 0,
          rule: "prior",
          instructions: "be kind"
        })
        assert.strictEqual(again.identity?.name, "scripted")
      }
    })
  )

  it.effect("U-12 a pin takes identity and capabilities from it", () =>
    Effect.gen(function* () {
      const mode = Mode.pin("2026-07-28", { prior: discovered([newer, "2026-07-28"]) })
      assert.deepInclude(agreed(yield* play([], { mode })), { version: "2026-07-28", roundTrips: 0 })
    })
  )

  it.effect("U-12 null and undefined are none, and anything malformed fails before any I/O", () =>
    Effect.gen(function* () {
      for (const none of [null, undefined])
        assert.strictEqual(agreed(yield* play([speaks], { mode: Mode.autoFrom(none) })).roundTrips, 1)
      const legacy = { era: "legacy", offer: newestLegacy, transport: "own", rule: "P8", strength: "definitive", at: 0 }
      for (const wrong of [
        "modern",
        7,
        [],
        {},
        { era: "modern" },
        { era: "modern", discover: {}, rule: "P1", at: 0 },
        { era: "postmodern" },
        { ...legacy, supportedVersions: [newer] },
        { ...legacy, at: "today" },
        discovered([]),
        discovered(["2099-01-01"])
      ])
        assert.strictEqual(refusal(yield* play([], { mode: Mode.autoFrom(wrong) })).reason._tag, "PriorInvalid")
      for (const prior of [discovered(["2026-07-28"]), legacy]) {
        const error = refusal(yield* play([], { mode: Mode.pin(newer, { prior }) }))
        assert.strictEqual(error.reason._tag, "PriorInvalid")
      }
    })
  )

  it.effect("a legacy verdict skips the probe until it is old", () =>
    Effect.gen(function* () {
      const first = agreed(
        yield* play([
          ["discover", newer, unsupported("2025-06-18")],
          ["initialize", "2025-06-18", shakes[2]]
        ])
      )
      const mode = Mode.autoFrom(JSON.parse(JSON.stringify(Verdict.fromAgreement(first, 0))))
      const remembered: Line = ["initialize", "2025-06-18", shakes[2]]
      yield* TestClock.adjust("23 hours")
      assert.deepInclude(agreed(yield* play([remembered], { mode })), {
        rule: "P8",
        strength: "definitive",
        roundTrips: 1
      })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(agreed(yield* play([speaks], { mode })).era, "modern")
    })
  )

  it("a legacy verdict on conventional evidence holds for an hour, and one from the future not at all", () => {
    const verdict = {
      era: "legacy",
      offer: newestLegacy,
      transport: "own",
      rule: "P16",
      strength: "conventional",
      at: 0
    } as const
    const hour = Duration.toMillis("1 hour")
    assert.isFalse(Verdict.isExpired(verdict, hour - 1))
    assert.isTrue(Verdict.isExpired(verdict, hour))
    assert.isTrue(Verdict.isExpired({ ...verdict, at: 10 }, 9))
  })
})

describe("hooks", () => {
  it.effect("P32 U-08 a program sees the DiscoverResult and may refuse it, also when it comes from memory", () =>
    Effect.gen(function* () {
      const seen: Array<DiscoverResult> = []
      const inspectDiscover = (result: DiscoverResult) => {
        seen.push(result)
        return Effect.fail(new Refused({ message: "not on the list" }))
      }
      for (const [lines, mode] of [
        [[speaks], "auto"],
        [[], Mode.autoFrom(discovered([newer]))],
        [[], Mode.pin(newer, { prior: discovered([newer]) })]
      ] as const) {
        const error = refusal(yield* play(lines, { mode, inspectDiscover }))
        assert.strictEqual(error.reason._tag, "DiscoverRejected")
        assert.include(error.message, "not on the list")
      }
      assert.lengthOf(seen, 3)
    })
  )

  it.effect("H13 U-08 its twin sees the InitializeResult; each runs in its own era only", () =>
    Effect.gen(function* () {
      const never = () => Effect.die("of the other era")
      const inspectInitialize = () => Effect.fail(new Refused({ message: "too old" }))
      const lines: ReadonlyArray<Line> = [["discover", newer, failed(-32601)], shakes]
      const error = refusal(yield* play(lines, { inspectDiscover: never, inspectInitialize }))
      assert.strictEqual(error.reason._tag, "InitializeRejected")
      assert.include(error.message, "too old")
      assert.include(error.message, "-32601", "the first half is named too")
      agreed(yield* play([speaks], { inspectInitialize: never, inspectDiscover: () => Effect.void }))
    })
  )

  it.effect("what a hook needs is what the negotiation needs", () =>
    Effect.gen(function* () {
      class Allowed extends Context.Service<Allowed, ReadonlyArray<string>>()("test/Allowed") {}
      const negotiation: Effect.Effect<unknown, NegotiationError, Negotiator.Port | Allowed> = Negotiator.negotiate({
        terms: pipe,
        endpoint: "x",
        mode: Mode.autoFrom(discovered([newer])),
        inspectDiscover: () =>
          Effect.flatMap(Allowed, (names) =>
            names.length > 0 ? Effect.void : Effect.fail(new Refused({ message: "nobody is allowed" }))
          )
      })
      const port = { discover: () => Effect.never, initialize: () => Effect.never, open: () => Effect.never }
      const exit = yield* negotiation.pipe(
        Effect.provideService(Negotiator.Port, port),
        Effect.provideService(Allowed, ["x"]),
        Effect.exit
      )
      assert.isTrue(Exit.isSuccess(exit))
    })
  )
})

const hanging = (answers: Partial<Negotiator.Port["Service"]> = {}) =>
  Effect.provideService(Negotiator.Port, {
    discover: () => Effect.never,
    initialize: () => Effect.never,
    open: () => Effect.never,
    ...answers
  })

describe("time", () => {
  it.effect("one deadline of 60 seconds stands over everything, and its end is no silence", () =>
    Effect.gen(function* () {
      const silent = { discover: () => Effect.succeed(Signal.Silent()) }
      for (const [answers, tag] of [
        [{}, "ProbeTimeout"],
        [silent, "HandshakeTimeout"],
        [{ discover: () => Effect.succeed(exited()) }, "HandshakeTimeout"]
      ] as const) {
        const fiber = yield* Negotiator.negotiate({ terms: pipe, endpoint: "slow" }).pipe(
          hanging(answers),
          Effect.flip,
          Effect.forkChild
        )
        yield* TestClock.adjust("59 seconds")
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust("1 second")
        const error = yield* Fiber.join(fiber)
        assert.strictEqual(error.reason._tag, tag)
        assert.deepInclude(error.attempts.at(-1), { rule: "deadline", millis: 60_000 })
        assert.deepInclude(error, { elapsed: 60_000, endpoint: "slow", transport: "stdio", isRetryable: true })
      }
    })
  )

  it.effect(
    "U-61: when it runs out, the end of what the process wrote to stderr is told, one line of 200 characters",
    () =>
      Effect.gen(function* () {
        const stderr = () => `${"x".repeat(500)}\nno database\n`
        const fiber = yield* Negotiator.negotiate({ terms: pipe, endpoint: "slow" }).pipe(
          hanging({ stderr }),
          Effect.flip,
          Effect.forkChild
        )
        yield* TestClock.adjust("1 minute")
        const error = yield* Fiber.join(fiber)
        assert.strictEqual(error.stderr, `${"x".repeat(188)} no database`)
        assert.include(error.message, `\nthe end of its standard error: "${error.stderr}"`)
      })
  )

  it.effect("U-61: a refusal that was spoken is not explained by stderr", () =>
    Effect.gen(function* () {
      const error = yield* Negotiator.negotiate({ terms: pipe, endpoint: "clear" }).pipe(
        hanging({
          discover: () => Effect.succeed(Signal.Failed({ error: { code: -32601, message: "no" } })),
          initialize: () =>
            Effect.succeed({ signal: Signal.Failed({ error: { code: -32000, message: "closed today" } }) }),
          stderr: () => "something else"
        }),
        Effect.flip
      )
      assert.isUndefined(error.stderr)
      assert.notInclude(error.message, "something else")
    })
  )

  it.effect("a deadline of its own ends a hook that hangs", () =>
    Effect.gen(function* () {
      const fiber = yield* Negotiator.negotiate({
        terms: pipe,
        endpoint: "x",
        deadline: "2 seconds",
        inspectDiscover: () => Effect.never
      }).pipe(hanging({ discover: () => Effect.succeed(speaks[2]) }), Effect.flip, Effect.forkChild)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).reason._tag, "ProbeTimeout")
    })
  )

  it.effect("P31 a caller that interrupts interrupts what is asked", () =>
    Effect.gen(function* () {
      let interrupted = false
      const discover = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (interrupted = true)))
      const fiber = yield* Negotiator.negotiate({ terms: pipe, endpoint: "x" }).pipe(
        hanging({ discover }),
        Effect.forkChild({ startImmediately: true })
      )
      yield* Fiber.interrupt(fiber)
      assert.isTrue(interrupted)
    })
  )

  it.effect("U-62 what is retryable is tried again as the schedule says, and not before Retry-After", () =>
    Effect.gen(function* () {
      const at: Array<number> = []
      const busy = httpStatus(429, { retryAfter: Duration.seconds(30) })
      const discover = () =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          at.push(now)
          return at.length === 1 ? httpStatus(503) : at.length === 2 ? busy : speaks[2]
        })
      const fiber = yield* Negotiator.negotiate({ terms: http, endpoint: "x" }).pipe(
        Negotiator.retrying(Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 5 }))),
        hanging({ discover }),
        Effect.forkChild
      )
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(fiber)).era, "modern")
      assert.deepEqual(at, [0, 1000, 31_000])
    })
  )

  it.effect("U-62 what is not retryable, or asks to wait too long, is not tried again", () =>
    Effect.gen(function* () {
      for (const signal of [httpStatus(401), malformed(), httpStatus(503, { retryAfter: Duration.days(1) })]) {
        let asked = 0
        const discover = () => Effect.sync(() => (asked++, signal))
        yield* Negotiator.negotiate({ terms: http, endpoint: "x" }).pipe(
          Negotiator.retrying(Schedule.spaced("1 second")),
          hanging({ discover }),
          Effect.flip
        )
        assert.strictEqual(asked, 1)
      }
    })
  )
})

describe("evidence", () => {
  const lines: ReadonlyArray<Line> = [
    ["discover", newer, Signal.Silent()],
    ["initialize", newestLegacy, exited(1, "fatal: \u001b[31mno\nconfig")],
    ["again"],
    ["initialize", newestLegacy, answered(initialized("2025-06-18"))]
  ]

  it.effect("U-13 tells every question, answer, rule and reason, as data and as text", () =>
    Effect.gen(function* () {
      const { evidence } = agreed(yield* play(lines))
      assert.deepEqual(
        evidence.map(({ asked, rule, decided, strength }) => [asked, rule, decided, strength]),
        [
          ["discover", "P16", "INIT", "conventional"],
          ["initialize", "H11", "REOPEN+INIT", undefined],
          ["open again", "P17", "OPENED", undefined],
          ["initialize", "H1", "ADOPT", undefined]
        ]
      )
      const text = JSON.stringify(yield* Schema.encodeEffect(Evidence.Steps)(evidence))
      assert.deepEqual(yield* Schema.decodeUnknownEffect(Evidence.Steps)(JSON.parse(text)), evidence)
      const told = Evidence.explain(evidence)
      for (const part of [
        "1. asked server/discover (2027-07-07), heard after 0ms:",
        "no answer in time",
        "fatal:  [31mno config",
        "P16: INIT"
      ])
        assert.include(told, part)
      assert.strictEqual(Evidence.explain([]), "nothing was asked")
    })
  )

  it.effect("U-13 holds how long each answer took", () =>
    Effect.gen(function* () {
      const discover = () => Effect.delay(Effect.succeed(speaks[2]), "1234 millis")
      const fiber = yield* Negotiator.negotiate({ terms: pipe, endpoint: "x" }).pipe(
        hanging({ discover }),
        Effect.forkChild
      )
      yield* TestClock.adjust("2 seconds")
      const { evidence } = yield* Fiber.join(fiber)
      assert.strictEqual(evidence[0]?.millis, 1234)
      assert.include(Evidence.explain(evidence), "1s 234ms")
    })
  )

  it.effect("P10 P11 P12 a fallback that looks modern is reported with its rule and code, others are not", () =>
    Effect.gen(function* () {
      for (const [code, rule] of [
        [-32022, "P10"],
        [-32020, "P11"],
        [-32021, "P11"],
        [-32050, "P12"]
      ] as const) {
        const played = yield* play([["discover", newer, failed(code)], shakes])
        assert.isFalse(agreed(played).lasting)
        assert.deepEqual(
          played.diagnostics.map((each) => ({ ...each })),
          [{ _tag: "ModernLookingFallback", server: "scripted", rule, code }]
        )
      }
      const plain = yield* play([["discover", newer, failed(-32603)], shakes])
      assert.lengthOf(plain.diagnostics, 0)
      assert.isFalse(agreed(plain).lasting)
    })
  )

  it.effect("U-63 spans and counters follow a negotiation", () =>
    Effect.gen(function* () {
      const names: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          names.push(options.name)
          return new Tracer.NativeSpan(options)
        }
      })
      const count = Metric.withAttributes(Negotiator.fallbacks, { rule: "P12" })
      const before = (yield* Metric.value(count)).count
      yield* play([["discover", newer, failed(-32050)], shakes]).pipe(Effect.withTracer(tracer))
      assert.deepEqual(names, ["mcp.connect", "mcp.probe", "mcp.initialize"])
      assert.strictEqual((yield* Metric.value(count)).count, before + 1)
    })
  )

  it.effect("metrics only count up, and exporters are told so", () =>
    Effect.gen(function* () {
      yield* play([["discover", newer, failed(-32050)], shakes])
      for (const metric of [Negotiator.outcomes, Negotiator.fallbacks])
        assert.isTrue((yield* Metric.value(metric)).incremental)
    })
  )
})

describe("errors", () => {
  const heard = (signal: Signal, on: Terms.Terms = http) =>
    Effect.map(play([["discover", newer, signal]], { terms: on }), refusal)

  it.effect("U-05 begin with the HTTP line and hold 200 code points of the body, controls replaced", () =>
    Effect.gen(function* () {
      for (const status of [401, 403, 407, 409, 429, 302, 500, 503]) {
        assert.strictEqual((yield* heard(httpStatus(status))).message, `MCP: HTTP ${status}`)
        assert.strictEqual((yield* heard(httpStatus(status, { body: "a\u0007b" }))).message, `MCP: HTTP ${status} a b`)
      }
      const long = yield* heard(httpStatus(500, { body: "😀".repeat(500) }))
      assert.strictEqual(long.message, `MCP: HTTP 500 ${"😀".repeat(200)}`)
      assert.include(long.hint, "server/discover")
    })
  )

  it.effect("P30 a wire that fails is told in its own words, and any other failure of it as what was heard", () =>
    Effect.gen(function* () {
      const { reason } = yield* heard(unreachable)
      assert.deepInclude(reason, { _tag: "ProbeTransportFailure", because: "ECONNREFUSED" })
      assert.notProperty(reason, "cause")
      const cause = new Error("socket")
      const caused = yield* heard(Signal.Unreachable({ because: "ECONNRESET", cause }))
      assert.strictEqual(caused.reason._tag === "ProbeTransportFailure" && caused.reason.cause, cause)
    })
  )

  it.effect("P11 a capability that is missing is named, as far as the server names it", () =>
    Effect.gen(function* () {
      const strict = terms("http", { fallback: "spec" })
      for (const [requiredCapabilities, says] of [
        [{ sampling: {} }, "the server requires sampling."],
        [{ sampling: {}, roots: {} }, "the server requires sampling, roots."],
        [{}, "the server requires a capability it does not name."]
      ] as const) {
        const { message, reason } = yield* heard(failed(-32021, { requiredCapabilities }), strict)
        assert.strictEqual(reason._tag, "MissingCapability")
        assert.include(message, says)
      }
    })
  )

  it.effect("U-05 how long to wait is told only where the server said it, in every mode", () =>
    Effect.gen(function* () {
      const busy = httpStatus(503, { retryAfter: Duration.seconds(7) })
      const after = (signal: Signal, mode: Mode.Input = "auto") =>
        Effect.map(play([["discover", newer, signal]], { terms: http, mode }), (played) => {
          const { retryAfter } = refusal(played)
          return retryAfter === undefined ? undefined : Duration.toMillis(retryAfter)
        })
      assert.deepStrictEqual([yield* after(busy), yield* after(busy, "modern")], [7_000, 7_000])
      for (const signal of [httpStatus(503), unreachable, Signal.Silent(), failed(-32601)])
        assert.isUndefined(yield* after(signal, "modern"))
      assert.isUndefined(yield* after(httpStatus(503)))
      assert.isUndefined(yield* after(unreachable))
    })
  )

  const statuses = [
    [300, "a redirect that is not followed. Set the address to where the server now lives", false],
    [399, "a redirect that is not followed. Set the address to where the server now lives", false],
    [410, "Check the address; if the server is known to be old, set mode 'legacy'", false],
    [406, "Looks like an old server: set mode legacy, or `legacyStatuses: spec`", false],
    [408, "Try again later", true],
    [409, "Check the address; if the server is known to be old, set mode 'legacy'", false],
    [415, "Looks like an old server: set mode legacy, or `legacyStatuses: spec`", false],
    [422, "Looks like an old server: set mode legacy, or `legacyStatuses: spec`", false],
    [425, "Try again later", true],
    [429, "Try again later", true],
    [500, "a fault of the server or of what stands before it. See its log, or try later", true],
    [501, "a fault of the server or of what stands before it. See its log, or try later", false],
    [502, "a fault of the server or of what stands before it. See its log, or try later", true],
    [504, "a fault of the server or of what stands before it. See its log, or try later", true],
    [505, "a fault of the server or of what stands before it. See its log, or try later", false],
    [599, "a fault of the server or of what stands before it. See its log, or try later", false]
  ] as const
  it.effect.each(statuses)("U-05 U-61 HTTP %s says what to change and whether to try again", ([status, hint, retry]) =>
    Effect.gen(function* () {
      const error = yield* heard(httpStatus(status))
      assert.strictEqual(error.reason._tag, "ProbeHttpStatus")
      assert.isTrue(error.hint.startsWith(`server/discover was answered with HTTP ${status}`), error.hint)
      assert.isTrue(error.hint.endsWith(hint), error.hint)
      assert.strictEqual(error.isRetryable, retry)
    })
  )

  it.effect("U-61 each says what was asked, what came back and what to change", () =>
    Effect.gen(function* () {
      const required = { elicitation: {}, sampling: {} }
      for (const [signal, on, tag, asked, back, change] of [
        [Signal.Silent(), http, "ProbeTimeout", "server/discover", "nothing in time", "mode 'legacy'"],
        [unreachable, http, "ProbeTransportFailure", "server/discover", "ECONNREFUSED", "Check that it runs"],
        [malformed(), http, "MalformedProbeReply", "server/discover", "text/html", "Check that the address"],
        [unsupported("2099-01-01"), http, "NoMutualVersion", "server/discover", "2099-01-01", "Update the older"],
        [
          exited(7, "no token"),
          terms("stdio", { reopenable: false }),
          "ServerExited",
          "server/discover",
          "code 7",
          "by hand"
        ],
        [
          Signal.SpawnFailed({ command: "nope", because: "NotFound" }),
          pipe,
          "SpawnFailed",
          "`nope`",
          "NotFound",
          "PATH"
        ],
        [Signal.Closed(), terms("memory"), "ClosedDuringNegotiation", "server/discover", "closed", "mode 'legacy'"],
        [failed(-32020), terms("http", { fallback: "spec" }), "HeaderMismatch", "server/discover", "-32020", "proxy"],
        [
          failed(-32021, { requiredCapabilities: required }),
          terms("http", { fallback: "spec" }),
          "MissingCapability",
          "server/discover",
          "elicitation, sampling",
          "handler"
        ]
      ] as const) {
        const error = yield* heard(signal, on)
        assert.strictEqual(error.reason._tag, tag)
        for (const part of [asked, back, change]) assert.include(error.message, part, tag)
        assert.isTrue(error.hint.length > 10, tag)
      }
    })
  )

  it.effect("say whether trying again may help", () =>
    Effect.gen(function* () {
      for (const signal of [
        httpStatus(408),
        httpStatus(425),
        httpStatus(429),
        httpStatus(500),
        httpStatus(502),
        unreachable,
        Signal.Silent()
      ])
        assert.isTrue((yield* heard(signal)).isRetryable)
      for (const signal of [
        httpStatus(401),
        httpStatus(403),
        httpStatus(409),
        httpStatus(501),
        httpStatus(505),
        httpStatus(302),
        malformed()
      ])
        assert.isFalse((yield* heard(signal)).isRetryable)
    })
  )

  it.effect("tell the challenge, the wait and the new place, but no secret of the address", () =>
    Effect.gen(function* () {
      const unauthorized = yield* heard(httpStatus(401, { challenge: 'Bearer realm="mcp"' }))
      assert.include(unauthorized.hint, 'Bearer realm="mcp"')
      const busy = yield* heard(httpStatus(429, { retryAfter: Duration.seconds(7) }))
      assert.include(busy.hint, "7 s")
      assert.strictEqual(busy.retryAfter && Duration.toMillis(busy.retryAfter), 7000)
      const moved = yield* heard(httpStatus(308, { location: "https://me:pw@new.example/mcp?token=s3cret#x" }))
      assert.include(moved.hint, "https://new.example/mcp")
      assert.notMatch(JSON.stringify(yield* Schema.encodeEffect(NegotiationError)(moved)), /s3cret|pw@/u)
    })
  )

  it.effect("travel as JSON and come back the same", () =>
    Effect.gen(function* () {
      const error = refusal(
        yield* play(
          [
            ["discover", newer, httpStatus(404)],
            ["initialize", undefined, httpStatus(404)],
            ["httpSse", httpStatus(404)]
          ],
          {
            terms: http
          }
        )
      )
      const text = JSON.stringify(yield* Schema.encodeEffect(NegotiationError)(error))
      const back = yield* Schema.decodeUnknownEffect(NegotiationError)(JSON.parse(text))
      assert.strictEqual(back.message, error.message)
      assert.deepEqual(back.attempts, error.attempts)
      assert.strictEqual(back.reason._tag, "TransportFallbackExhausted")
    })
  )

  it.effect("a reason can be caught by its tag", () =>
    Effect.gen(function* () {
      const caught = yield* Negotiator.negotiate({ terms: http, endpoint: "x" }).pipe(
        hanging({ discover: () => Effect.succeed(httpStatus(401, { challenge: "Bearer" })) }),
        Effect.catchReason("NegotiationError", "AuthorizationRequired", (reason) => Effect.succeed(reason.challenge))
      )
      assert.strictEqual(caught, "Bearer")
    })
  )
})
