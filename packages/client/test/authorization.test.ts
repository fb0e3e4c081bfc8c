/** Authorization under the wire, against a server, an authorization server and a person in memory. */
import * as Authorization from "@mcp-effect/client/Authorization"
import { AuthorizationError, type Reason } from "@mcp-effect/client/AuthorizationError"
import * as AuthorizationFlow from "@mcp-effect/client/AuthorizationFlow"
import * as ClientAssertion from "@mcp-effect/client/ClientAssertion"
import * as ClientCredentials from "@mcp-effect/client/ClientCredentials"
import * as Dpop from "@mcp-effect/client/Dpop"
import * as EnterpriseAuthorization from "@mcp-effect/client/EnterpriseAuthorization"
import * as McpClient from "@mcp-effect/client/McpClient"
import { TokenStore } from "@mcp-effect/client/TokenStore"
import * as WorkloadIdentity from "@mcp-effect/client/WorkloadIdentity"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { TestClock } from "effect/testing"
import { decodeJwt, decodeProtectedHeader, exportJWK, exportPKCS8, generateKeyPair, jwtVerify } from "jose"
import { call, issuer, makeWorld, server, type World } from "./fixtures/authorizationWorld.ts"

const statusOf = (
  authorization: Authorization.Authorization["Service"],
  request: HttpClientRequest.HttpClientRequest = call
) => Effect.map(authorization.httpClient.execute(request), ({ status }) => status)

/** How a request ended that could not be authorized: the status the wire sees, and the reason behind it. */
const refused = (
  authorization: Authorization.Authorization["Service"],
  request: HttpClientRequest.HttpClientRequest = call
): Effect.Effect<{ readonly status: number | undefined; readonly reason: Reason; readonly error: HttpClientError }> =>
  Effect.matchEffect(authorization.httpClient.execute(request), {
    onFailure: (error) =>
      Effect.sync(() => ({
        status: error.response?.status,
        reason: Option.getOrThrow(Authorization.errorIn(error)).reason,
        error
      })),
    onSuccess: ({ status }) => Effect.die(new Error(`the request was answered with ${status}`))
  })

const paths = ({ seen }: World) => seen.map(({ method, url }) => `${method} ${url.host}${url.pathname}`)

describe("a protected server", () => {
  it.effect("U-64: a user signs in once, the request is sent again, and everything after is silent", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const authorization = yield* world.authorize()
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.deepStrictEqual(paths(world), [
        "POST h.test/mcp",
        "GET h.test/.well-known/oauth-protected-resource/mcp",
        "GET as.test/.well-known/oauth-authorization-server",
        "POST as.test/register",
        "POST as.test/token",
        "POST h.test/mcp",
        "POST h.test/mcp"
      ])
      assert.strictEqual(world.pages.length, 1)
    })
  )

  it.effect(
    "M-AUTH-21, M-AUTH-22: the page and the token request carry PKCE, state and the resource as published",
    () =>
      Effect.gen(function* () {
        const world = makeWorld()
        world.world.resource = {
          resource: "https://h.test/mcp",
          authorization_servers: [issuer],
          scopes_supported: ["a", "b"]
        }
        world.world.metadata = { ...world.world.metadata, authorization_endpoint: `${issuer}/authorize?tenant=7` }
        yield* statusOf(yield* world.authorize())
        const page = Object.fromEntries(world.pages[0]!.searchParams)
        assert.strictEqual(page["tenant"], "7")
        assert.strictEqual(page["response_type"], "code")
        assert.strictEqual(page["client_id"], "client-1")
        assert.strictEqual(page["code_challenge_method"], "S256")
        assert.match(page["code_challenge"]!, /^[\w-]{43}$/)
        assert.match(page["state"]!, /^[\w-]{32}$/)
        assert.strictEqual(page["scope"], "a b")
        assert.strictEqual(page["resource"], "https://h.test/mcp")
        const [form] = world.forms()
        assert.strictEqual(form!["resource"], "https://h.test/mcp")
        assert.strictEqual(form!["redirect_uri"], page["redirect_uri"])
        assert.match(form!["code_verifier"]!, /^[\w-]{43}$/)
        assert.strictEqual(form!["client_id"], "client-1")
        const digest = yield* Effect.promise(() =>
          crypto.subtle.digest("SHA-256", new TextEncoder().encode(form!["code_verifier"]))
        )
        assert.strictEqual(Buffer.from(digest).toString("base64url"), page["code_challenge"])
      })
  )

  it.effect("A-0-5: GET and DELETE carry the token too, and another origin never does", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      assert.strictEqual(yield* statusOf(authorization, HttpClientRequest.get(server)), 200)
      assert.strictEqual(yield* statusOf(authorization, HttpClientRequest.delete(server)), 200)
      yield* statusOf(authorization, HttpClientRequest.get("https://evil.test/mcp"))
      yield* statusOf(authorization, HttpClientRequest.get("https://h.test:8443/mcp"))
      const foreign = world.seen.filter(({ url }) => url.host === "evil.test" || url.host === "h.test:8443")
      assert.strictEqual(foreign.length, 2)
      for (const { headers } of foreign) assert.isUndefined(headers["authorization"])
    })
  )

  it.effect("A-1-1: a header of the user's own is left alone, and its 401 too", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const authorization = yield* world.authorize()
      const own = HttpClientRequest.setHeader(call, "authorization", "Bearer mine")
      assert.strictEqual(yield* statusOf(authorization, own), 401)
      assert.strictEqual(world.seen.length, 1)
    })
  )

  it.effect("A-1-3, A-1-4: another 403, and a 400, are the server's answer and start nothing", () =>
    Effect.gen(function* () {
      for (const status of [403, 400, 500]) {
        const world = makeWorld()
        world.world.first.push(({ url }) => (url.href === server ? { status } : undefined))
        assert.strictEqual(yield* statusOf(yield* world.authorize()), status)
        assert.strictEqual(world.seen.length, 1)
      }
    })
  )

  it.effect("A-1-2: a 401 to a fresh token is final, and the wire sees that 401", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.served = () => ({ status: 401, headers: { "www-authenticate": "Bearer" }, body: { error: "no" } })
      const authorization = yield* world.authorize()
      const { error, reason, status } = yield* refused(authorization)
      assert.strictEqual(status, 401)
      assert.strictEqual(reason._tag, "TokenRejected")
      assert.strictEqual(yield* error.response!.text, `{"error":"no"}`)
      assert.strictEqual(world.pages.length, 1)
      assert.isTrue(Option.isSome(yield* authorization.failure))
    })
  )

  it.effect("U-05: a client that filters statuses below is understood too", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const filtering = Layer.succeed(HttpClient.HttpClient, HttpClient.filterStatusOk(world.http))
      const authorization = yield* Authorization.make({ server }).pipe(
        Effect.provide(filtering),
        Effect.provide(world.layer())
      )
      assert.strictEqual(yield* statusOf(authorization), 200)
    })
  )
})

