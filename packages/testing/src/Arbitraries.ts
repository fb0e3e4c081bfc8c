/**
 * Generators of what goes over the wire: JSON, versions, the two opening results, broken frames, and the messages of every
 * revision. `ScriptArbitraries` makes whole servers of them.
 *
 * They are values of Effect's own `Arbitrary`, for `it.prop` of `@effect/vitest` or `Arbitrary.checkEffect`; the same seed
 * gives the same values.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Meta from "@mcp-effect/protocol/Meta"
import * as Method from "@mcp-effect/protocol/Method"
import * as Notification from "@mcp-effect/protocol/Notification"
import * as Question from "@mcp-effect/protocol/Question"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as ServerSide from "@mcp-effect/protocol/ServerSide"
import * as Version from "@mcp-effect/protocol/Version"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Script from "./Script.ts"

/**
 * One of these values. Earlier ones count as simpler.
 *
 * @category choices
 * @since 0.1.0
 */
export const element = <A>(first: A, ...rest: ReadonlyArray<A>): Arbitrary.Arbitrary<A> => {
  const items = [first, ...rest]
  return Arbitrary.map(index(items.length), (at) => items[at] ?? first)
}

/**
 * A value of one of these generators.
 *
 * @category choices
 * @since 0.1.0
 */
export const oneOf = <A>(
  first: Arbitrary.Arbitrary<A>,
  ...rest: ReadonlyArray<Arbitrary.Arbitrary<A>>
): Arbitrary.Arbitrary<A> => Arbitrary.flatMap(element(first, ...rest), (chosen) => chosen)

const index = (length: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: length - 1 })))

/**
 * Any JSON value, as it looks after a trip over the wire: no `-0`, no holes.
 *
 * @category JSON
 * @since 0.1.0
 */
export const json: Arbitrary.Arbitrary<Schema.Json> = Arbitrary.map(Arbitrary.schema(Schema.Json), (value) =>
  travelled(value)
)

/**
 * A JSON object, odd keys included.
 *
 * @category JSON
 * @since 0.1.0
 */
export const jsonObject: Arbitrary.Arbitrary<JsonRpc.JsonObject> = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.all([oneOf(Arbitrary.schema(Schema.String), element("__proto__", "constructor", "")), json]),
    {
      maxLength: 4
    }
  ),
  (entries) => Object.fromEntries(entries)
)

/** What a peer reads of a value that was written as JSON. */
const travelled = <A>(value: A): A => JSON.parse(JSON.stringify(value))

/**
 * A version that this library speaks.
 *
 * @category versions
 * @since 0.1.0
 */
export const version: Arbitrary.Arbitrary<Version.Version> = element<Version.Version>(
  ...Version.modern,
  ...Version.legacy
)

/**
 * Dates and texts that are no version of this library: past, future and absurd.
 *
 * @category versions
 * @since 0.1.0
 */
export const unknownVersion: Arbitrary.Arbitrary<string> = element("2027-07-07", "2099-01-01", "1999-01-01", "draft")

/**
 * A list as a server names its versions: known and unknown ones in any order, repeated or not; at least one.
 *
 * @category versions
 * @since 0.1.0
 */
export const versions: Arbitrary.Arbitrary<ReadonlyArray<string>> = Arbitrary.array(
  oneOf<string>(version, version, unknownVersion),
  { minLength: 1, maxLength: 5 }
)

/**
 * A DiscoverResult without a fault.
 *
 * @category results
 * @since 0.1.0
 */
export const discoverResult: Arbitrary.Arbitrary<JsonRpc.JsonObject> = Arbitrary.map(
  Arbitrary.all({
    listed: versions,
    capabilities: element({}, { tools: {} }, { tools: { listChanged: true }, logging: {} })
  }),
  ({ capabilities, listed }) => Script.discovered(listed, { capabilities })
)

/** Faults that a client forgives (row P4 of the table of negotiation): each takes something away or spoils it. */
const softDefects: ReadonlyArray<(result: JsonRpc.JsonObject) => JsonRpc.JsonObject> = [
  ({ ttlMs: _, ...rest }) => rest,
  (result) => ({ ...result, ttlMs: -1 }),
  (result) => ({ ...result, ttlMs: "soon" }),
  ({ cacheScope: _, ...rest }) => rest,
  (result) => ({ ...result, cacheScope: "everyone" }),
  ({ resultType: _, ...rest }) => rest,
  ({ _meta: _, ...rest }) => rest,
  (result) => ({ ...result, _meta: { [Meta.serverInfo]: "a string" } }),
  (result) => ({ ...result, _meta: null }),
  (result) => ({ ...result, unheardOf: { nested: [1] } })
]

