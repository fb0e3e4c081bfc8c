import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import { createServer, type Server, type Socket } from "node:net"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Stream from "../src/Stream.ts"
import { until } from "./fixtures/asking.ts"
import { modern } from "./fixtures/revisions.ts"

const request = (id: number, params: JsonRpc.JsonObject): JsonRpc.Request => ({
  jsonrpc: "2.0",
  id,
  method: "x",
  params
})
const how = { revision: modern }

/** A line server that says back what it was asked; `onLine` may do otherwise. */
const lineServer = (where: string | number, onLine?: (socket: Socket, line: string) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: Server; readonly lines: Array<string> }>((resume) => {
      const lines: Array<string> = []
      const server = createServer((socket) => {
        let text = ""
        socket.on("error", () => {})
        socket.setEncoding("utf8")
        socket.on("data", (data) => {
          text += String(data)
          const found = text.split("\n")
          text = found.pop() ?? ""
          for (const line of found) {
            lines.push(line)
            const { id, params } = JSON.parse(line)
            if (onLine !== undefined) onLine(socket, line)
            else if (id !== undefined) socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: params })}\n`)
          }
        })
      })
      server.listen(where, () => resume(Effect.succeed({ server, lines })))
    }),
    ({ server }) => Effect.sync(() => void server.close())
  )
const portOf = ({ server }: { readonly server: Server }): number => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

describe("Stream", () => {
  it.live("speaks over TCP, in both directions, also a lot at once", () =>
    Effect.gen(function* () {
      const server = yield* lineServer(0)
      const transport = yield* Stream.make("tcp", NodeSocket.makeNet({ port: portOf(server) }))
      assert.deepInclude(transport, { kind: "stream", endpoint: "tcp", reopenable: true })
      const wire = yield* transport.open(() => {})
      const text = "读".repeat(100_000)
      const answers = yield* Effect.forEach([1, 2, 3], (id) => wire.exchange(request(id, { text }), how), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        answers.map(({ id }) => id),
        [1, 2, 3]
      )
      assert.deepInclude(answers[0], { result: { text } })
    })
  )

  it.live("speaks over a Unix socket, and hands over what was said last when it closes", () =>
    Effect.gen(function* () {
      const path = join(mkdtempSync(join(tmpdir(), "mcp-")), "s")
      const server = yield* lineServer(path)
      const transport = yield* Stream.make("unix", NodeSocket.makeNet({ path }))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const wire = yield* transport.open(() => {})
          yield* wire.exchange(request(1, {}), how)
          yield* wire.send({ jsonrpc: "2.0", method: "bye" }, modern)
        })
      )
      yield* until(() => server.lines.some((line) => line.includes("bye")))
      assert.lengthOf(server.lines, 2)
    })
  )

  it.live("the end of the stream ends the wire and what is open", () =>
    Effect.gen(function* () {
      const server = yield* lineServer(0, (socket) => socket.destroy())
      const transport = yield* Stream.make("tcp", NodeSocket.makeNet({ port: portOf(server) }))
      const wire = yield* transport.open(() => {})
      assert.strictEqual((yield* Effect.flip(wire.exchange(request(1, {}), how))).reason._tag, "Closed")
      assert.strictEqual((yield* Effect.flip(wire.ended)).reason._tag, "Closed")
    })
  )

  it.live("a peer that is not there is Unreachable", () =>
    Effect.gen(function* () {
      // No service has this port, and the system lends it to nobody.
      const transport = yield* Stream.make("tcp", NodeSocket.makeNet({ port: 3 }))
      assert.strictEqual((yield* Effect.flip(transport.open(() => {}))).reason._tag, "Unreachable")
    })
  )
})