describe("discovery", () => {
  const ending = Effect.fnUntraced(function* (
    change: (world: World["world"]) => void,
    options: Omit<Authorization.Options, "server"> = {}
  ) {
    const world = makeWorld()
    change(world.world)
    const exit = yield* Effect.exit(statusOf(yield* world.authorize(options)))
    if (Exit.isSuccess(exit)) return { world, reason: undefined }
    const failure = Option.getOrThrow(Authorization.errorIn(Cause.squash(exit.cause)))
    return { world, reason: failure.reason }
  })

  it.effect(
    "M-AUTH-5: without a challenge the path is asked before the root, and the root not at all when it answers",
    () =>
      Effect.gen(function* () {
        const { reason, world } = yield* ending((world) => (world.challenge = undefined))
        assert.isUndefined(reason)
        assert.isEmpty(world.seen.filter(({ url }) => url.pathname === "/.well-known/oauth-protected-resource"))
      })
  )

  it.effect("A-2-5: metadata for another resource starts no sign-in", () =>
    Effect.gen(function* () {
      const { reason, world } = yield* ending(
        (world) => (world.resource = { resource: "https://evil.test/mcp", authorization_servers: [issuer] })
      )
      assert.strictEqual(reason?._tag, "ResourceMismatch")
      assert.isEmpty(world.pages)
      assert.isEmpty(world.to(issuer))
    })
  )

  it.effect("T-OAUTH-9: an issuer that differs is refused with both names, unless the user trusts it", () =>
    Effect.gen(function* () {
      const change = (world: World["world"]) => {
        world.resource = { resource: server, authorization_servers: [`${issuer}/x`] }
        world.first.push(({ url }) =>
          url.pathname === "/.well-known/oauth-authorization-server/x"
            ? { status: 200, body: world.metadata }
            : undefined
        )
      }
      const { reason, world } = yield* ending(change)
      assert.strictEqual(reason?._tag, "IssuerMismatch")
      assert.include(reason?.message, "https://as.test/x")
      assert.include(reason?.message, `"https://as.test"`)
      assert.isEmpty(world.pages)
      assert.isUndefined((yield* ending(change, { issuer })).reason)
    })
  )

  it.effect("T-OAUTH-11: without PKCE in the metadata nothing starts; the exception is explicit", () =>
    Effect.gen(function* () {
      const silent = (world: World["world"]) => delete world.metadata!["code_challenge_methods_supported"]
      const { reason, world } = yield* ending(silent)
      assert.strictEqual(reason?._tag, "PkceUnsupported")
      assert.isEmpty(world.pages)
      assert.isEmpty(world.to(`${issuer}/register`))
      assert.isUndefined((yield* ending(silent, { assumePkce: true })).reason)
      const plainOnly = (world: World["world"]) => (world.metadata!["code_challenge_methods_supported"] = ["plain"])
      assert.strictEqual((yield* ending(plainOnly, { assumePkce: true })).reason?._tag, "PkceUnsupported")
    })
  )

  it.effect("A-2-3: trouble is an error that may pass, never a reason to look for another server", () =>
    Effect.gen(function* () {
      for (const trouble of ["down" as const, { status: 503 }]) {
        const { reason, world } = yield* ending((world) =>
          world.first.push(({ url }) => (url.pathname.includes("oauth-protected-resource") ? trouble : undefined))
        )
        assert.strictEqual(reason?._tag, "EndpointFailed")
        assert.isTrue(new AuthorizationError({ server, reason: reason! }).retryable)
        assert.isEmpty(world.to("https://h.test/.well-known/oauth-authorization-server"))
      }
    })
  )

  it.effect("A-2-6: an authorization server that is out of reach is passed over, the configured one comes first", () =>
    Effect.gen(function* () {
      const change = (world: World["world"]) => {
        world.resource = { resource: server, authorization_servers: ["https://down.test", issuer] }
        world.first.push(({ url }) => (url.host === "down.test" ? "down" : undefined))
      }
      const { reason, world } = yield* ending(change)
      assert.isUndefined(reason)
      assert.isNotEmpty(world.to("https://down.test"))
      const preferred = yield* ending(change, { issuer })
      assert.isUndefined(preferred.reason)
      assert.isEmpty(preferred.world.to("https://down.test"))
      const other = yield* ending(() => undefined, { issuer: "https://mine.test" })
      assert.strictEqual(other.reason?._tag, "IssuerMismatch")
    })
  )

  it.effect("A-3-8: a server named by metadata but without metadata of its own is an error that lists the places", () =>
    Effect.gen(function* () {
      const { reason } = yield* ending((world) => (world.metadata = undefined))
      assert.strictEqual(reason?._tag, "MetadataMissing")
      assert.include(reason?.message, `${issuer}/.well-known/openid-configuration`)
    })
  )

  it.effect("A-3-8: without any metadata the paths of 2025-03-26 are used, after asking", () =>
    Effect.gen(function* () {
      const { reason, world } = yield* ending((world) => {
        world.resource = undefined
        world.metadata = undefined
        world.answer = (page) => ({ code: "c", state: page.searchParams.get("state") ?? "" })
      })
      assert.isUndefined(reason)
      assert.strictEqual(world.pages[0]!.origin + world.pages[0]!.pathname, "https://h.test/authorize")
      assert.isNotEmpty(world.to("https://h.test/.well-known/oauth-authorization-server"))
      assert.isNotEmpty(world.to("https://h.test/register"))
    })
  )

  it.effect("A-6-3: a server of 2025-03-26 that refuses the resource is asked again without it", () =>
    Effect.gen(function* () {
      const { reason, world } = yield* ending((world) => {
        world.resource = undefined
        world.metadata = undefined
        world.answer = (page): Record<string, string> => {
          const state = page.searchParams.get("state") ?? ""
          return page.searchParams.has("resource") ? { error: "invalid_target", state } : { code: "c", state }
        }
      })
      assert.isUndefined(reason)
      assert.strictEqual(world.pages.length, 2)
    })
  )

  it.effect("T-SEC-3: a hostile server's metadata reaches nothing on the loopback or inside", () =>
    Effect.gen(function* () {
      const inside = /^(?:127\.|10\.|169\.254\.|localhost|\[::1\])/
      const attacks: ReadonlyArray<(world: World["world"]) => void> = [
        (world) => (world.challenge = `Bearer resource_metadata="http://169.254.169.254/latest"`),
        (world) => (world.challenge = `Bearer resource_metadata="https://127.0.0.1:9/x"`),
        (world) => (world.resource = { resource: server, authorization_servers: ["http://10.0.0.1"] }),
        (world) => (world.resource = { resource: server, authorization_servers: ["https://localhost"] }),
        (world) => (world.metadata!["registration_endpoint"] = "http://127.0.0.1:9/x"),
        (world) => (world.metadata!["token_endpoint"] = "https://[::1]/token"),
        (world) => (world.metadata!["authorization_endpoint"] = "https://10.0.0.1/authorize"),
        (world) =>
          world.first.push(({ url }) =>
            url.pathname.includes("oauth-protected-resource")
              ? { status: 302, headers: { location: "http://10.0.0.1/" } }
              : undefined
          ),
        (world) =>
          world.first.push(({ url }) =>
            url.pathname.includes("oauth-authorization-server")
              ? { status: 307, headers: { location: "https://169.254.169.254/" } }
              : undefined
          )
      ]
      for (const attack of attacks) {
        const { world } = yield* ending(attack)
        for (const { url } of world.seen) assert.notMatch(url.hostname, inside)
        for (const page of world.pages) assert.notMatch(page.hostname, inside)
      }
      const world = makeWorld()
      world.world.metadata!["revocation_endpoint"] = "https://192.168.0.1/revoke"
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      const { reason } = yield* Effect.flip(authorization.signOut())
      assert.strictEqual(reason._tag, "AddressRefused")
      for (const { url } of world.seen) assert.notMatch(url.hostname, /^192\./)
    })
  )

  it.effect("T-SEC-1: a page that is no web page is never shown", () =>
    Effect.gen(function* () {
      for (const bad of ["file:///etc/passwd", "javascript:alert(1)", "ms-x:run", "http://as.test/authorize"]) {
        const { reason, world } = yield* ending((world) => (world.metadata!["authorization_endpoint"] = bad))
        assert.strictEqual(reason?._tag, "AddressRefused")
        assert.isEmpty(world.pages)
        assert.isEmpty(world.to(`${issuer}/register`))
      }
    })
  )

  it.effect("T-SEC-3: redirects of documents are followed a few times, each hop judged; of posts never", () =>
    Effect.gen(function* () {
      const moved = yield* ending((world) =>
        world.first.push(({ url }) =>
          url.pathname.includes("oauth-protected-resource/mcp")
            ? { status: 301, headers: { location: "https://cdn.test/prm" } }
            : url.host === "cdn.test"
              ? { status: 200, body: world.resource }
              : undefined
        )
      )
      assert.isUndefined(moved.reason)
      const circle = yield* ending((world) =>
        world.first.push(({ url }) =>
          url.pathname.includes("well-known") ? { status: 301, headers: { location: url.href } } : undefined
        )
      )
      assert.strictEqual(circle.reason?._tag, "EndpointFailed")
      const posted = yield* ending((world) =>
        world.first.push(({ url }) =>
          url.pathname === "/token" ? { status: 307, headers: { location: "https://evil.test/token" } } : undefined
        )
      )
      assert.strictEqual(posted.reason?._tag, "TokenRefused")
      assert.isEmpty(posted.world.to("https://evil.test"))
    })
  )

  it.effect("T-SEC-3: a document without end and one that never comes are bounded", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.resource = { ...world.world.resource, padding: "x".repeat(2000) }
      const large = yield* world.authorize().pipe(Effect.provideService(Authorization.MaxDocumentBytes, 1000))
      assert.match((yield* refused(large)).reason.message, /larger than 1000 bytes/)

      const silent = makeWorld()
      const hanging = HttpClient.make((request, url) =>
        url.pathname.startsWith("/.well-known") ? Effect.never : silent.http.execute(request)
      )
      const waiting = yield* Authorization.make({ server }).pipe(
        Effect.provide(Layer.succeed(HttpClient.HttpClient, hanging)),
        Effect.provide(silent.layer())
      )
      const fiber = yield* Effect.forkChild(refused(waiting), { startImmediately: true })
      yield* TestClock.adjust("30 seconds")
      assert.match((yield* Fiber.join(fiber)).reason.message, /no answer within 30000 ms/)
    })
  )
})

