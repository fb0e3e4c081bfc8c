/**
 * What a server says unasked: questions of its own (legacy era), which are answered here, and notifications, which are
 * handed to whoever listens. A listener or handler that fails stops nobody else (T-RPC-6).
 */
import { Diagnostic, reporter } from "@mcp-effect/protocol/Diagnostic"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Meta from "@mcp-effect/protocol/Meta"
import type { Revision } from "@mcp-effect/protocol/Revision"
import type { Incoming, Wire } from "@mcp-effect/transport/Transport"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Limits from "../Limits.ts"
import type { Patience } from "./patience.ts"
import type { Refusal, Respondent } from "./questions.ts"

/** The wire in use and the revision spoken on it; absent while nothing is open. */
export interface Current {
  readonly wire: Wire
  readonly revision: Revision
}

export type Listener = (notification: JsonRpc.Notification) => void

export interface Inbound {
  readonly hear: (message: Incoming) => void
  /** Registers a listener; the result takes it away again. */
  readonly listen: (listener: Listener) => () => void
  /** Tells a function of the program; one that throws is reported and stops nobody (T-RPC-6). */
  readonly told: (method: string, tell: () => void) => void
  /** Says where to answer. */
  readonly attach: (current: () => Current | undefined) => void
}

let connections = 0

/** Marks the fibers that answer a question; each connection has a mark of its own, since a handler may open another. */
const makeMark = () =>
  Context.Reference<JsonRpc.Request | undefined>(`@mcp-effect/client/Answering/${++connections}`, {
    defaultValue: () => undefined
  })

export const make = Effect.fnUntraced(function* (
  server: string,
  respondent: Respondent,
  { asking }: Pick<Patience, "asking">
): Effect.fn.Return<Inbound, never, Scope.Scope> {
  const context = yield* Effect.context()
  const report = yield* reporter
  const most = yield* Limits.MaxOpenQuestions
  const listeners = new Set<Listener>()
  const answering = new Map<Fiber.Fiber<void>, JsonRpc.Request>()
  let mark: ReturnType<typeof makeMark> | undefined
  let closed = false
  let current: () => Current | undefined = () => undefined
  yield* Effect.addFinalizer(() =>
    Effect.withFiber((closing) => {
      closed = true
      const own = mark === undefined ? undefined : closing.getRef(mark)
      const others: Array<Fiber.Fiber<void>> = []
      for (const [fiber, request] of answering) {
        // A handler that closes its own connection waits for this, so this must not wait for the handler.
        if (request === own) fiber.interruptUnsafe()
        else others.push(fiber)
      }
      return Fiber.interruptAll(others)
    })
  )

  const unexpected = (method: string, because: string) =>
    report(Diagnostic.UnexpectedMessage({ server, method, because, dropped: 1 }))

  const told = (method: string, tell: () => void) => {
    const heard = Result.try({ try: tell, catch: (thrown) => excerpt(String(thrown)) })
    if (Result.isFailure(heard)) {
      const callback = `the listener to ${excerpt(method)}`
      report(Diagnostic.CallbackFailed({ server, callback, because: heard.failure, failed: 1 }))
    }
  }

  const answer = (request: JsonRpc.Request) => {
    if (closed) return
    const at = current()
    if (at === undefined || !at.revision.habits.serverRequests) {
      return unexpected(request.method, "a server may not send requests here")
    }
    if (answering.size >= most) return unexpected(request.method, `${most} requests of the server are open already`)
    mark ??= makeMark()
    // A question belongs to no call in the legacy era, and whoever is asked takes his time.
    const answered = request.method === "ping" ? undefined : asking()
    const fiber = Effect.runForkWith(context)(
      responseTo(request, at, respondent).pipe(
        Effect.catchDefect(() =>
          Effect.succeed(failure(request.id, ErrorCode.InternalError, "this client failed to answer"))
        ),
        Effect.flatMap((response) =>
          Effect.catch(at.wire.send(response, at.revision), ({ reason }) =>
            reason._tag === "NotJson"
              ? at.wire.send(failure(request.id, ErrorCode.InternalError, "the answer is no JSON"), at.revision)
              : Effect.void
          )
        ),
        Effect.ignore,
        Effect.provideService(mark, request)
      )
    )
    answering.set(fiber, request)
    // It may have been closed by what the handler did at once.
    if (closed) fiber.interruptUnsafe()
    fiber.addObserver(() => {
      answering.delete(fiber)
      answered?.()
    })
  }

  const hear = (message: Incoming) => {
    if ("id" in message) return answer(message)
    if (message.method === "notifications/cancelled") {
      const id = message.params?.["requestId"]
      for (const [fiber, asked] of answering) if (asked.id === id) fiber.interruptUnsafe()
    }
    for (const listener of listeners) told(message.method, () => listener(message))
  }

  return {
    hear,
    told,
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    attach: (where) => {
      current = where
    }
  }
})

const failure = (id: JsonRpc.RequestId, code: number, message: string): JsonRpc.Response => ({
  jsonrpc: "2.0",
  id,
  error: { code, message }
})

const notOffered = (id: JsonRpc.RequestId, method: string) =>
  failure(id, ErrorCode.MethodNotFound, `this client does not offer ${method}`)

const responseTo = Effect.fnUntraced(function* (
  { id, method, params }: JsonRpc.Request,
  { revision, wire }: Current,
  respondent: Respondent
): Effect.fn.Return<JsonRpc.Response> {
  if (!respondent.offers(method)) return notOffered(id, method)
  const question = revision.question(method, params)
  if (Result.isFailure(question)) {
    const { failure: error } = question
    return error._tag === "InvalidParams" ? failure(id, ErrorCode.InvalidParams, error.message) : notOffered(id, method)
  }
  if (question.success.method === "ping") return { jsonrpc: "2.0", id, result: {} }
  // Nobody waits for the answer once the wire is gone.
  const gone = Effect.mapError(wire.ended, ({ message }): Refusal => ({ code: ErrorCode.InternalError, message }))
  const answered = yield* Effect.result(Effect.raceFirst(respondent.respond(question.success), gone))
  if (Result.isFailure(answered)) return failure(id, answered.failure.code, answered.failure.message)
  const written = revision.answer(answered.success.method, answered.success.answer)
  return Result.isFailure(written)
    ? failure(id, ErrorCode.InternalError, written.failure.message)
    : { jsonrpc: "2.0", id, result: related(written.success.result, params) }
})

/** An answer to a question of a task says which task it was (L-TASK-5). */
const related = (result: JsonRpc.JsonObject, params: JsonRpc.JsonObject | undefined): JsonRpc.JsonObject => {
  const meta = params?.["_meta"]
  if (!Predicate.isReadonlyObject(meta) || !Object.hasOwn(meta, Meta.relatedTask)) return result
  const mine = result["_meta"]
  return {
    ...result,
    _meta: { ...(Predicate.isReadonlyObject(mine) ? mine : {}), [Meta.relatedTask]: meta[Meta.relatedTask] }
  }
}
