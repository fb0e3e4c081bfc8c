/**
 * What must hold for the handlers of a program, as properties over generated questions of servers.
 *
 * The subject is your handlers, together with how your program connects with them. Each law puts many questions to them,
 * through a whole connection in memory and in both eras, and looks at what the server heard. The same seed asks the same
 * questions. The laws depend on no test runner and know nothing of what an answer means: a handler that always declines
 * keeps them all.
 *
 * @since 0.1.0
 */
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import type * as Roots from "@mcp-effect/protocol/Roots"
import type * as Sampling from "@mcp-effect/protocol/Sampling"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { element, oneOf } from "./Arbitraries.ts"
import * as Asking from "./internal/asking.ts"
import * as QuestionArbitraries from "./QuestionArbitraries.ts"

/**
 * A law that does not hold, with the smallest questions found that show it.
 *
 * What to change: the handler, so that the law holds for these questions.
 *
 * @category errors
 * @since 0.1.0
 */
export class Violation extends Schema.TaggedError<Violation>()("Violation", {
  law: Schema.String,
  /** What happened instead. */
  got: Schema.String,
  /** The questions as JSON. */
  questions: Schema.String,
  /** Asks the same questions again, as `seed`. */
  seed: Schema.Union([Schema.String, Schema.Finite])
}) {
  override get message() {
    return `${this.law}: ${this.got}, asked ${this.questions} (seed ${this.seed})`
  }
}

/**
 * The handlers, as `@mcp-effect/client` takes them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handlers<E = never, R = never> {
  readonly elicitation?: {
    readonly form?: (question: Elicitation.FormParams) => Effect.Effect<Elicitation.Result, E, R>
    readonly url?: (question: Elicitation.UrlParams) => Effect.Effect<Elicitation.Result, E, R>
  }
  readonly sampling?: (question: Sampling.Params) => Effect.Effect<Sampling.Result, E, R>
  readonly samplingTools?: boolean
  readonly roots?: Effect.Effect<ReadonlyArray<Roots.Root>, E, R>
}

/**
 * What the laws are about.
 *
 * A person who would be asked must be played by something that gives the same answer to the same question.
 *
 * @category models
 * @since 0.1.0
 */
export interface Subject<E = never, R = never> {
  readonly handlers: Handlers<E, R>
  /** Connects over the transport with the handlers, in mode `auto`, and calls the tool `echo` once. */
  readonly call: (
    transport: Transport["Service"],
    handlers: Handlers<E, R>
  ) => Effect.Effect<unknown, unknown, R | Scope.Scope>
}

/**
 * How many times each law asks, and what.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** 20 by default. */
  readonly runs?: number
  /** 0 by default. */
  readonly seed?: string | number
}

/**
 * One law.
 *
 * @category models
 * @since 0.1.0
 */
export interface Law {
  readonly name: string
  readonly check: <E, R>(
    subject: Subject<E, R>,
    options?: Options
  ) => Effect.Effect<void, Violation, Exclude<R, Scope.Scope>>
}

/** What is wrong; nothing when the law holds. */
type Finding = string | undefined

type Questions = ReadonlyArray<Asking.Question>

const law = (
  name: string,
  /** What is asked of a program with these handlers; `undefined` when the law is not about it. */
  questions: (handlers: Handlers<unknown, unknown>) => Arbitrary.Arbitrary<Questions> | undefined,
  trial: <E, R>(subject: Subject<E, R>, questions: Questions) => Effect.Effect<Finding, never, Exclude<R, Scope.Scope>>
): Law => ({
  name,
  check: (subject, { runs = 20, seed = 0 } = {}) => {
    const asked = questions(subject.handlers)
    if (asked === undefined) return Effect.void
    const property = (input: Questions) =>
      Effect.flatMap(trial(subject, input), (got) => (got === undefined ? Effect.succeed(true) : Effect.fail(got)))
    return Effect.flatMap(Arbitrary.checkEffect(asked, property, { runs, seed }), (result) =>
      result._tag === "Falsified"
        ? Effect.fail(
            new Violation({
              law: name,
              got: result.failure._tag === "PropertyError" ? result.failure.error : "it does not hold",
              questions: JSON.stringify(result.shrunkInput.map(({ method, params }) => ({ method, params }))),
              seed
            })
          )
        : Effect.void
    )
  }
})

