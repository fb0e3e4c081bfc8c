/** The parts of authorization that decide without asking anybody. */
import * as Browser from "@mcp-effect/client/Browser"
import * as ClientRegistration from "@mcp-effect/client/ClientRegistration"
import { AuthorizationNotice, AuthorizationNotices } from "@mcp-effect/client/AuthorizationNotice"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import { assert, describe, it } from "@effect/vitest"
import * as Dns from "effect/net/Dns"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Challenge from "../src/internal/authorization/challenge.ts"
import * as Discovery from "../src/internal/authorization/discovery.ts"
import * as Fields from "../src/internal/authorization/fields.ts"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Random from "../src/internal/authorization/random.ts"
import * as Reach from "../src/internal/authorization/reach.ts"
import * as Resource from "../src/internal/authorization/resource.ts"
import * as Scopes from "../src/internal/authorization/scopes.ts"
import * as SignIn from "../src/internal/authorization/signIn.ts"
import { methodOf } from "../src/internal/authorization/tokenEndpoint.ts"

const parameters = (header: string, scheme = "bearer") =>
  Object.fromEntries(Challenge.choose(Challenge.parse(header), [scheme])?.parameters ?? [])

describe("a challenge", () => {
  it("T-OAUTH-3: is read in any legal spelling, and quoted text is no parameter", () => {
    const header = `bearer error="x, resource_metadata=\\"no\\"", resource_metadata = "https://h.test/prm"`
    assert.deepStrictEqual(parameters(header), {
      error: `x, resource_metadata="no"`,
      resource_metadata: "https://h.test/prm"
    })
  })

  const rows: ReadonlyArray<readonly [string, string, Record<string, string>]> = [
    ["tokens without quotes", "Bearer error=invalid_token,scope=a", { error: "invalid_token", scope: "a" }],
    ["another scheme before", `Basic realm="x", Bearer scope="a b"`, { scope: "a b" }],
    ["another scheme after", `Bearer scope="a", Basic realm="x"`, { scope: "a" }],
    ["a token68 before", `Negotiate YII==, Bearer scope="a"`, { scope: "a" }],
    ["several header lines joined", `Digest nonce="1", qop="auth", BEARER SCOPE="a"`, { scope: "a" }],
    ["a bare scheme", "Bearer", {}],
    ["empty members", `Bearer , , scope="a" ,`, { scope: "a" }],
    ["the first of two", `Bearer scope="a", scope="b"`, { scope: "a" }],
    ["rubbish up to the next comma", `Bearer @@@, scope="a"`, { scope: "a" }],
    ["an open quote", `Bearer scope="a, error=b`, { error: "b" }],
    ["a name that contains another", `Bearer my_scope="x", scope="a"`, { my_scope: "x", scope: "a" }]
  ]
  it.each(rows)("A-1-5: is read with %s", (_, header, expected) => {
    assert.deepStrictEqual(parameters(header), expected)
  })

  it("M-AUTH-5: of an unknown scheme is taken when it tells where the metadata is", () => {
    assert.deepStrictEqual(parameters(`DPoP resource_metadata="https://h.test/prm"`), {
      resource_metadata: "https://h.test/prm"
    })
    assert.isUndefined(Challenge.choose(Challenge.parse("Basic realm=x"), ["bearer"]))
  })

  it("A-1-5: of any length and content is read in bounded time", () => {
    for (const header of [`"`.repeat(50_000), `a=`.repeat(50_000), "\\".repeat(50_000), ",".repeat(50_000)]) {
      assert.isArray(Challenge.parse(header))
    }
  })
})

describe("places of metadata", () => {
  it("T-OAUTH-1: the well-known part goes before the path, then the root is asked", () => {
    assert.deepStrictEqual(Resource.wellKnown(new URL("https://h.test/public/mcp")), [
      "https://h.test/.well-known/oauth-protected-resource/public/mcp",
      "https://h.test/.well-known/oauth-protected-resource"
    ])
    assert.deepStrictEqual(Resource.wellKnown(new URL("https://h.test:8443/")), [
      "https://h.test:8443/.well-known/oauth-protected-resource"
    ])
    assert.strictEqual(
      Resource.wellKnown(new URL("https://h.test/mcp/?tenant=1"))[0],
      "https://h.test/.well-known/oauth-protected-resource/mcp?tenant=1"
    )
  })

  it("M-AUTH-10: an issuer with a path has three places, in order", () => {
    assert.deepStrictEqual(Discovery.metadataPlaces("https://as.test/t1"), [
      "https://as.test/.well-known/oauth-authorization-server/t1",
      "https://as.test/.well-known/openid-configuration/t1",
      "https://as.test/t1/.well-known/openid-configuration"
    ])
  })

  it("M-AUTH-11: an issuer without a path has two", () => {
    assert.deepStrictEqual(Discovery.metadataPlaces("https://as.test"), [
      "https://as.test/.well-known/oauth-authorization-server",
      "https://as.test/.well-known/openid-configuration"
    ])
  })
})