const defect = element<(result: JsonRpc.JsonObject) => JsonRpc.JsonObject>((result) => result, ...softDefects)

/**
 * A DiscoverResult with up to three faults that a client forgives: it counts as if it had none.
 *
 * @category results
 * @since 0.1.0
 */
export const softDiscoverResult: Arbitrary.Arbitrary<JsonRpc.JsonObject> = Arbitrary.map(
  Arbitrary.all({ result: discoverResult, defects: Arbitrary.array(defect, { maxLength: 3 }) }),
  ({ defects, result }) => defects.reduce((found, spoil) => spoil(found), result)
)

/**
 * A result that is no DiscoverResult.
 *
 * @category results
 * @since 0.1.0
 */
export const noDiscoverResult: Arbitrary.Arbitrary<JsonRpc.JsonObject> = element<JsonRpc.JsonObject>(
  {},
  { ok: true },
  { tools: [] },
  { supportedVersions: ["2026-07-28"] },
  { capabilities: {} },
  { supportedVersions: "2026-07-28", capabilities: {} },
  Script.initialized("2025-11-25")
)

/**
 * An InitializeResult with a version that this library speaks in the handshake era, another one, or none at all.
 *
 * @category results
 * @since 0.1.0
 */
export const initializeResult: Arbitrary.Arbitrary<JsonRpc.JsonObject> = Arbitrary.map(
  oneOf<string>(element<string>(...Version.legacy), element<string>(...Version.legacy), version, unknownVersion),
  (chosen) => Script.initialized(chosen)
)

/**
 * A line that is no message: text, JSON that is none, or a message cut short.
 *
 * @category frames
 * @since 0.1.0
 */
export const brokenFrame: Arbitrary.Arbitrary<string> = oneOf(
  element(
    "Server ready on stdio",
    "{",
    "null",
    "42",
    '"text"',
    "[]",
    "{}",
    '{"jsonrpc":"1.0","id":987654321,"result":{}}',
    '{"jsonrpc":"2.0","id":987654321',
    '{"id":987654321,"result":{}}',
    '{"jsonrpc":"2.0","result":{}}',
    "[1,2",
    "\u001b[32minfo\u001b[0m listening"
  ),
  Arbitrary.map(Arbitrary.schema(Schema.String), (text) => `# ${text.replaceAll(/[\r\n]/g, " ")}`)
)

const keysOf = <T extends object>(table: T): ReadonlyArray<keyof T> =>
  Object.keys(table).filter((key): key is Extract<keyof T, string> => Object.hasOwn(table, key))

/** Deriving a generator takes a while, so each is made once, when it is needed. */
const derived = new Map<Schema.Constraint, Arbitrary.Arbitrary<unknown>>()

const derive = <S extends Schema.Constraint>(schema: S): Arbitrary.Arbitrary<S["Type"]> => {
  const known = derived.get(schema)
  if (known !== undefined) return known
  const made = Arbitrary.map(Arbitrary.schema(schema), travelled<S["Type"]>)
  derived.set(schema, made)
  return made
}

const requestId = Arbitrary.map(index(1_000), (at): JsonRpc.RequestId => (at % 3 === 0 ? `id-${at}` : at))

const sender: Revision.Sender = { client: { name: "arbitrary", version: "1.0.0" }, capabilities: {} }

const withParams = (params: JsonRpc.JsonObject | undefined) => (params === undefined ? {} : { params })

/**
 * A request as this library sends it in a version: any method but `initialize`, with parameters that the version can carry.
 *
 * @category messages
 * @since 0.1.0
 */
export const request = (of: Version.Version): Arbitrary.Arbitrary<JsonRpc.Request> => {
  const revision = Revision.of(of)
  const stamp = revision.stamp(sender)
  const methods = keysOf(Method.methods).filter((method) => method !== "initialize" && revision.supports(method))
  return Arbitrary.flatMap(element<Method.Method>("tools/list", ...methods), (method) =>
    Arbitrary.filterMap(
      Arbitrary.all({ id: requestId, params: derive(Method.methods[method].params) }),
      ({ id, params }) =>
        Result.map(revision.encode(method, params), (encoded): JsonRpc.Request => ({
          jsonrpc: "2.0",
          id,
          method,
          ...withParams(stamp(encoded.params))
        }))
    )
  )
}

/**
 * An answer of a server in a version: a final result of any method, or an error.
 *
 * @category messages
 * @since 0.1.0
 */
