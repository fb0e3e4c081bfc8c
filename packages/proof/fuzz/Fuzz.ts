/**
 * Fuzzing: every parser gets damaged texts, and the client random servers. A parser may refuse; it may not throw, and how
 * bytes are cut may not matter. What a server does may fail a call in a typed way; it may not end in a defect, and it ends.
 *
 * The same seed gives the same inputs. A failure is shrunk to the smallest input that shows it.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Given from "./given.ts"
import * as Kept from "./kept.ts"
import * as Servers from "./servers.ts"
import type { Target } from "./Target.ts"
import * as Wire from "./wire.ts"

/** Every target. */
export const targets: ReadonlyArray<Target> = [...Wire.targets, ...Kept.targets, ...Given.targets, ...Servers.targets]

/** What one round found, by target. */
export const round = Effect.fnUntraced(function* (seed: string, runs: number) {
  const found: Array<string> = []
  for (const { name, run } of targets) {
    const exit = yield* Effect.exit(run(seed, runs))
    const failure = Exit.isSuccess(exit) ? exit.value : Cause.pretty(exit.cause)
    if (failure !== undefined) found.push(`${name}, seed ${seed}, ${runs} runs:\n${failure}`)
  }
  return found
})
