/**
 * Multi round-trip requests of the modern era: a server that needs something answers with questions instead of a
 * result, and the client sends the request again with the answers (M-MRTR).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Json, kind, maybe, member, named, open } from "./internal/shape.ts"
import * as Elicitation from "./Elicitation.ts"
import * as Roots from "./Roots.ts"
import * as Sampling from "./Sampling.ts"

/**
 * A question of a server, without envelope: told apart by `method`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputRequest = Schema.Union([
  open({ method: Schema.Literal("elicitation/create"), params: Elicitation.Params }),
  open({ method: Schema.Literal("sampling/createMessage"), params: Sampling.Params }),
  open({ method: Schema.Literal("roots/list"), params: maybe(Roots.Params) })
])

/**
 * A question of a server.
 *
 * @category models
 * @since 0.1.0
 */
export type InputRequest = typeof InputRequest.Type

/**
 * The answer to one. Nothing in it says to which kind of question; the key under which it stands does (T-14).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputResponse = Schema.Union([Elicitation.Result, Sampling.Result, Roots.Result])

/**
 * The answer to a question.
 *
 * @category models
 * @since 0.1.0
 */
export type InputResponse = typeof InputResponse.Type

/**
 * Questions by keys that the server chose.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputRequests = Schema.Record(Schema.String, InputRequest)

/**
 * Answers by the keys of their questions.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputResponses = Schema.Record(Schema.String, InputResponse)

/**
 * The two members that make a request a retry. An older revision cannot carry them.
 *
 * @category schemas
 * @since 0.1.0
 */
export const retry = {
  inputResponses: member({ from: "2026-07-28", essential: true })(maybe(InputResponses)),
  /** The server's own state, sent back exactly as it came, and only if it came (M-MRTR-20 to 22). */
  requestState: member({ from: "2026-07-28", essential: true })(maybe(Schema.String))
}

/**
 * The server needs input. At least one of `inputRequests` and `requestState` is there (M-MRTR-3).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputRequired = open({
  _meta: maybe(Json),
  resultType: Schema.Literal("input_required"),
  inputRequests: maybe(InputRequests),
  requestState: maybe(Schema.String)
})
  .pipe(kind({ from: "2026-07-28" }), named("InputRequiredResult"))
  .check(
    Schema.makeFilter(
      (result: { readonly [key: string]: unknown }) =>
        Object.hasOwn(result, "inputRequests") ||
        Object.hasOwn(result, "requestState") ||
        "expected inputRequests or requestState"
    )
  )

/**
 * The server needs input.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputRequired extends Schema.Schema.Type<typeof InputRequired> {}
