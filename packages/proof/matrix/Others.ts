/**
 * Other clients and the same servers: the official TypeScript client and the command line of the official Inspector. Each
 * is told the command or the address and nothing more, connects and lists the tools.
 *
 * `rows` is the expectation, `measure` finds out.
 */
import * as Mcp from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import { Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as NodeScriptedServer from "@mcp-effect/testing/NodeScriptedServer"
import * as Script from "@mcp-effect/testing/Script"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { createRequire } from "node:module"
import * as Path from "node:path"
import { ServerFailed } from "../servers/hosting.ts"
import { rows as servers, type Row as Server, type Target } from "./Matrix.ts"

/** The version a client agreed on, `works` when it does not tell, or in few words how it failed. */
export interface Found {
  readonly ours: string
  readonly official: string
  readonly officialAuto: string
  readonly inspector: string
}

export interface Row extends Found {
  readonly server: string
}

/** Whether a client got through, for those that do not tell a version. */
const works = "works"
const fails = "fails"

const row = (server: string, ours: string, official: string, officialAuto: string, inspector: string): Row => ({
  server,
  ours,
  official,
  officialAuto,
  inspector
})

const dying = "scripted, ends at the probe"

export const rows: ReadonlyArray<Row> = [
  row("server 2.4.0", "2026-07-28", "2025-11-25", "2026-07-28", works),
  row("server 2.4.0, HTTP", "2026-07-28", "2025-11-25", "2026-07-28", works),
  row("server 2.4.0, HTTP, modern only", "2026-07-28", fails, "2026-07-28", works),
  row("effect, every revision", "2026-07-28", "2025-11-25", "2026-07-28", works),
  row("effect, 2026-07-28", "2026-07-28", fails, "2026-07-28", works),
  row("effect, 2025-11-25", "2025-11-25", "2025-11-25", "2025-11-25", works),
  row("effect, 2024-11-05", "2024-11-05", "2024-11-05", "2024-11-05", works),
  row("everything", "2025-11-25", "2025-11-25", "2025-11-25", works),
  row("everything, HTTP", "2025-11-25", "2025-11-25", "2025-11-25", works),
  row("everything, HTTP+SSE", "2025-11-25", fails, fails, works),
  row("filesystem", "2025-11-25", "2025-11-25", "2025-11-25", works),
  row("sdk 1.11.0, HTTP", "2025-03-26", "2025-03-26", "2025-03-26", works),
  row("sdk 1.0.0", "2024-11-05", "2024-11-05", "2024-11-05", works),
  row("sdk 1.0.0, HTTP+SSE", "2024-11-05", fails, fails, fails),
  row(dying, "2025-11-25", "2025-11-25", "2025-11-25", fails)
]

/** A server of the handshake era whose process ends at a request that it does not know. */
const startDying: Effect.Effect<Target, never, Scope.Scope> = Effect.map(
  NodeScriptedServer.make(Script.legacy({ on: { "server/discover": [Script.exit(1)] } })),
  ({ args, command }) => ({ command, args })
)

const startOf = (server: string): Server["start"] =>
  server === dying
    ? startDying
    : (servers.find((each) => each.server === server)?.start ??
      Effect.fail(new ServerFailed({ server, because: "there is no such row" })))

const ours = (target: Target) =>
  Effect.gen(function* () {
    const client = yield* "url" in target ? Mcp.connect(target.url) : Mcp.connect(NodeStdio.make(target))
    yield* client.listTools()
    return client.agreement.version
  }).pipe(
    Effect.scoped,
    Effect.provide(EraMemory.layerInProcess),
    Effect.provideService(Diagnostics, () => Effect.void),
    Effect.catch(() => Effect.succeed(fails))
  )

const official = (target: Target, mode: "legacy" | "auto") =>
  Effect.acquireUseRelease(
    Effect.sync(() => new Client({ name: "compare", version: "1.0.0" }, { versionNegotiation: { mode } })),
    (client) =>
      Effect.tryPromise(async () => {
        await client.connect(
          "url" in target
            ? new StreamableHTTPClientTransport(new URL(target.url))
            : new StdioClientTransport({ command: target.command, args: [...target.args], stderr: "ignore" })
        )
        await client.listTools()
        return client.getNegotiatedProtocolVersion() ?? "?"
      }),
    (client) => Effect.ignore(Effect.tryPromise(() => client.close()))
  ).pipe(Effect.catch(() => Effect.succeed(fails)))

const Listed = Schema.fromJsonString(Schema.Struct({ result: Schema.Struct({ tools: Schema.Array(Schema.Unknown) }) }))
const decodeListed = Schema.decodeUnknownResult(Listed)

const inspectorBin = Path.join(
  Path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json")),
  "clients/launcher/build/index.js"
)

/** Runs its command line; it works when it prints the tools. */
const inspector = Effect.fnUntraced(function* (target: Target) {
  const spawner = yield* ChildProcessSpawner
  // It keeps files in the home of whoever runs it.
  const home = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "mcp-inspector-" })
  const where = "url" in target ? [target.url] : [target.command, ...target.args]
  const printed = yield* spawner
    .string(
      ChildProcess.make(
        process.execPath,
        [inspectorBin, "--cli", ...where, "--method", "tools/list", "--protocol-era", "auto", "--format", "json", "-q"],
        { stdin: "ignore", stderr: "ignore", env: { HOME: home, USERPROFILE: home }, extendEnv: true }
      )
    )
    .pipe(Effect.timeout("60 seconds"), Effect.result)
  return Result.isSuccess(printed) && Result.isSuccess(decodeListed(printed.success)) ? works : fails
})

/** Lets each client connect to the server of a row. */
export const measure = ({
  server
}: Row): Effect.Effect<
  Found,
  { readonly message: string },
  HttpClient.HttpClient | Exclude<Effect.Services<Server["start"]>, Scope.Scope>
> =>
  Effect.gen(function* () {
    const target = yield* startOf(server)
    return {
      ours: yield* ours(target),
      official: yield* official(target, "legacy"),
      officialAuto: yield* official(target, "auto"),
      inspector: yield* inspector(target)
    }
  }).pipe(Effect.scoped)

/** What a row expects. */
export const expected = ({ inspector, official, officialAuto, ours }: Row): Found => ({
  ours,
  official,
  officialAuto,
  inspector
})
