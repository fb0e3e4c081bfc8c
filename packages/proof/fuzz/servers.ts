/** The client against servers that do whatever servers may do, in both eras and over both kinds of transport. */
import * as McpClient from "@mcp-effect/client/McpClient"
import * as ScriptArbitraries from "@mcp-effect/testing/ScriptArbitraries"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import type * as Script from "@mcp-effect/testing/Script"
import type * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { quiet, type Target, target } from "./Target.ts"

type Carrier = "pipe" | "http"

const wireOf = (server: ScriptedServer.ScriptedServer, carrier: Carrier) =>
  carrier === "pipe" ? server.pipe("stdio") : server.http

/** How it opens: a connection is agreed on and used, or fails in a typed way. */
const opening = (carrier: Carrier): Target =>
  target(
    `a client meets a server, ${carrier}`,
    ScriptArbitraries.script({ carrier }),
    (script) =>
      quiet(
        Effect.gen(function* () {
          const client = yield* McpClient.connect(wireOf(yield* ScriptedServer.make(script), carrier))
          yield* client.listTools()
          yield* client.callTool("echo", { text: "hello" })
        })
      ),
    0.05
  )

/** Everything a client can ask for, each once; each ends with a value or in a typed way. */
const using = (script: Script.Script, carrier: Carrier) =>
  quiet(
    Effect.gen(function* () {
      const client = yield* McpClient.connect(wireOf(yield* ScriptedServer.make(script), carrier), {
        handlers: {
          elicitation: {
            form: () => Effect.succeed({ action: "accept", content: {} }),
            url: () => Effect.succeed({ action: "cancel" })
          },
          roots: Effect.succeed([{ uri: "file:///srv" }])
        }
      })
      const asked: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
        client.listTools(),
        client.callTool("echo", { text: "hello" }),
        client.begin("echo"),
        Stream.runCollect(client.streamTool("echo")),
        client.listPrompts(),
        client.getPrompt("one"),
        client.listResources(),
        client.readResource("file:///a"),
        client.ping(),
        Stream.runCollect(Stream.take(client.logs, 1)).pipe(Effect.timeoutOption("1 minute"))
      ]
      yield* Effect.forEach(asked, (ask) => Effect.ignore(ask), { concurrency: 3 })
    })
  )

const conduct = (era: "modern" | "legacy", carrier: Carrier): Target => {
  const servers: Arbitrary.Arbitrary<Script.Script> = ScriptArbitraries.unruly({ carrier, era })
  return target(`a client uses a ${era} server, ${carrier}`, servers, (script) => using(script, carrier), 0.05)
}

/** Servers as they come. */
export const targets: ReadonlyArray<Target> = [
  opening("pipe"),
  opening("http"),
  ...(["modern", "legacy"] as const).flatMap((era) => [conduct(era, "pipe"), conduct(era, "http")])
]
