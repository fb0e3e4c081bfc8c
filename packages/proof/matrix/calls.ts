/**
 * Which tools, prompts and templates of the servers show a feature, and with what each is called. The first that a server
 * lists is taken.
 */
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import type * as Completion from "@mcp-effect/protocol/Completion"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Calls, Ground } from "./Feature.ts"

export const saying: Calls<readonly [args: JsonObject, text: string]> = {
  "get-sum": [{ a: 2, b: 3 }, "The sum of 2 and 3 is 5."],
  list_allowed_directories: [{}, "Allowed"],
  read_graph: [{}, "entities"],
  echo: [{ text: "good morning" }, "good morning"]
}

export const failing: Calls<JsonObject> = {
  fail: { because: "no such city" },
  "get-sum": { a: "two", b: 3 },
  read_text_file: { path: "/no/such/file" },
  add_observations: { observations: [{ entityName: "nobody", contents: ["is not there"] }] }
}

export const structured: Calls<readonly [args: JsonObject, result: Schema.Codec<unknown, unknown>]> = {
  add: [{ a: 1, b: 2 }, Schema.Struct({ sum: Schema.Literal(3) })],
  "get-structured-content": [{ location: "New York" }, Schema.Struct({ temperature: Schema.Finite })],
  list_allowed_directories: [{}, Schema.Struct({ content: Schema.String })],
  read_graph: [{}, Schema.Struct({ entities: Schema.Array(Schema.Unknown) })]
}

export const breaking: Calls<JsonObject> = { "add-wrong": {} }

export const counting: Calls<JsonObject> = {
  count: { to: 3 },
  "trigger-long-running-operation": { duration: 0.03, steps: 3 }
}
export const waiting: Calls<string> = { wait: "cancelled" }
export const logging: Calls<(ground: Ground) => Effect.Effect<unknown, McpClientError>> = {
  log: ({ client }) => client.callTool("log"),
  "toggle-simulated-logging": ({ client }) =>
    client.request("resources/subscribe", { uri: "demo://resource/dynamic/text/1" })
}
export const forms: Calls<JsonObject> = { ask: { question: "What is your name?" }, "trigger-elicitation-request": {} }
export const addresses: Calls<JsonObject> = {
  "sign-in": {},
  "trigger-url-elicitation": { url: "https://example.com/in", message: "Please sign in" }
}
/** Legacy servers alone: the call fails with -32042 until the user has been there. */
export const insisting: Calls<JsonObject> = {
  "sign-in-first": {},
  "trigger-url-elicitation": { url: "https://example.com/first", message: "Please sign in", errorPath: true }
}
export const models: Calls<JsonObject> = {
  think: {},
  "trigger-sampling-request": { prompt: "What is 2 + 2?", maxTokens: 7 }
}
export const folders: Calls<JsonObject> = { folders: {}, "get-roots-list": {}, list_allowed_directories: {} }
/** Tools that answer from what the server knows, so that it must have asked again. */
export const remembering: Calls<JsonObject> = { "get-roots-list": {}, list_allowed_directories: {}, remembered: {} }
export const announcing: Calls<JsonObject> = { announce: {} }
export const touching: Calls<string> = {
  announce: "demo://hello",
  "toggle-subscriber-updates": "demo://resource/dynamic/text/1"
}
export const routing: Calls<JsonObject> = { route: { region: "eu-west" } }
export const baking: Calls<readonly [args: JsonObject, text: string]> = {
  bake: [{}, "baked"],
  "simulate-research-query": [{ topic: "tasks" }, "Research Report"]
}

export const prompts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  greet: { who: "Ada" },
  "simple-prompt": {}
}
export const templates: Readonly<Record<string, string>> = {
  "demo://letters/{name}": "demo://letters/Ada",
  "demo://resource/dynamic/text/{resourceId}": "demo://resource/dynamic/text/1"
}
export const completions: Readonly<Record<string, readonly [Completion.Params, string]>> = {
  "demo://letters/{name}": [
    { ref: { type: "ref/resource", uri: "demo://letters/{name}" }, argument: { name: "name", value: "A" } },
    "Ada"
  ],
  "demo://resource/dynamic/text/{resourceId}": [
    {
      ref: { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" },
      argument: { name: "resourceId", value: "1" }
    },
    "1"
  ]
}
