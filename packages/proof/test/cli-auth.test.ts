/**
 * `mcp-effect auth` against a real authorization server and a server that it protects, and the commands that use the token.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Authorization from "@mcp-effect/client/Authorization"
import * as AuthorizationFlow from "@mcp-effect/client/AuthorizationFlow"
import * as ClientRegistration from "@mcp-effect/client/ClientRegistration"
import * as TokenStore from "@mcp-effect/client/TokenStore"
import * as Host from "@mcp-effect/host/Host"
import * as ServerEntry from "@mcp-effect/host/ServerEntry"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { mistakes } from "./fixtures/command.ts"
import { world } from "./fixtures/protectedWorld.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

describe("a host whose server wants a sign-in", () => {
  it.live("U-64: says that nobody tries again, and a restart takes the token that another process got meanwhile", () =>
    Effect.gen(function* () {
      const { run, server, tokens } = yield* world
      const services = Layer.mergeAll(
        NodeHttp.layer,
        TokenStore.layerFile({ path: tokens }),
        AuthorizationFlow.layerUnavailable,
        ClientRegistration.layer()
      )
      const http = yield* Layer.build(Authorization.layer({ server: server.url }).pipe(Layer.provide(services)))
      const host = yield* Effect.provide(Host.make(), http)
      yield* host.add(ServerEntry.http({ name: "safe", url: server.url }))
      const error = yield* Effect.flip(host.ready("safe"))
      assert.strictEqual(error.reason._tag, "AuthorizationRequired")
      const state = SubscriptionRef.getUnsafe((yield* host.server("safe")).state)
      assert(state._tag === "Failed")
      assert.isUndefined(state.nextTry)
      assert.include(state.because, "somebody has to sign in; `restart` the server then")

      assert.strictEqual((yield* run(["auth", "login", server.url])).code, 0)
      yield* host.restart("safe")
      assert.isTrue((yield* host.ready("safe")).tools)
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, EraMemory.layerNone]))
  )
})

describe("mcp-effect auth", () => {
  it.live(
    "U-64, U-67: signs in once; later commands use the token, renew it, and never open a browser; logout ends it",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { home, provider, run, server, tokens, visits } = yield* world
        const echo = ["call", "--json", server.url, "echo", "text=hello"]

        const before = yield* run(echo)
        assert.deepStrictEqual([before.code, before.out], [77, ""])
        assert.include(before.err, `Sign in with: mcp-effect auth login ${server.url}`)
        const none = yield* run(["auth", "status", "--json", server.url])
        assert.deepStrictEqual([none.code, JSON.parse(none.out)], [0, { server: server.url, signedIn: false }])

        const login = yield* run(["auth", "login", "--json", server.url])
        assert.deepStrictEqual([login.code, mistakes("auth login", login.out)], [0, []])
        assert.deepStrictEqual(JSON.parse(login.out), { server: server.url, signedIn: true })
        assert.match(login.err, /^Sign in at http:\/\/127\.0\.0\.1:\d+\/auth\?/m)
        assert.strictEqual((yield* fs.stat(tokens)).mode & 0o777, 0o600)

        const config = `${home}/mcp.json`
        yield* fs.writeFileString(config, JSON.stringify({ mcpServers: { safe: { url: server.url } } }))
        const status = yield* run(["auth", "status", "--config", config, "safe"])
        assert.deepStrictEqual([status.code, status.out], [0, `${server.url}: a token is kept\n`])
        const listed = yield* run(["servers", "--json", "--config", config])
        assert.deepStrictEqual([listed.code, mistakes("servers", listed.out)], [0, []])
        assert.deepInclude(JSON.parse(listed.out).servers[0], { name: "safe", state: "ready" })

        const record = `${home}/record`
        const called = yield* run([...echo, "--record", record])
        assert.deepStrictEqual([called.code, mistakes("call", called.out)], [0, []])
        const [token = ""] = server.tokens()
        assert.isAbove(token.length, 10)
        const recorded = yield* fs.readFileString(record)
        assert.include(recorded, '"tools/call"')
        assert.notInclude(recorded, token)

        yield* provider.endAccessTokens
        assert.strictEqual((yield* run(echo)).code, 0)
        assert.strictEqual(provider.given("refresh_token"), 1)
        const more = yield* run(["call", server.url, "add", "a=1", "b=2"])
        assert.deepStrictEqual([more.code, more.out], [77, ""])
        assert.strictEqual(yield* visits, 1)

        const last = server.tokens().at(-1) ?? ""
        const logout = yield* run(["auth", "logout", "--json", server.url])
        assert.deepStrictEqual([logout.code, mistakes("auth logout", logout.out)], [0, []])
        assert.deepStrictEqual(JSON.parse(logout.out), { server: server.url, signedIn: false })
        assert.isFalse(yield* server.isActive(last))
        assert.notInclude(yield* fs.readFileString(tokens), last)
        assert.strictEqual((yield* run(echo)).code, 77)
        const denied = yield* run(["servers", "--config", config])
        assert.strictEqual(denied.code, 69)
        assert.include(denied.out, `Sign in with: mcp-effect auth login ${server.url}`)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("U-64, U-67: a person who declines, a server that needs no sign-in, and one that is not there", () =>
    Effect.gen(function* () {
      const { provider, run, server, visits } = yield* world
      const declined = yield* run(["auth", "login", server.url], { WILL: "no" })
      assert.deepStrictEqual([declined.code, declined.out], [77, ""])
      assert.match(declined.err, /declined/)
      assert.strictEqual(yield* visits, 1)

      // The authorization server answers 404 here, which wants no token.
      const open = yield* run(["auth", "login", `${provider.issuer}/mcp`])
      assert.deepStrictEqual([open.code, open.out], [0, `${provider.issuer}/mcp: no sign-in is needed\n`])
      const gone = yield* run(["auth", "login", "http://127.0.0.1:9/mcp"])
      assert.deepStrictEqual([gone.code, gone.out], [69, ""])
      const what = yield* run(["auth", "login", "ftp://127.0.0.1/"])
      assert.deepStrictEqual([what.code, what.out], [64, ""])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
