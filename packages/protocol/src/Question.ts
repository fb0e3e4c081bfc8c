/**
 * What a server may ask a client: of its own accord in the legacy era, inside `input_required` in the modern one.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as Elicitation from "./Elicitation.ts"
import { open } from "./internal/shape.ts"
import { NoParams, type Span } from "./Method.ts"
import * as Roots from "./Roots.ts"
import * as Sampling from "./Sampling.ts"

/**
 * What is known about a question.
 *
 * @category models
 * @since 0.1.0
 */
export interface Description {
  readonly params: Schema.Codec<unknown>
  readonly answer: Schema.Codec<unknown>
  /** The revisions in which it can be asked. */
  readonly span: Span
  /** The client capability that allows it; `undefined` for what anyone may ask. */
  readonly capability: "sampling" | "elicitation" | "roots" | undefined
}

/**
 * Every question a client can be asked.
 *
 * @category questions
 * @since 0.1.0
 */
export const questions = {
  ping: { params: NoParams, answer: open({}), span: { to: "2025-11-25" }, capability: undefined },
  "roots/list": { params: Roots.Params, answer: Roots.Result, span: {}, capability: "roots" },
  "sampling/createMessage": {
    params: Sampling.Params,
    answer: Sampling.Result,
    span: {},
    capability: "sampling"
  },
  "elicitation/create": {
    params: Elicitation.Params,
    answer: Elicitation.Result,
    span: { from: "2025-06-18" },
    capability: "elicitation"
  }
} as const satisfies { readonly [method: string]: Description }

/**
 * The method of a question.
 *
 * @category models
 * @since 0.1.0
 */
export type Method = keyof typeof questions

/**
 * A question, read: told apart by `method`.
 *
 * @category models
 * @since 0.1.0
 */
export type Question = {
  readonly [M in Method]: { readonly method: M; readonly params: (typeof questions)[M]["params"]["Type"] }
}[Method]

/**
 * The parameters of a question.
 *
 * @category models
 * @since 0.1.0
 */
export type Params<M extends Method> = (typeof questions)[M]["params"]["Type"]

/**
 * The answer to a question.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer<M extends Method> = (typeof questions)[M]["answer"]["Type"]

/**
 * Whether a text names a question.
 *
 * @category guards
 * @since 0.1.0
 */
export const isQuestion = (text: string): text is Method => Object.hasOwn(questions, text)
