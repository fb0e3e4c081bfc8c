/**
 * What a scripted peer does for each feature: plain data, the same for every carrier, in either era.
 *
 * The client numbers its requests from 1, so a script that has to name one can: on a fresh connection the first request
 * after the agreement is at most the fifth.
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Meta from "@mcp-effect/protocol/Meta"
import * as Task from "@mcp-effect/protocol/Task"
import type { Era } from "@mcp-effect/protocol/Version"
import * as Script from "@mcp-effect/testing/Script"
import type { Name } from "../features.ts"

type Reactions = NonNullable<Script.Options["on"]>

const object = { type: "object" }
const tool = (name: string, more: JsonObject = {}): JsonObject => ({ name, inputSchema: object, ...more })
const text = (said: string): JsonObject => ({ content: [{ type: "text", text: said }] })

const form: JsonObject = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "What is your name?",
    requestedSchema: { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] }
  }
}
const address: JsonObject = {
  method: "elicitation/create",
  params: { mode: "url", message: "Please sign in", url: "https://example.com/in", elicitationId: "1" }
}
const model: JsonObject = {
  method: "sampling/createMessage",
  params: { maxTokens: 7, messages: [{ role: "user", content: { type: "text", text: "What is 2 + 2?" } }] }
}
const roots: JsonObject = { method: "roots/list" }

/** A result in the form of the era. */
const results = (era: Era) => ({
  done: (result: JsonObject): JsonObject =>
    era === "modern" ? { resultType: "complete", ttlMs: 0, cacheScope: "private", ...result } : result,
  /** A question, and what follows it: in the modern era the request comes again with the answer. */
  asks: (question: JsonObject, after: JsonObject): ReadonlyArray<Script.Turn> =>
    era === "modern"
      ? [
          [Script.answer(Script.inputRequired({ reply: question }, { requestState: "asked once" }))],
          [Script.answer({ resultType: "complete", ...after })]
        ]
      : [[Script.say({ id: "q1", ...question }), Script.hear, Script.answer(after)]]
})

const notify = (method: string, params: JsonObject): Script.Step =>
  Script.say({ method: `notifications/${method}`, params })

/** Ids that the first request after the agreement may have. */
const ids = [2, 3, 4, 5, 6]
const steps = ids.flatMap((progressToken) =>
  [1, 2, 3].map((progress) => notify("progress", { progressToken, progress, total: 3 }))
)

const task = (era: Era, status: string): JsonObject => ({
  taskId: "t1",
  status,
  createdAt: "2026-08-01T00:00:00Z",
  lastUpdatedAt: "2026-08-01T00:00:00Z",
  ...(era === "modern" ? { ttlMs: 60_000, pollIntervalMs: 100 } : { ttl: 60_000, pollInterval: 100 })
})

const template = { uriTemplate: "demo://letters/{name}", name: "letters" }
const uri = "demo://hello"

/** What the server says about its changes: on the stream that listens in the modern era, else when a tool is called. */
const changing = (era: Era, filter: JsonObject, method: string, params: JsonObject): Reactions => {
  const { done } = results(era)
  const _meta = { [Meta.subscriptionId]: 3 }
  return era === "modern"
    ? {
        "subscriptions/listen": [
          notify("subscriptions/acknowledged", { notifications: filter, _meta }),
          Script.wait("20 millis"),
          notify(method, { ...params, _meta })
        ],
        "tools/call": [Script.answer(done(text("announced")))]
      }
    : {
        "resources/subscribe": [Script.answer({})],
        "resources/unsubscribe": [Script.answer({})],
        "tools/call": [notify(method, params), Script.answer(text("announced"))]
      }
}

