/**
 * Drives the machine over a port: asks what its state asks, hands it what was heard, until it is settled.
 *
 * The port is two requests and one verb for opening; whoever owns the wire answers them, with its own patience. What is
 * kept here is what no wire can: the evidence, the one deadline over everything, the program's hooks, and retry.
 *
 * @since 0.1.0
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Discover from "@mcp-effect/protocol/Discover"
import type { DiscoverResult } from "@mcp-effect/protocol/Discover"
import { lastWords } from "@mcp-effect/protocol/Excerpt"
import type { InitializeResult } from "@mcp-effect/protocol/Initialize"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import type { Agreement, Outcome } from "./Agreement.ts"
import { heardOf, type Step, type Strength } from "./Evidence.ts"
import type { Input } from "./Mode.ts"
import * as Negotiation from "./Negotiation.ts"
import { NegotiationError } from "./NegotiationError.ts"
import { ProbeTimeout } from "./ProbeReason.ts"
import { HandshakeTimeout, type Reason } from "./Reason.ts"
import { Signal } from "./Signal.ts"
import * as State from "./State.ts"
import type { Terms } from "./Terms.ts"

/**
 * The answer to `initialize`, and the answer to an earlier probe if it came meanwhile.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer {
  readonly signal: Signal
  /** The result of the abandoned probe (H14). An error that comes late says nothing and is left out. */
  readonly late?: JsonObject | undefined
}

/**
 * What a negotiation may ask. Nothing a wire can do is an error here: it is a `Signal`. Whoever answers brings the
 * patience (the probe limit, the handshake limit) and says `Silent` when it ends; an abandoned probe is not cancelled,
 * since an older server would hear a notification before `initialize`.
 *
 * @category services
 * @since 0.1.0
 */
export class Port extends Context.Service<
  Port,
  {
    /** Asks `server/discover` as this version. */
    readonly discover: (version: string) => Effect.Effect<Signal>
    /** Sends `initialize` with this version, exactly as a plain older client would. */
    readonly initialize: (version: string) => Effect.Effect<Answer>
    /**
     * Opens a fresh wire (`again`) or HTTP+SSE at the same address (`httpSse`); from then on the port asks over that one.
     * `undefined` says that it is open.
     */
    readonly open: (how: "again" | "httpSse") => Effect.Effect<Signal | undefined>
    /** The end of what the server's process has written to its standard error; for a failure by silence. */
    readonly stderr?: () => string
  }
>()("@mcp-effect/negotiation/Port") {}

/**
 * A look at what the server says of itself. Failing refuses the server, with the failure's message as the reason (U-08).
 *
 * @category models
 * @since 0.1.0
 */
export type Hook<A, R = never> = (result: A) => Effect.Effect<void, { readonly message: string }, R>

/**
 * How to negotiate.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<R = never> {
  readonly terms: Terms
  /** Names the server in errors and diagnostics. Must hold no secrets. */
  readonly endpoint: string
  /** `auto`, unless given. */
  readonly mode?: Input
  /** Sees the DiscoverResult of every modern agreement, also one from memory. Never runs in the legacy era. */
  readonly inspectDiscover?: Hook<DiscoverResult, R>
  /** Sees the InitializeResult of every legacy agreement, before the handshake is completed. */
  readonly inspectInitialize?: Hook<InitializeResult, R>
  /** Over everything; `Defaults.ConnectTimeout` (60 seconds), unless given. Its end is a failure, never a verdict. */
  readonly deadline?: Duration.Input
}

/**
 * Negotiations by `outcome`: the agreed era, or the tag of the reason.
 *
 * @category metrics
 * @since 0.1.0
 */
export const outcomes = Metric.counter("mcp_negotiations", {
  description: "Negotiations by outcome",
  incremental: true
})

/**
 * Fallbacks to the handshake by the `rule` that decided them.
 *
 * @category metrics
 * @since 0.1.0
 */
export const fallbacks = Metric.counter("mcp_negotiation_fallbacks", {
  description: "Fallbacks to the handshake by rule",
  incremental: true
})

const counted = (metric: Metric.Counter<number>, attributes: Record<string, string>) =>
  Metric.update(Metric.withAttributes(metric, attributes), 1)

