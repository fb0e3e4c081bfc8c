/**
 * The official modern server with every feature that its SDK has. It adds to `servers/officialServer.ts` what a tour
 * does not need: questions of every kind, logs, a call to cancel, pages, templates, completion and cache hints.
 *
 * The questions are written once; for a legacy client the SDK turns them into requests of the server's own.
 */
import { toNodeHandler } from "@modelcontextprotocol/node"
import {
  createMcpHandler,
  inputRequired,
  inputResponse,
  type McpServer,
  ResourceTemplate,
  UrlElicitationRequiredError
} from "@modelcontextprotocol/server"
import type { Served } from "../../servers/hosting.ts"
import { makeOfficialServer } from "../../servers/officialServer.ts"
import { addTasks, type TaskStore } from "./officialTasks.ts"
import { z } from "zod"
import { isCancelled, names, pageOfPrompts } from "./surface.ts"

const Addends = z.looseObject({ a: z.number(), b: z.number() })

/** What outlives one request: over HTTP each request has a server of its own. */
export interface Memory {
  cancelled: number
  isSignedIn: boolean
  readonly tasks: TaskStore
}

export const makeMemory = (): Memory => ({ cancelled: 0, isSignedIn: false, tasks: new Map() })

const said = (text: string) => ({ content: [{ type: "text" as const, text }] })

export const makeOfficialPeer = (memory: Memory, announce?: () => void): McpServer => {
  const server = makeOfficialServer(announce, {
    cacheHints: { "tools/list": { ttlMs: 60_000, cacheScope: "private" } }
  })
  server.server.registerCapabilities({ logging: {} })

  server.registerTool("log", { description: "Logs one message" }, async (context) => {
    await context.mcpReq.log("warning", "the milk is sour", "kitchen")
    return said("logged")
  })

  server.registerTool("wait", { description: "Waits until it is cancelled" }, async ({ mcpReq }) => {
    await isCancelled(mcpReq.signal)
    memory.cancelled++
    return said("cancelled")
  })

  server.registerTool("cancelled", { description: "Says how often `wait` was cancelled" }, () =>
    said(String(memory.cancelled))
  )

  server.registerTool("sign-in", { description: "Sends the user to an address" }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "visit")
    if (answer.kind === "elicit") return said(answer.action)
    return inputRequired({
      inputRequests: { visit: inputRequired.elicitUrl({ message: "Please sign in", url: "https://example.com/in" }) }
    })
  })

  server.registerTool("sign-in-first", { description: "Wants an address to be opened first" }, () => {
    if (memory.isSignedIn) return said("accept")
    memory.isSignedIn = true
    throw new UrlElicitationRequiredError([
      { mode: "url", elicitationId: "2", message: "Please sign in first", url: "https://example.com/first" }
    ])
  })

  server.registerTool("think", { description: "Asks a model" }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "thought")
    if (answer.kind === "sampling") return said(JSON.stringify(answer.result.content))
    return inputRequired({
      inputRequests: {
        thought: inputRequired.createMessage({
          maxTokens: 7,
          messages: [{ role: "user", content: { type: "text", text: "What is 2 + 2?" } }]
        })
      }
    })
  })

  server.registerTool("folders", { description: "Names the folders of the client" }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "roots")
    if (answer.kind === "roots") return said(JSON.stringify(answer.roots))
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } })
  })

  server.registerResource(
    "letters",
    new ResourceTemplate("demo://letters/{name}", {
      list: undefined,
      complete: { name: (begun) => names.filter((name) => name.startsWith(begun)) }
    }),
    { mimeType: "text/plain" },
    (uri, { name }) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: `Dear ${String(name)}` }] })
  )

  addTasks(server, memory.tasks)

  server.server.setRequestHandler("prompts/list", ({ params }) => pageOfPrompts(params?.cursor))
  server.server.setRequestHandler("com.example/add", { params: Addends }, ({ a, b }) => ({ sum: a + b }))

  return server
}

export const makeOfficialPeerListener = (): Served => {
  const memory = makeMemory()
  const handler = createMcpHandler(
    () =>
      makeOfficialPeer(memory, () => {
        handler.notify.toolsChanged()
        handler.notify.resourceUpdated("demo://hello")
      }),
    { legacy: "stateless" }
  )
  const serve = toNodeHandler(handler)
  return {
    listener: (request, response) =>
      void serve(Object.assign(request, { method: request.method ?? "POST", url: request.url ?? "/" }), response),
    close: handler.close
  }
}
