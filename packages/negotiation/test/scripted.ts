import { assert } from "@effect/vitest"
import { type Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Agreement } from "../src/Agreement.ts"
import type { NegotiationError } from "../src/NegotiationError.ts"
import * as Negotiator from "../src/Negotiator.ts"
import type { Signal } from "../src/Signal.ts"
import type * as Terms from "../src/Terms.ts"
import { pipe } from "./heard.ts"

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
