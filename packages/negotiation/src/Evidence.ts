/**
 * How the era of a server was decided: every question, what came back, how long it took, and the rule that spoke.
 *
 * Evidence is plain data: encode it with `Steps`, keep it, send it with a bug report, or print it with `explain`. It holds
 * short, cleaned excerpts of what a server said, and never a header, an argument or a credential of ours (U-13).
 *
 * @since 0.1.0
 */
import { excerpt, lastWords } from "@mcp-effect/protocol/Excerpt"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { bounded, listedBy } from "./internal/versions.ts"
import { Signal } from "./Signal.ts"

/**
 * How much a verdict can be trusted. `definitive` is positive proof, `conventional` is what older servers commonly do,
 * `weak` also fits a broken modern server.
 *
 * @category models
 * @since 0.1.0
 */
export const Strength = Schema.Literals(["definitive", "conventional", "weak"])

/**
 * @category models
 * @since 0.1.0
 */
export type Strength = typeof Strength.Type

/**
 * What a negotiation can ask: the two requests, a fresh channel, HTTP+SSE, or the program's own consent.
 *
 * @category models
 * @since 0.1.0
 */
export const Asked = Schema.Literals(["discover", "initialize", "open again", "open httpSse", "inspect"])

/**
 * @category models
 * @since 0.1.0
 */
export type Asked = typeof Asked.Type

/**
 * A signal as data: bounded, encodable, without causes.
 *
 * @category models
 * @since 0.1.0
 */
