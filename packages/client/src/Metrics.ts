/**
 * Counts and times requests, in the histogram that OpenTelemetry's conventions for MCP name. A middleware: a client without
 * it pays nothing.
 *
 * Every attribute has few values: the server cannot make new ones up.
 *
 * @since 0.1.0
 */
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import type { Middleware } from "./Middleware.ts"

/**
 * How long requests took, in seconds, from the request to the end of its answer. Its count is the number of requests.
 *
 * Attributes: `mcp.method.name`; `gen_ai.operation.name` for tool calls; and for what went wrong `error.type`: the name of
 * the error code, `tool_error` for a tool that says it failed, the way the wire failed, or `interrupted`, which a timeout
 * is too.
 *
 * @category metrics
 * @since 0.1.0
 */
export const duration = Metric.histogram("mcp.client.operation.duration", {
  description: "How long MCP requests took, in seconds",
  boundaries: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
})

/**
 * Records `duration` of every request.
 *
 * @example
 * ```ts
 * import { McpClient, Metrics } from "@mcp-effect/client"
 *
 * export const client = McpClient.connect("https://example.com/mcp", { middleware: [Metrics.middleware] })
 * ```
 *
 * @category middleware
 * @since 0.1.0
 */
export const middleware: Middleware = (request, next) =>
  Effect.flatMap(Clock.currentTimeMillis, (began) =>
    Effect.onExit(next(request), (exit) =>
      Effect.flatMap(Clock.currentTimeMillis, (ended) =>
        Metric.update(Metric.withAttributes(duration, attributesOf(request.method, exit)), (ended - began) / 1000)
      )
    )
  )

const attributesOf = (method: string, exit: Exit.Exit<JsonRpc.Response, TransportError>): Record<string, string> => {
  const error = Exit.isSuccess(exit) ? errorIn(exit.value) : failureIn(exit)
  return {
    "mcp.method.name": method,
    ...(method === "tools/call" ? { "gen_ai.operation.name": "execute_tool" } : {}),
    ...(error === undefined ? {} : { "error.type": error })
  }
}

const errorIn = (response: JsonRpc.Response): string | undefined => {
  if ("error" in response) return ErrorCode.nameOf(response.error.code) ?? "other"
  return response.result["isError"] === true ? "tool_error" : undefined
}

const failureIn = ({ cause }: Exit.Failure<JsonRpc.Response, TransportError>): string => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Fail") return reason.error.reason._tag
    if (reason._tag === "Die") return "defect"
  }
  return "interrupted"
}
