/**
 * Drives a request through its input rounds: answers the server's questions with the handlers and sends it again, until
 * there is a result (M-MRTR). Questions of one round are answered side by side.
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as Elicitation from "@mcp-effect/protocol/Elicitation"
import type * as InputRequiredResult from "@mcp-effect/protocol/InputRequired"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Limits from "../Limits.ts"
import { InputRequired, McpClientError } from "../McpClientError.ts"
import { fitting, type Respondent } from "./questions.ts"
import { questionsIn } from "./urlRequired.ts"

/** The two members that make a request a retry. */
export interface Retry {
  readonly inputResponses?: { readonly [key: string]: InputRequiredResult.InputResponse }
  readonly requestState?: string
}

/**
 * A server that only gives state, and no question, is not asked again at once (T-16), and each time later: after 100
 * milliseconds, 200, 400, and at most 2 seconds. Ten such rounds take some 13 seconds.
 */
const pauseWithoutQuestions = (before: number): Duration.Input => Math.min(100 * 2 ** before, 2_000)

/** An address that was opened for this request is not opened again; the server gets this much time for its page (T-15). */
const pauseForPage = "2 seconds"

/** The addresses the user agreed to open, by what asked for them. */
type Opened = Set<string>

const addressIn = (key: string, { method, params }: InputRequiredResult.InputRequest): string | undefined =>
  method === "elicitation/create" && Elicitation.isUrl(params) ? JSON.stringify([key, params.url]) : undefined

export const isInputRequired = (result: {
  readonly resultType?: string | undefined
}): result is InputRequiredResult.InputRequired => result.resultType === "input_required"

/** The answers to the questions of one round. */
export const answers = Effect.fnUntraced(function* (
  questions: InputRequiredResult.InputRequired["inputRequests"],
  respond: Respondent["respond"],
  opened: Opened = new Set()
): Effect.fn.Return<Retry["inputResponses"], string> {
  if (questions === undefined) return undefined
  const keys = Object.keys(questions)
  if (keys.length === 0) return undefined
  const most = yield* Limits.MaxOpenQuestions
  if (keys.length > most)
    return yield* Effect.fail(`it asks ${keys.length} questions at once, more than ${most} (MaxOpenQuestions)`)
  const answered = yield* Effect.forEach(
    keys,
    (key): Effect.Effect<readonly [string, InputRequiredResult.InputResponse], string> => {
      const question = questions[key]!
      const address = addressIn(key, question)
      if (address !== undefined && opened.has(address)) {
        return Effect.as(Effect.sleep(pauseForPage), [key, { action: "accept" }] as const)
      }
      return respond(
        question.method === "roots/list" ? { method: "roots/list", params: question.params ?? {} } : question
      ).pipe(
        Effect.map(({ answer }) => {
          if (address !== undefined && "action" in answer && answer.action === "accept") opened.add(address)
          return [key, answer] as const
        }),
        Effect.mapError(({ message }) => `${question.method}: ${message}`)
      )
    },
    { concurrency: "unbounded" }
  )
  return Object.fromEntries(answered)
})

const isElicited = Schema.is(Elicitation.Result)

/** What a program answers by itself, checked like what a handler answers; or why it cannot be sent. */
export const given = (
  questions: { readonly [key: string]: InputRequiredResult.InputRequest },
  answers: Retry["inputResponses"] = {}
): Result.Result<NonNullable<Retry["inputResponses"]>, string> => {
  const unanswered = Object.keys(questions).filter((key) => !Object.hasOwn(answers, key))
  if (unanswered.length > 0) return Result.fail(`there is no answer to ${unanswered.join(", ")}`)
  const stray = Object.keys(answers).find((key) => !Object.hasOwn(questions, key))
  if (stray !== undefined) return Result.fail(`nobody asked ${stray}`)
  const checked: Array<readonly [string, InputRequiredResult.InputResponse]> = []
  for (const [key, answer] of Object.entries(answers)) {
    const question = questions[key]
    if (question?.method !== "elicitation/create") {
      checked.push([key, answer])
      continue
    }
    if (!isElicited(answer)) return Result.fail(`the answer to ${key} has no action: accept, decline or cancel`)
    const fits = fitting(question.params, answer)
    if (Result.isFailure(fits)) return Result.fail(`the answer to ${key} was not sent: ${fits.failure.message}`)
    checked.push([key, fits.success])
  }
  return Result.succeed(Object.fromEntries(checked))
}

