/**
 * The client in a browser: starts servers of both eras and a page of another origin on loopback, opens the page in headless
 * Chromium, and checks that it connected to each, listed tools and called one.
 *
 * Run it with `npx -y pnpm@12 run test:browser`. `CHROMIUM` names the browser, `chromium` by default. It exits with 1 when a
 * visit fails, and leaves no process behind.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { listen, type Served } from "../servers/hosting.ts"
import { makeOfficialListener } from "../servers/officialServer.ts"
import { makeSdkListener } from "../servers/sdkServer.ts"
import { bundle } from "./bundle.ts"

/** The page did not do what it should. */
class BrowserFailed extends Schema.TaggedError<BrowserFailed>()("BrowserFailed", { because: Schema.String }) {
  override get message() {
    return this.because
  }
}

const Found = Schema.Array(
  Schema.Union([
    Schema.Struct({ era: Schema.String, tools: Schema.Finite, said: Schema.String }),
    Schema.Struct({ failed: Schema.String })
  ])
)
const decodeFound = Schema.decodeUnknownEffect(Schema.fromJsonString(Found))

/** Says what it found to where it came from. */
const html = `<!doctype html>
<link rel="icon" href="data:," />
<script type="module">
  const failed = (error) => ({ failed: String(error) })
  const servers = new URL(location.href).searchParams.getAll("server")
  const found = await import("/entry.js").then(
    ({ visit }) => Promise.all(servers.map((server) => visit(server).catch(failed))),
    (error) => [failed(error)]
  )
  await fetch("/found", { method: "POST", body: JSON.stringify(found) })
</script>`

/** Serves the page and its bundle, and waits for what the page found. */
const servePage = Effect.fnUntraced(function* (files: ReadonlyMap<string, string>) {
  const found = yield* Deferred.make<string>()
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname
    const code = files.get(path.slice(1))
    if (path === "/found") {
      void text(request).then((body) => Deferred.doneUnsafe(found, Effect.succeed(body)))
      response.writeHead(204).end()
    } else if (code === undefined) {
      response.writeHead(path === "/" ? 200 : 404, { "content-type": "text/html" }).end(path === "/" ? html : "")
    } else {
      response.writeHead(200, { "content-type": "text/javascript" }).end(code)
    }
  })
  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
      server.closeAllConnections()
    })
  )
  const port = yield* Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
  return { origin: `http://127.0.0.1:${port}`, found: Deferred.await(found) }
})

/** What a server of another origin has to say to a browser, and no more than that. */
const allowing = (origin: string, { close, listener }: Served): Served => ({
  close,
  listener: (request, response) => {
    response.setHeader("access-control-allow-origin", origin)
    response.setHeader("access-control-expose-headers", "mcp-session-id, www-authenticate, retry-after")
    if (request.method !== "OPTIONS") return listener(request, response)
    return response
      .writeHead(204, {
        "access-control-allow-methods": "POST, GET, DELETE",
        "access-control-allow-headers":
          "content-type, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id"
      })
      .end()
  }
})

/** Opens an address in a browser of its own; it is gone with the scope. Gives what it wrote when it ends by itself. */
const browse = Effect.fnUntraced(function* (url: string) {
  const command = yield* Config.String("CHROMIUM").pipe(Config.withDefault("chromium"))
  const profile = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "mcp-browser-" })
  const child = yield* ChildProcess.make(
    command,
    [
      "--headless",
      "--no-sandbox",
      "--no-first-run",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--disable-breakpad",
      // Nothing but loopback exists.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      `--user-data-dir=${profile}`,
      // Keeps it open: without it a headless browser ends when the page is loaded.
      "--remote-debugging-port=0",
      url
    ],
    { stdin: "ignore", stdout: "ignore", forceKillAfter: "5 seconds" }
  ).pipe(
    Effect.mapError(
      ({ reason }) =>
        new BrowserFailed({ because: `could not start \`${command}\`: ${reason._tag}. Name it in CHROMIUM` })
    )
  )
  let stderr = ""
  return child.stderr.pipe(
    Stream.decodeText(),
    Stream.runForEach((chunk) => Effect.sync(() => void (stderr = (stderr + chunk).slice(-2_000)))),
    Effect.andThen(Effect.suspend(() => new BrowserFailed({ because: `the browser ended. It wrote: ${stderr}` })))
  )
})

const program = Effect.gen(function* () {
  const { files } = yield* bundle("./page.ts")
  const { found, origin } = yield* servePage(files)
  const modern = yield* listen("modern", allowing(origin, makeOfficialListener("stateless")))
  const legacy = yield* listen("legacy", allowing(origin, makeSdkListener()))
  const query = [modern, legacy].map((server) => `server=${encodeURIComponent(server)}`).join("&")

  const ended = yield* browse(`${origin}/?${query}`)
  const visits = yield* found.pipe(
    Effect.raceFirst(ended),
    Effect.timeoutOrElse({
      duration: "2 minutes",
      orElse: () => new BrowserFailed({ because: "the page said nothing within 2 minutes" })
    }),
    Effect.flatMap(decodeFound)
  )
  for (const visit of visits) yield* Console.log(JSON.stringify(visit))
  const eras = visits.map((visit) =>
    "era" in visit && visit.tools > 0 && visit.said === "from a page" ? visit.era : "failed"
  )
  if (eras.join() !== "modern,legacy") {
    return yield* new BrowserFailed({ because: `the visits should be modern and legacy, and were: ${eras.join(", ")}` })
  }
  return yield* Console.log("the client works in a browser, in both eras")
})

NodeRuntime.runMain(program.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
