import { McpClient } from "@mcp-effect/client"
import { Script, ScriptedServer, Transcript } from "@mcp-effect/testing"
import { Effect } from "effect"

const program = Effect.gen(function* () {
  const server = yield* ScriptedServer.make(Script.both())
  const client = yield* McpClient.connect(server.pipe())
  const result = yield* client.callTool("echo", { text: "hello" })
  console.log(client.agreement.version, result.content) // 2026-07-28 [{ type: "text", text: "hello" }]
  console.log(Transcript.methods(yield* server.transcript)) // what the server heard
})

await Effect.runPromise(Effect.scoped(program))
