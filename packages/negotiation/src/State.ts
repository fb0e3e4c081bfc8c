/**
 * The states of the machine, and the one each mode begins with.
 *
 * A state is the next thing to do, so there is no second list of commands to keep in step with it. Facts that matter only
 * in some states live in those states.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { Channel, Outcome } from "./Agreement.ts"
import type { Asked, Heard, ProbeHalf, Strength } from "./Evidence.ts"
import { decodeDiscover } from "./internal/decoding.ts"
import * as Mode from "./Mode.ts"
import { PriorInvalid, type Reason } from "./Reason.ts"
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
 * What a state asks, and of which version. Final states ask nothing.
 *
 * @category accessors
 * @since 0.1.0
 */
export const questionOf = (
  state: State
): { readonly asked: Asked; readonly version: string | undefined } | undefined => {
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

/**
 * The outcome of a DiscoverResult, as it stood on the wire.
 *
 * @category constructors
 * @since 0.1.0
 */
export const discovered = (version: string, rule: string, raw: JsonObject, channel: Channel): Outcome => ({
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

/**
 * The handshake, with what the terms allow after it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const handshake = (
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

const fromMemory = (terms: Terms.Terms, saved: typeof Verdict.Modern.Type, wanted: ReadonlyArray<string>): State => {
  const version = Terms.best(wanted, decodeDiscover(saved.discover)?.supportedVersions ?? [])
  return version === undefined
    ? State.Refused({
        reason: new PriorInvalid({ because: `its DiscoverResult does not name ${wanted.join(" or ")}` })
      })
    : State.Inspecting({ outcome: discovered(version, "prior", saved.discover, "first") })
}

const direct: Basis = { rule: "legacy", strength: "conventional", lasting: false }

const automatic = (terms: Terms.Terms, prior: Verdict.Verdict | undefined): State => {
  const [newest] = terms.legacy
  if (prior !== undefined && "discover" in prior)
    return terms.kind === "sse"
      ? State.Refused({
          reason: new PriorInvalid({ because: "it says modern, and the transport 'sse' is of the other era" })
        })
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
        return State.Refused({
          reason: new PriorInvalid({ because: "it says legacy, and only modern versions can be pinned" })
        })
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
