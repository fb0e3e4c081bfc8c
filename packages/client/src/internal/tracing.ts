/**
 * A span per request, and the W3C context that lets a server go on with the trace (U-63, M-META-23). Without a tracing
 * backend nothing is made.
 *
 * Kind and names of attributes are those of OpenTelemetry's conventions for MCP. The name of the span is not: every request
 * is an `mcp.request`, whose method is an attribute. `docs/guides/observability.md` lists the other differences.
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type { Kind } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"

export interface Facts {
  readonly method: string
  readonly params: JsonObject | undefined
  readonly id: string | number
  readonly version: string
  readonly transport: Kind
  readonly server: string
}

const attributesOf = ({ id, method, params, server, transport, version }: Facts) => {
  const target = params?.["name"] ?? params?.["uri"]
  return {
    "mcp.method.name": method,
    "mcp.protocol.version": version,
    "jsonrpc.request.id": String(id),
    "network.transport": transport === "http" || transport === "sse" ? "tcp" : "pipe",
    "server.address": server,
    ...(method === "tools/call" ? { "gen_ai.tool.name": String(target), "gen_ai.operation.name": "execute_tool" } : {}),
    ...(method === "prompts/get" ? { "gen_ai.prompt.name": String(target) } : {}),
    ...(method === "resources/read" ? { "mcp.resource.uri": String(target) } : {})
  }
}

const traceparent = /^00-(?!0+-)[0-9a-f]{32}-(?!0+-)[0-9a-f]{16}-0[01]$/

/** Nothing for a span whose ids have no place in W3C's form: it was named by hand, or is none. */
const contextOf = ({ sampled, spanId, traceId }: Tracer.Span): JsonObject => {
  const written = `00-${traceId.padStart(32, "0")}-${spanId}-${sampled ? "01" : "00"}`
  return traceparent.test(written) ? { traceparent: written } : {}
}

/** Whether spans go anywhere. */
export const isTraced = (fiber: Fiber.Fiber<unknown, unknown>): boolean =>
  fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer && fiber.getRef(References.TracerEnabled)

/** Names what a fiber does next: a span around it where a tracing backend is there, and nothing otherwise. */
export const named = <A, E, R>(
  fiber: Fiber.Fiber<unknown, unknown>,
  name: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => (isTraced(fiber) ? Effect.withSpan(effect, name) : effect)

/** An operation of the client, by its name. */
export const operation = <A, E, R>(
  name: string,
  run: (fiber: Fiber.Fiber<unknown, unknown>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.withFiber((fiber) => named(fiber, name, run(fiber)))

/** Runs a request in its span; `send` gets what to add to `_meta`. */
export const traced = <A, E extends { readonly _tag: string }>(
  facts: Facts,
  send: (context: JsonObject) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.currentSpan.pipe(
    Effect.orDie,
    Effect.flatMap((span) =>
      Effect.tapError(send(contextOf(span)), (error) =>
        Effect.sync(() => span.attribute("error.type", "code" in error ? String(error.code) : error._tag))
      )
    ),
    Effect.withSpan("mcp.request", { kind: "client", attributes: attributesOf(facts) })
  )