describe("a client id", () => {
  it.effect("T-OAUTH-5: a configured client comes first, and a null registration endpoint does no harm", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.metadata!["registration_endpoint"] = null
      const authorization = yield* world.authorize(
        {},
        {
          preRegistered: [{ issuer, clientId: "given", secret: Redacted.make("s:cr/t") }],
          document: "https://c.test/x.json"
        }
      )
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(world.pages[0]!.searchParams.get("client_id"), "given")
      const [request] = world.to(`${issuer}/token`)
      assert.strictEqual(
        request!.headers["authorization"],
        `Basic ${Buffer.from("given:s%3Acr%2Ft").toString("base64")}`
      )
    })
  )

  it.effect("M-AUTH-15: the document's address is the client id where the server takes one", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.metadata!["client_id_metadata_document_supported"] = true
      yield* statusOf(yield* world.authorize({}, { document: "https://c.test/x.json" }))
      assert.strictEqual(world.pages[0]!.searchParams.get("client_id"), "https://c.test/x.json")
      assert.isEmpty(world.to(`${issuer}/register`))
    })
  )

  it.effect("M-AUTH-17: registration tells what kind of application this is, and asks for refresh tokens", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      yield* statusOf(yield* world.authorize({}, { dynamic: { clientName: "Example" } }))
      const body = JSON.parse(world.to(`${issuer}/register`)[0]!.body)
      assert.strictEqual(body.client_name, "Example")
      assert.strictEqual(body.application_type, "native")
      assert.deepStrictEqual(body.grant_types, ["authorization_code", "refresh_token"])
      assert.deepStrictEqual(body.redirect_uris, ["http://127.0.0.1:4711/callback"])
      assert.strictEqual(body.token_endpoint_auth_method, "none")
    })
  )

  it.effect("A-4-2: registration names every scope that will be asked for, offline access among them", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.challenge = `Bearer scope="a"`
      world.world.metadata = { ...world.world.metadata, scopes_supported: ["a", "offline_access"] }
      yield* statusOf(yield* world.authorize())
      assert.strictEqual(JSON.parse(world.to(`${issuer}/register`)[0]!.body).scope, "a offline_access")
      assert.strictEqual(world.pages[0]!.searchParams.get("scope"), "a offline_access")
    })
  )

  /** A server that lets a client have only the scopes it was registered with, and wants `b` for the tool of that name. */
  const strict = () => {
    const world = makeWorld()
    world.world.challenge = `Bearer scope="a"`
    world.world.answer = (page): Record<string, string> => {
      const registered = world.to(`${issuer}/register`).map(({ body }) => JSON.parse(body).scope.split(" "))
      const [, number] = (page.searchParams.get("client_id") ?? "").split("-")
      const state = page.searchParams.get("state") ?? ""
      const wanted = (page.searchParams.get("scope") ?? "").split(" ")
      return wanted.every((scope) => registered[Number(number) - 1]?.includes(scope))
        ? { code: "c", state, iss: issuer }
        : { error: "invalid_scope", state, iss: issuer }
    }
    world.world.served = ({ body }, scope) =>
      body === "b" && !scope.split(" ").includes("b")
        ? { status: 403, headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="b"` } }
        : { status: 200 }
    return world
  }
  const tool = HttpClientRequest.bodyText(HttpClientRequest.post(server), "b", "text/plain")
  const asked = ({ pages }: World) =>
    pages.map(({ searchParams }) => `${searchParams.get("client_id")} ${searchParams.get("scope")}`)

  it.effect("A-12: a server that holds a client to its registered scopes gets another registration for more", () =>
    Effect.gen(function* () {
      const world = strict()
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      assert.strictEqual(yield* statusOf(authorization, tool), 200)
      assert.deepStrictEqual(asked(world), ["client-1 a", "client-1 a b", "client-2 a b"])
      world.revokeAll()
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(world.pages.length, 3, "the new client renews")
    })
  )

  it.effect("A-12: it gets one as well when only the token endpoint says that the scopes are too many", () =>
    Effect.gen(function* () {
      const world = strict()
      world.world.answer = (page) => ({ code: "c", state: page.searchParams.get("state") ?? "", iss: issuer })
      world.world.first.push(({ url }) =>
        url.pathname === "/token" && world.pages.length === 2
          ? { status: 400, body: { error: "invalid_scope" } }
          : undefined
      )
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      assert.strictEqual(yield* statusOf(authorization, tool), 200)
      assert.deepStrictEqual(asked(world), ["client-1 a", "client-1 a b", "client-2 a b"])
    })
  )

  it.effect("A-12: where no other registration is to be had, the client and its token stay", () =>
    Effect.gen(function* () {
      const world = strict()
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      world.world.first.push(({ url }) =>
        url.pathname === "/register" ? { status: 403, body: { error: "access_denied" } } : undefined
      )
      const { reason, status } = yield* refused(authorization, tool)
      assert.strictEqual(status, 403)
      assert.strictEqual(reason._tag, "SignInRefused")
      assert.deepStrictEqual(asked(world), ["client-1 a", "client-1 a b", "client-1 b"])
      world.revokeAll()
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(world.pages.length, 3, "the old client renews")
    })
  )

  it.effect("T-OAUTH-5: nothing possible is an error that says what to configure", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.metadata!["registration_endpoint"] = null
      const { reason } = yield* refused(yield* world.authorize())
      assert.strictEqual(reason._tag, "ClientIdNeeded")
      assert.include(reason.message, issuer)
      assert.include(reason.message, "preRegistered")
    })
  )

  it.effect("M-AUTH-18: a refused registration is tried once with the other kind of application, then shown", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.first.push(({ url }) =>
        url.pathname === "/register" ? { status: 400, body: { error: "invalid_redirect_uri" } } : undefined
      )
      const { reason } = yield* refused(yield* world.authorize())
      assert.strictEqual(reason._tag, "RegistrationRefused")
      assert.deepStrictEqual(
        world.to(`${issuer}/register`).map(({ body }) => JSON.parse(body).application_type),
        ["native", "web"]
      )
    })
  )

  it.effect("M-AUTH-19: a registered client is kept for its issuer and used again", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.givesRefreshToken = false
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      world.revokeAll()
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(world.to(`${issuer}/register`).length, 1)
      assert.strictEqual(world.pages.length, 2)
    })
  )

  it.effect("A-4-5: a client whose secret has ended is registered anew", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.givesRefreshToken = false
      world.world.first.push(({ url }) =>
        url.pathname === "/register"
          ? { status: 201, body: { client_id: "c", client_secret: "s", client_secret_expires_at: 60 } }
          : undefined
      )
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      yield* TestClock.adjust("2 minutes")
      world.revokeAll()
      yield* statusOf(authorization)
      assert.strictEqual(world.to(`${issuer}/register`).length, 2)
    })
  )

  it.effect("A-9-4: a registration the server has forgotten is renewed, once", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      let refusals = 1
      world.world.first.push(({ url }) =>
        url.pathname === "/token" && refusals-- > 0 ? { status: 401, body: { error: "invalid_client" } } : undefined
      )
      assert.strictEqual(yield* statusOf(yield* world.authorize()), 200)
      assert.strictEqual(world.to(`${issuer}/register`).length, 2)
      refusals = 100
      world.revokeAll()
      world.refreshTokens.clear()
      const again = yield* refused(yield* world.authorize())
      assert.strictEqual(again.reason._tag, "TokenRefused")
    })
  )
})

describe("a token", () => {
  it.effect("A-9-1: is renewed ahead of its end, without a 401, and the new refresh token is kept", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      yield* TestClock.adjust("58 minutes")
      yield* statusOf(authorization)
      assert.strictEqual(world.forms().length, 1)
      yield* TestClock.adjust("90 seconds")
      const before = world.seen.length
      yield* statusOf(authorization)
      assert.deepStrictEqual(
        world.seen.slice(before).map(({ url }) => url.pathname),
        ["/token", "/mcp"]
      )
      assert.deepInclude(world.forms()[1], {
        grant_type: "refresh_token",
        refresh_token: "REFRESH-1-secret",
        resource: server
      })
      yield* TestClock.adjust("1 hour")
      yield* statusOf(authorization)
      assert.strictEqual(world.forms()[2]!["refresh_token"], "REFRESH-2-secret")
      assert.strictEqual(world.pages.length, 1)
    })
  )

  it.effect("T-OAUTH-4: 50 requests at once that all get 401 make exactly one refresh, and all succeed", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      world.revokeAll()
      const statuses = yield* Effect.all(
        Array.from({ length: 50 }, () => statusOf(authorization)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(statuses), new Set([200]))
      assert.strictEqual(world.forms().filter(({ grant_type }) => grant_type === "refresh_token").length, 1)
      assert.strictEqual(world.pages.length, 1)
    })
  )

  it.effect("T-OAUTH-4: 50 requests at once without a token open one page", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const authorization = yield* world.authorize()
      yield* Effect.all(
        Array.from({ length: 50 }, () => statusOf(authorization)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(world.pages.length, 1)
      assert.strictEqual(world.to(`${issuer}/register`).length, 1)
    })
  )

  it.effect("T-OAUTH-4: a caller that gives up does not end a sign-in that others wait for", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const shown = yield* Deferred.make<void>()
      const proceed = yield* Deferred.make<void>()
      const slow = AuthorizationFlow.AuthorizationFlow.of({
        begin: () =>
          Effect.succeed({
            redirectUri: "http://127.0.0.1:1/callback",
            visit: ({ address }) =>
              Effect.gen(function* () {
                world.pages.push(address)
                yield* Deferred.succeed(shown, undefined)
                yield* Deferred.await(proceed)
                return new URLSearchParams(world.world.answer(address))
              })
          })
      })
      const authorization = yield* Authorization.make({ server }).pipe(
        Effect.provideService(AuthorizationFlow.AuthorizationFlow, slow),
        Effect.provide(world.layer())
      )
      const first = yield* Effect.forkChild(statusOf(authorization), { startImmediately: true })
      const second = yield* Effect.forkChild(statusOf(authorization), { startImmediately: true })
      yield* Deferred.await(shown)
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(proceed, undefined)
      assert.strictEqual(yield* Fiber.join(second), 200)
      assert.strictEqual(world.pages.length, 1)
    })
  )

  it.effect("T-OAUTH-4: two processes that share a store use the refresh token once, and both go on", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const one = yield* world.authorize()
      yield* statusOf(one)
      const two = yield* world.authorize()
      assert.strictEqual(yield* statusOf(two), 200)
      world.revokeAll()
      const statuses = yield* Effect.all([statusOf(one), statusOf(two)], { concurrency: "unbounded" })
      assert.deepStrictEqual(statuses, [200, 200])
      assert.strictEqual(world.forms().filter(({ grant_type }) => grant_type === "refresh_token").length, 1)
      assert.strictEqual(world.pages.length, 1)
    })
  )

  it.effect("A-9-4: an outage while renewing keeps the token, and reports", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      let trouble: "down" | { status: number } | undefined = "down"
      world.world.first.push(({ url }) => (url.pathname === "/token" ? trouble : undefined))
      yield* TestClock.adjust("3570 seconds")
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.deepStrictEqual(
        world.notices.map(({ _tag }) => _tag),
        ["RenewalPutOff"]
      )
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(world.notices.length, 1, "not tried again at once")
      yield* TestClock.adjust("1 minute")
      world.revokeAll()
      trouble = { status: 503 }
      const { reason, status } = yield* refused(authorization)
      assert.strictEqual(status, 401)
      assert.strictEqual(reason._tag, "EndpointFailed")
      trouble = undefined
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(world.pages.length, 1)
    })
  )

  it.effect("A-9-4: a refresh token that is refused leads to a new sign-in", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      world.revokeAll()
      world.refreshTokens.clear()
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(world.pages.length, 2)
    })
  )

  it.effect("T-OAUTH-8: when the server names another issuer, nothing of the old one is shown to it", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      const other = "https://other.test"
      world.world.resource = { resource: server, authorization_servers: [other] }
      world.world.answer = (page) => ({ code: "c", state: page.searchParams.get("state") ?? "", iss: other })
      world.world.first.push(({ body, url }) => {
        if (url.origin !== other) return undefined
        switch (url.pathname) {
          case "/.well-known/oauth-authorization-server":
            return {
              status: 200,
              body: JSON.parse(JSON.stringify(world.world.metadata).replaceAll(issuer, other))
            }
          case "/register":
            return { status: 201, body: { client_id: "other-client" } }
          default:
            world.valid.set("OTHER", "")
            assert.notInclude(body, "REFRESH")
            return { status: 200, body: { access_token: "OTHER", token_type: "Bearer" } }
        }
      })
      world.revokeAll()
      assert.strictEqual(yield* statusOf(authorization), 200)
      for (const { body, url } of world.to(other)) {
        assert.notInclude(body + url.href, "client-1")
        assert.notInclude(body + url.href, "REFRESH")
      }
      assert.isTrue(world.notices.some(({ _tag }) => _tag === "IssuerChanged"))
      assert.strictEqual(world.to(`${issuer}/token`).length, 1)
    })
  )

  it.effect("M-AUTH-19: a client given without an issuer stays with the first one it was used at", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const clients = { preRegistered: [{ clientId: "given", secret: Redacted.make("GIVEN-secret") }] }
      world.world.givesRefreshToken = false
      yield* statusOf(yield* world.authorize({}, clients))
      const other = "https://other.test"
      world.world.resource = { resource: server, authorization_servers: [other] }
      world.world.first.push(({ url }) =>
        url.href === `${other}/.well-known/oauth-authorization-server`
          ? { status: 200, body: JSON.parse(JSON.stringify(world.world.metadata).replaceAll(issuer, other)) }
          : undefined
      )
      world.revokeAll()
      const { reason } = yield* refused(yield* world.authorize({}, clients))
      assert.strictEqual(reason._tag, "ClientOfOtherIssuer")
      assert.isEmpty(world.to(other, "POST"))
    })
  )

  it.effect("T-OAUTH-8: two servers on one host, and two accounts of one server, stay apart", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      yield* statusOf(yield* world.authorize({ account: "a" }))
      yield* statusOf(yield* world.authorize({ account: "b" }))
      assert.strictEqual(world.pages.length, 2)
      const grants = [...world.store.values.keys()].filter((key) => key.startsWith("grant"))
      assert.deepStrictEqual(grants, [`grant of a ${server}`, `grant of b ${server}`])
    })
  )

  it.effect(
    "T-OAUTH-10: a store that fails is reported, the token stays in use and the old one is not taken up again",
    () =>
      Effect.gen(function* () {
        const world = makeWorld()
        const authorization = yield* world.authorize()
        yield* statusOf(authorization)
        world.store.failing = 1
        world.revokeAll()
        assert.strictEqual(yield* statusOf(authorization), 200)
        assert.deepStrictEqual(
          world.notices.map(({ _tag }) => _tag),
          ["TokenNotStored"]
        )
        world.revokeAll()
        assert.strictEqual(yield* statusOf(authorization), 200)
        assert.deepStrictEqual(
          world.forms().map((form) => form["refresh_token"]),
          [undefined, "REFRESH-1-secret", "REFRESH-2-secret"]
        )
        assert.strictEqual(world.pages.length, 1)
      })
  )

  it.effect("U-64: survives a restart, and one whose entry is damaged counts as absent", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      yield* Effect.scoped(Effect.flatMap(world.authorize(), (authorization) => statusOf(authorization)))
      assert.strictEqual(yield* statusOf(yield* world.authorize()), 200)
      assert.strictEqual(world.pages.length, 1)
      world.store.values.set(`grant ${server}`, `{"issuer":1}`)
      assert.strictEqual(yield* statusOf(yield* world.authorize()), 200)
      assert.strictEqual(world.pages.length, 2)
      assert.isTrue(world.notices.some(({ _tag }) => _tag === "StoreUnreadable"))
    })
  )

  it.effect("A-8-3: odd answers are read: numbers as text, null, lower case, 200 with an error", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.first.push(({ url }) => {
        if (url.pathname !== "/token") return undefined
        world.valid.set("ODD", "")
        return {
          status: 200,
          body: { access_token: "ODD", token_type: "bEaReR", expires_in: "120", refresh_token: null, scope: null }
        }
      })
      assert.strictEqual(yield* statusOf(yield* world.authorize()), 200)
      const grant = JSON.parse(world.store.values.get(`grant ${server}`)!)
      assert.strictEqual(grant.expiresAt, (yield* Clock.currentTimeMillis) + 120_000)

      const inside = makeWorld()
      inside.world.first.push(({ url }) =>
        url.pathname === "/token" ? { status: 200, body: { error: "invalid_scope" } } : undefined
      )
      assert.strictEqual((yield* refused(yield* inside.authorize())).reason._tag, "TokenRefused")

      const empty = makeWorld()
      empty.world.first.push(({ url }) => (url.pathname === "/token" ? { status: 200, body: {} } : undefined))
      assert.strictEqual((yield* refused(yield* empty.authorize())).reason._tag, "TokenMalformed")
    })
  )
})

describe("a person", () => {
  it.effect("A-12: who declines is not asked again by the same request, and everybody waiting hears it", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.answer = (page) => ({
        error: "access_denied",
        error_description: "no\u0007",
        state: page.searchParams.get("state") ?? "",
        iss: issuer
      })
      const authorization = yield* world.authorize()
      const endings = yield* Effect.all([refused(authorization), refused(authorization)], { concurrency: "unbounded" })
      assert.deepStrictEqual(
        endings.map(({ reason }) => reason._tag),
        ["SignInDeclined", "SignInDeclined"]
      )
      assert.strictEqual(world.pages.length, 1)
      assert.notInclude(endings[0].reason.message, "\u0007")
    })
  )

  it.effect("H9: who declines fails the connection as unauthorized, with the reason behind it", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.answer = (page) => ({
        error: "access_denied",
        state: page.searchParams.get("state") ?? "",
        iss: issuer
      })
      const { httpClient } = yield* world.authorize()
      const error = yield* McpClient.connect(server).pipe(
        Effect.provideService(HttpClient.HttpClient, httpClient),
        Effect.flip
      )
      assert.strictEqual(error.reason._tag, "AuthorizationRequired")
      assert.strictEqual(error.message, "MCP: HTTP 401")
      assert.strictEqual(Option.getOrThrow(Authorization.errorIn(error)).reason._tag, "SignInDeclined")
    })
  )

  it.effect("A-12: a scope the server does not know is tried once more with the challenge's alone", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.challenge = `Bearer scope="a"`
      world.world.metadata = { ...world.world.metadata, scopes_supported: ["offline_access"] }
      world.world.answer = (page): Record<string, string> => {
        const state = page.searchParams.get("state") ?? ""
        return page.searchParams.get("scope") === "a"
          ? { code: "c", state, iss: issuer }
          : { error: "invalid_scope", state, iss: issuer }
      }
      assert.strictEqual(yield* statusOf(yield* world.authorize()), 200)
      assert.deepStrictEqual(
        world.pages.map((page) => page.searchParams.get("scope")),
        ["a offline_access", "a"]
      )
    })
  )

  it.effect("M-AUTH-35: offline access is asked for only where the server lists it, with consent", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.challenge = `Bearer scope="a"`
      yield* statusOf(yield* world.authorize())
      assert.strictEqual(world.pages[0]!.searchParams.get("scope"), "a")
      assert.isNull(world.pages[0]!.searchParams.get("prompt"))
      const listed = makeWorld()
      listed.world.challenge = `Bearer scope="a"`
      listed.world.metadata = { ...listed.world.metadata, scopes_supported: ["offline_access"] }
      yield* statusOf(yield* listed.authorize())
      assert.strictEqual(listed.pages[0]!.searchParams.get("scope"), "a offline_access")
      assert.strictEqual(listed.pages[0]!.searchParams.get("prompt"), "consent")
    })
  )

  it.effect("A-5-1: scopes come from the challenge, then the metadata, then the options, then not at all", () =>
    Effect.gen(function* () {
      const asked = Effect.fnUntraced(function* (
        change: (world: World["world"]) => void,
        options: Omit<Authorization.Options, "server"> = {}
      ) {
        const world = makeWorld()
        change(world.world)
        yield* statusOf(yield* world.authorize(options))
        return world.pages[0]!.searchParams.get("scope")
      })
      const listing = (world: World["world"]) => void (world.resource = { ...world.resource, scopes_supported: ["m"] })
      const options = { scopes: ["o"] }
      assert.strictEqual(
        yield* asked((world) => {
          listing(world)
          world.challenge = `Bearer scope="c d"`
        }, options),
        "c d"
      )
      assert.strictEqual(yield* asked(listing, options), "m")
      assert.strictEqual(yield* asked(() => undefined, options), "o")
      assert.isNull(yield* asked(() => undefined))
    })
  )

  it.effect("A-7: who never comes back is waited for as long as the limit says", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const shown = yield* Deferred.make<void>()
      const nobody = AuthorizationFlow.AuthorizationFlow.of({
        begin: () =>
          Effect.succeed({
            redirectUri: "http://127.0.0.1:1/callback",
            visit: () => Effect.andThen(Deferred.succeed(shown, undefined), Effect.never)
          })
      })
      const authorization = yield* Authorization.make({ server }).pipe(
        Effect.provideService(AuthorizationFlow.AuthorizationFlow, nobody),
        Effect.provide(world.layer())
      )
      const fiber = yield* Effect.forkChild(refused(authorization), { startImmediately: true })
      yield* Deferred.await(shown)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* Fiber.join(fiber)).reason._tag, "SignInTimedOut")
    })
  )

  it.effect("A-6-5: where nobody can be asked the failure says so, and stored tokens still work", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const unattended = Authorization.make({ server }).pipe(
        Effect.provide(AuthorizationFlow.layerUnavailable),
        Effect.provide(world.layer())
      )
      assert.strictEqual((yield* refused(yield* unattended)).reason._tag, "SignInUnavailable")
      yield* statusOf(yield* world.authorize())
      assert.strictEqual(yield* statusOf(yield* unattended), 200)
    })
  )

  it.effect("A-6-5: a manual flow takes the address the browser ended at; a foreign one is discarded", () =>
    Effect.gen(function* () {
      const sign = Effect.fnUntraced(function* (paste: (address: URL) => string) {
        const world = makeWorld()
        const manual = AuthorizationFlow.layerManual({
          redirectUri: "https://c.test/callback",
          ask: (address) => Effect.sync(() => paste(address))
        })
        const authorization = yield* Authorization.make({ server }).pipe(
          Effect.provide(manual),
          Effect.provide(world.layer())
        )
        const exit = yield* Effect.exit(statusOf(authorization))
        return Exit.isSuccess(exit)
          ? exit.value
          : Option.getOrThrow(Authorization.errorIn(Cause.squash(exit.cause))).reason._tag
      })
      const answer = (address: URL, state = address.searchParams.get("state")) =>
        ` https://c.test/callback?code=c&iss=${encodeURIComponent(issuer)}&state=${state}\n`
      assert.strictEqual(yield* sign((address) => answer(address)), 200)
      assert.strictEqual(yield* sign((address) => answer(address, "foreign")), "SignInAnswerInvalid")
      assert.strictEqual(yield* sign(() => "what?"), "SignInUnavailable")
    })
  )

  it.effect("A-0-1: closing a session opens no browser", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const authorization = yield* world.authorize()
      const { reason, status } = yield* refused(authorization, HttpClientRequest.delete(server))
      assert.strictEqual(status, 401)
      assert.strictEqual(reason._tag, "SignInUnavailable")
      assert.isEmpty(world.pages)
    })
  )

  it.effect("U-64: signs in ahead of everything else, out, and in again", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.metadata!["revocation_endpoint"] = `${issuer}/revoke`
      const authorization = yield* world.authorize()
      yield* authorization.signIn
      assert.strictEqual(world.pages.length, 1)
      yield* authorization.signIn
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(world.pages.length, 1)
      yield* authorization.signOut({ forget: true })
      assert.strictEqual(world.to(`${issuer}/revoke`)[0]!.body, "token=REFRESH-1-secret&client_id=client-1")
      assert.isEmpty([...world.store.values.keys()])
      world.revokeAll()
      yield* authorization.signIn
      assert.strictEqual(world.pages.length, 2)
      assert.strictEqual(world.to(`${issuer}/register`).length, 2)
    })
  )

  it.effect("A-0-1: a server that wants no token starts no sign-in", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.first.push(({ url }) => (url.href === server ? { status: 200 } : undefined))
      yield* (yield* world.authorize()).signIn
      assert.strictEqual(world.seen.length, 1)
    })
  )
})

