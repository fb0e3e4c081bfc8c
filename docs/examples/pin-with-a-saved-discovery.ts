/** Saves what a server said of itself, and connects again without a single question. */
import { McpClient } from "@mcp-effect/client"
import { Mode } from "@mcp-effect/negotiation"
import { Script, ScriptedServer, Transcript } from "@mcp-effect/testing"
import { Console, Effect } from "effect"

const program = Effect.gen(function* () {
  const server = yield* ScriptedServer.make(Script.both()) // stands for your server
  const first = yield* McpClient.connect(server.pipe())
  const saved = JSON.stringify(first.agreement.discover) // a file, a database, another process

  const again = yield* ScriptedServer.make(Script.both())
  const client = yield* McpClient.connect(again.pipe(), {
    mode: Mode.pin("2026-07-28", { prior: JSON.parse(saved) })
  })
  yield* Console.log("round trips:", client.agreement.roundTrips)
  yield* Console.log("tools known:", client.agreement.capabilities?.tools !== undefined)
  yield* client.callTool("echo", { text: "hello" })
  yield* Console.log("heard:", Transcript.methods(yield* again.transcript).join(" "))
})

await Effect.runPromise(Effect.scoped(program))
