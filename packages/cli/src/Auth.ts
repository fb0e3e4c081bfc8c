/**
 * `mcp-effect auth`: sign in at a server, see whether there is a token, and sign out. Tokens are kept in a file that
 * only its owner may read (`Places.tokens`).
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Authorization from "@mcp-effect/client/Authorization"
import * as AuthorizationFlow from "@mcp-effect/client/AuthorizationFlow"
import { AuthorizationNotices, describe } from "@mcp-effect/client/AuthorizationNotice"
import * as Browser from "@mcp-effect/client/Browser"
import * as ClientRegistration from "@mcp-effect/client/ClientRegistration"
import * as TokenStore from "@mcp-effect/client/TokenStore"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { CommandFailed } from "./ExitCode.ts"
import * as Places from "./Places.ts"
import * as Render from "./Render.ts"

/** Shows the address before a browser opens it. Where none opens, the person opens it. */
const browser = Layer.effect(
  Browser.Browser,
  Effect.map(Browser.Browser, (opener) => ({
    open: (address: URL) =>
      Effect.andThen(
        Console.error(`Sign in at ${Render.oneLine(address.href)}`),
        Effect.catch(opener.open(address), () =>
          Console.error("note: no browser was opened; open the address yourself")
        )
      )
  }))
).pipe(Layer.provide(Browser.layer()))

const flow = AuthorizationFlow.layerLoopback({
  listen: (port) => NodeHttpServer.layerServer(createServer, { port, host: "127.0.0.1" })
}).pipe(Layer.provide(browser))

const noting = Effect.provideService(AuthorizationNotices, (notice) =>
  Console.error(`note: ${Render.oneLine(describe(notice))}`)
)

/** Runs a program with the authorization of a server. */
const authorized = <A, E, R>(
  url: string,
  program: (authorization: Authorization.Authorization["Service"], isStored: () => boolean) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const store = yield* TokenStore.TokenStore
    let stored = false
    // What is under which key is the library's business; that a grant was found is all there is to know.
    const watched = TokenStore.TokenStore.of({
      ...store,
      get: (key) =>
        Effect.tap(store.get(key), (value) =>
          Effect.sync(() => {
            if (value !== undefined && key.startsWith("grant ")) stored = true
          })
        )
    })
    const authorization = yield* Effect.provideService(
      Authorization.make({ server: url }),
      TokenStore.TokenStore,
      watched
    )
    return yield* program(authorization, () => stored)
  }).pipe(
    Effect.scoped,
    noting,
    Effect.provide(Layer.mergeAll(NodeHttpClient.layerUndici, flow, ClientRegistration.layer())),
    Effect.provide(Layer.unwrap(Effect.map(Places.tokens, (path) => TokenStore.layerFile({ path })))),
    Effect.mapError(
      (error) =>
        new CommandFailed({
          exit: "denied",
          because: Render.lines(error instanceof Error ? error.message : "the sign-in failed")
        })
    )
  )

/**
 * `mcp-effect auth login`.
 *
 * @category running
 * @since 0.1.0
 */
export const login = (url: string) =>
  authorized(url, ({ signIn }) => Effect.andThen(signIn, Console.log(`${Render.oneLine(url)} can be used`)))

/**
 * `mcp-effect auth logout`.
 *
 * @category running
 * @since 0.1.0
 */
export const logout = (url: string) =>
  authorized(url, ({ signOut }) =>
    Effect.andThen(signOut({ forget: true }), Console.log(`${Render.oneLine(url)}: signed out`))
  )

/**
 * `mcp-effect auth status`. Sends nothing.
 *
 * @category running
 * @since 0.1.0
 */
export const status = (url: string, json: boolean) =>
  authorized(url, (_, isStored) => {
    const signedIn = isStored()
    const text = `${Render.oneLine(url)}: ${signedIn ? "a token is kept" : "no token is kept"}`
    return Console.log(json ? Render.json({ server: url, signedIn }) : text)
  })
