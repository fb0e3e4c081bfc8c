/**
 * The log level of a connection, in the way of the era: set once per session (legacy), or asked for with every request
 * (modern).
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type * as Logging from "@mcp-effect/protocol/Logging"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { McpClientError } from "../McpClientError.ts"
import type { Connection } from "./connection.ts"

export interface LogLevel {
  readonly set: (level: Logging.Level) => Effect.Effect<void, McpClientError>
  /** What later requests ask for. A legacy session leaves it out when it writes. */
  readonly current: () => Logging.Level | undefined
}

const method = "logging/setLevel"

export const make = Effect.fnUntraced(function* (
  connection: Connection
): Effect.fn.Return<LogLevel, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let level: Logging.Level | undefined
  let told: unknown

  const tell = Effect.fnUntraced(function* (wanted: Logging.Level) {
    const limit = Duration.toMillis(yield* Defaults.RequestTimeout)
    const { revision } = connection.session()
    if (revision.supports(method)) {
      yield* connection.request(method, { level: wanted }, { limit: { idle: limit, total: limit }, repeatable: true })
    }
    told = connection.session().wire
  })

  /** A new session knows nothing of the level. It may refuse it; there is nobody to tell. */
  const again = SubscriptionRef.changes(connection.state).pipe(
    Stream.filter(({ _tag }) => _tag === "Connected"),
    Stream.runForEach(() =>
      level === undefined || told === connection.session().wire ? Effect.void : Effect.ignore(tell(level))
    )
  )

  return {
    current: () => level,
    set: Effect.fnUntraced(function* (wanted) {
      yield* tell(wanted)
      const first = level === undefined
      level = wanted
      if (first) yield* Effect.forkIn(again, scope)
    })
  }
})
