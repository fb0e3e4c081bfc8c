/**
 * The command behind a proxy, which its environment names.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Servers from "../servers/Servers.ts"
import { command } from "./fixtures/command.ts"
import * as Proxy from "./fixtures/proxy.ts"
import { behindTls, certificate } from "./fixtures/tls.ts"

// Processes start slowly on a busy machine; what is waited for has limits of its own.
vi.setConfig({ testTimeout: 120_000 })

/** Whatever the machine that runs the tests has set, only these variables count. */
const none = { http_proxy: undefined, https_proxy: undefined, no_proxy: undefined }
const without = { ...none, HTTP_PROXY: undefined, HTTPS_PROXY: undefined, NO_PROXY: undefined }

const run = (env: Readonly<Record<string, string>>, ...words: ReadonlyArray<string>) =>
  command(words, { env: { ...without, ...env } })

describe("U-61, U-67: behind a proxy", () => {
  it.live("requests to http addresses go to it whole, in the modern era, in the legacy one and over HTTP+SSE", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make()
      const modern = yield* Servers.officialHttp
      const legacy = yield* Servers.everythingHttp
      const sse = yield* Servers.everythingSse
      for (const url of [modern.target.url, legacy.target.url, sse.target.url]) {
        const { code, err, out } = yield* run({ HTTP_PROXY: proxy.url }, "tools", "--json", url)
        assert.deepStrictEqual([code, err], [0, ""], url)
        assert.isAbove(JSON.parse(out).tools.length, 0)
        assert.isTrue(proxy.asked.has(`POST ${url}`) || proxy.asked.has(`GET ${url}`), [...proxy.asked].join(", "))
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("https addresses get a tunnel: by HTTPS_PROXY, else by HTTP_PROXY, in lower case too, with a password", () =>
    Effect.gen(function* () {
      const file = (yield* Path.Path).join(
        yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "mcp-cli-" }),
        "ca.pem"
      )
      yield* (yield* FileSystem.FileSystem).writeFileString(file, certificate)
      const url = yield* behindTls((yield* Servers.officialHttp).target.url)
      const tunnel = `CONNECT ${new URL(url).host}`
      const open = yield* Proxy.make()
      const closed = yield* Proxy.make("me:p@ss")
      const rows: ReadonlyArray<readonly [Proxy.Proxy, Readonly<Record<string, string>>]> = [
        [open, { HTTPS_PROXY: open.url }],
        [open, { https_proxy: open.url.replace("http://", ""), HTTPS_PROXY: "http://127.0.0.1:9" }],
        [open, { HTTP_PROXY: open.url }],
        [closed, { HTTPS_PROXY: closed.url.replace("//", "//me:p%40ss@") }]
      ]
      for (const [proxy, env] of rows) {
        const asked = proxy.asked as Set<string>
        asked.clear()
        const { code, err } = yield* run({ NODE_EXTRA_CA_CERTS: file, ...env }, "ping", url)
        assert.deepStrictEqual([code, err, [...asked]], [0, "", [tunnel]], JSON.stringify(env))
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("hosts that NO_PROXY names are reached without it, and an empty variable names none", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make()
      const { url } = (yield* Servers.officialHttp).target
      const { hostname, port } = new URL(url)
      const rows: ReadonlyArray<Readonly<Record<string, string>>> = [
        { HTTP_PROXY: proxy.url, NO_PROXY: `example.com, ${hostname}` },
        { HTTP_PROXY: proxy.url, no_proxy: `${hostname}:${port}`, NO_PROXY: "" },
        { HTTP_PROXY: proxy.url, NO_PROXY: "*" },
        { HTTP_PROXY: proxy.url, http_proxy: "" }
      ]
      for (const env of rows) {
        assert.strictEqual((yield* run(env, "ping", url)).code, 0)
        assert.deepStrictEqual([...proxy.asked], [], JSON.stringify(env))
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("one that refuses, is not there, or is no proxy ends the command with words that name the variable", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make("me:secret")
      const { url } = (yield* Servers.officialHttp).target
      const wrong = proxy.url.replace("//", "//me:S3CRET@")
      const advice = /\nHTTP_PROXY may send this through a proxy; NO_PROXY names the hosts that need none\n$/
      const rows: ReadonlyArray<readonly [env: string, code: number, words: RegExp]> = [
        [wrong, 69, /Proxy Authentication Required \(407\)/],
        [wrong, 69, advice],
        ["http://127.0.0.1:9", 69, /ECONNREFUSED/],
        ["http://127.0.0.1:9", 69, advice],
        ["ftp://me:S3CRET@proxy", 64, /^HTTP_PROXY names no proxy; write http:\/\/host:port or .*\n$/]
      ]
      for (const [value, exit, words] of rows) {
        const { code, err, out } = yield* run({ HTTP_PROXY: value }, "probe", url)
        assert.deepStrictEqual([code, out], [exit, ""])
        assert.match(err, words)
        assert.notInclude(err, "S3CRET")
      }
      const { target } = yield* Servers.officialStdio
      const stdio = yield* run({ HTTP_PROXY: "ftp://proxy" }, "ping", "--", target.command, ...target.args)
      assert.deepStrictEqual([stdio.code, stdio.err], [0, ""])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
