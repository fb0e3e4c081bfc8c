import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Mode from "../src/Mode.ts"
import * as Negotiation from "../src/Negotiation.ts"
import { httpStatus, Signal } from "../src/Signal.ts"
import * as State from "../src/State.ts"
import * as Terms from "../src/Terms.ts"
import {
  answered,
  discovered,
  exited,
  failed,
  http,
  initialized,
  malformed,
  modern,
  newer,
  newestLegacy,
  pipe,
  terms,
  unreachable,
  unsupported
} from "./heard.ts"

export interface Heard {
  readonly signal: Signal
  readonly late?: JsonObject
}

export const heard = (signal: Signal): Heard => ({ signal })
export const body = (code: number, data?: unknown) => ({ error: { code, message: "", data } })

/** What any wire can bring. */
export const spoken: ReadonlyArray<Heard> = [
  answered(discovered(modern)),
  answered(discovered(["2026-07-28", "2025-06-18"])),
  answered(discovered(["2025-06-18"])),
  answered(discovered(["2099-01-01"])),
  answered(initialized(newestLegacy)),
  answered(initialized("1999-01-01")),
  answered(initialized(newer)),
  unsupported("2026-07-28"),
  unsupported("2026-07-28", "2024-11-05"),
  unsupported("2024-11-05"),
  unsupported("2099-01-01"),
  unsupported(),
  failed(-32021),
  failed(-32050),
  failed(-32601),
  failed(-32000)
].map(heard)
/** What a server can bring that answers late. */
const belated: ReadonlyArray<Heard> = [
  answered(initialized(newestLegacy)),
  answered(initialized("1999-01-01")),
  unsupported("2026-07-28"),
  failed(-32601),
  Signal.Silent(),
  exited(),
  Signal.Closed(),
  malformed()
].map((signal) => ({ signal, late: discovered(["2026-07-28"]) }))
/** What can happen to a wire. The last of each is what that wire can never bring. */
const happening: Record<Terms.Column, ReadonlyArray<Heard>> = {
  pipe: [
    Signal.Silent(),
    exited(),
    Signal.Closed(),
    Signal.SpawnFailed({ command: "x", because: "y" }),
    malformed(),
    unreachable,
    httpStatus(404)
  ].map(heard),
  http: [
    httpStatus(400, body(-32022, { supported: [newer] })),
    httpStatus(404),
    httpStatus(415),
    httpStatus(409),
    httpStatus(401, body(-32022, { supported: [newer] })),
    httpStatus(403),
    httpStatus(429),
    httpStatus(503),
    httpStatus(307),
    Signal.Silent(),
    malformed(),
    unreachable,
    exited()
  ].map(heard)
}
export const consent = [Signal.Accepted(), Signal.Rejected({ because: "no" }), Signal.Silent()].map(heard)
const opened = heard(Signal.Opened())

/** All that can be heard in a state. Late answers come in a handshake on a pipe that was probed. */
const lettersFor = (state: State.State, column: Terms.Column): ReadonlyArray<Heard> => {
  switch (state._tag) {
    case "Inspecting":
      return consent
    case "Opening":
      return [opened, ...happening[column]]
    case "Initializing":
      return [...spoken, ...happening[column], ...(state.probed && column === "pipe" ? belated : [])]
    default:
      return [...spoken, ...happening[column]]
  }
}

export interface Walk {
  readonly moves: ReadonlyArray<Negotiation.Move>
  readonly states: ReadonlyArray<State.State>
  readonly heard: ReadonlyArray<Heard>
}

export const ended = (state: State.State) => state._tag === "Settled" || state._tag === "Refused"

/** Every way through the machine, with all that can be heard or with some of it. */
export const walks = (
  on: Terms.Terms,
  mode: Mode.Input,
  among: (letter: Heard) => boolean = () => true
): ReadonlyArray<Walk> => {
  const step = Negotiation.step(on)
  const column = Terms.columnOf(on.kind)
  const found: Array<Walk> = []
  const go = (walk: Walk): void => {
    const state = walk.states.at(-1)!
    if (ended(state)) return void found.push(walk)
    if (walk.moves.length > 9) throw new Error("the machine does not end")
    for (const letter of lettersFor(state, column).filter(among)) {
      const move = step(state, letter.signal, letter.late)
      go({ moves: [...walk.moves, move], states: [...walk.states, move.state], heard: [...walk.heard, letter] })
    }
  }
  go({ moves: [], states: [State.begin(on, mode, 0)], heard: [] })
  return found
}

const prior = { era: "legacy", offer: newestLegacy, transport: "httpSse", rule: "P21", strength: "conventional", at: 0 }
export const modes: ReadonlyArray<readonly [string, Mode.Input]> = [
  ["auto", "auto"],
  ["modern", "modern"],
  ["legacy", "legacy"],
  ["pin", Mode.pin(newer)],
  ["pin with verify", Mode.pin(newer, { verify: true })],
  ["pin with prior", Mode.pin(newer, { prior: discovered(modern) })],
  ["auto from a modern verdict", Mode.autoFrom(discovered(modern))],
  ["auto from a legacy verdict", Mode.autoFrom(prior)]
]
const strict = { fallback: "spec", legacyStatuses: "spec" } as const
const grounds = [pipe, http, terms("sse"), terms("stdio", strict), terms("http", strict)]

// Walked once: every property below looks at the same walks.
export const all = grounds.flatMap((on) =>
  modes.flatMap(([mode, input]) => walks(on, input).map((walk) => ({ walk, on, mode })))
)
export const everything = (visit: (walk: Walk, on: Terms.Terms, mode: string) => void): void => {
  for (const { walk, on, mode } of all) visit(walk, on, mode)
}

/** Every move any walk makes, once: walks share their beginnings. */
export const everyMove = (
  visit: (move: Negotiation.Move, from: State.State, letter: Heard, on: Terms.Terms) => void
): void => {
  const seen = new Set<Negotiation.Move>()
  for (const { walk, on } of all)
    for (const [index, move] of walk.moves.entries()) {
      if (seen.has(move)) continue
      seen.add(move)
      visit(move, walk.states[index]!, walk.heard[index]!, on)
    }
}
