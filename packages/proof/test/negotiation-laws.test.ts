/** The laws of negotiation hold for the real client, and find one that breaks them. `MODEL_RUNS=20` plays more servers. */
import { assert, describe, it, vi } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
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
