import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { assert, describe, it } from "vitest"
import { entries, page, parts } from "./errors.ts"
import { compared } from "./printed.ts"

const root = join(import.meta.dirname, "../..")

const pages = globSync("**/*.md", {
  cwd: root,
  exclude: (path) => /node_modules|(^|\/)(dist|out|api|official)$/.test(path)
})

/** A page without its code, which may hold brackets of other kinds. */
const prose = (text: string) => text.replace(/^ *(```|~~~)[\s\S]*?^ *\1 *$/gm, "").replace(/`[^`\n]*`/g, "`")

/** The anchors of a page, as GitHub makes them of headings. */
const anchors = (file: string): ReadonlySet<string> => {
  const seen = new Map<string, number>()
  const found = new Set<string>()
  const text = readFileSync(file, "utf8").replace(/^ *(```|~~~)[\s\S]*?^ *\1 *$/gm, "")
  for (const [, heading] of text.matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const slug = heading!
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
      .replaceAll(" ", "-")
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    found.add(times === 0 ? slug : `${slug}-${times}`)
  }
  for (const [, id] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) found.add(id!)
  return found
}

/** What is wrong with the links of a page. */
const broken = (file: string): ReadonlyArray<string> => {
  const text = prose(readFileSync(file, "utf8"))
  const targets = [
    ...[...text.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)].map((match) => match[1]!),
    ...[...text.matchAll(/^\[[^\]]+\]: +<?([^\s>]+)/gm)].map((match) => match[1]!),
    ...[...text.matchAll(/<img [^>]*src="([^"]+)"/g)].map((match) => match[1]!)
  ]
  return targets.flatMap((target) => {
    if (/^[a-z]+:/i.test(target)) return URL.canParse(target) ? [] : [`${target}: no URL`]
    const [path, anchor] = target.split("#", 2)
    const there = path === "" ? file : resolve(dirname(file), decodeURIComponent(path!))
    if (!existsSync(there)) return [`${target}: no such file`]
    if (anchor === undefined || statSync(there).isDirectory() || !there.endsWith(".md")) return []
    return anchors(there).has(anchor) ? [] : [`${target}: no such heading`]
  })
}

describe("the pages of this repository", () => {
  it("link to files and headings that exist", () => {
    assert.isAbove(pages.length, 20)
    const found = pages.flatMap((file) => broken(join(root, file)).map((wrong) => `${file}: ${wrong}`))
    assert.deepStrictEqual(found, [])
  })

  it("name files that exist", () => {
    const missing = pages.flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(/`((?:\w+\/)+[\w.-]+\.(?:ts|mjs|json))`/g)]
        .map((match) => match[1]!)
        .filter((path) => /^(packages|docs|client|host|negotiation|protocol|transport|testing|cli)\//.test(path))
        .filter((path) => !["", "packages"].some((folder) => existsSync(join(root, folder, path))))
        .map((path) => `${file}: ${path}`)
    )
    assert.deepStrictEqual(missing, [])
  })

  it("are all reached from the index", () => {
    const index = readFileSync(join(root, "docs/README.md"), "utf8")
    const missing = pages.filter(
      (file) =>
        /^docs\/([^/]+\/)?[^/]+\.md$/.test(file) &&
        file !== "docs/README.md" &&
        !index.includes(`(${relative("docs", file)})`)
    )
    assert.deepStrictEqual(missing, [])
  })
})

describe("docs/errors.md", () => {
  it("U-61: has an entry for each error the packages export, as the code tells it", () => {
    const declared = globSync("packages/*/src/*.ts", { cwd: root })
      .filter((file) => !file.startsWith("packages/proof"))
      .flatMap((file) => [...readFileSync(join(root, file), "utf8").matchAll(/^export class .*\.TaggedError\b/gm)])
    assert.lengthOf(entries(), declared.length)
    assert.deepStrictEqual(
      entries().filter(({ about, change }) => about.length < 10 || change.length < 10),
      [],
      "a paragraph `What to change: …` ends the comment of every error"
    )
    const { held, printed } = compared(page, parts, "errors")
    assert.strictEqual(held, printed, "run `node docs/test/errors.ts --write`")
  })
})
