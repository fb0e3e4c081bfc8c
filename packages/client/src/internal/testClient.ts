/** A client of a made-up server: the real client over a wire that only calls functions. */
import * as Completion from "@mcp-effect/protocol/Completion"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Meta from "@mcp-effect/protocol/Meta"
import * as Prompt from "@mcp-effect/protocol/Prompt"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as Tool from "@mcp-effect/protocol/Tool"
import { type ExchangeOptions, type Incoming, Transport, type Wire } from "@mcp-effect/transport/Transport"
import { Closed, TransportError } from "@mcp-effect/transport/TransportError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Change } from "../Change.ts"
import type { Client, ConnectOptions } from "../McpClient.ts"
import type { McpClientError } from "../McpClientError.ts"
import type { TestServer } from "../TestServer.ts"
import { make } from "./client.ts"

/** What an exchange gives: a result, or a refusal in the words of JSON-RPC. */
type Answer = Effect.Effect<object, McpClientError | Refusal>

interface Refusal {
  readonly _tag: "Refusal"
  readonly code: number
  readonly message: string
}

const refuse = (code: number, message: string): Answer => Effect.fail({ _tag: "Refusal", code, message })
const unknown = (what: string, name: string) => refuse(ErrorCode.InvalidParams, `unknown ${what}: ${name}`)

const nameOf = (definition: string | { readonly name: string }) =>
  typeof definition === "string" ? definition : definition.name
const uriOf = (resource: string | { readonly uri: string }) => (typeof resource === "string" ? resource : resource.uri)

const listed = (key: string, items: ReadonlyArray<object>): Answer =>
  Effect.succeed({ [key]: items, ttlMs: 0, cacheScope: "private" })

const capabilitiesOf = ({ changes, complete, logs, prompts, resources, resourceTemplates, tools }: TestServer) => {
  const listChanged = changes !== undefined
  return {
    ...(tools === undefined ? {} : { tools: { listChanged } }),
    ...(prompts === undefined ? {} : { prompts: { listChanged } }),
    ...(resources === undefined && resourceTemplates === undefined
      ? {}
      : { resources: { listChanged, subscribe: listChanged } }),
    ...(complete === undefined ? {} : { completions: {} }),
    ...(logs === undefined ? {} : { logging: {} })
  }
}

const announcement = (
  change: Change
): { readonly method: string; readonly params?: JsonRpc.JsonObject } | undefined => {
  switch (change._tag) {
    case "ToolsChanged":
      return { method: "notifications/tools/list_changed" }
    case "PromptsChanged":
      return { method: "notifications/prompts/list_changed" }
    case "ResourcesChanged":
      return { method: "notifications/resources/list_changed" }
    case "ResourceUpdated":
      return { method: "notifications/resources/updated", params: { uri: change.uri } }
    case "Watched":
    case "Unwatched":
      return undefined
  }
}

/** Acknowledges what is asked for, and tells changes as long as it is listened to. */
const listen = (
  { changes = Stream.never }: TestServer,
  { id, params }: JsonRpc.Request,
  interim: (message: Incoming) => void
): Answer => {
  const tell = (method: string, more: JsonRpc.JsonObject = {}) =>
    interim({ jsonrpc: "2.0", method, params: { ...more, _meta: { [Meta.subscriptionId]: id } } })
  return Effect.sync(() =>
    tell("notifications/subscriptions/acknowledged", { notifications: params?.["notifications"] ?? {} })
  ).pipe(
    Effect.andThen(
      Stream.runForEach(changes, (change) =>
        Effect.sync(() => {
          const said = announcement(change)
          if (said !== undefined) tell(said.method, said.params)
        })
      )
    ),
    Effect.andThen(Effect.never)
  )
}

const called = (server: TestServer, params: Tool.CallParams): Answer => {
  const found = server.tools?.find(({ tool }) => nameOf(tool) === params.name)
  if (found === undefined) return unknown("tool", params.name)
  return Effect.map(found.call(params.arguments ?? {}, params), (given) =>
    typeof given === "string" ? { content: [{ type: "text", text: given }] } : { content: [], ...given }
  )
}

const prompted = (server: TestServer, name: string, args: Readonly<Record<string, string>>): Answer => {
  const found = server.prompts?.find(({ prompt }) => nameOf(prompt) === name)
  if (found === undefined) return unknown("prompt", name)
  return Effect.map(found.get(args), (given) => ({
    messages: typeof given === "string" ? [{ role: "user", content: { type: "text", text: given } }] : given
  }))
}

const readFrom = (server: TestServer, uri: string): Answer => {
  const found = server.resources?.find(({ resource }) => uriOf(resource) === uri)
  if (found === undefined) return unknown("resource", uri)
  return Effect.map(found.read, (given) => ({
    contents: typeof given === "string" ? [{ uri, text: given }] : given,
    ttlMs: 0,
    cacheScope: "private"
  }))
}

const readCall = Schema.decodeUnknownResult(Tool.CallParams)
const readPrompt = Schema.decodeUnknownResult(Prompt.GetParams)
const readCompletion = Schema.decodeUnknownResult(Completion.Params)

const read = <A>(
  decode: (params: unknown) => Result.Result<A, Schema.SchemaError>,
  params: JsonRpc.JsonObject,
  use: (params: A) => Answer
): Answer =>
  Result.match(decode(params), {
    onSuccess: use,
    onFailure: ({ message }) => refuse(ErrorCode.InvalidParams, message)
  })