const inspect = <R>(options: Options<R>, outcome: Outcome): Effect.Effect<Signal, never, R> => {
  const verdict =
    outcome.discover !== undefined
      ? options.inspectDiscover?.(outcome.discover)
      : outcome.initialize !== undefined
        ? options.inspectInitialize?.(outcome.initialize)
        : undefined
  return verdict === undefined
    ? Effect.succeed(Signal.Accepted())
    : Effect.match(verdict, {
        onSuccess: () => Signal.Accepted(),
        onFailure: ({ message }) => Signal.Rejected({ because: message })
      })
}

const agreementOf = (outcome: Outcome, evidence: ReadonlyArray<Step>): Agreement => {
  const told = outcome.discover ?? outcome.initialize
  return {
    ...outcome,
    identity:
      outcome.discover !== undefined && outcome.raw !== undefined
        ? Discover.serverInfo(outcome.raw)
        : outcome.initialize?.serverInfo,
    capabilities: told?.capabilities,
    instructions: told?.instructions,
    evidence,
    roundTrips: evidence.filter(({ asked }) => asked !== "inspect" && asked !== "open again").length
  }
}

// Time that runs out is no silence: silence on a pipe would be a verdict (P16).
const outOfTime = (state: State.State): Reason => {
  switch (state._tag) {
    case "Discovering":
    case "Recovering":
      return new ProbeTimeout({ asked: "discover" })
    case "Inspecting":
      return state.outcome.discover === undefined ? new HandshakeTimeout({}) : new ProbeTimeout({ asked: "discover" })
    case "Initializing":
    case "Opening":
      return new HandshakeTimeout(state.probe === undefined ? {} : { probe: state.probe })
    case "Settled":
    case "Refused":
      return new HandshakeTimeout({})
  }
}

const ask = <R>(port: Port["Service"], options: Options<R>, state: State.State): Effect.Effect<Answer, never, R> => {
  switch (state._tag) {
    case "Discovering":
    case "Recovering":
      return port.discover(state.version).pipe(
        Effect.map((signal) => ({ signal })),
        Effect.withSpan("mcp.probe", { attributes: { "mcp.protocol.version": state.version } })
      )
    case "Initializing":
      return port
        .initialize(state.offer)
        .pipe(Effect.withSpan("mcp.initialize", { attributes: { "mcp.protocol.version": state.offer } }))
    case "Opening":
      return Effect.map(port.open(state.how), (signal) => ({ signal: signal ?? Signal.Opened() }))
    case "Inspecting":
      return Effect.map(inspect(options, state.outcome), (signal) => ({ signal }))
    case "Settled":
    case "Refused":
      return Effect.succeed({ signal: Signal.Accepted() })
  }
}

const report = (endpoint: string, notice: Negotiation.Notice) =>
  Effect.flatMap(Diagnostics, (diagnose) =>
    diagnose(
      notice._tag === "LateDiscover"
        ? Diagnostic.LateDiscover({ server: endpoint })
        : Diagnostic.ModernLookingFallback({ server: endpoint, rule: notice.rule, code: notice.code })
    )
  )

/**
 * Finds out which era the server speaks, and agrees on a version with it.
 *
 * Succeeds with the `Agreement`; in the legacy era the caller then sends `notifications/initialized`. Fails with a
 * `NegotiationError` whose `reason` says how, and whose `attempts` say what was asked and heard. A mode or a saved verdict
 * that cannot be used fails before the port is asked anything.
 *
 * @example
 * ```ts
 * import * as Negotiator from "@mcp-effect/negotiation/Negotiator"
 * import * as Terms from "@mcp-effect/negotiation/Terms"
 *
 * const agreed = Negotiator.negotiate({ terms: Terms.make({ kind: "stdio" }), endpoint: "my-server" })
 * // Effect<Agreement, NegotiationError, Port>
 * ```
 *
 * @category negotiating
 * @since 0.1.0
 */
