import { McpClient } from "@mcp-effect/client"
import { EraMemory } from "@mcp-effect/negotiation"
import { NegotiationLaws, ScriptedServer, TransportLaws } from "@mcp-effect/testing"
import { Effect } from "effect"

const program = Effect.gen(function* () {
  // Your transport instead of the pipe; `server.attach` serves a socket of your own.
  const ofTransport = yield* TransportLaws.violations((script) =>
    Effect.map(ScriptedServer.make(script), (server) => ({
      transport: server.pipe("stdio"),
      transcript: server.transcript
    }))
  )

  // Your way of connecting instead of the client's.
  const ofNegotiation = yield* NegotiationLaws.violations(
    (transport, mode) =>
      McpClient.connect(transport, { mode }).pipe(
        Effect.map((client) => client.agreement),
        Effect.provide(EraMemory.layerNone)
      ),
    { runs: 10 }
  )

  for (const violation of [...ofTransport, ...ofNegotiation]) console.log(violation.message) // nothing
})

await Effect.runPromise(program)
