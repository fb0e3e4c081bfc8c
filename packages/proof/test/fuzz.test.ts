/**
 * Fuzzing, the short form: one round of a fixed seed. `pnpm fuzz` runs it longer, with a seed of your choice.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitraries from "@mcp-effect/testing/Arbitraries"
import * as Effect from "effect/Effect"
import * as Fuzz from "../fuzz/Fuzz.ts"
import * as Target from "../fuzz/Target.ts"

describe("fuzzing", () => {
  it.live.each(Fuzz.targets)(
    "$name: damaged input is refused in a typed way, and how it is cut does not matter",
    ({ run }) => Effect.map(run("test", 100), (failure) => assert.isUndefined(failure)),
    60_000
  )

  it.live("a failure comes with the smallest input that shows it", () =>
    Effect.gen(function* () {
      const { run } = Target.target(
        "no such key",
        Arbitraries.jsonObject,
        (value) => !Object.hasOwn(value, "__proto__")
      )
      const failure = yield* run("test", 1_000)
      assert.include(failure, "Shrunk input")
      assert.include(failure, "__proto__")
    })
  )
})
