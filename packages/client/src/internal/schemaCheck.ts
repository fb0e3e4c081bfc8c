/** Checks values with the validator, within bounds, and picks the one finding of it that says most. */
import type * as Library from "@cfworker/json-schema"
import type { OutputUnit, ValidationResult } from "@cfworker/json-schema"
import * as Result from "effect/Result"
import * as Prepared from "./preparedSchema.ts"

export interface Bounds {
  readonly values: number
  readonly depth: number
  readonly steps: number
  /** The longest text and list for which what is costly is kept. */
  readonly costly: number
}

export interface Misfit {
  readonly pointer: string
  readonly because: string
}

/** What does not fit, or nothing; a failure when there is no verdict. */
type Check = (value: unknown) => Result.Result<Misfit | undefined, string>

export const checkWith = (
  library: typeof Library,
  schema: { readonly [key: string]: unknown },
  bounds: Bounds
): Result.Result<Check, string> => {
  const full = compiled(library, schema, bounds, true)
  if (Result.isFailure(full) || !full.success.prepared.costly) return Result.map(full, ({ check }) => check)
  const { check } = full.success
  let light: Result.Result<Compiled, string> | undefined
  return Result.succeed((value) => {
    if (!Prepared.isLarge(value, bounds.costly)) return check(value)
    light ??= compiled(library, schema, bounds, false)
    return Result.flatMap(light, ({ check }) => check(value))
  })
}

interface Compiled {
  readonly prepared: Prepared.Prepared
  readonly check: Check
}

const saying = (error: unknown): string => {
  if (error instanceof RangeError) return "it refers to itself without end, or the value nests too deep"
  return error instanceof Error ? (error.message.split("\n")[0] ?? "").slice(0, 200) : "it failed"
}

const compiled = (
  { dereference, validate }: typeof Library,
  schema: { readonly [key: string]: unknown },
  { depth, steps, values }: Bounds,
  costly: boolean
): Result.Result<Compiled, string> =>
  Result.gen(function* () {
    const prepared = yield* Prepared.prepare(schema, { values, depth, costly })
    const { budget, dialect, root } = prepared
    const lookup = yield* Result.try({ try: () => dereference(root), catch: saying })
    for (const known of Object.values(lookup)) {
      if (typeof known !== "object") continue
      const { $ref, __absolute_ref__: target } = known
      if (target !== undefined && lookup[target] === undefined) {
        const reference = String($ref).slice(0, 200)
        return yield* Result.fail(`it refers to ${reference}, which is not in it; references are never fetched`)
      }
    }
    const check: Check = (value) => {
      budget.left = steps
      const verdict = Result.try({
        try: () => validate(value, root, dialect, lookup),
        catch: (error) =>
          Prepared.isExhausted(error) ? `it takes more than ${steps} steps (MaxCheckSteps)` : saying(error)
      })
      return Result.flatMap(verdict, (found) => read(found, prepared.weakened))
    }
    return { prepared, check }
  })

const read = ({ errors, valid }: ValidationResult, weakened: boolean): Result.Result<Misfit | undefined, string> => {
  if (valid) return Result.succeed(undefined)
  if (weakened && errors.some(isDoubtful)) return Result.fail("its verdict rests on patterns that are not checked")
  const at = errors.findIndex(({ keyword }) => !wrapping.has(keyword))
  // `false` is the verdict of the keyword around it, which has the better words.
  const telling = errors[at]?.keyword === "false" ? errors[at - 1] : errors[at]
  const found = telling ?? errors[0]
  if (found === undefined) return Result.succeed({ pointer: "", because: "does not fit" })
  return Result.succeed({ pointer: pointerOf(errors[at] ?? found), because: because(found) })
}

/** A schema that lets more pass can still refuse wrongly where passing is what counts against a value. */
const isDoubtful = ({ error, keyword }: OutputUnit): boolean =>
  doubtful.has(keyword) || (keyword === "oneOf" && !error.includes("(0 matches)"))

const doubtful = new Set(["if", "maxContains", "not", "unevaluatedItems", "unevaluatedProperties"])

/** Keywords that only say that something inside does not fit. */
const wrapping = new Set([
  "$ref",
  "additionalItems",
  "additionalProperties",
  "allOf",
  "dependencies",
  "dependentSchemas",
  "if",
  "items",
  "patternProperties",
  "prefixItems",
  "properties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties"
])

/** Keywords whose text in the validator holds a part of the value. */
const withValue = new Set(["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"])

const because = ({ error, keyword, keywordLocation }: OutputUnit): string =>
  withValue.has(keyword) ? `breaks ${keywordLocation.slice(0, 200)}` : lower(error.slice(0, 200).replace(/\.$/, ""))

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

const pointerOf = ({ instanceLocation }: OutputUnit): string => {
  const pointer = instanceLocation.slice(1)
  return Result.getOrElse(
    Result.try(() => decodeURIComponent(pointer)),
    () => pointer
  )
}
