/**
 * The published command as one bundle: `dist/mcp-effect.js`, and beside it in `dist/bin` the parts that are loaded when a
 * command needs them. Hundreds of small modules would take longer to find than to run.
 *
 * `dist/THIRD-PARTY-LICENSES` holds the licences of the packages whose code is in it.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { build, type OutputChunk } from "rolldown"

/** What these licences ask for is done by handing on their text. Another one needs a look by a person first. */
const handedOn = new Set(["MIT", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"])

const ours = readFileSync(join(import.meta.dirname, "../../LICENSE"), "utf8")

/** A package whose code is in the bundle. */
export interface Inlined {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly text: string
}

/** The nearest folder above a module whose `package.json` names a package: some name none and only set a `type`. */
const packageOf = (module: string): string => {
  for (let folder = dirname(module); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, "package.json")
    if (existsSync(manifest) && "name" in JSON.parse(readFileSync(manifest, "utf8"))) return folder
  }
  throw new Error(`no package holds ${module}`)
}

const read = (folder: string): Inlined => {
  const { author, license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  if (!handedOn.has(license)) throw new Error(`${name} is under "${license}": see whether it may be in the bundle`)
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.\w+)?$/i.test(entry))
  if (file !== undefined) return { name, version, license, text: readFileSync(join(folder, file), "utf8").trim() }
  // Published without a text: the one of our own licence is the same, but for who holds the copyright.
  const holder = typeof author === "string" ? author : author?.name
  if (license !== "MIT" || holder === undefined) throw new Error(`${name} has no text of its licence`)
  return { name, version, license, text: ours.replace(/^Copyright.*$/m, `Copyright (c) ${holder}`).trim() }
}

/** A part of the bundle: how long what is left of each module is. */
export interface Part {
  readonly modules: Readonly<Record<string, { readonly renderedLength: number }>>
}

/** The packages of others whose code is in these parts, by name. */
export const inlined = (parts: ReadonlyArray<Part>): ReadonlyArray<Inlined> => {
  const modules = parts.flatMap((part) =>
    Object.entries(part.modules).flatMap(([id, { renderedLength }]) => (renderedLength > 0 ? [id] : []))
  )
  // What has no file is the runtime that the bundler adds.
  const bundler = createRequire(import.meta.url).resolve("rolldown/package.json")
  const folders = new Set(modules.map((id) => packageOf(id.startsWith("\0rolldown") ? bundler : id)))
  return [...folders]
    .filter((folder) => folder.includes("node_modules"))
    .map(read)
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version))
}

const notice = ({ license, name, text, version }: Inlined): string => `${name} ${version} (${license})\n\n${text}\n`

const line = `\n${"-".repeat(80)}\n\n`

/** Writes the bundle into a folder, with the licences of what is in it. Gives its parts, the entry first. */
export const bundle = async (folder: string): Promise<ReadonlyArray<OutputChunk>> => {
  // What an earlier bundle left there would be published too.
  rmSync(join(folder, "bin"), { recursive: true, force: true })
  const { output } = await build({
    input: { "mcp-effect": "./src/bin.ts" },
    cwd: import.meta.dirname,
    platform: "node",
    logLevel: "warn",
    // Some packages call `require` with a computed function in what `main` names; a bundler cannot follow that.
    resolve: { mainFields: ["module", "main"] },
    output: { dir: folder, format: "esm", minify: true, chunkFileNames: "bin/[name].js" }
  })
  const parts = output.filter((file) => file.type === "chunk")
  const heading = "The command contains code of these packages.\n"
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES"), [heading, ...inlined(parts).map(notice)].join(line))
  return parts
}

if (import.meta.main) await bundle(`${import.meta.dirname}/dist`)
