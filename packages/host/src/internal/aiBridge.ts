/** An HTTP client that never leaves the program: what it is sent is answered by a connection. */
import type * as McpClient from "@mcp-effect/client/McpClient"
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import { type HttpRejected, TransportError as WireError } from "@mcp-effect/transport/TransportError"
import * as McpSchema from "effect/ai/McpSchema"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import { HttpClientError, TransportError } from "effect/http/HttpClientError"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

type Client = McpClient.Client

/** The address of the exchange; nobody looks it up. */
export const url = "http://mcp-effect.invalid/"

/** Who the other side is told is asking. The server was told when the connection was made. */
export const identity = { name: "mcp-effect", version: "0" }

type Params = Readonly<Record<string, unknown>>

type Answer = (params: Params) => Effect.Effect<object, McpClientError>

const decoder = new TextDecoder()
const messageOf = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Union([McpSchema.JsonRpcRequest, McpSchema.JsonRpcNotification]))
)

/** A result may not be kept: the connection has a cache of its own. */
const fresh = { resultType: "complete", ttlMs: 0, cacheScope: "private" }

const isTransportError = Schema.is(WireError)

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  Predicate.isReadonlyObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]))
    : {}

/** What the server can do; all of it where it has not said, and then a list it does not have is empty. */
const capabilitiesOf = ({ agreement: { capabilities } }: Client) =>
  Object.fromEntries(
    (["tools", "prompts", "resources"] as const)
      .filter((name) => capabilities === undefined || capabilities[name] !== undefined)
      .map((name) => [name, {}])
  )

const listOf =
  <A>({ agreement }: Client, key: string, items: Effect.Effect<ReadonlyArray<A>, McpClientError>): Answer =>
  () =>
    items.pipe(
      Effect.catchIf(
        ({ reason }) =>
          agreement.capabilities === undefined &&
          reason._tag === "ServerError" &&
          reason.code === ErrorCode.MethodNotFound,
        () => Effect.succeed<ReadonlyArray<A>>([])
      ),
      Effect.map((all) => ({ ...fresh, [key]: all }))
    )

/** What each method is answered with. */
const answersOf = (client: Client, version: string, call: McpClient.CallOptions): Readonly<Record<string, Answer>> => {
  const { identity: server, instructions } = client.agreement
  const said = { capabilities: capabilitiesOf(client), ...(instructions === undefined ? {} : { instructions }) }
  const { definition: _definition, repeatable: _repeatable, task: _task, ...request } = call
  return {
    initialize: () => Effect.succeed({ ...said, protocolVersion: version, serverInfo: server }),
    "server/discover": () =>
      Effect.succeed({
        ...fresh,
        ...said,
        supportedVersions: [version],
        _meta: server === undefined ? {} : { "io.modelcontextprotocol/serverInfo": server }
      }),
    "tools/list": listOf(client, "tools", client.listTools()),
    "prompts/list": listOf(client, "prompts", client.listPrompts()),
    "resources/list": listOf(client, "resources", client.listResources()),
    "tools/call": (params) =>
      client.callTool(
        String(params["name"]),
        Predicate.isReadonlyObject(params["arguments"]) ? params["arguments"] : {},
        call
      ),
    "prompts/get": (params) => client.getPrompt(String(params["name"]), textsOf(params["arguments"]), request),
    "resources/read": (params) => client.readResource(String(params["uri"]), request)
  }
}

const json = (body: object, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { ...headers, "content-type": "application/json" } })

/** The status a server answered with, where a response can have it. */
const rejectionIn = ({ reason }: McpClientError): HttpRejected | undefined => {
  const cause = "cause" in reason && isTransportError(reason.cause) ? reason.cause.reason : undefined
  return cause?._tag === "HttpRejected" && cause.status >= 400 && cause.status < 600 ? cause : undefined
}

const visible = (header: string) => header.replaceAll(/[^\x20-\x7e]/g, "?")

/** The connection's errors as they look on a wire; what does not exist there is an error of the HTTP client. */
const refusal = (
  error: McpClientError,
  id: McpSchema.RequestId,
  request: HttpClientRequest
): Effect.Effect<Response, HttpClientError> => {
  const { reason } = error
  if (reason._tag === "ServerError" && Number.isSafeInteger(reason.code)) {
    const { code, data, text } = reason
    return Effect.succeed(
      json({ jsonrpc: "2.0", id, error: { code, message: text, ...(data === undefined ? {} : { data }) } })
    )
  }
  const rejected = rejectionIn(error)
  if (rejected !== undefined) {
    const { challenge, error: theirs, retryAfter, status } = rejected
    const headers = {
      ...(challenge === undefined ? {} : { "www-authenticate": visible(challenge) }),
      ...(retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(retryAfter / 1000)) })
    }
    return Effect.succeed(
      theirs === undefined
        ? new Response(rejected.body, { status, headers })
        : json({ jsonrpc: "2.0", id, error: theirs }, status, headers)
    )
  }
  return Effect.fail(
    new HttpClientError({ reason: new TransportError({ request, cause: error, description: error.message }) })
  )
}

export const make = (client: Client, version: string, options: McpClient.CallOptions = {}): HttpClient.HttpClient => {
  const answers = answersOf(client, version, { timeout: Duration.infinity, ...options })
  const respond = Effect.fnUntraced(function* (request: HttpClientRequest) {
    const { body } = request
    const text = body._tag === "Uint8Array" ? decoder.decode(body.body) : ""
    const message = yield* messageOf(text).pipe(
      Effect.mapError((cause) => new HttpClientError({ reason: new TransportError({ request, cause }) }))
    )
    // A notification: that the handshake is over, or that nobody waits any more; the interruption has said so before.
    if (!("id" in message)) return new Response(undefined, { status: 202 })
    const { id, method, params = {} } = message
    const answer = Object.hasOwn(answers, method) ? answers[method] : undefined
    if (answer === undefined) {
      return json({ jsonrpc: "2.0", id, error: { code: ErrorCode.MethodNotFound, message: `no method ${method}` } })
    }
    return yield* answer(params).pipe(
      Effect.map((result) => json({ jsonrpc: "2.0", id, result })),
      Effect.catch((error) => refusal(error, id, request))
    )
  })
  // Without the spans and headers of a real request: the connection has its own.
  return HttpClient.makeWith(
    (requests: Effect.Effect<HttpClientRequest, HttpClientError>) =>
      Effect.flatMap(requests, (request) =>
        Effect.map(respond(request), (response) => HttpClientResponse.fromWeb(request, response))
      ),
    (request) => Effect.succeed(request)
  )
}