describe("step-up", () => {
  /** A server that wants a scope for each tool. */
  const guarded = () => {
    const world = makeWorld()
    world.world.served = ({ body }, scope) => {
      const wanted = /"tool":"(\w+)"/.exec(body)?.[1]
      return wanted === undefined || scope.split(" ").includes(wanted)
        ? { status: 200 }
        : {
            status: 403,
            headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${wanted}"` }
          }
    }
    return world
  }
  const tool = (name: string) =>
    HttpClientRequest.bodyText(HttpClientRequest.post(server), `{"tool":"${name}"}`, "application/json")
  const scopes = (world: World) => world.pages.map((page) => page.searchParams.get("scope"))

  it.effect("T-OAUTH-7: scopes add up, so that two operations do not alternate", () =>
    Effect.gen(function* () {
      const world = guarded()
      const authorization = yield* world.authorize()
      yield* statusOf(authorization)
      assert.strictEqual(yield* statusOf(authorization, tool("a")), 200)
      assert.strictEqual(yield* statusOf(authorization, tool("b")), 200)
      assert.strictEqual(yield* statusOf(authorization, tool("a")), 200)
      assert.deepStrictEqual(scopes(world), [null, "a", "a b"])
      assert.isEmpty(world.forms().filter(({ grant_type }) => grant_type === "refresh_token"))
    })
  )

  it.effect("A-10-4: the same challenge twice is final, for later requests too, and the wire sees the 403", () =>
    Effect.gen(function* () {
      const world = guarded()
      world.world.served = () => ({
        status: 403,
        headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="never"` }
      })
      const authorization = yield* world.authorize()
      const { reason, status } = yield* refused(authorization)
      assert.strictEqual(status, 403)
      assert.strictEqual(reason._tag, "InsufficientScope")
      assert.deepStrictEqual(scopes(world), [null, "never"])
      assert.strictEqual((yield* refused(authorization)).reason._tag, "InsufficientScope")
      assert.strictEqual(world.pages.length, 2)
    })
  )

  it.effect("A-10-4: a server that always wants more is followed for three rounds", () =>
    Effect.gen(function* () {
      const world = guarded()
      let number = 0
      world.world.served = () => ({
        status: 403,
        headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="s${++number}"` }
      })
      const { reason, status } = yield* refused(yield* world.authorize())
      assert.strictEqual(status, 403)
      assert.strictEqual(reason._tag, "TooManyRounds")
      assert.deepStrictEqual(scopes(world), [null, "s1", "s1 s2"])
    })
  )
})