/** What the server makes of a request. */
const answer = (server: TestServer, request: JsonRpc.Request, interim: (message: Incoming) => void): Answer => {
  const { method, params = {} } = request
  const { complete, prompts, resources, resourceTemplates, tools } = server
  const none = refuse(ErrorCode.MethodNotFound, `this server has no ${method}`)
  switch (method) {
    case "server/discover":
      return Effect.succeed({
        supportedVersions: [Revision.v2026_07_28.version],
        capabilities: capabilitiesOf(server),
        ...(server.instructions === undefined ? {} : { instructions: server.instructions }),
        ttlMs: 0,
        cacheScope: "private",
        _meta: { [Meta.serverInfo]: { name: server.name ?? "test server", version: "1.0.0" } }
      })
    case "tools/list":
      return tools === undefined
        ? none
        : listed(
            "tools",
            tools.map(({ tool }) => (typeof tool === "string" ? { name: tool, inputSchema: { type: "object" } } : tool))
          )
    case "tools/call":
      return tools === undefined ? none : read(readCall, params, (asked) => called(server, asked))
    case "prompts/list":
      return prompts === undefined
        ? none
        : listed(
            "prompts",
            prompts.map(({ prompt }) => (typeof prompt === "string" ? { name: prompt } : prompt))
          )
    case "prompts/get":
      return prompts === undefined
        ? none
        : read(readPrompt, params, ({ arguments: args = {}, name }) => prompted(server, name, args))
    case "resources/list":
      return resources === undefined && resourceTemplates === undefined
        ? none
        : listed(
            "resources",
            (resources ?? []).map(({ resource }) =>
              typeof resource === "string" ? { uri: resource, name: resource } : resource
            )
          )
    case "resources/templates/list":
      return resources === undefined && resourceTemplates === undefined
        ? none
        : listed("resourceTemplates", resourceTemplates ?? [])
    case "resources/read":
      return resources === undefined ? none : readFrom(server, String(params["uri"]))
    case "completion/complete":
      return complete === undefined
        ? none
        : read(readCompletion, params, (asked) => Effect.map(complete(asked), (completion) => ({ completion })))
    case "subscriptions/listen":
      return listen(server, request, interim)
    default: {
      const { extensions = {} } = server
      return Object.hasOwn(extensions, method) ? (extensions[method]?.(params) ?? none) : none
    }
  }
}

export const makeTest = Effect.fnUntraced(function* <R>(
  server: TestServer,
  options: Pick<ConnectOptions<R>, "client" | "extensions" | "forwardLogs" | "handlers" | "middleware">
): Effect.fn.Return<Client, never, R | Scope.Scope> {
  const endpoint = server.name ?? "test server"
  /** What a made-up answer failed with, by the failure of the wire that stood for it. */
  const meant = new WeakMap<TransportError, McpClientError>()

  const exchange = (
    request: JsonRpc.Request,
    { interim }: ExchangeOptions,
    hear: (message: Incoming) => void
  ): Effect.Effect<JsonRpc.Response, TransportError> => {
    const { id } = request
    return Effect.matchEffect(answer(server, request, interim ?? hear), {
      onSuccess: (result) => Effect.succeed<JsonRpc.Response>({ jsonrpc: "2.0", id, result: { ...result } }),
      onFailure: (error) => {
        if (error._tag === "Refusal") {
          return Effect.succeed<JsonRpc.Response>({
            jsonrpc: "2.0",
            id,
            error: { code: error.code, message: error.message }
          })
        }
        const cause = new TransportError({ endpoint, reason: new Closed({ because: error.message }) })
        meant.set(cause, error)
        return Effect.fail(cause)
      }
    })
  }

  const { logs = Stream.never, notifications = Stream.never } = server
  const logged = Stream.map(logs, ({ data, level, logger }): JsonRpc.Notification => ({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level, data, ...(logger === undefined ? {} : { logger }) }
  }))

  const transport = Transport.of({
    kind: "memory",
    endpoint,
    reopenable: false,
    open: Effect.fnUntraced(function* (hear) {
      const gone = yield* Deferred.make<never, TransportError>()
      yield* Effect.addFinalizer(() =>
        Deferred.fail(gone, new TransportError({ endpoint, reason: new Closed({ because: "this side closed it" }) }))
      )
      yield* Stream.merge(logged, notifications).pipe(
        Stream.runForEach((notification) => Effect.sync(() => hear(notification))),
        Effect.forkScoped
      )
      const wire: Wire = {
        exchange: (request, how) =>
          Effect.suspend(() =>
            Deferred.isDoneUnsafe(gone)
              ? Deferred.await(gone)
              : Effect.raceFirst(exchange(request, how, hear), Deferred.await(gone))
          ),
        send: () => Effect.void,
        ended: Deferred.await(gone)
      }
      return wire
    })
  })

  const client = yield* Effect.orDie(make<R>(transport, options))
  const restore = (error: McpClientError): McpClientError => {
    const { reason } = error
    return (
      (reason._tag === "WireFailed" || reason._tag === "OutcomeUnknown" ? meant.get(reason.cause) : undefined) ?? error
    )
  }
  return {
    ...client,
    callTool: (...how) => Effect.mapError(client.callTool(...how), restore),
    streamTool: (...how) => Stream.mapError(client.streamTool(...how), restore),
    begin: (...how) => Effect.mapError(client.begin(...how), restore),
    resume: (...how) => Effect.mapError(client.resume(...how), restore),
    getPrompt: (...how) => Effect.mapError(client.getPrompt(...how), restore),
    readResource: (...how) => Effect.mapError(client.readResource(...how), restore),
    complete: (...how) => Effect.mapError(client.complete(...how), restore),
    request: (...how) => Effect.mapError(client.request(...how), restore),
    extension: (...how) => Effect.mapError(client.extension(...how), restore)
  }
})
