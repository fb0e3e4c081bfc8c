/** Three servers behind one toolkit, which a language model of `effect/ai` can use. */
import { AiToolkit, Host, ServerEntry } from "@mcp-effect/host"
import { Script, ScriptedServer } from "@mcp-effect/testing"
import { Console, Effect } from "effect"

const program = Effect.gen(function* () {
  const host = yield* Host.make({ approval: "allow" })
  for (const [name, script] of [
    ["old", Script.legacy()],
    ["new", Script.modern()],
    ["both", Script.both()]
  ] as const) {
    const server = yield* ScriptedServer.make(script) // stands for your server
    // the transport stands in for the command, which is never run
    yield* host.add(ServerEntry.stdio({ name, command: "unused" }), server.pipe())
    const about = yield* host.ready(name)
    yield* Console.log(name, about.version)
  }
  const toolkit = yield* AiToolkit.make(host)
  yield* Console.log(Object.keys(toolkit.tools).toSorted().join(" "))
  const { content } = yield* host.callTool("old__echo", { text: "hello" })
  yield* Console.log(JSON.stringify(content))
})

await Effect.runPromise(Effect.scoped(program))
