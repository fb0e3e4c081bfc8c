/**
 * `node run.ts [--seed N] [--seconds N] [--runs N]`: rounds of fuzzing until the time is over, a minute by default. A
 * failure is printed with its seed and its smallest input, and ends the run with 1; `--seed S-R` repeats that round alone.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { parseArgs } from "node:util"
import * as Fuzz from "./Fuzz.ts"

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--"),
  options: {
    seed: { type: "string", default: "1" },
    seconds: { type: "string", default: "60" },
    runs: { type: "string", default: "400" }
  }
})
const runs = Number(values.runs)

const program = Effect.gen(function* () {
  const until = (yield* Clock.currentTimeMillis) + Number(values.seconds) * 1000
  const one = values.seed.includes("-")
  let rounds = 0
  do {
    const seed = one ? values.seed : `${values.seed}-${rounds}`
    const found = yield* Fuzz.round(seed, runs)
    rounds++
    if (found.length > 0) {
      yield* Console.log(found.join("\n\n"))
      process.exitCode = 1
      return
    }
  } while (!one && (yield* Clock.currentTimeMillis) < until)
  yield* Console.log(`${rounds} rounds of ${Fuzz.targets.length} targets, seed ${values.seed}: nothing found`)
})

program.pipe(NodeRuntime.runMain)
