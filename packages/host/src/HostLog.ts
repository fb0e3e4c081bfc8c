/**
 * The log of a host: a line for each connection event, request, tool call and decision (U-59).
 *
 * Lines are made of the host's events. They go to readers in the program, and to a file when there is one. What servers
 * log over the protocol is not among them: that is `Host.logs`. Make the log first and let it follow the host before the
 * first load; then nothing is missed, and the last lines of the host are in the file.
 *
 * @since 0.1.0
 */
import { describe, type Diagnostic, Diagnostics, reporting } from "@mcp-effect/protocol/Diagnostic"
import * as Logging from "@mcp-effect/protocol/Logging"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { Host } from "./Host.ts"
import { type HostEvent, text } from "./HostEvent.ts"
import * as Broadcast from "./internal/broadcast.ts"
import * as Secrets from "./internal/secrets.ts"
import * as LogFile from "./LogFile.ts"

/**
 * A line. Secrets are hidden and it holds no line breaks.
 *
 * @category models
 * @since 0.1.0
 */
export interface Line {
  /** When, in milliseconds since 1970. */
  readonly at: number
  readonly level: Logging.Level
  /** Which server; `undefined` for the host's own lines. */
  readonly server: string | undefined
  readonly text: string
}

/**
 * How a log is kept. All of it has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The least serious level that is kept: `debug`, so that every request is there. `info` leaves them out. */
  readonly level?: Logging.Level
  /** How many lines a late reader still gets: a finite number. 256. */
  readonly replay?: number
}

/**
 * A log.
 *
 * @category models
 * @since 0.1.0
 */
export interface HostLog {
  /** The lines, beginning with the last `Options.replay`. Slow readers lose the oldest past 1,024 more. */
  readonly lines: Stream.Stream<Line>
  /**
   * Adds a line of the program's own, in order with the others: what a language model is told and says. `info` by default.
   */
  readonly write: (line: {
    readonly text: string
    readonly level?: Logging.Level
    readonly server?: string
  }) => Effect.Effect<void>
  /**
   * Logs what happens in a host, from its first kept event on, until the host or the log ends. Each line is there when its
   * event is.
   */
  readonly follow: (host: Host["Service"]) => Effect.Effect<void>
  /** Hides a text wherever it occurs from now on. The secrets of entries are hidden without this. */
  readonly hide: (secret: string) => Effect.Effect<void>
  /** How many lines were lost because the disk could not keep up. */
  readonly lost: Effect.Effect<number>
}

/**
 * A line as it stands in the file: time, level, server, text.
 *
 * @category formatting
 * @since 0.1.0
 */
export const format = ({ at, level, server, text }: Line): string =>
  `${DateTime.formatIso(DateTime.makeUnsafe(at))} ${level.toUpperCase()} ${server === undefined ? "" : `[${Secrets.oneLine(server)}] `}${text}`

/** How many lines may wait for the disk. */
const waiting = 65_536

/** How long the end of the log waits for the disk. */
const patience = "5 seconds"

const start = Effect.fnUntraced(function* (
  { level: floor = "debug", replay }: Options,
  open: (report: (diagnostic: Diagnostic) => Effect.Effect<void>) => Effect.Effect<LogFile.LogFile> | undefined
): Effect.fn.Return<HostLog, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const outer = yield* reporting
  const secrets = Secrets.make()
  const lines = Broadcast.make<Line>(replay)
  const queue = yield* Queue.dropping<string, Cause.Done>(waiting)
  const hosts = new Set<Host["Service"]>()
  const mine = new WeakSet<Diagnostic>()
  let lost = 0

  const add = (line: Line) => {
    if (!Logging.isAtLeast(line.level, floor)) return
    const safe: Line = { ...line, text: secrets.clean(line.text) }
    lines.publish(safe)
    if (file !== undefined && !Queue.offerUnsafe(queue, `${format(safe)}\n`)) lost++
  }
  const write = (server: string | undefined, level: Logging.Level, text: string) =>
    Effect.sync(() => add({ at: clock.currentTimeMillisUnsafe(), level, server, text }))

  const file = yield* (
    open((diagnostic) =>
      Effect.sync(() => mine.add(diagnostic)).pipe(
        Effect.andThen(outer(diagnostic)),
        Effect.andThen(write(undefined, "warning", describe(diagnostic))),
        Effect.andThen(Effect.forEach(hosts, (host) => host.report(diagnostic), { discard: true }))
      )
    ) ?? Effect.undefined
  )

  const writing =
    file === undefined
      ? undefined
      : yield* Stream.fromQueue(queue).pipe(
          Stream.chunks,
          Stream.runForEach((batch) => Effect.forEach(batch, file.append, { discard: true })),
          Effect.forkIn(scope)
        )

  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* Queue.end(queue)
      if (writing !== undefined) yield* Effect.timeoutOption(Fiber.await(writing), patience)
      lines.end()
    })
  )

  const logged = (host: Host["Service"]) => (event: HostEvent) => {
    // What the log itself has to say stands in it already.
    if (event.happening._tag === "Noticed" && mine.has(event.happening.diagnostic)) return
    for (const { entry } of SubscriptionRef.getUnsafe(host.servers).values()) secrets.learn(entry)
    const { at, happening, level, server } = event
    if (happening._tag === "Loaded") {
      for (const entry of [...happening.difference.added, ...happening.difference.changed]) secrets.learn(entry)
    }
    add({ at, level, server, text: text(happening) })
  }

  return {
    lines: lines.stream,
    write: ({ level = "info", server, text }) => write(server, level, text),
    follow: (host) =>
      Effect.suspend(() => {
        hosts.add(host)
        const its = Scope.forkUnsafe(scope)
        const letGo = Effect.andThen(
          Effect.sync(() => hosts.delete(host)),
          Scope.close(its, Exit.void)
        )
        return Scope.provide(host.listen(logged(host)), its).pipe(
          // These are few, and end with the host.
          Effect.andThen(
            Stream.runDrain(host.diagnostics).pipe(
              Effect.andThen(letGo),
              Effect.forkIn(scope, { startImmediately: true })
            )
          ),
          Effect.asVoid
        )
      }),
    hide: (secret) => Effect.sync(() => secrets.hide(secret)),
    lost: Effect.sync(() => lost)
  }
})

/**
 * A log in the program alone, for as long as the scope lives.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Effect.Effect<HostLog, never, Scope.Scope> =>
  start(options, () => undefined)

/**
 * A log that is appended to a file too. A file that cannot be written is a diagnostic; the log goes on.
 *
 * @example
 * ```ts
 * import { Host, HostLog } from "@mcp-effect/host"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function* () {
 *   const log = yield* HostLog.toFile({ path: "my-assistant.log" })
 *   const host = yield* Host.make()
 *   yield* log.follow(host)
 *   return host
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const toFile = (
  options: Options & LogFile.Options
): Effect.Effect<HostLog, never, FileSystem.FileSystem | Path.Path | Scope.Scope> =>
  Effect.flatMap(Effect.context<FileSystem.FileSystem | Path.Path>(), (context) =>
    start(options, (report) =>
      LogFile.make(options).pipe(Effect.provideService(Diagnostics, report), Effect.provideContext(context))
    )
  )
