/**
 * Builds the reference of every public module into `docs/api`, from the sources and their comments.
 *
 * `node docs/reference/build.ts` fails when a module or an export has no comment, and when a comment links to nothing.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import {
  Application,
  Comment,
  Converter,
  MinimalSourceFile,
  normalizePath,
  type ProjectReflection,
  ReflectionKind
} from "typedoc"
import { words } from "../test/errors.ts"

const root = join(import.meta.dirname, "../..")

/** Modules by the name that a program imports them by. */
const modules = new Map(
  globSync("packages/*/src/*.ts", { cwd: root })
    .filter((file) => !/\/(index|bin)\.ts$/.test(file))
    .toSorted()
    .map((file) => [file.replace(/^packages\/(\w+)\/src\/(\w+)\.ts$/, "@mcp-effect/$1/$2"), join(root, file)])
)

/** What TypeDoc looks at, one after the other. Comments are looked at here, since members may be named well enough. */
const nothing = { invalidLink: false, invalidPath: false, rewrittenLink: false, unusedMergeModuleWith: false }
const links = { invalidLink: true, notExported: false, notDocumented: false }
const unexported = { ...nothing, notExported: true, notDocumented: false }

const app = await Application.bootstrap({
  name: "mcp-effect",
  entryPoints: [...modules.values()],
  tsconfig: join(import.meta.dirname, "tsconfig.json"),
  out: join(import.meta.dirname, "../api"),
  readme: "none",
  // what `effect` declares is told where `effect` is told
  excludeExternals: true,
  excludePrivate: true,
  disableSources: true,
  // the checks of types are those of the compiler that builds the packages
  skipErrorChecking: true,
  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
  validation: links
})

// A module is known by what a program writes to import it, and told by the comment at the top of its file.
app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
  if (!reflection.kindOf(ReflectionKind.Module)) return
  const file = context.getSymbolFromReflection(reflection)?.declarations?.[0]?.getSourceFile().fileName
  const name = [...modules].find(([, path]) => path === file)?.[0]
  if (file === undefined || name === undefined) return
  reflection.name = name
  const [comment] = /^\/\*\*[\s\S]*?\*\//.exec(readFileSync(file, "utf8").replace(/^#!.*\n/, "")) ?? []
  if (comment === undefined) return
  const { content } = app.converter.parseRawComment(
    new MinimalSourceFile(words(comment), normalizePath(file)),
    app.files
  )
  reflection.comment = new Comment(content)
})

/** Modules and exports without a comment. Members of an export may be named well enough. */
const uncommented = (project: ProjectReflection): ReadonlyArray<string> =>
  (project.children ?? []).flatMap((module) =>
    [module, ...(module.children ?? [])]
      .filter(
        (each) =>
          !each.kindOf(ReflectionKind.Reference) &&
          !each.hasComment() &&
          !each.signatures?.some((signature) => signature.hasComment())
      )
      .map((each) => each.getFullName())
  )

const project = await app.convert()
if (project !== undefined) {
  app.validate(project)
  // A type that is shown has to be exported, of whichever package: TypeDoc asks only of the package it takes for the project.
  app.options.setValue("validation", unexported)
  const { packageName } = project
  for (const name of new Set([...modules.keys()].map((module) => module.replace(/\/\w+$/, "")))) {
    project.packageName = name
    app.validate(project)
  }
  if (packageName === undefined) delete project.packageName
  else project.packageName = packageName
  for (const name of uncommented(project)) app.logger.error(`${name} has no comment`)
}
if (project === undefined || app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1
else await app.generateOutputs(project)
