/**
 * One open `subscriptions/listen` (M-SUB): asked for, acknowledged, heard, and ended by either side.
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Meta from "@mcp-effect/protocol/Meta"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { McpClientError, RequestTimedOut, SubscriptionEnded } from "../McpClientError.ts"
import type { Connection } from "./connection.ts"
import * as Topic from "./topic.ts"

export const method = "subscriptions/listen"

export interface Subscription {
  /** What the server said that it will report. */
  readonly granted: Topic.Topics
  /** Why it is over, once it is. */
  readonly over: () => McpClientError | undefined
  /** Takes a `notifications/cancelled` of the server, which may mean this subscription (T-31). */
  readonly cancelled: (requestId: unknown) => void
  readonly close: Effect.Effect<void>
}

export interface Options {
  readonly connection: Connection
  readonly server: string
  readonly scope: Scope.Scope
  readonly asked: Topic.Topics
  /** Hears what the subscription reports. */
  readonly report: (notification: JsonRpc.Notification) => void
  /** Is told when it is over. */
  readonly ended: () => void
}

const forever = { idle: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY }

/** The id a notification says it belongs to; the client learns the id of its request from it. */
const idOf = ({ params }: JsonRpc.Notification): string | undefined => {
  const meta = params?.["_meta"]
  return typeof meta === "object" && meta !== null && Meta.subscriptionId in meta
    ? asText(meta[Meta.subscriptionId])
    : undefined
}

/** Ids as text: a number that comes back as text is the same id (T-30). */
const asText = (id: unknown): string | undefined =>
  typeof id === "string" || typeof id === "number" ? String(id) : undefined

/**
 * Opens a subscription and waits until it is acknowledged, no longer than a request may take (M-SUB-23). From then on
 * it lasts as long as both sides want.
 */
export const open = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Subscription, McpClientError> {
  const { asked, connection, ended, report, scope, server } = options
  const limit = yield* Defaults.RequestTimeout
  const acknowledged = Deferred.makeUnsafe<Topic.Topics, McpClientError>()
  let id: string | undefined
  let over: McpClientError | undefined

  const finish = (error: McpClientError) => {
    if (over !== undefined) return
    over = error
    Deferred.doneUnsafe(acknowledged, Exit.fail(error))
    ended()
  }
  const endedBy = (because: string) =>
    new McpClientError({ server, reason: new SubscriptionEnded({ method, because }) })

  const hear = (notification: JsonRpc.Notification) => {
    if (notification.method !== "notifications/subscriptions/acknowledged") return report(notification)
    id = idOf(notification)
    const heard = connection.session().revision.hear(notification.method, notification.params)
    if (Result.isSuccess(heard) && heard.success.method === "notifications/subscriptions/acknowledged") {
      Deferred.doneUnsafe(acknowledged, Exit.succeed(Topic.ofWire(heard.success.params.notifications)))
    }
  }

  const listening = yield* connection
    .request(
      method,
      { notifications: Topic.toWire(asked) },
      { limit: forever, repeatable: false, onNotification: hear }
    )
    .pipe(
      Effect.matchEffect({
        onFailure: (error) => Effect.sync(() => finish(error)),
        onSuccess: () => Effect.sync(() => finish(endedBy("it said that it is done")))
      }),
      Effect.forkIn(scope, { startImmediately: true })
    )
  const close = Fiber.interrupt(listening)

  const granted = yield* Deferred.await(acknowledged).pipe(
    Effect.timeoutOrElse({
      duration: limit,
      orElse: () =>
        Effect.fail(
          new McpClientError({ server, reason: new RequestTimedOut({ method, limit: Duration.toMillis(limit) }) })
        )
    }),
    Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : close))
  )
  return {
    granted,
    over: () => over,
    cancelled: (requestId) => {
      if (id === undefined || asText(requestId) !== id) return
      finish(endedBy("it cancelled it"))
      listening.interruptUnsafe()
    },
    close
  }
})
