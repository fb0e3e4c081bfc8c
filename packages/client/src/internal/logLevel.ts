/**
 * The log level of a connection, in the way of the era: set once per session (legacy), or asked for with every request
 * (modern).
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as Logging from "@mcp-effect/protocol/Logging"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { InvalidOption, McpClientError } from "../McpClientError.ts"
import type { Connection } from "./connection.ts"

export interface LogLevel {
  readonly set: (level: Logging.Level) => Effect.Effect<void, McpClientError>
  /** What later requests ask for. A legacy session leaves it out when it writes. */
  readonly current: () => Logging.Level | undefined
}

const method = "logging/setLevel"

/** The level, and the wire that was told it last. */
interface Told {
  level: Logging.Level
  wire: unknown
}

export const make = (server: string, connection: Connection): Effect.Effect<LogLevel, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let told: Told | undefined
    return {
      current: () => told?.level,
      set: (level) => {
        if (!Logging.levels.includes(level)) {
          const reason = InvalidOption.of("level", level, `one of ${Logging.levels.join(", ")}`)
          return Effect.fail(new McpClientError({ server, reason }))
        }
        return Effect.flatMap(tell(connection, level), (wire) => {
          const first = told === undefined
          told ??= { level, wire }
          told.level = level
          told.wire = wire
          return first ? Effect.asVoid(Effect.forkIn(again(connection, told), scope)) : Effect.void
        })
      }
    }
  })

const tell = Effect.fnUntraced(function* (connection: Connection, level: Logging.Level) {
  const limit = Duration.toMillis(yield* Defaults.RequestTimeout)
  const { revision } = connection.session()
  if (revision.supports(method)) {
    yield* connection.request(method, { level }, { limit: { idle: limit, total: limit }, repeatable: true })
  }
  return connection.session().wire
})

/** A new session knows nothing of the level. It may refuse it; there is nobody to tell. */
const again = (connection: Connection, told: Told) =>
  SubscriptionRef.changes(connection.state).pipe(
    Stream.filter(({ _tag }) => _tag === "Connected"),
    Stream.runForEach(() =>
      told.wire === connection.session().wire
        ? Effect.void
        : Effect.ignore(
            Effect.map(tell(connection, told.level), (wire) => {
              told.wire = wire
            })
          )
    )
  )
