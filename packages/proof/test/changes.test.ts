/**
 * Changes, live lists and server logs of real servers of both eras.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { Change, Filter } from "@mcp-effect/client/Change"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as Servers from "../servers/Servers.ts"
import { patience } from "./fixtures/patience.ts"

/** Each test begins without a memory of eras, so it asks as a new program would. */
const Platform = Layer.mergeAll(NodeServices.layer, NodeHttp.layer, EraMemory.layerInProcess, patience)

type Client = McpClient.McpClient["Service"]
type Start = (typeof Servers.all)[number]
type Mode = "auto" | "legacy"

/** Long enough for a process on a busy machine. */
const patient = 30_000

const connect = Effect.fnUntraced(function* (start: Start, mode: Mode) {
  const server = yield* start
  return yield* McpClient.connect(
    server.kind === "stdio" ? [server.target.command, ...server.target.args] : server.target.url,
    { mode }
  )
})

const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof Platform> | Scope.Scope>) =>
  effect.pipe(Effect.scoped, Effect.provide(Platform))

const hello = "demo://hello"
const filter: Filter = { tools: true, resourceUris: [hello] }

const statusOf = ({ _tag }: Change) => _tag === "Watched" || _tag === "Unwatched"

/** Follows changes: `ready` is done when the server has said what it reports, `firstOf` when a change has come. */
const following = Effect.fnUntraced(function* (client: Client, wanted: Filter) {
  const ready = yield* Deferred.make<ReadonlyArray<string>>()
  const seen: Array<Change> = []
  const arrived = yield* SubscriptionRef.make(0)
  yield* client.changes(wanted).pipe(
    Stream.runForEachArray((changes) => {
      seen.push(...changes)
      return Effect.andThen(
        Deferred.succeed(
          ready,
          seen.filter(statusOf).map(({ _tag }) => _tag)
        ),
        SubscriptionRef.update(arrived, (count) => count + changes.length)
      )
    }),
    Effect.forkScoped({ startImmediately: true })
  )
  const until = (fits: (seen: ReadonlyArray<Change>) => boolean) =>
    SubscriptionRef.changes(arrived).pipe(
      Stream.filter(() => fits(seen)),
      Stream.take(1),
      Stream.runDrain
    )
  return { seen, ready: Deferred.await(ready), until }
})

/** Calls a tool again and again until something has happened; a legacy server over HTTP may not be listened to yet. */
const callingUntil = (client: Client, tool: string, happened: Effect.Effect<void>) =>
  Effect.raceFirst(
    happened,
    client.callTool(tool).pipe(Effect.repeat(Schedule.spaced("200 millis")), Effect.andThen(Effect.never))
  )

const rows: ReadonlyArray<readonly [name: string, start: Start, mode: Mode, era: "modern" | "legacy"]> = [
  ["official-http", Servers.officialHttp, "auto", "modern"],
  ["official-modern-only-http", Servers.officialModernOnlyHttp, "auto", "modern"],
  ["official-stdio", Servers.officialStdio, "auto", "modern"],
  ["effect-http", Servers.effectHttp, "auto", "modern"],
  ["official-stdio, shaken hands with", Servers.officialStdio, "legacy", "legacy"],
  ["sdk-http", Servers.sdkHttp, "auto", "legacy"],
  ["sdk-stdio", Servers.sdkStdio, "auto", "legacy"]
]
/** In the legacy era Effect's server takes no subscriptions to resources. */
const withEffect: typeof rows = [...rows, ["effect-http, shaken hands with", Servers.effectHttp, "legacy", "legacy"]]

