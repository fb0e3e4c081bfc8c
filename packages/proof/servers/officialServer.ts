/**
 * A server on the official SDK of the modern line (`@modelcontextprotocol/server`), for both of its ways to serve.
 *
 * One factory serves both eras. Over HTTP every request gets an instance of its own, so a change is announced by the
 * handler and not by the instance; over stdio one instance lives as long as the process.
 */
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from "@modelcontextprotocol/node"
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerOptions
} from "@modelcontextprotocol/server"
import type { RequestListener } from "node:http"
import { z } from "zod"

const Answer = z.object({ answer: z.string() })

/**
 * A server with the common tools, prompt and resource. `announce` says that the tools and the resource changed;
 * without it the instance says so itself. `options` are further ones of the SDK.
 */
export const makeOfficialServer = (announce?: () => void, options: ServerOptions = {}): McpServer => {
  const server = new McpServer(
    { name: "official", version: "2.4.0" },
    {
      ...options,
      instructions: "Call echo to hear yourself.",
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true } }
    }
  )

  server.registerTool(
    "echo",
    {
      description: "Says the text back",
      inputSchema: z.object({ text: z.string() }),
      annotations: { readOnlyHint: true }
    },
    ({ text }) => ({ content: [{ type: "text", text }] })
  )

  server.registerTool(
    "add",
    {
      description: "Adds two numbers",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true }
    },
    ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } })
  )

  server.registerTool(
    "count",
    { description: "Counts and reports each step", inputSchema: z.object({ to: z.int().min(1).max(100) }) },
    async ({ to }, { mcpReq: { _meta, notify } }) => {
      const progressToken = _meta?.progressToken
      if (progressToken !== undefined) {
        for (let progress = 1; progress <= to; progress++) {
          await notify({ method: "notifications/progress", params: { progressToken, progress, total: to } })
        }
      }
      return { content: [{ type: "text", text: `counted to ${to}` }] }
    }
  )

  server.registerTool(
    "fail",
    { description: "Reports a failure of its own", inputSchema: z.object({ because: z.string() }) },
    ({ because }) => ({ isError: true, content: [{ type: "text", text: because }] })
  )

  server.registerTool(
    "ask",
    { description: "Asks the user and repeats the answer", inputSchema: z.object({ question: z.string() }) },
    ({ question }, { mcpReq }) => {
      if (inputResponse(mcpReq.inputResponses, "reply").kind === "missing") {
        return inputRequired({
          inputRequests: { reply: inputRequired.elicit({ message: question, requestedSchema: Answer }) },
          requestState: "asked once"
        })
      }
      const accepted = acceptedContent(mcpReq.inputResponses, "reply", Answer)
      return { content: [{ type: "text", text: accepted === undefined ? "no answer" : `you said ${accepted.answer}` }] }
    }
  )

  server.registerTool(
    "route",
    {
      description: "Names the region it was routed to",
      inputSchema: z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }),
      annotations: { readOnlyHint: true }
    },
    ({ region }) => ({ content: [{ type: "text", text: `routed to ${region}` }] })
  )

  server.registerTool("announce", { description: "Says that the tools and the resource changed" }, async () => {
    if (announce === undefined) {
      server.sendToolListChanged()
      await server.server.sendResourceUpdated({ uri: "demo://hello" })
    } else {
      announce()
    }
    return { content: [{ type: "text", text: "announced" }] }
  })

  server.registerPrompt(
    "greet",
    { description: "Greets somebody", argsSchema: z.object({ who: z.string() }) },
    ({ who }) => ({ messages: [{ role: "user", content: { type: "text", text: `Greet ${who}` } }] })
  )

  server.registerResource("hello", "demo://hello", { mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "Hello" }]
  }))

  return server
}

/**
 * The server behind a `node:http` listener. `legacy: "reject"` leaves only the modern era; otherwise a legacy request is
 * served without a session.
 */
export const makeOfficialListener = (
  legacy: "stateless" | "reject"
): { readonly listener: RequestListener; readonly close: () => Promise<void> } => {
  const handler = createMcpHandler(
    () =>
      makeOfficialServer(() => {
        handler.notify.toolsChanged()
        handler.notify.resourceUpdated("demo://hello")
      }),
    { legacy }
  )
  const serve = toNodeHandler(handler)
  const isLocalHost = localhostHostValidation()
  const isLocalOrigin = localhostOriginValidation()
  return {
    listener: (request, response) => {
      if (isLocalHost(request, response) && isLocalOrigin(request, response)) {
        void serve(Object.assign(request, { method: request.method ?? "POST", url: request.url ?? "/" }), response)
      }
    },
    close: handler.close
  }
}
