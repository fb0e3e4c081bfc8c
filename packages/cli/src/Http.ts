/**
 * The HTTP client of the command: the one that is there already, or Node's, which is loaded at need.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

/**
 * The HTTP client.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<HttpClient> = Layer.unwrap(
  Effect.gen(function* () {
    const given = yield* Effect.serviceOption(HttpClient)
    if (Option.isSome(given)) return Layer.succeed(HttpClient, given.value)
    return (yield* Effect.promise(() => import("@mcp-effect/transport/NodeHttp"))).layer
  })
)
