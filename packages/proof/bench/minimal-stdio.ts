/** The smallest program over stdio: connect, one call, one line. Its transport is a layer, so it holds no other. */
import * as McpClient from "@mcp-effect/client/McpClient"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const imported = performance.now()
const program = Effect.gen(function* () {
  const client = yield* McpClient.McpClient
  const connected = performance.now()
  const [first] = (yield* client.callTool("echo", { text: "hi" })).content
  console.log(
    JSON.stringify({
      imported,
      connected,
      called: performance.now(),
      text: first?.type === "text" ? first.text : undefined
    })
  )
  process.exit(0)
})

const server = NodeStdio.layer({ command: process.execPath, args: process.argv.slice(2) })
void Effect.runPromise(Effect.provide(program, Layer.provide(McpClient.layer(), server)))
