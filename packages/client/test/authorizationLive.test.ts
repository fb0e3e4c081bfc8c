/** Authorization on a real machine: files, processes, sockets, and a whole sign-in against servers on the loopback. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Authorization from "@mcp-effect/client/Authorization"
import * as AuthorizationFlow from "@mcp-effect/client/AuthorizationFlow"
import * as Browser from "@mcp-effect/client/Browser"
import * as ClientRegistration from "@mcp-effect/client/ClientRegistration"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as TokenStore from "@mcp-effect/client/TokenStore"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as NetAddress from "effect/net/NetAddress"
import * as Path from "effect/Path"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import { createServer, request as plainRequest } from "node:http"
import { fileURLToPath } from "node:url"

const text = (value: Redacted.Redacted | undefined) => (value === undefined ? undefined : Redacted.value(value))

describe("a store", () => {
  const laws = Effect.gen(function* () {
    const store = yield* TokenStore.TokenStore
    assert.isUndefined(yield* store.get("a"))
    yield* store.set("a", Redacted.make("1"))
    yield* store.set("__proto__", Redacted.make("2"))
    assert.strictEqual(text(yield* store.get("a")), "1")
    assert.strictEqual(text(yield* store.get("__proto__")), "2")
    assert.isUndefined(yield* store.get("constructor"))
    yield* store.remove("a")
    yield* store.remove("a")
    assert.isUndefined(yield* store.get("a"))
    let inside = 0
    let most = 0
    const enter = Effect.gen(function* () {
      most = Math.max(most, ++inside)
      yield* Effect.yieldNow
      inside--
    })
    yield* Effect.all(
      Array.from({ length: 10 }, () => store.exclusively("k")(enter)),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(most, 1)
  })

  const file = Layer.unwrap(
    Effect.gen(function* () {
      const path = yield* Path.Path
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      return TokenStore.layerFile({ path: path.join(folder, "deep", "tokens.json") })
    })
  ).pipe(Layer.provideMerge(NodeServices.layer))

  it.live.each([
    ["in memory", TokenStore.layerMemory],
    ["in a key-value store", TokenStore.layerKeyValue().pipe(Layer.provide(KeyValueStore.layerMemory))],
    ["in a file", file]
  ] as const)("U-64: %s keeps texts by name and lets one in at a time", ([, layer]) => Effect.provide(laws, layer))

  it.live("A-0-4: in a file is for its owner only, and leaves nothing else behind", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = path.join(yield* fs.makeTempDirectoryScoped(), "mcp")
      const place = path.join(folder, "tokens.json")
      yield* Effect.gen(function* () {
        const store = yield* TokenStore.TokenStore
        yield* store.exclusively("k")(store.set("a", Redacted.make("SECRET")))
      }).pipe(Effect.provide(TokenStore.layerFile({ path: place })))
      assert.strictEqual((yield* fs.stat(place)).mode & 0o777, 0o600)
      assert.strictEqual((yield* fs.stat(folder)).mode & 0o777, 0o700)
      assert.deepStrictEqual(yield* fs.readDirectory(folder), ["tokens.json"])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("T-OAUTH-10: in a damaged file says so and overwrites nothing", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const place = path.join(yield* fs.makeTempDirectoryScoped(), "tokens.json")
      yield* fs.writeFileString(place, "{ SECRET")
      const store = yield* Effect.provide(TokenStore.TokenStore, TokenStore.layerFile({ path: place }))
      const error = yield* Effect.flip(store.set("a", Redacted.make("1")))
      assert.include(error.message, "is no JSON object")
      assert.notInclude(error.message, "SECRET")
      assert.strictEqual(yield* fs.readFileString(place), "{ SECRET")
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    "T-OAUTH-4: in a file keeps processes apart, and a lock left behind is broken",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const spawner = yield* ChildProcessSpawner
        const place = path.join(yield* fs.makeTempDirectoryScoped(), "tokens.json")
        yield* fs.writeFileString(`${place}.lock`, "somebody 1")
        const writer = fileURLToPath(new URL("fixtures/storeWriter.ts", import.meta.url))
        const run = Effect.scoped(
          Effect.flatMap(
            spawner.spawn(ChildProcess.make(process.execPath, [writer, place, "15"], { stderr: "inherit" })),
            ({ exitCode }) => exitCode
          )
        )
        const codes = yield* Effect.all([run, run, run], { concurrency: "unbounded" })
        assert.deepStrictEqual(codes.map(Number), [0, 0, 0])
        const store = yield* Effect.provide(TokenStore.TokenStore, TokenStore.layerFile({ path: place }))
        assert.strictEqual(text(yield* store.get("count")), "45")
      }).pipe(Effect.provide(NodeServices.layer)),
    { timeout: 60_000 }
  )
})

const listen = (port: number) => NodeHttpServer.layerServer(() => createServer(), { port, host: "127.0.0.1" })

/** Asks with a `Host` header of its own, which `fetch` does not allow. */
const ask = (address: string, options: { readonly method?: string; readonly host?: string } = {}) =>
  Effect.callback<{ readonly status: number; readonly body: string }>((resume) => {
    const url = new URL(address)
    const sent = plainRequest(
      url,
      { method: options.method ?? "GET", headers: { host: options.host ?? url.host } },
      (response) => {
        let body = ""
        response.on("data", (chunk: Buffer) => (body += chunk.toString()))
        response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, body })))
      }
    )
    sent.on("error", () => resume(Effect.succeed({ status: 0, body: "" })))
    sent.end()
  })

