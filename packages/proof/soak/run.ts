/** `node run.ts [--minutes N] [--seed N] [--callers N]`: the soak, with its report; exits with 1 when a promise is broken. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { parseArgs } from "node:util"
import * as Soak from "./Soak.ts"

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--"),
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
    callers: { type: "string", default: "64" }
  }
})

const program = Effect.gen(function* () {
  const report = yield* Soak.run({
    seed: Number(values.seed),
    seconds: Number(values.minutes) * 60,
    callers: Number(values.callers)
  })
  yield* Console.log(JSON.stringify(report, null, 2))
  const broken = Soak.broken(report)
  yield* Console.log(broken.length === 0 ? "every promise held" : broken.join("\n"))
  process.exitCode = broken.length === 0 ? 0 : 1
})

program.pipe(Effect.provide([NodeServices.layer, NodeHttp.layer]), NodeRuntime.runMain)
