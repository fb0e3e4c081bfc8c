/**
 * The HTTP client of the command: the one that is there already, or Node's, which is loaded at need and goes through the
 * proxy that the environment names.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { CommandFailed } from "./ExitCode.ts"
import { isUrl } from "./Target.ts"

/** The first that is set counts, and may be empty: lower case before upper case, as in other programs. */
const names = [
  ["http_proxy", "HTTP_PROXY"],
  ["https_proxy", "HTTPS_PROXY"]
] as const

/** The proxies that the environment names, for `http:` and `https:` addresses. Many are written without a scheme. */
const proxies = () =>
  names.map((both) => {
    const name = both.find((one) => process.env[one] !== undefined)
    const address = name === undefined ? "" : (process.env[name] ?? "").trim()
    return { name, address: address === "" || isUrl(address) ? address : `http://${address}` }
  })

/**
 * The variables that name a proxy now, for a message about a server that was not reached: `HTTPS_PROXY`.
 *
 * @category accessors
 * @since 0.1.0
 */
export const proxyNames = (): ReadonlyArray<string> =>
  proxies().flatMap(({ address, name }) => (name === undefined || address === "" ? [] : [name]))

/** Node's client. Hosts in `NO_PROXY` are reached without a proxy: undici reads it with each request. */
const node = Layer.effect(
  HttpClient,
  Effect.gen(function* () {
    const [{ make }, { EnvHttpProxyAgent }] = yield* Effect.promise(() =>
      Promise.all([import("@mcp-effect/transport/NodeHttp"), import("undici")])
    )
    const [http, https] = proxies()
    const dispatcher = yield* Effect.acquireRelease(
      Effect.try({
        try: () => new EnvHttpProxyAgent({ httpProxy: http?.address ?? "", httpsProxy: https?.address ?? "" }),
        // Its own words would show the address, and the password in it.
        catch: () =>
          new CommandFailed({
            exit: "usage",
            because: `${proxyNames().join(" or ")} names no proxy; write http://host:port or http://user:password@host:port`
          })
      }),
      (agent) => Effect.promise(() => agent.destroy())
    )
    return make(dispatcher)
  })
)

/**
 * The HTTP client. Fails with `usage` when a variable that should name a proxy does not.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<HttpClient, CommandFailed> = Layer.unwrap(
  Effect.map(Effect.serviceOption(HttpClient), (given) =>
    Option.isSome(given) ? Layer.succeed(HttpClient, given.value) : node
  )
)
