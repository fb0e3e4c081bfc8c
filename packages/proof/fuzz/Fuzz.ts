/**
 * Fuzzing: every parser gets damaged texts, and the client random servers. A parser may refuse; it may not throw, and how
 * bytes are cut may not matter. What a server does may fail a call in a typed way; it may not end in a defect, and it ends.
 *
 * The same seed gives the same inputs. A failure is shrunk to the smallest input that shows it.
 */
import * as Challenge from "../../client/src/internal/authorization/challenge.ts"
import * as EventStream from "../../transport/src/internal/eventStream.ts"
import * as Lines from "../../transport/src/internal/lines.ts"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as Configuration from "@mcp-effect/host/Configuration"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Header from "@mcp-effect/protocol/Header"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Method from "@mcp-effect/protocol/Method"
import * as Notification from "@mcp-effect/protocol/Notification"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as Version from "@mcp-effect/protocol/Version"
import * as Arbitraries from "@mcp-effect/testing/Arbitraries"
import * as ScriptArbitraries from "@mcp-effect/testing/ScriptArbitraries"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** A target: what it is fed, and what must hold. Runs once with a seed; the text of a failure, if there is one. */
export interface Target {
  readonly name: string
  readonly run: (seed: string, runs: number) => Effect.Effect<string | undefined>
}

/** A target of one property, which runs on a share of the runs. */
export const target = <A>(
  name: string,
  inputs: Arbitrary.Arbitrary<A>,
  property: (input: A) => boolean | Effect.Effect<boolean>,
  share = 1
): Target => ({
  name,
  run: (seed, runs) =>
    Effect.map(
      Arbitrary.checkEffect(
        inputs,
        (input) => {
          const held = property(input)
          return typeof held === "boolean" ? Effect.succeed(held) : held
        },
        { runs: Math.ceil(runs * share), seed }
      ),
      (result) => (result._tag === "Passed" ? undefined : Arbitrary.formatCheckFailure(result))
    )
})

const number = (below: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: below - 1 })))

/** What texts are damaged with. */
const tokens = Arbitraries.element(
  "",
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "=",
  "null",
  "-0",
  "1e999",
  "\\u0000",
  "\\ud800",
  "\ud800",
  "\u0000",
  "\r",
  "\n",
  "\r\n\r\n",
  "\u2028",
  "\ufeff",
  "読😀",
  '"__proto__":{},',
  "//",
  "/*",
  "${input:x}",
  "=?base64?",
  "?=",
  "data: ",
  "id: \u0000",
  "retry: 1e9",
  "[".repeat(2_000),
  "9".repeat(400)
)

const damage = Arbitrary.all({ at: number(1_000), drop: Arbitraries.element(0, 1, 2, 7, 100), put: tokens })

/** One of these texts with up to six damages. */
const damaged = (first: string, ...rest: ReadonlyArray<string>): Arbitrary.Arbitrary<string> =>
  Arbitrary.map(
    Arbitrary.all([Arbitraries.element(first, ...rest), Arbitrary.array(damage, { maxLength: 6 })]),
    ([text, damages]) =>
      damages.reduce((so, { at, drop, put }) => {
        const place = Math.floor((at / 1_000) * (so.length + 1))
        return so.slice(0, place) + put + so.slice(place + drop)
      }, text)
  )

const messages = damaged(
  '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}],"isError":false}}',
  '{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"no","data":{"supported":["2025-11-25"]}}}',
  '[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}]',
  '{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"who?","requestedSchema":{}}}'
)

/** A text in bytes, cut at these places. */
const cut = (text: string, places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** The same, or one was refused for its size and had heard the same until then: what is too large may be noticed early. */
const sameUntilTooLarge = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>): boolean => {
  const refused = (heard: ReadonlyArray<unknown>) => heard.at(-1) === "TooLarge"
  const begins = (whole: ReadonlyArray<unknown>, heard: ReadonlyArray<unknown>) =>
    same(whole.slice(0, heard.length - 1), heard.slice(0, -1))
  return same(one, other) || (refused(one) && begins(other, one)) || (refused(other) && begins(one, other))
}

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

const chunked = (texts: Arbitrary.Arbitrary<string>) =>
  Arbitrary.all({ text: texts, places: Arbitrary.array(number(5_000), { maxLength: 8 }) })

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

