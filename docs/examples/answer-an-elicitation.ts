/** One handler answers a form in both eras: a legacy server asks during the call, a modern one in place of a result. */
import { McpClient } from "@mcp-effect/client"
import { Script, ScriptedServer } from "@mcp-effect/testing"
import { Console, Effect } from "effect"

const form = {
  mode: "form",
  message: "Which seat?",
  requestedSchema: { type: "object", properties: { seat: { type: "string" } }, required: ["seat"] }
}
const booked = { content: [{ type: "text", text: "booked" }] }

// Stand for your servers. The answers a server hears are in its transcript.
const modern = Script.modern({
  on: {
    "tools/call": [
      [
        Script.answer({
          resultType: "input_required",
          inputRequests: { seat: { method: "elicitation/create", params: form } },
          requestState: "state"
        })
      ],
      [Script.answer({ resultType: "complete", ...booked })]
    ]
  }
})
const legacy = Script.legacy({
  on: {
    "tools/call": [Script.say({ id: "q1", method: "elicitation/create", params: form }), Script.answer(booked)]
  }
})

const program = Effect.gen(function* () {
  for (const script of [modern, legacy]) {
    const server = yield* ScriptedServer.make(script)
    const client = yield* McpClient.connect(server.pipe(), {
      handlers: {
        elicitation: {
          form: ({ message }) =>
            Console.log(message).pipe(Effect.as({ action: "accept" as const, content: { seat: "12A" } }))
        }
      }
    })
    const { content } = yield* client.callTool("echo", { text: "a seat" })
    yield* Console.log(client.agreement.era, JSON.stringify(content))
  }
})

await Effect.runPromise(Effect.scoped(program))
