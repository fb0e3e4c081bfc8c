/**
 * The legacy SDK with every feature that it has, over stdio, Streamable HTTP with sessions, and HTTP+SSE. It adds to
 * `servers/sdkServer.ts` what a tour does not need, tasks among them.
 */
import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js"
import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import {
  type CallToolResult,
  CallToolResultSchema,
  ListPromptsRequestSchema,
  RootsListChangedNotificationSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  UrlElicitationRequiredError
} from "@modelcontextprotocol/sdk/types.js"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Served } from "../../servers/hosting.ts"
import { makeSdkListener, makeSdkServer } from "../../servers/sdkServer.ts"
import { isCancelled, names, pageOfPrompts } from "./surface.ts"

const said = (text: string) => ({ content: [{ type: "text" as const, text }] })

export const makeSdkPeer = (): McpServer => {
  const store = new InMemoryTaskStore()
  const server = makeSdkServer({
    taskStore: store,
    capabilities: { tasks: { cancel: {}, list: {}, requests: { tools: { call: {} } } } }
  })
  let cancelled = 0

  server.registerTool("log", { description: "Logs one message" }, async ({ sendNotification }) => {
    await sendNotification({
      method: "notifications/message",
      params: { level: "warning", logger: "kitchen", data: "the milk is sour" }
    })
    return said("logged")
  })

  server.registerTool("wait", { description: "Waits until it is cancelled" }, async ({ signal }) => {
    await isCancelled(signal)
    cancelled++
    return said("cancelled")
  })

  server.registerTool("cancelled", { description: "Says how often `wait` was cancelled" }, () =>
    said(String(cancelled))
  )

  server.registerTool("sign-in", { description: "Sends the user to an address" }, async ({ requestId }) => {
    const { action } = await server.server.elicitInput(
      { mode: "url", elicitationId: "1", message: "Please sign in", url: "https://example.com/in" },
      { relatedRequestId: requestId }
    )
    return said(action)
  })

  let isSignedIn = false
  server.registerTool("sign-in-first", { description: "Wants an address to be opened first" }, () => {
    if (isSignedIn) return said("accept")
    isSignedIn = true
    throw new UrlElicitationRequiredError([
      { mode: "url", elicitationId: "2", message: "Please sign in first", url: "https://example.com/first" }
    ])
  })

  server.registerTool("think", { description: "Asks a model" }, async ({ requestId }) => {
    const { content } = await server.server.createMessage(
      { maxTokens: 7, messages: [{ role: "user", content: { type: "text", text: "What is 2 + 2?" } }] },
      { relatedRequestId: requestId }
    )
    return said(JSON.stringify(content))
  })

  let remembered = ""
  server.server.setNotificationHandler(RootsListChangedNotificationSchema, async () => {
    remembered = JSON.stringify((await server.server.listRoots()).roots)
  })
  server.registerTool("remembered", { description: "Names the folders it was last told of" }, () => said(remembered))

  server.registerTool("folders", { description: "Names the folders of the client" }, async ({ requestId }) => {
    const { roots } = await server.server.listRoots({}, { relatedRequestId: requestId })
    return said(JSON.stringify(roots))
  })

  const addTask = (
    name: string,
    begin: (finish: (status: "completed" | "failed", result: CallToolResult) => void) => void
  ) =>
    server.experimental.tasks.registerToolTask(
      name,
      { description: "Takes its time", execution: { taskSupport: "required" } },
      {
        createTask: async ({ taskStore }) => {
          const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 100 })
          begin((status, result) => void taskStore.storeTaskResult(task.taskId, status, result))
          return { task }
        },
        getTask: async ({ taskId, taskStore }) => taskStore.getTask(taskId),
        getTaskResult: async ({ taskId }) => CallToolResultSchema.parse(await store.getTaskResult(taskId))
      }
    )
  addTask("bake", (finish) => void setTimeout(() => finish("completed", said("baked")), 50))
  addTask(
    "burn",
    (finish) => void setTimeout(() => finish("failed", { ...said("the oven is on fire"), isError: true }), 50)
  )
  addTask("brew", () => undefined)

  server.registerResource(
    "letters",
    new ResourceTemplate("demo://letters/{name}", {
      list: undefined,
      complete: { name: (begun) => names.filter((name) => name.startsWith(begun)) }
    }),
    { mimeType: "text/plain" },
    (uri, { name }) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: `Dear ${String(name)}` }] })
  )

  // The SDK announces subscriptions and leaves them to the server; `announce` reports whatever was asked for.
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}))
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}))
  server.server.setRequestHandler(ListPromptsRequestSchema, ({ params }) => pageOfPrompts(params?.cursor))

  return server
}

export const makeSdkPeerListener = (): Served => makeSdkListener(makeSdkPeer)

/** HTTP+SSE: `GET /mcp` opens the stream, `POST /messages` takes what belongs to it. */
export const makeSdkPeerSse = (): Served => {
  const streams = new Map<string, SSEServerTransport>()
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://127.0.0.1")
    if (pathname === "/mcp" && request.method === "GET") {
      const transport = new SSEServerTransport("/messages", response)
      streams.set(transport.sessionId, transport)
      return await makeSdkPeer().connect(transport)
    }
    const transport = streams.get(searchParams.get("sessionId") ?? "")
    if (pathname === "/messages" && transport !== undefined) return await transport.handlePostMessage(request, response)
    response.writeHead(404).end()
  }
  return {
    listener: (request, response) => void serve(request, response).catch(() => response.destroy()),
    close: async () => undefined
  }
}
