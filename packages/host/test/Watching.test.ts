/** A watched configuration, on a file system and a clock that do nothing by themselves. */
import { assert, describe, it } from "@effect/vitest"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { TestClock } from "effect/testing"
import * as ConfigurationFile from "../src/ConfigurationFile.ts"
import * as Host from "../src/Host.ts"

const path = "/home/ada/mcp.json"

/** One folder, whose files are texts. What is done to them is told to whoever watches. */
const disk = Effect.gen(function* () {
  const files = new Map<string, string>()
  const changes = yield* PubSub.unbounded<FileSystem.WatchEvent>()
  const tell = (_tag: "Create" | "Update" | "Remove", path: string) => PubSub.publish(changes, { _tag, path })
  const missing = (method: string) =>
    PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method, pathOrDescriptor: path })
  let reads = 0
  return {
    reads: () => reads,
    write: (text: string) => {
      const before = files.has(path)
      files.set(path, text)
      return tell(before ? "Update" : "Create", path)
    },
    remove: Effect.suspend(() => {
      files.delete(path)
      return tell("Remove", path)
    }),
    /** As editors save: a new file beside the old one, the old one moved away, the new one put in its place. */
    replace: (text: string) =>
      Effect.gen(function* () {
        yield* tell("Create", `${path}.swp`)
        files.delete(path)
        yield* tell("Remove", path)
        files.set(path, text)
        yield* tell("Remove", `${path}.swp`)
        yield* tell("Create", path)
      }),
    elsewhere: tell("Update", "/home/ada/notes.txt"),
    layer: Layer.merge(
      Path.layer,
      FileSystem.layerNoop({
        realPath: (file) => Effect.succeed(file),
        stream: (file) =>
          Stream.suspend(() => {
            reads++
            const text = files.get(file)
            return text === undefined ? Stream.fail(missing("open")) : Stream.make(new TextEncoder().encode(text))
          }),
        watch: () => Stream.fromPubSub(changes)
      })
    )
  }
})

/** Follows the file, and what came of it in short. */
const following = Effect.fnUntraced(function* (options: Parameters<typeof ConfigurationFile.watch>[1] = {}) {
  const { layer, ...file } = yield* disk
  const events: Array<string> = []
  const start = ConfigurationFile.watch(path, options).pipe(
    Stream.runForEach((event) =>
      Effect.sync(() => {
        if (event._tag === "Refused") return void events.push(event.error.reason._tag)
        const { added, changed, removed, same } = event.diff
        const names = (list: typeof same) => list.map(({ name }) => name).join("")
        events.push(`+${names(added)} ~${names(changed)} -${names(removed)} =${names(same)}`)
      })
    ),
    Effect.provide(layer),
    Effect.forkScoped({ startImmediately: true })
  )
  const pass = (millis = 100) => Effect.andThen(settled, TestClock.adjust(millis))
  /** What came since it was asked for last. */
  const news = () => events.splice(0)
  return { ...file, start, pass, news }
})

/** Lets everything that can happen without time passing happen. */
const settled = Effect.repeat(Effect.yieldNow, { times: 100 })

const list = (...entries: ReadonlyArray<readonly [name: string, command: string | number]>) =>
  JSON.stringify(entries.map(([name, command]) => ({ name, command })))

