import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HandshakeRules from "../src/HandshakeRules.ts"
import * as Mode from "../src/Mode.ts"
import { read } from "../src/Reading.ts"
import { httpStatus, Signal } from "../src/Signal.ts"
import * as State from "../src/State.ts"
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

const nope: Line = ["discover", newer, failed(-32601)]
const notFound: Line = ["discover", newer, httpStatus(404, { body: "not found" })]
const silence: Line = ["discover", newer, Signal.Silent()]
const legacy = { mode: Mode.legacy() }

describe("the handshake", () => {
  for (const version of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    it.effect(`H1 an answer of ${version} is agreed on, offered or counter-offered`, () =>
      Effect.gen(function* () {
        const agreement = agreed(yield* play([nope, ["initialize", newestLegacy, answered(initialized(version))]]))
        assert.deepInclude(agreement, { era: "legacy", version, rule: "P13", strength: "conventional", roundTrips: 2 })
        assert.strictEqual(agreement.identity?.name, "scripted")
        assert.isUndefined(agreement.discover)
      })
    )

  it.effect("H2 T-NEG-7 an unknown version fails, naming all sides", () =>
    Effect.gen(function* () {
      for (const version of ["2024-10-07", "1999-01-01"]) {
        const error = refusal(yield* play([nope, ["initialize", undefined, answered(initialized(version))]]))
        assert.strictEqual(error.reason._tag, "LegacyVersionUnsupported")
        for (const part of [newestLegacy, version, "2024-11-05"]) assert.include(error.message, part)
      }
    })
  )

  it.effect("H3 a modern version in a handshake fails, and the hint says what to write", () =>
    Effect.gen(function* () {
      const error = refusal(yield* play([nope, ["initialize", undefined, answered(initialized("2026-07-28"))]]))
      assert.strictEqual(error.reason._tag, "LegacyVersionUnsupported")
      assert.include(error.hint, "pin '2026-07-28'")
    })
  )

  it.effect("H4 -32022 with a mutual modern version is settled by one recovery probe", () =>
    Effect.gen(function* () {
      const lines: ReadonlyArray<Line> = [
        silence,
        ["initialize", newestLegacy, unsupported("2026-07-28")],
        ["discover", "2026-07-28", answered(discovered(["2026-07-28"]))]
      ]
      const agreement = agreed(yield* play(lines))
      assert.deepInclude(agreement, { era: "modern", version: "2026-07-28", rule: "P1", lasting: true })
    })
  )

  it.effect("H4 T-NEG-9 holds after a remembered legacy verdict too, without a probe before it", () =>
    Effect.gen(function* () {
      const prior = {
        era: "legacy",
        offer: "2025-06-18",
        transport: "own",
        rule: "P8",
        strength: "definitive",
        at: 0
      }
      const lines: ReadonlyArray<Line> = [
        [
          "initialize",
          "2025-06-18",
          httpStatus(400, { error: { code: -32022, message: "", data: { supported: [newer] } } })
        ],
        ["discover", newer, answered(discovered([newer]))]
      ]
      assert.strictEqual(agreed(yield* play(lines, { terms: http, mode: Mode.autoFrom(prior) })).version, newer)
    })
  )

  it.effect("H4 a recovery probe that settles nothing fails with both causes", () =>
    Effect.gen(function* () {
      for (const last of [unsupported(newer), failed(-32601), Signal.Silent(), exited(), httpStatus(401)]) {
        const error = refusal(
          yield* play([silence, ["initialize", undefined, unsupported(newer)], ["discover", newer, last]])
        )
        assert.strictEqual(error.reason._tag, "LegacyHandshakeFailed")
        assert.include(error.message, "-32022")
        assert.include(error.message, "no answer in time (rule P16)")
        assert.strictEqual(error.isRetryable, last._tag === "Silent")
      }
    })
  )

  it.effect("H4 a recovery probe is no first question: its answer is told by the rows of a second one", () =>
    Effect.gen(function* () {
      const ask = (last: Signal) =>
        play([silence, ["initialize", undefined, unsupported(newer)], ["discover", newer, last]])
      assert.strictEqual(refusal(yield* ask(unsupported(newer, "2025-06-18"))).attempts.at(-1)?.rule, "P7")
      const last = refusal(yield* ask(unsupported(newer))).attempts.at(-1)
      assert.notStrictEqual(last?.rule, "P6")
      assert.deepInclude(last, { asked: "discover", because: "the recovery probe is the last question" })
    })
  )

  it.effect("H4 mode legacy and the transport sse fail with ModernOnlyServer instead", () =>
    Effect.gen(function* () {
      const lines: ReadonlyArray<Line> = [["initialize", newestLegacy, unsupported(newer)]]
      for (const options of [legacy, { terms: terms("sse") }]) {
        const error = refusal(yield* play(lines, options))
        assert.strictEqual(error.reason._tag, "ModernOnlyServer")
        assert.include(error.message, newer)
        assert.include(error.hint, "'auto'")
      }
    })
  )

  it.effect("H5 any other error fails with both halves; the probe leads if it looked modern", () =>
    Effect.gen(function* () {
      const plain = refusal(yield* play([nope, ["initialize", undefined, failed(-32000, undefined, "go away")]]))
      assert.strictEqual(plain.reason._tag, "LegacyHandshakeFailed")
      assert.match(plain.message, /^asked initialize, heard error -32000 "go away"/u)
      assert.include(plain.message, "-32601")
      const weak = refusal(
        yield* play([
          ["discover", newer, failed(-32021, undefined, "sampling please")],
          ["initialize", undefined, failed(-32000)]
        ])
      )
      assert.match(
        weak.message,
        /^server\/discover had been answered with error -32021 "sampling please" \(rule P11\)/u
      )
      assert.include(weak.message, "-32000")
    })
  )

  it.effect("H5 T-NEG-8 a refusal that names a version of ours says which one to offer", () =>
    Effect.gen(function* () {
      const refused = failed(
        -32602,
        { supported: ["2025-06-18"], requested: newestLegacy },
        "Unsupported protocol version"
      )
      const error = refusal(yield* play([nope, ["initialize", newestLegacy, refused]]))
      assert.strictEqual(error.reason._tag, "LegacyHandshakeFailed")
      assert.include(error.message, "Unsupported protocol version")
      assert.include(error.hint, '`offer: "2025-06-18"`')
      const retried = play([["initialize", "2025-06-18", answered(initialized("2025-06-18"))]], {
        mode: Mode.legacy({ offer: "2025-06-18" })
      })
      assert.strictEqual(agreed(yield* retried).version, "2025-06-18")
    })
  )

  it.effect("H5 other 4xx fail, and begin with the HTTP line (U-05)", () =>
    Effect.gen(function* () {
      for (const status of [406, 409, 410, 413, 415, 422]) {
        const error = refusal(
          yield* play([notFound, ["initialize", undefined, httpStatus(status, { body: "no" })]], { terms: http })
        )
        assert.strictEqual(error.reason._tag, "LegacyHandshakeFailed")
        assert.strictEqual(error.message.split("\n")[0], `MCP: HTTP ${status} no`)
        assert.include(error.message, "(rule P21)")
      }
    })
  )

  for (const status of [400, 404, 405])
    it.effect(`H6 H7 U-41 HTTP ${status} leads to HTTP+SSE, from the probe, from mode legacy and from memory`, () =>
      Effect.gen(function* () {
        const prior = {
          era: "legacy",
          offer: newestLegacy,
          transport: "own",
          rule: "P21",
          strength: "conventional",
          at: 0
        }
        const after: ReadonlyArray<Line> = [
          ["initialize", newestLegacy, httpStatus(status, { error: { code: -32600, message: "" } })],
          ["httpSse"],
          ["initialize", newestLegacy, answered(initialized("2024-11-05"))]
        ]
        const probed = agreed(yield* play([notFound, ...after], { terms: http }))
        assert.deepInclude(probed, { channel: "httpSse", version: "2024-11-05", rule: "P21", lasting: true })
        assert.strictEqual(agreed(yield* play(after, { terms: http, ...legacy })).channel, "httpSse")
        assert.strictEqual(agreed(yield* play(after, { terms: http, mode: Mode.autoFrom(prior) })).channel, "httpSse")
      })
    )

  it.effect("H6 a modern error in the body, no HTTP+SSE, or the wide reading (P22) ends it without that step", () =>
    Effect.gen(function* () {
      const modern = httpStatus(400, { error: { code: -32021, message: "" } })
      const cases = [
        yield* play([notFound, ["initialize", undefined, modern]], { terms: http }),
        yield* play([notFound, ["initialize", undefined, httpStatus(404)]], { terms: terms("http", { sse: false }) }),
        yield* play([["initialize", undefined, httpStatus(404)]], { terms: terms("sse") }),
        yield* play(
          [
            ["discover", newer, httpStatus(415)],
            ["initialize", undefined, httpStatus(404)]
          ],
          {
            terms: terms("http", { legacyStatuses: "spec" })
          }
        )
      ]
      for (const played of cases) assert.strictEqual(refusal(played).reason._tag, "LegacyHandshakeFailed")
    })
  )

  it.effect("H8 an HTTP+SSE that cannot be opened fails with all three causes", () =>
    Effect.gen(function* () {
      for (const [signal, text] of [
        [httpStatus(405, { body: "no GET" }), "MCP: HTTP 405 no GET"],
        [httpStatus(503), "MCP: HTTP 503"],
        [malformed("the endpoint is of another origin"), "the endpoint is of another origin"],
        [Signal.Silent(), "no answer in time"],
        [unreachable, "ECONNREFUSED"]
      ] as const) {
        const error = refusal(
          yield* play([notFound, ["initialize", undefined, httpStatus(400, { body: "bad" })], ["httpSse", signal]], {
            terms: http
          })
        )
        assert.strictEqual(error.reason._tag, "TransportFallbackExhausted")
        for (const part of [text, "MCP: HTTP 400 bad", "HTTP 404"]) assert.include(error.message, part)
      }
    })
  )

  it.effect("H8 a remembered HTTP+SSE is opened at once, and is not tried twice", () =>
    Effect.gen(function* () {
      const mode = Mode.autoFrom({
        era: "legacy",
        offer: "2024-11-05",
        transport: "httpSse",
        rule: "P21",
        strength: "conventional",
        at: 0
      })
      const good: ReadonlyArray<Line> = [["httpSse"], ["initialize", "2024-11-05", answered(initialized("2024-11-05"))]]
      assert.deepInclude(agreed(yield* play(good, { terms: http, mode })), { channel: "httpSse", roundTrips: 2 })
      const bad = refusal(yield* play([["httpSse"], ["initialize", undefined, httpStatus(404)]], { terms: http, mode }))
      assert.strictEqual(bad.reason._tag, "LegacyHandshakeFailed")
      const gone = refusal(yield* play([["httpSse", httpStatus(404)]], { terms: http, mode }))
      assert.strictEqual(gone.reason._tag, "TransportFallbackExhausted")
    })
  )

  it.effect("H9 401, 402, 403, 407 and 451 end it, in the handshake and in HTTP+SSE", () =>
    Effect.gen(function* () {
      for (const status of [401, 402, 403, 407, 451]) {
        const expected = status === 401 ? "AuthorizationRequired" : "AuthorizationDenied"
        const signal = httpStatus(status, {
          body: "who?",
          error: { code: -32022, message: "", data: { supported: [newer] } }
        })
        const shaking = refusal(yield* play([notFound, ["initialize", undefined, signal]], { terms: http }))
        const opening = refusal(
          yield* play([notFound, ["initialize", undefined, httpStatus(404)], ["httpSse", signal]], { terms: http })
        )
        for (const { reason, message } of [shaking, opening]) {
          assert.strictEqual(reason._tag, expected)
          assert.strictEqual(message.split("\n")[0], `MCP: HTTP ${status} who?`)
        }
      }
    })
  )

  it.effect("H10 silence fails, retryable, and tells what the probe heard", () =>
    Effect.gen(function* () {
      for (const [on, line] of [
        [pipe, silence],
        [http, notFound]
      ] as const) {
        const error = refusal(yield* play([line, ["initialize", undefined, Signal.Silent()]], { terms: on }))
        assert.strictEqual(error.reason._tag, "HandshakeTimeout")
        assert.isTrue(error.isRetryable)
        assert.include(error.message, "(rule P")
      }
    })
  )

  for (const [end, signal] of [
    ["exits", exited()],
    ["closes", Signal.Closed()]
  ] as const)
    it.effect(`H11 T-NEG-2 a probed process that ${end} in the handshake is started afresh, once`, () =>
      Effect.gen(function* () {
        const lines: ReadonlyArray<Line> = [silence, ["initialize", newestLegacy, signal], ["again"]]
        const good = yield* play([...lines, ["initialize", newestLegacy, answered(initialized(newestLegacy))]])
        assert.deepInclude(agreed(good), { channel: "again", rule: "P16", roundTrips: 3 })
        const bad = refusal(yield* play([...lines, ["initialize", newestLegacy, exited(3, "no config")]]))
        assert.strictEqual(bad.reason._tag, "ServerExited")
        for (const part of ["code 3", "no config", "no answer in time"]) assert.include(bad.message, part)
      })
    )

  it.effect("P17 H15 a process that exits at the probe is started afresh and greeted, once", () =>
    Effect.gen(function* () {
      const lines: ReadonlyArray<Line> = [["discover", newer, exited(1, "unexpected first message")], ["again"]]
      const good = yield* play([...lines, ["initialize", newestLegacy, answered(initialized("2025-03-26"))]])
      assert.deepInclude(agreed(good), { channel: "again", version: "2025-03-26", rule: "P17" })
      const bad = refusal(yield* play([...lines, ["initialize", newestLegacy, exited(2)]]))
      assert.strictEqual(bad.reason._tag, "ServerExited")
      for (const [signal, tag] of [
        [exited(9), "ServerExited"],
        [Signal.SpawnFailed({ command: "x", because: "gone" }), "SpawnFailed"],
        [Signal.Closed(), "ClosedDuringNegotiation"],
        [unreachable, "ProbeTransportFailure"]
      ] as const)
        assert.strictEqual(refusal(yield* play([lines[0]!, ["again", signal]])).reason._tag, tag)
    })
  )

  it.effect("H12 faults and pages in the handshake are no verdicts, and HTTP+SSE is not tried", () =>
    Effect.gen(function* () {
      for (const [signal, tag] of [
        ...[500, 502, 503, 504, 408, 425, 429, 302, 307].map(
          (status) => [httpStatus(status), "ProbeHttpStatus"] as const
        ),
        [unreachable, "ProbeTransportFailure"],
        [malformed(), "MalformedProbeReply"],
        [answered({ tools: [] }), "MalformedProbeReply"]
      ] as const) {
        const { reason } = refusal(yield* play([notFound, ["initialize", undefined, signal]], { terms: http }))
        assert.strictEqual(reason._tag, tag)
        assert.strictEqual("asked" in reason ? reason.asked : undefined, "initialize")
      }
    })
  )

  it.effect("H14 a late DiscoverResult wins over a handshake that failed", () =>
    Effect.gen(function* () {
      const late = discovered(["2026-07-28"])
      for (const signal of [
        answered(initialized("1999-01-01")),
        answered(initialized(newer)),
        unsupported(newer),
        failed(-32601),
        Signal.Silent()
      ]) {
        const agreement = agreed(yield* play([silence, ["initialize", newestLegacy, signal, late]]))
        assert.deepInclude(agreement, {
          era: "modern",
          version: "2026-07-28",
          rule: "H14",
          channel: "first",
          lasting: true
        })
        assert.strictEqual(agreement.identity?.name, "scripted")
      }
      const reopened = agreed(yield* play([silence, ["initialize", newestLegacy, exited(), late], ["again"]]))
      assert.deepInclude(reopened, { era: "modern", channel: "again" })
    })
  )

  it.effect("H14 a late answer without a mutual version, or a fault, changes nothing", () =>
    Effect.gen(function* () {
      const unknown = yield* play([silence, ["initialize", undefined, failed(-32601), discovered(["2099-01-01"])]])
      assert.strictEqual(refusal(unknown).reason._tag, "LegacyHandshakeFailed")
      const page = yield* play([silence, ["initialize", undefined, malformed(), discovered([newer])]])
      assert.strictEqual(refusal(page).reason._tag, "MalformedProbeReply")
    })
  )

  it.effect("section 4: a handshake that succeeded wins over a late answer, is reported, and not remembered", () =>
    Effect.gen(function* () {
      const played = yield* play([
        silence,
        ["initialize", newestLegacy, answered(initialized(newestLegacy)), discovered([newer])]
      ])
      assert.deepInclude(agreed(played), { era: "legacy", lasting: false })
      assert.deepStrictEqual(
        played.diagnostics.map(({ _tag }) => _tag),
        ["LateDiscover"]
      )
    })
  )

  it.effect("H15 a process that exits on a wire that was never probed is not started again", () =>
    Effect.gen(function* () {
      const error = refusal(yield* play([["initialize", undefined, exited(1, "Error: no TOKEN")]], legacy))
      assert.strictEqual(error.reason._tag, "ServerExited")
      assert.include(error.message, "Error: no TOKEN")
      const closed = refusal(
        yield* play([["initialize", undefined, Signal.Closed()]], { ...legacy, terms: terms("memory") })
      )
      assert.strictEqual(closed.reason._tag, "ClosedDuringNegotiation")
    })
  )

  it.effect("H12 P18 a command that cannot be started fails in mode legacy too", () =>
    Effect.gen(function* () {
      const signal = Signal.SpawnFailed({ command: "mcp-nope", because: "NotFound" })
      const error = refusal(yield* play([["initialize", undefined, signal]], legacy))
      assert.strictEqual(error.reason._tag, "SpawnFailed")
      assert.include(error.message, "`mcp-nope`")
    })
  )
})

describe("the tables of the handshake", () => {
  it("have every row from H1 to H15, in the machine or outside of it", () => {
    const rows = [...HandshakeRules.rules, ...HandshakeRules.openings, ...HandshakeRules.outside]
    const ids = new Set(rows.map(({ id }) => id))
    assert.deepStrictEqual(
      Array.from({ length: 15 }, (_, index) => `H${index + 1}`).filter((id) => !ids.has(id)),
      []
    )
  })

  it("are total: the last row of each matches everything", () => {
    const reading = read(pipe, Signal.Accepted())
    const shaking = State.handshake(pipe, newestLegacy, { rule: "", strength: "weak", lasting: false })
    const blank = { ...reading, ...shaking, late: undefined }
    assert.lengthOf(
      HandshakeRules.rules.filter((rule) => rule.matches(blank)),
      1
    )
    assert.isTrue(HandshakeRules.rules.at(-1)?.matches(blank))
    assert.isTrue(HandshakeRules.openings.at(-1)?.matches({ ...reading, channel: "again" }))
  })
})
