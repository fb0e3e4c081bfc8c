/**
 * The other side of a connection: what a server reads and writes, revision by revision.
 *
 * The mirror of `Revision`, for scripted servers, gateways and tests: what one side writes, the other reads back.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { decodersOf, encoded, readNamed, run, writersOf, type Named, type Read } from "./internal/codec.ts"
import type { Decoded } from "./internal/lenient.ts"
import { available, type Dropped } from "./internal/project.ts"
import * as TaskWire from "./internal/taskWire.ts"
import { InputRequired } from "./InputRequired.ts"
import type { JsonObject } from "./JsonRpc.ts"
import * as Method from "./Method.ts"
import * as Notification from "./Notification.ts"
import { MethodNotInRevision, type CannotCarry, type InvalidParams, type InvalidResult } from "./ProtocolError.ts"
import * as Question from "./Question.ts"
import type { Encoded } from "./Revision.ts"
import * as Task from "./Task.ts"
import { eraOf, type Version } from "./Version.ts"

/**
 * A request of a client, read: told apart by `method`.
 *
 * @category models
 * @since 0.1.0
 */
export type Request = {
  readonly [M in Method.Method]: { readonly method: M; readonly params: Method.Params<M> }
}[Method.Method]

/**
 * A notification of a client, read: told apart by `method`.
 *
 * @category models
 * @since 0.1.0
 */
export type Sent = {
  readonly [M in Notification.SentMethod]: { readonly method: M; readonly params: Notification.SentParams<M> }
}[Notification.SentMethod]

/**
 * A result written for a revision.
 *
 * @category models
 * @since 0.1.0
 */
export interface EncodedResult {
  readonly result: JsonObject
  readonly dropped: ReadonlyArray<Dropped>
}

/**
 * What a server reads and writes in one revision.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerSide {
  readonly version: Version
  /** Reads a request. Fails with `MethodNotInRevision` for a method the revision does not have. */
  readonly request: (
    method: string,
    params: JsonObject | undefined
  ) => Result.Result<Request, InvalidParams | MethodNotInRevision>
  /** Writes a result: final, questions, or a task. */
  readonly result: <M extends Method.Method>(
    method: M,
    result: Method.Result<M> | Task.Created
  ) => Result.Result<EncodedResult, CannotCarry>
  /** Writes the parameters of a question. */
  readonly ask: <M extends Question.Method>(
    method: M,
    params: Question.Params<M>
  ) => Result.Result<Encoded, CannotCarry | MethodNotInRevision>
  /** Reads the answer to a question. */
  readonly answer: <M extends Question.Method>(
    method: M,
    answer: JsonObject
  ) => Result.Result<Decoded<Question.Answer<M>>, InvalidResult>
  /** Reads a notification. */
  readonly hear: (
    method: string,
    params: JsonObject | undefined
  ) => Result.Result<Sent, InvalidParams | MethodNotInRevision>
  /** Writes the parameters of a notification. */
  readonly tell: <M extends Notification.ReceivedMethod>(
    method: M,
    params: Notification.ReceivedParams<M>
  ) => Result.Result<Encoded, CannotCarry | MethodNotInRevision>
}

const requests = decodersOf(Object.entries(Method.methods).map(([method, { params }]) => [method, params]))
const answers = decodersOf(Object.entries(Question.questions).map(([method, { answer }]) => [method, answer]))
const heard = decodersOf(Object.entries(Notification.sent).map(([method, { params }]) => [method, params]))

const spanOf = (
  table: { readonly [method: string]: { readonly span: Method.Span } },
  method: string
): Method.Span | undefined => (Object.hasOwn(table, method) ? table[method]?.span : undefined)

const schemaOf = (method: Method.Method, result: JsonObject): Schema.Codec<unknown> =>
  result["resultType"] === "task"
    ? Task.Created
    : result["resultType"] === "input_required"
      ? InputRequired
      : Method.methods[method].result

const make = (version: Version): ServerSide => {
  const writers = writersOf(version)
  const modern = eraOf(version) === "modern"
  const has = (table: Parameters<typeof spanOf>[0], method: string): boolean => {
    const span = spanOf(table, method)
    return span !== undefined && available(span, version)
  }
  const missing = (method: string) => Result.fail(new MethodNotInRevision({ method, version }))
  const toWire = (method: string, json: JsonObject) => (modern ? json : TaskWire.toWire(method, json))

  // The tables hold decoders of every type; the overloads say which one a method has.
  function request(method: string, params: JsonObject | undefined): Read<Request>
  function request(method: string, params: JsonObject | undefined): Read<Named> {
    return has(Method.methods, method) ? readNamed(requests, method, params, version) : missing(method)
  }

  function hear(method: string, params: JsonObject | undefined): Read<Sent>
  function hear(method: string, params: JsonObject | undefined): Read<Named> {
    return has(Notification.sent, method) ? readNamed(heard, method, params, version) : missing(method)
  }

  function answer<M extends Question.Method>(
    method: M,
    given: JsonObject
  ): Result.Result<Decoded<Question.Answer<M>>, InvalidResult>
  function answer(method: string, given: JsonObject): Result.Result<Decoded<unknown>, InvalidResult> {
    return run(answers.get(method), method, given)
  }

  return {
    version,
    request,
    result: (method, result) =>
      Result.map(writers(schemaOf(method, result))(method, result), ({ json, dropped }) => ({
        result: !modern && result["resultType"] === "task" ? TaskWire.wrap(json) : toWire(method, json),
        dropped
      })),
    ask: (method, params) =>
      available(Question.questions[method].span, version)
        ? Result.map(writers(Question.questions[method].params)(method, params), encoded)
        : missing(method),
    answer,
    hear,
    tell: (method, params) =>
      available(Notification.received[method].span, version)
        ? Result.map(writers(Notification.received[method].params)(method, params), ({ json, dropped }) =>
            encoded({ json: toWire(method, json), dropped })
          )
        : missing(method)
  }
}

const sides: { readonly [V in Version]: ServerSide } = {
  "2024-11-05": make("2024-11-05"),
  "2025-03-26": make("2025-03-26"),
  "2025-06-18": make("2025-06-18"),
  "2025-11-25": make("2025-11-25"),
  "2026-07-28": make("2026-07-28")
}

/**
 * What a server reads and writes in a version.
 *
 * @category accessors
 * @since 0.1.0
 */
export const of = (version: Version): ServerSide => sides[version]
