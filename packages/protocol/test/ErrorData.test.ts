import { assert, describe, it } from "@effect/vitest"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Capabilities from "../src/Capabilities.ts"
import * as Defaults from "../src/Defaults.ts"
import * as Diagnostic from "../src/Diagnostic.ts"
import * as ErrorCode from "../src/ErrorCode.ts"
import * as ErrorData from "../src/ErrorData.ts"
import * as Meta from "../src/Meta.ts"

const { ErrorData: Case } = ErrorData

describe("the data of an error", () => {
  it("M-ERR-9: -32022 names the versions the server speaks", () => {
    const error = { code: -32022, message: "no", data: { supported: ["2026-07-28"], requested: "2027-01-01" } }
    const expected = Case.UnsupportedProtocolVersion({ error, supported: ["2026-07-28"], requested: "2027-01-01" })
    assert.deepStrictEqual(ErrorData.of(error), expected)
  })

  it("P10: -32022 without a usable list names none", () => {
    for (const data of [undefined, null, 5, {}, { supported: "2026-07-28" }, { supported: [1, null] }]) {
      const error = { code: -32022, message: "no", data }
      assert.deepStrictEqual(
        ErrorData.of(error),
        Case.UnsupportedProtocolVersion({ error, supported: [], requested: undefined })
      )
    }
  })

  it("M-ERR-10: -32021 shows what to declare", () => {
    const error = { code: -32021, message: "no", data: { requiredCapabilities: { elicitation: {} } } }
    const expected = Case.MissingRequiredClientCapability({ error, requiredCapabilities: { elicitation: {} } })
    assert.deepStrictEqual(ErrorData.of(error), expected)
  })

  it("L-ELI-8: -32042 names the addresses to visit, and skips what is none", () => {
    const visit = { mode: "url", message: "m", url: "https://h.test/", elicitationId: "e" } as const
    const error = { code: -32042, message: "no", data: { elicitations: [visit, { mode: "form" }, 1] } }
    assert.deepStrictEqual(ErrorData.of(error), Case.UrlElicitationRequired({ error, elicitations: [visit] }))
  })

  it("L-RES-3: -32002 names the resource", () => {
    const error = { code: -32002, message: "no", data: { uri: "x://1" } }
    assert.deepStrictEqual(ErrorData.of(error), Case.ResourceNotFound({ error, uri: "x://1" }))
  })

  it("L-LIFE-5: any error may list versions", () => {
    const error = { code: -32602, message: "Unsupported protocol version", data: { supported: ["2025-06-18"] } }
    assert.deepStrictEqual(ErrorData.supportedVersions(error), ["2025-06-18"])
  })

  it("M-ERR-15: an unknown code stays intact", () => {
    const error = { code: 4711, message: "m", data: [1] }
    assert.deepStrictEqual(ErrorData.of(error), Case.Other({ error, name: undefined }))
    const known = { code: -32603, message: "m" }
    assert.deepStrictEqual(ErrorData.of(known), Case.Other({ error: known, name: "InternalError" }))
  })

  it("M-ERR-4: only the range of the specification speaks of a modern server", () => {
    assert.deepStrictEqual([-32019, -32020, -32042, -32099, -32100, -32601].map(ErrorCode.isModern), [
      false,
      true,
      false,
      true,
      false,
      false
    ])
  })
})

describe("keys of _meta", () => {
  it("M-META-1 to 4: have a prefix of labels and a name", () => {
    for (const key of [
      "a",
      "com.example/x",
      "io.modelcontextprotocol/serverInfo",
      "a-b.c1/d_e.f",
      "com.example/",
      ""
    ]) {
      assert.isTrue(Meta.isKey(key), key)
    }
    for (const key of ["-a", "a-", "1a/x", "a..b/x", "a-/x", "a b", "a/b/c", "ä"]) assert.isFalse(Meta.isKey(key), key)
  })
})

describe("capabilities", () => {
  it("L-CAP-3: {} is a yes, false and null are a no", () => {
    assert.isTrue(Capabilities.declares({ tools: {} }, ["tools"]))
    assert.isFalse(Capabilities.declares({}, ["tools"]))
    assert.isFalse(Capabilities.declares({ resources: { subscribe: false } }, ["resources", "subscribe"]))
    assert.isTrue(Capabilities.declares({ resources: { subscribe: true } }, ["resources", "subscribe"]))
    assert.isFalse(Capabilities.declares({}, ["toString"]))
  })

  it("M-CAP-7: tells how the user can be asked", () => {
    assert.deepStrictEqual(Capabilities.elicitationModes({}), [])
    assert.deepStrictEqual(Capabilities.elicitationModes({ elicitation: {} }), ["form"])
    assert.deepStrictEqual(Capabilities.elicitationModes({ elicitation: { url: {} } }), ["url"])
    assert.deepStrictEqual(Capabilities.elicitationModes({ elicitation: { form: {}, url: {} } }), ["form", "url"])
  })
})

