/**
 * Completion: suggestions for the argument of a prompt or of a resource template (L-COMP, M-COMP).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { anyMeta, from, list, maybe, named, open, result } from "./internal/shape.ts"

/**
 * What the argument belongs to: a prompt by name, or a resource template by its `uri`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Reference = Schema.Union([
  open({
    type: Schema.Literal("ref/prompt"),
    name: Schema.String,
    title: from("2025-06-18")(maybe(Schema.String))
  }).pipe(named("PromptReference")),
  open({ type: Schema.Literal("ref/resource"), uri: Schema.String })
])

/**
 * What the argument belongs to.
 *
 * @category models
 * @since 0.1.0
 */
export type Reference = typeof Reference.Type

/**
 * What to complete.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = open({
  ref: Reference,
  /** The argument, and what was typed so far. */
  argument: open({ name: Schema.String, value: Schema.String }),
  /** The other arguments, as far as they are known. */
  context: from("2025-06-18")(maybe(open({ arguments: maybe(Schema.Record(Schema.String, Schema.String)) }))),
  _meta: anyMeta
}).pipe(named("CompleteRequestParams"))

/**
 * What to complete.
 *
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}

/**
 * Suggestions, best first; a server may send 100.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Result = result({
  completion: open({
    values: list(Schema.String),
    /** How many there are in all. */
    total: maybe(Schema.Int),
    hasMore: maybe(Schema.Boolean)
  })
})

/**
 * Suggestions.
 *
 * @category models
 * @since 0.1.0
 */
export interface Result extends Schema.Schema.Type<typeof Result> {}
