/**
 * A server in a child process, spoken to over its standard input and output, on Node itself.
 *
 * The same options and the same behaviour as `Stdio`, over `node:child_process` instead of Effect's process streams, which
 * saves a good part of the work per message. On Windows it also finds and runs `.cmd` files; `Stdio` leaves that to its
 * spawner. It and `NodeHttp` are the only modules of the libraries that import `node:`, and no other module imports them:
 * import it as `@mcp-effect/transport/NodeStdio`.
 *
 * @since 0.1.0
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { reporter } from "@mcp-effect/protocol/Diagnostic"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as NodeChildProcess from "node:child_process"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { contained } from "./internal/contained.ts"
import * as Launch from "./internal/launch.ts"
import * as WindowsCommand from "./internal/windowsCommand.ts"
import * as Pipe from "./Pipe.ts"
import type { Options } from "./Stdio.ts"
import { Transport } from "./Transport.ts"
import { Closed, Exited, SpawnFailed, TransportError } from "./TransportError.ts"

/**
 * Makes the transport.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Transport["Service"] => {
  const endpoint = Launch.commandLine(options.command, options.args ?? [])
  return Transport.of({
    kind: "stdio",
    endpoint,
    setting: Launch.setting(options),
    reopenable: true,
    open: (hear) => Pipe.open({ endpoint, hear, connect: connect(endpoint, options) })
  })
}

/**
 * The transport as a layer.
 *
 * @example
 * ```ts
 * McpClient.layer(options).pipe(Layer.provide(NodeStdio.layer({ command: "node", args: ["server.mjs"] })))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Transport> => Layer.sync(Transport, () => make(options))

type Child = NodeChildProcess.ChildProcessWithoutNullStreams

const onWindows = () => process.platform === "win32"

/** How often a dying process group is looked at. */
const glance = "10 millis"

const connect =
  (endpoint: string, options: Options) =>
  (listener: Pipe.Listener): Effect.Effect<Pipe.Pipe, TransportError, Scope.Scope> =>
    Effect.gen(function* () {
      const { command, onStderr } = options
      const patience = yield* Defaults.ShutdownPatience
      const tail = Launch.tail(yield* Defaults.StderrTailBytes)
      const shown = contained(endpoint, "onStderr", onStderr, yield* reporter)
      const exited = Deferred.makeUnsafe<void>()
      const closed = Deferred.makeUnsafe<void>()
      const over = Deferred.makeUnsafe<string>()
      const end = (because: string) => () => void Deferred.doneUnsafe(over, Effect.succeed(because))

      const child = yield* Effect.acquireRelease(
        spawn(endpoint, options, (started) => {
          started.stdout.on("data", listener.data)
          started.stdout.on("end", end("the server closed its output"))
          started.stderr.on("data", (chunk: Uint8Array) => {
            tail.add(chunk)
            shown(chunk)
          })
          started.stdin.on("drain", listener.drained)
          started.stdin.on("close", end("the server closed its input"))
          started.on("exit", () => {
            Deferred.doneUnsafe(exited, Effect.void)
            end("it ended")()
          })
          started.on("close", () => void Deferred.doneUnsafe(closed, Effect.void))
          // Unheard, the error of a write to a dead child would end this program (T-STDIO-10).
          for (const stream of [started.stdin, started.stdout, started.stderr, started]) stream.on("error", () => {})
        }),
        (started) => stop(started, Deferred.await(exited), patience)
      )

      yield* Effect.gen(function* () {
        const because = yield* Deferred.await(over)
        yield* Deferred.await(closed).pipe(Effect.timeoutOption(Launch.trickle))
        listener.ended(
          hasExited(child)
            ? new Exited({ command, code: child.exitCode, signal: child.signalCode, stderr: tail.text() })
            : new Closed({ because })
        )
      }).pipe(Effect.forkScoped)

      return { write: (lines) => child.stdin.write(lines), stderr: tail.text }
    })

