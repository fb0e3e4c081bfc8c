import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { McpClient } from "@mcp-effect/client"
import { Script } from "@mcp-effect/testing"
import * as NodeHttpScriptedServer from "@mcp-effect/testing/NodeHttpScriptedServer"
import * as NodeScriptedServer from "@mcp-effect/testing/NodeScriptedServer"
import { Effect } from "effect"

const script = Script.legacy({ http: { session: true, reply: "events" } })

const program = Effect.gen(function* () {
  const child = yield* NodeScriptedServer.make(script)
  const overStdio = yield* McpClient.connect([child.command, ...child.args])

  const loopback = yield* NodeHttpScriptedServer.make(script)
  const overHttp = yield* McpClient.connect(loopback.url)

  console.log(overStdio.agreement.rule, overHttp.agreement.rule) // P13 P14
})

await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici])))
