/** The laws of negotiation hold for the real client, and find one that breaks them. `MODEL_RUNS=20` plays more servers. */
import { assert, describe, it, vi } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as NegotiationLaws from "@mcp-effect/testing/NegotiationLaws"
import * as Effect from "effect/Effect"

const times = Number(process.env["MODEL_RUNS"] ?? 1)
const seed = Number(process.env["MODEL_SEED"] ?? 20_260_728)

vi.setConfig({ testTimeout: 60_000 * times })

describe("U-66: the laws of negotiation", () => {
  const connect: NegotiationLaws.Connect = (transport, mode) =>
    McpClient.connect(transport, { mode }).pipe(
      Effect.map(({ agreement }) => agreement),
      Effect.provide(EraMemory.layerNone)
    )

  it.effect.each(NegotiationLaws.laws)("$name", ({ check }) => check(connect, { runs: 40 * times, seed }))

  /** Agrees on what stands first in a list of the first answer. */
  const trusting = (listIn: (answer: JsonRpc.Response) => unknown): NegotiationLaws.Connect =>
    Effect.fnUntraced(function* (transport) {
      const revision = Revision.v2026_07_28
      const wire = yield* transport.open(() => {})
      const answer = yield* wire.exchange({ jsonrpc: "2.0", id: 1, method: "server/discover" }, { revision })
      const list = listIn(answer)
      return { version: Array.isArray(list) ? String(list[0]) : "none" }
    })

  it.effect.each<readonly [where: string, listIn: (answer: JsonRpc.Response) => unknown]>([
    ["an error", (answer) => ("error" in answer ? Object(answer.error.data)["supported"] : undefined)],
    ["a DiscoverResult", (answer) => ("result" in answer ? answer.result["supportedVersions"] : undefined)]
  ])("find a client that takes the first version of the list in %s", ([, listIn]) =>
    Effect.gen(function* () {
      const name = "the order of a list of versions changes nothing, nor do repetitions and what is no text"
      const law = NegotiationLaws.laws.find((each) => each.name === name)
      assert(law !== undefined)
      assert.strictEqual((yield* Effect.flip(law.check(trusting(listIn), { runs: 40, seed }))).law, name)
    })
  )

  it.effect("find a client that shakes hands after HTTP 401", () =>
    Effect.gen(function* () {
      const hasty: NegotiationLaws.Connect = (transport, mode) =>
        connect(transport, mode).pipe(Effect.catch(() => connect(transport, "legacy")))
      const found = yield* NegotiationLaws.violations(hasty, { runs: 10 })
      assert.includeMembers(
        found.map(({ law }) => law),
        ["a refusal or an outage selects no era"]
      )
    })
  )
})