export const negotiate = Effect.fn("mcp.connect")(function* <R = never>(
  options: Options<R>
): Effect.fn.Return<Agreement, NegotiationError, Port | R> {
  const port = yield* Port
  const { terms, endpoint } = options
  const next = Negotiation.step(terms)
  const began = yield* Clock.currentTimeMillis
  const evidence: Array<Step> = []
  let state = State.begin(terms, options.mode ?? "auto", began)
  let since = began

  const note = (
    from: State.State,
    signal: Signal,
    now: number,
    move: Pick<Step, "rule" | "decided" | "because"> & { readonly strength?: Strength | undefined }
  ) => {
    const question = State.questionOf(from)
    // Consent that was given is no step worth telling: a hook that is not there always gives it.
    if (question === undefined || (question.asked === "inspect" && signal._tag === "Accepted")) return
    evidence.push({
      asked: question.asked,
      ...(question.version === undefined ? {} : { version: question.version }),
      heard: heardOf(signal),
      millis: now - since,
      rule: move.rule,
      decided: move.decided,
      because: move.because,
      ...(move.strength === undefined ? {} : { strength: move.strength })
    })
  }
  const settle = Effect.gen(function* () {
    while (State.questionOf(state) !== undefined) {
      const from = state
      since = yield* Clock.currentTimeMillis
      const { signal, late } = yield* ask(port, options, from)
      const move = next(from, signal, late)
      state = move.state
      note(from, signal, yield* Clock.currentTimeMillis, move)
      if (move.notice !== undefined) yield* report(endpoint, move.notice)
      if (from._tag === "Discovering" && (state._tag === "Initializing" || state._tag === "Opening"))
        yield* counted(fallbacks, { rule: move.rule })
    }
  })
  const tooLate = Effect.gen(function* () {
    const reason = outOfTime(state)
    note(state, Signal.Silent(), yield* Clock.currentTimeMillis, {
      rule: "deadline",
      decided: `FAIL(${reason._tag})`,
      because: "the whole connect ran out of time"
    })
    state = State.State.Refused({ reason })
  })
  yield* settle.pipe(
    Effect.timeoutOrElse({ duration: options.deadline ?? (yield* Defaults.ConnectTimeout), orElse: () => tooLate })
  )
  if (state._tag === "Settled") {
    yield* counted(outcomes, { outcome: state.outcome.era })
    return agreementOf(state.outcome, evidence)
  }
  const reason = state._tag === "Refused" ? state.reason : outOfTime(state)
  yield* counted(outcomes, { outcome: reason._tag })
  // A process that ended tells its last words in the reason; one that lives and keeps silent has them here.
  const stderr = evidence.at(-1)?.heard.signal === "Silent" ? lastWords(port.stderr?.() ?? "") : ""
  return yield* new NegotiationError({
    endpoint,
    transport: terms.kind,
    elapsed: (yield* Clock.currentTimeMillis) - began,
    remembered: false,
    attempts: evidence,
    reason,
    ...(stderr === "" ? {} : { stderr })
  })
})

/**
 * The longest `Retry-After` that is waited for: 5 minutes. A server that asks for more is not tried again.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxRetryAfter = Context.Reference<Duration.Duration>("@mcp-effect/negotiation/MaxRetryAfter", {
  defaultValue: () => Duration.minutes(5)
})

/**
 * What `retrying` looks at. `NegotiationError` is one, and an error around it can be.
 *
 * @category models
 * @since 0.1.0
 */
export interface Retryable {
  readonly isRetryable: boolean
  readonly retryAfter: Duration.Duration | undefined
}

/**
 * Tries again what `isRetryable`, as the schedule says, and never before a `Retry-After` has passed. Put it around all that
 * opens a wire and negotiates over it, since a second try wants a fresh one.
 *
 * @example
 * ```ts
 * import * as Negotiator from "@mcp-effect/negotiation/Negotiator"
 * import * as Schedule from "effect/Schedule"
 *
 * const patiently = Negotiator.retrying(Schedule.exponential("250 millis").pipe(Schedule.upTo({ times: 3 })))
 * ```
 *
 * @category retrying
 * @since 0.1.0
 */
export const retrying =
  <Output, R2 = never>(schedule: Schedule.Schedule<Output, Retryable, never, R2>) =>
  <A, E extends Retryable, R>(connect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | R2> =>
    Effect.flatMap(MaxRetryAfter, (longest) =>
      Effect.retry(connect, {
        schedule: Schedule.modifyDelay(schedule, ({ duration, input }) =>
          Effect.succeed(Duration.max(duration, input.retryAfter ?? Duration.zero))
        ),
        while: (error) => error.isRetryable && Duration.isLessThanOrEqualTo(error.retryAfter ?? Duration.zero, longest)
      })
    )
