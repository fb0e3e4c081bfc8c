import { McpClient } from "@mcp-effect/client"
import { Recording, Script, ScriptedServer } from "@mcp-effect/testing"
import { ExchangeLog } from "@mcp-effect/transport"
import { Effect } from "effect"

const program = Effect.gen(function* () {
  // The real server; here a scripted one stands for it.
  const real = yield* ScriptedServer.make(Script.modern({ instructions: "Be kind." }))
  const log: Array<ExchangeLog.Entry> = []
  const client = yield* McpClient.connect(ExchangeLog.record(real.pipe(), (entry) => log.push(entry)))
  yield* client.callTool("echo", { text: "hello" })

  const recorded = yield* ScriptedServer.make(Recording.script(log))
  const again = yield* McpClient.connect(recorded.pipe())
  const result = yield* again.callTool("echo", { text: "hello" })
  console.log(again.agreement.version, result.content) // 2026-07-28 [{ type: "text", text: "hello" }]
})

await Effect.runPromise(Effect.scoped(program))
