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

  it.effect(
    "U-53: a reader that stands still holds what is kept and 1,024 more; older items are lost, and counted",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const source = Broadcast.make<{ readonly n: number }>(2)
          source.publish({ n: 0 })
          const pull = yield* Stream.toPull(source.stream)
          assert.deepStrictEqual<ReadonlyArray<object>>(yield* pull, [{ n: 0 }])
          const holds = 2 + 1_024
          for (let n = 1; n <= holds; n++) source.publish({ n })
          assert.strictEqual(source.missed(), 0)
          for (let n = holds + 1; n <= holds + 3; n++) source.publish({ n })
          assert.strictEqual(source.missed(), 3)
          const got = (yield* pull).map(({ n }) => n)
          assert.deepStrictEqual([got.length, got[0], got.at(-1)], [holds, 4, holds + 3])
        })
      )
  )
})
