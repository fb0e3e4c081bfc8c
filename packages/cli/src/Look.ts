/**
 * The commands that only look: `tools`, `resources`, `read`, `prompts`, `prompt`, `complete`, `ping`, `watch`.
 *
 * @since 0.1.0
 */
import type * as McpClient from "@mcp-effect/client/McpClient"
import type { Change } from "@mcp-effect/client/Change"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Answer from "./Answer.ts"
import * as Connecting from "./Connecting.ts"
import * as Content from "./Content.ts"
import * as Describe from "./Describe.ts"
import { CommandFailed } from "./ExitCode.ts"
import type { Options } from "./Options.ts"
import * as Render from "./Render.ts"
import { screen, type Screen } from "./Screen.ts"
import * as Suggestion from "./Suggestion.ts"

type Client = McpClient.Client

/** What there is to list, or why there is nothing. */
const listed = (client: Client, what: "tools" | "resources" | "prompts", rows: ReadonlyArray<Render.Row>, on: Screen) =>
  rows.length > 0
    ? Render.list(rows, on)
    : Connecting.declares(client, what)
      ? `no ${what}`
      : `no ${what}: the server does not declare them`

/** The one that is asked for by name, or all. */
const chosen = Effect.fnUntraced(function* <A extends { readonly name: string }>(
  what: "tool" | "prompt",
  all: ReadonlyArray<A>,
  [wanted, ...more]: ReadonlyArray<string>
) {
  yield* Connecting.none(more)
  return wanted === undefined ? all : [yield* Suggestion.find(what, all, wanted)]
})

/**
 * `mcp-effect tools`: all of them, or one with its arguments.
 *
 * @category running
 * @since 0.1.0
 */
export const tools = (options: Options) =>
  Connecting.connected("tools", options, (client, rest) =>
    Effect.gen(function* () {
      const all = Connecting.declares(client, "tools") ? yield* client.listTools() : []
      const tools = yield* chosen("tool", all, rest)
      yield* Answer.print(options, { tools }, (on) =>
        rest.length === 0 ? listed(client, "tools", tools, on) : tools.map((tool) => Describe.tool(tool, on)).join("\n")
      )
    })
  )

/**
 * `mcp-effect resources`: resources and templates.
 *
 * @category running
 * @since 0.1.0
 */
export const resources = (options: Options) =>
  Connecting.connected("resources", options, (client, rest) =>
    Effect.gen(function* () {
      yield* Connecting.none(rest)
      const declared = Connecting.declares(client, "resources")
      const list = declared ? yield* client.listResources() : []
      const templates = declared
        ? yield* client.listResourceTemplates().pipe(
            // Servers with resources and without templates often do not know the method.
            Effect.catchReason("McpClientError", "ServerError", () => Effect.succeed([]))
          )
        : []
      const rows = [
        ...list.map(({ description, name, uri }) => ({ name: uri, description: description ?? name })),
        ...templates.map(({ description, name, uriTemplate }) => ({
          name: uriTemplate,
          description: description ?? name
        }))
      ]
      yield* Answer.print(options, { resources: list, templates }, (on) => listed(client, "resources", rows, on))
    })
  )

/**
 * `mcp-effect read`.
 *
 * @category running
 * @since 0.1.0
 */
export const read = (options: Options) =>
  Connecting.connected("read", options, (client, rest) =>
    Effect.gen(function* () {
      const result = yield* client.readResource(yield* Connecting.only(rest, "resource"))
      yield* Answer.print(options, { contents: result.contents }, () =>
        result.contents.map(Content.resource).join("\n")
      )
    })
  )

/**
 * `mcp-effect prompts`: all of them, or one with its arguments.
 *
 * @category running
 * @since 0.1.0
 */
export const prompts = (options: Options) =>
  Connecting.connected("prompts", options, (client, rest) =>
    Effect.gen(function* () {
      const all = Connecting.declares(client, "prompts") ? yield* client.listPrompts() : []
      const prompts = yield* chosen("prompt", all, rest)
      yield* Answer.print(options, { prompts }, (on) =>
        rest.length === 0
          ? listed(client, "prompts", prompts, on)
          : prompts.map((prompt) => Describe.prompt(prompt, on)).join("\n")
      )
    })
  )

const pairs = (words: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(words, (word) => {
      const at = word.indexOf("=")
      return at > 0
        ? Effect.succeed([word.slice(0, at), word.slice(at + 1)] as const)
        : Effect.fail(new CommandFailed({ exit: "input", because: "an argument of a prompt is key=value" }))
    }),
    (entries): Readonly<Record<string, string>> => Object.fromEntries(entries)
  )

