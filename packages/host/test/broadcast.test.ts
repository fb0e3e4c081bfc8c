import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Broadcast from "../src/internal/broadcast.ts"

describe("one source for many", () => {
  it.effect("U-53: who subscribes after the end still gets what was kept, and then the end", () =>
    Effect.gen(function* () {
      const source = Broadcast.make<{ readonly n: number }>(2)
      for (const n of [1, 2, 3]) source.publish({ n })
      source.end()
      source.publish({ n: 4 })
      assert.deepStrictEqual(yield* Stream.runCollect(source.stream), [{ n: 2 }, { n: 3 }])
    })
  )
})
