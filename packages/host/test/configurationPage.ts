/**
 * Prints the tables of the page `docs/configuration.md` and the schema for editors, from the code that runs.
 *
 * `node packages/host/test/configurationPage.ts` prints them; with `--write` they are written where they belong.
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Parts, print, table } from "../../../docs/test/printed.ts"
import * as Schema from "effect/Schema"
import { ids } from "../src/ConfigurationHint.ts"
import * as Fields from "../src/internal/configurationFields.ts"

const docs = (name: string) => fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url))

export const page = docs("configuration.md")
export const schemaFile = docs("mcp-servers.schema.json")

/** The schema for editors. */
export const schema = (): string => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(Fields.file)
  return `${JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...schema, $defs: definitions }, null, 2)}\n`
}

interface JsonSchema {
  readonly properties?: { readonly [name: string]: JsonSchema }
  readonly required?: ReadonlyArray<string>
  readonly description?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly additionalProperties?: JsonSchema | boolean
}

const kind = (of: JsonSchema): string => {
  if (of.anyOf !== undefined) return of.anyOf.map(kind).join(" or ")
  if (of.enum !== undefined) return of.enum.map((word) => `\`${word}\``).join(", ")
  if (of.type === "array") return "list of texts"
  if (of.type === "object") return of.properties === undefined ? "object of texts" : "object"
  return of.type === "string" ? "text" : of.type === "boolean" ? "yes or no" : "number"
}

const note = (of: JsonSchema): string =>
  of.description ??
  of.allOf?.map(note).find((text) => text !== "") ??
  of.anyOf?.map(note).find((text) => text !== "") ??
  ""

const rows = (of: JsonSchema, prefix: string, transport: string): ReadonlyArray<ReadonlyArray<string>> =>
  Object.entries(of.properties ?? {}).flatMap(([name, member]) => [
    [`\`${prefix}${name}\``, transport, kind(member), note(member)],
    ...(prefix === "" ? (member.anyOf ?? [member]).flatMap((inner) => rows(inner, `${name}.`, transport)) : [])
  ])

const jsonOf = (of: Schema.Top): JsonSchema => Schema.toJsonSchemaDocument(of).schema

const fields = () => {
  const all = (["stdio", "http", "sse"] as const).map(
    (type) => [type, rows(jsonOf(Fields.byType[type]), "", type)] as const
  )
  const has = (field: string | undefined) => all.filter(([, list]) => list.some(([name]) => name === field))
  const seen = new Set<string>()
  return table(
    ["Field", "Transports", "Value", "Meaning"],
    [
      ["`name`", "all", "text", note(jsonOf(Schema.Struct({ name: Fields.name })).properties?.["name"] ?? {})],
      ["`type`", "all", "`stdio`, `http`, `sse`", "How the server is reached. Default: by `command` or `url`."],
      ...all
        .flatMap(([, list]) => list)
        .flatMap(([field = "", , value = "", meaning = ""]) => {
          if (seen.has(field) || field === "`type`") return []
          seen.add(field)
          const types = has(field).map(([type]) => type)
          return [[field, types.length === 3 ? "all" : types.join(", "), value, meaning]]
        })
    ]
  )
}

const hints = () =>
  table(
    ["Hint", "What it is about"],
    Object.entries(ids).map(([id, text]) => [`\`${id}\``, text])
  )

/** The tables, by the names of their markers. */
export const parts: Parts = { fields, hints }

if (import.meta.main) {
  print(page, parts)
  if (process.argv.includes("--write")) writeFileSync(schemaFile, schema())
  else process.stdout.write(schema())
}
