import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { bundle } from "../browser/bundle.ts"

describe("U-45: a bundle for browsers", () => {
  it.live(
    "imports nothing that a browser does not have",
    () =>
      Effect.gen(function* () {
        const { entry, files, outside } = yield* bundle("./page.ts")
        assert.deepStrictEqual(outside, [])
        assert.isTrue(files.has(entry))
        for (const [name, code] of files) assert.isFalse(/\b(?:from|import\(?|require\()\s*["'`]node:/.test(code), name)
      }),
    30_000
  )

  it.live(
    "would be seen to import from Node: NodeStdio and NodeHttp are the only modules that do",
    () =>
      Effect.gen(function* () {
        const { outside } = yield* bundle("@mcp-effect/transport/NodeStdio")
        assert.includeMembers([...outside], ["node:child_process", "node:fs"])
        const http = yield* bundle("@mcp-effect/transport/NodeHttp")
        assert.includeMembers([...http.outside], ["node:stream"])
        const all = yield* bundle("@mcp-effect/transport")
        assert.deepStrictEqual(all.outside, [])
      }),
    30_000
  )
})
