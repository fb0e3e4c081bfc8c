/**
 * Answers negotiation's questions from a transport: opens wires, asks on the current one, and bounds the waiting.
 *
 * The probe's exchange belongs to the connection's scope and is silent when interrupted, so the end of patience bounds
 * only the wait: a late answer is kept, and nothing is written before `initialize`.
 */
import type { Answer, Port } from "@mcp-effect/negotiation/Negotiator"
import { Signal } from "@mcp-effect/negotiation/Signal"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as Version from "@mcp-effect/protocol/Version"
import type { Incoming, Open, Transport, Wire } from "@mcp-effect/transport/Transport"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Heard from "./hear.ts"
import type { Current } from "./inbound.ts"

export interface Opening {
  readonly port: Port["Service"]
  /** The wire in use and the revision last spoken on it; nothing before the first question. */
  readonly current: () => Current | undefined
  /** The wire to go on with in the agreed version; opened now when nothing had to be asked. */
  readonly settle: (version: string) => Effect.Effect<Current, TransportError>
}

interface Options {
  readonly transport: Transport["Service"]
  readonly sender: Revision.Sender
  readonly nextId: () => number
  readonly hear: (message: Incoming) => void
  readonly scope: Scope.Scope
}

export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Opening> {
  const { transport, scope, sender, nextId } = options
  const patience = {
    "server/discover": yield* probePatience(transport.kind),
    initialize: yield* Defaults.HandshakeTimeout
  }

  // A wire outlives the negotiation that opens it, so it is not to know its services and spans.
  const context = yield* Effect.context()
  const at: At = { wire: undefined, revision: Revision.v2025_11_25 }
  let wireScope: Scope.Closeable | undefined
  let probe: Signal | undefined

  /** Opens a wire in place of the one before, which is closed first. */
  const open = Effect.fnUntraced(function* (how: Open = transport.open) {
    if (wireScope !== undefined) yield* Scope.close(wireScope, Exit.void)
    at.wire = undefined
    probe = undefined
    wireScope = yield* Scope.fork(scope)
    const wire = yield* Effect.updateContext(
      Scope.provide(how(options.hear), wireScope),
      (_: Context.Context<never>) => context
    )
    at.wire = wire
    return wire
  })

  /** The same, as negotiation hears it. */
  const opened = (how?: Open) => Effect.match(open(how), { onSuccess: () => undefined, onFailure: Heard.failure })

  /** Opens the first wire. Patience begins when it is open: a slow start is no silence. */
  const ready = Effect.suspend(() => (at.wire === undefined ? opened() : Effect.succeed(undefined)))

  const ask = (method: keyof typeof patience, version: string) =>
    Effect.gen(function* () {
      const asked = at.wire ?? (yield* open())
      const revision = revisionOf(version)
      at.revision = revision
      const params = Version.isLegacy(version) ? Revision.hello(version, sender) : revision.stamp(sender)(undefined)
      const response = yield* asked.exchange(
        { jsonrpc: "2.0", id: nextId(), method, ...(params === undefined ? {} : { params }) },
        { revision, onInterrupt: "silent" }
      )
      return Heard.answer(response)
    }).pipe(Effect.catch((error) => Effect.succeed(Heard.failure(error))))

  return {
    current: currentOf(at),
    settle: Effect.fnUntraced(function* (version) {
      const agreed = at.wire ?? (yield* open())
      at.revision = revisionOf(version)
      return { wire: agreed, revision: at.revision }
    }),
    port: {
      discover: Effect.fnUntraced(function* (version) {
        const unopened = yield* ready
        if (unopened !== undefined) return unopened
        const answered = yield* Deferred.make<Signal>()
        yield* ask("server/discover", version).pipe(
          Effect.tap((signal) => Effect.sync(() => (probe = signal))),
          Effect.flatMap((signal) => Deferred.succeed(answered, signal)),
          Effect.forkIn(scope, { startImmediately: true })
        )
        return yield* Effect.timeoutOrElse(Deferred.await(answered), patient(patience["server/discover"]))
      }),
      initialize: Effect.fnUntraced(function* (version): Effect.fn.Return<Answer> {
        const unopened = yield* ready
        if (unopened !== undefined) return { signal: unopened }
        const signal = yield* Effect.timeoutOrElse(ask("initialize", version), patient(patience.initialize))
        return { signal, late: probe?._tag === "Answered" ? probe.result : undefined }
      }),
      stderr: () => at.wire?.stderr?.() ?? "",
      open: (how) => opened(how === "httpSse" ? transport.openHttpSse : transport.open)
    }
  }
})

interface At {
  wire: Wire | undefined
  revision: Revision.Revision
}

/** Lives as long as the connection, so it holds nothing else of the negotiation. */
const currentOf =
  (at: At): Opening["current"] =>
  () =>
    at.wire === undefined ? undefined : { wire: at.wire, revision: at.revision }

const patient = (duration: Duration.Duration) => ({ duration, orElse: () => Effect.succeed<Signal>(Signal.Silent()) })

/** Negotiation is only ever given versions of this library, so it can agree on no other. */
const revisionOf = (version: string): Revision.Revision =>
  Version.isModern(version) || Version.isLegacy(version) ? Revision.of(version) : Revision.v2026_07_28

/** A pipe that stays silent is an old server; a host that stays silent is down, so HTTP waits like any request. */
export const probePatience = Effect.fnUntraced(function* (kind: Transport["Service"]["kind"]) {
  if (kind === "http" || kind === "sse") return yield* Defaults.RequestTimeout
  const shorter = Duration.min(yield* Defaults.ProbeTimeout, yield* Defaults.StdioTimeout)
  return Duration.sum(shorter, yield* Defaults.StartupGrace)
})