const spawn = (endpoint: string, options: Options, attach: (child: Child) => void) =>
  Effect.callback<Child, TransportError>((resume) => {
    const { args = [], command, cwd, env = {}, inheritEnv = false } = options
    const fail = (because: string) =>
      resume(Effect.fail(new TransportError({ endpoint, reason: new SpawnFailed({ command, because }) })))
    const variables = Object.fromEntries(
      Object.entries(Launch.environment({ ...Launch.self(), entries: env, inherit: inheritEnv })).map(
        ([name, value]) => [name, Launch.reveal(value)] as const
      )
    )
    const invocation = invocationOf(command, args.map(Launch.reveal), cwd, variables)
    if (Result.isFailure(invocation)) return fail(invocation.failure)
    const { success: call } = invocation
    const started = Result.try(() =>
      NodeChildProcess.spawn(call.command, call.args, {
        stdio: ["pipe", "pipe", "pipe"],
        env: variables,
        windowsVerbatimArguments: call.verbatim,
        // A group of its own, so that what the child starts can be ended with it.
        detached: !onWindows(),
        windowsHide: true,
        ...(cwd === undefined ? {} : { cwd })
      })
    )
    // Node's words for an argument it refuses quote the argument, which may be secret.
    if (Result.isFailure(started)) return fail("InvalidArgument")
    const child = started.success
    child.once("error", (error: NodeJS.ErrnoException) =>
      fail(cwd === undefined ? because(error) : `${because(error)}, in the folder ${cwd}`)
    )
    child.once("spawn", () => resume(Effect.succeed(child)))
    attach(child)
  })

/** On Windows a command may mean a batch file; everywhere else it is what it says. */
const invocationOf = (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string | undefined,
  variables: Readonly<Record<string, string>>
): Result.Result<WindowsCommand.Invocation, string> => {
  if (!onWindows()) return Result.succeed({ command, args, verbatim: false })
  const variable = (name: string) => Object.entries(variables).find(([key]) => key.toUpperCase() === name)?.[1]
  const found = WindowsCommand.candidates({
    command,
    cwd: cwd === undefined ? undefined : resolve(cwd),
    path: variable("PATH"),
    pathExt: variable("PATHEXT")
  }).find((file) => existsSync(file))
  return WindowsCommand.invocation(found ?? command, args, process.env["ComSpec"] ?? "cmd.exe")
}

const reasons: ReadonlyMap<string | undefined, string> = new Map([
  ["ENOENT", "NotFound"],
  ["EACCES", "PermissionDenied"],
  ["EPERM", "PermissionDenied"]
])

const because = ({ code }: NodeJS.ErrnoException): string => reasons.get(code) ?? code ?? "Unknown"

const hasExited = (child: Child) => child.exitCode !== null || child.signalCode !== null

/** Sends a signal to the child and all of its group; `0` only asks whether anyone is left. */
const signal = (child: Child, name: NodeJS.Signals | 0): boolean => {
  const { pid } = child
  if (pid === undefined) return false
  if (onWindows()) {
    if (name === 0 || hasExited(child)) return !hasExited(child)
    NodeChildProcess.execFile("taskkill", ["/pid", String(pid), "/T", "/F"], { windowsHide: true }, () => {})
    return true
  }
  // Throws when nobody is left.
  return Result.isSuccess(Result.try(() => process.kill(-pid, name)))
}

/** Closes its stdin and waits, terminates and waits, kills (L-STDIO-7, M-STDIO-14). */
const stop = Effect.fnUntraced(function* (child: Child, exited: Effect.Effect<void>, patience: Duration.Duration) {
  const gone: Effect.Effect<void> = Effect.suspend(() =>
    hasExited(child) && !signal(child, 0) ? Effect.void : Effect.delay(gone, glance)
  )
  child.stdin.end()
  yield* Effect.timeoutOption(exited, patience)
  if (signal(child, 0)) {
    signal(child, "SIGTERM")
    yield* Effect.timeoutOption(gone, patience)
    if (signal(child, 0)) {
      signal(child, "SIGKILL")
      yield* Effect.timeoutOption(exited, patience)
    }
  }
  // Whatever a stranger still holds open must not keep this program alive.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
  child.unref()
})
