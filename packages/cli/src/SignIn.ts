/**
 * How a person signs in: the browser opens, and the answer comes back to a listener on this machine.
 *
 * @since 0.1.0
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as AuthorizationFlow from "@mcp-effect/client/AuthorizationFlow"
import * as Browser from "@mcp-effect/client/Browser"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Prompt from "effect/cli/Prompt"
import { createServer } from "node:http"
import * as Ask from "./Ask.ts"
import * as Progress from "./Progress.ts"
import * as Render from "./Render.ts"

const through = <R>(browser: Layer.Layer<Browser.Browser, never, R>) =>
  AuthorizationFlow.layerLoopback({
    listen: (port) => NodeHttpServer.layerServer(createServer, { port, host: "127.0.0.1" })
  }).pipe(Layer.provide(browser))

/** Shows the address before a browser opens it. */
const shown = Layer.effect(
  Browser.Browser,
  Effect.map(Browser.Browser, ({ open }) => ({
    open: (address: URL) => Effect.andThen(Console.error(`Sign in at ${Render.oneLine(address.href)}`), open(address))
  }))
).pipe(Layer.provide(Ask.browser))

/**
 * Signs in at once, for a person who asked for it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = through(shown)

/**
 * Signs in after a yes, for a command that turns out to need it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerAsking = through(
  Layer.effect(
    Browser.Browser,
    Effect.gen(function* () {
      const { open } = yield* Browser.Browser
      const context = yield* Effect.context<Prompt.Environment>()
      let agreed = false
      return Browser.make((address) =>
        Effect.gen(function* () {
          // One sign-in may take several pages.
          if (agreed) return yield* open(address)
          yield* Progress.leave
          const message = `This needs a sign-in at ${Render.oneLine(address.host)}. Open it in your browser?`
          agreed = yield* Ask.ask(Prompt.Confirm({ message, initial: false }))
          if (!agreed) return yield* new Browser.BrowserError({ because: "you said no" })
          yield* open(address)
        }).pipe(
          Effect.catchTag("CommandFailed", () => Effect.fail(new Browser.BrowserError({ because: "you said no" }))),
          Effect.provideContext(context)
        )
      )
    })
  ).pipe(Layer.provide(shown))
)
