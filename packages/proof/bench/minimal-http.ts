/** The smallest program over HTTP: connect, one call, one line. Its transport is a layer, so it holds no other. */
import * as McpClient from "@mcp-effect/client/McpClient"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
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

const connection = McpClient.layer().pipe(
  Layer.provide(StreamableHttp.layer({ url: process.argv[2] ?? "" })),
  Layer.provide(FetchHttpClient.layer)
)
void Effect.runPromise(Effect.provide(program, connection))
