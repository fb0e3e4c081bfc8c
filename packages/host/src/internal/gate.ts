/** Decides on a call: the rules first, then the handler, then the mode (U-56). */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Approval from "../Approval.ts"

export interface Verdict extends Pick<Approval.Decision, "permitted" | "by" | "because"> {
  /** Nobody was there to be asked. */
  readonly unasked?: boolean
}

export const decide = (
  call: Approval.Call,
  rules: ReadonlyArray<Approval.Rule>,
  handler: Approval.Handler | undefined
): Effect.Effect<Verdict> => {
  const rule = rules.find((candidate) => Approval.concerns(candidate, call))
  if (rule?.decide === "deny") return Effect.succeed({ permitted: false, by: "rule", because: rule.because })
  if (rule?.decide === "allow" && !call.changed) {
    return Effect.succeed({ permitted: true, by: "rule", because: rule.because })
  }
  const mode = rule !== undefined || call.changed ? "ask" : call.mode
  const silent: Verdict =
    mode === "allow"
      ? { permitted: true, by: "mode", because: "nobody vetoed it" }
      : { permitted: false, by: "mode", because: "nobody said yes" }
  if (handler === undefined) {
    return Effect.succeed(
      mode === "allow"
        ? silent
        : { ...silent, because: "it needs a yes, and the host has no `approve` handler", unasked: true }
    )
  }
  return Effect.suspend(() => handler({ ...call, mode })).pipe(
    Effect.matchCauseEffect({
      onFailure: (cause): Effect.Effect<Verdict> =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.succeed({ permitted: false, by: "handler", because: "the handler was interrupted" })
          : Effect.succeed({ permitted: false, by: "handler", because: "the handler failed" }),
      onSuccess: (answer): Effect.Effect<Verdict> =>
        Effect.succeed(
          answer === undefined
            ? silent
            : { permitted: answer, by: "handler", because: answer ? "the handler said yes" : "the handler said no" }
        )
    })
  )
}
