/** The smallest program over HTTP: connect, one call, one line. */
import * as McpClient from "@mcp-effect/client/McpClient"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"

const imported = performance.now()
const program = Effect.gen(function* () {
  const client = yield* McpClient.connect(process.argv[2] ?? "")
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

void Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer)))
