import { assert, describe, it } from "@effect/vitest"
import { expect } from "vitest"
import * as Negotiated from "../src/Negotiated.ts"

const fallback = {
  era: "legacy",
  version: "2025-11-25",
  rule: "P13",
  strength: "conventional",
  channel: "first",
  lasting: true,
  roundTrips: 2,
  evidence: [
    {
      asked: "discover",
      version: "2026-07-28",
      heard: { signal: "Failed", code: -32601, text: "Method not found" },
      rule: "P13",
      decided: "INIT",
      strength: "conventional"
    },
    {
      asked: "initialize",
      version: "2025-11-25",
      heard: { signal: "Answered", versions: ["2025-11-25"] },
      rule: "H1",
      decided: "ADOPT"
    }
  ]
} satisfies Negotiated.Negotiated

const refused = {
  reason: { _tag: "ProbeHttpStatus" },
  attempts: [{ asked: "discover", heard: { signal: "HttpStatus", status: 503 }, rule: "P27", decided: "FAIL" }]
} satisfies Negotiated.Negotiated

describe("matchers for the evidence of a negotiation", () => {
  const fits: ReadonlyArray<readonly [what: string, negotiated: Negotiated.Negotiated, expected: Negotiated.Expected]> =
    [
      ["nothing at all", fallback, {}],
      ["what is expected of an agreement", fallback, { era: "legacy", rule: "P13", roundTrips: 2, lasting: true }],
      ["the questions alone", fallback, { steps: ["discover", "initialize"] }],
      ["the rows alone", fallback, { steps: ["P13", "H1"] }],
      [
        "some facts of each step",
        fallback,
        {
          steps: [
            { signal: "Failed", code: -32601 },
            { versions: ["2025-11-25"], decided: "ADOPT" }
          ]
        }
      ],
      ["the reason of a failure", refused, { reason: "ProbeHttpStatus", steps: [{ status: 503 }] }],
      ["a failure before anything was asked", { reason: { _tag: "ModeInvalid" } }, { reason: "ModeInvalid", steps: [] }]
    ]

  it.each(fits)("fit when they look at %s", (_, negotiated, expected) => {
    assert.deepStrictEqual(Negotiated.differences(negotiated, expected), [])
    Negotiated.check(negotiated, expected)
  })

  const misfits: ReadonlyArray<
    readonly [negotiated: Negotiated.Negotiated, expected: Negotiated.Expected, differences: ReadonlyArray<string>]
  > = [
    [
      fallback,
      { rule: "P14", roundTrips: 1, era: "legacy" },
      ['rule: expected "P14", got "P13"', "roundTrips: expected 1, got 2"]
    ],
    [fallback, { reason: "ProbeTimeout" }, ['reason: expected "ProbeTimeout", got nothing']],
    [refused, { version: "2026-07-28" }, ['version: expected "2026-07-28", got nothing']],
    [fallback, { steps: ["discover"] }, ["steps: expected 1, got 2"]],
    [fallback, { steps: ["discover", "open again"] }, ['step 2, asked: expected "open again", got "initialize"']],
    [fallback, { steps: ["P13", "H2"] }, ['step 2, rule: expected "H2", got "H1"']],
    [
      fallback,
      { steps: [{ status: 404 }, { versions: ["2025-06-18"] }] },
      ["step 1, status: expected 404, got nothing", 'step 2, versions: expected ["2025-06-18"], got ["2025-11-25"]']
    ]
  ]

  it.each(misfits)("tell what differs (%#)", (negotiated, expected, differences) => {
    assert.deepStrictEqual(Negotiated.differences(negotiated, expected), differences)
  })

  it("throw with every difference and the whole evidence", () => {
    const thrown = () => Negotiated.check(fallback, { rule: "P1", lasting: false })
    assert.throws(thrown, Negotiated.Unexpected)
    assert.throws(
      thrown,
      'rule: expected "P1", got "P13"\nlasting: expected false, got true\nthe evidence:\n' +
        "1. discover 2026-07-28: Failed -32601 Method not found -> P13 INIT\n" +
        "2. initialize 2025-11-25: Answered 2025-11-25 -> H1 ADOPT"
    )
    assert.throws(() => Negotiated.check({ reason: { _tag: "ModeInvalid" } }, { era: "modern" }), "nothing was asked")
  })

  it("extend expect of vitest", () => {
    expect.extend(Negotiated.matchers)
    const { toBeNegotiated } = Negotiated.matchers
    assert.isTrue(toBeNegotiated(fallback, { rule: "P13" }).pass)
    assert.include(toBeNegotiated(fallback, { rule: "P13" }).message(), 'expected anything but\n{"rule":"P13"}')
    assert.isFalse(toBeNegotiated(refused, { reason: "ProbeTimeout" }).pass)
    assert.include(toBeNegotiated(refused, { reason: "ProbeTimeout" }).message(), "HttpStatus 503 -> P27 FAIL")
  })
})
