/** A language model that plays a script calls the tools of a host. */
import { assert, describe, it } from "@effect/vitest"
import * as AiToolkit from "@mcp-effect/host/AiToolkit"
import * as Host from "@mcp-effect/host/Host"
import * as ServerEntry from "@mcp-effect/host/ServerEntry"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Chat from "effect/ai/Chat"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const call = (name: string, params: unknown): Response.PartEncoded => ({ type: "tool-call", id: "call", name, params })
const say = (text: string): Response.PartEncoded => ({ type: "text", text })

/** A model that says these things, one turn after another, and remembers what it was given. */
const scripted = (...turns: ReadonlyArray<ReadonlyArray<Response.PartEncoded>>) =>
  Effect.gen(function* () {
    const given: Array<LanguageModel.ProviderOptions> = []
    const model = yield* LanguageModel.make({
      generateText: (options) => {
        given.push(options)
        return Effect.succeed([...(turns[given.length - 1] ?? [])])
      },
      streamText: () => Stream.die("the script does not stream")
    })
    return { given, model }
  })

const results = ({ prompt }: LanguageModel.ProviderOptions): ReadonlyArray<Prompt.ToolResultPart> =>
  prompt.content.flatMap((message) =>
    message.role === "tool" ? message.content.filter((part) => part.type === "tool-result") : []
  )

const names = ({ tools }: LanguageModel.ProviderOptions) => tools.map(({ name }) => name)

/** Adds a scripted server and waits until it is ready. */
const add = Effect.fnUntraced(function* (host: Host.Host["Service"], name: string, script: Script.Script) {
  const server = yield* ScriptedServer.make(script)
  yield* host.add(ServerEntry.stdio({ name, command: "scripted" }), server.pipe("stdio"))
  yield* host.ready(name)
  return server
})

/** What a model reads after it called `s__echo` on a server that answers like this. */
const afterCall = Effect.fnUntraced(function* (
  reaction: Script.Reaction | undefined,
  { ask = {}, params = { text: "x" } }: { readonly ask?: Host.Options; readonly params?: unknown } = {}
) {
  const host = yield* Host.make({ approval: "allow", ...ask })
  const server = yield* add(host, "s", Script.modern(reaction === undefined ? {} : { on: { "tools/call": reaction } }))
  const { given, model } = yield* scripted([call("s__echo", params)], [say("done")])
  const chat = yield* Chat.empty
  const toolkit = AiToolkit.make(host)
  yield* Effect.gen(function* () {
    yield* chat.generateText({ prompt: "go", toolkit })
    yield* chat.generateText({ prompt: [], toolkit })
  }).pipe(Effect.provideService(LanguageModel.LanguageModel, model))
  const [result] = results(given[1]!)
  return { result: result!, transcript: JSON.stringify(yield* server.transcript) }
})

const answer = (result: JsonObject) => [Script.answer({ resultType: "complete", ...result })]

