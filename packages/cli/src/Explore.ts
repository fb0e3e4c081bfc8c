/**
 * `mcp-effect explore`: pick a tool, fill in its form, see the result, again.
 *
 * @since 0.1.0
 */
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Prompt from "effect/cli/Prompt"
import * as Arguments from "./Arguments.ts"
import * as Ask from "./Ask.ts"
import * as Call from "./Call.ts"
import * as Connecting from "./Connecting.ts"
import { CommandFailed } from "./ExitCode.ts"
import type { Options } from "./Options.ts"
import * as Places from "./Places.ts"
import * as Render from "./Render.ts"
import * as Target from "./Target.ts"

/** The arguments of a tool, one question each. Nothing typed leaves an argument out. */
const fill = Effect.fnUntraced(function* (tool: Tool.Tool) {
  const schema = tool.inputSchema
  const properties: unknown = Object.hasOwn(schema, "properties") ? schema["properties"] : {}
  const required: unknown = Object.hasOwn(schema, "required") ? schema["required"] : []
  const words: Array<string> = []
  for (const key of Object.keys(typeof properties === "object" && properties !== null ? properties : {})) {
    const must = Array.isArray(required) && required.includes(key)
    const types = Arguments.typesOf(schema, key).join(" or ")
    const typed = yield* Ask.ask(
      Prompt.String({
        message: Render.oneLine(`${key}${types === "" ? "" : ` (${types})`}${must ? " *" : ""}`),
        validate: (text) => {
          if (text === "") return must ? Effect.fail("is missing") : Effect.succeed(text)
          return Result.match(Arguments.value(schema, key, text), {
            onSuccess: () => Effect.succeed(text),
            onFailure: Effect.fail
          })
        }
      })
    )
    if (typed !== "") words.push(`${key}=${typed}`)
  }
  return yield* Effect.mapError(
    Effect.fromResult(Arguments.parse(schema, words)),
    (because) => new CommandFailed({ exit: "input", because })
  )
})

/** The words with a server in front: the one that was given, or one picked from the configuration. */
const picked = Effect.fnUntraced(function* (options: Options) {
  const command = yield* Target.ServerCommand
  if (options.words.length > 0 || command.length > 0) return options.words
  const { configuration } = yield* Places.configuration(options.config)
  if (configuration.entries.length === 0) {
    return yield* new CommandFailed({ exit: "configuration", because: "the configuration has no servers" })
  }
  const name = yield* Ask.ask(
    Prompt.Select({
      message: "Which server?",
      choices: configuration.entries.map((entry) => ({ title: Render.oneLine(entry.name), value: entry.name }))
    })
  )
  return [name]
})

/**
 * Runs the command, until the person is done.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(function* (options: Options) {
  if (options.json || !(yield* Ask.canAsk)) {
    return yield* new CommandFailed({ exit: "usage", because: "explore needs a terminal" })
  }
  const words = yield* picked(options)
  yield* Connecting.connected("explore", { ...options, words }, (client, rest, asking) =>
    Effect.gen(function* () {
      yield* Connecting.none(rest)
      const tools = yield* client.listTools()
      while (true) {
        const tool = yield* Ask.ask(
          Prompt.Select<Tool.Tool | undefined>({
            message: "Which tool?",
            choices: [
              ...tools.map((one) => ({
                title: Render.clip(Render.oneLine(one.name), 60),
                description: Render.clip(Render.oneLine(one.description ?? ""), 60),
                value: one
              })),
              { title: "(leave)", value: undefined }
            ]
          })
        )
        if (tool === undefined) return
        yield* fill(tool).pipe(
          Effect.flatMap((args) => Call.perform(client, tool, args, { yes: false, asking })),
          Effect.flatMap((result) => Console.log(`${result.isError === true ? "failed: " : ""}${Call.shown(result)}`)),
          Effect.catch((error) =>
            error._tag === "CommandFailed" && error.exit === "interrupted"
              ? Effect.fail(error)
              : Console.error(Render.lines(error.message))
          )
        )
      }
    })
  )
})