const has = (handlers: Handlers<unknown, unknown>): Readonly<Record<Asking.Kind, boolean>> => ({
  form: handlers.elicitation?.form !== undefined,
  url: handlers.elicitation?.url !== undefined,
  sampling: handlers.sampling !== undefined,
  roots: handlers.roots !== undefined
})

const question = (
  kind: Asking.Kind,
  method: string,
  params: Arbitrary.Arbitrary<object>
): Arbitrary.Arbitrary<Asking.Question> => Arbitrary.map(params, (found) => ({ kind, method, params: { ...found } }))

const of = (kind: Asking.Kind, tools: boolean): Arbitrary.Arbitrary<Asking.Question> => {
  switch (kind) {
    case "form":
      return question(kind, "elicitation/create", QuestionArbitraries.form)
    case "url":
      return question(kind, "elicitation/create", QuestionArbitraries.address)
    case "sampling":
      return question(kind, "sampling/createMessage", QuestionArbitraries.sampling({ tools }))
    case "roots":
      return question(kind, "roots/list", element({}))
  }
}

/** Any question that the handlers say they answer. */
const declared = (handlers: Handlers<unknown, unknown>): Arbitrary.Arbitrary<Asking.Question> | undefined => {
  const there = has(handlers)
  const [first, ...rest] = Asking.kinds
    .filter((kind) => there[kind])
    .map((kind) => of(kind, handlers.samplingTools === true))
  return first === undefined ? undefined : oneOf(first, ...rest)
}

const one = (asked: Arbitrary.Arbitrary<Asking.Question> | undefined) =>
  asked === undefined ? undefined : Arbitrary.map(asked, (only): Questions => [only])

const oneDeclared = (handlers: Handlers<unknown, unknown>) => one(declared(handlers))

/** Only questions of this kind, of programs that answer them. */
const only =
  (kind: Asking.Kind, asked?: Arbitrary.Arbitrary<Asking.Question>) => (handlers: Handlers<unknown, unknown>) =>
    has(handlers)[kind] ? one(asked ?? of(kind, handlers.samplingTools === true)) : undefined

const told = (answer: Asking.Answer | undefined): string =>
  answer === undefined
    ? "nothing"
    : Result.match(answer, { onSuccess: (found) => JSON.stringify(found), onFailure: (why) => `no answer (${why})` })

/** What a handler gave, as it must stand on the wire. */
const written = (kind: Asking.Kind, value: unknown): unknown =>
  JSON.parse(JSON.stringify(kind === "roots" ? { roots: value } : value))

const withoutMeta = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).filter(([key]) => key !== "_meta"))
    : value

const same = (left: unknown, right: unknown) => Equal.equals(withoutMeta(left), withoutMeta(right))

const alike = (left: Asking.Answer | undefined, right: Asking.Answer | undefined): boolean => {
  if (left === undefined || right === undefined) return left === right
  return Result.isSuccess(left) && Result.isSuccess(right)
    ? same(left.success, right.success)
    : Result.isFailure(left) && Result.isFailure(right)
}

/** Whether a question came to the handler, and its answer to the server as the handler gave it. */
const faithful = (answer: Asking.Answer | undefined, seen: ReadonlyArray<Asking.Seen>): Finding => {
  const [first, ...more] = seen
  if (first === undefined) return `the handler was not asked: ${told(answer)}`
  if (more.length > 0) return `the handler was asked ${seen.length} times`
  const { exit, kind } = first
  if (exit === undefined) return `the handler did not end within ${Asking.patience}`
  if (Exit.isFailure(exit)) {
    if (Cause.hasDies(exit.cause)) return `the handler died: ${Cause.pretty(exit.cause)}`
    if (Cause.hasInterrupts(exit.cause)) return `the handler was interrupted`
    return answer !== undefined && Result.isSuccess(answer) ? `the handler refused, but ${told(answer)}` : undefined
  }
  const given = written(kind, exit.value)
  return answer !== undefined && Result.isSuccess(answer) && same(answer.success, given)
    ? undefined
    : `the handler gave ${JSON.stringify(given)}, and the server got ${told(answer)}`
}

