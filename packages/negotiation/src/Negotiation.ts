/**
 * The pure machine: which era does this server speak?
 *
 * A state is the next thing to do, so there is no second list of commands. `begin` gives the first state of a mode, `step`
 * takes what was heard and gives the next one together with the row that spoke. It knows no wire, no clock and no
 * patience; `Negotiator` drives it over a port, and anything else may.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { Channel, Outcome } from "./Agreement.ts"
import * as EraRules from "./EraRules.ts"
import { type Asked, type Heard, heardOf, type Strength } from "./Evidence.ts"
import * as HandshakeRules from "./HandshakeRules.ts"
import { decodeDiscover } from "./internal/decoding.ts"
import { type Facts, probeReason, reasonOf } from "./internal/reasons.ts"
import type { ProbeHalf } from "./internal/wording.ts"
import * as Mode from "./Mode.ts"
import { ModernUnavailable, PinnedVersionUnavailable, type Reason } from "./NegotiationError.ts"
import { isModernCode, type ProbeReading, read, type Reading } from "./Reading.ts"
import { DiscoverRejected, InitializeRejected, LegacyHandshakeFailed, PriorInvalid } from "./Reason.ts"
import { type Fail, print, type Rule, type Ruling } from "./Rule.ts"
import type { Signal } from "./Signal.ts"
import * as Terms from "./Terms.ts"
import * as Verdict from "./Verdict.ts"

/**
 * Where a negotiation stands: named for what it does next.
 *
 * @category models
 * @since 0.1.0
 */
export type State = Data.TaggedEnum<{
  /** Ask `server/discover`. */
  Discovering: {
    readonly version: string
    /** `corrected` is the second and last one (P6). */
    readonly attempt: "first" | "corrected"
    /** Whether anything but a modern version ends it: always in mode `modern`, any but this one when a pin is verified. */
    readonly purpose: "auto" | "modern" | "verify"
  }
  /** Ask `server/discover` once more, after a handshake that showed the server to be modern (H4). */
  Recovering: {
    readonly version: string
    readonly offered: string
    readonly channel: Channel
    readonly probe: ProbeHalf | undefined
    readonly handshake: Heard
  }
  /** Send `initialize`. */
  Initializing: {
    readonly offer: string
    readonly channel: Channel
    readonly modernOpen: boolean
    /** Whether this very wire was probed. */
    readonly probed: boolean
    /** Whether a fresh wire is still to be had. */
    readonly reopen: boolean
    /** Whether HTTP+SSE is still to be tried. */
    readonly sse: boolean
    /** The first half, if a probe led here. */
    readonly probe: ProbeHalf | undefined
    /** What the verdict will rest on. */
    readonly basis: Basis
  }
  /** Open another channel, then go on. */
  Opening: {
    readonly how: "again" | "httpSse"
    readonly next: State
    readonly offered: string
    readonly probe: ProbeHalf | undefined
    readonly handshake: Heard | undefined
  }
  /** Ask the program whether it wants this server (P32, H13). */
  Inspecting: { readonly outcome: Outcome }
  /** Done. */
  Settled: { readonly outcome: Outcome }
  /** Failed. */
  Refused: { readonly reason: Reason }
}>

/**
 * What a verdict rests on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Basis {
  readonly rule: string
  readonly strength: Strength
  readonly lasting: boolean
}

/**
 * Constructors and matchers of `State`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const State = Data.taggedEnum<State>()

/**
 * Something a program should hear about although nothing failed.
 *
 * @category models
 * @since 0.1.0
 */
export type Notice =
  | { readonly _tag: "ModernLookingFallback"; readonly rule: string; readonly code: number }
  | { readonly _tag: "LateDiscover" }

/**
 * One step: the next state, and the row that led to it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Move {
  readonly state: State
  readonly rule: string
  readonly decided: string
  readonly because: string
  readonly strength: Strength | undefined
  readonly notice: Notice | undefined
}

/**
 * What a state asks, and of which version. Final states ask nothing.
 *
 * @category accessors
 * @since 0.1.0
 */
export const questionOf = (state: State): { readonly asked: Asked; readonly version: string | undefined } | undefined => {
  switch (state._tag) {
    case "Discovering":
    case "Recovering":
      return { asked: "discover", version: state.version }
    case "Initializing":
      return { asked: "initialize", version: state.offer }
    case "Opening":
      return { asked: state.how === "again" ? "open again" : "open httpSse", version: undefined }
    case "Inspecting":
      return { asked: "inspect", version: state.outcome.version }
    case "Settled":
    case "Refused":
      return undefined
  }
}

