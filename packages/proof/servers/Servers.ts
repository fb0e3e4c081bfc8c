/**
 * Real MCP servers, started here and now, for the demo and the end-to-end tests.
 *
 * Each server is a scoped effect: it gives the address or the command to connect to, and what a client should find
 * there. HTTP servers listen on a free port of loopback and are gone when the scope closes. A stdio server is only
 * described (its files are looked up, its folder is made): the client that connects starts and stops the process.
 *
 * The servers written here (`officialHttp`, `officialStdio`, `sdkHttp`, `sdkStdio`, `effectHttp`) share a surface: the
 * tools in {@link commonTools}, the prompt `greet` (`who`) and the resource `demo://hello`. The others are the published
 * reference servers, unchanged but for the interface that they listen on.
 *
 * @since 0.1.0
 */
import type * as Version from "@mcp-effect/protocol/Version"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import { fileURLToPath } from "node:url"
import { EffectServer } from "./effectServer.ts"
import { binOf, listen, type Served, ServerFailed, spawnHttp } from "./hosting.ts"
import { makeOfficialListener } from "./officialServer.ts"
import { makeSdkListener } from "./sdkServer.ts"

/**
 * One call that every client can make, and a text that the answer contains.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExpectedCall {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** Contained in the text of the first content block. */
  readonly expectText: string
}

/**
 * What a client finds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Expectation {
  /** The era that a client in `auto` mode settles on. */
  readonly era: Version.Era
  /** The version that a client in `auto` mode settles on. */
  readonly version: Version.Version
  /** Every version that the server speaks, as seen on the wire, newest first. */
  readonly speaks: ReadonlyArray<Version.Version>
  /** The `name` that the server gives itself. */
  readonly identity: string
  /**
   * Tools that are always listed. `everything` adds one once it has `notifications/initialized`, more to a client that
   * declares more capabilities, and then says `notifications/tools/list_changed`.
   */
  readonly tools: ReadonlyArray<string>
  readonly call: ExpectedCall
}

/**
 * A server behind a command. The client starts the process.
 *
 * @category models
 * @since 0.1.0
 */
export interface StdioServer {
  readonly name: string
  readonly kind: "stdio"
  readonly target: {
    readonly command: string
    readonly args: ReadonlyArray<string>
    readonly env?: Readonly<Record<string, string>>
  }
  readonly expects: Expectation
}

/**
 * A server behind an address: `http` speaks Streamable HTTP, `sse` only the older HTTP+SSE.
 *
 * @category models
 * @since 0.1.0
 */
export interface UrlServer {
  readonly name: string
  readonly kind: "http" | "sse"
  readonly target: { readonly url: string }
  readonly expects: Expectation
}

/**
 * A server that is ready for a client.
 *
 * @category models
 * @since 0.1.0
 */
export type RunningServer = StdioServer | UrlServer

export { ServerFailed }

/**
 * Tools of every server written here:
 *
 * - `echo { text }` says the text back;
 * - `add { a, b }` answers with structured content `{ sum }`;
 * - `count { to }` sends one progress notification per step, if the call has a progress token;
 * - `fail { because }` answers with `isError`;
 * - `announce {}` makes the server say that its tools and `demo://hello` changed.
 *
 * `official*` and `sdk*` have two more: `ask { question }` asks the user through a form with one field `answer`, and
 * `route { region }` wants its argument mirrored in the header `Mcp-Param-Region`.
 *
 * @category surface
 * @since 0.1.0
 */
export const commonTools = ["echo", "add", "count", "fail", "announce"] as const

const sdkTools = [...commonTools, "ask", "route"]

const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const
const allVersions = ["2026-07-28", ...legacyVersions] as const

const echoes: ExpectedCall = { tool: "echo", arguments: { text: "good morning" }, expectText: "good morning" }

/** What any of the servers may need; `NodeServices.layer` and a scope give it all. */
type Needs = Scope.Scope | ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path

const everythingPackage = "@modelcontextprotocol/server-everything"

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

const inProcess = (name: string, serve: () => Served, expects: Expectation) =>
  Effect.map(
    Effect.suspend(() => listen(name, serve())),
    (url): UrlServer => ({ name, kind: "http", target: { url }, expects })
  )

const stdio = (name: string, args: ReadonlyArray<string>, expects: Expectation): StdioServer => ({
  name,
  kind: "stdio",
  target: { command: process.execPath, args },
  expects
})

const official = (speaks: Expectation["speaks"]): Expectation => ({
  era: "modern",
  version: "2026-07-28",
  speaks,
  identity: "official",
  tools: sdkTools,
  call: echoes
})

const sdk: Expectation = {
  era: "legacy",
  version: "2025-11-25",
  speaks: legacyVersions,
  identity: "sdk",
  tools: sdkTools,
  call: echoes
}

const everything: Expectation = {
  era: "legacy",
  version: "2025-11-25",
  speaks: legacyVersions,
  identity: "mcp-servers/everything",
  tools: [
    "echo",
    "get-annotated-message",
    "get-env",
    "get-resource-links",
    "get-resource-reference",
    "get-structured-content",
    "get-sum",
    "get-tiny-image",
    "gzip-file-as-resource",
    "toggle-simulated-logging",
    "toggle-subscriber-updates",
    "trigger-long-running-operation"
  ],
  call: { tool: "get-sum", arguments: { a: 2, b: 3 }, expectText: "The sum of 2 and 3 is 5." }
}

/**
 * The official modern server over HTTP. Legacy requests are served too, each alone, without a session.
 *
 * @category servers
 * @since 0.1.0
 */
export const officialHttp: Effect.Effect<UrlServer, ServerFailed, Scope.Scope> = inProcess(
  "official-http",
  () => makeOfficialListener("stateless"),
  official(allVersions)
)

