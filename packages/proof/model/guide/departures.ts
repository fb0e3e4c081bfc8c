import { McpClient } from "@mcp-effect/client"
import { Script, ScriptedServer } from "@mcp-effect/testing"
import { Effect } from "effect"

// An older server: it needs six seconds to notice the probe, and fails the first call.
const slow = Script.legacy({
  on: {
    "server/discover": [Script.wait("6 seconds"), Script.answer()],
    "tools/call": [[Script.fail(-32603, { message: "not yet" })], [Script.answer()]]
  }
})

const program = Effect.gen(function* () {
  const server = yield* ScriptedServer.make(slow)
  const client = yield* McpClient.connect(server.pipe("stdio"))
  const refused = yield* Effect.flip(client.callTool("echo", { text: "hello" }))
  const answered = yield* client.callTool("echo", { text: "hello" })
  console.log(client.agreement.rule, refused.reason._tag, answered.content) // P16 ServerError [...]
})

// On a test clock of its own the six seconds take no time.
await Effect.runPromise(ScriptedServer.unhurried(Effect.scoped(program)))
