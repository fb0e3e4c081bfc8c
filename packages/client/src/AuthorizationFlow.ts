/**
 * How a person signs in: an address is shown, and an answer comes back to the redirect address.
 *
 * Three ways are here. `layerLoopback` opens the browser and listens on this machine; `layerManual` hands the address to
 * your program and takes back the address the browser ended at; `layerUnavailable` asks nobody, for programs that may
 * only use what is already granted. The library makes the address and judges the answer; a flow only carries them.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HttpServer } from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { AuthorizationNotices } from "./AuthorizationNotice.ts"
import { type CallbackPortBusy, SignInUnavailable } from "./AuthorizationError.ts"
import { Browser } from "./Browser.ts"
import * as Loopback from "./internal/authorization/loopback.ts"

/**
 * What stands in the way of signing in.
 *
 * @category errors
 * @since 0.1.0
 */
export type FlowError = SignInUnavailable | CallbackPortBusy

/**
 * The page to show, and how to know its answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  /** https, or http on the loopback. Not for logs: it holds the `state` of this attempt. */
  readonly address: URL
  readonly issuer: string
  /** Whether the parameters of a callback belong to this attempt. Others are not for us and change nothing. */
  readonly isAnswer: (parameters: URLSearchParams) => boolean
}

/**
 * One sign-in, ready to be shown. What it holds, such as a listener, ends with its scope.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attempt {
  /** Where the answer will come; registered and sent exactly so (A-4-6). */
  readonly redirectUri: string
  /** Shows the page and waits for the parameters of its answer. The caller bounds the waiting. */
  readonly visit: (page: Page) => Effect.Effect<URLSearchParams, FlowError>
}

/**
 * The service. `begin` gets the addresses the client is registered with, if any; the attempt must use one of them.
 *
 * @category services
 * @since 0.1.0
 */
export class AuthorizationFlow extends Context.Service<
  AuthorizationFlow,
  {
    readonly begin: (options: {
      readonly issuer: string
      readonly redirectUris: ReadonlyArray<string> | undefined
    }) => Effect.Effect<Attempt, FlowError, Scope.Scope>
  }
>()("@mcp-effect/client/AuthorizationFlow") {}

/**
 * How to listen.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoopbackOptions {
  /**
   * A server that listens on this port of the loopback and nowhere else, for one sign-in. On Node:
   * `(port) => NodeHttpServer.layerServer(createServer, { port, host: "127.0.0.1" })`.
   */
  readonly listen: (port: number) => Layer.Layer<HttpServer, ServeError>
  /**
   * The port when nothing is registered yet. 0, the default, takes any free one; what was registered with it is used
   * again from then on.
   */
  readonly port?: number
  /** The host in the redirect address. `127.0.0.1` by default; some servers only register `localhost`. */
  readonly host?: "127.0.0.1" | "localhost"
  /** `/callback` by default. */
  readonly path?: string
}

/**
 * Opens the browser and listens on the loopback for the answer.
 *
 * The listener answers only to its own host, path and attempt, shows a fixed page, and ends with the first answer that
 * belongs to the attempt (T-SEC-9). A registered port that is taken fails with `CallbackPortBusy` before any browser
 * opens. When the browser cannot be opened the failure is `SignInUnavailable`.
 *
 * @example
 * ```ts
 * AuthorizationFlow.layerLoopback({
 *   listen: (port) => NodeHttpServer.layerServer(createServer, { port, host: "127.0.0.1" })
 * }).pipe(Layer.provide(Browser.layer()), Layer.provide(NodeServices.layer))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLoopback = (options: LoopbackOptions): Layer.Layer<AuthorizationFlow, never, Browser> =>
  Layer.effect(
    AuthorizationFlow,
    Effect.gen(function* () {
      const browser = yield* Browser
      const report = yield* AuthorizationNotices
      const { host = "127.0.0.1", listen, path = "/callback", port = 0 } = options
      return AuthorizationFlow.of({
        begin: ({ redirectUris }) => Loopback.begin({ browser, report, listen, host, path, port }, redirectUris)
      })
    })
  )

/**
 * Hands the address to `ask`, which shows it to a person and gives back the address the browser was sent to.
 *
 * @example
 * ```ts
 * AuthorizationFlow.layerManual({
 *   redirectUri: "https://example.com/callback",
 *   ask: (address) => Terminal.prompt(`Open ${address} and paste the address you end at`)
 * })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerManual = (options: {
  readonly redirectUri: string
  readonly ask: (address: URL) => Effect.Effect<string, SignInUnavailable>
}): Layer.Layer<AuthorizationFlow> =>
  Layer.succeed(AuthorizationFlow, {
    begin: () =>
      Effect.succeed({
        redirectUri: options.redirectUri,
        visit: ({ address }) =>
          Effect.flatMap(options.ask(address), (answer) => {
            const parsed = Result.try(() => new URL(answer.trim()))
            return Result.isSuccess(parsed)
              ? Effect.succeed(parsed.success.searchParams)
              : Effect.fail(new SignInUnavailable({ because: "what was given back is no address" }))
          })
      })
  })

/**
 * Asks nobody: whatever would need a sign-in fails with `SignInUnavailable`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerUnavailable: Layer.Layer<AuthorizationFlow> = Layer.succeed(AuthorizationFlow, {
  begin: () => Effect.fail(new SignInUnavailable({ because: "this program asks nobody" }))
})