const eachWay = (
  name: string,
  questions: Parameters<typeof law>[1],
  trial: <E, R>(
    subject: Subject<E, R>,
    questions: Questions,
    way: Asking.Way
  ) => Effect.Effect<Finding, never, Exclude<R, Scope.Scope>>
): ReadonlyArray<Law> =>
  Asking.ways.map((way) => law(`${name} (${way})`, questions, (subject, asked) => trial(subject, asked, way)))

const answered = <E, R>(subject: Subject<E, R>, questions: Questions, way: Asking.Way) =>
  Asking.ask(subject, way, questions)

/** Looks at what the server got for one question. */
const judged = (
  name: string,
  questions: Parameters<typeof law>[1],
  judge: (answer: Asking.Answer | undefined, question: Asking.Question) => Finding
) =>
  eachWay(name, questions, (subject, asked, way) =>
    Effect.map(answered(subject, asked, way), ({ answers }) => {
      const [only] = asked
      return only === undefined ? undefined : judge(answers[0], only)
    })
  )

const successOf = (answer: Asking.Answer | undefined): unknown =>
  answer !== undefined && Result.isSuccess(answer) ? answer.success : undefined

const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

/** Tools that the model wants used, although they were not offered. */
const unofferedTools = (answer: Asking.Answer | undefined, { params }: Asking.Question): Finding => {
  const offered =
    params["tools"] === undefined || Asking.own(params["toolChoice"], "mode") === "none" ? [] : params["tools"]
  const names = new Set(listOf(offered).map((tool) => Asking.own(tool, "name")))
  const used = listOf(Asking.own(successOf(answer), "content"))
    .filter((block) => Asking.own(block, "type") === "tool_use")
    .find((block) => !names.has(Asking.own(block, "name")))
  return used === undefined ? undefined : `the answer uses ${JSON.stringify(Asking.own(used, "name"))}`
}

const notFiles = (answer: Asking.Answer | undefined): Finding => {
  const uris = listOf(Asking.own(successOf(answer), "roots")).map((root) => String(Asking.own(root, "uri")))
  const wrong = uris.find((uri) => !uri.startsWith("file://") || !URL.canParse(uri))
  const twice = uris.find((uri, at) => uris.indexOf(uri) !== at)
  if (wrong !== undefined) return `${wrong} is no address of a file`
  return twice === undefined ? undefined : `${twice} stands there twice`
}

/** The handlers without one kind of question. */
const without = <E, R>(
  { elicitation: { form, url } = {}, roots, sampling, samplingTools }: Handlers<E, R>,
  kind: Asking.Kind
) => ({
  elicitation: {
    ...(form === undefined || kind === "form" ? {} : { form }),
    ...(url === undefined || kind === "url" ? {} : { url })
  },
  ...(sampling === undefined || kind === "sampling" ? {} : { sampling }),
  ...(roots === undefined || kind === "roots" ? {} : { roots }),
  ...(samplingTools === undefined || kind === "sampling" ? {} : { samplingTools })
})

const withTools = (handlers: Handlers<unknown, unknown>) =>
  handlers.sampling === undefined
    ? undefined
    : one(
        question(
          "sampling",
          "sampling/createMessage",
          Arbitrary.filter(QuestionArbitraries.sampling({ tools: true }), ({ tools }) => tools !== undefined)
        )
      )

const unanswered = <E, R>(subject: Subject<E, R>, questions: Questions, way: Asking.Way) =>
  Effect.map(answered(subject, questions, way), ({ answers, seen }): Finding => {
    if (seen.length > 0) return "a handler was asked"
    return answers.some(Result.isSuccess) ? `the server got ${told(answers[0])}` : undefined
  })