describe("secrets", () => {
  it.effect("T-SEC-4: are in no error, notice, log or address, whatever goes wrong", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const note = (value: unknown) => told.push(String(value), JSON.stringify(value), Cause.pretty(Cause.fail(value)))
      for (const status of [401, 403, 500]) {
        for (const error of ["invalid_grant", "invalid_request", "server_error"]) {
          const world = makeWorld()
          const authorization = yield* world.authorize()
          yield* statusOf(authorization)
          world.world.first.push(({ url }) =>
            url.pathname === "/token" ? { status: status === 403 ? 400 : status, body: { error } } : undefined
          )
          world.revokeAll()
          note((yield* refused(authorization)).error)
          note(yield* authorization.failure)
          world.notices.forEach(note)
          for (const { url } of world.seen) told.push(url.href)
        }
      }
      assert.isAbove(told.length, 20)
      for (const text of told) assert.notMatch(text, /ACCESS-|REFRESH-|CODE-/)
    })
  )
})

describe("sources without a person", () => {
  const with_ = (world: World, source: Parameters<typeof Authorization.makeFrom>[0]["source"]) =>
    Effect.provide(Authorization.makeFrom({ server, source }), world.layer())

  it.effect("A-11-1, A-11-4: client credentials get a token, and a new one before it ends", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.givesRefreshToken = false
      world.world.challenge = `Bearer scope="a"`
      const authorization = yield* with_(world, ClientCredentials.make({ clientId: "c", secret: Redacted.make("s") }))
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.deepStrictEqual(world.forms(), [{ grant_type: "client_credentials", resource: server, scope: "a" }])
      yield* TestClock.adjust("3570 seconds")
      const before = world.seen.length
      yield* statusOf(authorization)
      assert.deepStrictEqual(
        world.seen.slice(before).map(({ url }) => url.pathname),
        ["/token", "/mcp"]
      )
    })
  )

  it.effect("A-11-2: a key signs a short assertion for the issuer, without a client id in the body", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_700_000_000_000)
      const world = makeWorld()
      const { privateKey, publicKey } = yield* Effect.promise(() => generateKeyPair("ES256", { extractable: true }))
      const pem = yield* Effect.promise(() => exportPKCS8(privateKey))
      const jwk = yield* Effect.promise(() => exportJWK(privateKey))
      for (const key of [pem, JSON.stringify(jwk)]) {
        const assertion = ClientAssertion.make({ key: Redacted.make(key), algorithm: "ES256", keyId: "k1" })
        world.revokeAll()
        yield* statusOf(yield* with_(world, ClientCredentials.make({ clientId: "c", assertion })))
        const form = world.forms().at(-1)!
        assert.isUndefined(form["client_id"])
        const { payload, protectedHeader } = yield* Effect.promise(() =>
          jwtVerify(form["client_assertion"]!, publicKey, {
            audience: issuer,
            currentDate: new Date(1_700_000_000_000)
          })
        )
        assert.strictEqual(protectedHeader.kid, "k1")
        assert.deepInclude(payload, { iss: "c", sub: "c", iat: 1_700_000_000, exp: 1_700_000_060 })
        assert.isString(payload.jti)
      }
      const broken = ClientAssertion.make({ key: Redacted.make("SECRET-KEY"), algorithm: "ES256" })
      world.revokeAll()
      world.store.values.clear()
      const { reason } = yield* refused(
        yield* with_(world, ClientCredentials.make({ clientId: "c", assertion: broken }))
      )
      assert.strictEqual(reason._tag, "SigningFailed")
      assert.notInclude(reason.message, "SECRET-KEY")
    })
  )

  it.effect("A-11-1: credentials with an issuer go to no other", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const source = ClientCredentials.make({ clientId: "c", secret: Redacted.make("s"), issuer: "https://mine.test" })
      assert.strictEqual((yield* refused(yield* with_(world, source))).reason._tag, "ClientOfOtherIssuer")
      assert.isEmpty(world.forms())
    })
  )

  const enterprise = (world: World) =>
    EnterpriseAuthorization.make({
      client: { clientId: "c", secret: Redacted.make("s") },
      identityProvider: {
        tokenEndpoint: "https://idp.test/exchange",
        client: { clientId: "at-idp" },
        identityToken: Effect.sync(() => Redacted.make(`ID-${world.seen.length}`))
      }
    })

  it.effect(
    "A-11-6, A-11-8: an enterprise's word is exchanged at its provider, then for a token, once again if refused",
    () =>
      Effect.gen(function* () {
        const world = makeWorld()
        let refusals = 1
        world.world.first.push(({ url }) => {
          if (url.host === "idp.test") return { status: 200, body: { access_token: "JAG", token_type: "N_A" } }
          return url.pathname === "/token" && refusals-- > 0
            ? { status: 400, body: { error: "invalid_grant" } }
            : undefined
        })
        assert.strictEqual(yield* statusOf(yield* with_(world, enterprise(world))), 200)
        const exchanges = world.to("https://idp.test").map(({ body }) => Object.fromEntries(new URLSearchParams(body)))
        assert.strictEqual(exchanges.length, 2)
        assert.deepInclude(exchanges[0], {
          grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
          requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
          subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
          audience: issuer,
          resource: server,
          client_id: "at-idp"
        })
        assert.deepInclude(world.forms()[0], {
          grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
          assertion: "JAG"
        })
        assert.isEmpty(world.pages)
      })
  )

  it.effect("A-11-9: an assertion goes to the issuer's own origin only", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.metadata!["token_endpoint"] = "https://evil.test/token"
      const { reason } = yield* refused(yield* with_(world, enterprise(world)))
      assert.strictEqual(reason._tag, "AddressRefused")
      assert.isEmpty(world.to("https://idp.test"))
    })
  )

  it.effect("A-11-11: a workload's token is tried once, and nothing else after a refusal", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.first.push(({ url }) =>
        url.pathname === "/token" ? { status: 400, body: { error: "invalid_grant" } } : undefined
      )
      const asked: Array<string> = []
      const source = WorkloadIdentity.make(({ tokenEndpoint }) =>
        Effect.sync(() => {
          asked.push(tokenEndpoint)
          return Redacted.make("WORKLOAD")
        })
      )
      assert.strictEqual((yield* refused(yield* with_(world, source))).reason._tag, "TokenRefused")
      assert.deepStrictEqual(asked, [`${issuer}/token`])
      assert.deepStrictEqual(world.forms(), [
        { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: "WORKLOAD", resource: server }
      ])
    })
  )
})

