/**
 * The command tree of `mcp-effect`. Only the words are here; what a command does is loaded when it runs, so that `--help`,
 * `--version` and completions are quick.
 *
 * @since 0.1.0
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import { CommandFailed } from "./ExitCode.ts"
import * as Options from "./Options.ts"
import * as Render from "./Render.ts"
import { screen } from "./Screen.ts"
import * as Target from "./Target.ts"

const onServer = (what: string, after = "") => ({
  words: Options.words(`server${after}`, `A URL or a name, unless a command stands after \`--\`${what}`),
  ...Options.connection
})

const look = () => Effect.promise(() => import("./Look.ts"))

const probe = Command.make(
  "probe",
  {
    ...onServer(""),
    explain: Flag.Boolean("explain").pipe(
      Flag.withDescription("Show how the era was decided, step by step"),
      Flag.withDefault(false)
    ),
    save: Options.file("save", "Keep what was found, for --prior")
  },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./Probe.ts")),
      ({ run }) => run(given)
    )
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

const call = Command.make(
  "call",
  {
    ...onServer("; then the tool and its arguments: key=value words, one JSON object, or -", " tool key=value"),
    yes: Options.yes
  },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./Call.ts")),
      ({ run }) => run(given)
    )
).pipe(
  Command.withDescription("Call a tool"),
  Command.withExamples([
    { command: "mcp-effect call https://example.com/mcp echo text=hello", description: "Typed by the tool's schema" },
    { command: "mcp-effect call echo - -- npx -y some-server", description: "Arguments from standard input" }
  ])
)

const tools = Command.make("tools", onServer("; then a tool, to see its arguments", " tool"), (given) =>
  Effect.flatMap(look(), (it) => it.tools(given))
).pipe(Command.withDescription("List the tools, or show one with its arguments"))
const resources = Command.make("resources", onServer(""), (given) =>
  Effect.flatMap(look(), (it) => it.resources(given))
).pipe(Command.withDescription("List the resources and their templates"))
const read = Command.make("read", onServer("; then the address", " address"), (given) =>
  Effect.flatMap(look(), (it) => it.read(given))
).pipe(Command.withDescription("Read a resource"))
const prompts = Command.make("prompts", onServer("; then a prompt, to see its arguments", " prompt"), (given) =>
  Effect.flatMap(look(), (it) => it.prompts(given))
).pipe(Command.withDescription("List the prompts, or show one with its arguments"))
const prompt = Command.make(
  "prompt",
  onServer("; then the prompt and its key=value arguments", " prompt key=value"),
  (given) => Effect.flatMap(look(), (it) => it.prompt(given))
).pipe(Command.withDescription("Fill in a prompt"))
const complete = Command.make(
  "complete",
  onServer("; then `prompt NAME` or `resource TEMPLATE`, and ARGUMENT=BEGINNING", " what argument=beginning"),
  (given) => Effect.flatMap(look(), (it) => it.complete(given))
).pipe(Command.withDescription("Propose values for an argument"))
const ping = Command.make("ping", onServer(""), (given) => Effect.flatMap(look(), (it) => it.ping(given))).pipe(
  Command.withDescription("Ask for a sign of life")
)
const watch = Command.make("watch", onServer("; then resources to watch", " address"), (given) =>
  Effect.flatMap(look(), (it) => it.watch(given))
).pipe(Command.withDescription("Show changes and logs until Ctrl-C"))

const explore = Command.make("explore", onServer(""), (given) =>
  Effect.flatMap(
    Effect.promise(() => import("./Explore.ts")),
    ({ run }) => run(given)
  )
).pipe(Command.withDescription("Pick tools, fill in their forms and see the results"))

const ofFiles = () => Effect.promise(() => import("./Servers.ts"))

const servers = Command.make("servers", { config: Options.config, json: Options.json, yes: Options.yes }, (given) =>
  Effect.flatMap(ofFiles(), (it) => it.servers(given))
).pipe(Command.withDescription("Start the servers of a configuration and show how each is doing"))

const check = Command.make("check", { file: Options.configuration, json: Options.json }, (given) =>
  Effect.flatMap(ofFiles(), (it) => it.check(given))
).pipe(Command.withDescription("Show what is wrong in a configuration; starts nothing"))

const convert = Command.make(
  "convert",
  {
    file: Options.configuration,
    to: Flag.Literals("to", ["array", "mcpServers", "servers"]).pipe(Flag.withDescription("The form to print"))
  },
  (given) => Effect.flatMap(ofFiles(), (it) => it.convert(given))
).pipe(Command.withDescription("Print a configuration in another form"))

const config = Command.make("config").pipe(
  Command.withDescription("Check and convert configurations"),
  Command.withSubcommands([check, convert])
)

const ofTokens = () => Effect.promise(() => import("./Auth.ts"))
const account = {
  server: Argument.String("server").pipe(Argument.withDescription("Its URL, or its name in a configuration")),
  config: Options.config,
  json: Options.json
}

const auth = Command.make("auth").pipe(
  Command.withDescription("Sign in and out at servers"),
  Command.withSubcommands([
    Command.make("login", account, (given) => Effect.flatMap(ofTokens(), (it) => it.login(given))).pipe(
      Command.withDescription("Sign in with a browser and keep the token")
    ),
    Command.make("status", account, (given) => Effect.flatMap(ofTokens(), (it) => it.status(given))).pipe(
      Command.withDescription("Show whether a token is kept")
    ),
    Command.make("logout", account, (given) => Effect.flatMap(ofTokens(), (it) => it.logout(given))).pipe(
      Command.withDescription("Drop the token here and there")
    )
  ])
)

/**
 * The root command. `run` runs it with arguments.
 *
 * @category commands
 * @since 0.1.0
 */
