/**
 * `initialize`: the handshake of the legacy era (L-LIFE).
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Capabilities from "./Capabilities.ts"
import { Implementation } from "./Implementation.ts"
import { decoder, type Decoded } from "./internal/lenient.ts"
import { isObject } from "./internal/node.ts"
import { anyMeta, maybe, open, result } from "./internal/shape.ts"
import { tidy } from "./internal/tidy.ts"
import { InvalidResult } from "./ProtocolError.ts"

/**
 * What a client offers. `protocolVersion` is a legacy version; `Revision.hello` writes the whole.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = open({
  protocolVersion: Schema.String,
  capabilities: Capabilities.Client,
  clientInfo: Implementation,
  _meta: anyMeta
})

/**
 * What a client offers.
 *
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}

/**
 * What the server answers: its version may be another than the one offered, also one that this package does not know.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InitializeResult = result({
  protocolVersion: Schema.String,
  capabilities: Capabilities.Server,
  /** Absent when the server did not say who it is, or not in a readable way. */
  serverInfo: maybe(Implementation),
  instructions: maybe(Schema.String)
})

/**
 * What the server answers.
 *
 * @category models
 * @since 0.1.0
 */
export interface InitializeResult extends Schema.Schema.Type<typeof InitializeResult> {}

const decodeResult = decoder(InitializeResult)

/**
 * Reads the answer to `initialize`, leniently: only `protocolVersion` must be a string, known or not. Capabilities that
 * are no object read as none, an identity that cannot be read as absent.
 *
 * Fails with `InvalidResult` when it is no `InitializeResult`; never throws.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = (answer: unknown): Result.Result<Decoded<InitializeResult>, InvalidResult> => {
  if (!isObject(answer)) {
    return Result.fail(new InvalidResult({ method: "initialize", pointer: "", because: "expected an object" }))
  }
  const capabilities = Object.hasOwn(answer, "capabilities") ? answer["capabilities"] : undefined
  const whole = isObject(capabilities) ? answer : { ...answer, capabilities: {} }
  return Result.mapError(
    decodeResult(tidy(whole, {})),
    ({ pointer, because }) => new InvalidResult({ method: "initialize", pointer, because })
  )
}
