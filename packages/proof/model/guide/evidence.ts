import { McpClient } from "@mcp-effect/client"
import { Negotiated, Script, ScriptedServer } from "@mcp-effect/testing"
import { Effect } from "effect"

const program = Effect.gen(function* () {
  const server = yield* ScriptedServer.make(Script.legacy())
  const client = yield* McpClient.connect(server.pipe())
  Negotiated.check(client.agreement, {
    rule: "P13",
    roundTrips: 2,
    steps: [{ asked: "discover", signal: "Failed", code: -32601 }, "initialize"]
  })

  const error = yield* Effect.flip(McpClient.connect(server.pipe(), { mode: "modern" }))
  Negotiated.check(error, { reason: "ModernUnavailable", steps: ["P13"] })
})

await Effect.runPromise(Effect.scoped(program))
