/**
 * The one error of a negotiation.
 *
 * `reason` says how it failed; around it stand the facts every failure shares: where, over what, how long it took and
 * the evidence step by step. Catch a reason with `Effect.catchReason("NegotiationError", "AuthorizationRequired", f)`.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { type ProbeHalf, questionOf, type Step, Steps } from "./Evidence.ts"
import * as wording from "./internal/wording.ts"
import { Reason } from "./Reason.ts"

// The last probe that led to a handshake, for failures whose reason does not hold it.
const fallbackOf = (reason: Reason, attempts: ReadonlyArray<Step>): ProbeHalf | undefined => {
  if ("probe" in reason || !attempts.some((step) => step.asked !== "discover" && step.asked !== "inspect"))
    return undefined
  const probe = attempts.findLast((step) => step.asked === "discover" && step.strength !== undefined)
  return probe?.strength === undefined ? undefined : { heard: probe.heard, rule: probe.rule, strength: probe.strength }
}

/**
 * A negotiation that failed.
 *
 * What to change: look at `reason`; its `hint` says it, and `Evidence.explain(attempts)` shows how it came to that.
 *
 * @category errors
 * @since 0.1.0
 */
export class NegotiationError extends Schema.TaggedError<NegotiationError>()("NegotiationError", {
  /** Names the server: a URL, a command line. Holds no secrets. */
  endpoint: Schema.String,
  transport: Schema.Literals(["stdio", "http", "sse", "memory", "stream"]),
  /** How long it took, in milliseconds. */
  elapsed: Schema.Finite,
  /** Whether it began from a remembered verdict, which has been dropped since: the next connect probes. */
  remembered: Schema.Boolean,
  /** The evidence: every question and answer. */
  attempts: Steps,
  reason: Reason,
  /** The last 200 code points of the standard error of a process that lived and did not answer in time. */
  stderr: Schema.optionalKey(Schema.String)
}) {
  /** What was asked, what came back, what to change. After an HTTP status it begins `MCP: HTTP <status>` (U-05). */
  override get message() {
    const message = wording.bothHalves(this.reason.message, fallbackOf(this.reason, this.attempts))
    return this.stderr === undefined ? message : `${message}\nthe end of its standard error: "${this.stderr}"`
  }
  /** What to change. */
  get hint(): string {
    return this.reason.hint
  }
  /** Whether connecting again may succeed without any change. */
  get isRetryable(): boolean {
    return this.reason.isRetryable || this.remembered
  }
  /** How long the server asked to wait before the next try. */
  get retryAfter(): Duration.Duration | undefined {
    const reason =
      this.reason._tag === "ModernUnavailable" || this.reason._tag === "PinnedVersionUnavailable"
        ? this.reason.cause
        : this.reason
    return reason?._tag === "ProbeHttpStatus" && reason.retryAfter !== undefined
      ? Duration.millis(reason.retryAfter)
      : undefined
  }
  /** The method or channel that was asked last, or `undefined` when nothing was. */
  get asked(): string | undefined {
    const last = this.attempts.at(-1)
    return last === undefined ? undefined : questionOf(last.asked)
  }
}
