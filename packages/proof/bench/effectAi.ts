/** The client that comes with Effect, on the same HTTP client as ours, as a client of the benchmark. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Scope from "effect/Scope"
import type { Client } from "./client.ts"

const undici = await Effect.runPromise(Layer.buildWithScope(NodeHttpClient.layerUndici, Scope.makeUnsafe()))

const effectAi: Client = {
  name: "effect/ai",
  connect: async (target, { era }) => {
    const protocol = era === "modern" ? McpProtocol.v2026_07_28 : McpProtocol.v2025_11_25
    const common = { name: "bench", version: "1.0.0", protocol }
    const scope = Scope.makeUnsafe()
    const layer =
      target.kind === "stdio"
        ? McpClient.layerStdio({ ...common, command: ChildProcess.make(target.command, target.args) }).pipe(
            Layer.provide(NodeServices.layer)
          )
        : McpClient.layerHttp({ ...common, url: target.url }).pipe(Layer.provide(Layer.succeedContext(undici)))
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    const client = Context.get(context, McpClient.McpClient)
    const toolNamed = (name: string) => ({ name, inputSchema: { type: "object" as const, properties: {} } })
    return {
      callTool: (name, args) => Effect.runPromise(client.callTool({ tool: toolNamed(name), arguments: { ...args } })),
      close: () => Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

export default effectAi
