/**
 * Drives a request through its input rounds: answers the server's questions with the handlers and sends it again, until
 * there is a result (M-MRTR). Questions of one round are answered side by side.
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type * as InputRequiredResult from "@mcp-effect/protocol/InputRequired"
import * as Effect from "effect/Effect"
import * as Limits from "../Limits.ts"
import { InputRequired, McpClientError } from "../McpClientError.ts"
import type { Respondent } from "./questions.ts"

/** The two members that make a request a retry. */
export interface Retry {
  readonly inputResponses?: { readonly [key: string]: InputRequiredResult.InputResponse }
  readonly requestState?: string
}

/** A server that only gives state, and no question, is not asked again at once (T-16). */
const pauseWithoutQuestions = "100 millis"

export const isInputRequired = (result: {
  readonly resultType?: string | undefined
}): result is InputRequiredResult.InputRequired => result.resultType === "input_required"

/** The answers to the questions of one round. */
export const answers = Effect.fnUntraced(function* (
  questions: InputRequiredResult.InputRequired["inputRequests"],
  respond: Respondent["respond"]
): Effect.fn.Return<Retry["inputResponses"], string> {
  if (questions === undefined) return undefined
  const keys = Object.keys(questions)
  if (keys.length === 0) return undefined
  const most = yield* Limits.MaxOpenQuestions
  if (keys.length > most)
    return yield* Effect.fail(`it asks ${keys.length} questions at once, more than ${most} (MaxOpenQuestions)`)
  const answered = yield* Effect.forEach(
    keys,
    (key) => {
      const question = questions[key]!
      return respond(
        question.method === "roots/list" ? { method: "roots/list", params: question.params ?? {} } : question
      ).pipe(
        Effect.map(({ answer }) => [key, answer] as const),
        Effect.mapError(({ message }) => `${question.method}: ${message}`)
      )
    },
    { concurrency: "unbounded" }
  )
  return Object.fromEntries(answered)
})

/** What to add to the next round: the answers, and the state exactly as it came and only if it came. */
export const retryOf = (asked: InputRequiredResult.InputRequired, inputResponses: Retry["inputResponses"]): Retry => ({
  ...(inputResponses === undefined ? {} : { inputResponses }),
  ...(asked.requestState === undefined ? {} : { requestState: asked.requestState })
})

interface Driving<A> {
  readonly server: string
  readonly method: string
  readonly respond: Respondent["respond"]
  readonly ask: (retry: Retry) => Effect.Effect<A | InputRequiredResult.InputRequired, McpClientError>
  readonly onRound?: ((asked: InputRequiredResult.InputRequired) => void) | undefined
}

/** Almost every request is answered in its first round, so that one is kept cheap. */
export const drive = <A extends { readonly resultType?: string | undefined }>(
  driving: Driving<A>
): Effect.Effect<A, McpClientError> =>
  Effect.flatMap(driving.ask({}), (result) =>
    isInputRequired(result) ? goOn(driving, result) : Effect.succeed(result)
  )

const goOn = Effect.fnUntraced(function* <A extends { readonly resultType?: string | undefined }>(
  { ask, method, onRound, respond, server }: Driving<A>,
  first: InputRequiredResult.InputRequired
): Effect.fn.Return<A, McpClientError> {
  const most = yield* Defaults.MaxInputRounds
  const refuse = (because: string) => new McpClientError({ server, reason: new InputRequired({ method, because }) })
  let asked = first
  for (let round = 0; ; round++) {
    if (round >= most) return yield* refuse(`it went on asking after ${most} rounds (MaxInputRounds)`)
    onRound?.(asked)
    const inputResponses = yield* Effect.mapError(answers(asked.inputRequests, respond), refuse)
    if (inputResponses === undefined) yield* Effect.sleep(pauseWithoutQuestions)
    const result = yield* ask(retryOf(asked, inputResponses))
    if (!isInputRequired(result)) return result
    asked = result
  }
})
