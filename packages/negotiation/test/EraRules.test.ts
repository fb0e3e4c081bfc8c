import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Duration from "effect/Duration"
import * as EraRules from "../src/EraRules.ts"
import * as Negotiation from "../src/Negotiation.ts"
import * as Promised from "../src/Promised.ts"
import { read } from "../src/Reading.ts"
import { httpStatus, Signal } from "../src/Signal.ts"
import * as State from "../src/State.ts"
import type * as Terms from "../src/Terms.ts"
import {
  answered,
  discovered,
  exited,
  failed,
  http,
  malformed,
  newer,
  newestLegacy,
  pipe,
  terms,
  unreachable,
  unsupported
} from "./heard.ts"

const first = State.State.Discovering({ version: newer, attempt: "first", purpose: "auto" })
const second = State.State.Discovering({ version: newer, attempt: "corrected", purpose: "auto" })

const brief = (move: Negotiation.Move): string => {
  const { state } = move
  switch (state._tag) {
    case "Inspecting":
      return `${move.rule} ADOPT ${state.outcome.version}`
    case "Discovering":
      return `${move.rule} RETRY ${state.version}`
    case "Initializing":
      return `${move.rule} INIT ${state.offer} ${move.strength}`
    case "Opening":
      return `${move.rule} REOPEN+INIT ${move.strength}`
    default:
      return `${move.rule} ${move.decided}`
  }
}

const hears = (signal: Signal, on: Terms.Terms, state: State.State = first) =>
  brief(Negotiation.step(on)(state, signal))

const both = (signal: Signal, expected: string, state: State.State = first) => {
  assert.strictEqual(hears(signal, pipe, state), expected, "on a pipe")
  assert.strictEqual(hears(signal, http, state), expected, "over http")
}