/** The tools of the server for a feature, and where it is not simply well-behaved. */
const parts = (
  feature: Name,
  era: Era,
  folder: string
): { readonly tools: ReadonlyArray<JsonObject>; readonly on: Reactions } => {
  const { asks, done } = results(era)
  const calling = (name: string, turns: Script.Reaction, more: JsonObject = {}) => ({
    tools: [tool(name, more)],
    on: { "tools/call": turns }
  })
  const plain = (on: Reactions) => ({ tools: [tool("echo")], on })
  switch (feature) {
    case "tools":
    case "ping":
    case "discover":
    case "identity and instructions":
      return plain({})
    case "a tool that fails":
      return calling("fail", [Script.answer(done({ ...text("no such city"), isError: true }))])
    case "structured output":
    case "typed tools":
      return calling("add", [Script.answer(done({ ...text("3"), structuredContent: { sum: 3 } }))], {
        outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] }
      })
    case "output that breaks its schema":
      return calling("add-wrong", [Script.answer(done({ ...text("3"), structuredContent: { sum: "three" } }))], {
        outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] }
      })
    case "lists of several pages": {
      const pages = [
        [Script.answer(done({ prompts: [{ name: "greet" }], nextCursor: "more" }))],
        [Script.answer(done({ prompts: [{ name: "part" }] }))]
      ]
      return plain({ "prompts/list": [1, 2, 3, 4].flatMap(() => pages) })
    }
    case "resources":
      return plain({
        "resources/list": [Script.answer(done({ resources: [{ uri, name: "hello" }] }))],
        "resources/read": [Script.answer(done({ contents: [{ uri, text: "Hello" }] }))]
      })
    case "resource templates":
      return plain({
        "resources/templates/list": [Script.answer(done({ resourceTemplates: [template] }))],
        "resources/read": [Script.answer(done({ contents: [{ uri: "demo://letters/Ada", text: "Dear Ada" }] }))]
      })
    case "prompts":
      return plain({
        "prompts/list": [Script.answer(done({ prompts: [{ name: "greet" }] }))],
        "prompts/get": [
          Script.answer(done({ messages: [{ role: "user", content: { type: "text", text: "Greet Ada" } }] }))
        ]
      })
    case "completion":
      return plain({
        "resources/templates/list": [Script.answer(done({ resourceTemplates: [template] }))],
        "completion/complete": [Script.answer(done({ completion: { values: ["Ada", "Alan"] } }))]
      })
    case "logs of the server":
      return {
        tools: [tool("log")],
        on: {
          "logging/setLevel": [Script.answer({})],
          "tools/call": [
            notify("message", { level: "warning", logger: "kitchen", data: "the milk is sour" }),
            Script.answer(done(text("logged")))
          ]
        }
      }
    case "progress":
      return calling("count", [...steps, Script.answer(done(text("counted to 3")))])
    case "cancellation":
      return {
        tools: [tool("wait"), tool("cancelled")],
        on: {
          "tools/call": [[Script.answer(done(text("0")))], Script.silence, [Script.answer(done(text("1")))]]
        }
      }
    case "questions: a form":
    case "questions answered by hand":
      return calling("ask", asks(form, text(feature === "questions: a form" ? "you said Ada" : "you said Eve")))
    case "questions: an address":
      return calling("sign-in", asks(address, text("accept")))
    case "an address before the answer":
      return calling("sign-in-first", [
        [Script.fail(-32042, { data: { elicitations: [address["params"]] } })],
        [Script.answer(done(text("accept")))]
      ])
    case "changed folders":
      return calling("remembered", asks(roots, text(`${folder}/moved`)))
    case "questions: a model":
      return calling("think", asks(model, text("Four.")))
    case "questions: folders":
      return calling("folders", asks(roots, text(folder)))
    case "changes of a list":
    case "live lists":
      return { tools: [tool("announce")], on: changing(era, { toolsListChanged: true }, "tools/list_changed", {}) }
    case "changes of a resource":
      return {
        tools: [tool("announce")],
        on: changing(era, { resourceSubscriptions: [uri] }, "resources/updated", { uri })
      }
    case "results kept by hint":
      return { tools: [tool("echo")], on: {} }
    case "mirrored headers":
      return {
        tools: [
          tool("route", {
            inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }
          })
        ],
        on: { "tools/call": [Script.answer(done(text("routed to eu-west")))] }
      }
    case "tasks":
      return era === "modern"
        ? {
            tools: [tool("bake")],
            on: {
              "tools/call": [Script.answer({ resultType: "task", ...task(era, "working") })],
              "tasks/get": [
                [Script.answer({ resultType: "complete", ...task(era, "completed"), result: text("baked") })]
              ]
            }
          }
        : {
            tools: [tool("bake", { execution: { taskSupport: "required" } })],
            on: {
              "tools/call": [Script.answer({ task: task(era, "working") })],
              "tasks/get": [Script.answer(task(era, "completed"))],
              "tasks/result": [Script.answer(text("baked"))]
            }
          }
  }
}

