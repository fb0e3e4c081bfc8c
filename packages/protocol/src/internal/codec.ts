/**
 * The codecs of one revision. Decoders are the same for all and made once; writers are made per revision, each when it
 * is first needed.
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Capabilities from "../Capabilities.ts"
import * as Discover from "../Discover.ts"
import { Implementation } from "../Implementation.ts"
import * as Initialize from "../Initialize.ts"
import { InputRequired } from "../InputRequired.ts"
import type { JsonObject } from "../JsonRpc.ts"
import { Level } from "../Logging.ts"
import * as Meta from "../Meta.ts"
import * as Method from "../Method.ts"
import * as Notification from "../Notification.ts"
import { CannotCarry, InvalidParams, InvalidResult, MethodNotInRevision } from "../ProtocolError.ts"
import * as Question from "../Question.ts"
import type { Encoded, Revision, Sender } from "../Revision.ts"
import { Created } from "../Task.ts"
import { eraOf, type Version } from "../Version.ts"
import { habitsOf } from "./habits.ts"
import { decoder, type Decoded, type Misfit } from "./lenient.ts"
import { fits, isObject } from "./node.ts"
import { available, compile, type Dropped, type Journal } from "./project.ts"
import * as Stamp from "./stamp.ts"
import * as TaskWire from "./taskWire.ts"
import { tidy } from "./tidy.ts"

type Decoder = (input: unknown) => Result.Result<Decoded<unknown>, Misfit>

/** A decoder for each name. */
export const decodersOf = (
  schemas: ReadonlyArray<readonly [string, Schema.Codec<unknown>]>
): ReadonlyMap<string, Decoder> => new Map(schemas.map(([key, schema]) => [key, decoder(schema)]))

const results = decodersOf(Object.entries(Method.methods).map(([method, { result }]) => [method, result]))
const questions = decodersOf(Object.entries(Question.questions).map(([method, { params }]) => [method, params]))
const notifications = decodersOf(Object.entries(Notification.received).map(([method, { params }]) => [method, params]))
const decodeInputRequired = decoder(InputRequired)
const decodeCreated = decoder(Created)

/** Decodes a result or an answer. */
export const run = (
  decode: Decoder | undefined,
  method: string,
  input: unknown
): Result.Result<Decoded<unknown>, InvalidResult> => {
  if (decode === undefined) {
    return Result.fail(new InvalidResult({ method, pointer: "", because: "belongs to no known method" }))
  }
  const decoded = decode(input)
  return Result.isSuccess(decoded)
    ? Result.succeed(decoded.success)
    : Result.fail(new InvalidResult({ method, ...decoded.failure }))
}

const shown = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value) : typeof value

const decodeComplete = (method: Method.Method, result: JsonObject) => {
  switch (method) {
    case "initialize":
      return Initialize.decode(result)
    case "server/discover":
      return Discover.decode(result)
    default:
      return run(results.get(method), method, tidy(result, Method.methods[method]))
  }
}

const decodeByType = (
  method: Method.Method,
  result: JsonObject,
  accepts: ReadonlyArray<"task">
): Result.Result<Decoded<unknown>, InvalidResult> => {
  const type = (Object.hasOwn(result, "resultType") ? result["resultType"] : undefined) ?? "complete"
  if (type === "complete") return decodeComplete(method, result)
  if (type === "input_required" && Method.methods[method].asks) return run(decodeInputRequired, method, result)
  if (type === "task" && method === "tools/call" && accepts.includes("task")) return run(decodeCreated, method, result)
  const because = `is ${shown(type)}, which ${method} does not give`
  return Result.fail(new InvalidResult({ method, pointer: "/resultType", because }))
}

const decodeLegacy = (
  method: Method.Method,
  result: JsonObject,
  accepts: ReadonlyArray<"task">
): Result.Result<Decoded<unknown>, InvalidResult> => {
  const created = method === "tools/call" && accepts.includes("task") ? TaskWire.unwrap(result) : undefined
  if (created !== undefined) return run(decodeCreated, method, created)
  return decodeComplete(method, withoutType(TaskWire.fromWire(method, result)))
}

/** What was written, and what was left out on the way. */
export interface Written {
  readonly json: JsonObject
  readonly dropped: ReadonlyArray<Dropped>
}

/** Writes values of one type for one revision. */
export type Writer = (method: string, value: JsonObject) => Result.Result<Written, CannotCarry>

const nothing: ReadonlyArray<Dropped> = []

const writer = (schema: Schema.Codec<unknown>, version: Version): Writer => {
  const projection = compile(schema.ast, version)
  return (method, value) => {
    if (projection === undefined) return Result.succeed({ json: value, dropped: nothing })
    const journal: Journal = { dropped: [], refused: undefined }
    const json = projection(value, [], journal)
    return journal.refused === undefined && isObject(json)
      ? Result.succeed({ json, dropped: journal.dropped })
      : Result.fail(new CannotCarry({ method, version, pointer: journal.refused?.pointer ?? "" }))
  }
}

