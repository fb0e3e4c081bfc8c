/**
 * The pure machine: which era does this server speak?
 *
 * `State.begin` gives the first state of a mode; `step` takes what was heard and gives the next one, together with the
 * row that spoke. It knows no wire, no clock and no patience; `Negotiator` drives it over a port, and anything else may.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type * as Data from "effect/Data"
import type { Outcome } from "./Agreement.ts"
import * as EraRules from "./EraRules.ts"
import { type Heard, heardOf, type Strength } from "./Evidence.ts"
import * as HandshakeRules from "./HandshakeRules.ts"
import { decodeDiscover } from "./internal/decoding.ts"
import { type Facts, probeReason, reasonOf } from "./internal/reasons.ts"
import { isModernCode, type ProbeReading, read, type Reading } from "./Reading.ts"
import {
  DiscoverRejected,
  InitializeRejected,
  LegacyHandshakeFailed,
  ModernUnavailable,
  PinnedVersionUnavailable,
  type Reason
} from "./Reason.ts"
import { type Fail, print, type Rule, type Ruling } from "./Rule.ts"
import type { Signal } from "./Signal.ts"
import { type Basis, discovered, handshake, State } from "./State.ts"
import * as Terms from "./Terms.ts"

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
    return moved(
      rule,
      ruling,
      State.Discovering({ ...state, version: reading.modern ?? state.version, attempt: "corrected" })
    )
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
    return moved(
      rule,
      ruling,
      State.Inspecting({ outcome: discovered(reading.modern, rule.id, rawOf(signal), state.channel) })
    )
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
  const lateVersion =
    late === undefined ? undefined : Terms.best(terms.modern, decodeDiscover(late)?.supportedVersions ?? [])
  const reading = { ...read(terms, signal), ...state, late: lateVersion }
  const rule = first(HandshakeRules.rules, reading)
  const ruling = rule.on[Terms.columnOf(terms.kind)]
  const heard = heardOf(signal)
  if (isFail(ruling)) {
    const facts: Facts = {
      asked: "initialize",
      reading,
      offered: state.offer,
      probe: state.probe,
      handshake: undefined
    }
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
      return moved(rule, ruling, State.Inspecting({ outcome }), {
        notice: contradicted ? { _tag: "LateDiscover" } : undefined
      })
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
