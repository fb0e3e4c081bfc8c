/**
 * A server with one tool, `echo`, on any published release of the legacy SDK: over stdio, over HTTP+SSE as the releases
 * before 1.10 have it, and over Streamable HTTP with sessions.
 */
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { json } from "node:stream/consumers"
import type { Served } from "../servers/hosting.ts"

/** The releases, by the name under which each is installed here. */
export const releases = {
  "1.0.0": "sdk-1-0-0",
  "1.9.0": "sdk-1-9-0",
  "1.11.0": "sdk-1-11-0",
  "1.29.0": "sdk-1-29-0",
  "1.32.2": "sdk-1-32-2"
} as const

export type Release = keyof typeof releases

interface Transport {
  readonly sessionId?: string
  readonly handleRequest?: (request: IncomingMessage, response: ServerResponse, body?: unknown) => Promise<void>
  readonly handlePostMessage?: (request: IncomingMessage, response: ServerResponse) => Promise<void>
}

interface Server {
  readonly setRequestHandler: (schema: unknown, handler: (request: CallRequest) => unknown) => void
  readonly connect: (transport: Transport) => Promise<void>
  readonly close: () => Promise<void>
}

interface CallRequest {
  readonly params?: { readonly arguments?: { readonly text?: unknown } }
}

/** The few exports that are used; every release has them. */
interface Exports {
  readonly Server: new (identity: object, options: object) => Server
  readonly ListToolsRequestSchema: unknown
  readonly CallToolRequestSchema: unknown
  readonly StdioServerTransport: new () => Transport
  readonly SSEServerTransport: new (endpoint: string, response: ServerResponse) => Transport
  readonly StreamableHTTPServerTransport: new (options: object) => Transport
}

const load = async (release: Release, ...modules: ReadonlyArray<string>): Promise<Exports> =>
  Object.assign({}, ...(await Promise.all(modules.map((module) => import(`${releases[release]}/${module}.js`)))))

const makeServer = async (release: Release): Promise<Server> => {
  const { CallToolRequestSchema, ListToolsRequestSchema, Server } = await load(release, "server/index", "types")
  const server = new Server({ name: `sdk ${release}`, version: release }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } } } }]
  }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: "text", text: String(params?.arguments?.text) }]
  }))
  return server
}

/** Serves this process's standard input and output. */
export const serveStdio = async (release: Release): Promise<void> => {
  const { StdioServerTransport } = await load(release, "server/stdio")
  await (await makeServer(release)).connect(new StdioServerTransport())
}

/** HTTP+SSE: `GET /mcp` opens the stream, `POST /messages` takes what belongs to it. */
export const makeSseListener = (release: Release): Served => {
  const streams = new Map<string, Transport>()
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://127.0.0.1")
    if (pathname === "/mcp" && request.method === "GET") {
      const { SSEServerTransport } = await load(release, "server/sse")
      const transport = new SSEServerTransport("/messages", response)
      await (await makeServer(release)).connect(transport)
      streams.set(transport.sessionId ?? "", transport)
      return
    }
    const transport = streams.get(searchParams.get("sessionId") ?? "")
    if (pathname === "/messages" && transport?.handlePostMessage !== undefined) {
      await transport.handlePostMessage(request, response)
      return
    }
    response.writeHead(404).end()
  }
  return {
    listener: (request, response) => void serve(request, response).catch(() => response.destroy()),
    close: async () => undefined
  }
}

const refuse = (response: ServerResponse, status: number, code: number, message: string) => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null }))
}

/** Streamable HTTP with sessions, as the SDK's own example does it. */
export const makeHttpListener = (release: Release): Served => {
  const sessions = new Map<string, Transport>()
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const id = request.headers["mcp-session-id"]
    if (typeof id === "string") {
      const known = sessions.get(id)
      if (known?.handleRequest === undefined) return refuse(response, 404, -32001, "Session not found")
      return await known.handleRequest(request, response)
    }
    const message: unknown = request.method === "POST" ? await json(request).catch(() => undefined) : undefined
    const opens =
      typeof message === "object" && message !== null && "method" in message && message.method === "initialize"
    if (!opens) return refuse(response, 400, -32000, "Bad Request: No valid session ID provided")
    const { StreamableHTTPServerTransport } = await load(release, "server/streamableHttp")
    const transport: Transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (opened: string) => void sessions.set(opened, transport)
    })
    await (await makeServer(release)).connect(transport)
    await transport.handleRequest?.(request, response, message)
  }
  return {
    listener: (request, response) =>
      void serve(request, response).catch((error) => refuse(response, 500, -32603, String(error))),
    close: async () => undefined
  }
}
