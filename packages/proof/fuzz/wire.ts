/** What comes over the wire: lines, event streams, envelopes, and the messages of every revision. */
import * as Challenge from "../../client/src/internal/authorization/challenge.ts"
import * as EventStream from "../../transport/src/internal/eventStream.ts"
import * as Lines from "../../transport/src/internal/lines.ts"
import * as Header from "@mcp-effect/protocol/Header"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Method from "@mcp-effect/protocol/Method"
import * as Notification from "@mcp-effect/protocol/Notification"
import * as ParameterHeader from "@mcp-effect/protocol/ParameterHeader"
import * as Question from "@mcp-effect/protocol/Question"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as ServerSide from "@mcp-effect/protocol/ServerSide"
import * as Version from "@mcp-effect/protocol/Version"
import * as Arbitraries from "@mcp-effect/testing/Arbitraries"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Result from "effect/Result"
import { chunked, cut, damaged, number } from "./Damage.ts"
import { type Target, target } from "./Target.ts"

const messages = damaged(
  '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}],"isError":false}}',
  '{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"no","data":{"supported":["2025-11-25"]}}}',
  '[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}]',
  '{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"who?","requestedSchema":{}}}'
)

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

const linesOf = (chunks: ReadonlyArray<Uint8Array>) => {
  const heard: Array<string> = []
  const feed = Lines.make({
    limit: 4_096,
    line: (text) => void heard.push(text),
    tooLong: () => void heard.push("too long")
  })
  chunks.forEach(feed)
  return heard
}

/** Bytes that are no text, too: cut characters, marks of byte order, ends of lines. */
const anyBytes = Arbitrary.all({
  bytes: Arbitrary.array(
    Arbitraries.element(10, 13, 0x7b, 0x22, 0xef, 0xbb, 0xbf, 0xf0, 0x9f, 0x98, 0x80, 0xc3, 0xa4, 0xed, 0xa0, 0xff, 0),
    { maxLength: 24 }
  ),
  place: number(24)
})

const request = HttpClientRequest.post("http://fuzz.test/")

const eventsOf = (chunks: ReadonlyArray<Uint8Array>) =>
  Effect.suspend(() => {
    const heard: Array<unknown> = []
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const chunk of chunks) controller.enqueue(chunk)
        controller.close()
      }
    })
    return EventStream.run(HttpClientResponse.fromWeb(request, new Response(body)), {
      limit: 4_096,
      event: (event) => heard.push(event) > 0,
      retry: (millis) => void heard.push(millis)
    }).pipe(Effect.match({ onFailure: ({ _tag }) => void heard.push(_tag), onSuccess: () => {} }), Effect.as(heard))
  })

const keysOf = <T extends object>(table: T): ReadonlyArray<Extract<keyof T, string>> =>
  Object.keys(table).filter((key): key is Extract<keyof T, string> => Object.hasOwn(table, key))

/** Results that look almost right: generated ones with one member spoiled. */
const results = Arbitrary.map(
  Arbitrary.all({
    any: Arbitraries.jsonObject,
    answer: Arbitrary.flatMap(Arbitraries.version, Arbitraries.response),
    key: Arbitraries.element("", "content", "tools", "_meta", "resultType", "ttlMs", "capabilities", "inputRequests"),
    value: Arbitraries.json,
    which: number(3)
  }),
  ({ any, answer, key, value, which }): JsonRpc.JsonObject => {
    if (which === 0) return any
    const result: JsonRpc.JsonObject = JsonRpc.isSuccess(answer) ? answer.result : any
    return which === 1 || key === "" ? result : { ...result, [key]: value }
  }
)

/** Whether reading failed with words, or did not. */
const told = (read: Result.Result<unknown, { readonly message: string }>): boolean =>
  Result.isSuccess(read) || read.failure.message !== ""

const versions = [...Version.modern, ...Version.legacy]

const decodesAll = (result: JsonRpc.JsonObject): boolean =>
  versions.every((version) => {
    const revision = Revision.of(version)
    const server = ServerSide.of(version)
    return (
      keysOf(Method.methods).every(
        (method) => told(revision.decode(method, result, ["task"])) && told(server.request(method, result))
      ) && keysOf(Question.questions).every((method) => told(server.answer(method, result)))
    )
  })

