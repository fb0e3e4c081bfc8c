/** Every official example is read and written again, and comes out as it went in. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as Capabilities from "../src/Capabilities.ts"
import * as Content from "../src/Content.ts"
import * as Elicitation from "../src/Elicitation.ts"
import * as ErrorCode from "../src/ErrorCode.ts"
import * as ErrorData from "../src/ErrorData.ts"
import * as InputRequired from "../src/InputRequired.ts"
import * as JsonRpc from "../src/JsonRpc.ts"
import type * as Method from "../src/Method.ts"
import type * as Notification from "../src/Notification.ts"
import * as Page from "../src/Page.ts"
import * as Resource from "../src/Resource.ts"
import * as ResourceContents from "../src/ResourceContents.ts"
import * as Revision from "../src/Revision.ts"
import * as Roots from "../src/Roots.ts"
import * as Sampling from "../src/Sampling.ts"
import * as ServerSide from "../src/ServerSide.ts"
import * as Tool from "../src/Tool.ts"
import { exceptions } from "./officialSchemas.ts"

type Json = JsonRpc.JsonObject

const client = Revision.v2026_07_28
const server = ServerSide.of("2026-07-28")

const read = (file: string): Json => JSON.parse(fs.readFileSync(new URL(`official/${file}`, import.meta.url), "utf8"))

const through =
  (schema: Schema.Codec<unknown>) =>
  (example: Json): unknown =>
    Schema.encodeUnknownSync(schema)(Schema.decodeUnknownSync(schema)(example))

const params =
  (method: Method.Method) =>
  (example: Json): unknown => {
    const request = Result.getOrThrow(server.request(method, example))
    return Result.getOrThrow(client.encode(request.method, request.params)).params
  }

const result =
  (method: Method.Method) =>
  (example: Json): unknown => {
    const { value, rejected } = Result.getOrThrow(client.decode(method, example))
    assert.deepStrictEqual(rejected, [])
    return Result.getOrThrow(server.result(method, value)).result
  }

const notification =
  (method: Notification.ReceivedMethod) =>
  (example: Json): unknown => {
    const heard = Result.getOrThrow(client.hear(method, example))
    return Result.getOrThrow(server.tell(heard.method, heard.params)).params
  }

const answer =
  (method: "sampling/createMessage" | "elicitation/create" | "roots/list") =>
  (example: Json): unknown =>
    Result.getOrThrow(client.answer(method, Result.getOrThrow(server.answer(method, example)).value)).result

const question = through(InputRequired.InputRequest)

/** Takes a message apart, sends its inside through, and puts it together again. */
const enveloped =
  (member: "params" | "result", inside: (inner: Json) => unknown) =>
  (example: Json): unknown => {
    const message: Json = { ...Result.getOrThrow(JsonRpc.parse(JSON.stringify(example))[0] ?? JsonRpc.classify(0)) }
    const inner = message[member]
    return inner === undefined ? message : { ...message, [member]: inside(inner as Json) }
  }

const error = (example: Json): unknown => {
  const message = Result.getOrThrow(JsonRpc.classify(example))
  assert.isTrue(JsonRpc.isFailure(message))
  return message
}

const bareError = (code: number) => (example: Json) => {
  assert.strictEqual(example["code"], code)
  assert.isDefined(ErrorCode.nameOf(code))
  const wrapped = error({ jsonrpc: "2.0", id: 1, error: example }) as JsonRpc.Failure
  assert.strictEqual(ErrorData.of(wrapped.error)._tag, "Other")
  return wrapped.error
}

const requests: { readonly [name: string]: Method.Method } = {
  CallTool: "tools/call",
  Complete: "completion/complete",
  Discover: "server/discover",
  GetPrompt: "prompts/get",
  ListPrompts: "prompts/list",
  ListResourceTemplates: "resources/templates/list",
  ListResources: "resources/list",
  ListTools: "tools/list",
  ReadResource: "resources/read",
  SubscriptionsListen: "subscriptions/listen"
}

const notifications: { readonly [name: string]: Notification.ReceivedMethod } = {
  Cancelled: "notifications/cancelled",
  LoggingMessage: "notifications/message",
  Progress: "notifications/progress",
  PromptListChanged: "notifications/prompts/list_changed",
  ResourceListChanged: "notifications/resources/list_changed",
  ResourceUpdated: "notifications/resources/updated",
  SubscriptionsAcknowledged: "notifications/subscriptions/acknowledged",
  ToolListChanged: "notifications/tools/list_changed"
}

