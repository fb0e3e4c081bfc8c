/**
 * `mcp-effect explore`: pick a tool, fill in its form, see the result, again.
 *
 * @since 0.1.0
 */
import type { McpClientError } from "@mcp-effect/client/McpClientError"
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
import { screen } from "./Screen.ts"
import * as Target from "./Target.ts"

type Given = readonly [key: string, value: unknown]

/** What a value looks like where it is typed: a text as it is, everything else as JSON. */
const typed = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

/** Asks for one argument: a choice where the schema counts the values, else a line. */
const question = (schema: Tool.Tool["inputSchema"], field: ReturnType<typeof Arguments.fields>[number]) => {
  const { description, key, required } = field
  const types = Arguments.typesOf(schema, key)
  const what = [
    types.join(" or "),
    ...(description === undefined ? [] : [Render.clip(Render.oneLine(description), 100)])
  ]
  const about = what.filter((part) => part !== "").join(": ")
  const message = `${Render.oneLine(key)}${about === "" ? "" : ` (${about})`}${required ? " *" : ""}`
  const choices = types.join() === "boolean" ? [true, false] : Arguments.choicesOf(schema, key)
  if (choices !== undefined && choices.length > 0) {
    return Ask.ask(
      Prompt.Select<Given | undefined>({
        message,
        choices: [
          ...choices.map((value) => ({
            title: Render.clip(Render.oneLine(typed(value)), 80),
            value: [key, value] as const,
            selected: value === field.default
          })),
          ...(required ? [] : [{ title: "(nothing)", value: undefined, selected: field.default === undefined }])
        ]
      })
    )
  }
  const line = Prompt.String({
    message,
    ...(field.default === undefined ? {} : { default: Render.oneLine(typed(field.default)) }),
    validate: (text) => {
      if (text === "" && !types.includes("string")) return required ? Effect.fail("is missing") : Effect.succeed(text)
      return Result.match(Arguments.value(schema, key, text), {
        onSuccess: () => Effect.succeed(text),
        onFailure: Effect.fail
      })
    }
  })
  return Effect.map(Ask.ask(line), (text): Given | undefined =>
    text === "" && !required
      ? undefined
      : [key, Result.getOrElse(Arguments.value(schema, key, text), (): unknown => undefined)]
  )
}

/** The arguments of a tool, one question each. Nothing typed leaves an argument out that may be missing. */
const fill = Effect.fnUntraced(function* ({ inputSchema }: Tool.Tool) {
  const given = new Map<string, unknown>()
  for (const field of Arguments.fields(inputSchema)) {
    const answer = yield* question(inputSchema, field)
    if (answer !== undefined) given.set(...answer)
  }
  return Arguments.objectOf(given)
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

const told = (error: CommandFailed | McpClientError) =>
  Render.lines(error._tag === "McpClientError" ? error.reason.message : error.because)

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
      const on = yield* screen
      const tools = Connecting.declares(client, "tools") ? yield* client.listTools() : []
      if (tools.length === 0) {
        return yield* new CommandFailed({ exit: "refused", because: "the server has no tools to explore" })
      }
      const choices = [
        ...tools.map((tool) => {
          const title = Render.clip(Render.oneLine(tool.name), Math.floor(on.columns / 2))
          const about = Render.oneLine(tool.description ?? tool.title ?? "")
          return { title, description: Render.clip(about, on.columns - Render.wide(title) - 6), value: tool }
        }),
        { title: "(leave)", value: undefined }
      ]
      const which = { message: "Which tool?", choices }
      while (true) {
        const tool = yield* Ask.ask<Tool.Tool | undefined>(
          choices.length > 10 ? Prompt.AutoComplete(which) : Prompt.Select(which)
        )
        if (tool === undefined) return
        yield* fill(tool).pipe(
          Effect.flatMap((args) => Call.perform(client, tool, args, { yes: false, asking })),
          Effect.flatMap((result) =>
            Console.log(`${result.isError === true ? `${on.paint("red", "failed")}: ` : ""}${Call.shown(result)}`)
          ),
          // A question that is left leads back to the tools.
          Effect.catch((error) =>
            Console.error(error._tag === "CommandFailed" && error.exit === "interrupted" ? "not called" : told(error))
          )
        )
      }
    })
  )
})