/** What the server announces: as much as it needs for its methods. */
const capabilitiesFor = (era: Era, on: Reactions): JsonObject => {
  const methods = Object.keys(on)
  const has = (part: string) => methods.some((method) => method.startsWith(part))
  return {
    tools: { listChanged: true },
    logging: {},
    ...(has("resources/") || has("subscriptions/") ? { resources: { listChanged: true, subscribe: true } } : {}),
    ...(has("prompts/") ? { prompts: {} } : {}),
    ...(has("completion/") ? { completions: {} } : {}),
    ...(has("tasks/")
      ? era === "modern"
        ? { extensions: { [Task.extension]: {} } }
        : { tasks: { cancel: {}, requests: { tools: { call: {} } } } }
      : {})
  }
}

/** The whole script of a peer for one feature. */
export const scriptOf = (feature: Name, era: Era, over: "stdio" | "http" | "sse", folder: string): Script.Script => {
  const { on, tools } = parts(feature, era, folder)
  const http = { transport: over === "sse" ? "sse" : "streamable" } as const
  const list = {
    tools,
    ...(era === "modern"
      ? { resultType: "complete", ttlMs: feature === "results kept by hint" ? 60_000 : 0, cacheScope: "private" }
      : {})
  }
  const capabilities = capabilitiesFor(era, on)
  const listing = { "tools/list": [Script.answer(list)] }
  return era === "modern"
    ? Script.modern({
        http,
        on: {
          ...listing,
          "server/discover": [Script.answer(Script.discovered(["2026-07-28"], { capabilities }))],
          ...on
        }
      })
    : Script.legacy({
        http,
        on: {
          ...listing,
          initialize: [Script.answer(Script.initialized("2025-11-25", { capabilities }))],
          ...on
        }
      })
}

/** Texts in what the peer must have heard when a feature works: the proof that the client really did its part. */
export const evidenceOf = (feature: Name, era: Era, folder: string): ReadonlyArray<string> => {
  switch (feature) {
    case "questions: a form":
      return [`"answer":"Ada"`]
    case "questions answered by hand":
      return [`"answer":"${era === "modern" ? "Eve" : "Ada"}"`]
    case "questions: an address":
      return [`"action":"accept"`]
    case "questions: a model":
      return [`"Four."`]
    case "questions: folders":
      return [`"file://${folder}"`]
    case "changed folders":
      return [`"method":"notifications/roots/list_changed"`, `"file://${folder}/moved"`]
    case "mirrored headers":
      return [`"mcp-param-region":"eu-west"`]
    case "completion":
      return [`"argument":{"name":"name","value":"A"}`]
    case "logs of the server":
      return [era === "modern" ? `"${Meta.logLevel}":"info"` : `"method":"logging/setLevel"`]
    case "changes of a resource":
      return [era === "modern" ? `"resourceSubscriptions":["${uri}"]` : `"method":"resources/subscribe"`]
    case "tasks":
      return [`"method":"tasks/get"`, ...(era === "modern" ? [] : [`"method":"tasks/result"`])]
    default:
      return []
  }
}
