/**
 * Taking back a request (L-CAN, M-CAN).
 *
 * A modern client sends it on pipes only; over HTTP it closes the stream. Nobody cancels `initialize`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { anyMeta, maybe, open } from "./internal/shape.ts"

/**
 * Names the request that is no longer wanted. 2025-11-25 lets the id be absent; a cancellation without one is ignored.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = open({
  requestId: Schema.Union([Schema.String, Schema.Int]),
  reason: maybe(Schema.String),
  _meta: anyMeta
})

/**
 * Names the request that is no longer wanted.
 *
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}
