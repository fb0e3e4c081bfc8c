/**
 * Authorization end to end: our client, a real authorization server, a protected server on the official SDK, and a person
 * at a real browser.
 *
 * `node run.ts` prints a line for each step, with what the person had to do for it, and exits with 1 at the first one
 * that goes otherwise. `CHROMIUM` names the browser; without it `chromium` on PATH is started. Everything listens on the
 * loopback, and no process is left.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Authorization from "@mcp-effect/client/Authorization"
import * as AuthorizationFlow from "@mcp-effect/client/AuthorizationFlow"
import * as Browser from "@mcp-effect/client/Browser"
import * as ClientRegistration from "@mcp-effect/client/ClientRegistration"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as TokenStore from "@mcp-effect/client/TokenStore"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import * as Person from "./person.ts"
import * as ProtectedServer from "./protectedServer.ts"
import * as Provider from "./provider.ts"

class StepFailed extends Data.TaggedError("StepFailed")<{ readonly step: string; readonly because: string }> {
  override readonly [Runtime.errorExitCode] = 1
  override get message() {
    return `${this.step}: ${this.because}`
  }
}

const setting = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const provider = yield* Provider.start
  const server = yield* ProtectedServer.start(provider.issuer)
  const person = yield* Person.start(yield* Config.withDefault(Config.String("CHROMIUM"), "chromium"))
  const store = path.join(yield* fs.makeTempDirectoryScoped({ prefix: "mcp-tokens-" }), "tokens.json")

  /** A program that starts, does something with the server, and ends; what it stored stays. */
  const program = <A, E>(use: Effect.Effect<A, E, HttpClient.HttpClient | Authorization.Authorization | Scope.Scope>) =>
    Effect.scoped(
      Effect.provide(
        use,
        Authorization.layer({ server: server.url }).pipe(
          Layer.provide([
            AuthorizationFlow.layerLoopback({
              listen: (port) => NodeHttpServer.layerServer(createServer, { port, host: "127.0.0.1" })
            }).pipe(Layer.provide(Layer.succeed(Browser.Browser, person.browser))),
            ClientRegistration.layer({ dynamic: { clientName: "The proof" } }),
            TokenStore.layerFile({ path: store }),
            NodeHttp.layer
          ])
        )
      )
    )

  /** Runs a step: the person must have done just `deeds`, and tokens been renewed `refreshes` times. */
  const step = <A, E, R>(
    title: string,
    expects: { readonly deeds: string; readonly refreshes: number },
    work: Effect.Effect<A, E, R>
  ) =>
    Effect.gen(function* () {
      const before = provider.given("refresh_token")
      yield* person.did
      const result = yield* work
      const deeds = yield* person.did
      const refreshes = provider.given("refresh_token") - before
      const found = `person: ${deeds === "" ? "nothing" : deeds}; refreshes: ${refreshes}`
      if (deeds !== expects.deeds || refreshes !== expects.refreshes) {
        const wanted = `person: ${expects.deeds === "" ? "nothing" : expects.deeds}; refreshes: ${expects.refreshes}`
        return yield* new StepFailed({ step: title, because: `${found}, and not ${wanted}` })
      }
      yield* Console.log(`ok  ${title.padEnd(68)} ${found}`)
      return result
    })

  return { provider, server, person, store, program, step }
})

const silent = { deeds: "", refreshes: 0 }

const ensure = (step: string, holds: boolean, because: string) =>
  holds ? Effect.void : Effect.fail(new StepFailed({ step, because }))

/** Calls a tool and compares what it says. */
const call = Effect.fnUntraced(function* (
  client: McpClient.McpClient["Service"],
  tool: string,
  input: Readonly<Record<string, unknown>>,
  expected: string
) {
  const { content } = yield* client.callTool(tool, input)
  const [first] = content
  const said = first?.type === "text" ? first.text : "no text"
  yield* ensure(tool, said === expected, `it said ${said}`)
})

const echo = (client: McpClient.McpClient["Service"]) => call(client, "echo", { text: "hello" }, "hello")

const proof = Effect.gen(function* () {
  const { person, program, provider, server, step, store } = yield* setting
  const fs = yield* FileSystem.FileSystem
  const connect = McpClient.connect(server.url)
  yield* Console.log(`authorization server ${provider.issuer}, protected server ${server.url}\n`)

  yield* person.willConsent(false)
  yield* step(
    "who declines is not signed in, and the program learns why",
    { deeds: "opened, declined, returned", refreshes: 0 },
    program(
      Effect.gen(function* () {
        const error = yield* Effect.flip(connect)
        const found = Authorization.errorIn(error)
        const tag = Option.match(found, { onNone: () => "nothing", onSome: ({ reason }) => reason._tag })
        yield* ensure("declining", tag === "SignInDeclined", `found ${tag} behind: ${error.message}`)
      })
    )
  )
  yield* person.willConsent(true)

  yield* program(
    Effect.gen(function* () {
      const client = yield* step(
        "a new user signs in once",
        { deeds: "opened, signed in, consented, returned", refreshes: 0 },
        connect
      )
      yield* step("a tool is called", silent, echo(client))
    })
  )

  yield* program(
    Effect.gen(function* () {
      const client = yield* step("the program starts again and is let in", silent, connect)
      yield* step(
        "a token that has ended is renewed",
        { deeds: "", refreshes: 1 },
        Effect.andThen(Effect.sleep(`${Provider.tokenLife + 1} seconds`), echo(client))
      )
      yield* step(
        "50 calls at once with a token that was taken back share one renewal",
        { deeds: "", refreshes: 1 },
        Effect.andThen(
          provider.endAccessTokens,
          Effect.all(
            Array.from({ length: 50 }, () => echo(client)),
            { concurrency: "unbounded", discard: true }
          )
        )
      )
      // The first page comes back by itself: this server holds a client to the scopes it was registered with.
      yield* step(
        "a tool that wants one scope more gets it with a new consent",
        { deeds: "opened, returned, opened, consented, returned", refreshes: 0 },
        call(client, "add", { a: 2, b: 3 }, "5")
      )
      yield* step(
        "after everything was revoked the user is asked again",
        { deeds: "opened, consented, returned", refreshes: 0 },
        Effect.andThen(provider.revokeEverything, echo(client))
      )
      const { signOut } = yield* Authorization.Authorization
      yield* step("signing out takes the token back and forgets it", silent, signOut())
      const last = server.tokens().at(-1) ?? ""
      yield* ensure("signing out", !(yield* server.isActive(last)), "the token is still good")
      yield* ensure("signing out", !(yield* fs.readFileString(store)).includes(last), "the token is still stored")
      yield* step("who signed out signs in again", { deeds: "opened, consented, returned", refreshes: 0 }, echo(client))
    })
  )

  yield* ensure("registration", provider.registered() === 2, `${provider.registered()} clients were registered`)
  // One refresh token is refused, the one that was revoked: none was ever used twice.
  yield* ensure("renewals", provider.refused() === 1, `the token endpoint refused ${provider.refused()} times`)
  yield* Console.log(`\n${server.tokens().length} tokens, 2 registrations, no failure.`)
})

proof.pipe(Effect.scoped, Effect.timeout("5 minutes"), Effect.provide(NodeServices.layer), NodeRuntime.runMain)