export const response = (of: Version.Version): Arbitrary.Arbitrary<JsonRpc.Response> => {
  const server = ServerSide.of(of)
  const revision = Revision.of(of)
  const methods = keysOf(Method.methods).filter((method) => revision.supports(method))
  const success = Arbitrary.flatMap(element<Method.Method>("tools/list", ...methods), (method) =>
    Arbitrary.filterMap(
      Arbitrary.all({ id: requestId, result: derive(Method.methods[method].result) }),
      ({ id, result }) =>
        Result.map(server.result(method, result), (encoded): JsonRpc.Response => ({
          jsonrpc: "2.0",
          id,
          result: encoded.result
        }))
    )
  )
  return oneOf<JsonRpc.Response>(success, success, failure)
}

/**
 * A JSON-RPC error: codes of every range, with and without data; sometimes without an id.
 *
 * @category messages
 * @since 0.1.0
 */
export const failure: Arbitrary.Arbitrary<JsonRpc.Failure> = Arbitrary.map(
  Arbitrary.all({
    id: oneOf<JsonRpc.RequestId | null>(requestId, requestId, element(null)),
    code: element(-32601, -32600, -32602, -32603, -32700, -32000, -32002, -32020, -32021, -32022, -32042, -32099, 0, 7),
    message: Arbitrary.schema(Schema.String),
    data: oneOf<Schema.Json | undefined>(element(undefined), json)
  }),
  ({ code, data, id, message }) => ({
    jsonrpc: "2.0",
    id,
    error: data === undefined ? { code, message } : { code, message, data }
  })
)

/**
 * A notification of a server in a version.
 *
 * @category messages
 * @since 0.1.0
 */
export const notification = (of: Version.Version): Arbitrary.Arbitrary<JsonRpc.Notification> => {
  const server = ServerSide.of(of)
  return Arbitrary.flatMap(
    element<Notification.ReceivedMethod>("notifications/tools/list_changed", ...keysOf(Notification.received)),
    (method) =>
      Arbitrary.filterMap(derive(Notification.received[method].params), (params) =>
        Result.map(server.tell(method, params), (encoded): JsonRpc.Notification => ({
          jsonrpc: "2.0",
          method,
          ...withParams(encoded.params)
        }))
      )
  )
}

/** The questions that a version has. */
const questionsOf = (of: Version.Version) =>
  element<Question.Method>(
    "roots/list",
    ...keysOf(Question.questions).filter((method) => {
      const { from = of, to = of }: Method.Span = Question.questions[method].span
      return from <= of && of <= to
    })
  )

/**
 * A question of a server in a version: a request of its own, where the version has those. In `inputRequests` of the modern
 * era it stands without `jsonrpc` and `id`.
 *
 * @category messages
 * @since 0.1.0
 */
export const question = (of: Version.Version): Arbitrary.Arbitrary<JsonRpc.Request> => {
  const server = ServerSide.of(of)
  return Arbitrary.flatMap(questionsOf(of), (method) =>
    Arbitrary.filterMap(
      Arbitrary.all({ id: requestId, params: derive(Question.questions[method].params) }),
      ({ id, params }) =>
        Result.map(server.ask(method, params), (encoded): JsonRpc.Request => ({
          jsonrpc: "2.0",
          id,
          method,
          ...withParams(encoded.params)
        }))
    )
  )
}

/**
 * The answer of a client to a question in a version.
 *
 * @category messages
 * @since 0.1.0
 */
export const answer = (of: Version.Version): Arbitrary.Arbitrary<JsonRpc.Success> => {
  const revision = Revision.of(of)
  return Arbitrary.flatMap(questionsOf(of), (method) =>
    Arbitrary.filterMap(
      Arbitrary.all({ id: requestId, given: derive(Question.questions[method].answer) }),
      ({ given, id }) =>
        Result.map(revision.answer(method, given), (encoded): JsonRpc.Success => ({
          jsonrpc: "2.0",
          id,
          result: encoded.result
        }))
    )
  )
}

/**
 * A notification of a client in a version.
 *
 * @category messages
 * @since 0.1.0
 */
export const told = (of: Version.Version): Arbitrary.Arbitrary<JsonRpc.Notification> => {
  const revision = Revision.of(of)
  return Arbitrary.flatMap(
    element<Notification.SentMethod>("notifications/cancelled", ...keysOf(Notification.sent)),
    (method) =>
      Arbitrary.filterMap(derive(Notification.sent[method].params), (params) =>
        Result.map(revision.tell(method, params), (encoded): JsonRpc.Notification => ({
          jsonrpc: "2.0",
          method,
          ...withParams(encoded.params)
        }))
      )
  )
}

/**
 * Any message that travels in a version, in either direction.
 *
 * @category messages
 * @since 0.1.0
 */
export const message = (of: Version.Version): Arbitrary.Arbitrary<JsonRpc.Message> =>
  oneOf<JsonRpc.Message>(
    request(of),
    response(of),
    notification(of),
    told(of),
    ...(Revision.of(of).habits.serverRequests ? [question(of), answer(of)] : [])
  )
