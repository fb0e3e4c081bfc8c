/**
 * What the program under test does in each scenario of the official conformance suite, through the public API alone.
 *
 * Most scenarios only want a client that connects, lists the tools and calls each; the rest is in `special`.
 */
import type * as McpClient from "@mcp-effect/client/McpClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

type Client = McpClient.McpClient["Service"]

/** What the suite tells a scenario; each has its own part of it. */
export const Context = Schema.Struct({
  client_id: Schema.optionalKey(Schema.String),
  client_secret: Schema.optionalKey(Schema.String),
  private_key_pem: Schema.optionalKey(Schema.String),
  signing_algorithm: Schema.optionalKey(Schema.String),
  idp_client_id: Schema.optionalKey(Schema.String),
  idp_id_token: Schema.optionalKey(Schema.String),
  idp_issuer: Schema.optionalKey(Schema.String),
  idp_token_endpoint: Schema.optionalKey(Schema.String),
  valid_jwt: Schema.optionalKey(Schema.String),
  toolCalls: Schema.optionalKey(
    Schema.Array(Schema.Struct({ name: Schema.String, arguments: Schema.Record(Schema.String, Schema.Json) }))
  )
})
export type Context = typeof Context.Type

const callEach = Effect.fnUntraced(function* (client: Client, args: Readonly<Record<string, Schema.Json>>) {
  for (const { name } of yield* client.listTools()) yield* client.callTool(name, args)
})

const special: Readonly<Record<string, (client: Client, context: Context) => Effect.Effect<unknown, unknown>>> = {
  initialize: (client) => client.listTools(),
  "request-metadata": (client) => client.listTools(),
  "json-schema-ref-no-deref": (client) => client.listTools(),
  tools_call: (client) => callEach(client, { a: 5, b: 3 }),
  "elicitation-sep1034-client-defaults": (client) => client.callTool("test_client_elicitation_defaults"),
  "sse-retry": (client) => client.callTool("test_reconnection"),
  "sep-2322-client-request-state": (client) => callEach(client, {}),
  "http-invalid-tool-headers": (client) => callEach(client, { region: "eu" }),
  "http-custom-headers": Effect.fnUntraced(function* (client, { toolCalls = [] }) {
    yield* client.listTools()
    for (const call of toolCalls) yield* client.callTool(call.name, call.arguments)
  }),
  "http-standard-headers": Effect.fnUntraced(function* (client) {
    yield* callEach(client, {})
    for (const { uri } of yield* client.listResources()) yield* client.readResource(uri)
    for (const { name } of yield* client.listPrompts()) yield* client.getPrompt(name)
  }),
  "json-schema-2020-12-preservation": Effect.fnUntraced(function* (client) {
    const tools = yield* client.listTools()
    const tool = tools.find(({ name }) => name === "json_schema_2020_12_tool")
    yield* client.callTool("json_schema_echo", { schema: tool?.inputSchema ?? null })
  })
}

/** What to do once connected. */
export const steps = (scenario: string, client: Client, context: Context): Effect.Effect<unknown, unknown> =>
  Object.hasOwn(special, scenario) ? special[scenario]!(client, context) : callEach(client, {})
