/**
 * `node run.ts --package X [--count 10] [--seed N] [--at File.ts:12]`: breaks a package in places chosen by chance, or in
 * every place of these lines (`--at` may be repeated), one at a time, and says which of the faults its tests notice. It
 * works on a copy of what is committed, never on this tree. A run of the tests that takes five times as long as without a
 * fault, and three minutes, counts as noticed and is told apart, since a busy machine is slow too. Exits with 1 when fewer
 * than nine of ten are noticed.
 */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { makeDice } from "../soak/dice.ts"
import * as Mutation from "./Mutation.ts"

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--"),
  options: {
    package: { type: "string", default: "protocol" },
    count: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    at: { type: "string", multiple: true, default: [] }
  }
})
const name = values.package
const dice = makeDice(Number(values.seed))
const root = resolve(import.meta.dirname, "../../..")
const copy = mkdtempSync(join(tmpdir(), "mcp-mutation-"))
process.on("exit", () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(2))

spawnSync("git", ["clone", "--quiet", root, copy], { stdio: "inherit" })
const modules = ["node_modules", ...readdirSync(join(root, "packages")).map((each) => `packages/${each}/node_modules`)]
for (const folder of modules) {
  if (existsSync(join(root, folder)))
    cpSync(join(root, folder), join(copy, folder), { recursive: true, verbatimSymlinks: true })
}

const say = (text: string) => process.stdout.write(`${text}\n`)

/** Tests that stand in `proof`, because they need what the package may not import. */
const elsewhere: Readonly<Record<string, ReadonlyArray<string>>> = {
  cli: ["packages/proof/test/cli"],
  testing: ["packages/proof/test/handlers", "packages/proof/test/negotiation-laws"]
}

const notices = (patience: number) => {
  const vitest = join(copy, "node_modules/vitest/vitest.mjs")
  const more = elsewhere[name]
  const which = more === undefined ? [] : ["--project", "proof", `packages/${name}/test`, ...more]
  // A fault that makes a test hang is noticed after seconds; a test that needs longer says so.
  const quickly = ["--bail", "1", "--testTimeout", "15000"]
  const args = [vitest, "run", "--project", name, ...which, ...quickly, "--reporter", "default"]
  const { error, status, stderr, stdout } = spawnSync(process.execPath, args, {
    cwd: copy,
    timeout: patience,
    killSignal: "SIGKILL",
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
  return { noticed: status !== 0, late: error !== undefined, printed: stdout + stderr }
}

const began = performance.now()
const sound = notices(1_200_000)
const patience = Math.ceil(Math.max(180_000, 5 * (performance.now() - began)))
if (sound.noticed) {
  const failures = sound.printed.split("\n").filter((line) => /FAIL|Error/.test(line))
  say(`the tests of ${name} fail without a fault\n${failures.slice(0, 20).join("\n")}`)
  process.exit(2)
}

const source = join(copy, "packages", name, "src")
const all = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && file !== "index.ts")
  .toSorted()
  .flatMap((file) =>
    Mutation.sites(file, readFileSync(join(source, file), "utf8")).map((site): [string, Mutation.Site] => [file, site])
  )
  .filter(([file, { line }]) => values.at.length === 0 || values.at.includes(`${file}:${line}`))
const most = values.at.length === 0 ? Number(values.count) : all.length

let caught = 0
let tried = 0
while (tried < most && all.length > 0) {
  const [picked] = all.splice(Math.floor(dice() * all.length), 1)
  if (picked === undefined) break
  const [file, site] = picked
  const path = join(source, file)
  const code = readFileSync(path, "utf8")
  writeFileSync(path, Mutation.apply(code, site))
  const { late, noticed } = notices(patience)
  writeFileSync(path, code)
  tried++
  if (noticed) caught++
  const was = site.was.replaceAll(/\s+/g, " ").slice(0, 90)
  say(
    `${late ? "too late" : noticed ? "noticed " : "SURVIVED"} ${file}:${site.line} ${site.kind}: ${was} -> ${site.instead.slice(0, 60)}`
  )
}
say(`${name}: ${caught} of ${tried} noticed (seed ${values.seed})`)
process.exitCode = caught >= tried * 0.9 ? 0 : 1
