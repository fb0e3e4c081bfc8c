/**
 * The server of the benchmark and of the tests of leaks: one tool, `echo`, in both eras and as cheap as can be. Over stdio;
 * with `http` as argument it listens on loopback and writes its address.
 */
import { createServer } from "node:http"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"

const modern = "2026-07-28"
const serverInfo = { name: "echo", version: "1.0.0" }
const capabilities = { tools: {} }
const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" }
const tools = [
  { name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } }
]

const resultOf = ({ method, params }) => {
  switch (method) {
    case "initialize":
      return { protocolVersion: params.protocolVersion, capabilities, serverInfo }
    case "server/discover":
      return { ...hints, supportedVersions: [modern], capabilities, serverInfo }
    case "tools/list":
      return { ...hints, tools }
    case "tools/call":
      return { resultType: "complete", content: [{ type: "text", text: params.arguments.text }] }
    default:
      return {}
  }
}

const answerTo = (message) => JSON.stringify({ jsonrpc: "2.0", id: message.id, result: resultOf(message) })

if (process.argv[2] === "http") {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405, { "content-length": 0 }).end()
    const message = JSON.parse(await text(request))
    if (message.id === undefined) return response.writeHead(202, { "content-length": 0 }).end()
    const body = answerTo(message)
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body)
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`))
  process.stdin.on("end", () => process.exit()).resume()
} else {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line)
    if (message.id !== undefined) process.stdout.write(`${answerTo(message)}\n`)
  })
}
