import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { gzipSync } from "node:zlib"
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

/** A program in one text, as it would be sent. */
const whole = (input: string) => Effect.map(bundle(input), ({ files }) => [...files.values()].join(""))
const kib = (code: string) => gzipSync(code, { level: 9 }).length / 1024

describe("the smallest program", () => {
  it.live(
    "over HTTP weighs less than 120 KiB gzipped, and can start no process",
    () =>
      Effect.gen(function* () {
        const code = yield* whole("../bench/minimal-http.ts")
        assert.include(code, "text/event-stream")
        assert.notInclude(code, "SYSTEMROOT")
        assert.isBelow(kib(code), 120)
      }),
    30_000
  )

  it.live(
    "over stdio weighs less than 107 KiB gzipped, and knows nothing of HTTP bodies",
    () =>
      Effect.gen(function* () {
        const code = yield* whole("../bench/minimal-stdio.ts")
        assert.include(code, "SYSTEMROOT")
        assert.notInclude(code, "text/event-stream")
        assert.isBelow(kib(code), 107)
      }),
    30_000
  )
})
