/** The official TypeScript SDK, version 2, as a client of the benchmark. */
import { Client as Official, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import type { Client } from "./client.ts"

const official: Client = {
  name: "@modelcontextprotocol/client",
  connect: async (target, { era }) => {
    const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy"
    const client = new Official({ name: "bench", version: "1.0.0" }, { versionNegotiation: { mode } })
    await client.connect(
      target.kind === "stdio"
        ? new StdioClientTransport({ command: target.command, args: [...target.args] })
        : new StreamableHTTPClientTransport(new URL(target.url))
    )
    return {
      callTool: (name, args) => client.callTool({ name, arguments: { ...args } }),
      close: () => client.close()
    }
  }
}

export default official
