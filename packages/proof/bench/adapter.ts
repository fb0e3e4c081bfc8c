/**
 * This library as a client of the benchmark: plain promises over the public API, each connection in a scope of its own.
 */
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

type Target =
  | {
      readonly kind: "stdio"
      readonly command: string
      readonly args: ReadonlyArray<string>
      readonly env?: Record<string, string>
    }
  | { readonly kind: "http"; readonly url: string }

interface Options {
  readonly era: "modern" | "legacy" | "auto"
  /** Milliseconds. */
  readonly probeTimeout?: number
}

/** One agent for all connections of the process, as a program has it. */
const http = await Effect.runPromise(Layer.buildWithScope(NodeHttp.layer, Scope.makeUnsafe()))

const transportOf = (target: Target) =>
  target.kind === "stdio"
    ? Effect.succeed(
        NodeStdio.make({
          command: target.command,
          args: target.args,
          ...(target.env === undefined ? {} : { env: target.env })
        })
      )
    : Effect.provideContext(StreamableHttp.make({ url: target.url }), http)

export default {
  name: "mcp-effect",
  eras: ["modern", "legacy"],
  negotiates: true,
  delivers: { progress: true },
  programs: { http: "./minimal-http.ts", stdio: "./minimal-stdio.ts" },
  async connect(target: Target, { era, probeTimeout }: Options) {
    const scope = Scope.makeUnsafe()
    const client = await Effect.gen(function* () {
      const transport = yield* transportOf(target)
      return yield* McpClient.connect(transport, { mode: era })
    }).pipe(
      Effect.provideService(
        Defaults.ProbeTimeout,
        probeTimeout === undefined ? Duration.seconds(5) : Duration.millis(probeTimeout)
      ),
      Effect.provide(EraMemory.layerNone),
      Effect.provideContext(Context.make(Scope.Scope, scope)),
      Effect.runPromise
    )
    return {
      listTools: () => Effect.runPromise(client.listTools()),
      callTool: (
        name: string,
        args: Readonly<Record<string, unknown>>,
        { onProgress }: { readonly onProgress?: (progress: unknown) => void } = {}
      ) => Effect.runPromise(client.callTool(name, args, onProgress === undefined ? {} : { onProgress })),
      close: () => Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}
