/** A property of negotiation: whatever a server does, connecting ends with a version we speak, or with advice. */
import { McpClient } from "@mcp-effect/client"
import { EraMemory } from "@mcp-effect/negotiation"
import { ScriptArbitraries, ScriptedServer } from "@mcp-effect/testing"
import { Arbitrary, Console, Effect, References } from "effect"

const property = Arbitrary.checkEffect(
  ScriptArbitraries.script({ carrier: "pipe" }),
  (script) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(script)
      return yield* McpClient.connect(server.pipe("stdio")).pipe(
        Effect.match({
          onSuccess: ({ agreement }) => agreement.version.startsWith("20"),
          onFailure: (error) => "hint" in error && error.hint !== ""
        }),
        Effect.scoped
      )
    }).pipe(
      ScriptedServer.unhurried, // waits take no time
      Effect.provide(EraMemory.layerNone), // each server is a stranger
      Effect.provideService(References.MinimumLogLevel, "Error")
    ),
  { runs: 25, seed: 1 }
)

const result = await Effect.runPromise(property)
if (result._tag !== "Passed") throw new Error(Arbitrary.formatCheckFailure(result))
await Effect.runPromise(Console.log("the property holds"))
