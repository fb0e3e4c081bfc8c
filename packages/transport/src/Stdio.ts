/**
 * A server in a child process, spoken to over its standard input and output.
 *
 * This transport runs wherever Effect has a `ChildProcessSpawner`. On Node, `NodeStdio` does the same with less work
 * per message. One process is one wire: opening again starts a new one.
 *
 * The child gets a small, safe part of this program's environment (L-STDIO-9) and what `env` names. Its stderr is always
 * read; the end of it is kept for the error that says the process ended, or does not answer. When the scope closes, its
 * stdin is closed, and a process that stays is terminated and then killed, with all it has started (T-STDIO-8). A process
 * that left the group and still holds the pipes keeps a Node program alive until it ends; with `NodeStdio` it does not.
 *
 * @since 0.1.0
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { reporter } from "@mcp-effect/protocol/Diagnostic"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { contained } from "./internal/contained.ts"
import * as Launch from "./internal/launch.ts"
import * as Outbox from "./internal/outbox.ts"
import * as Pipe from "./Pipe.ts"
import { Transport } from "./Transport.ts"
import { Closed, Exited, SpawnFailed, TransportError } from "./TransportError.ts"

/**
 * What to launch, and how.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The program: a path, or a name to look up on PATH. No shell is involved. */
  readonly command: string
  /** Its arguments, one by one. A `Redacted` one does not show in `endpoint` and messages. */
  readonly args?: ReadonlyArray<string | Redacted.Redacted>
  /** Variables on top of the inherited ones; `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | Redacted.Redacted | undefined>>
  /** Whether the child inherits the whole environment instead of the allow-list. No. */
  readonly inheritEnv?: boolean
  /** The working directory; this program's by default. */
  readonly cwd?: string
  /** Sees everything the child writes to stderr, synchronously. One that throws is reported and not called again. */
  readonly onStderr?: (bytes: Uint8Array) => void
}

/**
 * Makes the transport.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Transport["Service"], never, ChildProcessSpawner> {
  const spawner = yield* ChildProcessSpawner
  const endpoint = Launch.commandLine(options.command, options.args ?? [])
  return Transport.of({
    kind: "stdio",
    endpoint,
    setting: Launch.setting(options),
    reopenable: true,
    open: (hear) => Pipe.open({ endpoint, hear, connect: connect(spawner, endpoint, options) })
  })
})

/**
 * The transport as a layer.
 *
 * @example
 * ```ts
 * Stdio.layer({ command: "npx", args: ["-y", "some-server"] }).pipe(Layer.provide(NodeServices.layer))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Transport, never, ChildProcessSpawner> =>
  Layer.effect(Transport, make(options))

const each = (take: (bytes: Uint8Array) => void) =>
  Stream.runForEachArray((chunks: ReadonlyArray<Uint8Array>) => Effect.sync(() => chunks.forEach(take)))

const connect =
  (spawner: ChildProcessSpawner["Service"], endpoint: string, options: Options) =>
  (listener: Pipe.Listener): Effect.Effect<Pipe.Pipe, TransportError, Scope.Scope> =>
    Effect.gen(function* () {
      const { args = [], command, cwd, env = {}, inheritEnv = false, onStderr } = options
      const patience = yield* Defaults.ShutdownPatience
      const tail = Launch.tail(yield* Defaults.StderrTailBytes)
      const shown = contained(endpoint, "onStderr", onStderr, yield* reporter)
      const child = yield* spawner
        .spawn(
          ChildProcess.make(command, [...args], {
            env: Launch.environment({ ...Launch.self(), entries: env, inherit: inheritEnv }),
            extendEnv: false,
            killSignal: "SIGTERM",
            forceKillAfter: patience,
            ...(cwd === undefined ? {} : { cwd })
          })
        )
        .pipe(
          Effect.mapError(
            (error) => new TransportError({ endpoint, reason: new SpawnFailed({ command, because: why(error) }) })
          ),
          // A spawner throws for a command that is no command at all, such as the empty one (T-STDIO-6).
          Effect.catchDefect((defect) =>
            Effect.fail(
              new TransportError({ endpoint, reason: new SpawnFailed({ command, because: excerpt(String(defect)) }) })
            )
          )
        )

      const input = Outbox.make(listener.drained)
      const written = yield* Effect.forkScoped(Stream.run(input.stream, child.stdin))
      const read = yield* Effect.forkScoped(each(listener.data)(child.stdout), { startImmediately: true })
      const drained = yield* child.stderr.pipe(
        each((bytes) => {
          tail.add(bytes)
          shown(bytes)
        }),
        (drain) => Effect.forkScoped(drain, { startImmediately: true })
      )
      const exited = yield* Effect.forkScoped(Effect.exit(child.exitCode), { startImmediately: true })

      yield* Effect.gen(function* () {
        const over = yield* Effect.raceAllFirst([
          Effect.as(Fiber.await(exited), "it ended"),
          Effect.as(Fiber.await(read), "the server closed its output"),
          Effect.as(Fiber.await(written), "the server closed its input")
        ])
        yield* Fiber.awaitAll([exited, read, drained]).pipe(Effect.timeoutOption(Launch.trickle))
        const exit = exited.pollUnsafe()
        listener.ended(
          exit !== undefined && Exit.isSuccess(exit)
            ? new Exited({ command, ...status(exit.value), stderr: tail.text() })
            : new Closed({ because: over })
        )
      }).pipe(Effect.forkScoped)

      // Runs before the finalizers above: the child sees the end of its input and may go in peace.
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          input.close()
          return Effect.timeoutOption(Fiber.await(exited), patience)
        })
      )
      return { write: input.write, stderr: tail.text }
    })

const why = (error: PlatformError.PlatformError): string => error.reason._tag

const status = (exit: Exit.Exit<number, PlatformError.PlatformError>) =>
  Exit.isSuccess(exit)
    ? { code: exit.value, signal: null }
    : // The spawner tells a signal only in words.
      { code: null, signal: /\bSIG[A-Z0-9]+\b/.exec(Cause.pretty(exit.cause))?.[0] ?? null }
