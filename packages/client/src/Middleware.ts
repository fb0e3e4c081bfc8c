/**
 * What stands between the client and the wire, message by message: logging, counting, rewriting, answering from
 * elsewhere.
 *
 * A middleware sees each request as it goes out, in the words of the agreed version, and decides what becomes of it. The
 * probe and the handshake are negotiation's, and pass no middleware.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import type * as Effect from "effect/Effect"

/**
 * Sends a request on. Call it once, several times, or not at all.
 *
 * @category models
 * @since 0.1.0
 */
export type Next = (request: JsonRpc.Request) => Effect.Effect<JsonRpc.Response, TransportError>

/**
 * A middleware. The first of a list is the outermost.
 *
 * @example
 * ```ts
 * import type { Middleware } from "@mcp-effect/client/Middleware"
 * import { Effect } from "effect"
 *
 * export const logged: Middleware = (request, next) =>
 *   Effect.tap(next(request), (response) =>
 *     Effect.logDebug(`${request.method} ${"error" in response ? "failed" : "answered"}`)
 *   )
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export type Middleware = (request: JsonRpc.Request, next: Next) => Effect.Effect<JsonRpc.Response, TransportError>
