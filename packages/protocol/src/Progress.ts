/**
 * Progress of a request that is still being worked on (L-PROG, M-PROG).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { anyMeta, from, maybe, named, open } from "./internal/shape.ts"

/**
 * Names a request in its progress notifications. This library sends the request's id.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Token = Schema.Union([Schema.String, Schema.Int])

/**
 * Names a request in its progress notifications.
 *
 * @category models
 * @since 0.1.0
 */
export type Token = typeof Token.Type

/**
 * How far it is. `progress` grows; `total` is what it grows to, if that is known.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = open({
  progressToken: Token,
  progress: Schema.Finite,
  total: maybe(Schema.Finite),
  message: from("2025-03-26")(maybe(Schema.String)),
  _meta: anyMeta
}).pipe(named("ProgressNotificationParams"))

/**
 * How far it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}
