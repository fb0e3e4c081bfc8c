import { assert, describe, it } from "@effect/vitest"
import * as Discover from "@mcp-effect/protocol/Discover"
import * as Initialize from "@mcp-effect/protocol/Initialize"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Method from "@mcp-effect/protocol/Method"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as ServerSide from "@mcp-effect/protocol/ServerSide"
import * as Version from "@mcp-effect/protocol/Version"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Arbitraries from "../src/Arbitraries.ts"
import * as ScriptArbitraries from "../src/ScriptArbitraries.ts"

const versions = [...Version.modern, ...Version.legacy]

const succeeded = <A, E extends { readonly message: string }>(result: Result.Result<A, E>, about: unknown): A =>
  Result.isSuccess(result) ? result.success : assert.fail(`${result.failure.message}: ${JSON.stringify(about)}`)

describe("U-66: generated values", () => {
  it.prop("of JSON look the same after a trip over the wire", [Arbitraries.json], ([value]) => {
    assert.deepStrictEqual(JSON.parse(JSON.stringify(value)), value)
  })

  it.prop("of JSON objects may have any key of their own", [Arbitraries.jsonObject], ([value]) => {
    assert.deepStrictEqual(Object.keys(JSON.parse(JSON.stringify(value))).toSorted(), Object.keys(value).toSorted())
    assert.notProperty({}, "polluted")
  })

  it.prop(
    "P4: soft defects of a DiscoverResult do not keep it from counting",
    [Arbitraries.softDiscoverResult],
    ([value]) => {
      const { value: decoded } = succeeded(Discover.decode(value), value)
      assert.deepStrictEqual(decoded.supportedVersions, value["supportedVersions"])
    }
  )

  it.prop("P1: a correct DiscoverResult is read without a loss", [Arbitraries.discoverResult], ([value]) => {
    assert.deepStrictEqual(succeeded(Discover.decode(value), value).rejected, [])
  })

  it.prop("P5: what is no DiscoverResult does not count", [Arbitraries.noDiscoverResult], ([value]) => {
    assert.isTrue(Result.isFailure(Discover.decode(value)))
  })

  it.prop("H1–H3: an InitializeResult is read, whatever its version", [Arbitraries.initializeResult], ([value]) => {
    assert.strictEqual(succeeded(Initialize.decode(value), value).value.protocolVersion, value["protocolVersion"])
  })

  it.prop("T-STDIO-1: broken frames are one line each, and no messages", [Arbitraries.brokenFrame], ([line]) => {
    assert.notInclude(line, "\n")
    assert.isTrue(JsonRpc.parse(line, { batches: true }).every(Result.isFailure), line)
  })
})

describe.each(versions)("U-66: messages of %s", (version) => {
  const server = ServerSide.of(version)
  const revision = Revision.of(version)

  it.prop("travel as one line of JSON-RPC", [Arbitraries.message(version)], ([message]) => {
    const text = JSON.stringify(message)
    assert.notInclude(text, "\n")
    const [parsed, ...rest] = JsonRpc.parse(text)
    assert.deepStrictEqual(rest, [])
    assert.deepStrictEqual(parsed === undefined ? undefined : succeeded(parsed, message), JSON.parse(text))
  })

  it.prop("that a client sends are read by a server", [Arbitraries.request(version)], ([request]) => {
    assert.strictEqual(succeeded(server.request(request.method, request.params), request).method, request.method)
  })

  it.prop("that a server notifies are read by a client", [Arbitraries.notification(version)], ([notification]) => {
    assert.isTrue(
      Result.isSuccess(revision.hear(notification.method, notification.params)),
      JSON.stringify(notification)
    )
  })

  it.prop("that a server asks are read by a client", [Arbitraries.question(version)], ([question]) => {
    assert.strictEqual(succeeded(revision.question(question.method, question.params), question).method, question.method)
  })

  it.prop("that a client tells are read by a server", [Arbitraries.told(version)], ([told]) => {
    assert.strictEqual(succeeded(server.hear(told.method, told.params), told).method, told.method)
  })

  it.effect("answer every kind of question that the version has", () =>
    Effect.gen(function* () {
      const questions = yield* Arbitrary.sampleEffect(Arbitraries.question(version), { count: 60, seed: 1 })
      const answers = yield* Arbitrary.sampleEffect(Arbitraries.answer(version), { count: 60, seed: 1 })
      const methods = [...new Set(questions.map(({ method }) => method))]
      assert.includeMembers(methods, ["roots/list", "sampling/createMessage"])
      for (const { result } of answers) {
        assert.isTrue(
          methods.some((method) => Result.isSuccess(server.answer(method as "ping", result))),
          JSON.stringify(result)
        )
      }
    })
  )
})

describe("U-66: generated servers", () => {
  it.effect("are the same for the same seed, and survive as JSON", () =>
    Effect.gen(function* () {
      const sample = (carrier: "pipe" | "http") =>
        Arbitrary.sampleEffect(ScriptArbitraries.script({ carrier }), { count: 50, seed: 3 })
      for (const carrier of ["pipe", "http"] as const) {
        const scripts = yield* sample(carrier)
        assert.deepStrictEqual(scripts, yield* sample(carrier))
        assert.deepStrictEqual(JSON.parse(JSON.stringify(scripts)), scripts)
        assert.isAbove(new Set(scripts.map((script) => JSON.stringify(script))).size, 45)
      }
    })
  )

  it.effect("that are unruly open well, are the same for the same seed, and survive as JSON", () =>
    Effect.gen(function* () {
      for (const carrier of ["pipe", "http"] as const) {
        for (const era of ["modern", "legacy"] as const) {
          const sample = Arbitrary.sampleEffect(ScriptArbitraries.unruly({ carrier, era }), { count: 10, seed: 3 })
          const scripts = yield* sample
          assert.deepStrictEqual(scripts, yield* sample)
          assert.deepStrictEqual(JSON.parse(JSON.stringify(scripts)), scripts)
          for (const { legacy, modern, on } of scripts) {
            assert.lengthOf(era === "modern" ? modern : legacy, 1)
            assert.lengthOf(era === "modern" ? legacy : modern, 0)
            assert.doesNotHaveAnyKeys(on, ["server/discover", "initialize"])
          }
          assert.isAbove(
            new Set(
              scripts.flatMap(({ on }) =>
                Object.values(on)
                  .flat(2)
                  .map((step) => step.do)
              )
            ).size,
            3
          )
        }
      }
    })
  )

  it.effect("reach every method of a revision", () =>
    Effect.gen(function* () {
      const methods = Object.keys(Method.methods).filter((method) => Revision.v2025_11_25.supports(method))
      const requests = yield* Arbitrary.sampleEffect(Arbitraries.request("2025-11-25"), { count: 400, seed: 1 })
      assert.sameMembers([...new Set(requests.map(({ method }) => method)), "initialize"], methods)
    })
  )
})