const decodesAll = (result: JsonRpc.JsonObject): boolean => {
  for (const version of [...Version.modern, ...Version.legacy]) {
    const revision = Revision.of(version)
    for (const method of keysOf(Method.methods)) {
      const read = revision.decode(method, result, ["task"])
      if (Result.isFailure(read) && read.failure.message === "") return false
    }
    for (const method of ["elicitation/create", "sampling/createMessage", "roots/list", "odd"]) {
      revision.question(method, result)
    }
  }
  return true
}

const configuration = damaged(
  '{"mcpServers":{"files":{"command":"server-filesystem","args":["~/work"],"env":{"TOKEN":"${TOKEN}"}}}}',
  '{"servers":{"web":{"type":"http","url":"https://example.com/mcp","headers":{"x":"${input:x}"}}},"inputs":[{"id":"x","type":"promptString"}]}',
  '[{"name":"one","command":["a","b"]}] // comment'
)

/** Whether an effect ends with a value or a typed error. */
const endsTyped = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<boolean, never, R> =>
  Effect.map(
    Effect.exit(effect),
    (exit) => Exit.isSuccess(exit) || exit.cause.reasons.every((reason) => reason._tag === "Fail")
  )

const client = (carrier: "pipe" | "http") =>
  target(
    `client, ${carrier}`,
    ScriptArbitraries.script({ carrier }),
    (script) =>
      Effect.gen(function* () {
        const server = yield* ScriptedServer.make(script)
        const connected = yield* McpClient.connect(carrier === "pipe" ? server.pipe("stdio") : server.http)
        yield* connected.listTools()
        yield* connected.callTool("echo", { text: "hello" })
      }).pipe(
        Effect.scoped,
        endsTyped,
        Effect.timeoutOption("1 hour"),
        Effect.map((held) => held._tag === "Some" && held.value),
        ScriptedServer.unhurried,
        Effect.provide([EraMemory.layerNone, Logger.layer([])])
      ),
    0.05
  )

/** Every target. */
export const targets: ReadonlyArray<Target> = [
  target("JSON-RPC", messages, (text) =>
    JsonRpc.parse(text).every((read) => Result.isSuccess(read) || read.failure.message !== "")
  ),
  target("lines", chunked(messages), ({ places, text }) => same(linesOf(cut(text, places)), linesOf(cut(text, [])))),
  target(
    "event streams",
    chunked(damaged('id: 1\nevent: message\ndata: {"jsonrpc":"2.0"}\n\n: ping\n\nretry: 500\ndata: a\ndata: b\n\n')),
    ({ places, text }) => Effect.zipWith(eventsOf(cut(text, places)), eventsOf(cut(text, [])), sameUntilTooLarge),
    0.5
  ),
  target("results of every method and revision", results, decodesAll, 0.1),
  target(
    "notifications",
    Arbitrary.all([Arbitraries.jsonObject, Arbitraries.element("odd", ...keysOf(Notification.received))]),
    ([params, method]) =>
      [...Version.modern, ...Version.legacy].every((version) => {
        const read = Revision.of(version).hear(method, params)
        return Result.isSuccess(read) || read.failure.message !== ""
      })
  ),
  target("headers", damaged("=?base64?aGVsbG8=?=", "plain", "=?base64?8J+YgA==?="), (text) => {
    const read = Header.decode(text)
    return (
      (read === undefined || typeof read === "string") &&
      (!Header.isEncodable(text) || Header.decode(Header.encode(text)) === text)
    )
  }),
  target(
    "WWW-Authenticate",
    damaged(
      'Bearer realm="a, b", scope="x y", resource_metadata="https://example.com/.well-known/x"',
      'DPoP algs="ES256", Basic realm="\\"", Bearer error=insufficient_scope'
    ),
    (text) => Challenge.parse(text).every(({ scheme }) => scheme !== "")
  ),
  target("configurations", configuration, (text) => endsTyped(Configuration.parse(text)), 0.5),
  client("pipe"),
  client("http")
]

/** What one round found, by target. */
export const round = Effect.fnUntraced(function* (seed: string, runs: number) {
  const found: Array<string> = []
  for (const { name, run } of targets) {
    const exit = yield* Effect.exit(run(seed, runs))
    const failure = Exit.isSuccess(exit) ? exit.value : Cause.pretty(exit.cause)
    if (failure !== undefined) found.push(`${name}, seed ${seed}, ${runs} runs:\n${failure}`)
  }
  return found
})
