/**
 * Tells what becomes of each request on the wires of a server: the probe and the handshake, which pass no middleware, and
 * everything after them.
 */
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type { Open, Plain, Transport, Wire } from "@mcp-effect/transport/Transport"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { Happening } from "../HostEvent.ts"

/** Hears that the tool call of this fiber is on its way. */
export const Sent = Context.Reference<() => void>("@mcp-effect/host/internal/Sent", { defaultValue: () => () => {} })

/** Who hears what happens, and when it is, in milliseconds. */
export interface Observer {
  readonly happened: (happening: Happening) => void
  readonly now: () => number
}

/** Tells that a request begins; what comes back tells how it ended. */
const begins = (
  { happened, now }: Observer,
  { id, method }: JsonRpc.Request,
  caller: Fiber.Fiber<unknown, unknown>
): ((exit: Exit.Exit<JsonRpc.Response, TransportError>) => void) => {
  const began = now()
  happened(Happening.Requested({ id, method }))
  if (method === "tools/call") caller.getRef(Sent)()
  return (exit) => {
    if (Exit.isSuccess(exit)) {
      const { value } = exit
      return happened(
        "error" in value
          ? Happening.RequestFailed({ id, method, code: value.error.code, message: value.error.message })
          : Happening.Answered({ id, method, millis: now() - began })
      )
    }
    const failure = Cause.findError(exit.cause)
    if (Result.isSuccess(failure)) {
      return happened(Happening.RequestFailed({ id, method, code: undefined, message: failure.success.message }))
    }
    if (Cause.hasInterrupts(exit.cause)) happened(Happening.RequestCancelled({ id, method, millis: now() - began }))
  }
}

/** The same in plain calls. */
const plainly =
  (observer: Observer, { begin }: Plain): Plain["begin"] =>
  (request, how, caller, settle) => {
    let over = false
    const ended = begins(observer, request, caller)
    const leave = begin(request, how, caller, (exit) => {
      over = true
      ended(exit)
      settle(exit)
    })
    return () => {
      const left = leave()
      if (!over) ended(Exit.interrupt())
      over = true
      return left
    }
  }

const watched = (observer: Observer, wire: Wire): Wire => {
  const exchange: Wire["exchange"] = (request, how) =>
    Effect.withFiber((caller) => {
      const ended = begins(observer, request, caller)
      return Effect.onExit(wire.exchange(request, how), (exit) => Effect.sync(() => ended(exit)))
    })
  const { plain } = wire
  return {
    ...wire,
    exchange,
    ...(plain?.exchange === wire.exchange ? { plain: { exchange, begin: plainly(observer, plain) } } : {})
  }
}

/** The transport, whose wires are observed. */
export const observed = (transport: Transport["Service"], observer: Observer): Transport["Service"] => {
  const openWatched =
    (open: Open): Open =>
    (hear) =>
      Effect.map(open(hear), (wire) => watched(observer, wire))
  const { openHttpSse } = transport
  return {
    ...transport,
    open: openWatched(transport.open),
    ...(openHttpSse === undefined ? {} : { openHttpSse: openWatched(openHttpSse) })
  }
}