describe("the listener for the answer", () => {
  const begin = (redirectUris?: ReadonlyArray<string>, open: (page: URL) => Effect.Effect<void> = () => Effect.void) =>
    Effect.gen(function* () {
      const flow = yield* AuthorizationFlow.AuthorizationFlow
      return yield* flow.begin({ issuer: "https://as.test", redirectUris })
    }).pipe(
      Effect.provide(
        AuthorizationFlow.layerLoopback({ listen }).pipe(Layer.provide(Layer.succeed(Browser.Browser, { open })))
      )
    )

  const page = {
    address: new URL("https://as.test/authorize"),
    issuer: "https://as.test",
    isAnswer: (parameters: URLSearchParams) => parameters.get("state") === "S"
  }

  it.live("T-SEC-9: answers only its own host, path, method and attempt, and once", () =>
    Effect.gen(function* () {
      const opened = yield* Deferred.make<void>()
      const attempt = yield* begin(undefined, () => Effect.asVoid(Deferred.succeed(opened, undefined)))
      assert.match(attempt.redirectUri, /^http:\/\/127\.0\.0\.1:\d+\/callback$/)
      const good = `${attempt.redirectUri}?code=c&state=S`
      assert.strictEqual((yield* ask(good)).status, 404, "before the page is shown")
      const visit = yield* Effect.forkChild(attempt.visit(page), { startImmediately: true })
      yield* Deferred.await(opened)
      const { port } = new URL(attempt.redirectUri)
      assert.strictEqual((yield* ask(`${attempt.redirectUri}?code=x&state=wrong`)).status, 404)
      assert.strictEqual((yield* ask(good, { host: "evil.test" })).status, 404)
      assert.strictEqual((yield* ask(good, { host: `evil.test:${port}` })).status, 404)
      assert.strictEqual((yield* ask(good.replace("/callback", "/other"))).status, 404)
      assert.strictEqual((yield* ask(good, { method: "POST" })).status, 404)
      assert.isUndefined(visit.pollUnsafe())
      const accepted = yield* ask(`${good}&x=%3Cscript%3E`)
      assert.strictEqual(accepted.status, 200)
      assert.notInclude(accepted.body, "script")
      assert.strictEqual((yield* Fiber.join(visit)).get("code"), "c")
      assert.notStrictEqual((yield* ask(good)).status, 200, "the same state again")
    })
  )

  it.live("T-OAUTH-6: a registered port that is taken is named, and no browser opens", () =>
    Effect.gen(function* () {
      let opened = 0
      const { address } = yield* Effect.map(Layer.build(listen(0)), (context) =>
        Context.get(context, HttpServer.HttpServer)
      )
      const port = NetAddress.isInetAddress(address) ? address.port : 0
      const registered = [`http://127.0.0.1:${port}/callback`]
      const error = yield* Effect.flip(begin(registered, () => Effect.sync(() => void opened++)))
      assert.strictEqual(error._tag, "CallbackPortBusy")
      assert.include(error.message, `port ${port} is in use`)
      assert.strictEqual(opened, 0)
    })
  )

  it.live("A-4-6: the registered address is used to the letter; without a port any will do", () =>
    Effect.gen(function* () {
      const first = yield* Effect.scoped(begin())
      const { port } = new URL(first.redirectUri)
      const fixed = yield* begin([`http://localhost:${port}/cb`])
      assert.strictEqual(fixed.redirectUri, `http://localhost:${port}/cb`)
      const any = yield* begin(["https://c.test/x", "http://127.0.0.1/cb"])
      assert.match(any.redirectUri, /^http:\/\/127\.0\.0\.1:\d+\/cb$/)
      const none = yield* Effect.flip(begin(["https://c.test/x"]))
      assert.strictEqual(none._tag, "SignInUnavailable")
    })
  )

  it.live("T-SEC-9: a listener that is open to the network is refused", () =>
    Effect.gen(function* () {
      const open = (port: number) => NodeHttpServer.layerServer(() => createServer(), { port, host: "0.0.0.0" })
      const browser = Layer.succeed(Browser.Browser, { open: () => Effect.void })
      const flow = yield* Effect.provide(
        AuthorizationFlow.AuthorizationFlow,
        AuthorizationFlow.layerLoopback({ listen: open }).pipe(Layer.provide(browser))
      )
      const error = yield* Effect.flip(flow.begin({ issuer: "i", redirectUris: undefined }))
      assert.include(error.message, "not bound to the loopback")
    })
  )
})