describe("the catalogue as a toolkit", () => {
  it.live("U-65: a model sees names, descriptions and schemas; its call runs and it reads the result", () =>
    Effect.gen(function* () {
      const host = yield* Host.make({ approval: "allow" })
      yield* add(host, "a", Script.modern())
      yield* add(host, "b", Script.legacy())
      const { given, model } = yield* scripted([call("b__echo", { text: "hello" })], [say("it said hello")])
      const chat = yield* Chat.empty
      const toolkit = AiToolkit.make(host)
      const last = yield* Effect.gen(function* () {
        const first = yield* chat.generateText({ prompt: "say hello", toolkit })
        assert.lengthOf(first.toolResults, 1)
        return yield* chat.generateText({ prompt: [], toolkit })
      }).pipe(Effect.provideService(LanguageModel.LanguageModel, model))
      assert.strictEqual(last.text, "it said hello")
      assert.deepStrictEqual(names(given[0]!), ["a__echo", "b__echo"])
      const [echo] = given[0]!.tools
      assert.strictEqual(Tool.getDescription(echo!), "Says the text back")
      assert.deepInclude(Tool.getJsonSchema(echo!), { type: "object", required: ["text"] })
      const [result] = results(given[1]!)
      assert.deepInclude(result, { id: "call", name: "b__echo", isFailure: false })
      assert.deepInclude(result?.modelOutput?.[0], { type: "text", text: "hello" })
    }).pipe(Effect.scoped)
  )

  it.live("U-65: a catalogue that changed is seen at the next turn", () =>
    Effect.gen(function* () {
      const host = yield* Host.make({ approval: "allow" })
      yield* add(host, "a", Script.modern())
      const { given, model } = yield* scripted([say("1")], [say("2")], [say("3")])
      const turn = LanguageModel.generateText({
        prompt: "go",
        toolkit: AiToolkit.make(host, { only: ({ tool }) => tool.name === "echo" })
      }).pipe(Effect.provideService(LanguageModel.LanguageModel, model))
      yield* turn
      yield* add(host, "b", Script.legacy({ tools: [{ name: "other", inputSchema: { type: "object" } }] }))
      yield* add(host, "c", Script.legacy())
      yield* turn
      yield* host.remove("a")
      yield* turn
      assert.deepStrictEqual(given.map(names), [["a__echo"], ["a__echo", "c__echo"], ["c__echo"]])
    }).pipe(Effect.scoped)
  )

  it.live("U-57, U-65: a refused call gives the model nothing, or the denied message; nothing is sent", () =>
    Effect.gen(function* () {
      const no = { approval: "ask", handlers: { approve: () => Effect.succeed(false) } } as const
      const nothing = yield* afterCall(undefined, { ask: no })
      assert.deepInclude(nothing.result, { isFailure: true, result: "" })
      assert.notInclude(nothing.transcript, "tools/call")
      const told = yield* afterCall(undefined, { ask: { ...no, deniedMessage: "The user said no." } })
      assert.deepInclude(told.result, { isFailure: true, result: "The user said no." })
      assert.notInclude(told.transcript, "tools/call")
    }).pipe(Effect.scoped)
  )

  it.live("U-65: a tool that fails, a server that errs and wrong arguments are failures the model reads", () =>
    Effect.gen(function* () {
      const failed = yield* afterCall(answer({ isError: true, content: [{ type: "text", text: "disk full" }] }))
      assert.deepInclude(failed.result, { isFailure: true, result: "disk full" })
      const broken = yield* afterCall([Script.fail(-32603, { message: "broken" })])
      assert.isTrue(broken.result.isFailure)
      assert.include(String(broken.result.result), "broken")
      const text = yield* afterCall(undefined, { params: "text" })
      assert.deepInclude(text.result, { isFailure: true, result: "the arguments of a tool must be a JSON object" })
      assert.notInclude(text.transcript, "tools/call")
    }).pipe(Effect.scoped)
  )

  it.live("U-65: images and sound arrive as files, links as words, structured content where there is no other", () =>
    Effect.gen(function* () {
      const rich = yield* afterCall(
        answer({
          content: [
            { type: "image", data: "AQID", mimeType: "image/png" },
            { type: "audio", data: "AQID", mimeType: "audio/wav" },
            { type: "resource_link", uri: "file:///a", name: "a", title: "The file" },
            { type: "resource", resource: { uri: "file:///b", text: "inside" } },
            { type: "resource", resource: { uri: "file:///c", blob: "AQID", mimeType: "application/zip" } }
          ]
        })
      )
      assert.deepStrictEqual(
        rich.result.modelOutput?.map((part) => (part.type === "text" ? part.text : [part.mediaType, part.data])),
        [["image/png", "AQID"], ["audio/wav", "AQID"], "The file: file:///a", "inside", ["application/zip", "AQID"]]
      )
      const structured = yield* afterCall(answer({ content: [], structuredContent: { sum: 5 } }))
      assert.deepInclude(structured.result.modelOutput?.[0], { type: "text", text: '{"sum":5}' })
    }).pipe(Effect.scoped)
  )

  it.live("U-65: calls that need approval come back as requests of effect/ai and do not run", () =>
    Effect.gen(function* () {
      const host = yield* Host.make({ approval: "allow" })
      const server = yield* add(host, "s", Script.modern())
      const { model } = yield* scripted([call("s__echo", { text: "x" })])
      const { content } = yield* LanguageModel.generateText({
        prompt: "go",
        toolkit: AiToolkit.make(host, { needsApproval: ({ server }) => server === "s" })
      }).pipe(Effect.provideService(LanguageModel.LanguageModel, model))
      assert.isTrue(content.some(({ type }) => type === "tool-approval-request"))
      assert.notInclude(JSON.stringify(yield* server.transcript), "tools/call")
    }).pipe(Effect.scoped)
  )

  it.live("a host without tools gives an empty toolkit; a name of the prototype calls nothing", () =>
    Effect.gen(function* () {
      const host = yield* Host.make()
      assert.deepStrictEqual(Object.keys((yield* AiToolkit.make(host)).tools), [])
      yield* add(host, "s", Script.modern())
      const toolkit = yield* AiToolkit.make(host)
      assert.strictEqual((yield* Effect.flip(toolkit.handle("toString", {}))).reason._tag, "ToolNotFoundError")
    }).pipe(Effect.scoped)
  )
})
