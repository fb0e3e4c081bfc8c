/**
 * `mcp-effect probe`: connect, say what was found, list the tools, and with `--explain` how the era was decided.
 *
 * @since 0.1.0
 */
import * as McpClient from "@mcp-effect/client/McpClient"
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import * as Evidence from "@mcp-effect/negotiation/Evidence"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import { describe, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Render from "./Render.ts"
import * as Target from "./Target.ts"

/**
 * The command line does not say which server. Exit code 64; what to write is already on standard error.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoTarget extends Data.TaggedError("NoTarget") {
  override readonly [Runtime.errorExitCode] = 64
  override readonly [Runtime.errorReported] = false
  override get message() {
    return (
      "which server? Give a URL, or a command after `--`:\n" +
      "  mcp-effect probe https://example.com/mcp\n" +
      "  mcp-effect probe -- npx -y @modelcontextprotocol/server-everything"
    )
  }
}

/**
 * The server could not be looked into. Exit code 1; the reason is already on standard error.
 *
 * @category errors
 * @since 0.1.0
 */
export class ProbeFailed extends Data.TaggedError("ProbeFailed")<{
  readonly cause: NegotiationError | McpClientError
}> {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.cause.message
  }
}

const widthOfLines = 100

/** What a server says of itself: three lines of it are enough. */
const theirs = (text: string) => Render.clip(Render.oneLine(text), 3 * widthOfLines)

/** Names of what a server declares. */
const declared = (capabilities: object | undefined) =>
  capabilities === undefined
    ? "unknown: the server was not asked"
    : Object.entries(capabilities)
        .filter(([, value]) => value !== undefined && value !== null && value !== false)
        .map(([name]) => name)
        .toSorted()
        .join(", ") || "none"

const report = (client: McpClient.McpClient["Service"]) => {
  const { agreement } = client
  const { identity } = agreement
  return Render.facts([
    ["server", client.endpoint],
    ["transport", client.transport],
    ["era", agreement.era],
    ["version", agreement.version],
    [
      "identity",
      identity === undefined ? "not told" : theirs(`${identity.title ?? identity.name} ${identity.version}`)
    ],
    ["capabilities", theirs(declared(agreement.capabilities))],
    ["round trips", `${agreement.roundTrips}`],
    ["instructions", agreement.instructions === undefined ? undefined : theirs(agreement.instructions)]
  ])
}

/** The tools, unless the server says that it has none. */
const tools = Effect.fnUntraced(function* (client: McpClient.McpClient["Service"]) {
  const { capabilities } = client.agreement
  if (capabilities !== undefined && capabilities.tools === undefined) return "tools: not declared by the server"
  const list = yield* client.listTools()
  return list.length === 0 ? "tools (0)" : `tools (${list.length})\n${Render.tools(list, widthOfLines)}`
})

/** Why it failed, and what to change where the reason does not say it. */
const reasonOf = (cause: NegotiationError | McpClientError, target: Target.Target): string => {
  if (cause._tag === "McpClientError") return Render.oneLine(cause.message)
  const advice = Target.correction(target) ?? cause.hint
  return Render.lines(cause.message.includes(advice) ? cause.message : `${cause.message}\n${advice}`)
}

const failed = (target: Target.Target, explain: boolean) => (cause: NegotiationError | McpClientError) =>
  Effect.gen(function* () {
    yield* Console.error(reasonOf(cause, target))
    if (explain && cause._tag === "NegotiationError")
      yield* Console.error(`\n${Render.lines(Evidence.explain(cause.attempts))}`)
    return yield* new ProbeFailed({ cause })
  })

/** What was noticed on the way goes beside the report, not into it. */
const noting = Effect.provideService(Diagnostics, (diagnostic) =>
  Console.error(`note: ${Render.oneLine(describe(diagnostic))}`)
)

/**
 * The command.
 *
 * @category commands
 * @since 0.1.0
 */
export const probe = Command.make(
  "probe",
  {
    target: Argument.String("target").pipe(
      Argument.withDescription("A URL, or `--` and a command with its arguments"),
      Argument.variadic()
    ),
    explain: Flag.Boolean("explain").pipe(
      Flag.withDescription("Show how the era was decided, step by step"),
      Flag.withDefault(false)
    ),
    era: Flag.Literals("era", ["auto", "modern", "legacy"]).pipe(
      Flag.withDescription("How to open: ask first (auto), never fall back (modern), handshake only (legacy)"),
      Flag.withDefault("auto" as const)
    )
  },
  Effect.fn("Probe.probe")(function* ({ target: words, explain, era }) {
    const target = Target.parse(words)
    if (target === undefined) {
      const error = new NoTarget()
      yield* Console.error(error.message)
      return yield* error
    }
    yield* Effect.gen(function* () {
      const client = yield* McpClient.connect("url" in target ? target.url : target.command, { mode: era })
      yield* Console.log(report(client))
      if (explain) yield* Console.log(`\n${Render.lines(Evidence.explain(client.agreement.evidence))}`)
      yield* Console.log(`\n${yield* tools(client)}`)
    }).pipe(Effect.scoped, noting, Effect.catchTag(["NegotiationError", "McpClientError"], failed(target, explain)))
  })
).pipe(
  Command.withDescription("Connect to a server and show what it is"),
  Command.withExamples([
    { command: "mcp-effect probe https://example.com/mcp", description: "A server behind a URL" },
    {
      command: "mcp-effect probe -- npx -y some-server --root .",
      description: "A server in a process; all after `--` is its command"
    },
    {
      command: "mcp-effect probe --explain --era modern https://example.com/mcp",
      description: "The modern era or nothing, and why"
    }
  ])
)