/** The writers of one revision, each made when it is first needed. */
export const writersOf = (version: Version) => {
  const made = new Map<Schema.Codec<unknown>, Writer>()
  return (schema: Schema.Codec<unknown>): Writer => {
    const known = made.get(schema)
    if (known !== undefined) return known
    const fresh = writer(schema, version)
    made.set(schema, fresh)
    return fresh
  }
}

/** As parameters: nothing at all when there is nothing to say. */
export const encoded = ({ json, dropped }: Written): Encoded => ({
  params: Object.keys(json).length === 0 ? undefined : json,
  dropped
})

// Some servers insist on `arguments`, even for a tool that wants none.
const straighten = (method: string, params: JsonObject): JsonObject =>
  method === "tools/call" && !Object.hasOwn(params, "arguments") ? { ...params, arguments: {} } : params

const levelOrInfo = (method: string, params: JsonObject): JsonObject =>
  method !== "notifications/message" || !Object.hasOwn(params, "level") || fits(Level.ast, params["level"])
    ? params
    : { ...params, level: "info" }

/** A message that was read: its method, and what that method says. */
export interface Named {
  readonly method: string
  readonly params: unknown
}

/** Reads the parameters of a method, or knows no such method. */
export type Read<A> = Result.Result<A, InvalidParams | MethodNotInRevision>

/** Reads the parameters of a method with the decoder of that name. */
export const readNamed = (
  decoders: ReadonlyMap<string, Decoder>,
  method: string,
  params: JsonObject | undefined,
  version: Version
): Read<Named> => {
  const decode = decoders.get(method)
  if (decode === undefined) return Result.fail(new MethodNotInRevision({ method, version }))
  return Result.mapBoth(decode(params ?? {}), {
    onFailure: ({ pointer, because }) => new InvalidParams({ method, pointer, because }),
    onSuccess: ({ value }) => ({ method, params: value })
  })
}

const withoutType = (result: JsonObject): JsonObject => {
  if (!Object.hasOwn(result, "resultType")) return result
  const { resultType: _, ...rest } = result
  return rest
}

/** Everything that is particular to one revision. */
export const make = (version: Version): Revision => {
  const era = eraOf(version) ?? "modern"
  const writers = writersOf(version)
  const has = (method: string): method is Method.Method =>
    Method.isMethod(method) && available(Method.methods[method].span, version)
  const write = (method: string, schema: Schema.Codec<unknown>, params: JsonObject) => {
    const written = writers(schema)(method, straighten(method, params))
    return Result.isSuccess(written) ? Result.succeed(encoded(written.success)) : Result.fail(written.failure)
  }
  const missing = (method: string) => Result.fail(new MethodNotInRevision({ method, version }))

  // The tables hold decoders of every type; the overloads say which one a method has.
  function decode<M extends Method.Method, const Kind extends "task" = never>(
    method: M,
    result: JsonObject,
    accepts?: ReadonlyArray<Kind>
  ): Result.Result<Decoded<Method.Result<M> | ("task" extends Kind ? Created : never)>, InvalidResult>
  function decode(
    method: Method.Method,
    result: JsonObject,
    accepts: ReadonlyArray<"task"> = []
  ): Result.Result<Decoded<unknown>, InvalidResult> {
    return era === "modern" ? decodeByType(method, result, accepts) : decodeLegacy(method, result, accepts)
  }

  function question(method: string, params: JsonObject | undefined): Read<Question.Question>
  function question(method: string, params: JsonObject | undefined): Read<Named> {
    return readNamed(questions, method, params, version)
  }

  function hear(method: string, params: JsonObject | undefined): Read<Notification.Received>
  function hear(method: string, params: JsonObject | undefined): Read<Named> {
    return readNamed(notifications, method, TaskWire.fromWire(method, levelOrInfo(method, params ?? {})), version)
  }

  return {
    version,
    era,
    habits: habitsOf[version],
    supports: has,
    gate: (method) => Method.methods[method].gates.find((gate) => available(gate, version))?.capability,
    encode: (method, params) => (has(method) ? write(method, Method.methods[method].params, params) : missing(method)),
    decode,
    question,
    answer: (method, answer) =>
      Result.map(writers(Question.questions[method].answer)(method, answer), ({ json, dropped }) => ({
        result: json,
        dropped
      })),
    hear,
    tell: (method, params) =>
      available(Notification.sent[method].span, version)
        ? write(method, Notification.sent[method].params, params)
        : missing(method),
    stamp: (sender) => (era === "modern" ? Stamp.modern(identity(sender, version, writers)) : Stamp.legacy)
  }
}

const identity = (sender: Sender, version: Version, writers: (schema: Schema.Codec<unknown>) => Writer): JsonObject => {
  const written = (schema: Schema.Codec<unknown>, value: JsonObject): JsonObject =>
    Result.match(writers(schema)("_meta", value), { onFailure: () => value, onSuccess: ({ json }) => json })
  return {
    [Meta.protocolVersion]: version,
    [Meta.clientInfo]: written(Implementation, sender.client),
    [Meta.clientCapabilities]: written(Capabilities.Client, sender.capabilities)
  }
}