describe("diagnostics", () => {
  const { Diagnostic: Noticed } = Diagnostic

  it("U-26: a rejected tool is named with the reason", () => {
    const rejected = { server: "s", method: "tools/list", pointer: "/tools/0", name: "t", because: "x" }
    assert.strictEqual(Diagnostic.describe(Noticed.ItemRejected(rejected)), 'MCP tool "t" ignored: x')
  })

  it("each says in one line what was noticed, and which rule it follows from", () => {
    const all = [
      Noticed.NoiseSkipped({ server: "s", excerpt: "hello", skipped: 2 }),
      Noticed.UnknownResponse({ server: "s", id: null, dropped: 1 }),
      Noticed.ModernLookingFallback({ server: "s", rule: "P11", code: -32020 }),
      Noticed.LateDiscover({ server: "s" }),
      Noticed.UnexpectedMessage({ server: "s", method: "m", because: "x", dropped: 1 }),
      Noticed.ItemRejected({ server: "s", method: "prompts/list", pointer: "/p/0", name: undefined, because: "x" }),
      Noticed.MemberDropped({ server: "s", method: "m", pointer: "/a", because: "x" }),
      Noticed.DuplicateName({ server: "s", method: "tools/list", name: "n" }),
      Noticed.SseFallback({ server: "s", status: 405 }),
      Noticed.OutputUnchecked({ server: "s", tool: "t", because: "x" }),
      Noticed.CallbackFailed({ server: "s", callback: "onStderr", because: "x", failed: 1 }),
      Noticed.EventsDropped({ server: "s", name: "t", dropped: 1 }),
      Noticed.AuthorizationNoticed({ server: "s", notice: "StoreNotLocked", because: "the store is not locked" })
    ]
    assert.sameMembers(
      all.map(({ _tag }) => _tag),
      Object.keys(Diagnostic.requirements)
    )
    for (const noticed of all) {
      assert.match(Diagnostic.describe(noticed), /^[^\n]{10,}$/)
      assert.match(Diagnostic.requirements[noticed._tag], /^[A-Z]/)
    }
  })

  it.effect("go where the reference says", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const report = Effect.gen(function* () {
        const diagnostics = yield* Diagnostic.Diagnostics
        yield* diagnostics(Noticed.LateDiscover({ server: "s" }))
      })
      yield* report.pipe(
        Effect.provideService(Diagnostic.Diagnostics, (noticed) => Effect.sync(() => seen.push(noticed._tag)))
      )
      assert.deepStrictEqual(seen, ["LateDiscover"])
    })
  )
})

describe("the defaults", () => {
  const duration = (reference: Context.Reference<Duration.Duration>) =>
    Effect.map(
      Effect.gen(function* () {
        return yield* reference
      }),
      Duration.toMillis
    )

  it.effect("are those of the table of promises", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* Effect.all({
          connect: duration(Defaults.ConnectTimeout),
          probe: duration(Defaults.ProbeTimeout),
          stdio: duration(Defaults.StdioTimeout),
          handshake: duration(Defaults.HandshakeTimeout),
          request: duration(Defaults.RequestTimeout),
          cap: duration(Defaults.RequestCap),
          tool: duration(Defaults.ToolCallTimeout),
          endpoint: duration(Defaults.EndpointTimeout),
          shutdown: duration(Defaults.ShutdownPatience),
          goodbye: duration(Defaults.SessionDeleteTimeout),
          pause: duration(Defaults.ReconnectPause),
          longest: duration(Defaults.ReconnectMaxPause),
          conventional: duration(Defaults.ConventionalVerdictAge),
          definitive: duration(Defaults.DefinitiveVerdictAge)
        }),
        {
          connect: 60_000,
          probe: 5_000,
          stdio: 30_000,
          handshake: 30_000,
          request: 60_000,
          cap: 600_000,
          tool: 60_000,
          endpoint: 10_000,
          shutdown: 2_000,
          goodbye: 2_000,
          pause: 250,
          longest: 30_000,
          conventional: 3_600_000,
          definitive: 86_400_000
        }
      )
      assert.deepStrictEqual(
        [
          yield* Defaults.MaxMessageBytes,
          yield* Defaults.StderrTailBytes,
          yield* Defaults.MaxPages,
          yield* Defaults.MaxItems,
          yield* Defaults.MaxInputRounds,
          yield* Defaults.MaxAuthorizationRounds,
          yield* Defaults.ReconnectAttempts
        ],
        [67_108_864, 65_536, 1_000, 100_000, 10, 3, 10]
      )
    })
  )
})
