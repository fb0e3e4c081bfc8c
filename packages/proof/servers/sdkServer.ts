/**
 * A server on the legacy SDK (`@modelcontextprotocol/sdk`), with sessions over Streamable HTTP as most deployed servers
 * have them: `initialize` opens a session, anything else without one is refused with 400, an unknown one with 404.
 */
import type { ServerOptions } from "@modelcontextprotocol/sdk/server/index.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js"
import { randomUUID } from "node:crypto"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { json } from "node:stream/consumers"
import { z } from "zod"

/** A server with the common tools, prompt and resource. `options` are further ones of the SDK. */
export const makeSdkServer = (options: ServerOptions = {}): McpServer => {
  const server = new McpServer(
    { name: "sdk", version: "1.32.2" },
    {
      ...options,
      instructions: "Call echo to hear yourself.",
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
        ...options.capabilities
      }
    }
  )

  server.registerTool(
    "echo",
    { description: "Says the text back", inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } },
    ({ text }) => ({ content: [{ type: "text", text }] })
  )

  server.registerTool(
    "add",
    {
      description: "Adds two numbers",
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
      annotations: { readOnlyHint: true }
    },
    ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } })
  )

  server.registerTool(
    "count",
    { description: "Counts and reports each step", inputSchema: { to: z.int().min(1).max(100) } },
    async ({ to }, { _meta, sendNotification }) => {
      const progressToken = _meta?.progressToken
      if (progressToken !== undefined) {
        for (let progress = 1; progress <= to; progress++) {
          await sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: to } })
        }
      }
      return { content: [{ type: "text", text: `counted to ${to}` }] }
    }
  )

  server.registerTool(
    "fail",
    { description: "Reports a failure of its own", inputSchema: { because: z.string() } },
    ({ because }) => ({ isError: true, content: [{ type: "text", text: because }] })
  )

  server.registerTool(
    "ask",
    { description: "Asks the user and repeats the answer", inputSchema: { question: z.string() } },
    async ({ question }, { requestId }) => {
      const reply = await server.server.elicitInput(
        {
          message: question,
          requestedSchema: { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] }
        },
        { relatedRequestId: requestId }
      )
      const text = reply.action === "accept" ? `you said ${String(reply.content?.answer)}` : "no answer"
      return { content: [{ type: "text", text }] }
    }
  )

  server.registerTool(
    "route",
    {
      description: "Names the region it was routed to",
      inputSchema: { region: z.string().meta({ "x-mcp-header": "Region" }) },
      annotations: { readOnlyHint: true }
    },
    ({ region }) => ({ content: [{ type: "text", text: `routed to ${region}` }] })
  )

  server.registerTool("announce", { description: "Says that the tools and the resource changed" }, async () => {
    server.sendToolListChanged()
    await server.server.sendResourceUpdated({ uri: "demo://hello" })
    return { content: [{ type: "text", text: "announced" }] }
  })

  server.registerPrompt("greet", { description: "Greets somebody", argsSchema: { who: z.string() } }, ({ who }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${who}` } }]
  }))

  server.registerResource("hello", "demo://hello", { mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "Hello" }]
  }))

  return server
}

const refuse = (response: ServerResponse, status: number, code: number, message: string) => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null }))
}

/** The server behind a `node:http` listener, one instance per session. */
export const makeSdkListener = (
  make = makeSdkServer
): { readonly listener: RequestListener; readonly close: () => Promise<void> } => {
  const sessions = new Map<string, StreamableHTTPServerTransport>()

  const openSession = async (request: IncomingMessage, response: ServerResponse, message: unknown) => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id)
    })
    await make().connect(transport)
    await transport.handleRequest(request, response, message)
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const id = request.headers["mcp-session-id"]
    if (typeof id === "string") {
      const transport = sessions.get(id)
      return transport === undefined
        ? refuse(response, 404, -32001, "Session not found")
        : await transport.handleRequest(request, response)
    }
    const message = request.method === "POST" ? await json(request).catch(() => undefined) : undefined
    return isInitializeRequest(message)
      ? await openSession(request, response, message)
      : refuse(response, 400, -32000, "Bad Request: No valid session ID provided")
  }

  return {
    listener: (request, response) =>
      void serve(request, response).catch((error) => refuse(response, 500, -32603, String(error))),
    close: async () => {
      await Promise.all(Array.from(sessions.values(), (transport) => transport.close()))
    }
  }
}
