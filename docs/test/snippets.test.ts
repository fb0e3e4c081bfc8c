/**
 * Every fenced `ts` block of the READMEs and of the pages under `docs` is written to a file and run. A block marked
 * `no-run` is only type-checked (`pnpm run check:docs`).
 */
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, it } from "vitest"

const docs = join(import.meta.dirname, "..")
const snippets = join(docs, ".snippets")
rmSync(snippets, { recursive: true, force: true })
mkdirSync(snippets)
// so that `npx` in a page finds the servers this workspace depends on
process.chdir(docs)

const pages = readdirSync(docs, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md") && !file.includes("node_modules"))
  .map((file) => join(docs, file))

const readmes = globSync(["README.md", "packages/*/README.md"], { cwd: join(docs, "..") })
  .toSorted()
  .map((file) => join(docs, "..", file))

for (const page of [...readmes, ...pages]) {
  const text = readFileSync(page, "utf8")
  const blocks = [...text.matchAll(/^```ts([^\n]*)\n([\s\S]*?)^```$/gm)]
  if (blocks.length === 0) continue
  describe(relative(join(docs, ".."), page), () => {
    for (const [index, block] of blocks.entries()) {
      const line = text.slice(0, block.index).split("\n").length
      const name = relative(docs, page)
        .replace(/\.md$/, "")
        .replaceAll(/[^A-Za-z0-9]+/g, "-")
      const file = join(snippets, `${name}-${index + 1}.ts`)
      writeFileSync(file, `${block[2]}\nexport {}\n`)
      if (!block[1]!.includes("no-run")) {
        it(`line ${line} runs`, { timeout: 60_000 }, () => import(/* @vite-ignore */ pathToFileURL(file).href))
      }
    }
  })
}
