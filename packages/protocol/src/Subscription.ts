/**
 * Change notifications of the modern era: one open request that says what to report (M-SUB).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { anyMeta, maybe, open, result } from "./internal/shape.ts"

/**
 * What to report. Absent and `false` both mean no. Extensions add members.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Filter = open({
  toolsListChanged: maybe(Schema.Boolean),
  promptsListChanged: maybe(Schema.Boolean),
  resourcesListChanged: maybe(Schema.Boolean),
  /** Addresses of resources to watch. */
  resourceSubscriptions: maybe(Schema.Array(Schema.String)),
  /** Tasks to watch; the tasks extension. */
  taskIds: maybe(Schema.Array(Schema.String))
})

/**
 * What to report.
 *
 * @category models
 * @since 0.1.0
 */
export interface Filter extends Schema.Schema.Type<typeof Filter> {}

/**
 * Opens a subscription.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListenParams = open({ notifications: Filter, _meta: anyMeta })

/**
 * Opens a subscription.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListenParams extends Schema.Schema.Type<typeof ListenParams> {}

/**
 * The server ended the subscription in good order.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListenResult = result({})

/**
 * The server ended the subscription in good order.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListenResult extends Schema.Schema.Type<typeof ListenResult> {}

/**
 * The first message of a subscription: the part of the filter that the server will honour.
 *
 * @category schemas
 * @since 0.1.0
 */
export const AcknowledgedParams = open({ notifications: Filter, _meta: anyMeta })

/**
 * The first message of a subscription.
 *
 * @category models
 * @since 0.1.0
 */
export interface AcknowledgedParams extends Schema.Schema.Type<typeof AcknowledgedParams> {}
