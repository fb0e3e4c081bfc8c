/** A target of the fuzzer: what it is fed, and what must hold. */
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"

/** A target: what it is fed, and what must hold. Runs once with a seed; the text of a failure, if there is one. */
export interface Target {
  readonly name: string
  readonly run: (seed: string, runs: number) => Effect.Effect<string | undefined>
}

/** A target of one property, which runs on a share of the runs. */
export const target = <A>(
  name: string,
  inputs: Arbitrary.Arbitrary<A>,
  property: (input: A) => boolean | Effect.Effect<boolean>,
  share = 1
): Target => ({
  name,
  run: (seed, runs) =>
    Effect.map(
      Arbitrary.checkEffect(
        inputs,
        (input) => {
          const held = property(input)
          return typeof held === "boolean" ? Effect.succeed(held) : held
        },
        { runs: Math.ceil(runs * share), seed }
      ),
      (result) => (result._tag === "Passed" ? undefined : Arbitrary.formatCheckFailure(result))
    )
})

/** Whether an effect ends with a value or a typed error. */
export const endsTyped = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<boolean, never, R> =>
  Effect.map(
    Effect.exit(effect),
    (exit) => Exit.isSuccess(exit) || exit.cause.reasons.every((reason) => reason._tag === "Fail")
  )

/**
 * The same for what connects to scripted servers: on a clock of its own, without logs and without a memory of eras. It
 * has to end, too.
 */
export const quiet = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<boolean> =>
  effect.pipe(
    Effect.scoped,
    endsTyped,
    Effect.timeoutOption("1 hour"),
    Effect.map((held) => held._tag === "Some" && held.value),
    ScriptedServer.unhurried,
    Effect.provide([EraMemory.layerNone, Logger.layer([])])
  )
