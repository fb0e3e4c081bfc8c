/**
 * The laws of the house that no compiler keeps: who may compare versions, who may touch Node, and how Effect is imported.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { written } from "../../client/version.ts"

const packages = join(import.meta.dirname, "../..")

/** Every source of these packages with its text, comments left out. */
const sources = (...names: ReadonlyArray<string>) =>
  names.flatMap((name) =>
    readdirSync(join(packages, name, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => {
        const path = join(packages, name, "src", file)
        const code = readFileSync(path, "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "")
        return { path: relative(packages, path), code }
      })
  )

const libraries = ["protocol", "negotiation", "transport", "client", "testing", "host"] as const

const offenders = (files: ReturnType<typeof sources>, pattern: RegExp) =>
  files.filter(({ code }) => pattern.test(code)).map(({ path }) => path)

describe("the house", () => {
  it("a version or an era is compared only in protocol, negotiation and cli", () => {
    const literal = /[!=]==? ?"20\d\d-\d\d-\d\d"|\bera [!=]==? ?"(?:modern|legacy)"/
    assert.deepStrictEqual(offenders(sources("transport", "client", "testing", "host"), literal), [])
    assert.isTrue(literal.test('if (version === "2026-07-28") {}') && literal.test('agreement.era === "modern"'))
  })

  it("U-45: only modules named for Node import it, and no library imports a platform", () => {
    const node = /from "node:/
    assert.deepStrictEqual(
      offenders(sources(...libraries), node).filter((path) => !/\/Node\w+\.ts$/.test(path)),
      []
    )
    assert.deepStrictEqual(offenders(sources(...libraries), /from "@effect\/platform-/), [])
  })

  it("libraries import modules of Effect, never a barrel", () => {
    assert.deepStrictEqual(offenders(sources(...libraries), /from "effect(\/[a-z]\w*)?"/), [])
  })

  it("negotiation and transport never look at each other", () => {
    assert.deepStrictEqual(offenders(sources("negotiation"), /@mcp-effect\/transport/), [])
    assert.deepStrictEqual(offenders(sources("transport"), /@mcp-effect\/negotiation/), [])
  })

  it("every package says what it is, on its own page and where packages are looked for", () => {
    for (const name of [...libraries, "cli"]) {
      const {
        description,
        keywords,
        private: kept
      } = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8"))
      assert.isUndefined(kept)
      assert.isAbove(description.length, 20, name)
      assert.includeMembers(keywords, ["mcp", "model-context-protocol", "effect"], name)
      assert.include(readFileSync(join(packages, name, "README.md"), "utf8"), `# @mcp-effect/${name}\n`)
    }
  })

  it("packages are released together, but for those without a version", () => {
    const { fixed } = JSON.parse(readFileSync(join(packages, "../.changeset/config.json"), "utf8"))
    const unversioned = readdirSync(packages).flatMap((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(packages, folder, "package.json"), "utf8"))
      return version === undefined ? [`!${name}`] : []
    })
    assert.deepStrictEqual(fixed, [["@mcp-effect/*", ...unversioned]])
  })

  it("the client says the version it is published with, and the next one after `pnpm run version`", () => {
    const read = (...path: ReadonlyArray<string>) => readFileSync(join(packages, ...path), "utf8")
    const source = read("client/src/internal/version.ts")
    assert.strictEqual(source, written(source, read("client/package.json")), "run `node packages/client/version.ts`")
    assert.match(written(source, '{"version":"9.8.7"}'), /^export const version = "9\.8\.7"$/m)
    const { scripts } = JSON.parse(read("../package.json"))
    assert.strictEqual(scripts.version, "changeset version && node packages/client/version.ts")
  })

  it("libraries take time and chance from Effect alone", () => {
    assert.deepStrictEqual(
      offenders(
        sources(...libraries),
        /\bDate\.now\(|\bnew Date\(\)|\bsetTimeout\(|\bsetInterval\(|\bMath\.random\(/
      ).filter((path) => !/\/Node\w+\.ts$/.test(path)),
      []
    )
  })
})
