import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundle, inlined, type Part } from "../bundle.ts"

const withFolder = async <A>(use: (folder: string) => A | Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-bundle-"))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A part of a bundle with one module of a package that says this of itself. */
const part = (folder: string, manifest: object, renderedLength = 1): Part => {
  const home = join(folder, "node_modules/other")
  mkdirSync(join(home, "esm"), { recursive: true })
  writeFileSync(join(home, "package.json"), JSON.stringify({ name: "other", version: "1.0.0", ...manifest }))
  writeFileSync(join(home, "esm/package.json"), JSON.stringify({ type: "module" }))
  return { modules: { [join(home, "esm/index.js")]: { renderedLength } } }
}

describe("the bundle of the command", () => {
  it("has the licences of the packages of others beside it, and nothing of an earlier one", { timeout: 60_000 }, () =>
    withFolder(async (folder) => {
      mkdirSync(join(folder, "bin"))
      writeFileSync(join(folder, "bin/earlier.js"), "")
      const parts = await bundle(folder)
      const written = parts.flatMap(({ fileName }) => (fileName.startsWith("bin/") ? [fileName.slice(4)] : []))
      assert.deepStrictEqual(readdirSync(join(folder, "bin")).toSorted(), written.toSorted())
      const text = readFileSync(join(folder, "THIRD-PARTY-LICENSES"), "utf8")
      const packages = inlined(parts)
      assert.deepStrictEqual(
        packages.map(({ name }) => name),
        [
          "@cfworker/json-schema",
          "@effect/platform-node",
          "@effect/platform-node-shared",
          "@noble/hashes",
          "effect",
          "jsonc-parser",
          "rolldown",
          "undici",
          "ws"
        ]
      )
      for (const { license, name, text: own, version } of packages) {
        assert.include(text, `${name} ${version} (${license})\n\n${own}`)
        assert.match(own, /copyright \(c\) \S+[\s\S]*permission is hereby granted/i, name)
      }
      assert.notInclude(text, "@mcp-effect/")
    })
  )

  it("is not made with code under a licence that nobody looked at, or without its text", () =>
    withFolder((folder) => {
      assert.throws(() => inlined([part(folder, { license: "GPL-3.0-only" })]), 'other is under "GPL-3.0-only"')
      assert.throws(() => inlined([part(folder, {})]), 'other is under "undefined"')
      assert.throws(() => inlined([part(folder, { license: "ISC" })]), "other has no text of its licence")
    }))

  it("names who holds the copyright of a package that is published without a text", () =>
    withFolder((folder) => {
      const [other] = inlined([part(folder, { license: "MIT", author: { name: "Ada" } })])
      assert.match(other!.text, /^MIT License\n\nCopyright \(c\) Ada\n\nPermission is hereby granted/)
    }))

  it("says nothing of a package of which no code is left", () =>
    withFolder((folder) => {
      assert.deepStrictEqual(inlined([part(folder, { license: "GPL-3.0-only" }, 0)]), [])
    }))
})