describe("the probe", () => {
  it("P1 a DiscoverResult with a mutual modern version is adopted, in the client's order", () => {
    both(answered(discovered(["2026-07-28", newer])), `P1 ADOPT ${newer}`)
    both(answered(discovered([newer, "2026-07-28", "2025-11-25"])), `P1 ADOPT ${newer}`)
    both(answered(discovered(["2099-01-01", "2026-07-28"])), "P1 ADOPT 2026-07-28")
  })

  it("P2 a DiscoverResult that names only legacy versions leads to the best of them", () => {
    both(answered(discovered(["2024-11-05", "2025-03-26"])), "P2 INIT 2025-03-26 definitive")
    both(answered(discovered(["2024-10-07", "2099-01-01"])), `P2 INIT ${newestLegacy} definitive`)
  })

  it("P3 a DiscoverResult that names only unknown modern versions fails with both lists", () => {
    both(answered(discovered(["2099-01-01"])), "P3 FAIL(NoMutualVersion)")
  })

  const soft: Record<string, JsonObject> = {
    "no ttlMs": { ttlMs: undefined },
    "a negative ttlMs": { ttlMs: -5 },
    "a ttlMs that is text": { ttlMs: "soon" },
    "no cacheScope": { cacheScope: undefined },
    "an unknown cacheScope": { cacheScope: "everyone" },
    "no resultType": { resultType: undefined },
    "a malformed identity": { _meta: { "io.modelcontextprotocol/serverInfo": 7 } },
    "a malformed _meta": { _meta: "x" },
    "an unknown member": { "x-new": [1] },
    "a malformed capability": { capabilities: { tools: "yes", logging: 1 } },
    "instructions that are no text": { instructions: 1 },
    "junk among the versions": { supportedVersions: [1, null, newer, newer] }
  }
  for (const [defect, members] of Object.entries(soft))
    it(`P4 a DiscoverResult with ${defect} is adopted all the same`, () => {
      const result = Object.fromEntries(
        Object.entries({ ...discovered([newer]), ...members }).filter(([, value]) => value !== undefined)
      )
      both(answered(result), `P1 ADOPT ${newer}`)
    })

  for (const [what, result] of Object.entries<JsonObject>({
    "an empty object": {},
    "a tool list": { tools: [] },
    "versions without capabilities": { supportedVersions: [newer] },
    "capabilities without versions": { capabilities: {} },
    "versions that are no texts": { supportedVersions: [1, 2], capabilities: {} },
    "no version at all": { supportedVersions: [], capabilities: {} },
    "an inherited member": JSON.parse(`{"__proto__":{"supportedVersions":["${newer}"],"capabilities":{}}}`)
  }))
    it(`P5 a result that is no DiscoverResult (${what}) leads to the handshake`, () => {
      both(answered(result), `P5 INIT ${newestLegacy} conventional`)
    })

  it("P6 U-04 -32022 with a mutual modern version is retried with the best one, even if that was refused", () => {
    both(unsupported("2026-07-28", "2025-11-25"), "P6 RETRY 2026-07-28")
    both(unsupported(newer), `P6 RETRY ${newer}`)
  })

  it("P7 -32022 twice leads to the handshake if a legacy version is named, else it fails", () => {
    both(unsupported("2026-07-28", "2025-06-18"), "P7 INIT 2025-06-18 definitive", second)
    both(unsupported("2026-07-28"), "P7 FAIL(NoMutualVersion)", second)
  })

  it("P8 U-04 -32022 without a mutual modern version leads to the best legacy version it names", () => {
    both(unsupported("2099-01-01", "2024-11-05", "2025-06-18"), "P8 INIT 2025-06-18 definitive")
    both(unsupported("2024-11-05"), "P8 INIT 2024-11-05 definitive", second)
  })

  it("P9 T-NEG-4 -32022 that names only unknown modern versions fails, and never shakes hands", () => {
    both(unsupported("2099-01-01"), "P9 FAIL(NoMutualVersion)")
    both(unsupported("2099-01-01"), "P9 FAIL(NoMutualVersion)", second)
  })

  for (const [what, data] of Object.entries<unknown>({
    "no data": undefined,
    "data that is text": "2026-07-28",
    "no list": { requested: newer },
    "an empty list": { supported: [] },
    "a list of numbers": { supported: [1] },
    "a text for a list": { supported: newer }
  }))
    it(`P10 -32022 with ${what} leads to the handshake, on weak evidence`, () => {
      both(failed(-32022, data), `P10 INIT ${newestLegacy} weak`)
    })

  it("P11 -32020 and -32021 lead to the handshake, on weak evidence", () => {
    both(failed(-32020), `P11 INIT ${newestLegacy} weak`)
    both(failed(-32021), `P11 INIT ${newestLegacy} weak`)
  })

  it("P11 -32020 and -32021 fail with `fallback: spec`, and only they", () => {
    for (const on of [terms("stdio", { fallback: "spec" }), terms("http", { fallback: "spec" })]) {
      assert.strictEqual(hears(failed(-32020), on), "P11 FAIL(HeaderMismatch)")
      assert.strictEqual(hears(failed(-32021), on), "P11 FAIL(MissingCapability)")
      assert.strictEqual(hears(failed(-32022), on), `P10 INIT ${newestLegacy} weak`)
      assert.strictEqual(hears(failed(-32023), on), `P12 INIT ${newestLegacy} weak`)
    }
  })

  it("P12 the specification's other codes lead to the handshake, on weak evidence", () => {
    for (const code of [-32023, -32041, -32043, -32099]) both(failed(code), `P12 INIT ${newestLegacy} weak`)
  })

  it("P13 -32601 leads to the handshake, in an HTTP 400, 404 or 405 too", () => {
    both(failed(-32601), `P13 INIT ${newestLegacy} conventional`)
    for (const status of [400, 404, 405])
      assert.strictEqual(
        hears(httpStatus(status, { error: { code: -32601, message: "unsupported version" } }), http),
        `P13 INIT ${newestLegacy} conventional`
      )
  })

  for (const code of [-32602, -32600, -32700, 0, -32000, -32001, -32019, -32042, -32100, 1, 404, 1e9])
    it(`P14 T-NEG-3 error ${code} leads to the handshake, in an HTTP 400, 404 or 405 too`, () => {
      both(failed(code), `P14 INIT ${newestLegacy} conventional`)
      for (const status of [400, 404, 405])
        assert.strictEqual(
          hears(httpStatus(status, { error: { code, message: "" } }), http),
          `P14 INIT ${newestLegacy} conventional`
        )
    })

  it("P14 -32603 leads to the handshake, on weak evidence", () => {
    both(failed(-32603), `P14 INIT ${newestLegacy} weak`)
  })

  it("P15 T-NEG-5 an HTTP 400 that wants a session leads to the handshake by its code", () => {
    const error = { code: -32000, message: "needs a session" }
    assert.strictEqual(hears(httpStatus(400, { error }), http), `P14 INIT ${newestLegacy} conventional`)
  })

  it("P16 T-NEG-1 silence leads to the handshake on a pipe, and fails over HTTP", () => {
    assert.strictEqual(hears(Signal.Silent(), pipe), `P16 INIT ${newestLegacy} conventional`)
    assert.strictEqual(hears(Signal.Silent(), http), "P16 FAIL(ProbeTimeout)")
  })

  it("P17 T-NEG-2 an exit or a closed pipe leads to a fresh wire, where there is one", () => {
    for (const signal of [exited(), Signal.Closed()]) {
      assert.strictEqual(hears(signal, pipe), "P17 REOPEN+INIT conventional")
      assert.strictEqual(hears(signal, terms("stream", { reopenable: true })), "P17 REOPEN+INIT conventional")
    }
    assert.strictEqual(hears(Signal.Closed(), terms("stream")), "P17 FAIL(ClosedDuringNegotiation)")
    assert.strictEqual(hears(Signal.Closed(), terms("memory")), "P17 FAIL(ClosedDuringNegotiation)")
    assert.strictEqual(hears(exited(), terms("stdio", { reopenable: false })), "P17 FAIL(ServerExited)")
  })

  it("P18 a command that cannot be started fails at once", () => {
    const signal = Signal.SpawnFailed({ command: "nope", because: "NotFound" })
    assert.strictEqual(hears(signal, pipe), "P18 FAIL(SpawnFailed)")
  })

  for (const status of [400, 404, 405])
    it(`P21 HTTP ${status} without a JSON-RPC error leads to the handshake`, () => {
      assert.strictEqual(hears(httpStatus(status, { body: "nope" }), http), `P21 INIT ${newestLegacy} conventional`)
    })

  for (const status of [406, 415, 422])
    it(`P22 HTTP ${status} fails, leads to the handshake with \`legacyStatuses: spec\`, and heeds a modern error`, () => {
      const spec = terms("http", { legacyStatuses: "spec" })
      assert.strictEqual(hears(httpStatus(status), http), "P22 FAIL(ProbeHttpStatus)")
      assert.strictEqual(hears(httpStatus(status), spec), `P22 INIT ${newestLegacy} weak`)
      const withError = (code: number, data?: unknown) => httpStatus(status, { error: { code, message: "", data } })
      assert.strictEqual(hears(withError(-32601), http), "P22 FAIL(ProbeHttpStatus)")
      assert.strictEqual(hears(withError(-32022, { supported: [newer] }), http), `P6 RETRY ${newer}`)
      const after = Negotiation.step(spec)(first, httpStatus(status)).state
      assert.isFalse(after._tag === "Initializing" && after.sse, "no HTTP+SSE step after it")
    })

  const otherLayers: ReadonlyArray<readonly [string, string, ReadonlyArray<number>]> = [
    ["P23", "AuthorizationRequired", [401]],
    ["P24", "AuthorizationDenied", [402, 403, 407, 451]],
    ["P25", "ProbeHttpStatus", [408, 425, 429]],
    ["P26", "ProbeHttpStatus", [409, 410, 413, 414, 421, 426, 428, 431, 418, 499]],
    ["P27", "ProbeHttpStatus", [500, 501, 502, 503, 504, 520, 599]],
    ["P28", "ProbeHttpStatus", [300, 301, 302, 303, 307, 308]]
  ]
  for (const [rule, reason, statuses] of otherLayers)
    for (const status of statuses)
      it(`${rule} T-NEG-6 HTTP ${status} fails with ${reason}, whatever the body is`, () => {
        const errors = [undefined, -32601, -32022, -32020, -32000].map((code) =>
          code === undefined ? undefined : { code, message: "", data: { supported: [newer, newestLegacy] } }
        )
        for (const error of errors)
          assert.strictEqual(hears(httpStatus(status, { error, body: "x" }), http), `${rule} FAIL(${reason})`)
      })

  it("P29 what is no MCP answer fails at once", () => {
    both(malformed(), "P29 FAIL(MalformedProbeReply)")
    for (const status of [100, 202, 204, 600])
      assert.strictEqual(hears(httpStatus(status), http), "P29 FAIL(MalformedProbeReply)")
  })

  it("P30 network trouble fails, and is never a verdict", () => {
    both(unreachable, "P30 FAIL(ProbeTransportFailure)")
  })
})

