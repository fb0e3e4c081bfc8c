/**
 * Questions of servers that wait in a list until somebody answers: for programs whose user is not there at once.
 *
 * The handlers here answer nothing themselves. They put each question into a bounded list, where an interface shows it,
 * and wait. A question that its server no longer asks (it was cancelled, or the server was stopped) leaves the list. Which
 * server may ask what its entry says, as with any handler.
 *
 * @since 0.1.0
 */
import { HandlerRefused } from "@mcp-effect/client/Handlers"
import * as OpenUrl from "@mcp-effect/client/OpenUrl"
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import type * as Sampling from "@mcp-effect/protocol/Sampling"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { HostHandlers } from "./HostHandlers.ts"

/**
 * What is asked. Its words come from the server.
 *
 * @category models
 * @since 0.1.0
 */
export type Question = Data.TaggedEnum<{
  /** A form to fill in; `accept` gives its fields. */
  Form: { readonly params: Elicitation.FormParams }
  /** An address to go to. `accept` says that the user agreed, and opens it (`Options.open`). */
  Url: { readonly params: Elicitation.UrlParams }
  /** A language model to ask; `reply` gives its answer. */
  Sampling: { readonly params: Sampling.Params }
}>

/**
 * Constructors and matchers of `Question`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Question = Data.taggedEnum<Question>()

/**
 * A question that waits. Ids count from 1 and are not used twice.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parked {
  readonly id: number
  readonly server: string
  /** When it was asked, in milliseconds since 1970. */
  readonly at: number
  readonly question: Question
}

/**
 * No question ever had this id.
 *
 * What to change: use an id that `waiting` holds.
 *
 * @category errors
 * @since 0.1.0
 */
// Whatever a program asks for, NaN too.
// @effect-diagnostics-next-line schemaNumber:off
export class UnknownQuestion extends Schema.TaggedError<UnknownQuestion>()("UnknownQuestion", { id: Schema.Number }) {
  override get message() {
    return `no question has the id ${this.id}; look at \`waiting\``
  }
}

/**
 * The question waits no more: it was answered, or its server no longer asks.
 *
 * What to change: nothing: it needs no answer any more.
 *
 * @category errors
 * @since 0.1.0
 */
export class QuestionClosed extends Schema.TaggedError<QuestionClosed>()("QuestionClosed", {
  id: Schema.Finite,
  because: Schema.Literals(["answered", "withdrawn"])
}) {
  override get message() {
    return this.because === "answered"
      ? `question ${this.id} was answered already`
      : `question ${this.id} is no longer asked: its request was cancelled, or its server stopped`
  }
}

/**
 * The answer is of another kind than the question. It still waits.
 *
 * What to change: answer a question to a language model with `reply` or `refuse`, one to the user with `accept`,
 * `decline` or `cancel`.
 *
 * @category errors
 * @since 0.1.0
 */
export class WrongAnswer extends Schema.TaggedError<WrongAnswer>()("WrongAnswer", {
  id: Schema.Finite,
  asked: Schema.Literals(["Form", "Url", "Sampling"])
}) {
  override get message() {
    return this.asked === "Sampling"
      ? `question ${this.id} asks a language model; answer it with \`reply\` or \`refuse\``
      : `question ${this.id} asks the user (${this.asked}); answer it with \`accept\`, \`decline\` or \`cancel\``
  }
}

/**
 * Why an answer was not taken.
 *
 * @category errors
 * @since 0.1.0
 */
export type NotTaken = UnknownQuestion | QuestionClosed | WrongAnswer

/**
 * How many questions may wait, and what opens addresses. Questions beyond are refused (`HandlerRefused`).
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** In all. 256. */
  readonly limit?: number
  /** Of one server, so that no server takes the places of the others. 16. */
  readonly limitPerServer?: number
  /**
   * Opens an address once the user has accepted it: `open` of a `Browser`, which starts no shell. One that cannot be opened
   * is answered with `cancel`. Without this the program opens it itself.
   */
  readonly open?: (url: URL) => Effect.Effect<void, unknown>
}

/**
 * The list, and the handlers that fill it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ParkedQuestions {
  /** What waits, oldest first. Read it once, or follow its changes. */
  readonly waiting: SubscriptionRef.SubscriptionRef<ReadonlyArray<Parked>>
  /** For `HostHandlers.elicitation`. */
  readonly elicitation: Required<NonNullable<HostHandlers["elicitation"]>>
  /** For `HostHandlers.sampling`. Leave it out, and servers are not told that they may ask a model. */
  readonly sampling: NonNullable<HostHandlers["sampling"]>
  /** Answers the user's question as a whole. */
  readonly answer: (id: number, result: Elicitation.Result) => Effect.Effect<void, NotTaken>
  /** The user agrees: with the fields of a form, without anything for an address. */
  readonly accept: (id: number, content?: Elicitation.Result["content"]) => Effect.Effect<void, NotTaken>
  /** The user says no. */
  readonly decline: (id: number) => Effect.Effect<void, NotTaken>
  /** The user does not say: the question was closed without a choice. */
  readonly cancel: (id: number) => Effect.Effect<void, NotTaken>
  /** The language model's answer. */
  readonly reply: (id: number, result: Sampling.Result) => Effect.Effect<void, NotTaken>
  /** Refuses a question of any kind; the server gets an error. */
  readonly refuse: (id: number, because: string) => Effect.Effect<void, NotTaken>
}

