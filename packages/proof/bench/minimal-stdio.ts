/** The smallest program over stdio: connect, one call, one line. */
import * as McpClient from "@mcp-effect/client/McpClient"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as Effect from "effect/Effect"

const imported = performance.now()
const program = Effect.gen(function* () {
  const server = NodeStdio.make({ command: process.execPath, args: process.argv.slice(2) })
  const client = yield* McpClient.connect(server)
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

void Effect.runPromise(program.pipe(Effect.scoped))
