/**
 * A scripted server on loopback, on Node: a real socket, real chunks, real resets.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as NodeHttp from "node:http"
import * as HttpServer from "./internal/httpServer.ts"
import type { Script } from "./Script.ts"
import type { Entry, Transcript } from "./Transcript.ts"

/**
 * Where the server is, and what it heard.
 *
 * @category models
 * @since 0.1.0
 */
export interface NodeHttpScriptedServer {
  readonly script: Script
  readonly url: string
  /** What it heard and said so far. */
  readonly transcript: Effect.Effect<Transcript>
}

const portOf = (server: NodeHttp.Server): number => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

const headersOf = ({ headers }: NodeHttp.IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === "string" ? value : value.join(", ")]]
    )
  )

const sinkOf = (response: NodeHttp.ServerResponse): HttpServer.Sink => ({
  head: (status, headers) => {
    response.writeHead(status, headers)
    response.flushHeaders()
  },
  chunk: (text) => void response.write(text),
  end: () => void response.end(),
  destroy: () => void response.destroy()
})

/**
 * Starts a server on a free port. It stops with the scope, and breaks the connections that are left.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  script: Script
): Effect.fn.Return<NodeHttpScriptedServer, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const entries: Array<Entry> = []
  const serve = HttpServer.make(script, (entry) => void entries.push({ ...entry, at: clock.currentTimeMillisUnsafe() }))
  const run = yield* FiberSet.makeRuntime()
  const server = yield* Effect.acquireRelease(
    Effect.callback<NodeHttp.Server>((resume) => {
      const listening = NodeHttp.createServer((request, response) => {
        const chunks: Array<Uint8Array> = []
        request.on("data", (chunk: Uint8Array) => void chunks.push(chunk))
        request.on("end", () => {
          const fiber = run(
            serve(
              {
                method: request.method ?? "",
                path: request.url ?? "",
                headers: headersOf(request),
                body: Buffer.concat(chunks).toString()
              },
              sinkOf(response)
            )
          )
          // The work of a relayed message goes on after its own response.
          response.on("close", () => {
            if (!response.writableFinished) fiber.interruptUnsafe()
          })
        })
      })
      listening.listen(0, "127.0.0.1", () => resume(Effect.succeed(listening)))
    }),
    (listening) =>
      Effect.callback<void>((resume) => {
        listening.close(() => resume(Effect.void))
        listening.closeAllConnections()
      })
  )
  return {
    script,
    url: `http://127.0.0.1:${portOf(server)}/mcp`,
    transcript: Effect.sync(() => [...entries])
  }
})
