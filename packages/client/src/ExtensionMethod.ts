/**
 * A method of an extension, with types of your own: one that the protocol does not define and a server offers beside it.
 *
 * What the server said that it extends stands in `client.agreement.capabilities`, under `extensions`; what the program
 * speaks is named when connecting (`ConnectOptions.extensions`). Names of methods are the extension's, as a rule with a
 * prefix of its own: `com.example/search`.
 *
 * @since 0.1.0
 */
import { InvalidResult } from "@mcp-effect/protocol/ProtocolError"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { misfit } from "./internal/misfit.ts"
import type { Client, RequestOptions } from "./McpClient.ts"
import { McpClientError } from "./McpClientError.ts"

/**
 * The parameters do not fit the schema given for them. Nothing was sent.
 *
 * What to change: the parameter at `pointer`.
 *
 * @category errors
 * @since 0.1.0
 */
export class ParamsInvalid extends Schema.TaggedError<ParamsInvalid>()("ParamsInvalid", {
  method: Schema.String,
  /** A JSON pointer into the parameters, empty for the whole. */
  pointer: Schema.String,
  because: Schema.String
}) {
  override get message() {
    const place = this.pointer === "" ? "" : ` at ${this.pointer}`
    return `${this.method} was not asked: its parameters${place}: ${this.because}`
  }
}

/**
 * How to make a request of an extension.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Omit<RequestOptions, "cache"> {
  /**
   * Whether it does no harm when the request runs twice, so that it may be sent again when its answer is lost. `false` by
   * default: then the reason is `OutcomeUnknown`.
   */
  readonly repeatable?: boolean
}

/**
 * A method, and schemas for what goes and what comes.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExtensionMethod<
  Params extends Schema.Codec<unknown, unknown, unknown, unknown>,
  Success extends Schema.Codec<unknown, unknown, unknown, unknown>
> {
  readonly name: string
  readonly params: Params
  readonly result: Success
}

/**
 * Describes a method of an extension. Parameters must encode to an object, without `_meta`, which the library writes.
 *
 * @example
 * ```ts
 * import { ExtensionMethod } from "@mcp-effect/client"
 * import { Schema } from "effect"
 *
 * export const Search = ExtensionMethod.make("com.example/search", {
 *   params: Schema.Struct({ words: Schema.Array(Schema.String) }),
 *   result: Schema.Struct({ found: Schema.Finite })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  Params extends Schema.Codec<unknown, { readonly [key: string]: unknown }, unknown, unknown>,
  Success extends Schema.Codec<unknown, unknown, unknown, unknown>
>(
  name: string,
  schemas: { readonly params: Params; readonly result: Success }
): ExtensionMethod<Params, Success> => ({ name, params: schemas.params, result: schemas.result })

/**
 * Calls a method of an extension, in either era.
 *
 * Fails with `ParamsInvalid` for parameters that do not encode, else with `McpClientError`. Among its reasons:
 * `InvalidOption` for a name that is no extension's, and nothing is sent; `ServerError` with -32601 from a server that
 * does not have the method; `InvalidResult` for a result that does not decode; `OutcomeUnknown` when the answer was lost
 * and the request must not be sent twice.
 *
 * @category requests
 * @since 0.1.0
 */
export const call = Effect.fn("ExtensionMethod.call")(function* <
  Params extends Schema.Codec<unknown, unknown, unknown, unknown>,
  Success extends Schema.Codec<unknown, unknown, unknown, unknown>
>(
  client: Client,
  method: ExtensionMethod<Params, Success>,
  params: Params["Type"],
  options?: Options
): Effect.fn.Return<
  Success["Type"],
  ParamsInvalid | McpClientError,
  Params["EncodingServices"] | Success["DecodingServices"]
> {
  const { name } = method
  const encoded = yield* Effect.mapError(
    Schema.encodeEffect(method.params)(params),
    ({ issue }) => new ParamsInvalid({ method: name, ...misfit(issue) })
  )
  if (!Predicate.isReadonlyObject(encoded)) {
    return yield* new ParamsInvalid({ method: name, pointer: "", because: "do not encode to an object" })
  }
  const result = yield* client.extension(name, encoded, options)
  return yield* Effect.mapError(
    Schema.decodeUnknownEffect(method.result)(result),
    ({ issue }) =>
      new McpClientError({ server: client.endpoint, reason: new InvalidResult({ method: name, ...misfit(issue) }) })
  )
})