const methods = Arbitraries.element(
  "odd",
  "constructor",
  ...keysOf(Notification.received),
  ...keysOf(Notification.sent),
  ...keysOf(Question.questions)
)

/** Parameters that look almost right: those of a generated message with one member spoiled. */
const params = Arbitrary.map(
  Arbitrary.all({
    any: Arbitraries.jsonObject,
    message: Arbitrary.flatMap(Arbitraries.version, Arbitraries.message),
    key: Arbitraries.element(
      "",
      "mode",
      "requestedSchema",
      "messages",
      "content",
      "_meta",
      "level",
      "progressToken",
      "uri"
    ),
    value: Arbitraries.json
  }),
  ({ any, key, message, value }): JsonRpc.JsonObject => {
    const found = "params" in message ? (message.params ?? any) : any
    return key === "" ? found : { ...found, [key]: value }
  }
)

/** Schemas of tools whose arguments travel in headers, and arguments for them. */
const mirrored = Arbitrary.all({
  name: damaged("Region", "x-y", "a b"),
  type: Arbitraries.element<unknown>("string", "integer", "boolean", "object", ["string"], null),
  nested: Arbitraries.element(false, true),
  value: Arbitraries.json
})

/** What of the wire is fed with damage. */
export const targets: ReadonlyArray<Target> = [
  target("JSON-RPC", messages, (text) => JsonRpc.parse(text).every(told)),
  target("batches", messages, (text) =>
    [text, `[${text}]`, `[${text},${text}]`].every((all) => JsonRpc.parse(all, { batches: true }).every(told))
  ),
  target("lines", chunked(messages), ({ places, text }) => same(linesOf(cut(text, places)), linesOf(cut(text, [])))),
  target("lines of Node's bytes", anyBytes, ({ bytes, place }) => {
    const [of, at] = [Uint8Array.from(bytes), place % (bytes.length + 1)]
    const cutUp = [Buffer.from(of.subarray(0, at)), Buffer.from(of.subarray(at))]
    return same(linesOf(cutUp), linesOf([of])) && same(linesOf([Buffer.from(of)]), linesOf([of]))
  }),
  target(
    "event streams",
    chunked(damaged('id: 1\nevent: message\ndata: {"jsonrpc":"2.0"}\n\n: ping\n\nretry: 500\ndata: a\ndata: b\n\n')),
    ({ places, text }) => Effect.zipWith(eventsOf(cut(text, places)), eventsOf(cut(text, [])), same),
    0.5
  ),
  target("results, requests and answers of every method and revision", results, decodesAll, 0.1),
  target("notifications and questions", Arbitrary.all([params, methods]), ([given, method]) =>
    versions.every((version) => {
      const revision = Revision.of(version)
      const read = [
        revision.hear(method, given),
        revision.question(method, given),
        ServerSide.of(version).hear(method, given)
      ]
      return read.every(told)
    })
  ),
  target("headers", damaged("=?base64?aGVsbG8=?=", "plain", "=?base64?8J+YgA==?="), (text) => {
    const read = Header.decode(text)
    return (
      (read === undefined || typeof read === "string") &&
      (!Header.isEncodable(text) || Header.decode(Header.encode(text)) === text)
    )
  }),
  target("arguments in headers", mirrored, ({ name, nested, type, value }) => {
    const property = { type, [ParameterHeader.keyword]: name }
    const inputSchema = {
      type: "object",
      properties: nested ? { in: { type: "object", properties: { a: property } } } : { a: property }
    }
    const declared = ParameterHeader.declared(inputSchema)
    if (Result.isFailure(declared)) return declared.failure.because !== ""
    const written = ParameterHeader.write(declared.success, nested ? { in: { a: value } } : { a: value })
    return Result.isFailure(written) || written.success.every(([header]) => /^[\x21-\x7e]+$/.test(header))
  }),
  target(
    "WWW-Authenticate",
    damaged(
      'Bearer realm="a, b", scope="x y", resource_metadata="https://example.com/.well-known/x"',
      'DPoP algs="ES256", Basic realm="\\"", Bearer error=insufficient_scope'
    ),
    (text) => Challenge.parse(text).every(({ scheme }) => scheme !== "")
  )
]