describe("a watched configuration file", () => {
  it.effect("U-54: changes within the pause are one, and nothing is told before it has passed", () =>
    Effect.gen(function* () {
      const { news, pass, start, write } = yield* following({ pause: "1 second" })
      yield* write(list(["a", "x"]))
      yield* start
      yield* pass(999)
      assert.deepStrictEqual(news(), [])
      yield* pass(1)
      assert.deepStrictEqual(news(), ["+a ~ - ="])
      for (const command of ["1", "2", "3"]) {
        yield* write(list(["a", command]))
        yield* pass(500)
      }
      assert.deepStrictEqual(news(), [])
      yield* pass(500)
      assert.deepStrictEqual(news(), ["+ ~a - ="])
    }).pipe(Effect.scoped)
  )

  it.effect("U-54: an editor that puts a new file in the place of the old one makes one change, and no complaint", () =>
    Effect.gen(function* () {
      const { news, pass, replace, start, write } = yield* following()
      yield* write(list(["a", "x"], ["b", "x"]))
      yield* start
      yield* pass()
      yield* replace(list(["b", "y"], ["c", "x"]))
      yield* pass()
      assert.deepStrictEqual(news(), ["+ab ~ - =", "+c ~b -a ="])
      yield* replace(list(["b", "y"], ["c", "x"]))
      yield* pass()
      assert.deepStrictEqual(news(), [])
    }).pipe(Effect.scoped)
  )

  it.effect("U-54: a file that is broken or gone for a while is told once, and what runs is the same afterwards", () =>
    Effect.gen(function* () {
      const { news, pass, remove, start, write } = yield* following()
      yield* write(list(["a", "x"], ["b", "x"]))
      yield* start
      yield* pass()
      news()
      for (const half of ["[{", "[{", '[{"name"']) {
        yield* write(half)
        yield* pass()
      }
      assert.deepStrictEqual(news(), ["SyntaxWrong", "SyntaxWrong"])
      yield* remove
      yield* pass()
      assert.deepStrictEqual(news(), ["Unreadable"])
      // One entry is only half typed: it goes on as it was.
      yield* write(list(["a", 7], ["b", "y"]))
      yield* pass()
      assert.deepStrictEqual(news(), ["+ ~b - =a"])
      yield* write(list(["a", "x"], ["b", "y"]))
      yield* pass()
      assert.deepStrictEqual(news(), ["+ ~ - =ab"])
    }).pipe(Effect.scoped)
  )

  it.effect(
    "U-54: a file that is not there yet is refused and read when it comes; other files of the folder are no news",
    () =>
      Effect.gen(function* () {
        const { elsewhere, news, pass, reads, start, write } = yield* following()
        yield* start
        yield* pass()
        assert.deepStrictEqual(news(), ["Unreadable"])
        yield* elsewhere
        yield* pass()
        assert.strictEqual(reads(), 1)
        yield* write("[]")
        yield* pass()
        assert.deepStrictEqual(news(), ["+ ~ - ="])
      }).pipe(Effect.scoped)
  )

  it.effect("U-50, U-54: a host that follows it restarts what changed and nothing else", () =>
    Effect.gen(function* () {
      const { layer, replace, write } = yield* disk
      const opened: Array<string> = []
      const host = yield* Host.make({
        transport: ({ name }) =>
          Effect.map(ScriptedServer.make(Script.modern()), (server) => {
            opened.push(name)
            return server.pipe()
          })
      })
      yield* write(list(["a", "x"], ["b", "x"], ["c", "x"]))
      yield* ConfigurationFile.watch(path).pipe(
        Stream.runForEach((event) => (event._tag === "Loaded" ? host.apply(event.diff) : Effect.void)),
        Effect.provide(layer),
        Effect.forkScoped({ startImmediately: true })
      )
      const running = Effect.gen(function* () {
        yield* Effect.andThen(settled, TestClock.adjust(100))
        yield* Effect.forEach([...SubscriptionRef.getUnsafe(host.servers).keys()], host.ready, {
          concurrency: "unbounded"
        })
        return [...SubscriptionRef.getUnsafe(host.servers).keys()].join("")
      })
      assert.strictEqual(yield* running, "abc")
      const before = SubscriptionRef.getUnsafe(host.servers)
      opened.length = 0
      yield* replace("[")
      assert.strictEqual(yield* running, "abc")
      yield* replace(list(["a", "x"], ["b", "y"], ["d", "x"]))
      assert.strictEqual(yield* running, "abd")
      assert.deepStrictEqual(opened.toSorted(), ["b", "d"])
      assert.strictEqual(SubscriptionRef.getUnsafe(host.servers).get("a"), before.get("a"))
    }).pipe(Effect.scoped, Effect.provide(EraMemory.layerNone))
  )
})
