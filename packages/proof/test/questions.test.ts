/**
 * Questions of real servers, in both eras: forms, addresses, models and folders, answered by handlers or driven by hand.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Continuation } from "@mcp-effect/client/Continuation"
import * as FormAnswer from "@mcp-effect/client/FormAnswer"
import type { Handlers } from "@mcp-effect/client/Handlers"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as OpenUrl from "@mcp-effect/client/OpenUrl"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import type * as Sampling from "@mcp-effect/protocol/Sampling"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { pathToFileURL } from "node:url"
import * as Servers from "../servers/Servers.ts"
import { patience } from "./fixtures/patience.ts"

const Platform = Layer.mergeAll(NodeServices.layer, NodeHttp.layer, EraMemory.layerInProcess, patience)

/** Long enough for several processes on a busy machine; what is waited for has limits of its own. */
const patient = 30_000

const connectTo = (server: Servers.RunningServer, handlers: Handlers) =>
  McpClient.connect(server.kind === "stdio" ? [server.target.command, ...server.target.args] : server.target.url, {
    handlers
  })

const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : "")).join("\n")

const answering = (answer: Elicitation.Result, seen: Array<Elicitation.FormParams> = []): Handlers => ({
  elicitation: {
    form: (question) => {
      seen.push(question)
      return Effect.succeed(answer)
    }
  }
})

type Start = (typeof Servers.all)[number]

const askers: ReadonlyArray<readonly [name: string, era: "modern" | "legacy", start: Start]> = [
  ["official-http", "modern", Servers.officialHttp],
  ["official-stdio", "modern", Servers.officialStdio],
  ["sdk-http", "legacy", Servers.sdkHttp],
  ["sdk-stdio", "legacy", Servers.sdkStdio]
]

const question = { question: "What is your name?" }

describe("a form", () => {
  it.live.each(askers)(
    "U-27, U-31, U-60: of %s (%s) is answered by one handler, and the tool goes on with it",
    ([, era, start]) =>
      Effect.gen(function* () {
        const seen: Array<Elicitation.FormParams> = []
        const client = yield* connectTo(yield* start, answering({ action: "accept", content: { answer: "Ada" } }, seen))
        assert.strictEqual(client.agreement.era, era)
        assert.strictEqual(textOf(yield* client.callTool("ask", question)), "you said Ada")
        assert.lengthOf(seen, 1)
        assert.strictEqual(seen[0]?.message, question.question)
        assert.deepInclude(FormAnswer.fields(seen[0]!)[0], { _tag: "Text", name: "answer", required: true })
      }).pipe(Effect.provide(Platform)),
    patient
  )

  it.live.each(askers)(
    "T-CB-6: that the user declines is an answer too: %s (%s) hears it and the tool ends well",
    ([, , start]) =>
      Effect.gen(function* () {
        const client = yield* connectTo(yield* start, answering({ action: "decline" }))
        const result = yield* client.callTool("ask", question)
        assert.strictEqual(textOf(result), "no answer")
        assert.notStrictEqual(result.isError, true)
      }).pipe(Effect.provide(Platform)),
    patient
  )

  it.live.each(askers)(
    "M-ELI-9: answered with what does not fit is not sent to %s (%s)",
    ([, era, start]) =>
      Effect.gen(function* () {
        const client = yield* connectTo(yield* start, answering({ action: "accept", content: { answer: 5 } }))
        const called = yield* Effect.result(client.callTool("ask", question))
        const because = "the answer does not fit the form: answer is not a text"
        if (era === "modern") {
          const error = yield* Effect.flip(Effect.fromResult(called))
          assert.strictEqual(error.reason._tag, "InputRequired")
          assert.include(error.message, because)
        } else {
          const result = Result.getOrThrow(called)
          assert.isTrue(result.isError)
          assert.include(textOf(result), because)
        }
      }).pipe(Effect.provide(Platform)),
    patient
  )

  it.live.each(askers)(
    "U-58, T-CB-3: is not shown when only addresses are declared to %s (%s)",
    ([, , start]) =>
      Effect.gen(function* () {
        let handled = 0
        const client = yield* connectTo(yield* start, {
          elicitation: {
            url: () => Effect.sync(() => ({ action: "accept" as const, handled: handled++ }))
          }
        })
        const called = yield* Effect.result(client.callTool("ask", question))
        assert.isTrue(Result.isFailure(called) || called.success.isError === true)
        assert.strictEqual(handled, 0)
        // The connection has not suffered.
        assert.strictEqual(textOf(yield* client.callTool("echo", { text: "still here" })), "still here")
      }).pipe(Effect.provide(Platform)),
    patient
  )

  it.live(
    "M-ELI-7, M-ELI-8: of every kind of field, with its defaults, satisfies the reference server",
    () =>
      Effect.gen(function* () {
        let kinds: ReadonlyArray<string> = []
        const client = yield* connectTo(yield* Servers.everythingStdio, {
          elicitation: {
            form: (asked) =>
              Effect.sync(() => {
                kinds = FormAnswer.fields(asked).map(({ _tag }) => _tag)
                const typed = { name: "Ada Lovelace", email: "ada@example.com", birthdate: "1815-12-10" }
                const content = Result.getOrThrow(FormAnswer.check(asked, { ...FormAnswer.defaults(asked), ...typed }))
                return { action: "accept" as const, content }
              })
          }
        })
        const said = textOf(yield* client.callTool("trigger-elicitation-request"))
        assert.includeMembers(kinds.slice(), ["Text", "YesNo", "Number", "One", "Many"])
        for (const part of [
          "Ada Lovelace",
          "ada@example.com",
          "1815-12-10",
          "It was a dark and stormy night.",
          "hero-1",
          "fish-1"
        ]) {
          assert.include(said, part)
        }
      }).pipe(Effect.provide(Platform)),
    patient
  )
})

