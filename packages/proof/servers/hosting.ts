/**
 * How a server comes up and goes away: inside this process or as a process of its own. Which servers there are, and what a
 * client finds there, is said in `Servers.ts`.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createServer, type RequestListener } from "node:http"
import { createRequire } from "node:module"

/**
 * A server did not come up: a package is not installed, a port cannot be opened, or the process ended or stayed silent.
 *
 * @category errors
 * @since 0.1.0
 */
export class ServerFailed extends Schema.TaggedError<ServerFailed>()("ServerFailed", {
  /** The name of the server. */
  server: Schema.String,
  /** What happened. */
  because: Schema.String,
  /** The end of what the process wrote to standard error, when there is one. */
  stderr: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const said = this.stderr === undefined || this.stderr === "" ? "" : `. It wrote: ${this.stderr}`
    return `the server "${this.server}" did not start: ${this.because}${said}`
  }
}

/** A server that waits for requests, and how to end it. */
export interface Served {
  readonly listener: RequestListener
  readonly close: () => Promise<void>
}

const Manifest = Schema.fromJsonString(Schema.Struct({ bin: Schema.Record(Schema.String, Schema.String) }))
const decodeManifest = Schema.decodeUnknownEffect(Manifest)

/** The file behind the only `bin` of an installed package. */
export const binOf = Effect.fnUntraced(function* (server: string, packageName: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const failed = (error: { readonly message: string }) => new ServerFailed({ server, because: error.message })
  const manifest = yield* Effect.try({
    try: () => createRequire(import.meta.url).resolve(`${packageName}/package.json`),
    catch: () => new ServerFailed({ server, because: `${packageName} is not installed` })
  })
  const { bin } = yield* fs.readFileString(manifest).pipe(Effect.flatMap(decodeManifest), Effect.mapError(failed))
  const file = Object.values(bin)[0]
  return file === undefined
    ? yield* new ServerFailed({ server, because: `${packageName} has no bin` })
    : path.join(path.dirname(manifest), file)
})

/** Listens on a free port of loopback; closing the scope cuts every connection. */
export const listen = Effect.fnUntraced(function* (server: string, served: Served) {
  const http = createServer((request, response) => {
    if (request.url === "/mcp") {
      served.listener(request, response)
    } else {
      response.writeHead(404).end()
    }
  })
  yield* Effect.addFinalizer(() =>
    Effect.promise(served.close).pipe(
      Effect.ensuring(
        Effect.callback<void>((resume) => {
          http.close(() => resume(Effect.void))
          http.closeAllConnections()
        })
      )
    )
  )
  return yield* Effect.callback<string, ServerFailed>((resume) => {
    http.once("error", (error) => resume(Effect.fail(new ServerFailed({ server, because: error.message }))))
    http.listen(0, "127.0.0.1", () => {
      const address = http.address()
      resume(
        Effect.succeed(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/mcp`)
      )
    })
  })
})

/**
 * Runs the `bin` of a package as an HTTP server and waits until it listens. The process gets no environment but its
 * port: the reference server shows its environment to whoever asks.
 */
export const spawnHttp = Effect.fnUntraced(function* (server: string, packageName: string, mode: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const bin = yield* binOf(server, packageName)
  const child = yield* spawner
    .spawn(
      ChildProcess.make(process.execPath, ["--import", new URL("loopback.ts", import.meta.url).href, bin, mode], {
        env: { PORT: "0", SystemRoot: process.env.SystemRoot },
        stdout: "ignore",
        forceKillAfter: "2 seconds"
      })
    )
    .pipe(Effect.mapError((error) => new ServerFailed({ server, because: error.message })))
  const ready = yield* Deferred.make<string, ServerFailed>()
  let stderr = ""
  yield* child.stderr.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => {
      stderr = `${stderr}${line}\n`.slice(-4096)
      const port = /^ready (\d+)$/.exec(line)?.[1]
      return port === undefined ? Effect.void : Deferred.succeed(ready, `http://127.0.0.1:${port}`)
    }),
    Effect.ignore,
    Effect.andThen(
      Effect.suspend(() => Deferred.fail(ready, new ServerFailed({ server, because: "it ended", stderr })))
    ),
    Effect.forkScoped
  )
  return yield* Deferred.await(ready).pipe(
    Effect.timeoutOrElse({
      duration: "30 seconds",
      orElse: () => Effect.suspend(() => new ServerFailed({ server, because: "no port within 30 s", stderr }))
    })
  )
})