describe("tokens bound to a key", () => {
  it.effect("A-11-12: every request has its own proof over method, address, token and body; nonces are taken up", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.world.metadata!["dpop_signing_alg_values_supported"] = ["ES256"]
      const nonceAt = (seen: { headers: Readonly<Record<string, string>> }) =>
        seen.headers["dpop"] === undefined ? undefined : decodeJwt(seen.headers["dpop"])["nonce"]
      world.world.first.push((seen) => {
        const { headers, url } = seen
        if (url.pathname === "/token") {
          return nonceAt(seen) === "as-nonce"
            ? { status: 200, body: { access_token: "BOUND", token_type: "DPoP", expires_in: 3600 } }
            : { status: 400, headers: { "dpop-nonce": "as-nonce" }, body: { error: "use_dpop_nonce" } }
        }
        if (url.href !== server || headers["authorization"] === undefined) return undefined
        return nonceAt(seen) === "rs-nonce"
          ? { status: 200 }
          : { status: 401, headers: { "dpop-nonce": "rs-nonce", "www-authenticate": `DPoP error="use_dpop_nonce"` } }
      })
      const dpop = yield* Effect.provide(Dpop.make(), world.layer())
      const authorization = yield* world.authorize({ dpop })
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(yield* statusOf(authorization), 200)
      assert.strictEqual(world.forms().length, 2)
      const carried = world.to(server).filter(({ headers }) => headers["authorization"] === "DPoP BOUND")
      assert.strictEqual(carried.length, 3)
      const proofs = carried.map(({ headers }) => decodeJwt(headers["dpop"]!))
      assert.strictEqual(new Set(proofs.map(({ jti }) => jti)).size, 3)
      const sha = (text: string) =>
        Effect.map(
          Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
          (digest) => Buffer.from(digest)
        )
      assert.deepInclude(proofs[2], {
        htm: "POST",
        htu: server,
        ath: (yield* sha("BOUND")).toString("base64url"),
        content_digest: `sha-256=:${(yield* sha(carried[0]!.body)).toString("base64")}:`
      })
      const header = decodeProtectedHeader(carried[0]!.headers["dpop"]!)
      assert.strictEqual(header.typ, "dpop+jwt")
      assert.notProperty(header.jwk, "d")
      assert.notProperty(decodeJwt(world.to(`${issuer}/token`)[0]!.headers["dpop"]!), "content_digest")
    })
  )

  it.effect("A-11-12: the key is found again after a restart; a token of another key is not used", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const one = yield* Effect.provide(Dpop.make(), world.layer())
      const two = yield* Effect.provide(Dpop.make(), world.layer())
      assert.strictEqual(one.thumbprint, two.thumbprint)
      const grant = { issuer, resource: server, accessToken: "T", tokenType: "DPoP", thumbprint: "another" }
      world.store.values.set(`grant ${server}`, JSON.stringify(grant))
      yield* statusOf(yield* world.authorize({ dpop: one }))
      assert.isUndefined(world.seen[0]!.headers["authorization"])
    })
  )

  it.effect("A-11-12: is off where the server does not offer it, and a weaker token than asked for is refused", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const dpop = yield* Effect.provide(Dpop.make(), world.layer())
      yield* statusOf(yield* world.authorize({ dpop }))
      assert.isUndefined(world.to(`${issuer}/token`)[0]!.headers["dpop"])
      const weaker = makeWorld()
      weaker.world.metadata!["dpop_signing_alg_values_supported"] = ["ES256"]
      assert.strictEqual((yield* refused(yield* weaker.authorize({ dpop }))).reason._tag, "TokenMalformed")
    })
  )
})