describe("the resource", () => {
  const covers = (resource: string, server: string) => Resource.covers(new URL(resource), new URL(server))

  it("T-OAUTH-2: one trailing slash makes no difference", () => {
    assert.isTrue(covers("https://h.test/mcp", "https://h.test/mcp/"))
    assert.isTrue(covers("https://h.test/mcp/", "https://h.test/mcp"))
    assert.isTrue(covers("https://h.test", "https://h.test/"))
  })

  it("A-2-5: covers a server below it segment by segment, on the same origin only", () => {
    assert.isTrue(covers("https://h.test", "https://h.test/a/b"))
    assert.isTrue(covers("https://H.test:443/a", "https://h.test/a/b"))
    assert.isFalse(covers("https://h.test/a", "https://h.test/ab"))
    assert.isFalse(covers("https://h.test/a/b", "https://h.test/a"))
    assert.isFalse(covers("http://h.test/a", "https://h.test/a"))
    assert.isFalse(covers("https://h.test:8443/a", "https://h.test/a"))
    assert.isFalse(covers("https://evil.test/a", "https://h.test/a"))
    assert.isFalse(covers("https://h.test/a#x", "https://h.test/a"))
  })

  it("M-AUTH-23: the canonical name has no fragment, no credentials and no empty path", () => {
    assert.strictEqual(Resource.canonical(new URL("HTTPS://user:pw@H.Test:443/#x")), "https://h.test")
    assert.strictEqual(Resource.canonical(new URL("https://h.test/mcp?a=1#x")), "https://h.test/mcp?a=1")
  })
})

describe("addresses", () => {
  const rows: ReadonlyArray<readonly [string, Reach.Reach]> = [
    ["https://example.com", "public"],
    ["https://93.184.216.34", "public"],
    ["https://[2606:4700::1]", "public"],
    ["https://localhost", "loopback"],
    ["https://a.localhost.", "loopback"],
    ["https://127.1", "loopback"],
    ["https://0x7f000001", "loopback"],
    ["https://[::1]", "loopback"],
    ["https://[::ffff:127.0.0.1]", "loopback"],
    ["https://10.0.0.1", "private"],
    ["https://172.31.0.1", "private"],
    ["https://192.168.1.1", "private"],
    ["https://100.64.0.1", "private"],
    ["https://[fd00::1]", "private"],
    ["https://[::ffff:10.0.0.1]", "private"],
    ["https://[64:ff9b::a00:1]", "private"],
    ["https://intranet", "private"],
    ["https://printer.local", "private"],
    ["https://metadata.google.internal", "private"],
    ["https://169.254.169.254", "reserved"],
    ["https://0.0.0.0", "reserved"],
    ["https://[::]", "reserved"],
    ["https://[fe80::1]", "reserved"],
    ["https://224.0.0.1", "reserved"],
    ["https://255.255.255.255", "reserved"],
    ["https://198.18.0.1", "reserved"]
  ]
  it.each(rows)("T-SEC-3: %s is %s", (address, reach) => {
    assert.strictEqual(Reach.of(new URL(address)), reach)
  })

  const judged = (server: string, address: string, allow: Reach.Policy["allow"] = () => false) =>
    Effect.map(
      Effect.result(Reach.check({ server: new URL(server), allow, dns: undefined }, "document", address)),
      Result.isSuccess
    )

  it.effect("T-SEC-3: a server outside names nothing inside; one inside may", () =>
    Effect.gen(function* () {
      for (const inside of ["https://127.0.0.1/x", "https://10.0.0.1/x", "https://169.254.169.254/x"]) {
        assert.isFalse(yield* judged("https://h.test", inside), inside)
      }
      assert.isTrue(yield* judged("http://localhost:3000", "http://127.0.0.1:9/x"))
      assert.isTrue(yield* judged("http://localhost:3000", "https://10.0.0.1/x"))
      assert.isFalse(yield* judged("http://localhost:3000", "https://169.254.169.254/latest"))
      assert.isTrue(yield* judged("https://10.0.0.2", "https://10.0.0.1/x"))
      assert.isFalse(yield* judged("https://10.0.0.2", "https://127.0.0.1/x"))
      assert.isTrue(yield* judged("https://h.test", "https://10.0.0.1/x", ({ hostname }) => hostname === "10.0.0.1"))
    })
  )

  it.effect("T-SEC-1: only https, and http on the loopback, whatever is allowed", () =>
    Effect.gen(function* () {
      const anything = () => true
      for (const bad of [
        "http://h.test/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "ms-x:run",
        "data:text/html,x",
        "https://user:pw@h.test/x",
        "not a url",
        ""
      ]) {
        assert.isFalse(yield* judged("https://h.test", bad, anything), bad)
      }
      assert.isTrue(yield* judged("https://h.test", "https://as.test/x"))
    })
  )

  it.effect("T-SEC-3: a public name that resolves inside is refused where names are looked up", () =>
    Effect.gen(function* () {
      const dns = Result.getOrThrow(
        Dns.makeStatic({
          hosts: { "rebind.test": ["10.0.0.5"], "fine.test": ["93.184.216.34"], "h.test": ["1.2.3.4"] }
        })
      )
      const policy: Reach.Policy = { server: new URL("https://h.test"), allow: () => false, dns }
      const refused = yield* Effect.flip(Reach.check(policy, "token endpoint", "https://rebind.test/t"))
      assert.match(refused.message, /token endpoint .*rebind\.test.* resolves inside/)
      assert.strictEqual((yield* Reach.check(policy, "token endpoint", "https://fine.test/t")).hostname, "fine.test")
    })
  )
})