const discovered = (version: string, rule: string, raw: JsonObject, channel: Channel): Outcome => ({
  era: "modern",
  version,
  discover: decodeDiscover(raw),
  initialize: undefined,
  offered: undefined,
  rule,
  strength: "definitive",
  lasting: true,
  channel,
  raw
})

const fromMemory = (terms: Terms.Terms, saved: typeof Verdict.Modern.Type, wanted: ReadonlyArray<string>): State => {
  const version = Terms.best(wanted, decodeDiscover(saved.discover)?.supportedVersions ?? [])
  return version === undefined
    ? State.Refused({ reason: new PriorInvalid({ because: `its DiscoverResult does not name ${wanted.join(" or ")}` }) })
    : State.Inspecting({ outcome: discovered(version, "prior", saved.discover, "first") })
}

const handshake = (
  terms: Terms.Terms,
  offer: string,
  basis: Basis,
  rest: Partial<Omit<Data.TaggedEnum.Args<State, "Initializing">, "offer" | "basis">> = {}
) =>
  State.Initializing({
    offer,
    basis,
    channel: "first",
    modernOpen: terms.kind !== "sse" && terms.modern.length > 0,
    probed: false,
    reopen: terms.reopenable,
    sse: terms.sse && terms.kind === "http",
    probe: undefined,
    ...rest
  })

const direct: Basis = { rule: "legacy", strength: "conventional", lasting: false }

const automatic = (terms: Terms.Terms, prior: Verdict.Verdict | undefined): State => {
  const [newest] = terms.legacy
  if (prior !== undefined && "discover" in prior)
    return terms.kind === "sse"
      ? State.Refused({ reason: new PriorInvalid({ because: "it says modern, and the transport 'sse' is of the other era" }) })
      : fromMemory(terms, prior, terms.modern)
  if (prior !== undefined && newest !== undefined) {
    const basis = { rule: prior.rule, strength: prior.strength, lasting: true }
    const offer = terms.legacy.includes(prior.offer) ? prior.offer : newest
    const first = handshake(terms, offer, basis)
    return prior.transport === "httpSse" && first.sse
      ? State.Opening({
          how: "httpSse",
          next: State.Initializing({ ...first, channel: "httpSse", sse: false }),
          offered: offer,
          probe: undefined,
          handshake: undefined
        })
      : first
  }
  const [best] = terms.modern
  return best === undefined || (terms.kind === "sse" && newest !== undefined)
    ? handshake(terms, newest ?? "", direct)
    : State.Discovering({ version: best, attempt: "first", purpose: newest === undefined ? "modern" : "auto" })
}

