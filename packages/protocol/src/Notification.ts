/**
 * Messages that want no answer, in both directions.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as Cancellation from "./Cancellation.ts"
import * as Elicitation from "./Elicitation.ts"
import * as Logging from "./Logging.ts"
import { NoParams, type Span } from "./Method.ts"
import * as Progress from "./Progress.ts"
import * as Resource from "./Resource.ts"
import * as Subscription from "./Subscription.ts"
import * as Task from "./Task.ts"

/**
 * What is known about a notification.
 *
 * @category models
 * @since 0.1.0
 */
export interface Description {
  readonly params: Schema.Codec<unknown>
  readonly span: Span
}

const legacyOnly: Span = { to: "2025-11-25" }

/**
 * Every notification a server sends.
 *
 * @category notifications
 * @since 0.1.0
 */
export const received = {
  "notifications/cancelled": { params: Cancellation.Params, span: {} },
  "notifications/progress": { params: Progress.Params, span: {} },
  "notifications/message": { params: Logging.MessageParams, span: {} },
  "notifications/tools/list_changed": { params: NoParams, span: {} },
  "notifications/prompts/list_changed": { params: NoParams, span: {} },
  "notifications/resources/list_changed": { params: NoParams, span: {} },
  "notifications/resources/updated": { params: Resource.UpdatedParams, span: {} },
  "notifications/subscriptions/acknowledged": { params: Subscription.AcknowledgedParams, span: { from: "2026-07-28" } },
  "notifications/elicitation/complete": {
    params: Elicitation.CompleteParams,
    span: { from: "2025-11-25", to: "2025-11-25" }
  },
  "notifications/tasks/status": { params: Task.StatusParams, span: { from: "2025-11-25", to: "2025-11-25" } },
  "notifications/tasks": { params: Task.StatusParams, span: { from: "2026-07-28" } }
} as const satisfies { readonly [method: string]: Description }

/**
 * Every notification a client sends.
 *
 * @category notifications
 * @since 0.1.0
 */
export const sent = {
  "notifications/initialized": { params: NoParams, span: legacyOnly },
  "notifications/cancelled": { params: Cancellation.Params, span: {} },
  "notifications/progress": { params: Progress.Params, span: legacyOnly },
  "notifications/roots/list_changed": { params: NoParams, span: legacyOnly }
} as const satisfies { readonly [method: string]: Description }

/**
 * The name of a notification that a server sends.
 *
 * @category models
 * @since 0.1.0
 */
export type ReceivedMethod = keyof typeof received

/**
 * A notification of a server, read: told apart by `method`.
 *
 * @category models
 * @since 0.1.0
 */
export type Received = {
  readonly [M in ReceivedMethod]: { readonly method: M; readonly params: (typeof received)[M]["params"]["Type"] }
}[ReceivedMethod]

/**
 * The parameters of a notification that a server sends.
 *
 * @category models
 * @since 0.1.0
 */
export type ReceivedParams<M extends ReceivedMethod> = (typeof received)[M]["params"]["Type"]

/**
 * The name of a notification that a client sends.
 *
 * @category models
 * @since 0.1.0
 */
export type SentMethod = keyof typeof sent

/**
 * The parameters of a notification that a client sends.
 *
 * @category models
 * @since 0.1.0
 */
export type SentParams<M extends SentMethod> = (typeof sent)[M]["params"]["Type"]

/**
 * Whether a text names a notification that a server sends.
 *
 * @category guards
 * @since 0.1.0
 */
export const isReceived = (text: string): text is ReceivedMethod => Object.hasOwn(received, text)
