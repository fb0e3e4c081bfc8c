/**
 * Checks what a tool gave against the schema it declared (M-TOOL-21).
 *
 * A schema is JSON Schema 2020-12, or draft-07 when `$schema` says so. It comes from the server and is not trusted: it is
 * bounded in size, depth and work, nothing it refers to is ever fetched (M-SCH-6), and regular expressions run only when
 * they are plain. `format` describes and is not checked. A schema that cannot be used leaves the tool usable: its output
 * is not checked, and a diagnostic says so.
 *
 * The client does all this by itself. `Validator` puts another check in its place, or none.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { checkWith } from "./internal/schemaCheck.ts"

const count = (name: string, value: number) =>
  Context.Reference<number>(`@mcp-effect/client/OutputSchema/${name}`, { defaultValue: () => value })

/**
 * How many values of any kind a schema may hold. 20,000.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxSchemaSize = count("MaxSchemaSize", 20_000)

/**
 * How deep a schema may nest, counted in objects and arrays. 128.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxSchemaDepth = count("MaxSchemaDepth", 128)

/**
 * How many times one check may look at a schema, references followed; a large list costs one for each
 * item and each of its members, and each alternative of `anyOf` and `oneOf` as much as eight others. 200,000.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxCheckSteps = count("MaxCheckSteps", 200_000)

/**
 * The longest text, and the longest list, of a value that is checked with patterns and for unique items; these two are
 * left out for larger values. 1,000.
 *
 * @category bounds
 * @since 0.1.0
 */
export const MaxCostly = count("MaxCostly", 1_000)

/**
 * What checking a value found.
 *
 * @category models
 * @since 0.1.0
 */
export type Finding = Data.TaggedEnum<{
  Fits: {}
  /** `pointer` is a JSON pointer into the value, empty for the whole. */
  Misfit: { readonly pointer: string; readonly because: string }
  /** The check came to no verdict within its bounds. */
  Unchecked: { readonly because: string }
}>

/**
 * Constructors and matchers of `Finding`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Finding = Data.taggedEnum<Finding>()

/**
 * Checks a value. Pure, and never throws.
 *
 * @category models
 * @since 0.1.0
 */
export type Check = (value: unknown) => Finding

/**
 * A schema cannot be used: another dialect, a reference to what is not in it, over a bound, or no schema at all.
 *
 * What to change: nothing here: the schema is the server's. The tool stays usable, its output is not checked.
 *
 * @category errors
 * @since 0.1.0
 */
export class SchemaUnusable extends Schema.TaggedError<SchemaUnusable>()("SchemaUnusable", {
  because: Schema.String
}) {
  override get message() {
    return `the schema cannot be used: ${this.because}`
  }
}

/**
 * Makes checks of schemas.
 *
 * @category models
 * @since 0.1.0
 */
export interface Validator {
  /** Made once per schema and kept. `undefined` asks for no check, not even whether there is structured content. */
  readonly compile: (schema: JsonObject) => Effect.Effect<Check | undefined, SchemaUnusable>
}

/**
 * Makes the check of a schema, without changing it. Takes a fraction of a millisecond; keep the check.
 *
 * @example
 * ```ts
 * import { OutputSchema } from "@mcp-effect/client"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const check = yield* OutputSchema.compile({ type: "object", required: ["sum"] })
 *   return check({}) // Misfit
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const compile = Effect.fnUntraced(function* (schema: JsonObject): Effect.fn.Return<Check, SchemaUnusable> {
  const bounds = {
    values: yield* MaxSchemaSize,
    depth: yield* MaxSchemaDepth,
    steps: yield* MaxCheckSteps,
    costly: yield* MaxCostly
  }
  const unusable = (because: string) => new SchemaUnusable({ because })
  // Loaded when the first schema comes, so that a program without one does without it.
  const library = yield* Effect.tryPromise({
    try: () => import("@cfworker/json-schema"),
    catch: () => unusable("the validator could not be loaded")
  })
  const check = yield* Effect.mapError(Effect.fromResult(checkWith(library, schema, bounds)), unusable)
  return (value) =>
    Result.match(check(value), {
      onFailure: (because) => Finding.Unchecked({ because }),
      onSuccess: (misfit) => (misfit === undefined ? Finding.Fits() : Finding.Misfit(misfit))
    })
})

/**
 * The validator in use. It is read for each call, so it can be replaced for one call, or for a whole program.
 *
 * @category services
 * @since 0.1.0
 */
export const Validator = Context.Reference<Validator>("@mcp-effect/client/OutputSchema/Validator", {
  defaultValue: () => ({ compile })
})

/**
 * A validator that lets everything pass.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNone: Layer.Layer<never> = /* @__PURE__ */ Layer.succeed(Validator, {
  compile: () => Effect.succeed(undefined)
})
