/** Features of what a program asks of a server: rows of the table in `features.ts`. */
import * as Tasks from "@mcp-effect/client/Tasks"
import * as TypedTool from "@mcp-effect/client/TypedTool"
import * as Capabilities from "@mcp-effect/protocol/Capabilities"
import * as Task from "@mcp-effect/protocol/Task"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Calls from "./calls.ts"
import { ensure, type Feature, type Ground, noTool, soon, textOf, uncapable, Unmet, using } from "./Feature.ts"

const lists = [
  ["tools", "tools/list"],
  ["prompts", "prompts/list"],
  ["resources", "resources/list"]
] as const

/** How many pages each list has that the server offers. */
const pageCounts = ({ capabilities, client }: Ground) =>
  Effect.forEach(
    lists.filter(([capability]) => Capabilities.declares(capabilities, [capability])),
    ([, method]) => Effect.map(Stream.runCount(client.pages(method)), (count) => ({ method, count }))
  )

export const requests = [
  {
    name: "tools",
    shows: "U-60",
    lacks: uncapable("tools", "tools"),
    check: using(Calls.saying, ({ client }, tool, [args, text]) =>
      Effect.flatMap(client.callTool(tool, args), (result) => ensure(textOf(result).includes(text), textOf(result)))
    )
  },
  {
    name: "a tool that fails",
    shows: "T-TOOL-4",
    lacks: noTool(Calls.failing, "fails"),
    check: using(Calls.failing, ({ client }, tool, args) =>
      Effect.flatMap(client.callTool(tool, args), (result) =>
        ensure(result.isError === true && textOf(result) !== "", "the failure is not told as a result")
      )
    )
  },
  {
    name: "structured output",
    shows: "M-TOOL-21",
    lacks: noTool(Calls.structured, "gives structured content"),
    check: using(Calls.structured, ({ client }, tool, [args]) =>
      Effect.gen(function* () {
        const listed = (yield* client.listTools()).find(({ name }) => name === tool)
        yield* ensure(listed?.outputSchema !== undefined, "no output schema is listed")
        const result = yield* client.callTool(tool, args)
        yield* ensure(result.structuredContent !== undefined, "there is no structured content")
      })
    )
  },
  {
    name: "typed tools",
    shows: "U-61",
    lacks: noTool(Calls.structured, "gives structured content"),
    check: using(Calls.structured, ({ client }, name, [args, result]) =>
      TypedTool.call(
        client,
        TypedTool.make(name, { arguments: Schema.Record(Schema.String, Schema.Unknown), result }),
        args
      ).pipe(
        Effect.catchTag(
          ["ToolFailed", "ArgumentsInvalid", "ResultInvalid"],
          ({ message }) => new Unmet({ because: message })
        )
      )
    )
  },
  {
    name: "output that breaks its schema",
    shows: "M-TOOL-21, T-TOOL-4",
    lacks: noTool(Calls.breaking, "breaks its own schema"),
    check: using(Calls.breaking, ({ client }, tool) =>
      client.callTool(tool).pipe(
        Effect.flip,
        Effect.mapError(() => new Unmet({ because: "the result was taken" })),
        Effect.flatMap(({ reason }) => ensure(reason._tag === "OutputInvalid", `it fails with ${reason._tag}`))
      )
    )
  },
  {
    name: "lists of several pages",
    shows: "U-60, M-PAGE-4, L-PAGE-1",
    lacks: (ground) =>
      Effect.map(pageCounts(ground), (all) =>
        all.some(({ count }) => count > 1) ? undefined : "each of its lists is one page"
      ),
    check: (ground) =>
      Effect.gen(function* () {
        const pages = Stream.runCollect(ground.client.pages("prompts/list"))
        const items = (yield* pages).flatMap(({ prompts: part }) => part)
        const whole = yield* ground.client.listPrompts()
        const names = (all: ReadonlyArray<{ readonly name: string }>) => all.map(({ name }) => name).join()
        yield* ensure(items.length > 1 && names(items) === names(whole), `${names(items)} is not ${names(whole)}`)
      })
  },
  {
    name: "resources",
    shows: "U-60",
    lacks: uncapable("resources", "resources"),
    check: ({ client }) =>
      Effect.gen(function* () {
        const [resource] = yield* client.listResources()
        yield* ensure(resource !== undefined, "there is no resource")
        const { contents } = yield* client.readResource(resource?.uri ?? "")
        yield* ensure(contents.length > 0, "the resource is empty")
      })
  },
  {
    name: "resource templates",
    shows: "U-60",
    lacks: (ground) =>
      uncapable("resources", "resources")(ground) === undefined
        ? Effect.map(ground.client.listResourceTemplates(), (listed) =>
            listed.length > 0 ? undefined : "it has no templates"
          )
        : Effect.succeed("it does not announce resources"),
    check: ({ client }) =>
      Effect.gen(function* () {
        const listed = yield* client.listResourceTemplates()
        const uri = listed.map(({ uriTemplate }) => Calls.templates[uriTemplate]).find((found) => found !== undefined)
        yield* ensure(uri !== undefined, "the template is not listed")
        const { contents } = yield* client.readResource(uri ?? "")
        yield* ensure(contents[0]?.uri === uri, "another resource was read")
      })
  },
  {
    name: "prompts",
    shows: "U-60",
    lacks: uncapable("prompts", "prompts"),
    check: ({ client }) =>
      Effect.gen(function* () {
        const listed = yield* client.listPrompts()
        const name = listed.map((prompt) => prompt.name).find((found) => Object.hasOwn(Calls.prompts, found)) ?? ""
        const { messages } = yield* client.getPrompt(name, Calls.prompts[name])
        yield* ensure(messages.length > 0, "the prompt is empty")
      })
  },
  {
    name: "completion",
    shows: "U-60, M-COMP-2, L-COMP-1",
    lacks: uncapable("completions", "completions"),
    check: ({ client }) =>
      Effect.gen(function* () {
        const listed = yield* client.listResourceTemplates()
        const known = listed
          .map(({ uriTemplate }) => Calls.completions[uriTemplate])
          .find((found) => found !== undefined)
        if (known === undefined) return yield* new Unmet({ because: "the template is not listed" })
        const { completion } = yield* client.complete(known[0])
        yield* ensure(completion.values.includes(known[1]), `proposed: ${completion.values.join()}`)
      })
  },
  {
    name: "progress",
    shows: "U-24, M-PROG-8",
    lacks: noTool(Calls.counting, "reports progress"),
    check: using(Calls.counting, ({ client }, tool, args) =>
      Effect.gen(function* () {
        const steps: Array<number> = []
        yield* client.callTool(tool, args, { onProgress: ({ progress }) => void steps.push(progress) })
        yield* ensure(steps.join() === "1,2,3", `progress came as ${steps.join()}`)
      })
    )
  },
  {
    name: "cancellation",
    shows: "M-CAN-3, L-CAN-1",
    lacks: noTool(Calls.waiting, "tells that it was cancelled"),
    check: using(Calls.waiting, ({ client }, tool, counter) =>
      Effect.gen(function* () {
        const count = Effect.map(client.callTool(counter), (result) => Number(textOf(result)))
        const before = yield* count
        // On a busy machine a call may be given up before it has reached the server; then there is another.
        const givenUp = Effect.gen(function* () {
          const ended = yield* Effect.timeoutOption(client.callTool(tool), "300 millis")
          yield* ensure(ended._tag === "None", "it did not wait")
          return yield* count
        })
        yield* soon(Effect.repeat(givenUp, { while: (now) => now === before }), "the server did not hear of it")
      })
    )
  },
  {
    name: "results kept by hint",
    shows: "M-CACHE-1",
    lacks: ({ client, era }) =>
      era === "legacy"
        ? Effect.succeed("its era has no hints")
        : Effect.map(client.request("tools/list", {}, { cache: "bypass" }), (result) =>
            "ttlMs" in result && result.ttlMs > 0 ? undefined : "it lets nothing be kept"
          ),
    check: ({ client, sent }) =>
      Effect.gen(function* () {
        yield* client.listTools({ cache: "refresh" })
        const before = sent("tools/list")
        yield* client.listTools()
        yield* ensure(sent("tools/list") === before, "the list was asked for again")
        yield* client.listTools({ cache: "bypass" })
        yield* ensure(sent("tools/list") > before, "the list was not asked for")
      })
  },
  {
    name: "mirrored headers",
    shows: "U-26",
    lacks: ({ client, era, tools }) =>
      era === "legacy" || client.transport !== "http"
        ? "headers are mirrored in the modern era over HTTP alone"
        : tools.has("route")
          ? undefined
          : "no tool of it asks for a header",
    check: using(Calls.routing, ({ client }, tool, args) =>
      Effect.flatMap(client.callTool(tool, args), (result) =>
        ensure(textOf(result).includes("eu-west"), textOf(result))
      )
    )
  },
  {
    name: "tasks",
    shows: "L-TASK-1, M-TASK-1",
    lacks: ({ capabilities, era }) =>
      Capabilities.declares(capabilities, era === "legacy" ? ["tasks"] : ["extensions", Task.extension])
        ? undefined
        : "it does not announce tasks",
    check: using(Calls.baking, ({ client }, tool, [args, text]) =>
      Effect.gen(function* () {
        const events = yield* Stream.runCollect(Tasks.stream(client, tool, args))
        const last = events.at(-1)
        yield* ensure(
          events.some(({ _tag }) => _tag === "Changed"),
          "it did not become a task"
        )
        yield* ensure(last?._tag === "Result" && textOf(last.result).includes(text), "the task has no result")
      })
    )
  },
  {
    name: "ping",
    shows: "U-22, U-30",
    lacks: () => undefined,
    check: ({ client }) => client.ping({ timeout: Duration.seconds(10) })
  },
  {
    name: "discover",
    shows: "U-09",
    lacks: () => undefined,
    check: ({ client }) =>
      Effect.flatMap(client.discover(), ({ supportedVersions }) =>
        ensure(supportedVersions.includes(client.agreement.version), "it does not name the version in use")
      )
  },
  {
    name: "identity and instructions",
    shows: "U-07, U-10",
    lacks: ({ client }) =>
      client.agreement.rule === "pin" ? "a pinned connection asks nothing, so it is told nothing" : undefined,
    check: ({ client: { agreement } }) =>
      Effect.andThen(
        ensure(agreement.identity !== undefined && agreement.identity.name !== "", "the server has no name"),
        ensure(
          agreement.instructions === (agreement.initialize ?? agreement.discover)?.instructions,
          "the instructions are others than the server gave"
        )
      )
  }
] as const satisfies ReadonlyArray<Feature>
