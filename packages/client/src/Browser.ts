/**
 * Opens an address in the user's browser.
 *
 * Only http and https addresses are opened (T-SEC-1, M-AUTH-40), each passed as one argument to the platform's own
 * opener, never through a shell.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"

/**
 * The address was not opened: it is no web address, or the platform's opener is missing or failed.
 *
 * What to change: open the address by hand, or provide a `Browser` of your own that shows it to the user.
 *
 * @category errors
 * @since 0.1.0
 */
export class BrowserError extends Schema.TaggedError<BrowserError>()("BrowserError", {
  because: Schema.String
}) {
  override get message() {
    return `no browser was opened: ${this.because}`
  }
}

/**
 * Opens addresses.
 *
 * @category services
 * @since 0.1.0
 */
export class Browser extends Context.Service<
  Browser,
  {
    readonly open: (address: URL) => Effect.Effect<void, BrowserError>
  }
>()("@mcp-effect/client/Browser") {}

/**
 * Whether an address may be opened at all.
 *
 * @category guards
 * @since 0.1.0
 */
export const isWebAddress = ({ protocol }: URL): boolean => protocol === "https:" || protocol === "http:"

/**
 * The command that opens an address on a platform (`process.platform`), as a program and its arguments.
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = (platform: string, address: URL): readonly [string, ...ReadonlyArray<string>] => {
  switch (platform) {
    case "darwin":
      return ["open", address.href]
    case "win32":
      return ["rundll32", "url.dll,FileProtocolHandler", address.href]
    default:
      return ["xdg-open", address.href]
  }
}

/** The platform this runs on; Linux where nothing tells. */
const here = (): string => {
  const process: unknown = Reflect.get(globalThis, "process")
  return Predicate.hasProperty(process, "platform") && typeof process.platform === "string" ? process.platform : "linux"
}

/**
 * Makes a `Browser` of any way to open an address; anything but a web address never reaches it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (open: (address: URL) => Effect.Effect<void, BrowserError>): Browser["Service"] => ({
  open: (address) =>
    isWebAddress(address)
      ? open(address)
      : Effect.fail(new BrowserError({ because: `${address.protocol} is no protocol of the web` }))
})

/** An opener that is still running after this has become the browser. */
const patience = Duration.seconds(3)

const run = Effect.fnUntraced(function* (
  spawner: ChildProcessSpawner["Service"],
  [program, ...args]: readonly [string, ...ReadonlyArray<string>]
): Effect.fn.Return<void, BrowserError> {
  const failed = ({ reason }: PlatformError) => new BrowserError({ because: `\`${program}\`: ${reason._tag}` })
  // Closed only once the opener has ended: some openers become the browser, which must not end with this call.
  const scope = yield* Scope.make()
  const handle = yield* spawner
    .spawn(ChildProcess.make(program, args, { stdin: "ignore", stdout: "ignore", stderr: "ignore" }))
    .pipe(Scope.provide(scope), Effect.mapError(failed))
  yield* Effect.ignore(handle.unref)
  const code = yield* handle.exitCode.pipe(Effect.mapError(failed), Effect.timeoutOption(patience))
  if (Option.isNone(code)) return
  yield* Scope.close(scope, Exit.void)
  if (Number(code.value) !== 0) {
    return yield* new BrowserError({ because: `\`${program}\` ended with exit code ${code.value}` })
  }
})

/**
 * Opens with the platform's opener: `xdg-open`, `open` or `rundll32`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: {
  /** As in `process.platform`; the platform this runs on by default. */
  readonly platform?: string
}): Layer.Layer<Browser, never, ChildProcessSpawner> =>
  Layer.effect(
    Browser,
    Effect.map(ChildProcessSpawner, (spawner) =>
      make((address) => run(spawner, command(options?.platform ?? here(), address)))
    )
  )
