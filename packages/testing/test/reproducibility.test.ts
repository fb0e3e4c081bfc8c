/**
 * A seed means the same in every program and on every machine, so a failure that was reported with its seed can be played
 * again. Whoever changes a generator changes what seeds mean: the digests here say which ones.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as Arbitraries from "../src/Arbitraries.ts"
import * as QuestionArbitraries from "../src/QuestionArbitraries.ts"
import * as ScriptArbitraries from "../src/ScriptArbitraries.ts"

const generators: ReadonlyArray<readonly [name: string, generator: Arbitrary.Arbitrary<unknown>, digest: string]> = [
  ["servers on a pipe", ScriptArbitraries.script({ carrier: "pipe" }), "bb4ec7d369eb8b2d"],
  ["servers over HTTP", ScriptArbitraries.script({ carrier: "http" }), "c27726843643fd6a"],
  ["servers that do not wait", ScriptArbitraries.script({ carrier: "pipe", waits: "never" }), "2db08c447d758f8a"],
  ["servers for little patience", ScriptArbitraries.script({ carrier: "http", patience: 100 }), "48eeb6bc615408ef"],
  ["answers to a probe", ScriptArbitraries.probe({ carrier: "http" }), "c68df449aa4f6f2b"],
  ["answers to a handshake", ScriptArbitraries.handshake({ carrier: "http" }), "a9c1ad19dde7b313"],
  ["forms", QuestionArbitraries.form, "144cb722e7aa4576"],
  ["addresses", QuestionArbitraries.address, "7fbef4d75cd063e5"],
  ["bad addresses", QuestionArbitraries.badAddress, "dec77297426eb603"],
  ["questions to a model", QuestionArbitraries.sampling({ tools: true }), "06e9c4acda0659c0"],
  ["lists of versions", Arbitraries.versions, "f69e6b67ef5b637f"],
  ["discover results", Arbitraries.softDiscoverResult, "612505f7e639b98b"],
  ["what is no discover result", Arbitraries.noDiscoverResult, "e1805ea3ec3c943c"],
  ["initialize results", Arbitraries.initializeResult, "6aae17da23d5a164"],
  ["broken frames", Arbitraries.brokenFrame, "b6e9b2bf00c1e5fd"],
  ["failures", Arbitraries.failure, "bc71841925b3e07d"]
]

describe("U-66: the same seed gives the same", () => {
  it.effect.each(generators)("%s", ([, generator, digest]) =>
    Effect.gen(function* () {
      const values = yield* Arbitrary.sampleEffect(generator, { count: 1_000, seed: 1 })
      const hash = createHash("sha256").update(JSON.stringify(values)).digest("hex")
      assert.strictEqual(hash.slice(0, 16), digest)
    })
  )
})
