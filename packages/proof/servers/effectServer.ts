/**
 * Effect's own server (`effect/ai/McpServer`) over HTTP, speaking every revision at one address.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"

const Tools = Toolkit.make(
  Tool.make("echo", {
    description: "Says the text back",
    parameters: Schema.Struct({ text: Schema.String }),
    success: Schema.Struct({ text: Schema.String })
  }),
  Tool.make("add", {
    description: "Adds two numbers",
    parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
    success: Schema.Struct({ sum: Schema.Finite })
  }),
  Tool.make("count", {
    description: "Counts and reports each step",
    parameters: Schema.Struct({ to: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })) }),
    success: Schema.Struct({ counted: Schema.Int }),
    dependencies: [McpSchema.McpRequestContext]
  }),
  Tool.make("fail", {
    description: "Reports a failure of its own",
    parameters: Schema.Struct({ because: Schema.String }),
    failure: Schema.String
  }),
  Tool.make("announce", {
    description: "Says that the tools and the resource changed",
    parameters: Tool.EmptyParams,
    success: Schema.Struct({ announced: Schema.Boolean })
  })
)

const ToolsLive = Tools.toLayer(
  Effect.gen(function* () {
    const { notifications } = yield* McpServer.McpServer
    return Tools.of({
      echo: ({ text }) => Effect.succeed({ text }),
      add: ({ a, b }) => Effect.succeed({ sum: a + b }),
      count: Effect.fnUntraced(function* ({ to }) {
        const { requestMetadata } = yield* McpSchema.McpRequestContext
        const progressToken = requestMetadata?.progressToken
        if (typeof progressToken === "string" || typeof progressToken === "number") {
          for (let progress = 1; progress <= to; progress++) {
            yield* notifications["notifications/progress"]({ progressToken, progress, total: to })
          }
        }
        return { counted: to }
      }),
      fail: ({ because }) => Effect.fail(because),
      announce: () =>
        notifications["notifications/tools/list_changed"]({}).pipe(
          Effect.andThen(notifications["notifications/resources/updated"]({ uri: "demo://hello" })),
          Effect.as({ announced: true })
        )
    })
  })
)

/** The tools, the prompt and the resource. */
export const registrations = Layer.mergeAll(
  McpServer.toolkit(Tools).pipe(Layer.provide(ToolsLive)),
  McpServer.prompt({
    name: "greet",
    description: "Greets somebody",
    parameters: { who: Schema.String },
    content: ({ who }) => Effect.succeed(`Greet ${who}`)
  }),
  McpServer.resource({
    uri: "demo://hello",
    name: "hello",
    mimeType: "text/plain",
    content: Effect.succeed("Hello")
  })
)

/** The server on a free port of loopback, at `/mcp`. */
export const EffectServer = HttpRouter.serve(
  McpServer.layerHttp({
    name: "effect",
    version: "4.1.0",
    instructions: "Call echo to hear yourself.",
    path: "/mcp",
    protocols: [
      McpProtocol.v2026_07_28,
      McpProtocol.v2025_11_25,
      McpProtocol.v2025_06_18,
      McpProtocol.v2025_03_26,
      McpProtocol.v2024_11_05
    ],
    allowSessionTermination: true,
    registrations
  }),
  { disableLogger: true, disableListenLog: true }
).pipe(
  Layer.provideMerge(
    NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: "200 millis" })
  )
)
