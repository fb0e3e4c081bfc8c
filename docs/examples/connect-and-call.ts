/** Connects to a server, says what was found, and calls a tool. */
import { NodeServices } from "@effect/platform-node"
import { McpClient } from "@mcp-effect/client"
import { Console, Effect } from "effect"

const program = Effect.gen(function* () {
  const client = yield* McpClient.connect(["npx", "-y", "@modelcontextprotocol/server-everything"])
  yield* Console.log(client.agreement.era, client.agreement.version)
  const { content } = yield* client.callTool("echo", { message: "hello" })
  yield* Console.log(JSON.stringify(content))
})

await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
