/**
 * `mcp-effect auth`: sign in at a server, see whether there is a token, and sign out. Tokens are kept in a file that
 * only its owner may read (`Places.tokens`).
 *
 * @since 0.1.0
 */
import * as Authorization from "@mcp-effect/client/Authorization"
import type { AuthorizationError } from "@mcp-effect/client/AuthorizationError"
import { AuthorizationNotices, describe } from "@mcp-effect/client/AuthorizationNotice"
import * as ClientRegistration from "@mcp-effect/client/ClientRegistration"
import * as TokenStore from "@mcp-effect/client/TokenStore"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Answer from "./Answer.ts"
import * as Connecting from "./Connecting.ts"
import { CommandFailed } from "./ExitCode.ts"
import * as Http from "./Http.ts"
import * as Places from "./Places.ts"
import * as Render from "./Render.ts"
import * as SignIn from "./SignIn.ts"
import * as Target from "./Target.ts"

const noting = Effect.provideService(AuthorizationNotices, (notice) =>
  Console.error(`note: ${Render.oneLine(describe(notice))}`)
)

/**
 * What was typed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Given {
  readonly server: string
  readonly config: Option.Option<string>
  readonly json: boolean
}

/** The address of the server: as it was typed, or as a configuration has it under that name. */
const addressOf = Effect.fnUntraced(function* ({ config, server }: Given) {
  const refused = (because: string) =>
    new CommandFailed({ exit: "usage", because: `${Render.clip(Render.oneLine(server), 80)}: ${because}` })
  if (Target.isUrl(server)) {
    const because = Target.problemOf(server)
    return because === undefined ? server : yield* refused(because)
  }
  const entry = yield* Connecting.entryOf({ name: server }, { config })
  return entry.type === "stdio" ? yield* refused("one signs in at a URL, and this server is a process") : entry.url
})

const failed = (error: AuthorizationError | TokenStore.TokenStoreError | CommandFailed): CommandFailed => {
  if (error._tag === "CommandFailed") return error
  if (error._tag !== "AuthorizationError")
    return new CommandFailed({ exit: "input", because: Render.lines(error.message) })
  const { message, _tag } = error.reason
  return new CommandFailed({
    exit: _tag === "EndpointFailed" ? "unreachable" : "denied",
    because: Render.lines(message)
  })
}

/** Runs a program with the authorization of a server, and says whether a token is kept after it. */
const authorized = (
  given: Given,
  program: (authorization: Authorization.Authorization["Service"]) => Effect.Effect<void, AuthorizationError>,
  said: (signedIn: boolean) => string
) =>
  Effect.gen(function* () {
    const server = yield* addressOf(given)
    let signedIn = false
    const work = Effect.gen(function* () {
      const store = yield* TokenStore.TokenStore
      // What is under which key is the library's business; that a grant is there is all there is to know.
      const seen = (key: string, isThere: boolean) =>
        Effect.sync(() => {
          if (key.startsWith("grant ")) signedIn = isThere
        })
      const watched = TokenStore.TokenStore.of({
        ...store,
        get: (key) => Effect.tap(store.get(key), (value) => seen(key, value !== undefined)),
        set: (key, value) => Effect.tap(store.set(key, value), () => seen(key, true)),
        remove: (key) => Effect.tap(store.remove(key), () => seen(key, false))
      })
      const authorization = yield* Effect.provideService(Authorization.make({ server }), TokenStore.TokenStore, watched)
      yield* program(authorization)
    })
    yield* work.pipe(
      Effect.scoped,
      noting,
      Effect.provide(
        Layer.mergeAll(
          Http.layer,
          SignIn.layer,
          Layer.orDie(ClientRegistration.layer()),
          Layer.unwrap(Effect.map(Places.tokens, (path) => TokenStore.layerFile({ path })))
        )
      ),
      Effect.mapError(failed)
    )
    yield* Answer.print(given, { server, signedIn }, () => `${Render.oneLine(server)}: ${said(signedIn)}`)
  })

/**
 * `mcp-effect auth login`.
 *
 * @category running
 * @since 0.1.0
 */
export const login = (given: Given) =>
  authorized(
    given,
    ({ signIn }) => signIn,
    (signedIn) => (signedIn ? "signed in" : "no sign-in is needed")
  )

/**
 * `mcp-effect auth logout`.
 *
 * @category running
 * @since 0.1.0
 */
export const logout = (given: Given) =>
  authorized(
    given,
    ({ signOut }) => signOut({ forget: true }),
    () => "signed out"
  )

/**
 * `mcp-effect auth status`. Sends nothing.
 *
 * @category running
 * @since 0.1.0
 */
export const status = (given: Given) =>
  authorized(
    given,
    () => Effect.void,
    (signedIn) => (signedIn ? "a token is kept" : "no token is kept")
  )