type Place = { readonly parked: Parked } & (
  | { readonly kind: "user"; readonly answer: Deferred.Deferred<Elicitation.Result, HandlerRefused> }
  | { readonly kind: "model"; readonly answer: Deferred.Deferred<Sampling.Result, HandlerRefused> }
)

/** How many ids are remembered as answered; older ones count as withdrawn. */
const remembered = 1_024

/**
 * An empty list.
 *
 * @example
 * ```ts
 * import { Host, ParkedQuestions } from "@mcp-effect/host"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function* () {
 *   const questions = yield* ParkedQuestions.make()
 *   const host = yield* Host.make({ handlers: { elicitation: questions.elicitation } })
 *   return { host, questions }
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options: Options = {}): Effect.fn.Return<ParkedQuestions> {
  const { limit = 256, limitPerServer = 16, open = () => Effect.void } = options
  const waiting = yield* SubscriptionRef.make<ReadonlyArray<Parked>>([])
  const places = new Map<number, Place>()
  const answered = new Set<number>()
  let last = 0
  const show = Effect.suspend(() =>
    SubscriptionRef.set(
      waiting,
      [...places.values()].map(({ parked }) => parked)
    )
  )

  const isFull = (server: string) =>
    places.size >= limit ||
    [...places.values()].filter(({ parked }) => parked.server === server).length >= limitPerServer

  const park = <A>(
    server: string,
    question: Question,
    place: (parked: Parked, answer: Deferred.Deferred<A, HandlerRefused>) => Place
  ) =>
    Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis
      const answer = yield* Deferred.make<A, HandlerRefused>()
      if (isFull(server)) return yield* new HandlerRefused({ because: "too many questions wait for the user" })
      const id = ++last
      places.set(id, place({ id, server, at, question }, answer))
      return yield* show.pipe(
        Effect.andThen(Deferred.await(answer)),
        Effect.ensuring(
          Effect.suspend(() => {
            places.delete(id)
            return show
          })
        )
      )
    })

  const ask = (question: Question, server: string) =>
    park<Elicitation.Result>(server, question, (parked, answer) => ({ kind: "user", parked, answer }))

  const find = (id: number) =>
    Effect.suspend((): Effect.Effect<Place, UnknownQuestion | QuestionClosed> => {
      const place = places.get(id)
      if (place !== undefined) return Effect.succeed(place)
      return Number.isInteger(id) && id >= 1 && id <= last
        ? Effect.fail(new QuestionClosed({ id, because: answered.has(id) ? "answered" : "withdrawn" }))
        : Effect.fail(new UnknownQuestion({ id }))
    })

  /** Takes a question off the list and lets its handler go on. */
  const settle = <A>(
    id: number,
    answer: Deferred.Deferred<A, HandlerRefused>,
    with_: Effect.Effect<A, HandlerRefused>
  ) =>
    Effect.suspend(() => {
      places.delete(id)
      answered.add(id)
      if (answered.size > remembered) answered.delete(Math.min(...answered))
      return Effect.andThen(show, Deferred.complete(answer, with_))
    }).pipe(Effect.asVoid, Effect.uninterruptible)

  const wrong = ({ parked: { id, question } }: Place) => Effect.fail(new WrongAnswer({ id, asked: question._tag }))

  const answer: ParkedQuestions["answer"] = (id, result) =>
    Effect.flatMap(find(id), (place) =>
      place.kind === "user" ? settle(id, place.answer, Effect.succeed(result)) : wrong(place)
    )

  return {
    waiting,
    elicitation: {
      form: (params, server) => ask(Question.Form({ params }), server),
      url: (params, server) =>
        OpenUrl.handler({
          ask: (_, params) => Effect.map(ask(Question.Url({ params }), server), ({ action }) => action),
          open
        })(params)
    },
    sampling: (params, server) =>
      park<Sampling.Result>(server, Question.Sampling({ params }), (parked, answer) => ({
        kind: "model",
        parked,
        answer
      })),
    answer,
    accept: (id, content) => answer(id, { action: "accept", ...(content === undefined ? {} : { content }) }),
    decline: (id) => answer(id, { action: "decline" }),
    cancel: (id) => answer(id, { action: "cancel" }),
    reply: (id, result) =>
      Effect.flatMap(find(id), (place) =>
        place.kind === "model" ? settle(id, place.answer, Effect.succeed(result)) : wrong(place)
      ),
    refuse: (id, because) =>
      Effect.flatMap(find(id), (place) => {
        const refusal = Effect.fail(new HandlerRefused({ because }))
        return place.kind === "user" ? settle(id, place.answer, refusal) : settle(id, place.answer, refusal)
      })
  }
})
