import { assert } from "@effect/vitest"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Agreement } from "../src/Agreement.ts"
import type { NegotiationError } from "../src/NegotiationError.ts"
import * as Negotiator from "../src/Negotiator.ts"
import { Signal } from "../src/Signal.ts"
import * as Terms from "../src/Terms.ts"

/** Two modern versions: one that exists and an invented newer one, so that choosing and correcting mean something. */
export const newer = "2027-07-07"
export const modern = [newer, "2026-07-28"]
export const newestLegacy = "2025-11-25"

export const terms = (kind: Terms.Kind, more: Partial<Terms.Terms> = {}) => Terms.make({ kind, modern, ...more })
export const pipe = terms("stdio")
export const http = terms("http")

export const discovered = (versions: ReadonlyArray<unknown>, more: JsonObject = {}): JsonObject => ({
  resultType: "complete",
  supportedVersions: versions,
  capabilities: { tools: {} },
  ttlMs: 60_000,
  cacheScope: "private",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.0.0" } },
  ...more
})

export const initialized = (protocolVersion: string, more: JsonObject = {}): JsonObject => ({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: "scripted", version: "1.0.0" },
  ...more
})

export const answered = (result: JsonObject) => Signal.Answered({ result })
export const failed = (code: number, data?: unknown, message = "no") =>
  Signal.Failed({ error: data === undefined ? { code, message } : { code, message, data } })
export const unsupported = (...supported: ReadonlyArray<unknown>) => failed(-32022, { supported, requested: "x" })
export const exited = (code: number | null = 1, stderr = "") => Signal.Exited({ code, signal: null, stderr })
export const malformed = (because = "the media type is text/html") =>
  Signal.Malformed({ status: 200, mediaType: "text/html", excerpt: "<html>", because })
export const unreachable = Signal.Unreachable({ because: "ECONNREFUSED", cause: undefined })

/** One line of a script: what must be asked, and what is heard. `opened` answers an `open`. */
export type Line =
  | readonly ["discover", string | undefined, Signal]
  | readonly ["initialize", string | undefined, Signal, JsonObject?]
  | readonly ["again" | "httpSse", Signal?]

export interface Played {
  readonly result: Result.Result<Agreement, NegotiationError>
  readonly asked: ReadonlyArray<string>
  readonly diagnostics: ReadonlyArray<Diagnostic>
}

/** Plays a script against the negotiator: each question must be the next line's, and all lines must be used. */
export const play = Effect.fnUntraced(function* (
  lines: ReadonlyArray<Line>,
  options: Omit<Negotiator.Options, "endpoint" | "terms"> & { readonly terms?: Terms.Terms } = {}
) {
  const rest = [...lines]
  const asked: Array<string> = []
  const diagnostics: Array<Diagnostic> = []
  const expecting = <K extends Line[0]>(
    kind: K,
    version: string | undefined
  ): Extract<Line, readonly [K, ...unknown[]]> => {
    asked.push(version === undefined ? kind : `${kind} ${version}`)
    const line = rest.shift()
    assert.strictEqual(line?.[0], kind, `asked ${asked.join(", ")}`)
    if ((line?.[0] === "discover" || line?.[0] === "initialize") && line[1] !== undefined)
      assert.strictEqual(version, line[1])
    return line as Extract<Line, readonly [K, ...unknown[]]>
  }
  const result = yield* Negotiator.negotiate({ terms: pipe, endpoint: "scripted", ...options }).pipe(
    Effect.provideService(Negotiator.Port, {
      discover: (version) => Effect.sync(() => expecting("discover", version)[2]),
      initialize: (version) =>
        Effect.sync(() => {
          const line = expecting("initialize", version)
          return { signal: line[2], late: line[3] }
        }),
      open: (how) => Effect.sync(() => expecting(how, undefined)[1])
    }),
    Effect.provideService(Diagnostics, (diagnostic) => Effect.sync(() => diagnostics.push(diagnostic))),
    Effect.result
  )
  assert.lengthOf(rest, 0, `not asked: ${rest.map(([kind]) => kind).join(", ")}`)
  return { result, asked, diagnostics } satisfies Played
})

export const agreed = (played: Played): Agreement => {
  if (Result.isFailure(played.result)) return assert.fail(played.result.failure.message)
  return played.result.success
}

export const refusal = (played: Played): NegotiationError => {
  if (Result.isSuccess(played.result)) return assert.fail(`agreed on ${played.result.success.version}`)
  return played.result.failure
}
