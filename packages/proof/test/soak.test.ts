/**
 * Endurance, the short form: half a minute of accidents. `pnpm soak` runs it longer.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Effect from "effect/Effect"
import * as Soak from "../soak/Soak.ts"

const good: Soak.Report = {
  calls: 100,
  answered: 90,
  interrupted: 4,
  failed: { OutcomeUnknown: 6 },
  processes: 3,
  lost: 0,
  mixed: 0,
  doubled: 0,
  defects: [],
  hanging: [],
  held: [20, 30, 31, 31, 31, 31],
  descriptors: [40, 40],
  left: 0
}

describe("the soak", () => {
  it.live(
    "64 callers, dying servers and cut connections: no answer is lost or doubled, and nothing is left",
    () =>
      Effect.gen(function* () {
        const report = yield* Soak.run({ seed: 7, seconds: 30, callers: 64 })
        assert.deepStrictEqual(Soak.broken(report), [], JSON.stringify(report))
        assert.isAbove(report.processes, 4, "the servers did not die")
        assert.isAbove(report.failed["OutcomeUnknown"] ?? 0, 0, "no accident was noticed")
      }).pipe(Effect.provide([NodeServices.layer, NodeHttp.layer])),
    180_000
  )

  it("a report that breaks a promise says which", () => {
    assert.deepStrictEqual(Soak.broken(good), [])
    const bad: ReadonlyArray<readonly [Partial<Soak.Report>, string]> = [
      [{ lost: 1 }, "without an outcome"],
      [{ failed: { RequestTimedOut: 1 } }, "too late"],
      [{ mixed: 1 }, "another's answer"],
      [{ doubled: 2 }, "ran twice"],
      [{ defects: ["TypeError"] }, "TypeError"],
      [{ held: [20, 30, 31, 31, 45, 46] }, "are held"],
      [{ descriptors: [40, 240] }, "descriptors are open"],
      [{ left: 1 }, "are left"],
      [{ answered: 50 }, "fewer than half"]
    ]
    for (const [change, says] of bad) {
      const [found = "", ...more] = Soak.broken({ ...good, ...change })
      assert.include(found, says)
      assert.deepStrictEqual(more, [])
    }
  })
})
