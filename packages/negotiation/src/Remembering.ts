/**
 * Negotiation with a memory: connect again without asking again, and notice when the memory is wrong.
 *
 * @since 0.1.0
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Agreement } from "./Agreement.ts"
import { EraMemory } from "./EraMemory.ts"
import * as Mode from "./Mode.ts"
import { NegotiationError } from "./NegotiationError.ts"
import * as Negotiator from "./Negotiator.ts"
import { isModernCode, read } from "./Reading.ts"
import type { Reason } from "./Reason.ts"
import type { Signal } from "./Signal.ts"
import * as State from "./State.ts"
import type { Terms } from "./Terms.ts"
import * as Verdict from "./Verdict.ts"

/**
 * How to negotiate with a memory.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<R = never> extends Negotiator.Options<R> {
  /** The key of the endpoint: `EraMemory.keyOfHttp` or `keyOfStdio`. */
  readonly key: string
}

// Failures of a remembered handshake that may mean that the server has changed. Faults, rights and hooks say nothing of it.
const disproving: ReadonlySet<Reason["_tag"]> = new Set<Reason["_tag"]>([
  "LegacyHandshakeFailed",
  "LegacyVersionUnsupported",
  "TransportFallbackExhausted",
  "HandshakeTimeout",
  "ServerExited",
  "ClosedDuringNegotiation"
])

const isPlainAuto = (mode: Mode.Input | undefined): boolean =>
  mode === undefined ||
  mode === "auto" ||
  (typeof mode === "object" && mode._tag === "Auto" && (mode.prior === undefined || mode.prior === null))

/**
 * As `Negotiator.negotiate`, with the memory before and after it.
 *
 * Only mode `auto` without a `prior` of its own uses the memory; every other mode says what it wants. First connects to
 * one key share one negotiation: the others wait for the first, then begin from its verdict. A remembered legacy verdict
 * whose handshake fails is forgotten; the error then says `remembered` and is retryable, since the next try asks again.
 *
 * @category negotiating
 * @since 0.1.0
 */
export const negotiate = Effect.fnUntraced(function* <R = never>(
  options: Options<R>
): Effect.fn.Return<Agreement, NegotiationError, Negotiator.Port | R> {
  if (!isPlainAuto(options.mode)) return yield* Negotiator.negotiate(options)
  const memory = yield* EraMemory
  const { key, terms } = options
  const began = yield* Clock.currentTimeMillis
  const whole = Duration.fromInputUnsafe(options.deadline ?? (yield* Defaults.ConnectTimeout))

  const recalled = Effect.gen(function* () {
    const verdict = yield* memory.recall(key)
    if (verdict === undefined) return undefined
    // Other terms than those it was found under may have no use for it.
    const first = State.begin(terms, Mode.autoFrom(verdict), began)
    return first._tag === "Refused" ? undefined : verdict
  })
  const left = Effect.map(Clock.currentTimeMillis, (now) =>
    Duration.max(Duration.subtract(whole, Duration.millis(now - began)), Duration.zero)
  )
  const afresh = Effect.gen(function* () {
    const agreement = yield* Negotiator.negotiate({ ...options, mode: "auto", deadline: yield* left })
    const verdict = Verdict.fromAgreement(agreement, yield* Clock.currentTimeMillis)
    if (verdict !== undefined) yield* memory.remember(key, verdict)
    return agreement
  })
  const from = Effect.fnUntraced(function* (saved: Verdict.Verdict) {
    const agreement = yield* Negotiator.negotiate({
      ...options,
      mode: Mode.autoFrom(saved),
      deadline: yield* left
    }).pipe(
      Effect.catch(
        Effect.fnUntraced(function* (error) {
          if (!disproving.has(error.reason._tag)) return yield* error
          yield* memory.forget(key)
          const { attempts, elapsed, endpoint, reason, stderr, transport } = error
          const words = stderr === undefined ? {} : { stderr }
          return yield* new NegotiationError({
            attempts,
            elapsed,
            endpoint,
            reason,
            transport,
            remembered: true,
            ...words
          })
        })
      )
    )
    // What was confirmed keeps its date, or a busy program would keep an old verdict alive for ever.
    const found = Verdict.fromAgreement(agreement, saved.at)
    if (found === undefined) yield* memory.forget(key)
    else if (found.era !== saved.era) yield* memory.remember(key, { ...found, at: yield* Clock.currentTimeMillis })
    else if ("offer" in found && "offer" in saved && found.transport !== saved.transport)
      yield* memory.remember(key, found)
    return agreement
  })

  const saved = yield* recalled
  if (saved !== undefined) return yield* from(saved)
  return yield* memory.inTurn(key, (waited) =>
    waited ? Effect.flatMap(recalled, (found) => (found === undefined ? afresh : from(found))) : afresh
  )
})

/**
 * Whether the answer to an ordinary request disproves a remembered modern verdict: -32022 without a version of ours,
 * -32601, or an HTTP 400, 404 or 405 without a modern error. Forget it then, and negotiate once more.
 *
 * Ask this only of connections that began from memory: on others -32601 says that one method is missing, and no more.
 *
 * @category guards
 * @since 0.1.0
 */
export const disproves = (terms: Terms, signal: Signal): boolean => {
  const { error, modern, status } = read(terms, signal)
  if (error?.code === -32022) return modern === undefined
  if (error !== undefined) return error.code === -32601 || (status !== undefined && !isModernCode(error.code))
  return status === 400 || status === 404 || status === 405
}
