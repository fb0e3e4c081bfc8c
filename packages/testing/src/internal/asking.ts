/** Puts questions to handlers through a whole connection, in either era, and sees what they did and what came of it. */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { Handlers, Subject } from "../HandlerLaws.ts"
import * as Script from "../Script.ts"
import * as ScriptedServer from "../ScriptedServer.ts"
import * as Transcript from "../Transcript.ts"
import { until } from "./trial.ts"

export const kinds = ["form", "url", "sampling", "roots"] as const
export type Kind = (typeof kinds)[number]

export interface Question {
  readonly kind: Kind
  readonly method: string
  readonly params: JsonObject
}

/** What a handler did about one question; without an exit it is still at work. */
export interface Seen {
  readonly kind: Kind
  exit: Exit.Exit<unknown, unknown> | undefined
}

/** What the server heard: the answer, or why there was none. */
export type Answer = Result.Result<JsonObject, string>

/** The eras as a server asks in them: by requests of its own, or inside an answer. */
export const ways = ["requests of the server", "input rounds"] as const
export type Way = (typeof ways)[number]

/** How long a question may take, by Effect's clock. */
export const patience = "5 seconds"

export const own = (value: unknown, key: string): unknown =>
  Predicate.isReadonlyObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** The same handlers, watched. */
export const watched = <E, R>(handlers: Handlers<E, R>) => {
  const seen: Array<Seen> = []
  const watch = <A>(kind: Kind, work: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const one: Seen = { kind, exit: undefined }
      seen.push(one)
      return Effect.onExit(Effect.suspend(work), (exit) =>
        Effect.sync(() => {
          one.exit = exit
        })
      )
    })
  const { elicitation: { form, url } = {}, roots, sampling, ...rest } = handlers
  const watching: Handlers<E, R> = {
    ...rest,
    elicitation: {
      ...(form === undefined ? {} : { form: (question) => watch("form", () => form(question)) }),
      ...(url === undefined ? {} : { url: (question) => watch("url", () => url(question)) })
    },
    ...(sampling === undefined ? {} : { sampling: (question) => watch("sampling", () => sampling(question)) }),
    ...(roots === undefined ? {} : { roots: watch("roots", () => roots) })
  }
  return { seen, handlers: watching }
}

const idOf = (at: number) => `question ${at}`

/** Only this revision knows a name for the page, and wants one. */
const named = ({ kind, method, params }: Question, at: number) => ({
  id: idOf(at),
  method,
  params: kind === "url" ? { ...params, elicitationId: idOf(at) } : params
})

const scripts: Readonly<Record<Way, (questions: ReadonlyArray<Question>) => Script.Script>> = {
  "requests of the server": (questions) =>
    Script.legacy({
      on: {
        "tools/call": [...questions.map((each, at) => Script.say(named(each, at))), Script.hear, Script.answer()]
      }
    }),
  "input rounds": (questions) =>
    Script.modern({
      on: {
        "tools/call": [
          [
            Script.answer(
              Script.inputRequired(
                Object.fromEntries(questions.map(({ method, params }, at) => [idOf(at), { method, params }]))
              )
            )
          ],
          [Script.answer()]
        ]
      }
    })
}

const withdrawing: Readonly<Record<Way, (question: Question) => Script.Script>> = {
  "requests of the server": (question) =>
    Script.legacy({
      on: {
        "tools/call": [
          Script.say(named(question, 0)),
          Script.say({ method: "notifications/cancelled", params: { requestId: idOf(0) } }),
          Script.answer()
        ]
      }
    }),
  "input rounds": (question) => scripts["input rounds"]([question])
}

/** The answers that the server heard, by the names of their questions. */
const heardIn = (transcript: Transcript.Transcript): ReadonlyMap<string, Answer> => {
  const heard = new Map<string, Answer>()
  for (const message of Transcript.messages(transcript)) {
    const { id, method, params } = message
    if (method === undefined && typeof id === "string") {
      const result = own(message, "result")
      heard.set(
        id,
        Predicate.isReadonlyObject(result)
          ? Result.succeed(result)
          : Result.fail(String(own(own(message, "error"), "message")))
      )
    }
    const answers = own(params, "inputResponses")
    if (Predicate.isReadonlyObject(answers)) {
      for (const [name, answer] of Object.entries(answers))
        if (Predicate.isReadonlyObject(answer)) heard.set(name, Result.succeed(answer))
    }
  }
  return heard
}

const textOf = (cause: Cause.Cause<unknown>): string => {
  const squashed = Cause.squash(cause)
  return squashed instanceof Error ? squashed.message : String(squashed)
}

/** What came of the questions, in order, and what the handlers did. */
export const ask = Effect.fnUntraced(function* <E, R>(
  { call, handlers }: Subject<E, R>,
  way: Way,
  questions: ReadonlyArray<Question>
) {
  const watching = watched(handlers)
  const server = yield* ScriptedServer.make(scripts[way](questions))
  // In a fiber of its own, since a handler that cannot be interrupted must not hold up the law.
  const fiber = yield* Effect.forkDetach(Effect.scoped(call(server.pipe(), watching.handlers)))
  const exit = yield* Effect.timeoutOption(Fiber.await(fiber), patience)
  if (Option.isNone(exit)) fiber.interruptUnsafe()
  const why = Option.match(exit, {
    onNone: () => `no end within ${patience}`,
    onSome: Exit.match({ onSuccess: () => "no answer", onFailure: textOf })
  })
  const heard = heardIn(yield* server.transcript)
  const answers = questions.map((_, at) => heard.get(idOf(at)) ?? Result.fail(why))
  return { answers, seen: watching.seen }
})

/** What a handler does whose question is taken back: by the server, or by the end of the call that led to it. */
export const withdraw = Effect.fnUntraced(function* <E, R>(
  { call, handlers }: Subject<E, R>,
  way: Way,
  question: Question
) {
  const watching = watched(handlers)
  const server = yield* ScriptedServer.make(withdrawing[way](question))
  const scope = yield* Scope.make()
  const calling = call(server.pipe(), watching.handlers).pipe(Scope.provide(scope))
  const fiber = yield* Effect.forkDetach(calling)
  const { seen } = watching
  const wait = (condition: () => boolean) => Effect.timeoutOption(until(Effect.sync(condition)), patience)
  yield* wait(() => seen.length > 0 || fiber.pollUnsafe() !== undefined)
  if (way === "input rounds") fiber.interruptUnsafe()
  yield* wait(() => seen.every(({ exit }) => exit !== undefined))
  yield* wait(() => fiber.pollUnsafe() !== undefined)
  fiber.interruptUnsafe()
  yield* Effect.forkDetach(Scope.close(scope, Exit.void))
  return { seen, answer: heardIn(yield* server.transcript).get(idOf(0)) }
})