describe("an address", () => {
  it.live(
    "U-58, T-SEC-10: is shown to the user and then opened; one that may not be opened is refused",
    () =>
      Effect.gen(function* () {
        const opened: Array<string> = []
        const shown: Array<string> = []
        const client = yield* connectTo(yield* Servers.everythingStdio, {
          elicitation: {
            url: OpenUrl.handler({
              ask: (address) => Effect.sync(() => (shown.push(address.shown), "accept" as const)),
              open: (url) => Effect.sync(() => void opened.push(url.href))
            })
          }
        })
        const said = textOf(
          yield* client.callTool("trigger-url-elicitation", { url: "https://example.com/sign-in?x=1" })
        )
        assert.deepStrictEqual(shown, ["https://example.com/sign-in?x=1"])
        assert.deepStrictEqual(opened, shown)
        assert.include(said, "accept")
        const refused = yield* Effect.result(
          client.callTool("trigger-url-elicitation", { url: "https://a.test@evil.test/" })
        )
        assert.isTrue(Result.isFailure(refused) || refused.success.isError === true)
        assert.lengthOf(shown, 1)
      }).pipe(Effect.provide(Platform)),
    patient
  )
})

describe("a model", () => {
  it.live(
    "U-31: is asked on the server's behalf, and what it said reaches the tool",
    () =>
      Effect.gen(function* () {
        const asked: Array<Sampling.Params> = []
        const client = yield* connectTo(yield* Servers.everythingStdio, {
          sampling: (params) => {
            asked.push(params)
            return Effect.succeed({
              role: "assistant",
              model: "small-1",
              content: { type: "text", text: "Four." },
              stopReason: "endTurn"
            })
          },
          samplingTools: true
        })
        const said = textOf(
          yield* client.callTool("trigger-sampling-request", { prompt: "What is 2 + 2?", maxTokens: 7 })
        )
        assert.include(said, "Four.")
        assert.include(said, "small-1")
        assert.deepInclude(asked[0], { maxTokens: 7, systemPrompt: "You are a helpful test server." })
        assert.include(JSON.stringify(asked[0]?.messages), "What is 2 + 2?")
      }).pipe(Effect.provide(Platform)),
    patient
  )

  it.live(
    "T-CB-1: that is not declared is not offered: the tool that needs it is not listed",
    () =>
      Effect.gen(function* () {
        const client = yield* connectTo(yield* Servers.everythingStdio, {})
        const names = (yield* client.listTools()).map(({ name }) => name)
        assert.notInclude(names, "trigger-sampling-request")
        assert.notInclude(names, "trigger-elicitation-request")
      }).pipe(Effect.provide(Platform)),
    patient
  )
})