describe("the promised sets", () => {
  for (const status of Promised.httpFallbackStatuses)
    it(`U-02 HTTP ${status} falls back`, () => {
      assert.match(hears(httpStatus(status), http), / INIT /u)
    })
  for (const code of Promised.httpFallbackCodes)
    it(`U-02 ${code} falls back over HTTP, in a 200 and in a 400`, () => {
      assert.match(hears(failed(code), http), / INIT /u)
      assert.match(hears(httpStatus(400, { error: { code, message: "" } }), http), / INIT /u)
    })
  for (const code of Promised.stdioFallbackCodes)
    it(`U-03 ${code} falls back on a pipe`, () => {
      assert.match(hears(failed(code), pipe), / INIT /u)
    })
  it("U-02, U-03, U-05 the promised sets are the ones that users were told", () => {
    assert.deepStrictEqual([...Promised.httpFallbackStatuses], [400, 404, 405])
    assert.deepStrictEqual([...Promised.httpFallbackCodes], [-32020, -32021, -32022, -32601])
    assert.deepStrictEqual([...Promised.stdioFallbackCodes], [-32020, -32021, -32022, -32601])
    assert.deepEqual(
      [...Promised.neverFallBack],
      [
        [401, 401],
        [403, 403],
        [500, 599]
      ]
    )
    assert.strictEqual(Promised.bodyCodePoints, 200)
  })
  it("U-03 silence on stdio counts after 5 seconds, or after the stdio timeout if that is shorter", () => {
    assert.strictEqual(Duration.toMillis(Promised.stdioTimeout(Duration.seconds(30))), 5000)
    assert.strictEqual(Duration.toMillis(Promised.stdioTimeout(Duration.millis(40))), 40)
  })
  it("U-05 401, 403, every 5xx and network failures never fall back", () => {
    for (const [lowest, highest] of Promised.neverFallBack)
      for (let status = lowest; status <= highest; status++)
        assert.match(hears(httpStatus(status, { error: { code: -32601, message: "" } }), http), / FAIL/u)
    assert.match(hears(unreachable, http), / FAIL/u)
  })
  it("U-02 U-05 over HTTP no other status falls back", () => {
    for (let status = 300; status < 600; status++)
      assert.strictEqual(/ INIT /u.test(hears(httpStatus(status), http)), [400, 404, 405].includes(status), `${status}`)
  })
})

describe("the table of the probe", () => {
  it("has every row from P1 to P32, in the machine or outside of it", () => {
    const ids = new Set([...EraRules.rules, ...EraRules.outside].map(({ id }) => id))
    assert.deepStrictEqual(
      Array.from({ length: 32 }, (_, index) => `P${index + 1}`).filter((id) => !ids.has(id)),
      []
    )
  })
  it("is total: the last row matches everything, and no other row does", () => {
    const blank = { ...read(pipe, Signal.Opened()), corrected: false }
    assert.isTrue(EraRules.rules.at(-1)?.matches(blank))
    assert.lengthOf(
      EraRules.rules.filter((rule) => rule.matches(blank)),
      1
    )
  })
  it("gives a reason and a source in every row", () => {
    for (const rule of EraRules.rules) assert.isTrue(rule.because.length > 10 && rule.source.length > 2, rule.id)
  })
})
