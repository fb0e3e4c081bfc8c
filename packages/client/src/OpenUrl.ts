/**
 * Addresses that a server asks the user to open (M-ELI-19 to 30, T-SEC-10): whether one may be opened at all, how to show
 * it, and a handler that asks first.
 *
 * Nothing here opens or fetches anything by itself. Who opens is given to `handler`, for example the `Browser` of this
 * package, which starts no shell.
 *
 * @since 0.1.0
 */
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { HandlerRefused } from "./Handlers.ts"

/**
 * The longest address that is opened, in characters. 8,192.
 *
 * @category bounds
 * @since 0.1.0
 */
export const maxLength = 8_192

/**
 * The address may not be opened. The client refuses it before any handler sees it.
 *
 * What to change: nothing: the server must not ask for such an address.
 *
 * @category errors
 * @since 0.1.0
 */
export class UrlRefused extends Schema.TaggedError<UrlRefused>()("UrlRefused", {
  because: Schema.String
}) {
  override get message() {
    return `the address may not be opened: ${this.because}`
  }
}

/**
 * An address that may be opened once the user agrees.
 *
 * @category models
 * @since 0.1.0
 */
export interface Address {
  /** What to open. */
  readonly url: URL
  /** The whole address to show, in ASCII: what looks like another letter shows as what it is. */
  readonly shown: string
  /** Whose page it is; show it on its own, in ASCII. */
  readonly host: string
  /** What to warn of beside it; often empty. */
  readonly warnings: ReadonlyArray<string>
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

// oxlint-disable-next-line no-control-regex -- these are what is looked for
const hidden = /[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\\]/

/**
 * Whether an address may be opened: `https:` anywhere and `http:` on this machine only, without user and password (which
 * make a host look like another), without spaces, backslashes and invisible characters, at most 8,192 characters long.
 *
 * @example
 * ```ts
 * import { OpenUrl } from "@mcp-effect/client"
 *
 * OpenUrl.check("https://example.com@evil.test/") // a failure: it holds a user name
 * ```
 *
 * @category checking
 * @since 0.1.0
 */
export const check = (address: string): Result.Result<Address, UrlRefused> => {
  const refuse = (because: string) => Result.fail(new UrlRefused({ because }))
  if (address.length > maxLength) return refuse(`it is longer than ${maxLength} characters`)
  if (hidden.test(address)) return refuse("it holds spaces, backslashes or characters that do not show")
  const parsed = Result.try(() => new URL(address))
  if (Result.isFailure(parsed)) return refuse("it is not an absolute address")
  const url = parsed.success
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse(`it begins with ${url.protocol}, not https:`)
  if (url.username !== "" || url.password !== "") return refuse("it holds a user name, which can pass for a host")
  if (url.protocol === "http:" && !loopback.test(url.hostname)) {
    return refuse("it is not encrypted (http:), and not on this machine")
  }
  return Result.succeed({ url, shown: url.href, host: url.host, warnings: warningsOf(url) })
}

const warningsOf = ({ hostname, port }: URL): ReadonlyArray<string> => [
  ...(hostname.split(".").some((label) => label.startsWith("xn--"))
    ? ["the name of the host has letters of other scripts, which can look like another name"]
    : []),
  ...(/^[\d.]+$|^\[/.test(hostname) && !loopback.test(hostname) ? ["the host is a number, not a name"] : []),
  ...(port !== "" && !loopback.test(hostname) ? [`the host is asked on port ${port}, which is not the usual one`] : [])
]

/**
 * A handler for `handlers.elicitation.url` that asks the user and then opens the address. `ask` shows the whole address,
 * its host and the warnings, and who asks; only `accept` opens. An address that could not be opened is `cancel`.
 *
 * @category handlers
 * @since 0.1.0
 */
export const handler =
  <E, R1, R2>(how: {
    readonly ask: (
      address: Address,
      question: Elicitation.UrlParams
    ) => Effect.Effect<Elicitation.Result["action"], HandlerRefused, R1>
    readonly open: (url: URL) => Effect.Effect<void, E, R2>
  }) =>
  (question: Elicitation.UrlParams): Effect.Effect<Elicitation.Result, HandlerRefused, R1 | R2> =>
    Effect.gen(function* () {
      const address = yield* Effect.mapError(
        Effect.fromResult(check(question.url)),
        ({ message }) => new HandlerRefused({ because: message })
      )
      const action = yield* how.ask(address, question)
      if (action !== "accept") return { action }
      return yield* Effect.match(how.open(address.url), {
        onFailure: (): Elicitation.Result => ({ action: "cancel" }),
        onSuccess: () => ({ action })
      })
    })