/** What to add to the next round: the answers, and the state exactly as it came and only if it came. */
export const retryOf = (asked: InputRequiredResult.InputRequired, inputResponses: Retry["inputResponses"]): Retry => ({
  ...(inputResponses === undefined ? {} : { inputResponses }),
  ...(asked.requestState === undefined ? {} : { requestState: asked.requestState })
})

export interface Driving<A> {
  readonly server: string
  readonly method: string
  readonly respond: Respondent["respond"]
  readonly ask: (retry: Retry) => Effect.Effect<A | InputRequiredResult.InputRequired, McpClientError>
  /** Takes the result, once there is one. */
  readonly accept: (result: A) => Effect.Effect<A, McpClientError>
  readonly onRound?: ((asked: InputRequiredResult.InputRequired) => void) | undefined
}

interface Typed {
  readonly resultType?: string | undefined
}

export const drive = <A extends Typed>(driving: Driving<A>): Effect.Effect<A, McpClientError> =>
  Effect.matchEffect(driving.ask({}), {
    onSuccess: (result) => (isInputRequired(result) ? goOn(driving, result) : driving.accept(result)),
    onFailure: (error) => afterFailure(error, () => driving)
  })

/** What comes after a first round that failed. */
export const afterFailure = <A extends Typed>(
  error: McpClientError,
  driving: () => Driving<A>
): Effect.Effect<A, McpClientError> =>
  questionsIn(error) === undefined ? Effect.fail(error) : openAndAskAgain(driving(), error)

const tooMany = (most: number) => `it went on asking after ${most} rounds (MaxInputRounds)`

/** What comes after a first round with questions: they are answered and it is asked again, while there are any. */
export const goOn = Effect.fnUntraced(function* <A extends Typed>(
  { accept, ask, method, onRound, respond, server }: Driving<A>,
  first: InputRequiredResult.InputRequired
): Effect.fn.Return<A, McpClientError> {
  const most = yield* Defaults.MaxInputRounds
  const refuse = (because: string) => new McpClientError({ server, reason: new InputRequired({ method, because }) })
  const opened: Opened = new Set()
  let asked = first
  let quiet = 0
  for (let round = 0; ; round++) {
    if (round >= most) return yield* refuse(tooMany(most))
    onRound?.(asked)
    const inputResponses = yield* Effect.mapError(answers(asked.inputRequests, respond, opened), refuse)
    if (inputResponses === undefined) yield* Effect.sleep(pauseWithoutQuestions(quiet++))
    else quiet = 0
    const result = yield* ask(retryOf(asked, inputResponses))
    if (!isInputRequired(result)) return yield* accept(result)
    asked = result
  }
})

/**
 * Sends the user to the addresses of a -32042 and the request once more, as often as the server says so (L-ELI-8). The
 * error stands when the program opens no addresses.
 */
const openAndAskAgain = Effect.fnUntraced(function* <A extends Typed>(
  driving: Driving<A>,
  first: McpClientError
): Effect.fn.Return<A, McpClientError> {
  const { accept, ask, method, onRound, respond, server } = driving
  const most = yield* Defaults.MaxInputRounds
  const refuse = (because: string) => new McpClientError({ server, reason: new InputRequired({ method, because }) })
  const opened: Opened = new Set()
  let error = first
  for (let round = 0; round < most; round++) {
    const inputRequests = questionsIn(error)
    if (inputRequests === undefined) return yield* error
    onRound?.({ resultType: "input_required", inputRequests })
    const given = yield* Effect.mapError(answers(inputRequests, respond, opened), () => error)
    const refused = Object.values(given ?? {}).find((answer) => "action" in answer && answer.action !== "accept")
    if (refused !== undefined) return yield* refuse("the user did not open the address")
    const next = yield* Effect.result(ask({}))
    if (Result.isSuccess(next)) {
      return yield* isInputRequired(next.success) ? goOn(driving, next.success) : accept(next.success)
    }
    error = next.failure
  }
  return yield* refuse(tooMany(most))
})
