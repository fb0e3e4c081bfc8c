/**
 * Tells what becomes of each request on the wires of a server: the probe and the handshake, which pass no middleware, and
 * everything after them.
 */
import type { Open, Transport } from "@mcp-effect/transport/Transport"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Happening } from "../HostEvent.ts"

/** Hears that the tool call of this fiber is on its way. */
export const Sent = Context.Reference<() => void>("@mcp-effect/host/internal/Sent", { defaultValue: () => () => {} })

export const observed = (
  transport: Transport["Service"],
  emit: (happening: Happening) => Effect.Effect<void>
): Transport["Service"] => {
  const watched =
    (open: Open): Open =>
    (hear) =>
      Effect.map(open(hear), (wire) => ({
        send: wire.send,
        ended: wire.ended,
        stderr: wire.stderr,
        exchange: Effect.fnUntraced(function* (request, how) {
          const { id, method } = request
          const began = yield* Clock.currentTimeMillis
          const passed = Effect.map(Clock.currentTimeMillis, (now) => now - began)
          const failed = (code: number | undefined, message: string) =>
            emit(Happening.RequestFailed({ id, method, code, message }))
          yield* emit(Happening.Requested({ id, method }))
          if (method === "tools/call") (yield* Sent)()
          const response = yield* wire.exchange(request, how).pipe(
            Effect.tapError((error) => failed(undefined, error.message)),
            Effect.onInterrupt(() =>
              Effect.flatMap(passed, (millis) => emit(Happening.RequestCancelled({ id, method, millis })))
            )
          )
          yield* "error" in response
            ? failed(response.error.code, response.error.message)
            : emit(Happening.Answered({ id, method, millis: yield* passed }))
          return response
        })
      }))
  const { openHttpSse } = transport
  return {
    ...transport,
    open: watched(transport.open),
    ...(openHttpSse === undefined ? {} : { openHttpSse: watched(openHttpSse) })
  }
}
