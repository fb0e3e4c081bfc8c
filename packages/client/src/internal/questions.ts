/**
 * Answers a server's question with the program's handlers. Both eras meet here: a request of the server and an input
 * request inside an answer are the same question.
 *
 * What was not declared is refused before any handler runs (U-58, T-CB-3).
 */
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import * as Elicitation from "@mcp-effect/protocol/Elicitation"
import type * as Question from "@mcp-effect/protocol/Question"
import type * as Roots from "@mcp-effect/protocol/Roots"
import type * as Sampling from "@mcp-effect/protocol/Sampling"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Handlers, HandlerRefused } from "../Handlers.ts"

/** Why a question got no answer, as JSON-RPC says it. */
export interface Refusal {
  readonly code: number
  readonly message: string
}

export type Answer =
  | { readonly method: "elicitation/create"; readonly answer: Elicitation.Result }
  | { readonly method: "sampling/createMessage"; readonly answer: Sampling.Result }
  | { readonly method: "roots/list"; readonly answer: Roots.Result }

/** A question for a handler. */
export type Asked = Exclude<Question.Question, { readonly method: "ping" }>

export interface Respondent {
  /** Whether a handler answers the method at all; elicitation has an answer of its own for modes that are off (U-58). */
  readonly offers: (method: string) => boolean
  readonly respond: (question: Asked) => Effect.Effect<Answer, Refusal>
}

export const make = <R>(handlers: Handlers<R>, context: Context.Context<R>): Respondent => ({
  offers: (method) =>
    method === "ping" ||
    method === "elicitation/create" ||
    (method === "sampling/createMessage" && handlers.sampling !== undefined) ||
    (method === "roots/list" && handlers.roots !== undefined),
  respond: (question) => {
    const by = <A, M extends Answer["method"]>(method: M, handler: Effect.Effect<A, HandlerRefused, R>) =>
      handler.pipe(
        Effect.provideContext(context),
        Effect.map((answer) => ({ method, answer })),
        Effect.mapError(({ because }) => ({ code: ErrorCode.InternalError, message: because })),
        Effect.catchDefect(() => Effect.fail({ code: ErrorCode.InternalError, message: "the handler failed" }))
      )
    switch (question.method) {
      case "elicitation/create": {
        const { params } = question
        const { form, url } = handlers.elicitation ?? {}
        if (Elicitation.isUrl(params)) {
          return url === undefined
            ? refuse(ErrorCode.InvalidParams, "elicitation in mode url")
            : by("elicitation/create", url(params))
        }
        return form === undefined
          ? refuse(ErrorCode.InvalidParams, "elicitation in mode form")
          : by("elicitation/create", form(params))
      }
      case "sampling/createMessage": {
        const { params } = question
        if (handlers.sampling === undefined) return refuse(ErrorCode.MethodNotFound, "sampling")
        return (params.tools !== undefined || params.toolChoice !== undefined) && handlers.samplingTools !== true
          ? refuse(ErrorCode.InvalidParams, "sampling with tools")
          : by("sampling/createMessage", handlers.sampling(params))
      }
      case "roots/list":
        return handlers.roots === undefined
          ? refuse(ErrorCode.MethodNotFound, "roots")
          : by(
              "roots/list",
              Effect.map(handlers.roots, (roots) => ({ roots }))
            )
    }
  }
})

const refuse = (code: number, what: string): Effect.Effect<never, Refusal> =>
  Effect.fail({ code, message: `this client did not declare ${what}` })