const ways = new Map<string, (example: Json) => unknown>([
  ...Object.entries(requests).flatMap(([name, method]): Array<[string, (example: Json) => unknown]> => [
    [`${name}Request`, enveloped("params", params(method))],
    [`${name}RequestParams`, params(method)],
    [`${name}Result`, result(method)],
    [`${name}ResultResponse`, enveloped("result", result(method))]
  ]),
  ...Object.entries(notifications).flatMap(([name, method]): Array<[string, (example: Json) => unknown]> => [
    [`${name}Notification`, enveloped("params", notification(method))],
    [`${name}NotificationParams`, notification(method)]
  ]),
  ["PaginatedRequestParams", through(Page.Params)],
  ["InputRequiredResult", result("tools/call")],
  ["InputRequests", through(InputRequired.InputRequests)],
  ["InputResponses", through(InputRequired.InputResponses)],
  ["CreateMessageRequest", question],
  ["CreateMessageRequestParams", through(Sampling.Params)],
  ["CreateMessageResult", answer("sampling/createMessage")],
  ["ElicitRequest", question],
  ["ElicitRequestFormParams", through(Elicitation.FormParams)],
  ["ElicitRequestURLParams", through(Elicitation.UrlParams)],
  ["ElicitResult", answer("elicitation/create")],
  ["ListRootsRequest", question],
  ["ListRootsResult", answer("roots/list")],
  ["Root", through(Roots.Root)],
  ["SamplingMessage", through(Sampling.Message)],
  ["ModelPreferences", through(Sampling.ModelPreferences)],
  ["ClientCapabilities", through(Capabilities.Client)],
  ["ServerCapabilities", through(Capabilities.Server)],
  ["Tool", through(Tool.Tool)],
  ["Resource", through(Resource.Resource)],
  ["TextContent", through(Content.Text)],
  ["ImageContent", through(Content.Image)],
  ["AudioContent", through(Content.Audio)],
  ["ResourceLink", through(Content.ResourceLink)],
  ["EmbeddedResource", through(Content.EmbeddedResource)],
  ["ToolUseContent", through(Content.ToolUse)],
  ["ToolResultContent", through(Content.ToolResult)],
  ["TextResourceContents", through(ResourceContents.TextContents)],
  ["BlobResourceContents", through(ResourceContents.BlobContents)],
  ["StringSchema", through(Elicitation.Field)],
  ["NumberSchema", through(Elicitation.Field)],
  ["BooleanSchema", through(Elicitation.Field)],
  ["TitledSingleSelectEnumSchema", through(Elicitation.Field)],
  ["UntitledSingleSelectEnumSchema", through(Elicitation.Field)],
  ["TitledMultiSelectEnumSchema", through(Elicitation.Field)],
  ["UntitledMultiSelectEnumSchema", through(Elicitation.Field)],
  ["HeaderMismatchError", error],
  ["MissingRequiredClientCapabilityError", error],
  ["UnsupportedProtocolVersionError", error],
  ["ParseError", bareError(ErrorCode.ParseError)],
  ["MethodNotFoundError", bareError(ErrorCode.MethodNotFound)],
  ["InvalidParamsError", bareError(ErrorCode.InvalidParams)],
  ["InternalError", bareError(ErrorCode.InternalError)]
])

const expected = (name: string, example: Json): Json => {
  const filledIn: { readonly [file: string]: { readonly result: object } } = exceptions.filledIn
  const { result: filled } = filledIn[name] ?? {}
  return filled === undefined ? example : { ...example, result: { ...(example["result"] as object), ...filled } }
}

const folder = "2026-07-28/examples"
const examples = fs
  .readdirSync(new URL(`official/${folder}/`, import.meta.url))
  .flatMap((type) =>
    fs.readdirSync(new URL(`official/${folder}/${type}/`, import.meta.url)).map((file) => ({ type, file }))
  )

describe("the official examples of 2026-07-28", () => {
  it("are all here", () => {
    assert.lengthOf(examples, 129)
  })

  for (const { type, file } of examples) {
    it(`M-RES-7: ${type}/${file} comes out as it went in`, () => {
      const example = read(`${folder}/${type}/${file}`)
      const way = ways.get(type)
      assert.isDefined(way, `nothing reads ${type}`)
      assert.deepEqual(way?.(example), expected(`${type}/${file}`, example))
    })
  }
})
