/**
 * Answers a server's question with the program's handlers. Both eras meet here: a request of the server and an input
 * request inside an answer are the same question.
 *
 * What was not declared is refused before any handler runs (U-58, T-CB-3).
 */
import { Diagnostic, reporter } from "@mcp-effect/protocol/Diagnostic"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import * as Elicitation from "@mcp-effect/protocol/Elicitation"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import type * as Question from "@mcp-effect/protocol/Question"
import type * as Roots from "@mcp-effect/protocol/Roots"
import type * as Sampling from "@mcp-effect/protocol/Sampling"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FormAnswer from "../FormAnswer.ts"
import { type Handlers, HandlerRefused } from "../Handlers.ts"
import * as OpenUrl from "../OpenUrl.ts"

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

export const make = Effect.fnUntraced(function* <R>(
  server: string,
  handlers: Handlers<R>
): Effect.fn.Return<Respondent, never, R> {
  const context = yield* Effect.context<R>()
  const report = yield* reporter

  const died = (method: string, defect: unknown) =>
    Effect.suspend((): Effect.Effect<never, Refusal> => {
      const callback = `the handler of ${method}`
      report(Diagnostic.CallbackFailed({ server, callback, because: excerpt(String(defect)), failed: 1 }))
      return Effect.fail({ code: ErrorCode.InternalError, message: "the handler failed" })
    })

  const fit = (question: Elicitation.Params, answer: Effect.Effect<Elicitation.Result, HandlerRefused, R>) =>
    Effect.flatMap(answer, (given) =>
      Effect.mapError(
        Effect.fromResult(fitting(question, given)),
        ({ message }) => new HandlerRefused({ because: message })
      )
    )

  return {
    offers: (method) =>
      method === "ping" ||
      method === "elicitation/create" ||
      (method === "sampling/createMessage" && handlers.sampling !== undefined) ||
      (method === "roots/list" && handlers.roots !== undefined),
    respond: (question) => {
      const by = <A, M extends Answer["method"]>(method: M, handler: () => Effect.Effect<A, HandlerRefused, R>) =>
        Effect.suspend(handler).pipe(
          Effect.provideContext(context),
          Effect.map((answer) => ({ method, answer })),
          Effect.mapError(({ because }) => ({ code: ErrorCode.InternalError, message: because })),
          Effect.catchDefect((defect) => died(method, defect)),
          // Of what the handler waited for. When it is the question that is taken back, nothing is caught here.
          Effect.catchCauseIf(Cause.hasInterruptsOnly, () =>
            Effect.fail({ code: ErrorCode.InternalError, message: "the handler was interrupted" })
          )
        )
      switch (question.method) {
        case "elicitation/create": {
          const { params } = question
          const { form, url } = handlers.elicitation ?? {}
          if (Elicitation.isUrl(params)) {
            if (url === undefined) return refuse(ErrorCode.InvalidParams, "elicitation in mode url")
            const address = OpenUrl.check(params.url)
            return Result.isFailure(address)
              ? Effect.fail({ code: ErrorCode.InvalidParams, message: address.failure.message })
              : by("elicitation/create", () => fit(params, url(params)))
          }
          return form === undefined
            ? refuse(ErrorCode.InvalidParams, "elicitation in mode form")
            : by("elicitation/create", () => fit(params, form(params)))
        }
        case "sampling/createMessage": {
          const { params } = question
          const { sampling } = handlers
          if (sampling === undefined) return refuse(ErrorCode.MethodNotFound, "sampling")
          return (params.tools !== undefined || params.toolChoice !== undefined) && handlers.samplingTools !== true
            ? refuse(ErrorCode.InvalidParams, "sampling with tools")
            : by("sampling/createMessage", () => sampling(params))
        }
        case "roots/list": {
          const { roots: folders } = handlers
          return folders === undefined
            ? refuse(ErrorCode.MethodNotFound, "roots")
            : by("roots/list", () => Effect.flatMap(folders, onlyFiles))
        }
      }
    }
  }
})

/** Content stands only beside `accept`, and only for a form (M-ELI-12, T-49). */
const onlyAction = ({ content: _, ...rest }: Elicitation.Result): Elicitation.Result => rest

/** The answer as it may be sent: one that does not fit its form never is (M-ELI-9), whoever gave it. */
export const fitting = (
  question: Elicitation.Params,
  answer: Elicitation.Result
): Result.Result<Elicitation.Result, FormAnswer.FormInvalid> =>
  answer.action !== "accept" || Elicitation.isUrl(question)
    ? Result.succeed(onlyAction(answer))
    : Result.map(FormAnswer.check(question, answer.content ?? {}), (content) => ({ ...answer, content }))

/** A root is a file or a folder (L-ROOT-1). */
const onlyFiles = (roots: ReadonlyArray<Roots.Root>): Effect.Effect<Roots.Result, HandlerRefused> => {
  const wrong = roots.find(({ uri }) => !uri.startsWith("file://"))
  if (wrong === undefined) return Effect.succeed({ roots })
  const because = `the address of a root begins with file://, and this one is ${excerpt(wrong.uri)}`
  return Effect.fail(new HandlerRefused({ because }))
}

const refuse = (code: number, what: string): Effect.Effect<never, Refusal> =>
  Effect.fail({ code, message: `this client did not declare ${what}` })
