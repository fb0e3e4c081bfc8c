/** A listener on the loopback for the answer of one sign-in (T-SEC-9, T-OAUTH-6). */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { HttpServer } from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { Attempt, FlowError, Page } from "../../AuthorizationFlow.ts"
import { CallbackPortBusy, SignInUnavailable } from "../../AuthorizationError.ts"
import { AuthorizationNotice, type Report } from "../../AuthorizationNotice.ts"
import type { Browser } from "../../Browser.ts"
import * as Reach from "./reach.ts"

export interface Settings {
  readonly browser: Browser["Service"]
  readonly report: Report
  readonly listen: (port: number) => Layer.Layer<HttpServer, ServeError>
  readonly host: string
  readonly port: number
  readonly path: string
}

interface Target {
  readonly port: number
  readonly path: string
  /** The redirect address once the port is known. */
  readonly redirectUri: (port: number) => string
}

/** The first registered address this machine can answer. A registered one without a port may use any (RFC 8252). */
const targetOf = (
  { host, path, port }: Settings,
  registered: ReadonlyArray<string> | undefined
): Target | undefined => {
  if (registered === undefined) return { port, path, redirectUri: (bound) => `http://${host}:${bound}${path}` }
  for (const address of registered) {
    const parsed = Result.try(() => new URL(address))
    if (Result.isFailure(parsed)) continue
    const url = parsed.success
    if (url.protocol !== "http:" || Reach.of(url) !== "loopback") continue
    if (url.port !== "") return { port: Number(url.port), path: url.pathname, redirectUri: () => address }
    return {
      port,
      path: url.pathname,
      redirectUri: (bound) => {
        const own = new URL(url)
        own.port = String(bound)
        return own.href
      }
    }
  }
  return undefined
}

const page = (status: number, text: string) =>
  HttpServerResponse.text(`<!doctype html><meta charset="utf-8"><title>Sign-in</title><p>${text}</p>`, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      connection: "close",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff"
    }
  })

const done = page(200, "You can close this window and go back to your program.")
const foreign = page(404, "There is nothing here.")

const isBusy = ({ cause }: ServeError) =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "EADDRINUSE"

/** Listens until its scope ends. */
export const begin = Effect.fnUntraced(function* (
  settings: Settings,
  registered: ReadonlyArray<string> | undefined
): Effect.fn.Return<Attempt, FlowError, Scope.Scope> {
  const target = targetOf(settings, registered)
  if (target === undefined) {
    const because = "none of the client's registered redirect addresses is http on this machine"
    return yield* new SignInUnavailable({ because })
  }
  const scope = yield* Scope.make()
  // A browser may keep its connection; the program does not wait for it.
  yield* Effect.addFinalizer((exit) =>
    Effect.asVoid(Effect.forkDetach(Scope.close(scope, exit), { startImmediately: true }))
  )
  const server = yield* Layer.buildWithScope(settings.listen(target.port), scope).pipe(
    Effect.map((context) => Context.get(context, HttpServer)),
    Effect.mapError((error) =>
      isBusy(error)
        ? new CallbackPortBusy({ port: target.port })
        : new SignInUnavailable({ because: `no listener for the answer: port ${target.port} cannot be used` })
    )
  )
  const { address } = server
  if (!NetAddress.isInetAddress(address) || !NetAddress.isLoopback(address.address)) {
    return yield* new SignInUnavailable({ because: "the listener is not bound to the loopback" })
  }
  const redirectUri = target.redirectUri(address.port)
  const { host } = new URL(redirectUri)
  const answered = yield* Deferred.make<URLSearchParams>()
  let expected: Page | undefined

  const respond = Effect.map(HttpServerRequest, ({ headers, method, url }) => {
    const asked = Result.try(() => new URL(url, redirectUri))
    if (Result.isFailure(asked) || expected === undefined) return foreign
    const { pathname, searchParams } = asked.success
    const ours = method === "GET" && headers.host === host && pathname === target.path
    if (!ours || !expected.isAnswer(searchParams)) return foreign
    // One answer only, whatever comes after.
    expected = undefined
    Deferred.doneUnsafe(answered, Effect.succeed(searchParams))
    return done
  })
  yield* Scope.provide(server.serve(respond), scope)

  return {
    redirectUri,
    visit: Effect.fnUntraced(function* (page) {
      expected = page
      yield* settings.browser.open(page.address).pipe(
        Effect.tapError(({ because }) => settings.report(AuthorizationNotice.BrowserNotOpened({ because }))),
        Effect.mapError(({ message }) => new SignInUnavailable({ because: message }))
      )
      return yield* Deferred.await(answered)
    })
  }
})