describe("the platform's opener", () => {
  it.live("T-SEC-1: gets the address as one argument, and its failure is told", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped()
      const seen = path.join(folder, "seen")
      yield* fs.writeFileString(path.join(folder, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${seen}'\n`, {
        mode: 0o755
      })
      const before = process.env["PATH"]
      const address = new URL("https://as.test/a?x=1&y=$(id);z")
      yield* Effect.gen(function* () {
        const browser = yield* Effect.provide(Browser.Browser, Browser.layer({ platform: "linux" }))
        yield* browser.open(address)
        assert.strictEqual(yield* fs.readFileString(seen), `1\n${address.href}\n`)
        yield* fs.writeFileString(path.join(folder, "xdg-open"), "#!/bin/sh\nexit 3\n", { mode: 0o755 })
        assert.include((yield* Effect.flip(browser.open(address))).message, "exit code 3")
      }).pipe(Effect.ensuring(Effect.sync(() => void (process.env["PATH"] = before))), (run) =>
        Effect.suspend(() => {
          process.env["PATH"] = `${folder}:${before}`
          return run
        })
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

/** A protected MCP server with its authorization server, on the loopback. */
const realServer = Effect.gen(function* () {
  const valid = new Set<string>()
  const refreshTokens = new Set<string>()
  const log: Array<string> = []
  let origin = ""
  let issued = 0
  /** How many requests a token is good for, and how long it takes to get one, in milliseconds. */
  const life = { uses: Infinity, delay: 0 }
  const uses = new Map<string, number>()

  const routes = Layer.mergeAll(
    HttpRouter.add("GET", "/.well-known/oauth-protected-resource/mcp", () =>
      HttpServerResponse.json({ resource: `${origin}/mcp`, authorization_servers: [`${origin}/as`] })
    ),
    HttpRouter.add("GET", "/.well-known/oauth-authorization-server/as", () =>
      HttpServerResponse.json({
        issuer: `${origin}/as`,
        authorization_endpoint: `${origin}/as/authorize`,
        token_endpoint: `${origin}/as/token`,
        registration_endpoint: `${origin}/as/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true
      })
    ),
    HttpRouter.add("POST", "/as/register", () => HttpServerResponse.json({ client_id: "c" }, { status: 201 })),
    HttpRouter.add(
      "GET",
      "/as/authorize",
      Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
        const asked = new URL(url, origin).searchParams
        const back = new URL(asked.get("redirect_uri") ?? "")
        back.searchParams.set("code", "code")
        back.searchParams.set("state", asked.get("state") ?? "")
        back.searchParams.set("iss", `${origin}/as`)
        return HttpServerResponse.redirect(back.href)
      })
    ),
    HttpRouter.add(
      "POST",
      "/as/token",
      Effect.gen(function* () {
        const form = new URLSearchParams(yield* (yield* HttpServerRequest.HttpServerRequest).text)
        log.push(form.get("grant_type") ?? "")
        yield* Effect.sleep(life.delay)
        if (form.get("grant_type") === "refresh_token" && !refreshTokens.delete(form.get("refresh_token") ?? "")) {
          log.push("refused")
          return yield* HttpServerResponse.json({ error: "invalid_grant" }, { status: 400 })
        }
        const number = ++issued
        valid.add(`access-${number}`)
        refreshTokens.add(`refresh-${number}`)
        return yield* HttpServerResponse.json({
          access_token: `access-${number}`,
          token_type: "Bearer",
          expires_in: 3600,
          refresh_token: `refresh-${number}`
        })
      })
    ),
    HttpRouter.add(
      "POST",
      "/mcp",
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const token = (request.headers["authorization"] ?? "").slice(7)
        const used = (uses.get(token) ?? 0) + 1
        uses.set(token, used)
        if (!valid.has(token) || used > life.uses) {
          return HttpServerResponse.text("no", { status: 401, headers: { "www-authenticate": "Bearer" } })
        }
        const { id, method } = JSON.parse(yield* request.text)
        const result =
          method === "server/discover"
            ? {
                resultType: "complete",
                supportedVersions: ["2026-07-28"],
                capabilities: { tools: {} },
                ttlMs: 0,
                cacheScope: "private"
              }
            : {
                resultType: "complete",
                tools: [{ name: "t", inputSchema: { type: "object" } }],
                ttlMs: 0,
                cacheScope: "private"
              }
        return yield* HttpServerResponse.json({ jsonrpc: "2.0", id, result })
      })
    )
  )
  const built = yield* Layer.build(
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(Layer.provideMerge(listen(0)))
  )
  const { address } = Context.get(built, HttpServer.HttpServer)
  origin = `http://127.0.0.1:${NetAddress.isInetAddress(address) ? address.port : 0}`
  return { url: `${origin}/mcp`, valid, refreshTokens, log, life }
})

const visitor = (visits: { opened: number }) =>
  Browser.make((page) =>
    Effect.promise(() => fetch(page).then((response) => response.text())).pipe(
      Effect.tap(() => Effect.sync(() => void visits.opened++)),
      Effect.asVoid
    )
  )

describe("a whole sign-in", () => {
  it.live(
    "U-64: connects, lists, renews, is revoked, signs in again, with real sockets all the way",

    () =>
      Effect.gen(function* () {
        const server = yield* realServer
        const visits = { opened: 0 }
        const browser = Layer.succeed(Browser.Browser, visitor(visits))
        const flow = AuthorizationFlow.layerLoopback({ listen }).pipe(Layer.provide(browser))
        const authorization = Authorization.layer({ server: server.url }).pipe(
          Layer.provide([
            flow,
            Layer.orDie(ClientRegistration.layer()),
            TokenStore.layerMemory,
            NodeHttpClient.layerUndici
          ])
        )
        yield* Effect.gen(function* () {
          const client = yield* McpClient.connect(server.url)
          assert.strictEqual(client.agreement.version, "2026-07-28")
          assert.deepStrictEqual(
            (yield* client.listTools()).map(({ name }) => name),
            ["t"]
          )
          assert.strictEqual(visits.opened, 1)
          server.valid.clear()
          yield* client.listTools()
          assert.strictEqual(visits.opened, 1)
          server.valid.clear()
          server.refreshTokens.clear()
          yield* client.listTools()
          assert.strictEqual(visits.opened, 2)
        }).pipe(Effect.provide(authorization))
        assert.deepStrictEqual(server.log, [
          "authorization_code",
          "refresh_token",
          "refresh_token",
          "refused",
          "authorization_code"
        ])
      }),
    { timeout: 30_000 }
  )

  it.live(
    "T-OAUTH-4: processes that share a file of tokens race to renew, and keep one valid token",
    () =>
      Effect.gen(function* () {
        const server = yield* realServer
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const spawner = yield* ChildProcessSpawner
        const place = path.join(yield* fs.makeTempDirectoryScoped(), "tokens.json")
        const visits = { opened: 0 }
        const authorization = (flow: Layer.Layer<AuthorizationFlow.AuthorizationFlow>) =>
          Authorization.layer({ server: server.url }).pipe(
            Layer.provide([
              flow,
              Layer.orDie(ClientRegistration.layer()),
              TokenStore.layerFile({ path: place }),
              NodeHttpClient.layerUndici
            ])
          )
        const loopback = AuthorizationFlow.layerLoopback({ listen }).pipe(
          Layer.provide(Layer.succeed(Browser.Browser, visitor(visits)))
        )
        yield* Effect.provide(McpClient.connect(server.url), authorization(loopback))

        server.life.uses = 20
        server.life.delay = 50
        const caller = fileURLToPath(new URL("fixtures/authorizedCaller.ts", import.meta.url))
        const run = Effect.scoped(
          Effect.flatMap(
            spawner.spawn(
              ChildProcess.make(process.execPath, [caller, server.url, place, "80"], { stderr: "inherit" })
            ),
            ({ exitCode }) => exitCode
          )
        )
        assert.deepStrictEqual((yield* Effect.all([run, run], { concurrency: "unbounded" })).map(Number), [0, 0])
        assert.isAtLeast(server.log.filter((grant) => grant === "refresh_token").length, 8)
        assert.notInclude(server.log, "refused", "a refresh token was used twice")
        assert.strictEqual(server.refreshTokens.size, 1)
        assert.strictEqual(visits.opened, 1)
        server.life.uses = Infinity
        const renewals = server.log.length
        yield* Effect.provide(McpClient.connect(server.url), authorization(AuthorizationFlow.layerUnavailable))
        assert.strictEqual(server.log.length, renewals, "the stored token is the valid one")
      }).pipe(Effect.provide(NodeServices.layer)),
    { timeout: 120_000 }
  )
})