describe("an answer to a sign-in", () => {
  const judge = (answer: Record<string, string>, issParameter: boolean) => {
    const result = SignIn.codeOf(
      new URLSearchParams({ state: "S", ...answer }),
      { issuer: "https://as.test", issParameter },
      "S"
    )
    return Result.isSuccess(result) ? "code" : result.failure._tag
  }

  const rows: ReadonlyArray<readonly [boolean, string | undefined, string]> = [
    [true, "https://as.test", "code"],
    [true, undefined, "IssuerMismatch"],
    [true, "https://evil.test", "IssuerMismatch"],
    [false, "https://as.test", "code"],
    [false, "https://evil.test", "IssuerMismatch"],
    [false, undefined, "code"]
  ]
  it.each(rows)("M-AUTH-26: iss promised %s, given %s: %s", (promised, iss, expected) => {
    assert.strictEqual(judge({ code: "c", ...(iss === undefined ? {} : { iss }) }, promised), expected)
  })

  it.each(["https://as.test/", "HTTPS://as.test", "https://AS.test", "https://as.test:443", "https://as.test%2F"])(
    "M-AUTH-27: %s is another issuer than https://as.test",
    (iss) => {
      assert.strictEqual(judge({ code: "c", iss }, false), "IssuerMismatch")
    }
  )

  it("M-AUTH-28: an error of a wrong issuer is neither acted on nor shown", () => {
    const answer = new URLSearchParams({
      state: "S",
      iss: "https://evil.test",
      error: "access_denied",
      error_description: "LURE"
    })
    const result = SignIn.codeOf(answer, { issuer: "https://as.test", issParameter: true }, "S")
    assert.isTrue(Result.isFailure(result))
    if (Result.isFailure(result)) assert.notInclude(result.failure.message, "LURE")
  })

  it("M-AUTH-24: without our state nothing else is looked at", () => {
    const result = SignIn.codeOf(
      new URLSearchParams({ state: "T", code: "c" }),
      { issuer: "i", issParameter: false },
      "S"
    )
    assert.strictEqual(Result.isFailure(result) && result.failure._tag, "SignInAnswerInvalid")
    assert.isTrue(Random.same("abc", "abc"))
    assert.isFalse(Random.same("abc", "abd"))
    assert.isFalse(Random.same("abc", "ab"))
    assert.isFalse(Random.same("", "a"))
  })
})

