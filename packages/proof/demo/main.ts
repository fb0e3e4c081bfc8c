/**
 * The demo: starts real servers of both eras, connects to each without being told its era, and prints one row apiece.
 *
 * Run it with `npx -y pnpm@12 demo`. It exits with 1 when a row fails, and leaves no process behind.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as McpClient from "@mcp-effect/client/McpClient"
import * as NodeHttp from "@mcp-effect/transport/NodeHttp"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Servers from "../servers/Servers.ts"
import { heading, type Row, table } from "./table.ts"

/** Starts one server, connects, lists its tools, calls one of them, and closes everything again. */
const visit = Effect.fn("demo.visit")(function* (start: (typeof Servers.all)[number]) {
  const server = yield* start
  const target = server.kind === "stdio" ? [server.target.command, ...server.target.args] : server.target.url

  const [took, found] = yield* Effect.timed(
    Effect.gen(function* () {
      const client = yield* McpClient.connect(target)
      const tools = yield* client.listTools()
      const { call } = server.expects
      const result = yield* client.callTool(call.tool, call.arguments)
      const [first] = result.content
      const said = first?.type === "text" ? first.text : "no text"
      return { agreement: client.agreement, transport: client.transport, tools, said }
    })
  )

  const { agreement, transport, tools, said } = found
  return {
    ok: agreement.version === server.expects.version && said.includes(server.expects.call.expectText),
    cells: [
      server.name,
      transport,
      agreement.era,
      agreement.version,
      `${agreement.roundTrips}`,
      `${tools.length}`,
      said.trim(),
      `${Math.round(Duration.toMillis(took))}`
    ]
  } satisfies Row
}, Effect.scoped)

/** A row for a server that could not be visited, with the reason in place of the answer. */
const failed = (name: string, cause: Cause.Cause<unknown>): Row => {
  const error = Cause.squash(cause)
  return { ok: false, cells: [name, "", "", "", "", "", error instanceof Error ? error.message : String(error), ""] }
}

class RowsFailed extends Data.TaggedError("RowsFailed")<{ readonly rows: number }> {
  override readonly [Runtime.errorExitCode] = 1
  override get message() {
    return `${this.rows} row(s) failed`
  }
}

const demo = Effect.gen(function* () {
  yield* Console.log("Connecting to real servers of both eras; nobody tells the client which is which.\n")
  yield* Console.log(heading)
  let failures = 0
  for (const [index, start] of Servers.all.entries()) {
    const row = yield* visit(start).pipe(
      Effect.timeout("30 seconds"),
      Effect.catchCause((cause) => Effect.succeed(failed(`server ${index + 1}`, cause)))
    )
    if (!row.ok) failures++
    yield* Console.log(table(row))
  }
  if (failures > 0) return yield* new RowsFailed({ rows: failures })
  yield* Console.log(`\n${Servers.all.length} servers, no failure.`)
})

demo.pipe(Effect.provide([NodeServices.layer, NodeHttp.layer]), NodeRuntime.runMain)
