/** A transport of your own: messages cross a `MessageChannel`, one object each, to whatever is at its other end. */
import { McpClient } from "@mcp-effect/client"
import { Script, ScriptedServer } from "@mcp-effect/testing"
import { Memory } from "@mcp-effect/transport"
import { Console, Effect, Scope } from "effect"
import { MessageChannel, type MessagePort } from "node:worker_threads"

/** The transport. `open` gives the port of a new wire. */
export const make = (name: string, open: Effect.Effect<MessagePort>) =>
  Memory.make(name, ({ close, send }) =>
    Effect.gen(function* () {
      const port = yield* Effect.acquireRelease(open, (port) => Effect.sync(() => port.close()))
      port.on("message", send)
      port.on("close", () => close("the port closed"))
      return (message) => port.postMessage(message)
    })
  )

const program = Effect.gen(function* () {
  const server = yield* ScriptedServer.make(Script.both()) // stands for your server
  const scope = yield* Effect.scope
  const open = Effect.gen(function* () {
    const { port1, port2 } = new MessageChannel()
    const take = yield* server
      .attach({ write: (line) => port2.postMessage(JSON.parse(line)), close: () => port2.close() })
      .pipe(Scope.provide(scope))
    port2.on("message", (message) => take(`${JSON.stringify(message)}\n`))
    return port1
  })
  const client = yield* McpClient.connect(make("worker", open))
  const { content } = yield* client.callTool("echo", { text: "hello" })
  yield* Console.log(client.endpoint, client.agreement.version, JSON.stringify(content))
})

await Effect.runPromise(Effect.scoped(program))