/**
 * `mcp-effect prompt`.
 *
 * @category running
 * @since 0.1.0
 */
export const prompt = (options: Options) =>
  Connecting.connected("prompt", options, (client, [name, ...words]) =>
    Effect.gen(function* () {
      const result = yield* client.getPrompt(
        yield* Connecting.only(name === undefined ? [] : [name], "prompt"),
        yield* pairs(words)
      )
      yield* Answer.print(options, result, () =>
        result.messages.map(({ content, role }) => `${Render.oneLine(role)}: ${Content.block(content)}`).join("\n")
      )
    })
  )

/**
 * `mcp-effect complete`: `complete SERVER prompt NAME ARGUMENT=BEGINNING`, or with `resource` and a template.
 *
 * @category running
 * @since 0.1.0
 */
export const complete = (options: Options) =>
  Connecting.connected("complete", options, (client, [kind, of, word, ...more]) =>
    Effect.gen(function* () {
      yield* Connecting.none(more)
      const at = word?.indexOf("=") ?? -1
      if ((kind !== "prompt" && kind !== "resource") || of === undefined || word === undefined || at < 1) {
        return yield* new CommandFailed({
          exit: "usage",
          because: "which argument? Write `prompt NAME ARGUMENT=BEGINNING` or `resource TEMPLATE ARGUMENT=BEGINNING`"
        })
      }
      const { completion } = yield* client.complete({
        ref: kind === "prompt" ? { type: "ref/prompt", name: of } : { type: "ref/resource", uri: of },
        argument: { name: word.slice(0, at), value: word.slice(at + 1) }
      })
      if (completion.values.length === 0 && !options.json)
        return yield* Console.error("note: there is nothing to propose")
      yield* Answer.print(options, completion, () => completion.values.map(Render.oneLine).join("\n"))
    })
  )

/**
 * `mcp-effect ping`: a sign of life. The modern era has no such request; there `server/discover` is asked.
 *
 * @category running
 * @since 0.1.0
 */
export const ping = (options: Options) =>
  Connecting.connected("ping", options, (client, rest) =>
    Effect.gen(function* () {
      yield* Connecting.none(rest)
      const asked = client.agreement.era === "modern" ? "server/discover" : "ping"
      const from = yield* Clock.currentTimeMillis
      yield* asked === "ping" ? client.ping() : client.discover()
      const milliseconds = (yield* Clock.currentTimeMillis) - from
      yield* Answer.print(options, { milliseconds, asked }, () => `${asked} was answered after ${milliseconds} ms`)
    })
  )

const changed = (change: Change): string => {
  switch (change._tag) {
    case "ToolsChanged":
      return "tools changed"
    case "PromptsChanged":
      return "prompts changed"
    case "ResourcesChanged":
      return "resources changed"
    case "ResourceUpdated":
      return `resource updated: ${change.uri}`
    case "Watched":
      return `watching ${what(change.filter)}`
    case "Unwatched":
      return `not watching ${what(change.filter)}: ${change.because}`
  }
}

const what = (filter: object) =>
  Object.entries(filter)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => (Array.isArray(value) ? value.join(", ") : name))
    .join(", ")

/**
 * `mcp-effect watch`: changes and logs until Ctrl-C. Words after the server are resources to watch.
 *
 * @category running
 * @since 0.1.0
 */
export const watch = (options: Options) =>
  Connecting.connected("watch", options, (client, rest) =>
    Effect.gen(function* () {
      const changes = client.changes({
        tools: true,
        prompts: true,
        resources: true,
        ...(rest.length === 0 ? {} : { resourceUris: rest })
      })
      const on = yield* screen
      const line = (text: string) => Render.fitted(Render.oneLine(text), on)
      const told = Stream.map(changes, (change) =>
        options.json ? Render.json({ event: "change", change }, 0) : line(changed(change))
      )
      const logged = Stream.map(client.logs, ({ data, level, logger }) => {
        if (options.json) return Render.json({ event: "log", level, logger, data }, 0)
        const by = logger === undefined ? level : `${level} ${logger}`
        return line(`${by}: ${typeof data === "string" ? data : JSON.stringify(data)}`)
      })
      // Asked for last: a server may log before it has answered this.
      const asked =
        client.agreement.capabilities?.logging === undefined
          ? Stream.empty
          : Stream.fromEffectDrain(
              Effect.catch(client.setLogLevel("debug"), ({ reason }) =>
                Console.error(`note: logs are shown as they come, ${Render.oneLine(reason.message)}`)
              )
            )
      yield* Stream.mergeAll([logged, told, asked], { concurrency: "unbounded" }).pipe(
        Stream.runForEach((line) => Console.log(line))
      )
    })
  )
