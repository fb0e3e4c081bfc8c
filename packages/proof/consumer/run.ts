/**
 * The README, followed by users who have only that: with npm and with pnpm, on the oldest Node that is promised and on the
 * one used here, in fresh folders outside of this workspace, with the packages as they would be released.
 *
 * Each user installs, runs and type-checks the smallest program, looks into a server with the command, then installs all
 * packages and imports every module. Run it with `npx -y pnpm@12 run test:consumer`. It exits with 1 when a step fails.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { ConsumerFailed, environment, run } from "./command.ts"
import * as Registry from "./registry.ts"

const root = `${import.meta.dirname}/../../..`
const workspace = Schema.decodeSync(
  Schema.fromJsonString(Schema.Struct({ devDependencies: Schema.Record(Schema.String, Schema.String) }))
)

/** The oldest Node that is promised. It comes as the package of its binary, which needs no install script. */
const oldest = "22.19.0"
const platform = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`
const nodes = (folder: string) => [
  { version: oldest, node: `${folder}/node_modules/node-${platform}/bin/node` },
  { version: process.versions.node, node: process.execPath }
]

/** The commands of the README are for npm; pnpm has its own words for them. */
const managers = [
  { name: "npm", install: "npm install ", execute: "npx -y " },
  { name: "pnpm", install: "npx -y pnpm@12 add ", execute: "npx -y pnpm@12 dlx " }
]

/** The fenced blocks of a language below a heading. */
const blocks = (page: string, heading: string, language: string): ReadonlyArray<string> => {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ""
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, code]) => code!)
}

const tsconfig = (module: string, moduleResolution: string) =>
  JSON.stringify({
    compilerOptions: { strict: true, target: "ES2023", module, moduleResolution, noEmit: true, types: ["node"] },
    include: ["*.mts"]
  })

/** Imports every module of these installed packages, twice: as a namespace for the types, and at run time. */
const importing = Effect.fnUntraced(function* (folder: string, names: ReadonlyArray<string>) {
  const fileSystem = yield* FileSystem.FileSystem
  const modules = yield* Effect.forEach(names, (name) =>
    fileSystem
      .readDirectory(`${folder}/node_modules/${name}/dist`)
      .pipe(
        Effect.map((files) => [
          name,
          ...files
            .filter((file) => file.endsWith(".d.ts") && !/^(index|bin)\./.test(file))
            .map((file) => `${name}/${file.replace(".d.ts", "")}`)
        ])
      )
  )
  const all = modules.flat()
  const code = [
    ...all.map((module, index) => `import * as m${index} from "${module}"`),
    `console.log([${all.map((_, index) => `m${index}`).join(", ")}].length)`
  ]
  return { code: code.join("\n"), count: all.length }
})

/** What one user does. Gives what was seen. */
const follow = Effect.fnUntraced(function* (
  page: string,
  registry: Effect.Success<typeof Registry.serve>,
  user: { readonly manager: (typeof managers)[number]; readonly version: string; readonly node: string }
) {
  const fileSystem = yield* FileSystem.FileSystem
  const cwd = yield* fileSystem.makeTempDirectoryScoped({ prefix: "mcp-consumer-" })
  const env = environment(user.node)
  const write = (file: string, text: string) => fileSystem.writeFileString(`${cwd}/${file}`, text)
  const { execute, install: add, name } = user.manager
  const shell = (command: string) =>
    run(["sh", "-c", command.replace(/^npx /, execute).replace(/^npm install /, add)], { cwd, env })
  const expect = (holds: boolean, what: string, found: string) =>
    holds
      ? Effect.void
      : new ConsumerFailed({ because: `${name}, Node ${user.version}: ${what}. It printed:\n${found}` })

  yield* write(".npmrc", `@mcp-effect:registry=${registry.origin}\n`)
  const node = (yield* run(["node", "--version"], { cwd, env })).trim()
  yield* expect(node === `v${user.version}`, `Node should be ${user.version}`, node)

  const [install = "", start = ""] = blocks(page, "The smallest program", "sh")
  const [program = ""] = blocks(page, "The smallest program", "ts")
  const file = /\S+\.mts/.exec(start)?.[0] ?? ""
  yield* shell(install)
  yield* write(file, program)
  const said = yield* shell(start)
  yield* expect(
    said.startsWith("2025-11-25 echo, ") && said.includes("Echo: hello"),
    "the program should say hello",
    said
  )

  const [look = ""] = blocks(page, "Look into a server", "sh")
  const explained = yield* shell(look)
  yield* expect(/^era +legacy\nversion +2025-11-25$/m.test(explained), "`probe` should tell the era", explained)

  const { devDependencies } = workspace(yield* fileSystem.readFileString(`${root}/package.json`))
  const tools = ["typescript", "@types/node"].map((name) => `${name}@${devDependencies[name]}`)
  yield* shell(`npm install ${[...registry.names, ...registry.additions, ...tools].join(" ")}`)
  const { code, count } = yield* importing(cwd, registry.names)
  yield* write("every-module.mts", code)
  yield* write("tsconfig.nodenext.json", tsconfig("NodeNext", "NodeNext"))
  yield* write("tsconfig.bundler.json", tsconfig("ESNext", "Bundler"))
  for (const config of ["nodenext", "bundler"]) yield* shell(`node_modules/.bin/tsc -p tsconfig.${config}.json`)
  const imported = (yield* shell("node every-module.mts")).trim()
  yield* expect(imported === `${count}`, `${count} modules should be imported`, imported)

  const manifest = yield* fileSystem.readFileString(`${cwd}/node_modules/@mcp-effect/cli/package.json`)
  const version = yield* shell("node_modules/.bin/mcp-effect --version")
  const released = /"version": "([^"]+)"/.exec(manifest)?.[1] ?? "none"
  yield* expect(version.includes(released), `\`--version\` should be ${released}`, version)
  const licenses = yield* fileSystem.readFileString(`${cwd}/node_modules/@mcp-effect/cli/dist/THIRD-PARTY-LICENSES`)
  yield* expect(/^effect 4\./m.test(licenses), "the licences of the bundle should name effect", licenses)
  yield* Console.log(`${name}, Node ${user.version}: the program, the command, ${count} modules`)
}, Effect.scoped)

const main = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const page = yield* fileSystem.readFileString(`${root}/README.md`)
  const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "mcp-node-" })
  const old = `node-${platform}@${oldest}`
  yield* run(["npm", "install", "--prefix", folder, old], { cwd: folder, env: environment(process.execPath) })
  const registry = yield* Registry.serve
  const users = managers.flatMap((manager) => nodes(folder).map((node) => ({ manager, ...node })))
  yield* Effect.forEach(users, (user) => follow(page, registry, user), { concurrency: 2, discard: true })
  yield* Console.log(`${users.length} users followed the README`)
})

const registryServer = NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })
main.pipe(Effect.scoped, Effect.provide([registryServer, NodeServices.layer]), NodeRuntime.runMain)
