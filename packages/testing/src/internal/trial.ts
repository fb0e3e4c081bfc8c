/** What the laws of transports say to a server, and what they read of it. */
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type * as Revision from "@mcp-effect/protocol/Revision"
import * as Effect from "effect/Effect"
import * as Transcript from "../Transcript.ts"

export interface Asked {
  readonly revision: Revision.Revision
  readonly transcript: Effect.Effect<Transcript.Transcript>
}

const sender: Revision.Sender = { client: { name: "laws", version: "1.0.0" }, capabilities: {} }

export const request = (
  { revision }: Asked,
  id: JsonRpc.RequestId,
  method: string,
  params: JsonRpc.JsonObject = {},
  progress = false
): JsonRpc.Request => ({
  jsonrpc: "2.0",
  id,
  method,
  params: revision.stamp(sender)(params, progress ? { progressToken: id } : {}) ?? {}
})

export const echo = (bench: Asked, id: JsonRpc.RequestId, text: string) =>
  request(bench, id, "tools/call", { name: "echo", arguments: { text } })

export const textOf = (answer: JsonRpc.Response): unknown => {
  const content = JsonRpc.isSuccess(answer) ? answer.result["content"] : undefined
  const first: unknown = Array.isArray(content) ? content[0] : undefined
  return typeof first === "object" && first !== null && "text" in first ? first.text : undefined
}

/** Lets the server come to something; gives up with the law's patience. */
export const until = (condition: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.flatMap(condition, (yes) => (yes ? Effect.void : Effect.delay(until(condition), 5)))

export const started = (bench: Asked, method: string) =>
  until(Effect.map(bench.transcript, (entries) => Transcript.methods(entries).includes(method)))

export const odd = `\u0000\r\n\u2028 "\\ 读😀 data: x\n\n: y${"é".repeat(200_000)}`

export const hostile: JsonRpc.JsonObject = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')
