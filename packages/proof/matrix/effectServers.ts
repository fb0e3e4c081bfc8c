/** Effect's own server, configured for some revisions only. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { ServerFailed } from "../servers/hosting.ts"

const Tools = Toolkit.make(
  Tool.make("echo", {
    description: "Says the text back",
    parameters: Schema.Struct({ text: Schema.String }),
    success: Schema.Struct({ text: Schema.String })
  })
)

const revisions = {
  "2026-07-28": McpProtocol.v2026_07_28,
  "2025-11-25": McpProtocol.v2025_11_25,
  "2025-06-18": McpProtocol.v2025_06_18,
  "2025-03-26": McpProtocol.v2025_03_26,
  "2024-11-05": McpProtocol.v2024_11_05
} as const

export type Version = keyof typeof revisions

/** The server on a free port of loopback, at `/mcp`; gives its address. */
export const serve = Effect.fnUntraced(function* (first: Version, ...rest: ReadonlyArray<Version>) {
  const server = HttpRouter.serve(
    McpServer.layerHttp({
      name: "effect",
      version: "4.1.0",
      path: "/mcp",
      protocols: [revisions[first], ...rest.map((version) => revisions[version])],
      registrations: McpServer.toolkit(Tools).pipe(
        Layer.provide(Tools.toLayer({ echo: ({ text }) => Effect.succeed({ text }) }))
      )
    }),
    { disableLogger: true, disableListenLog: true }
  ).pipe(
    Layer.provideMerge(
      NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: "200 millis" })
    )
  )
  const context = yield* Layer.build(Layer.fresh(server)).pipe(
    Effect.mapError((error) => new ServerFailed({ server: `effect ${first}`, because: error.message }))
  )
  return `${HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)}/mcp`
})
