/**
 * A connection as the `McpClient` service of `effect/ai`, so that programs written for that service gain this library's
 * negotiation, healing, handlers and sign-in without a change.
 *
 * The client is a genuine one: `effect` makes it, over its own HTTP transport. Only the HTTP client below it never leaves
 * the program: it answers each message with the connection. Calls made on it are neither approved nor timed by a host; for
 * a model that shall call the tools of many servers there is `AiToolkit`.
 *
 * @since 0.1.0
 */
import * as Ours from "@mcp-effect/client/McpClient"
import { McpClientError } from "@mcp-effect/client/McpClientError"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type * as Duration from "effect/Duration"
import * as EffectMcpClient from "effect/ai/McpClient"
import type { McpClientError as EffectMcpClientError } from "effect/ai/McpClientError"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Bridge from "./internal/aiBridge.ts"

/**
 * How the client is made.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * How calls are made, and prompts and resources fetched. They may take as long as they like, as that service promises,
   * unless `timeout` says otherwise here or at the call.
   */
  readonly call?: Ours.CallOptions
  /** How long a whole list may take where the call does not say. 60 seconds. */
  readonly timeout?: Duration.Input
}

/**
 * The connection as a client of `effect/ai`. It ends with the scope; the connection does not.
 *
 * `protocolVersion` is the version of the exchange between the two: `2025-11-25` for a connection of the legacy era whose
 * server said who it is, else `2026-07-28`. What was agreed with the server is `agreement.version` of the connection.
 *
 * What fails: an error of the server is a `ProtocolError` with its code and data, an HTTP status an `HttpError`; everything
 * else is a `TransportError`, and `causeOf` gives what it was.
 *
 * @example
 * ```ts
 * import { AiClient } from "@mcp-effect/host"
 * import { McpClient } from "@mcp-effect/client"
 * import { Effect } from "effect"
 * import { McpClient as AiMcpClient } from "effect/ai"
 *
 * export const toolkitOf = (client: McpClient.Client) =>
 *   Effect.flatMap(AiClient.make(client), AiMcpClient.toolkit)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  client: Ours.Client,
  options?: Options
) => Effect.Effect<EffectMcpClient.McpClient, EffectMcpClientError, Scope.Scope> = Effect.fnUntraced(function* (
  client,
  options = {}
) {
  // The handshake of the older version cannot leave out who the server is.
  const protocol =
    client.agreement.initialize?.serverInfo === undefined ? McpProtocol.v2026_07_28 : McpProtocol.v2025_11_25
  const transport = yield* EffectMcpClient.http({
    url: Bridge.url,
    protocol,
    maxMessageBytes: yield* Defaults.MaxMessageBytes
  }).pipe(Effect.provideService(HttpClient.HttpClient, Bridge.make(client, protocol.protocolVersion, options.call)))
  return yield* EffectMcpClient.make({
    ...Bridge.identity,
    ...(options.timeout === undefined ? {} : { timeout: options.timeout })
  }).pipe(Effect.provideService(EffectMcpClient.Transport, transport))
})

/**
 * The `McpClient` service of `effect/ai` over the `McpClient` of this library.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options?: Options
): Layer.Layer<EffectMcpClient.McpClient, EffectMcpClientError, Ours.McpClient> =>
  Layer.effect(
    EffectMcpClient.McpClient,
    Effect.flatMap(Ours.McpClient, (client) => make(client, options))
  )

/**
 * What the connection itself said, where an error of such a client stands for it.
 *
 * @category accessors
 * @since 0.1.0
 */
export const causeOf = ({ reason }: EffectMcpClientError): Option.Option<McpClientError> => {
  let cause: unknown = reason
  // The error of the HTTP client lies between the two.
  for (let depth = 0; depth < 4 && cause instanceof Error; depth++) {
    if (cause instanceof McpClientError) return Option.some(cause)
    cause = cause.cause
  }
  return Option.none()
}