/**
 * The official modern server over HTTP with the legacy era switched off: `initialize` is refused.
 *
 * @category servers
 * @since 0.1.0
 */
export const officialModernOnlyHttp: Effect.Effect<UrlServer, ServerFailed, Scope.Scope> = inProcess(
  "official-modern-only-http",
  () => makeOfficialListener("reject"),
  official(["2026-07-28"])
)

/**
 * The official modern server over stdio. A `server/discover` leaves the era open; the first request after it pins the era
 * for the life of the process.
 *
 * @category servers
 * @since 0.1.0
 */
export const officialStdio: Effect.Effect<StdioServer> = Effect.succeed(
  stdio("official-stdio", [here("officialStdio.ts")], official(allVersions))
)

/**
 * A server on the legacy SDK over Streamable HTTP, with sessions.
 *
 * @category servers
 * @since 0.1.0
 */
export const sdkHttp: Effect.Effect<UrlServer, ServerFailed, Scope.Scope> = inProcess("sdk-http", makeSdkListener, sdk)

/**
 * A server on the legacy SDK over stdio.
 *
 * @category servers
 * @since 0.1.0
 */
export const sdkStdio: Effect.Effect<StdioServer> = Effect.succeed(stdio("sdk-stdio", [here("sdkStdio.ts")], sdk))

/**
 * Effect's own server over HTTP, speaking every revision at one address; legacy revisions with sessions.
 *
 * @category servers
 * @since 0.1.0
 */
export const effectHttp: Effect.Effect<UrlServer, ServerFailed, Scope.Scope> = Layer.build(
  Layer.fresh(EffectServer)
).pipe(
  Effect.mapError((error) => new ServerFailed({ server: "effect-http", because: error.message })),
  Effect.map((context): UrlServer => ({
    name: "effect-http",
    kind: "http",
    target: { url: `${HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)}/mcp` },
    expects: {
      era: "modern",
      version: "2026-07-28",
      speaks: allVersions,
      identity: "effect",
      tools: commonTools,
      call: echoes
    }
  }))
)

/**
 * The reference server "everything" over stdio.
 *
 * @category servers
 * @since 0.1.0
 */
export const everythingStdio: Effect.Effect<StdioServer, ServerFailed, FileSystem.FileSystem | Path.Path> = Effect.map(
  binOf("everything-stdio", everythingPackage),
  (bin) => stdio("everything-stdio", [bin, "stdio"], everything)
)

/**
 * The reference server "everything" over Streamable HTTP, as a process of its own.
 *
 * @category servers
 * @since 0.1.0
 */
export const everythingHttp: Effect.Effect<UrlServer, ServerFailed, Needs> = Effect.map(
  spawnHttp("everything-http", everythingPackage, "streamableHttp"),
  (origin) => ({ name: "everything-http", kind: "http", target: { url: `${origin}/mcp` }, expects: everything })
)

/**
 * The reference server "everything" over the older HTTP+SSE, as a process of its own.
 *
 * @category servers
 * @since 0.1.0
 */
export const everythingSse: Effect.Effect<UrlServer, ServerFailed, Needs> = Effect.map(
  spawnHttp("everything-sse", everythingPackage, "sse"),
  (origin) => ({ name: "everything-sse", kind: "sse", target: { url: `${origin}/sse` }, expects: everything })
)

/**
 * The reference server "filesystem" over stdio, on a temporary folder with one file, `hello.txt`. The folder goes with
 * the scope. A client that declares roots and lists some replaces the folder by them.
 *
 * @category servers
 * @since 0.1.0
 */
export const filesystemStdio: Effect.Effect<
  StdioServer,
  ServerFailed,
  FileSystem.FileSystem | Path.Path | Scope.Scope
> = Effect.gen(function* () {
  const name = "filesystem-stdio"
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const bin = yield* binOf(name, "@modelcontextprotocol/server-filesystem")
  const file = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-files-" }).pipe(
    Effect.flatMap(fs.realPath),
    Effect.map((folder) => path.join(folder, "hello.txt")),
    Effect.tap((target) => fs.writeFileString(target, "Hello from a file\n")),
    Effect.mapError((error) => new ServerFailed({ server: name, because: error.message }))
  )
  return stdio(name, [bin, path.dirname(file)], {
    era: "legacy",
    version: "2025-11-25",
    speaks: legacyVersions,
    identity: "secure-filesystem-server",
    tools: [
      "read_file",
      "read_text_file",
      "read_media_file",
      "read_multiple_files",
      "write_file",
      "edit_file",
      "create_directory",
      "list_directory",
      "list_directory_with_sizes",
      "directory_tree",
      "move_file",
      "search_files",
      "get_file_info",
      "list_allowed_directories"
    ],
    call: { tool: "read_text_file", arguments: { path: file }, expectText: "Hello from a file" }
  })
})

/**
 * Every server, in the order of a tour: modern first, then legacy, each once per transport.
 *
 * @example
 * ```ts
 * import { NodeServices } from "@effect/platform-node"
 * import { Effect } from "effect"
 * import * as Servers from "./Servers.ts"
 *
 * const addresses = Effect.all(Servers.all, { concurrency: "unbounded" }).pipe(
 *   Effect.tap((servers) => Effect.log(servers.map((server) => server.target))),
 *   Effect.scoped,
 *   Effect.provide(NodeServices.layer)
 * )
 * ```
 *
 * @category servers
 * @since 0.1.0
 */
export const all: ReadonlyArray<Effect.Effect<RunningServer, ServerFailed, Needs>> = [
  officialHttp,
  officialStdio,
  officialModernOnlyHttp,
  effectHttp,
  everythingStdio,
  everythingHttp,
  everythingSse,
  filesystemStdio,
  sdkHttp,
  sdkStdio
]
