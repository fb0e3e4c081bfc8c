/** A language model calls tools of three real servers. It plays a script, so the program needs no network and no key. */
import { AiToolkit, Host, ServerEntry } from "@mcp-effect/host"
import { NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, Path, Stream } from "effect"
import { Chat, LanguageModel, type Prompt, type Response } from "effect/ai"

/** What the model wants, one turn after another; each turn can look at what the tools said before. */
type Turn = (results: ReadonlyArray<Prompt.ToolResultPart>) => Array<Response.PartEncoded>

const scripted = (turns: ReadonlyArray<Turn>) => {
  let turn = 0
  return Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      generateText: ({ prompt }) =>
        Effect.sync(() => {
          const results = prompt.content
            .flatMap((message) => (message.role === "tool" ? message.content : []))
            .filter((part) => part.type === "tool-result")
          return turns[turn++]?.(results) ?? []
        }),
      streamText: () => Stream.empty
    })
  )
}

const call = (name: string, params: unknown): Response.PartEncoded => ({ type: "tool-call", id: name, name, params })

const said = (result: Prompt.ToolResultPart | undefined) =>
  (result?.modelOutput ?? []).map((part) => (part.type === "text" ? part.text.trim() : part.mediaType)).join(" ")

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  const note = path.join(folder, "note.txt")
  yield* fs.writeFileString(note, "two and three\n")

  const host = yield* Host.make({ approval: "allow" })
  const npx = (name: string, server: string, ...args: ReadonlyArray<string>) =>
    ServerEntry.stdio({
      name,
      command: "npx",
      args: ["-y", `@modelcontextprotocol/server-${server}`, ...args],
      env: { MEMORY_FILE_PATH: path.join(folder, "memory.json") }
    })
  yield* host.load([npx("files", "filesystem", folder), npx("memory", "memory"), npx("sums", "everything")])
  yield* Effect.forEach(["files", "memory", "sums"], host.ready, { concurrency: "unbounded" })

  const Model = scripted([
    () => [call("files__read_text_file", { path: note })],
    () => [call("sums__get-sum", { a: 2, b: 3 })],
    (results) => [
      call("memory__create_entities", {
        entities: [{ name: "sum", entityType: "fact", observations: [said(results.at(-1))] }]
      })
    ],
    () => [call("memory__read_graph", {})],
    (results) => [{ type: "text", text: results.map(({ name }) => name).join(", ") }]
  ])

  const chat = yield* Chat.empty
  const toolkit = AiToolkit.make(host)
  yield* Effect.gen(function* () {
    let turn = yield* chat.generateText({ prompt: "Add the numbers of the note and remember the sum.", toolkit })
    while (turn.toolCalls.length > 0) {
      for (const { isFailure, name } of turn.toolResults) yield* Console.log(name, isFailure ? "failed" : "answered")
      turn = yield* chat.generateText({ prompt: [], toolkit })
    }
    yield* Console.log(turn.text)
  }).pipe(Effect.provide(Model))

  const graph = yield* host.callTool("memory__read_graph")
  yield* Console.log(JSON.stringify(graph.structuredContent))
})

await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
