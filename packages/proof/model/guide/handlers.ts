import { FormAnswer, type Handlers, McpClient } from "@mcp-effect/client"
import { HandlerLaws } from "@mcp-effect/testing"
import { Effect, Result } from "effect"

// Your handlers. These accept what the form proposes, and know one folder.
const handlers: Handlers.Handlers = {
  elicitation: {
    form: (question) =>
      Effect.succeed(
        Result.match(FormAnswer.check(question, FormAnswer.defaults(question)), {
          onSuccess: (content) => ({ action: "accept", content }),
          onFailure: () => ({ action: "cancel" })
        })
      )
  },
  roots: Effect.succeed([{ uri: "file:///srv/data" }])
}

const program = Effect.gen(function* () {
  const found = yield* HandlerLaws.violations({
    handlers,
    call: (transport, given) =>
      Effect.flatMap(McpClient.connect(transport, { handlers: given }), (client) => client.callTool("echo"))
  })
  for (const violation of found) console.log(violation.message) // nothing
})

await Effect.runPromise(program)
