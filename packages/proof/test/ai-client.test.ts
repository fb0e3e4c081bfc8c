/**
 * A program written for the `McpClient` of `effect/ai`, over connections to real servers of both eras and all carriers.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as AiClient from "@mcp-effect/host/AiClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Chat from "effect/ai/Chat"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as EffectMcpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Servers from "../servers/Servers.ts"
import { patience } from "./fixtures/patience.ts"

const patient = 60_000

const Platform = Layer.mergeAll(NodeServices.layer, NodeHttp.layer, EraMemory.layerInProcess, patience)

const targetOf = (server: Servers.RunningServer) =>
  server.kind === "stdio" ? [server.target.command, ...server.target.args] : server.target.url

/** Knows nothing of this library. */
const program = (call: Servers.ExpectedCall) =>
  Effect.gen(function* () {
    const client = yield* EffectMcpClient.McpClient
    const tools = yield* client.listTools()
    const tool = tools.find(({ name }) => name === call.tool)
    assert.isDefined(tool)
    const result = yield* client.callTool({ tool, arguments: call.arguments })
    const prompts = yield* client.listPrompts()
    const resources = yield* client.listResources()
    const [resource] = resources
    const read = resource === undefined ? undefined : yield* client.readResource({ uri: resource.uri })
    const toolkit = yield* EffectMcpClient.toolkit(client)
    const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n")
    return { client, tools, prompts, resources, read, toolkit, text }
  })

describe("a program for the client of effect/ai", () => {
  const rows = [
    ["official-http", Servers.officialHttp, "2026-07-28"],
    ["official-stdio", Servers.officialStdio, "2026-07-28"],
    ["effect-http", Servers.effectHttp, "2026-07-28"],
    ["sdk-http", Servers.sdkHttp, "2025-11-25"],
    ["sdk-stdio", Servers.sdkStdio, "2025-11-25"],
    ["everything-stdio", Servers.everythingStdio, "2025-11-25"],
    ["everything-http", Servers.everythingHttp, "2025-11-25"],
    ["everything-sse", Servers.everythingSse, "2025-11-25"],
    ["filesystem-stdio", Servers.filesystemStdio, "2025-11-25"]
  ] as const

  it.live.each(rows)(
    "U-60, U-65: %s is listed, called and read without the program choosing a version",
    ([, start, version]) =>
      Effect.gen(function* () {
        const server: Servers.RunningServer = yield* start
        const { expects } = server
        const ours = yield* McpClient.connect(targetOf(server))
        const { client, prompts, read, resources, text, toolkit, tools } = yield* program(expects.call).pipe(
          Effect.provide(AiClient.layer()),
          Effect.provideService(McpClient.McpClient, ours)
        )
        const names = tools.map(({ name }) => name)
        assert.isTrue(EffectMcpClient.isMcpClient(client))
        assert.strictEqual(client.protocolVersion, version)
        assert.strictEqual(client.serverInfo?.name, expects.identity)
        assert.include(text, expects.call.expectText)
        assert.includeMembers(names, [...expects.tools])
        assert.sameMembers(Object.keys(toolkit.tools), names)
        assert.strictEqual(prompts.length > 0, expects.identity !== "secure-filesystem-server")
        assert.strictEqual(resources.length > 0, read !== undefined && read.contents.length > 0)
        assert.strictEqual(ours.agreement.era, expects.era)
      }).pipe(Effect.scoped, Effect.provide(Platform)),
    patient
  )

  it.live(
    "U-01: a version chosen by hand does not reach an older server, the negotiated connection does",
    () =>
      Effect.gen(function* () {
        const { expects, target } = yield* Servers.everythingSse
        for (const protocol of [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25]) {
          const byHand = EffectMcpClient.layerHttp({ name: "program", version: "1", protocol, url: target.url })
          const { reason } = yield* Effect.flip(Effect.provide(program(expects.call), byHand))
          assert.strictEqual(reason._tag, "HttpError")
        }
        const { text } = yield* program(expects.call).pipe(
          Effect.provide(AiClient.layer()),
          Effect.provideServiceEffect(McpClient.McpClient, McpClient.connect(target.url))
        )
        assert.include(text, expects.call.expectText)
      }).pipe(Effect.scoped, Effect.provide(Platform)),
    patient
  )

  it.live(
    "U-65: a language model calls a tool of an older server through the toolkit of effect/ai",
    () =>
      Effect.gen(function* () {
        const server = yield* Servers.everythingStdio
        const client = yield* AiClient.make(yield* McpClient.connect(targetOf(server)))
        const turns: Array<Array<Response.PartEncoded>> = [
          [{ type: "tool-call", id: "1", name: "get-sum", params: { a: 2, b: 3 } }],
          [{ type: "text", text: "It is five." }]
        ]
        const Model = Layer.effect(
          LanguageModel.LanguageModel,
          LanguageModel.make({
            generateText: () => Effect.sync(() => turns.shift() ?? []),
            streamText: () => Stream.empty
          })
        )
        const chat = yield* Chat.empty
        const toolkit = yield* EffectMcpClient.toolkit(client)
        const [first, last] = yield* Effect.all([
          chat.generateText({ prompt: "What is 2 + 3?", toolkit }),
          chat.generateText({ prompt: [], toolkit })
        ]).pipe(Effect.provide(Model))
        assert.include(JSON.stringify(first.toolResults[0]?.result), "is 5")
        assert.strictEqual(last.text, "It is five.")
      }).pipe(Effect.scoped, Effect.provide(Platform)),
    patient
  )
})
