/**
 * Effect's own server with every feature that it has, over HTTP and stdio, for every revision or for the legacy ones
 * alone. It adds to `servers/effectServer.ts` what a tour does not need.
 *
 * A modern client is asked with `InputRequired`, a legacy one through `McpServerClient`.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { registrations } from "../../servers/effectServer.ts"
import { ServerFailed } from "../../servers/hosting.ts"
import { names } from "./surface.ts"

const said = (text: string) => new McpSchema.CallToolResult({ content: [McpSchema.TextContent.make({ text })] })

type Answer = McpSchema.CallToolResult | McpSchema.InputRequired
type Handle = Effect.Effect<Answer, McpSchema.InternalError | McpSchema.InvalidParams, McpSchema.McpRequestContext>

/** Asks one question in the way of the client's era and says the answer as JSON. */
const asking = (
  question: McpSchema.McpInputRequest,
  ask: (client: McpSchema.McpReverseClient) => Effect.Effect<unknown, { readonly _tag: string }>
): Handle =>
  Effect.gen(function* () {
    const { inputResponses } = yield* McpSchema.McpRequestContext
    if (inputResponses?.["reply"] !== undefined) return said(JSON.stringify(inputResponses["reply"]))
    const legacy = yield* Effect.serviceOption(McpSchema.McpServerClient)
    if (Option.isNone(legacy)) return new McpSchema.InputRequired({ inputRequests: { reply: question } })
    return yield* legacy.value.getClient.pipe(
      Effect.flatMap(ask),
      Effect.map((answer) => said(JSON.stringify(answer))),
      Effect.catch(({ _tag }) =>
        Effect.succeed(
          new McpSchema.CallToolResult({ isError: true, content: [McpSchema.TextContent.make({ text: _tag })] })
        )
      ),
      Effect.scoped
    )
  })

const form = {
  mode: "form" as const,
  message: "What is your name?",
  requestedSchema: {
    type: "object" as const,
    properties: { answer: { type: "string" as const } },
    required: ["answer"]
  }
}
const address = { mode: "url" as const, elicitationId: "1", message: "Please sign in", url: "https://example.com/in" }
const thought = {
  maxTokens: 7,
  messages: [{ role: "user" as const, content: { type: "text" as const, text: "What is 2 + 2?" } }]
}

const decodeForm = Schema.decodeUnknownSync(McpSchema.Elicit.payloadSchema)
const decodeThought = Schema.decodeUnknownSync(McpSchema.CreateMessage.payloadSchema)

const more = Layer.effectDiscard(
  Effect.gen(function* () {
    const server = yield* McpServer.McpServer
    let cancelled = 0
    const add = (name: string, handle: Handle) =>
      server.addTool({
        tool: new McpSchema.Tool({ name, inputSchema: { type: "object" } }),
        annotations: Context.empty(),
        handle: () => handle
      })
    yield* add(
      "ask",
      asking({ method: "elicitation/create", params: form }, (client) => client.elicit(decodeForm(form)))
    )
    yield* add(
      "sign-in",
      asking({ method: "elicitation/create", params: address }, (client) => client.elicit(decodeForm(address)))
    )
    yield* add(
      "think",
      asking({ method: "sampling/createMessage", params: thought }, (client) =>
        client.createMessage(decodeThought(thought))
      )
    )
    yield* add(
      "folders",
      asking({ method: "roots/list" }, (client) => client.listRoots())
    )
    yield* add(
      "log",
      server.notifications["notifications/message"]({
        level: "warning",
        logger: "kitchen",
        data: "the milk is sour"
      }).pipe(Effect.as(said("logged")))
    )
    yield* server.addTool({
      tool: new McpSchema.Tool({
        name: "route",
        inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }
      }),
      annotations: Context.empty(),
      handle: (given) => Effect.succeed(said(`routed to ${JSON.stringify(given)}`))
    })
    yield* add("wait", Effect.never.pipe(Effect.onInterrupt(() => Effect.sync(() => cancelled++))))
    yield* add(
      "cancelled",
      Effect.sync(() => said(String(cancelled)))
    )
  })
)

const name = McpSchema.param("name", Schema.String)

const letters = McpServer.resource`demo://letters/${name}`({
  name: "letters",
  mimeType: "text/plain",
  completion: { name: (begun) => Effect.succeed(names.filter((each) => each.startsWith(begun))) },
  content: (_, who) => Effect.succeed(`Dear ${who}`)
})

const legacy = [
  McpProtocol.v2025_11_25,
  McpProtocol.v2025_06_18,
  McpProtocol.v2025_03_26,
  McpProtocol.v2024_11_05
] as const

const options = {
  name: "effect",
  version: "4.1.0",
  instructions: "Call echo to hear yourself.",
  cacheHints: { tools: { ttl: "1 minute", cacheScope: "private" } },
  registrations: Layer.mergeAll(registrations, more, letters)
} as const

const every = [McpProtocol.v2026_07_28, ...legacy] as const

export type Speaks = "every" | "legacy"

/** The server on a free port of loopback, at `/mcp`; gives its address. */
export const serve = Effect.fnUntraced(function* (speaks: Speaks) {
  const server = HttpRouter.serve(
    speaks === "every"
      ? McpServer.layerHttp({ ...options, path: "/mcp", protocols: every, allowSessionTermination: true })
      : McpServer.layerHttp({ ...options, path: "/mcp", protocols: legacy, allowSessionTermination: true }),
    { disableLogger: true, disableListenLog: true }
  ).pipe(
    Layer.provideMerge(
      NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: "200 millis" })
    )
  )
  const context = yield* Layer.build(Layer.fresh(server)).pipe(
    Effect.mapError((error) => new ServerFailed({ server: `effect, ${speaks}`, because: error.message }))
  )
  return `${HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)}/mcp`
})

/** Serves this process's standard input and output. */
export const runStdio = (speaks: Speaks): void => {
  const server =
    speaks === "every"
      ? McpServer.layerStdio({ ...options, protocols: every })
      : McpServer.layerStdio({ ...options, protocols: legacy })
  Layer.launch(server).pipe(
    // Standard output belongs to the protocol.
    Effect.provide(NodeStdio.layer),
    Effect.provideService(Logger.LogToStderr, true),
    NodeRuntime.runMain
  )
}
