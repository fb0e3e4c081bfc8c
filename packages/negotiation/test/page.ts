/**
 * Prints the rule tables and the state diagram of the page `docs/negotiation.md`, from the code that runs.
 *
 * `node packages/negotiation/test/page.ts` prints them; with `--write` they replace what stands between the markers
 * of the page.
 */
import { fileURLToPath } from "node:url"
import { type Parts, print as printPage, table } from "../../../docs/test/printed.ts"
import * as EraRules from "../src/EraRules.ts"
import * as HandshakeRules from "../src/HandshakeRules.ts"
import type * as Negotiation from "../src/Negotiation.ts"
import { type OutsideRule, print, type Rule, type Ruling } from "../src/Rule.ts"
import type * as State from "../src/State.ts"
import { all } from "./walk.ts"

export const page = fileURLToPath(new URL("../../../docs/negotiation.md", import.meta.url))

const decided = (ruling: Ruling) =>
  typeof ruling === "object" ? (ruling.heard === false ? "–" : `FAIL(\`${ruling.fail}\`)`) : print(ruling)

const ruled = <Reading>(rules: ReadonlyArray<Rule<Reading, Ruling>>): string =>
  table(
    ["#", "Heard", "Pipe", "HTTP", "Evidence", "Because", "From"],
    rules.map(({ id, heard, on, evidence, because, source }) => [
      id,
      heard,
      decided(on.pipe),
      decided(on.http),
      evidence ?? "–",
      because,
      source
    ])
  )

const kept = (rules: ReadonlyArray<OutsideRule>): string =>
  table(
    ["#", "Heard", "Kept by", "Because", "From"],
    rules.map(({ id, heard, keeps, because, source }) => [id, heard, keeps, because, source])
  )

const named = (state: State.State): string => {
  switch (state._tag) {
    case "Opening":
      return state.how === "again" ? "OpeningAgain" : "OpeningHttpSse"
    default:
      return state._tag
  }
}

const order = ["P", "H"]
const inOrder = (a: string, b: string) =>
  order.indexOf(a.slice(0, 1)) - order.indexOf(b.slice(0, 1)) || Number(a.slice(1)) - Number(b.slice(1))

const labelOf = (from: State.State, move: Negotiation.Move): string => {
  if (move.state._tag !== "Refused") return move.rule
  if (from._tag === "Recovering") return "anything else"
  const reason = move.state.reason._tag
  return reason === "ModernUnavailable" || reason === "PinnedVersionUnavailable" ? "" : move.rule
}

// Every arrow that any walk through the machine has taken, with the rules that led along it.
const diagram = (): string => {
  const starts = new Map<string, Set<string>>()
  const arrows = new Map<string, Set<string>>()
  const add = (to: Map<string, Set<string>>, arrow: string, label: string) =>
    to.set(arrow, (to.get(arrow) ?? new Set()).add(label))
  for (const { mode, walk } of all) {
    const [first] = walk.states
    if (first === undefined) continue
    add(starts, `[*] --> ${named(first)}`, first._tag === "Refused" ? "not a mode, or no verdict" : mode)
    for (const [index, move] of walk.moves.entries()) {
      const from = walk.states[index]!
      add(arrows, `${named(from)} --> ${named(move.state)}`, labelOf(from, move))
    }
  }
  const lines = [
    ...[...starts].map(([arrow, labels]) => `${arrow}: ${[...labels].join(", ")}`),
    ...[...arrows].map(
      ([arrow, labels]) =>
        `${arrow}: ${[...labels]
          .filter((label) => label !== "")
          .toSorted(inOrder)
          .join(" ")}`
    )
  ]
  return [
    "```mermaid",
    "stateDiagram-v2",
    ...lines.map((line) => `  ${line}`),
    "  Settled --> [*]",
    "  Refused --> [*]",
    "```"
  ].join("\n")
}

/** The generated parts of the page, by the name in their marker. */
export const parts: Parts = {
  diagram,
  probe: () => ruled(EraRules.rules),
  handshake: () => ruled(HandshakeRules.rules),
  openings: () => ruled(HandshakeRules.openings),
  outside: () => kept([...EraRules.outside, ...HandshakeRules.outside])
}

if (import.meta.main) printPage(page, parts)
