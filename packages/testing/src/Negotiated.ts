/**
 * Matchers for what a negotiation came to: which rule settled it, how many answers it waited for, what was heard.
 *
 * They read the `agreement` of a connection and the error of one that failed alike, look only at what is expected, and
 * tell the whole evidence when something differs. `differences` is the plain function; `check` throws, for any test
 * runner; `matchers` is for `expect.extend`.
 *
 * @since 0.1.0
 */
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"

/**
 * One step of the evidence, as far as it is looked at.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExpectedStep {
  /** `discover`, `initialize`, `open again`, `open httpSse` or `inspect`. */
  readonly asked?: string
  /** The version that the question named. */
  readonly version?: string
  /** The row that spoke, such as `P13`. */
  readonly rule?: string
  /** What it decided, as the table prints it: `INIT`, `FAIL(NoMutualVersion)`. */
  readonly decided?: string
  readonly strength?: string
  /** What was heard: `Answered`, `Failed`, `HttpStatus`, `Silent`, ... */
  readonly signal?: string
  /** The HTTP status. */
  readonly status?: number
  /** The JSON-RPC error code, or the exit code of a process. */
  readonly code?: number
  /** The versions that the server named, in its order. */
  readonly versions?: ReadonlyArray<string>
}

/**
 * What is expected of an agreement, or of a failure. What is left out is not looked at.
 *
 * @category models
 * @since 0.1.0
 */
export interface Expected {
  readonly era?: string
  readonly version?: string
  /** The row that settled the era; `pin`, `prior` or `legacy` where nothing was asked. */
  readonly rule?: string
  readonly strength?: string
  /** `first`, `again` or `httpSse`. */
  readonly channel?: string
  /** Whether the verdict may be remembered. */
  readonly lasting?: boolean
  /** How many answers were waited for. */
  readonly roundTrips?: number
  /** The tag of the reason of a failure. An agreement has none. */
  readonly reason?: string
  /** Every step in order. A text is the question alone, or the row alone: `discover`, `P13`. */
  readonly steps?: ReadonlyArray<string | ExpectedStep>
}

/**
 * What the matchers need to see of a step.
 *
 * @category models
 * @since 0.1.0
 */
export interface Step {
  readonly asked: string
  readonly version?: string
  readonly heard: {
    readonly signal: string
    readonly status?: number
    readonly code?: number
    readonly versions?: ReadonlyArray<string>
    readonly text?: string
  }
  readonly rule: string
  readonly decided: string
  readonly strength?: string
}

/**
 * An agreement, or a failure: `client.agreement` and the error of `McpClient.connect` are both.
 *
 * @category models
 * @since 0.1.0
 */
export type Negotiated =
  | ({ readonly evidence: ReadonlyArray<Step> } & Omit<Expected, "reason" | "steps">)
  | { readonly attempts?: ReadonlyArray<Step>; readonly reason: { readonly _tag: string } }

/**
 * A negotiation that came to something else than expected.
 *
 * What to change: what was expected, or what led to the differences; `evidence` shows every step.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", {
  /** One line for each thing that differs. */
  differences: Schema.Array(Schema.String),
  /** Every step that was taken, one per line. */
  evidence: Schema.String
}) {
  override get message() {
    return `${this.differences.join("\n")}\nthe evidence:\n${this.evidence}`
  }
}

const stepsOf = (negotiated: Negotiated) =>
  "evidence" in negotiated ? negotiated.evidence : (negotiated.attempts ?? [])

/** The facts of a step under the names of `ExpectedStep`. */
const flat = ({ asked, decided, heard: { code, signal, status, versions }, rule, strength, version }: Step) => ({
  asked,
  version,
  rule,
  decided,
  strength,
  signal,
  status,
  code,
  versions
})

const facts = (negotiated: Negotiated): Readonly<Record<string, unknown>> =>
  "evidence" in negotiated ? { ...negotiated } : { reason: negotiated.reason._tag }

const shown = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value))

const differing = (
  where: string,
  expected: Readonly<Record<string, unknown>>,
  got: Readonly<Record<string, unknown>>
): ReadonlyArray<string> =>
  Object.entries(expected).flatMap(([name, value]) =>
    Equal.equals(got[name], value) ? [] : [`${where}${name}: expected ${shown(value)}, got ${shown(got[name])}`]
  )

const row = /^[PH]\d+$/

const stepDiffers = (at: number, expected: string | ExpectedStep, got: Step): ReadonlyArray<string> =>
  differing(
    `step ${at + 1}, `,
    typeof expected === "string" ? (row.test(expected) ? { rule: expected } : { asked: expected }) : { ...expected },
    flat(got)
  )

/**
 * What differs, one line each; empty when everything is as expected.
 *
 * @category matching
 * @since 0.1.0
 */
export const differences = (negotiated: Negotiated, { steps, ...expected }: Expected): ReadonlyArray<string> => {
  const got = stepsOf(negotiated)
  const outside = differing("", { ...expected }, facts(negotiated))
  if (steps === undefined) return outside
  return steps.length === got.length
    ? [...outside, ...got.flatMap((step, at) => stepDiffers(at, steps[at] ?? {}, step))]
    : [...outside, `steps: expected ${steps.length}, got ${got.length}`]
}

const line = (step: Step, at: number): string => {
  const { asked, heard, rule, version } = step
  const facts = [heard.status, heard.code, heard.versions?.join(" "), heard.text].filter((fact) => fact !== undefined)
  return `${at + 1}. ${[asked, version].filter((word) => word !== undefined).join(" ")}: ${[heard.signal, ...facts].join(" ")} -> ${rule} ${step.decided}`
}

/**
 * The evidence, one step per line, as the matchers tell it.
 *
 * @category formatting
 * @since 0.1.0
 */
export const lines = (negotiated: Negotiated): ReadonlyArray<string> => stepsOf(negotiated).map(line)

const unexpected = (negotiated: Negotiated, found: ReadonlyArray<string>) =>
  new Unexpected({ differences: found, evidence: lines(negotiated).join("\n") || "nothing was asked" })

/**
 * Throws `Unexpected` when something differs.
 *
 * @example
 * ```ts
 * const client = yield* McpClient.connect(server.pipe())
 * Negotiated.check(client.agreement, { rule: "P13", roundTrips: 2, steps: ["discover", "initialize"] })
 * ```
 *
 * @category matching
 * @since 0.1.0
 */
export const check = (negotiated: Negotiated, expected: Expected): void => {
  const found = differences(negotiated, expected)
  if (found.length > 0) throw unexpected(negotiated, found)
}

/**
 * For `expect.extend` of vitest and of what resembles it: `expect(client.agreement).toBeNegotiated({ rule: "P13" })`.
 *
 * @category matching
 * @since 0.1.0
 */
export const matchers = {
  toBeNegotiated: (
    negotiated: Negotiated,
    expected: Expected
  ): { readonly pass: boolean; readonly message: () => string } => {
    const found = differences(negotiated, expected)
    return {
      pass: found.length === 0,
      message: () =>
        found.length === 0
          ? `expected anything but\n${JSON.stringify(expected)}\nthe evidence:\n${lines(negotiated).join("\n")}`
          : unexpected(negotiated, found).message
    }
  }
}
