import { assert, describe, it } from "@effect/vitest"
import type * as Mode from "../src/Mode.ts"
import * as Negotiation from "../src/Negotiation.ts"
import { httpStatus, Signal } from "../src/Signal.ts"
import * as State from "../src/State.ts"
import type * as Terms from "../src/Terms.ts"
import * as Verdict from "../src/Verdict.ts"
import { answered, discovered, http, newer, pipe, terms, unsupported } from "./heard.ts"
import { all, body, consent, ended, everyMove, everything, modes, spoken, type Walk, walks } from "./walk.ts"

const asked = (walk: Walk, tag: State.State["_tag"]) => walk.states.filter(({ _tag }) => _tag === tag).length
const ruleOf = (walk: Walk, id: string) => walk.moves.some(({ rule }) => rule === id)

describe("the whole machine", () => {
  it("properties 1, 3 and 4: it always ends, once, within its bounds", () => {
    const broken = new Set<string>()
    const expect = (holds: boolean, what: string) => holds || broken.add(what)
    everything((walk) => {
      const openings = walk.states.flatMap((state) => (state._tag === "Opening" ? [state.how] : []))
      const channels = walk.states.flatMap((state) => (state._tag === "Initializing" ? [state.channel] : []))
      expect(walk.moves.length <= 8, "moves")
      expect(walk.states.filter(ended).length === 1, "ends")
      expect(asked(walk, "Discovering") <= 2, "probes")
      expect(asked(walk, "Recovering") <= 1, "recovery probes")
      expect(new Set(openings).size === openings.length, "openings of one kind")
      expect(new Set(channels).size === channels.length, "handshakes per channel")
    })
    assert.deepStrictEqual([...broken], [])
    assert.isAbove(all.length, 10_000)
  })

  it("property 2: over HTTP no handshake follows a failure of the probe, and a pin never shakes hands", () => {
    everything((walk, on, mode) => {
      const failing = walk.moves.findIndex(
        ({ decided, rule }) => decided.startsWith("FAIL") && /^P(?:3|9|2\d|30)$/u.test(rule)
      )
      if (failing >= 0) assert.strictEqual(failing, walk.moves.length - 1)
      if (mode.startsWith("pin") || mode === "modern") assert.strictEqual(asked(walk, "Initializing"), 0)
      if (mode === "legacy" || on.kind === "sse")
        assert.strictEqual(asked(walk, "Discovering") + asked(walk, "Recovering"), 0)
    })
  })

  it("property 3: what has ended stays as it is", () => {
    everyMove(({ state }, _, __, on) => {
      if (ended(state))
        assert.isTrue(consent.every(({ signal }) => Negotiation.step(on)(state, signal).state === state))
    })
  })

  it("property 5: the version is one of ours, and one of theirs whenever they named any", () => {
    everything((walk, on, mode) => {
      const last = walk.states.at(-1)!
      if (last._tag !== "Settled") return
      const { outcome } = last
      assert.include([...on.modern, ...on.legacy], outcome.version)
      assert.strictEqual(on.modern.includes(outcome.version) ? "modern" : "legacy", outcome.era)
      if (outcome.discover !== undefined) assert.include(outcome.discover.supportedVersions, outcome.version)
      if (outcome.initialize !== undefined) assert.strictEqual(outcome.initialize.protocolVersion, outcome.version)
      if (outcome.discover === undefined && outcome.initialize === undefined) assert.strictEqual(mode, "pin")
    })
  })

  it("property 6: nothing lasting comes of weak evidence, of a contradiction, or of a failure", () => {
    everything((walk) => {
      const last = walk.states.at(-1)!
      if (last._tag !== "Settled") return
      const verdict = Verdict.fromAgreement(
        {
          ...last.outcome,
          identity: undefined,
          capabilities: undefined,
          instructions: undefined,
          evidence: [],
          roundTrips: 0
        },
        0
      )
      if (last.outcome.strength === "weak") assert.isUndefined(verdict)
      if (last.outcome.era === "legacy" && walk.heard.some((letter) => letter.late !== undefined))
        assert.isUndefined(verdict, "contradicted by a late answer")
    })
  })

  it("property 7: no body changes what a 401, a 403 or a 5xx decides", () => {
    let compared = 0
    everyMove(({ rule, decided }, from, { signal }, on) => {
      if (signal._tag !== "HttpStatus" || ![401, 403, 503].includes(signal.status)) return
      for (const more of [{}, body(-32022, { supported: [newer] }), body(-32601), { body: "<html>" }]) {
        const other = Negotiation.step(on)(from, httpStatus(signal.status, more))
        if (other.rule !== rule || other.decided !== decided) assert.fail(`${rule}: ${other.rule}`)
        compared += 1
      }
    })
    assert.isAbove(compared, 100)
  })

  it("property 8: no text of an error changes a decision", () => {
    let compared = 0
    everyMove(({ rule, decided }, from, { signal, late }, on) => {
      if (signal._tag !== "Failed") return
      const reworded = Signal.Failed({ error: { ...signal.error, message: "Unsupported protocol version" } })
      const other = Negotiation.step(on)(from, reworded, late)
      if (other.rule !== rule || other.decided !== decided) assert.fail(`${rule}: ${other.rule}`)
      compared += 1
    })
    assert.isAbove(compared, 1_000)
  })

  it("property 9: order, repetition and junk in a list of versions change nothing", () => {
    const lists = [
      ["2026-07-28", newer, "2025-06-18"],
      ["2099-01-01", "2024-11-05", "2025-03-26"],
      ["2099-01-01", "2098-01-01"]
    ]
    for (const on of [pipe, http])
      for (const mode of ["auto", "modern", "legacy"] as const) {
        const state = State.begin(on, mode, 0)
        for (const list of lists)
          for (const make of [
            (versions: ReadonlyArray<unknown>) => answered(discovered(versions)),
            (versions: ReadonlyArray<unknown>) => unsupported(...versions)
          ]) {
            const decide = (versions: ReadonlyArray<unknown>) => {
              const { rule, decided, state: next } = Negotiation.step(on)(state, make(versions))
              return [rule, decided, State.questionOf(next)]
            }
            const expected = decide(list)
            assert.deepStrictEqual(decide(list.toReversed()), expected)
            assert.deepStrictEqual(decide([...list, ...list]), expected)
            assert.deepStrictEqual(decide([7, null, ...list, {}, ["x"]]), expected)
          }
      }
  })

  it("property 10: stdio, memory and stream decide alike for the same JSON-RPC answers", () => {
    const said = new Set([...spoken, ...consent])
    const rows = (on: Terms.Terms, mode: Mode.Input) =>
      walks(on, mode, (letter) => said.has(letter)).map(({ moves }) =>
        moves.map(({ rule, decided }) => `${rule} ${decided}`).join(", ")
      )
    for (const [, mode] of modes) {
      const expected = rows(pipe, mode)
      assert.isAbove(expected.length, 0)
      assert.deepStrictEqual(rows(terms("memory"), mode), expected)
      assert.deepStrictEqual(rows(terms("stream"), mode), expected)
    }
  })

  it("property 11: U-04 a -32022 never leads to the handshake while a modern version is mutual and untried", () => {
    everything((walk) => {
      walk.states.forEach((state, index) => {
        if (state._tag !== "Discovering" || state.attempt === "corrected" || state.purpose !== "auto") return
        const { signal } = walk.heard[index]!
        if (signal._tag !== "Failed" || signal.error.code !== -32022) return
        const next = walk.states[index + 1]!
        if (JSON.stringify(signal.error.data).includes("2026-07-28")) assert.strictEqual(next._tag, "Discovering")
      })
    })
  })

  it("a modern agreement is never taken back: after it only the program can refuse", () => {
    everything((walk) => {
      const adopted = walk.states.findIndex((state) => state._tag === "Inspecting")
      if (adopted >= 0) assert.lengthOf(walk.states, adopted + 2)
    })
  })

  it("T-NEG-10 a silent server is probed once before the handshake", () => {
    everything((walk) => {
      const shaking = walk.states.findIndex(({ _tag }) => _tag === "Initializing")
      const before = walk.states.slice(0, shaking < 0 ? 0 : shaking)
      if (!ruleOf(walk, "P6")) assert.isAtMost(before.filter(({ _tag }) => _tag === "Discovering").length, 1)
    })
  })

  it("reaches every row of the machine on some walk", () => {
    const reached = new Set<string>()
    everything((walk) => walk.moves.forEach(({ rule }) => reached.add(rule)))
    const outside = new Set(["P4", "P15", "P19", "P20", "P31"])
    const ids = [
      ...Array.from({ length: 32 }, (_, index) => `P${index + 1}`),
      ...Array.from({ length: 15 }, (_, index) => `H${index + 1}`)
    ]
    assert.deepStrictEqual(
      ids.filter((id) => !reached.has(id) && !outside.has(id)),
      []
    )
  })
})