export const Heard = Schema.Struct({
  /** The tag of the `Signal`. */
  signal: Schema.Literals([
    "Answered",
    "Failed",
    "HttpStatus",
    "Silent",
    "Exited",
    "SpawnFailed",
    "Closed",
    "Malformed",
    "Unreachable",
    "Opened",
    "Accepted",
    "Rejected"
  ]),
  /** The HTTP status. */
  status: Schema.optionalKey(Schema.Finite),
  /** The JSON-RPC error code, or the exit code of a process. */
  code: Schema.optionalKey(Schema.Finite),
  /** The versions the server named: at most 32. */
  versions: Schema.optionalKey(Schema.Array(Schema.String)),
  /** What the server, the process or the platform said: at most 200 code points. */
  text: Schema.optionalKey(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Heard extends Schema.Schema.Type<typeof Heard> {}

/**
 * One question and its answer.
 *
 * @category models
 * @since 0.1.0
 */
export const Step = Schema.Struct({
  asked: Asked,
  /** The version the question named. */
  version: Schema.optionalKey(Schema.String),
  heard: Heard,
  /** How long the answer took, in milliseconds. */
  millis: Schema.Finite,
  /** The row that spoke: `P1` to `P32`, `H1` to `H15`. */
  rule: Schema.String,
  /** What it decided, as the rule table prints it: `INIT`, `FAIL(NoMutualVersion)`. */
  decided: Schema.String,
  because: Schema.String,
  /** How strong the evidence is. Absent where the row says nothing about the era. */
  strength: Schema.optionalKey(Strength)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Step extends Schema.Schema.Type<typeof Step> {}

/**
 * What led to a handshake: what the probe heard, the row that read it, and how strong that is.
 *
 * @category models
 * @since 0.1.0
 */
export const ProbeHalf = Schema.Struct({ heard: Heard, rule: Schema.String, strength: Strength })

/**
 * @category models
 * @since 0.1.0
 */
export interface ProbeHalf extends Schema.Schema.Type<typeof ProbeHalf> {}

/**
 * The whole evidence, in order.
 *
 * @category models
 * @since 0.1.0
 */
export const Steps = Schema.Array(Step)

/**
 * @category models
 * @since 0.1.0
 */
export type Steps = typeof Steps.Type

const said = (text: string) => (text === "" ? {} : { text: excerpt(text) })
const naming = (value: unknown) => {
  const versions = listedBy(value)
  return versions.length === 0 ? {} : { versions: bounded(versions) }
}

/**
 * The part of a signal that may be kept.
 *
 * @category constructors
 * @since 0.1.0
 */
export const heardOf: (signal: Signal) => Heard = Signal.$match({
  Answered: ({ result }) => ({ signal: "Answered" as const, ...naming(result) }),
  Failed: ({ error }) => ({
    signal: "Failed" as const,
    code: error.code,
    ...said(error.message),
    ...naming(error.data)
  }),
  HttpStatus: ({ status, error, body }) => ({
    signal: "HttpStatus" as const,
    status,
    ...(error === undefined ? {} : { code: error.code, ...naming(error.data) }),
    ...said(body)
  }),
  Silent: () => ({ signal: "Silent" as const }),
  Exited: ({ code, stderr, signal }) => ({
    signal: "Exited" as const,
    ...(code === null ? {} : { code }),
    ...said(lastWords(stderr) || (signal ?? ""))
  }),
  SpawnFailed: ({ because }) => ({ signal: "SpawnFailed" as const, ...said(because) }),
  Closed: () => ({ signal: "Closed" as const }),
  Malformed: ({ status, because, excerpt }) => ({
    signal: "Malformed" as const,
    ...(status === undefined ? {} : { status }),
    ...said(excerpt === "" ? because : `${because}: ${excerpt}`)
  }),
  Unreachable: ({ because }) => ({ signal: "Unreachable" as const, ...said(because) }),
  Opened: () => ({ signal: "Opened" as const }),
  Accepted: () => ({ signal: "Accepted" as const }),
  Rejected: ({ because }) => ({ signal: "Rejected" as const, ...said(because) })
})

const quoted = (heard: Heard) => (heard.text === undefined ? "" : ` "${heard.text}"`)
const named = (heard: Heard) => (heard.versions === undefined ? "" : ` naming ${heard.versions.join(", ")}`)

/**
 * What was heard, in words.
 *
 * @category formatting
 * @since 0.1.0
 */
export const describe = (heard: Heard): string => {
  switch (heard.signal) {
    case "Answered":
      return `a result${named(heard)}`
    case "Failed":
      return `error ${heard.code}${quoted(heard)}${named(heard)}`
    case "HttpStatus":
      return `HTTP ${heard.status}${heard.code === undefined ? "" : ` with error ${heard.code}`}${quoted(heard)}${named(heard)}`
    case "Silent":
      return "no answer in time"
    case "Exited":
      return `the process ended${heard.code === undefined ? "" : ` with code ${heard.code}`}${quoted(heard)}`
    case "SpawnFailed":
      return `the command did not start${quoted(heard)}`
    case "Closed":
      return "the pipe was closed"
    case "Malformed":
      return `no MCP answer${heard.status === undefined ? "" : ` (HTTP ${heard.status})`}${quoted(heard)}`
    case "Unreachable":
      return `the server was not reached${quoted(heard)}`
    case "Opened":
      return "opened"
    case "Accepted":
      return "accepted"
    case "Rejected":
      return `refused${quoted(heard)}`
  }
}

const questions: Readonly<Record<Asked, string>> = {
  discover: "server/discover",
  initialize: "initialize",
  "open again": "a fresh wire",
  "open httpSse": "HTTP+SSE at the same address",
  inspect: "the program's consent"
}

/**
 * The question of a step, in words: a method name where there is one.
 *
 * @category formatting
 * @since 0.1.0
 */
export const questionOf = (asked: Asked): string => questions[asked]

/**
 * The evidence as text, one step after the other, for a person who asks "why am I on legacy?".
 *
 * @example
 * ```ts
 * import { explain } from "@mcp-effect/negotiation/Evidence"
 *
 * explain([
 *   {
 *     asked: "discover",
 *     version: "2026-07-28",
 *     heard: { signal: "Failed", code: -32601, text: "Method not found" },
 *     millis: 12,
 *     rule: "P13",
 *     decided: "INIT",
 *     because: "every modern server implements server/discover",
 *     strength: "conventional"
 *   }
 * ])
 * // 1. asked server/discover (2026-07-28), heard after 12ms: error -32601 "Method not found"
 * //    P13: INIT, because every modern server implements server/discover (conventional evidence)
 * ```
 *
 * @category formatting
 * @since 0.1.0
 */
export const explain = (steps: Steps): string =>
  steps.length === 0
    ? "nothing was asked"
    : steps
        .map((step, index) => {
          const version = step.version === undefined ? "" : ` (${step.version})`
          const strength = step.strength === undefined ? "" : ` (${step.strength} evidence)`
          const after =
            step.millis < 1000 ? `${Math.round(step.millis)}ms` : Duration.format(Duration.millis(step.millis))
          return (
            `${index + 1}. asked ${questionOf(step.asked)}${version}, heard after ${after}: ${describe(step.heard)}\n` +
            `   ${step.rule}: ${step.decided}, because ${step.because}${strength}`
          )
        })
        .join("\n")