describe("folders", () => {
  it.live(
    "U-31: named by the client take the place of those the filesystem server was started with",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "mcp-roots-" }))
        yield* fs.writeFileString(`${folder}/mine.txt`, "mine\n")
        let asked = 0
        const client = yield* connectTo(yield* Servers.filesystemStdio, {
          roots: Effect.sync(() => {
            asked++
            return [{ uri: pathToFileURL(folder).href, name: "mine" }]
          })
        })
        // The server asks once it is initialized, beside what the client asks.
        const allowed = yield* client
          .callTool("list_allowed_directories")
          .pipe(Effect.map(textOf), Effect.repeat({ until: (text) => text.includes(folder) }))
        assert.include(allowed, folder)
        assert.isAtLeast(asked, 1)
        assert.include(textOf(yield* client.callTool("read_text_file", { path: `${folder}/mine.txt` })), "mine")
      }).pipe(Effect.provide(Platform)),
    patient
  )
})

const Stored = Schema.fromJsonString(Continuation)

describe("rounds driven by hand", () => {
  const modern = askers.filter(([, era]) => era === "modern")

  it.live.each(modern)(
    "U-27: with %s a call pauses with its questions and goes on with the answers",
    ([, , start]) =>
      Effect.gen(function* () {
        const server = yield* start
        const client = yield* connectTo(server, answering({ action: "cancel" }))
        const begun = yield* client.begin("ask", question)
        assert.strictEqual(begun._tag, "Paused")
        if (begun._tag !== "Paused") return
        const { continuation } = begun
        assert.deepStrictEqual(Object.keys(continuation.questions), ["reply"])
        const without = yield* Effect.flip(client.resume(continuation))
        assert.include(without.message, "there is no answer to reply")
        const resumed = yield* client.resume(continuation, { reply: { action: "accept", content: { answer: "Bob" } } })
        assert.strictEqual(resumed._tag === "Done" ? textOf(resumed.result) : resumed._tag, "you said Bob")
      }).pipe(Effect.provide(Platform)),
    patient
  )

  it.live(
    "U-27: a call that was paused, written down and read again goes on in another client",
    () =>
      Effect.gen(function* () {
        const server = yield* Servers.officialHttp
        const text = yield* Effect.scoped(
          Effect.gen(function* () {
            const client = yield* connectTo(server, answering({ action: "cancel" }))
            const begun = yield* client.begin("ask", question)
            assert.strictEqual(begun._tag, "Paused")
            return begun._tag === "Paused" ? yield* Schema.encodeEffect(Stored)(begun.continuation) : ""
          })
        )
        assert.include(text, '"requestState"')
        const continuation = yield* Schema.decodeUnknownEffect(Stored)(text)
        const another = yield* connectTo(server, answering({ action: "cancel" }))
        const resumed = yield* another.resume(continuation, { reply: { action: "accept", content: { answer: "Eve" } } })
        assert.strictEqual(resumed._tag === "Done" ? textOf(resumed.result) : resumed._tag, "you said Eve")
      }).pipe(Effect.provide(Platform)),
    patient
  )

  it.live(
    "U-27: a legacy server asks while the call runs, so begin answers with the handlers and is done",
    () =>
      Effect.gen(function* () {
        const client = yield* connectTo(
          yield* Servers.sdkHttp,
          answering({ action: "accept", content: { answer: "Ann" } })
        )
        const begun = yield* client.begin("ask", question)
        assert.strictEqual(begun._tag === "Done" ? textOf(begun.result) : begun._tag, "you said Ann")
      }).pipe(Effect.provide(Platform)),
    patient
  )
})

describe("outputs of real servers", () => {
  const rows: ReadonlyArray<readonly [name: string, start: Start]> = [
    ["official-http", Servers.officialHttp],
    ["sdk-stdio", Servers.sdkStdio],
    ["effect-http", Servers.effectHttp]
  ]

  it.live.each(rows)(
    "M-TOOL-21: %s keeps to the schema it lists",
    ([, start]) =>
      Effect.gen(function* () {
        const client = yield* connectTo(yield* start, {})
        const tool = (yield* client.listTools()).find(({ name }) => name === "add")
        assert.isDefined(tool?.outputSchema)
        assert.deepStrictEqual((yield* client.callTool("add", { a: 1, b: 2 })).structuredContent, { sum: 3 })
      }).pipe(Effect.provide(Platform)),
    patient
  )

  it.live(
    "M-TOOL-21: the reference server keeps to the schema it lists",
    () =>
      Effect.gen(function* () {
        const client = yield* connectTo(yield* Servers.everythingStdio, {})
        yield* client.listTools()
        const result = yield* client.callTool("get-structured-content", { location: "New York" })
        assert.containsAllKeys(result.structuredContent, ["temperature", "conditions", "humidity"])
      }).pipe(Effect.provide(Platform)),
    patient
  )
})
