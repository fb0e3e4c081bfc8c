/** Features of what a server asks of the program, and tells it: rows of the table in `features.ts`. */
import { Change } from "@mcp-effect/client/Change"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
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

/** Calls a tool until it tells of a folder: a server asks for folders beside what the client asks. */
const telling = (client: Ground["client"], tool: string, args: JsonObject, folder: string) =>
  soon(
    client.callTool(tool, args).pipe(
      Effect.map((result) => textOf(result).includes(folder)),
      Effect.repeat({ until: (found) => found, schedule: Schedule.spaced("50 millis") })
    ),
    `the server does not know the folder ${folder}`
  )

export const pushes = [
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
    name: "an address before the answer",
    shows: "L-ELI-8",
    lacks: first(
      ({ era }) => (era === "modern" ? "its era asks in rounds instead" : undefined),
      noTool(Calls.insisting, "wants an address to be opened first")
    ),
    check: asking(Calls.insisting, "accept")
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
    check: using(Calls.folders, ({ client, folder }, tool, args) => telling(client, tool, args, folder))
  },
  {
    name: "changed folders",
    shows: "U-31, L-ROOT-1",
    lacks: first(
      ({ era }) => (era === "modern" ? "its era asks for folders each time" : undefined),
      forgets,
      noTool(Calls.remembering, "remembers folders")
    ),
    check: using(Calls.remembering, ({ client, move }, tool, args) =>
      Effect.gen(function* () {
        const folder = move()
        yield* client.rootsChanged
        yield* telling(client, tool, args, folder)
      })
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
  }
] as const satisfies ReadonlyArray<Feature>