describe("changes", () => {
  it.live.each(rows)(
    "U-25, U-60: %s tells that its tools and a resource changed",
    ([, start, mode, era]) =>
      run(
        Effect.gen(function* () {
          const client = yield* connect(start, mode)
          assert.strictEqual(client.agreement.era, era)
          const { ready, seen, until } = yield* following(client, filter)
          yield* ready
          yield* callingUntil(
            client,
            "announce",
            until((changes) =>
              ["ToolsChanged", "ResourceUpdated"].every((tag) => changes.some(({ _tag }) => _tag === tag))
            )
          )
          const updates = seen.filter((change) => change._tag === "ResourceUpdated")
          assert.deepStrictEqual(new Set(updates.map(({ uri }) => uri)), new Set([hello]))
        })
      ),
    patient
  )

  it.live(
    "L-CAP, L-HTTP-10: effect-http, shaken hands with, has no stream of its own; what comes with an answer is heard",
    () =>
      run(
        Effect.gen(function* () {
          const client = yield* connect(Servers.effectHttp, "legacy")
          const { seen, until } = yield* following(client, filter)
          yield* until(({ length }) => length === 2)
          assert.deepStrictEqual(
            seen.flatMap((change) => (change._tag === "Unwatched" ? [[change.filter, change.because]] : [change._tag])),
            [
              [{ tools: true }, "the server has no stream to report it on: MCP: HTTP 405"],
              [{ resourceUris: [hello] }, "the server does not announce that it does"]
            ]
          )
          yield* callingUntil(
            client,
            "announce",
            until((changes) => changes.some(({ _tag }) => _tag === "ToolsChanged"))
          )
        })
      ),
    patient
  )

  it.live(
    "T-LIST-6: sdk-stdio, which promises to report resources and then refuses, says so and goes on",
    () =>
      run(
        Effect.gen(function* () {
          const client = yield* connect(Servers.sdkStdio, "auto")
          const { ready, seen } = yield* following(client, { resourceUris: [hello] })
          assert.deepStrictEqual(yield* ready, ["Unwatched"])
          assert.include(JSON.stringify(seen), "-32601")
        })
      ),
    patient
  )
})

const everything: ReadonlyArray<readonly [name: string, start: Start]> = [
  ["everything-stdio", Servers.everythingStdio],
  ["everything-http", Servers.everythingHttp],
  ["everything-sse", Servers.everythingSse]
]
const document = "demo://resource/dynamic/text/1"

describe("the reference server", () => {
  it.live.each(everything)(
    "L-RES-2, L-LOG-2: %s reports a resource that is subscribed to, and logs that it was",
    ([, start]) =>
      run(
        Effect.gen(function* () {
          const client = yield* connect(start, "auto")
          const logged = yield* client.logs.pipe(
            Stream.filter(
              ({ data }) => typeof data === "string" && data.includes(`Subscribe Resource request for URI: ${document}`)
            ),
            Stream.take(1),
            Stream.runCollect,
            Effect.forkChild({ startImmediately: true })
          )
          const { ready, until } = yield* following(client, { resourceUris: [document] })
          assert.deepStrictEqual(yield* ready, ["Watched"])
          yield* client.callTool("toggle-subscriber-updates")
          yield* until((changes) =>
            changes.some((change) => change._tag === "ResourceUpdated" && change.uri === document)
          )
          assert.strictEqual((yield* Fiber.join(logged))[0]?.level, "info")
        })
      ),
    patient
  )

  it.live(
    "L-LOG-4: everything-stdio keeps to the level it is told",
    () =>
      run(
        Effect.gen(function* () {
          const client = yield* connect(Servers.everythingStdio, "auto")
          const first = yield* client.logs.pipe(
            Stream.map(({ data }) => String(data)),
            Stream.filter((text) => text.startsWith("Received")),
            Stream.take(1),
            Stream.mkString,
            Effect.forkChild({ startImmediately: true })
          )
          yield* client.setLogLevel("warning")
          yield* client.request("resources/subscribe", { uri: document })
          yield* client.setLogLevel("info")
          yield* client.request("resources/unsubscribe", { uri: document })
          assert.include(yield* Fiber.join(first), "Received Unsubscribe Resource request")
        })
      ),
    patient
  )
})

describe("a live list", () => {
  it.live.each(withEffect)(
    "T-LIST-4: of %s is fetched again after a change",
    ([, start, mode]) =>
      run(
        Effect.gen(function* () {
          const client = yield* connect(start, mode)
          const tools = yield* client.live("tools/list")
          assert.include(
            tools.value.items.map(({ name }) => name),
            "announce"
          )
          const again = SubscriptionRef.changes(tools).pipe(Stream.drop(1), Stream.take(1), Stream.runDrain)
          yield* callingUntil(client, "announce", again)
          assert.isUndefined(tools.value.trouble)
        })
      ),
    patient
  )
})
