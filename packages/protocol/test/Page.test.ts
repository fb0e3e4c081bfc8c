import { assert, describe, it } from "@effect/vitest"
import { compared } from "../../../docs/test/printed.ts"
import { has, page, parts, types, versions } from "./page.ts"
import type { Version } from "../src/Version.ts"
import { definitions, exceptions } from "./officialSchemas.ts"

describe("docs/protocol.md", () => {
  for (const name of Object.keys(parts)) {
    it(`holds the ${name} as the code has them (else run test/page.ts --write)`, () => {
      const { held, printed } = compared(page, parts, name)
      assert.strictEqual(held, printed)
    })
  }
})

interface Definition {
  readonly $ref?: string
  readonly properties?: { readonly [name: string]: Definition }
}

const resolve = (version: Version, definition: Definition | undefined): Definition | undefined =>
  definition?.$ref === undefined
    ? definition
    : resolve(version, definitionOf(version, definition.$ref.replace("#/$defs/", "")))

const definitionOf = (version: Version, name: string): Definition | undefined =>
  definitions(version)[name] as Definition | undefined

const membersOf = (version: Version, name: string): ReadonlyArray<string> | undefined => {
  const definition = resolve(version, definitionOf(version, name))
  return definition?.properties === undefined ? undefined : Object.keys(definition.properties)
}

const methodNames = /^(?<method>.+), (?<part>parameters|result|answer)$/u

/** The official definition of a type: by its name, or by the method whose parameters or result it is. */
const officialMembers = (version: Version, name: string): ReadonlyArray<string> | undefined => {
  const { method, part } = methodNames.exec(name)?.groups ?? {}
  if (method === undefined) return membersOf(version, name)
  const definition = Object.entries(definitions(version)).find(
    ([, candidate]) =>
      (candidate as { properties?: { method?: { const?: string } } }).properties?.method?.const === method
  )
  if (definition === undefined) return undefined
  if (part !== "parameters") return membersOf(version, definition[0].replace("Request", "Result"))
  const parameters = resolve(version, (definition[1] as Definition).properties?.["params"])
  return parameters?.properties === undefined ? undefined : Object.keys(parameters.properties)
}

const isLegacyParameters = (version: Version, name: string) =>
  name.endsWith(", parameters") && exceptions.moreMembers.metaOfParameters.some((legacy) => legacy === version)

const all = types().filter(({ name }) => versions.some((version) => officialMembers(version, name) !== undefined))

describe("the members of every type, against the official schemas", () => {
  it("covers the types that have a name there", () => {
    assert.isAtLeast(all.length, 60)
  })

  for (const { name, members } of all) {
    for (const version of versions) {
      const official = officialMembers(version, name)
      if (official === undefined) continue
      it(`${name} has the members it has in ${version}`, () => {
        const extra: { readonly [type: string]: ReadonlyArray<string> } = exceptions.moreMembers.members
        const renamed: { readonly [member: string]: string } =
          version === "2025-11-25" && /task/iu.test(name) ? exceptions.renamed.members : {}
        const ours = members
          .filter((member) => has(member, version) && !member.name.includes(".") && !member.name.includes("["))
          .map((member) => renamed[member.name] ?? member.name)
          .filter((member) => official.includes(member) || !(extra[name] ?? []).includes(member))
          .filter((member) => official.includes(member) || member !== "_meta" || !isLegacyParameters(version, name))
        assert.sameMembers([...new Set(ours)], [...official])
      })
    }
  }
})
