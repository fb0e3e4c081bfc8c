/**
 * Logging: what a server reports about its own work (L-LOG, M-LOG).
 *
 * A legacy client sets one level for the connection; a modern one asks per request, in `_meta`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { anyMeta, open } from "./internal/shape.ts"

/**
 * The eight levels of RFC 5424, least serious first.
 *
 * @category levels
 * @since 0.1.0
 */
export const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const

/**
 * How serious a message is.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Level = Schema.Literals(levels)

/**
 * How serious a message is.
 *
 * @category models
 * @since 0.1.0
 */
export type Level = typeof Level.Type

/**
 * Whether the first level is at least as serious as the second.
 *
 * @category guards
 * @since 0.1.0
 */
export const isAtLeast = (level: Level, floor: Level): boolean => levels.indexOf(level) >= levels.indexOf(floor)

/**
 * Sets the level of the connection; legacy era.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SetLevelParams = open({ level: Level, _meta: anyMeta })

/**
 * Sets the level of the connection.
 *
 * @category models
 * @since 0.1.0
 */
export interface SetLevelParams extends Schema.Schema.Type<typeof SetLevelParams> {}

/**
 * One message of the server's log. An unknown level reads as `info`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const MessageParams = open({
  level: Level,
  logger: Schema.optionalKey(Schema.String),
  /** Any JSON. */
  data: Schema.Unknown,
  _meta: anyMeta
})

/**
 * One message of the server's log.
 *
 * @category models
 * @since 0.1.0
 */
export interface MessageParams extends Schema.Schema.Type<typeof MessageParams> {}
