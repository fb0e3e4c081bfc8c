/** Commands as a user types them: in a folder, in an environment that knows nothing of this workspace. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { delimiter, dirname } from "node:path"

/** What a user was told to do did not work. */
export class ConsumerFailed extends Schema.TaggedError<ConsumerFailed>()("ConsumerFailed", {
  because: Schema.String
}) {
  override get message() {
    return this.because
  }
}

/** The environment without what pnpm puts into it for scripts, and with this Node before any other. */
export const environment = (node: string): Record<string, string> => {
  const ofScript = /^(npm_(?!config_)|npm_config_user_agent$|pnpm_|PNPM_SCRIPT|INIT_CWD$)/
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !ofScript.test(entry[0])
  )
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !/node_modules|node-gyp-bin/.test(folder))
  return { ...Object.fromEntries(own), PATH: [dirname(node), ...path].join(delimiter), NO_COLOR: "1", CI: "1" }
}

/** Runs a command to its end and gives what it printed. Anything but 0 fails, with both outputs. */
export const run = (
  [command, ...args]: readonly [string, ...ReadonlyArray<string>],
  options: { readonly cwd: string; readonly env?: Record<string, string> }
) => {
  const failed = (how: string, said = "") =>
    new ConsumerFailed({ because: `\`${command} ${args.join(" ")}\` ${how} in ${options.cwd}\n${said}` })
  return Effect.gen(function* () {
    const child = yield* ChildProcess.make(command, args, { ...options, stdin: "ignore", forceKillAfter: "2 seconds" })
    const text = (stream: typeof child.stdout) => Stream.mkString(Stream.decodeText(stream))
    const stderr = yield* Effect.forkScoped(text(child.stderr))
    const stdout = yield* text(child.stdout)
    const code = yield* child.exitCode
    return code === 0 ? stdout : yield* failed(`ended with ${code}`, `${stdout}\n${yield* Fiber.join(stderr)}`)
  }).pipe(
    Effect.scoped,
    Effect.timeoutOrElse({ duration: "3 minutes", orElse: () => failed("took longer than 3 minutes") })
  )
}
