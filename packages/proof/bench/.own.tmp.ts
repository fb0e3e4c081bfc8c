import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as Pipe from "@mcp-effect/transport/Pipe"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
const era = process.argv[2] ?? "modern"
const enc = new TextEncoder()
const done = (id: number, text: string) =>
  enc.encode(
    `{"jsonrpc":"2.0","id":${id},"result":{${era === "modern" ? '"resultType":"complete",' : ""}"content":[{"type":"text","text":"${text}"}]}}\n`
  )
const transport: any = {
  kind: "stdio",
  endpoint: "x",
  reopenable: false,
  open: (hear: any) =>
    Pipe.open({
      endpoint: "x",
      hear,
      connect: (l: any) =>
        Effect.succeed({
          write: (lines: string) => {
            setImmediate(() => {
              for (const line of lines.split("\n")) {
                if (line === "") continue
                const m = JSON.parse(line)
                if (m.id === undefined) continue
                if (m.method === "initialize")
                  l.data(
                    enc.encode(
                      JSON.stringify({
                        jsonrpc: "2.0",
                        id: m.id,
                        result: {
                          protocolVersion: "2025-11-25",
                          capabilities: { tools: {} },
                          serverInfo: { name: "a", version: "1" }
                        }
                      }) + "\n"
                    )
                  )
                else if (m.method === "server/discover")
                  l.data(
                    enc.encode(
                      JSON.stringify({
                        jsonrpc: "2.0",
                        id: m.id,
                        result: {
                          resultType: "complete",
                          ttlMs: 0,
                          cacheScope: "private",
                          supportedVersions: ["2026-07-28"],
                          capabilities: { tools: {} },
                          serverInfo: { name: "a", version: "1" },
                          _meta: { "io.modelcontextprotocol/serverInfo": { name: "a", version: "1" } }
                        }
                      }) + "\n"
                    )
                  )
                else l.data(done(m.id, m.params.arguments.text))
              }
            })
            return true
          }
        })
    })
}
const scope = Scope.makeUnsafe()
const client = await McpClient.connect(transport, { mode: era as any }).pipe(
  Effect.provide(EraMemory.layerNone),
  Effect.provideContext(Context.make(Scope.Scope, scope)),
  Effect.runPromise
)
const run = async (n: number) => {
  for (let i = 0; i < n; i++) await Effect.runPromise(client.callTool("echo", { text: "message " + i }))
}
const cpu = (n: number) => {
  const u = process.cpuUsage()
  return run(n).then(() => {
    const v = process.cpuUsage(u)
    return (v.user + v.system) / n
  })
}
const out = []
out.push("cold1000 " + (await cpu(1000)).toFixed(1))
let best = Infinity
for (let i = 0; i < 12; i++) best = Math.min(best, await cpu(3000))
out.push("warm " + best.toFixed(2))
if (process.env.PROF) {
  const { Session } = await import("node:inspector/promises")
  const s = new Session()
  s.connect()
  await s.post("Profiler.enable")
  await s.post("Profiler.setSamplingInterval", { interval: 100 })
  await s.post("Profiler.start")
  await run(30000)
  const { profile } = await s.post("Profiler.stop")
  ;(await import("node:fs")).writeFileSync(process.env.PROF, JSON.stringify(profile))
}
console.log(era, out.join(" "))
process.exit(0)