describe("the layers", () => {
  it.effect("U-64: put a client that signs in in place of the one below, and the service beside it", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const status = yield* Effect.gen(function* () {
        const { status } = yield* HttpClient.execute(call)
        assert.isTrue(Option.isNone(yield* (yield* Authorization.Authorization).failure))
        assert.isDefined(yield* (yield* TokenStore).get(`grant ${server}`))
        return status
      }).pipe(Effect.provide(Authorization.layer({ server })), Effect.provide(world.layer()))
      assert.strictEqual(status, 200)
    })
  )

  it.effect("A-0-3: a server without a web address fails the layer", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      for (const bad of ["not a url", "file:///x"]) {
        const error = yield* Effect.flip(Effect.provide(Authorization.make({ server: bad }), world.layer()))
        assert.strictEqual(error.reason._tag, "AddressRefused")
      }
    })
  )

  it.effect("A-0-3: a server over plain http elsewhere is never given a token", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const plain = "http://h.test/mcp"
      const authorization = yield* Effect.provide(Authorization.make({ server: plain }), world.layer())
      world.world.first.push(({ url }) => (url.href === plain ? { status: 401 } : undefined))
      const { reason } = yield* refused(authorization, HttpClientRequest.post(plain))
      assert.strictEqual(reason._tag, "AddressRefused")
      assert.strictEqual(world.seen.length, 1)
    })
  )
})
