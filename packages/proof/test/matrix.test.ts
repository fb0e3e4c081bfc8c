import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { expected, measure, rows } from "../matrix/Matrix.ts"
import * as Others from "../matrix/Others.ts"
import { file, page } from "../matrix/page.ts"
import { patience } from "./fixtures/patience.ts"

describe.concurrent("U-01, U-06, U-10, U-41: connecting to a real server in every mode", () => {
  it.live.each(rows)(
    "$server: $auto over $over",
    (row) =>
      Effect.map(measure(row), (found) => assert.deepStrictEqual(found, expected(row))).pipe(
        Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici, patience])
      ),
    { timeout: 90_000 }
  )
})

describe.concurrent("U-01: connecting where other clients connect, and where they do not", () => {
  it.live.each(Others.rows)(
    "$server: $ours; the official client $official and in auto $officialAuto; the Inspector $inspector",
    (row) =>
      Effect.map(Others.measure(row), (found) => assert.deepStrictEqual(found, Others.expected(row))).pipe(
        Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici, patience])
      ),
    { timeout: 180_000 }
  )

  it("this library gets through to all of them", () => {
    assert.deepStrictEqual(
      Others.rows.filter(({ ours }) => !ours.startsWith("20")),
      []
    )
  })
})

describe("the page of compatibility", () => {
  it("is printed from the rows", () => {
    // A formatter pads the table; padding says nothing.
    const bare = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---")
    assert.strictEqual(bare(readFileSync(file, "utf8")), bare(page), "run `pnpm run matrix --write`")
  })

  it("U-06: a modern server is asked once and then never, a legacy one at most three times, four over HTTP+SSE", () => {
    for (const { again, auto, over, trips } of rows) {
      if (auto === "2026-07-28") assert.deepStrictEqual([trips, again], [1, 0])
      else assert.isAtMost(trips, over === "sse" ? 4 : 3)
      assert.isBelow(again, trips)
    }
  })
})
