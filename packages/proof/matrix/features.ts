/**
 * What a client can do, as data: one row per feature, each with the way to see whether a server offers it and a check that
 * uses it and looks at what came of it. The checks use nothing but what this library publishes.
 */
import { Change } from "@mcp-effect/client/Change"
import * as Tasks from "@mcp-effect/client/Tasks"
import * as TypedTool from "@mcp-effect/client/TypedTool"
import * as Capabilities from "@mcp-effect/protocol/Capabilities"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Task from "@mcp-effect/protocol/Task"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as Calls from "./calls.ts"
import {
  type Calls as CallsOf,
  ensure,
  type Feature,
  first,
  forgets,
  type Ground,
  noTool,
  soon,
  textOf,
  through,
  uncapable,
  Unmet,
  until,
  using
} from "./Feature.ts"

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

/** Calls a tool that asks: the handler was asked, and the tool heard its answer. */
const asking = (calls: CallsOf<JsonObject>, heard: string) =>
  using(calls, ({ asked, client }, tool, args) =>
    Effect.gen(function* () {
      const before = asked.length
      const said = textOf(yield* client.callTool(tool, args))
      yield* ensure(asked.length > before, "no handler was asked")
      yield* ensure(said.includes(heard), `the tool heard another answer: ${said}`)
    })
  )

export const features = [
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
    name: "logs of the server",
    shows: "U-60, M-LOG-4, L-LOG-2",
    lacks: first(uncapable("logging", "logging"), noTool(Calls.logging, "logs")),
    check: (ground) =>
      Effect.gen(function* () {
        const { client } = ground
        const heard = yield* client.logs.pipe(
          Stream.take(1),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true })
        )
        yield* client.setLogLevel("info")
        yield* until(
          Fiber.join(heard),
          Effect.suspend(() => through(ground, Calls.logging)?.[1](ground) ?? Effect.void),
          "no log message came"
        )
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
        const ended = yield* Effect.timeoutOption(client.callTool(tool), "300 millis")
        yield* ensure(ended._tag === "None", "it did not wait")
        yield* soon(
          Effect.repeat(Effect.delay(count, "20 millis"), { while: (now) => now === before }),
          "the server did not hear of it"
        )
      })
    )
  },
  {
    name: "questions: a form",
    shows: "U-27, U-31",
    lacks: first(forgets, noTool(Calls.forms, "asks with a form")),
    check: asking(Calls.forms, "Ada")
  },
  {
    name: "questions: an address",
    shows: "U-27, U-31, U-58",
    lacks: first(forgets, noTool(Calls.addresses, "sends the user to an address")),
    check: asking(Calls.addresses, "accept")
  },
  {
    name: "questions: a model",
    shows: "U-27, U-31",
    lacks: first(forgets, noTool(Calls.models, "asks a model")),
    check: asking(Calls.models, "Four.")
  },
  {
    name: "questions: folders",
    shows: "U-27, U-31",
    lacks: first(forgets, noTool(Calls.folders, "asks for folders")),
    check: using(Calls.folders, ({ client, folder }, tool, args) =>
      // The filesystem server asks once it is initialized, beside what the client asks.
      until(
        client.callTool(tool, args).pipe(
          Effect.map((result) => textOf(result).includes(folder)),
          Effect.repeat({ until: (found) => found, schedule: Schedule.spaced("50 millis") })
        ),
        Effect.never,
        "the server does not know the folder"
      )
    )
  },
  {
    name: "questions answered by hand",
    shows: "U-27",
    lacks: first(forgets, noTool(Calls.forms, "asks with a form")),
    check: using(Calls.forms, ({ asked, client, era }, tool, args) =>
      Effect.gen(function* () {
        const before = asked.length
        const begun = yield* client.begin(tool, args)
        if (era === "legacy") {
          // A legacy server asks while the call runs, so the handlers answer and there is nothing to go on with.
          return yield* ensure(begun._tag === "Done" && asked.length > before, "the call did not end")
        }
        if (begun._tag !== "Paused") return yield* new Unmet({ because: "the call did not pause" })
        const [key = ""] = Object.keys(begun.continuation.questions)
        const answers = { [key]: { action: "accept" as const, content: { answer: "Eve" } } }
        const resumed = yield* client.resume(begun.continuation, answers)
        yield* ensure(resumed._tag === "Done" && textOf(resumed.result).includes("Eve"), "the answer did not arrive")
        yield* ensure(asked.length === before, "a handler was asked as well")
      })
    )
  },
  {
    name: "changes of a list",
    shows: "U-25",
    lacks: first(
      forgets,
      uncapable("changes of its tools", "tools", "listChanged"),
      noTool(Calls.announcing, "changes a list")
    ),
    check: using(Calls.announcing, ({ client }, tool) =>
      until(
        client
          .changes({ tools: true })
          .pipe(Stream.filter(Change.$is("ToolsChanged")), Stream.take(1), Stream.runDrain),
        Effect.delay(client.callTool(tool), "50 millis"),
        "no change was told"
      )
    )
  },
  {
    name: "changes of a resource",
    shows: "U-25, L-RES-2",
    lacks: first(
      forgets,
      uncapable("subscriptions to resources", "resources", "subscribe"),
      noTool(Calls.touching, "changes a resource")
    ),
    check: using(Calls.touching, ({ client }, tool, uri) =>
      Effect.gen(function* () {
        const watched = client.changes({ resourceUris: [uri] }).pipe(
          Stream.filter((change) => change._tag === "ResourceUpdated" && change.uri === uri),
          Stream.take(1),
          Stream.runDrain
        )
        // The reference server goes on by itself once it is told to; a second call would stop it.
        const again = Effect.delay(client.callTool(tool), "100 millis")
        yield* until(watched, tool === "announce" ? again : Effect.andThen(again, Effect.never), "no change was told")
      })
    )
  },
  {
    name: "live lists",
    shows: "T-LIST-4",
    lacks: first(
      forgets,
      uncapable("changes of its tools", "tools", "listChanged"),
      noTool(Calls.announcing, "changes a list")
    ),
    check: using(Calls.announcing, ({ client, sent }, tool) =>
      Effect.gen(function* () {
        const tools = yield* client.live("tools/list")
        const before = sent("tools/list")
        const fetched = SubscriptionRef.changes(tools).pipe(Stream.drop(1), Stream.take(1), Stream.runDrain)
        yield* until(fetched, client.callTool(tool), "the list was not fetched again")
        yield* ensure(tools.value.trouble === undefined && sent("tools/list") > before, "the list is not fresh")
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
  }
] as const satisfies ReadonlyArray<Feature>

export type Name = (typeof features)[number]["name"]