/**
 * The first state of a mode. A mode or a saved verdict that cannot be used is refused here, before any I/O. `now` is the
 * time in milliseconds since 1970, by which a saved legacy verdict may have expired; an expired one counts as none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const begin = (terms: Terms.Terms, input: Mode.Input, now: number): State => {
  const mode = Mode.fromInput(input, terms)
  if (Result.isFailure(mode)) return State.Refused({ reason: mode.failure })
  const chosen = mode.success
  switch (chosen._tag) {
    case "Modern":
      return State.Discovering({ version: terms.modern[0] ?? "", attempt: "first", purpose: "modern" })
    case "Legacy":
      return handshake(terms, chosen.offer ?? terms.legacy[0] ?? "", direct, { modernOpen: false })
    case "Auto": {
      const prior = Verdict.parse(chosen.prior)
      if (Result.isFailure(prior)) return State.Refused({ reason: prior.failure })
      const verdict = prior.success
      return automatic(terms, verdict === undefined || Verdict.isExpired(verdict, now) ? undefined : verdict)
    }
    case "Pin": {
      const prior = Verdict.parse(chosen.prior)
      if (Result.isFailure(prior)) return State.Refused({ reason: prior.failure })
      const verdict = prior.success
      if (verdict !== undefined && !("discover" in verdict))
        return State.Refused({ reason: new PriorInvalid({ because: "it says legacy, and only modern versions can be pinned" }) })
      const known = verdict === undefined ? undefined : fromMemory(terms, verdict, [chosen.version])
      if (known?._tag === "Refused") return known
      if (chosen.verify) return State.Discovering({ version: chosen.version, attempt: "first", purpose: "verify" })
      return known ?? State.Settled({ outcome: pinned(chosen.version) })
    }
  }
}

const pinned = (version: string): Outcome => ({
  era: "modern",
  version,
  discover: undefined,
  initialize: undefined,
  offered: undefined,
  rule: "pin",
  strength: "weak",
  lasting: false,
  channel: "first",
  raw: undefined
})

const first = <R extends Reading, D extends Ruling>(rules: ReadonlyArray<Rule<R, D>>, reading: R): Rule<R, D> => {
  for (const rule of rules) if (rule.matches(reading)) return rule
  // Every table ends with a row that matches everything; a test walks them to see that it stays so.
  throw new Error("a rule table without a last row")
}

const isFail = (ruling: Ruling): ruling is Fail => typeof ruling === "object"

const moved = (
  rule: Pick<Rule<never, Ruling>, "id" | "because" | "evidence">,
  ruling: Ruling,
  state: State,
  said: Partial<Pick<Move, "because" | "notice">> = {}
): Move => ({
  state,
  rule: rule.id,
  decided: state._tag === "Refused" ? `FAIL(${state.reason._tag})` : print(ruling),
  because: rule.because,
  strength: state._tag === "Refused" ? undefined : rule.evidence,
  notice: undefined,
  ...said
})

const refused = (reason: Reason): State => State.Refused({ reason })

const probing = (terms: Terms.Terms, signal: Signal, corrected: boolean) => {
  const reading: ProbeReading = { ...read(terms, signal), corrected }
  const rule = first(EraRules.rules, reading)
  const facts: Facts = { asked: "discover", reading, offered: "", probe: undefined, handshake: undefined }
  return { reading, rule, ruling: rule.on[Terms.columnOf(terms.kind)], facts }
}

const rawOf = (signal: Signal): JsonObject => (signal._tag === "Answered" ? signal.result : {})

const discovering = (terms: Terms.Terms, state: Data.TaggedEnum.Value<State, "Discovering">, signal: Signal): Move => {
  const { reading, rule, ruling, facts } = probing(terms, signal, state.attempt === "corrected")
  const adopt = (version: string) =>
    moved(rule, ruling, State.Inspecting({ outcome: discovered(version, rule.id, rawOf(signal), "first") }))
  const cause = isFail(ruling) ? probeReason(ruling.fail, facts) : undefined
  const seen = { heard: heardOf(signal), rule: rule.id, ...(cause === undefined ? {} : { cause }) }
  if (state.purpose === "verify")
    return ruling === "adopt" && reading.listed.includes(state.version)
      ? adopt(state.version)
      : moved(rule, ruling, refused(new PinnedVersionUnavailable({ version: state.version, ...seen })), {
          because: cause === undefined ? "a pin that is verified takes nothing else" : rule.because
        })
  if (ruling === "adopt") return adopt(reading.modern ?? state.version)
  if (ruling === "retry")
    return moved(rule, ruling, State.Discovering({ ...state, version: reading.modern ?? state.version, attempt: "corrected" }))
  if (state.purpose === "modern")
    return moved(rule, ruling, refused(new ModernUnavailable(seen)), {
      because: cause === undefined ? "mode 'modern' never falls back" : rule.because
    })
  if (isFail(ruling)) return moved(rule, ruling, refused(reasonOf(ruling.fail, facts)))
  const strength = rule.evidence ?? "weak"
  const basis: Basis = { rule: rule.id, strength, lasting: strength !== "weak" }
  const next = handshake(terms, reading.legacy ?? terms.legacy[0] ?? "", basis, {
    probed: true,
    probe: { heard: heardOf(signal), rule: rule.id, strength },
    ...(ruling === "handshakeOnly" ? { sse: false } : {})
  })
  const code = reading.error?.code
  return moved(rule, ruling, ruling === "reopen" ? reopening(next, heardOf(signal)) : next, {
    notice:
      strength === "weak" && code !== undefined && isModernCode(code)
        ? { _tag: "ModernLookingFallback", rule: rule.id, code }
        : undefined
  })
}

const reopening = (from: Data.TaggedEnum.Value<State, "Initializing">, heard: Heard): State =>
  State.Opening({
    how: "again",
    next: State.Initializing({ ...from, channel: "again", probed: false, reopen: false }),
    offered: from.offer,
    probe: from.probe,
    handshake: heard
  })

const recovering = (terms: Terms.Terms, state: Data.TaggedEnum.Value<State, "Recovering">, signal: Signal): Move => {
  const { reading, rule, ruling } = probing(terms, signal, true)
  if (ruling === "adopt" && reading.modern !== undefined)
    return moved(rule, ruling, State.Inspecting({ outcome: discovered(reading.modern, rule.id, rawOf(signal), state.channel) }))
  const reason = new LegacyHandshakeFailed({
    ...(state.probe === undefined ? {} : { probe: state.probe }),
    handshake: state.handshake,
    offered: state.offered,
    recovery: heardOf(signal)
  })
  return moved(rule, ruling, refused(reason), { because: "the recovery probe is the last question" })
}

const initializing = (
  terms: Terms.Terms,
  state: Data.TaggedEnum.Value<State, "Initializing">,
  signal: Signal,
  late: JsonObject | undefined
): Move => {
  const lateVersion = late === undefined ? undefined : Terms.best(terms.modern, decodeDiscover(late)?.supportedVersions ?? [])
  const reading = { ...read(terms, signal), ...state, late: lateVersion }
  const rule = first(HandshakeRules.rules, reading)
  const ruling = rule.on[Terms.columnOf(terms.kind)]
  const heard = heardOf(signal)
  if (isFail(ruling)) {
    const facts: Facts = { asked: "initialize", reading, offered: state.offer, probe: state.probe, handshake: undefined }
    return moved(rule, ruling, refused(reasonOf(ruling.fail, facts)))
  }
  switch (ruling) {
    case "adopt": {
      const contradicted = lateVersion !== undefined && state.modernOpen
      const outcome: Outcome = {
        era: "legacy",
        version: reading.initialize?.protocolVersion ?? state.offer,
        discover: undefined,
        initialize: reading.initialize,
        offered: state.offer,
        rule: state.basis.rule,
        strength: state.basis.strength,
        lasting: state.basis.lasting && !contradicted,
        channel: state.channel,
        raw: rawOf(signal)
      }
      return moved(rule, ruling, State.Inspecting({ outcome }), { notice: contradicted ? { _tag: "LateDiscover" } : undefined })
    }
    case "adoptLate": {
      const outcome = discovered(lateVersion ?? "", rule.id, late ?? {}, state.channel)
      const gone = signal._tag === "Exited" || signal._tag === "Closed"
      const adopting = State.Inspecting({ outcome: gone ? { ...outcome, channel: "again" } : outcome })
      return moved(
        rule,
        ruling,
        gone
          ? State.Opening({ how: "again", next: adopting, offered: state.offer, probe: state.probe, handshake: heard })
          : adopting
      )
    }
    case "retry":
      return moved(
        rule,
        ruling,
        State.Recovering({
          version: reading.modern ?? "",
          offered: state.offer,
          channel: state.channel,
          probe: state.probe,
          handshake: heard
        })
      )
    case "reopen":
      return moved(rule, ruling, reopening(state, heard))
    case "httpSse":
      return moved(
        rule,
        ruling,
        State.Opening({
          how: "httpSse",
          next: State.Initializing({ ...state, channel: "httpSse", probed: false, sse: false }),
          offered: state.offer,
          probe: state.probe,
          handshake: heard
        })
      )
  }
}

const opening = (terms: Terms.Terms, state: Data.TaggedEnum.Value<State, "Opening">, signal: Signal): Move => {
  const reading = { ...read(terms, signal), channel: state.how }
  const rule = first(HandshakeRules.openings, reading)
  const ruling = rule.on[Terms.columnOf(terms.kind)]
  if (!isFail(ruling)) return moved(rule, ruling, state.next)
  const asked = state.how === "again" ? "open again" : "open httpSse"
  return moved(rule, ruling, refused(reasonOf(ruling.fail, { ...state, asked, reading })))
}

const inspecting = (state: Data.TaggedEnum.Value<State, "Inspecting">, signal: Signal): Move => {
  const modern = state.outcome.discover !== undefined
  const row = { id: modern ? "P32" : "H13", because: "the program has the last word", evidence: undefined }
  if (signal._tag === "Accepted") return moved(row, "adopt", State.Settled({ outcome: state.outcome }))
  const because = signal._tag === "Rejected" ? (heardOf(signal).text ?? "it did not say why") : "it gave no answer"
  const reason = modern ? new DiscoverRejected({ because }) : new InitializeRejected({ because })
  return moved(row, { fail: reason._tag }, refused(reason))
}

/**
 * What was heard, in a state, under terms: the next state and why. Total: any signal in any state leads somewhere, and
 * final states stay as they are. `late` is an answer to the probe that came while `initialize` was open.
 *
 * @category stepping
 * @since 0.1.0
 */
export const step =
  (terms: Terms.Terms) =>
  (state: State, signal: Signal, late?: JsonObject): Move => {
    switch (state._tag) {
      case "Discovering":
        return discovering(terms, state, signal)
      case "Recovering":
        return recovering(terms, state, signal)
      case "Initializing":
        return initializing(terms, state, signal, late)
      case "Opening":
        return opening(terms, state, signal)
      case "Inspecting":
        return inspecting(state, signal)
      case "Settled":
      case "Refused":
        return {
          state,
          rule: "",
          decided: state._tag,
          because: "it is over",
          strength: undefined,
          notice: undefined
        }
    }
  }
