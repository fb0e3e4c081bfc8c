/**
 * What a server logs over the protocol: `McpClient.logs`, and how it becomes a line of Effect's logger.
 *
 * Log messages are the server's words about its own work. They are text from outside: show them, but let nothing depend
 * on them. Progress and changes have streams of their own.
 *
 * @since 0.1.0
 */
import type * as Logging from "@mcp-effect/protocol/Logging"
import * as Effect from "effect/Effect"
import type * as LogLevel from "effect/LogLevel"

/**
 * One message of a server's log.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerLog {
  /** How serious it is. A level that the protocol does not know reads as `info` (L-LOG-3). */
  readonly level: Logging.Level
  /** The part of the server that speaks, if it says so. */
  readonly logger: string | undefined
  /** What it says: any JSON. */
  readonly data: unknown
  /**
   * The request that the server was at work on. Known over HTTP, where it comes with the answer; over a pipe log
   * messages name no request (M-LOG-11).
   */
  readonly request: LoggedRequest | undefined
}

/**
 * A request that a log message belongs to.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoggedRequest {
  readonly method: string
  /** The tool, prompt or resource it asks for. */
  readonly target: string | undefined
}

const severities: { readonly [Level in Logging.Level]: LogLevel.Severity } = {
  debug: "Debug",
  info: "Info",
  notice: "Info",
  warning: "Warn",
  error: "Error",
  critical: "Fatal",
  alert: "Fatal",
  emergency: "Fatal"
}

/**
 * The level of Effect's logger for a level of the protocol, which has more of them: `notice` is `Info`, and everything
 * above `error` is `Fatal`.
 *
 * @category accessors
 * @since 0.1.0
 */
export const severityOf = (level: Logging.Level): LogLevel.Severity => severities[level]

/**
 * Writes a message to Effect's logger, annotated with the server, its own level, and what else is known. The option
 * `forwardLogs` of `connect` does this with every message.
 *
 * @example
 * ```ts
 * import { type McpClient, ServerLog } from "@mcp-effect/client"
 * import { Stream } from "effect"
 *
 * export const onlyErrors = (client: McpClient.Client) =>
 *   client.logs.pipe(
 *     Stream.filter(({ level }) => ServerLog.severityOf(level) === "Error"),
 *     Stream.runForEach((log) => ServerLog.toLogger(log, client.endpoint))
 *   )
 * ```
 *
 * @category logging
 * @since 0.1.0
 */
export const toLogger = ({ data, level, logger, request }: ServerLog, server: string): Effect.Effect<void> =>
  Effect.logWithLevel(severities[level])(data).pipe(
    Effect.annotateLogs({
      server,
      "mcp.level": level,
      ...(logger === undefined ? {} : { "mcp.logger": logger }),
      ...(request === undefined ? {} : { "mcp.method": request.method }),
      ...(request?.target === undefined ? {} : { "mcp.target": request.target })
    })
  )
