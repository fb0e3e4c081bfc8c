/** U-43: real server objects in the same program, in both eras, without a socket or a child process. */
import { assert, describe, it } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Memory from "@mcp-effect/transport/Memory"
import type { Transport } from "@mcp-effect/transport/Transport"
import { createMcpHandler } from "@modelcontextprotocol/server"
import * as Effect from "effect/Effect"
import { makeOfficialServer } from "../servers/officialServer.ts"
import { makeSdkServer } from "../servers/sdkServer.ts"

const handler = createMcpHandler(() => makeOfficialServer(), { legacy: "stateless" })

const servers: ReadonlyArray<readonly [string, string, Effect.Effect<Transport["Service"]>]> = [
  ["the legacy SDK", "2025-11-25", Effect.sync(() => Memory.fromSdk("sdk", makeSdkServer))],
  [
    "the official server, by its transport",
    "2025-11-25",
    Effect.sync(() => Memory.fromSdk("official", () => makeOfficialServer()))
  ],
  [
    "the official server, by its web handler",
    "2026-07-28",
    Memory.fromHandler("handler", (request) => handler.fetch(request))
  ]
]

describe("U-43: a server object in the same program", () => {
  it.live.each(servers)("%s agrees on %s, lists its tools and answers a call", ([, version, open]) =>
    Effect.gen(function* () {
      const client = yield* McpClient.connect(yield* open)
      assert.strictEqual(client.agreement.version, version)
      const names = (yield* client.listTools()).map(({ name }) => name)
      assert.includeMembers(names, ["echo", "add"])
      const { structuredContent } = yield* client.callTool("add", { a: 2, b: 3 })
      assert.deepStrictEqual(structuredContent, { sum: 5 })
    }).pipe(Effect.provide(EraMemory.layerInProcess))
  )
})
