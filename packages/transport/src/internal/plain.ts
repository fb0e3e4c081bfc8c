/**
 * The two forms of an exchange, made of one: in plain calls, and as an effect.
 */
import * as Effect from "effect/Effect"
import type { Plain, Wire } from "../Transport.ts"

export const exchanges = (begin: Plain["begin"]): Pick<Wire, "exchange" | "plain"> => {
  const exchange: Wire["exchange"] = (request, how) =>
    Effect.withFiber((caller) =>
      Effect.callback((resume) => {
        const leave = begin(request, how, caller, resume)
        return Effect.suspend(leave)
      })
    )
  return { exchange, plain: { exchange, begin } }
}
