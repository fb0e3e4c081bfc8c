import { assert, describe, it } from "@effect/vitest"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Diagnostic from "@mcp-effect/protocol/Diagnostic"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import { type Kind, Transport, type Wire } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import * as McpClient from "../src/McpClient.ts"
import * as Peer from "./fixtures/peer.ts"

const takes = (properties: JsonRpc.JsonObject) => ({ type: "object", properties })
const mirrored = (header: string, type = "string") => ({ type, "x-mcp-header": header })

const tools = [
  {
    name: "route",
    inputSchema: takes({ zone: mirrored("Zone"), n: mirrored("N", "integer"), b: mirrored("B", "boolean") })
  },
  { name: "twice", inputSchema: takes({ a: mirrored("Zone"), b: mirrored("zone") }) },
  { name: "spaced", inputSchema: takes({ a: mirrored("My Zone") }) },
  { name: "plain", inputSchema: takes({ zone: { type: "string" } }) }
]

/** A server that lists these tools, over a carrier of a kind; it keeps the mirrored headers of each call. */
const server = (kind: Kind, era: "modern" | "legacy") => {
  const headers: Array<ReadonlyArray<readonly [string, string]> | undefined> = []
  const results: Record<string, unknown> = {
    "server/discover": Peer.discovered(),
    initialize: Peer.initialized(),
    "tools/list": { resultType: "complete", tools, ttlMs: 0, cacheScope: "private" },
    "tools/call": { resultType: "complete", content: [] }
  }
  const wire: Wire = {
    exchange: ({ id, method }, how) =>
      Effect.sync((): JsonRpc.Response => {
        if (method === "tools/call") headers.push(how.mirrored)
        return { jsonrpc: "2.0", id, result: JSON.parse(JSON.stringify(results[method])) }
      }),
    send: () => Effect.void,
    ended: Effect.never
  }
  const transport = Transport.of({
    kind,
    endpoint: `${kind} ${era}`,
    reopenable: true,
    open: () => Effect.succeed(wire)
  })
  return { headers, connect: McpClient.connect(transport, { mode: era }) }
}

const listed = Effect.fnUntraced(function* (kind: Kind, era: "modern" | "legacy") {
  const diagnostics: Array<string> = []
  const { connect, headers } = server(kind, era)
  return yield* Effect.gen(function* () {
    const client = yield* connect
    const names = (yield* client.listTools()).map(({ name }) => name)
    return { client, names, diagnostics, headers }
  }).pipe(
    Effect.provideService(Diagnostic.Diagnostics, (each) =>
      Effect.sync(() => void diagnostics.push(Diagnostic.describe(each)))
    )
  )
})

describe("mirrored headers", () => {
  it.effect("U-26: over HTTP in the modern era a tool whose declaration breaks a rule is left out and reported", () =>
    Effect.gen(function* () {
      const { diagnostics, names } = yield* listed("http", "modern")
      assert.deepStrictEqual(names, ["route", "plain"])
      assert.lengthOf(diagnostics, 2)
      assert.match(diagnostics[0] ?? "", /^MCP tool "twice" ignored: /)
      assert.match(diagnostics[1] ?? "", /^MCP tool "spaced" ignored: /)
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.effect("U-26: a call sends its arguments as headers, integers as digits and booleans in lower case", () =>
    Effect.gen(function* () {
      const { client, headers } = yield* listed("http", "modern")
      yield* client.callTool("route", { zone: "eu", n: 7, b: true })
      yield* client.callTool("route", { n: 0 })
      yield* client.callTool("plain", { zone: "eu" })
      assert.deepStrictEqual(headers, [
        [
          ["Mcp-Param-Zone", "eu"],
          ["Mcp-Param-N", "7"],
          ["Mcp-Param-B", "true"]
        ],
        [["Mcp-Param-N", "0"]],
        undefined
      ])
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )

  it.effect.each([
    ["http", "legacy"],
    ["stdio", "modern"],
    ["memory", "modern"]
  ] as const)("U-26: over %s in the %s era nothing is mirrored, so every tool is there", ([kind, era]) =>
    Effect.gen(function* () {
      const { client, diagnostics, headers, names } = yield* listed(kind, era)
      assert.deepStrictEqual(names, ["route", "twice", "spaced", "plain"])
      yield* client.callTool("route", { zone: "eu" })
      assert.deepStrictEqual([headers, diagnostics], [[undefined], []])
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})
