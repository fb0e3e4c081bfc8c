/**
 * `mcp-effect call`: read the arguments, ask where the tool may destroy something, show progress, print the result.
 *
 * @since 0.1.0
 */
import type * as McpClient from "@mcp-effect/client/McpClient"
import * as Approval from "@mcp-effect/host/Approval"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Answer from "./Answer.ts"
import * as Arguments from "./Arguments.ts"
import * as Ask from "./Ask.ts"
import * as Connecting from "./Connecting.ts"
import * as Content from "./Content.ts"
import { CommandFailed } from "./ExitCode.ts"
import type { Options } from "./Options.ts"
import * as Progress from "./Progress.ts"
import * as Render from "./Render.ts"
import * as Suggestion from "./Suggestion.ts"

type Client = McpClient.Client

const input = (because: string) => new CommandFailed({ exit: "input", because: Render.oneLine(because) })

/** The most that is read from standard input, in characters. */
const maxInput = 16 * 1024 * 1024

const fromStdin = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  let text = ""
  yield* stdin.pipe(
    Stream.decodeText(),
    Stream.runForEach((chunk) => {
      text += chunk
      return text.length > maxInput ? Effect.fail(input("there is too much on standard input")) : Effect.void
    }),
    Effect.catchTag("PlatformError", ({ message }) => Effect.fail(input(message)))
  )
  return text
})

const isDestructive = (server: string, tool: Tool.Tool, args: JsonObject) =>
  Approval.concerns({ hints: { destructive: true }, decide: "ask", because: "" }, { server, tool, arguments: args })

/**
 * Calls a tool: approved, with progress on standard error. Gives the result.
 *
 * @category running
 * @since 0.1.0
 */
export const perform = Effect.fnUntraced(function* (
  client: Client,
  tool: Tool.Tool,
  args: JsonObject,
  how: { readonly yes: boolean; readonly asking: boolean }
) {
  if (isDestructive(client.endpoint, tool, args)) {
    const name = Render.clip(Render.oneLine(tool.name), 80)
    yield* Ask.approve(`The tool "${name}" may destroy something. Call it?`, how.yes, how.asking)
  }
  const last = yield* client.streamTool(tool.name, args, { definition: tool, resetOnProgress: true }).pipe(
    Stream.tap((event) => {
      if (event._tag === "Progress") {
        const { message, progress, total } = event.progress
        const far = total === undefined ? `${progress}` : `${progress} of ${total}`
        return Progress.show(`progress: ${far}${message === undefined ? "" : `, ${message}`}`)
      }
      if (event._tag !== "Log") return Effect.void
      const { data, level } = event.message
      const line = Render.oneLine(`${level}: ${typeof data === "string" ? data : JSON.stringify(data)}`)
      return Effect.andThen(Progress.leave, Console.error(line))
    }),
    Stream.runLast,
    Effect.ensuring(Progress.leave)
  )
  return Option.isSome(last) && last.value._tag === "Result"
    ? last.value.result
    : yield* new CommandFailed({ exit: "refused", because: "the call ended without a result" })
})

/**
 * A result as text.
 *
 * @category formatting
 * @since 0.1.0
 */
export const shown = (result: Tool.CallResult): string => {
  const blocks = result.content.map(Content.block).join("\n")
  return blocks !== "" || !Object.hasOwn(result, "structuredContent") ? blocks : Render.json(result.structuredContent)
}

/**
 * Runs the command. A tool that failed ends it with `toolFailed`.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (options: Options & { readonly yes: boolean }) =>
  Connecting.connected("call", options, (client, [name, ...words], asking) =>
    Effect.gen(function* () {
      const wanted = yield* Connecting.only(name === undefined ? [] : [name], "tool")
      const tools = Connecting.declares(client, "tools") ? yield* client.listTools() : []
      const tool = yield* Suggestion.find("tool", tools, wanted)
      const piped = words.length === 1 && words[0] === "-"
      const given = piped ? [yield* fromStdin] : words
      const args = yield* Effect.mapError(Effect.fromResult(Arguments.parse(tool.inputSchema, given)), input)
      const result = yield* perform(client, tool, args, { yes: options.yes, asking: asking && !piped })
      yield* Answer.print(options, result, () => shown(result))
      if (result.isError === true) return yield* new CommandFailed({ exit: "toolFailed", because: "" })
    })
  )