/**
 * The laws.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law> = [
  ...eachWay("an answer fits its question, and the server gets it as it is", oneDeclared, (subject, questions, way) =>
    Effect.map(answered(subject, questions, way), ({ answers, seen }) => faithful(answers[0], seen))
  ),
  law("a question gets the same answer in both eras", oneDeclared, (subject, questions) =>
    Effect.map(
      Effect.forEach(Asking.ways, (way) => answered(subject, questions, way)),
      ([older, newer]): Finding =>
        alike(older?.answers[0], newer?.answers[0])
          ? undefined
          : `${told(older?.answers[0])}; but ${told(newer?.answers[0])} in an input round`
    )
  ),
  ...eachWay(
    "questions side by side get the answers that they get alone",
    (handlers) => {
      const asked = declared(handlers)
      return asked === undefined ? undefined : Arbitrary.array(asked, { minLength: 2, maxLength: 6 })
    },
    (subject, questions, way) =>
      Effect.map(
        Effect.all([
          Effect.forEach(questions, (each) => answered(subject, [each], way)),
          answered(subject, questions, way)
        ]),
        ([alone, together]): Finding => {
          const answers = alone.map((each) => each.answers[0])
          // One question that gets no answer fails the whole round, and then there are none.
          if (way === "input rounds" && !answers.every((each) => each !== undefined && Result.isSuccess(each)))
            return undefined
          const at = answers.findIndex((answer, index) => !alike(answer, together.answers[index]))
          return at < 0 ? undefined : `question ${at} got ${told(answers[at])} alone; but ${told(together.answers[at])}`
        }
      )
  ),
  ...eachWay("a handler ends when its question is taken back", oneDeclared, (subject, questions, way) =>
    Effect.gen(function* () {
      for (const each of questions) {
        const { answer, seen } = yield* Asking.withdraw(subject, way, each)
        const [first] = seen
        if (first === undefined) continue
        if (first.exit === undefined) return `the handler was still at work after ${Asking.patience}`
        if (Exit.hasInterrupts(first.exit) && answer !== undefined) return `the server got ${told(answer)}`
      }
      return undefined
    })
  ),
  ...Asking.kinds.flatMap((kind) =>
    eachWay(
      `what is not declared is neither asked nor answered: ${kind}`,
      () => one(of(kind, true)),
      ({ call, handlers }, questions, way) => unanswered({ call, handlers: without(handlers, kind) }, questions, way)
    )
  ),
  ...eachWay(
    "what is not declared is neither asked nor answered: tools of a language model",
    withTools,
    ({ call, handlers }, questions, way) =>
      unanswered({ call, handlers: { ...handlers, samplingTools: false } }, questions, way)
  ),
  ...(["decline", "cancel"] as const).flatMap((action) =>
    eachWay(
      `a user who says no is an answer: ${action}`,
      () => one(oneOf(of("form", false), of("url", false))),
      ({ call }, questions, way) => {
        const no = () => Effect.succeed({ action })
        return Effect.map(
          answered({ call, handlers: { elicitation: { form: no, url: no } } }, questions, way),
          ({ answers: [answer] }) =>
            same(successOf(answer), { action }) ? undefined : `the server got ${told(answer)}`
        )
      }
    )
  ),
  ...judged(
    "what is no web page is not accepted",
    only("url", question("url", "elicitation/create", QuestionArbitraries.badAddress)),
    (answer) => (Asking.own(successOf(answer), "action") === "accept" ? `the server got ${told(answer)}` : undefined)
  ),
  ...judged("roots are addresses of files, each named once", only("roots"), notFiles),
  ...judged("a language model uses only tools that were offered", only("sampling"), unofferedTools)
]

/**
 * Checks every law and gives those that do not hold.
 *
 * @example
 * ```ts
 * const broken = yield* HandlerLaws.violations({
 *   handlers,
 *   call: (transport, handlers) =>
 *     Effect.flatMap(McpClient.connect(transport, { handlers }), (client) => client.callTool("echo"))
 * })
 * // []
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const violations = <E, R>(
  subject: Subject<E, R>,
  options?: Options
): Effect.Effect<ReadonlyArray<Violation>, never, Exclude<R, Scope.Scope>> =>
  Effect.map(
    Effect.forEach(laws, ({ check }) =>
      Effect.matchEager(check(subject, options), {
        onSuccess: (): ReadonlyArray<Violation> => [],
        onFailure: (violation) => [violation]
      })
    ),
    (found) => found.flat()
  )
