/** Runs the servers of a configuration file, as another product wrote it, and calls what the user allows. */
import { NodeServices } from "@effect/platform-node"
import { ConfigurationFile, Host } from "@mcp-effect/host"
import { Console, Effect, FileSystem, SubscriptionRef } from "effect"

// Stands for your file: `mcp.json`, `.vscode/mcp.json`, the file of a desktop program.
const text = `{
  "mcpServers": {
    "everything": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"] },
    "missing": { "command": "no-such-command" },
    "wrong": { "url": "ftp://example.com" },
  }
}`

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const file = yield* files.makeTempFileScoped({ suffix: ".json" })
  yield* files.writeFileString(file, text)

  const configuration = yield* ConfigurationFile.load(file)
  for (const problem of configuration.problems) yield* Console.log("left out:", problem.message)

  const host = yield* Host.make({
    handlers: { approve: ({ server, tool }) => Effect.succeed(server === "everything" && tool.name === "get-sum") }
  })
  yield* host.load(configuration.entries)
  for (const { name } of configuration.entries) {
    yield* host.ready(name).pipe(
      Effect.matchEffect({
        onSuccess: ({ version }) => Console.log(`${name}: ready, ${version}`),
        onFailure: (error) => Console.log(`${name}: ${error.message.split(". ")[0]}`)
      })
    )
  }

  const { tools } = yield* SubscriptionRef.get(host.catalogue)
  yield* Console.log("tools:", [...tools.keys()].filter((name) => name.includes("get-s")).join(" "))
  const { content } = yield* host.callTool("everything__get-sum", { a: 2, b: 3 })
  yield* Console.log(JSON.stringify(content))
  const refused = yield* Effect.flip(host.callTool("everything__echo", { message: "hello" }))
  yield* Console.log(refused.message)
})

await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