describe("who a client is", () => {
  const secret = Redacted.make("s")
  const rows: ReadonlyArray<readonly [ClientRegistration.Client, ReadonlyArray<string> | undefined, string]> = [
    [{ clientId: "c" }, undefined, "none"],
    [{ clientId: "c", secret }, undefined, "client_secret_basic"],
    [{ clientId: "c", secret }, ["client_secret_post"], "client_secret_post"],
    [{ clientId: "c", secret }, ["client_secret_post", "client_secret_basic"], "client_secret_basic"],
    [{ clientId: "c", secret }, ["none"], "none"],
    [
      { clientId: "c", secret, authMethod: "client_secret_post" },
      ["client_secret_basic", "client_secret_post"],
      "client_secret_post"
    ],
    [{ clientId: "c", secret, authMethod: "client_secret_post" }, ["client_secret_basic"], "client_secret_basic"]
  ]
  it.each(rows)("A-8-1: authenticates by the agreed or the best offered method (%#)", (client, offered, method) => {
    assert.strictEqual(methodOf(client, offered), method)
  })

  it.effect("A-4-1: a document's address is https with a path, checked when the service is made", () =>
    Effect.gen(function* () {
      for (const document of [
        "http://c.test/x",
        "https://c.test",
        "https://c.test/",
        "https://c.test/x#y",
        "c.test/x"
      ]) {
        const refused = yield* Effect.flip(ClientRegistration.make({ document }))
        assert.strictEqual(refused._tag, "ClientDocumentInvalid")
      }
      yield* ClientRegistration.make({ document: "https://c.test/client.json" })
    })
  )
})

describe("the browser", () => {
  const nasty = new URL("https://h.test/?a=1&b=$(touch%20x)")

  it("T-SEC-1: gets the address as one argument of the platform's opener, without a shell", () => {
    assert.deepStrictEqual(Browser.command("linux", nasty), ["xdg-open", nasty.href])
    assert.deepStrictEqual(Browser.command("darwin", nasty), ["open", nasty.href])
    assert.deepStrictEqual(Browser.command("win32", nasty), ["rundll32", "url.dll,FileProtocolHandler", nasty.href])
  })

  it.effect("T-SEC-1: is never given anything but a web address", () =>
    Effect.gen(function* () {
      const opened: Array<string> = []
      const browser = Browser.make((address) => Effect.sync(() => void opened.push(address.href)))
      for (const bad of ["file:///etc/passwd", "javascript:alert(1)", "ms-x:run", "vbscript:x"]) {
        assert.strictEqual((yield* Effect.flip(browser.open(new URL(bad))))._tag, "BrowserError")
      }
      yield* browser.open(nasty)
      assert.deepStrictEqual(opened, [nasty.href])
    })
  )
})

describe("small things", () => {
  it("T-OAUTH-5: null and wrong types count as absent, and inherited members are not seen", () => {
    const document = JSON.parse(`{"a":null,"b":3,"c":["x",1],"__proto__":{"d":"y"},"e":"120"}`) as Record<
      string,
      unknown
    >
    assert.isUndefined(Fields.text(document, "a"))
    assert.isUndefined(Fields.text(document, "b"))
    assert.deepStrictEqual(Fields.texts(document, "c"), ["x"])
    assert.isUndefined(Fields.text(document, "d"))
    assert.isUndefined(Fields.text({}, "constructor"))
    assert.strictEqual(Fields.count(document, "e"), 120)
  })

  it("A-10-2: scopes unite in order, each once", () => {
    assert.deepStrictEqual(Scopes.union(Scopes.parse("b  a"), Scopes.parse("a c")), ["b", "a", "c"])
    assert.strictEqual(Scopes.keyOf(["b", "a"]), Scopes.keyOf(["a", "b"]))
    assert.isUndefined(Scopes.format([]))
  })

  it("T-SEC-4: text of the other side is shortened and has no control characters", () => {
    assert.strictEqual(excerpt("a\u001b[31m\u202eb"), "a [31m b")
    assert.strictEqual([...excerpt("😀".repeat(300))].length, 200)
  })
})

describe("what is noticed", () => {
  it.effect("T-OAUTH-10: is a diagnostic like any other, unless the program takes notices itself", () =>
    Effect.gen(function* () {
      const heard: Array<Diagnostic> = []
      const report = yield* AuthorizationNotices
      yield* report(AuthorizationNotice.TokenNotStored({ because: "the disk is full" })).pipe(
        Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => void heard.push(diagnostic)))
      )
      assert.deepStrictEqual(
        heard.map((diagnostic) => [diagnostic._tag, diagnostic._tag === "AuthorizationNoticed" && diagnostic.notice]),
        [["AuthorizationNoticed", "TokenNotStored"]]
      )
    })
  )
})