export const mcpEffect = Command.make("mcp-effect").pipe(
  Command.withDescription("Look into Model Context Protocol servers of any era"),
  Command.withSubcommands([
    probe,
    tools,
    call,
    resources,
    read,
    prompts,
    prompt,
    complete,
    watch,
    ping,
    explore,
    servers,
    config,
    auth
  ])
)

/** What was typed wrongly goes to standard error, without the whole help: that is a word away. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.andThen(
          Effect.forEach(event.errors, ({ message }) => Console.error(Render.lines(message)), { discard: true }),
          Console.error(`See: ${event.commandPath.map(Render.oneLine).join(" ")} --help`)
        )
      : CliOutput.defaultPresenter.present(event)
}

/** Nothing here writes a log, and a command of a server after `--` is more than a wizard can ask for. */
const flags = CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

const told = (because: string) => {
  if (because === "") return Effect.void
  return Effect.flatMap(screen, (on) => Console.error(Render.fitted(Render.lines(because), on)))
}

/**
 * Runs the command with the words of a command line. What fails is written to standard error once, and its exit code is
 * in the error. A defect is a fault of this program, and fails with `internal`.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (version: string) => {
  const inner = Command.runWith(mcpEffect, { version })
  return (words: ReadonlyArray<string>) => {
    const [own, command] = Target.split(words)
    return inner(own).pipe(
      Effect.provideService(Target.ServerCommand, command),
      Effect.provideService(CliOutput.Presenter, presenter),
      Effect.provideService(CliConfig.CliConfig, flags),
      Effect.catchTag("ShowHelp", ({ errors }) =>
        errors.length === 0 ? Effect.void : Effect.fail(new CommandFailed({ exit: "usage", because: "" }))
      ),
      Effect.catchDefect((defect) => {
        const what = defect instanceof Error ? (defect.stack ?? defect.message) : String(defect)
        return Effect.fail(
          new CommandFailed({
            exit: "internal",
            because: `this is a fault of mcp-effect ${version}: ${Render.lines(what)}`
          })
        )
      }),
      Effect.tapErrorTag("CommandFailed", ({ because }) => told(because))
    )
  }
}
