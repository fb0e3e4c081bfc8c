/**
 * Child process of the soak: the official server with accidents, `node server.ts <stdio | http> <seed> <journal> [port]`.
 *
 * Every call of `once` is written to the journal before it is answered, so that a call that ran twice is found. The
 * process dies after a few seconds. Over HTTP requests are also refused, and connections cut before and after the work.
 */
import { toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { appendFileSync } from "node:fs"
import { createServer } from "node:http"
import { setTimeout } from "node:timers/promises"
import { z } from "zod"
import { makeOfficialServer } from "../servers/officialServer.ts"
import { makeDice } from "./dice.ts"

const [carrier, seed = "1", journal = "", port = "0"] = process.argv.slice(2)
const dice = makeDice(Number(seed))

appendFileSync(journal, `pid ${process.pid}\n`)

const make = () => {
  const server = makeOfficialServer()
  const inputSchema = z.object({ nonce: z.string() })
  const annotations = { readOnlyHint: true }
  const answer = async (nonce: string) => {
    if (dice() < 0.3) await setTimeout(dice() * 30)
    if (carrier === "stdio" && dice() < 0.01) process.stdout.write("not a message\n")
    return { content: [{ type: "text" as const, text: nonce }] }
  }
  server.registerTool("look", { inputSchema, annotations }, ({ nonce }) => answer(nonce))
  server.registerTool("once", { inputSchema }, ({ nonce }) => {
    appendFileSync(journal, `ran ${nonce}\n`)
    return answer(nonce)
  })
  return server
}

if (carrier === "stdio") {
  serveStdio(make)
} else {
  const serve = toNodeHandler(createMcpHandler(make))
  const http = createServer((request, response) => {
    const luck = dice()
    if (luck < 0.005) return void request.socket.destroy()
    if (luck < 0.01) return void response.writeHead(503, { "retry-after": "0" }).end()
    if (luck < 0.02) void setTimeout(dice() * 20).then(() => request.socket.destroy())
    void serve(Object.assign(request, { method: request.method ?? "POST", url: request.url ?? "/" }), response)
  })
  http.listen(Number(port), "127.0.0.1", () => {
    const address = http.address()
    process.stderr.write(`ready ${address !== null && typeof address === "object" ? address.port : 0}\n`)
  })
  // ends with its parent
  process.stdin.on("end", () => process.exit()).resume()
}

await setTimeout(3_000 + dice() * 9_000)
process.kill(process.pid, "SIGKILL")
