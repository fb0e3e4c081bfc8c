/**
 * Functions of the program that only watch: what they throw must not reach the connection.
 */
import { Diagnostic } from "@mcp-effect/protocol/Diagnostic"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Result from "effect/Result"

/** Calls `watch` until it throws; that is reported, and from then on it is left in peace. */
export const contained = <A>(
  server: string,
  callback: string,
  watch: ((value: A) => void) | undefined,
  report: (diagnostic: Diagnostic) => void
): ((value: A) => void) => {
  let broken = watch === undefined
  return (value) => {
    if (broken) return
    const watched = Result.try({ try: () => watch?.(value), catch: (thrown) => excerpt(String(thrown)) })
    if (Result.isSuccess(watched)) return
    broken = true
    report(Diagnostic.CallbackFailed({ server, callback, because: watched.failure, failed: 1 }))
  }
}
