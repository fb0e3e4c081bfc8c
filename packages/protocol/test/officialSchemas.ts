/**
 * The official schemas as validators and as generators, and the one list of places where they are not followed.
 */
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import * as fs from "node:fs"
import type { Version } from "../src/Version.ts"

type Json = { readonly [key: string]: unknown }

/** Why a place differs from the official files. */
export const exceptions = {
  /** A message of the official examples that comes out with more than it had. */
  filledIn: {
    "ReadResourceResultResponse/read-resource-result-response.json": {
      because: "T-41: it lacks the required ttlMs and cacheScope, which are filled in on reading",
      result: { ttlMs: 0, cacheScope: "private" }
    }
  },
  /** Values that a client may send though no official schema allows them. */
  unknownBlocks:
    "M-CONT-4: a tool result that a client hands on to a language model keeps blocks of kinds this package does not know",
  /** Members that the model has beside those of schema.json. */
  moreMembers: {
    because:
      "the prose of 2025-11-25 names `pattern`; `_meta` of legacy parameters stands in the definition of Request",
    members: { StringSchema: ["pattern"] },
    metaOfParameters: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
  },
  /** Members with another name on the wire of 2025-11-25. */
  renamed: {
    because: "tasks of both revisions read into the shape of the extension",
    members: { ttlMs: "ttl", pollIntervalMs: "pollInterval" }
  },
  /** Definitions whose schema.json is narrower than the schema.ts it was made from. */
  widened: {
    JSONValue: {
      because: "T-42: schema.json leaves out null and fractions; schema.ts has them",
      versions: ["2026-07-28"],
      definition: {
        anyOf: [
          { $ref: "#/$defs/JSONObject" },
          { type: "array", items: { $ref: "#/$defs/JSONValue" } },
          { type: ["string", "number", "boolean", "null"] }
        ]
      }
    },
    ElicitResult: {
      because: "T-42: schema.json leaves out fractions among the answers; schema.ts has them",
      versions: ["2025-06-18", "2025-11-25", "2026-07-28"],
      replace: ['"integer"', '"number"']
    }
  }
} as const

const blocks = new Set(["text", "image", "audio", "resource_link", "resource"])

const isBlockUnknown = (block: unknown) =>
  typeof block === "object" && block !== null && !("type" in block && blocks.has(String(block.type)))

/** Whether a value holds what `exceptions.unknownBlocks` speaks of. */
export const isExcepted = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return false
  const result = "type" in value && value.type === "tool_result" && "content" in value ? value.content : []
  return (Array.isArray(result) && result.some(isBlockUnknown)) || Object.values(value).some(isExcepted)
}

const widen = (version: Version, definitions: { [name: string]: unknown }) => {
  const { JSONValue, ElicitResult } = exceptions.widened
  if (JSONValue.versions.some((widened) => widened === version)) definitions["JSONValue"] = JSONValue.definition
  if (ElicitResult.versions.some((widened) => widened === version)) {
    const [narrow, wide] = ElicitResult.replace
    definitions["ElicitResult"] = JSON.parse(JSON.stringify(definitions["ElicitResult"]).replaceAll(narrow, wide))
  }
  return definitions
}

const load = (version: Version): Json => {
  const file = new URL(`official/${version}/schema.json`, import.meta.url)
  // Draft 7 and 2020-12 differ, for these files, only in where definitions stand.
  const text = fs.readFileSync(file, "utf8").replaceAll("#/definitions/", "#/$defs/")
  const schema: Json = JSON.parse(text)
  return widen(version, { ...((schema["$defs"] ?? schema["definitions"]) as object) })
}

const loaded = new Map<Version, Json>()

/** The definitions of a revision, widened where the list says so. */
export const definitions = (version: Version): Json => {
  const known = loaded.get(version)
  if (known !== undefined) return known
  const fresh = load(version)
  loaded.set(version, fresh)
  return fresh
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false })
const validators = new Map<string, (value: unknown) => string | undefined>()

/** Says what is wrong with a value, `undefined` when it fits the definition. */
export const complaint = (version: Version, definition: string, value: unknown): string | undefined => {
  const key = `${version}/${definition}`
  let validate = validators.get(key)
  if (validate === undefined) {
    const check = ajv.compile({ $ref: `#/$defs/${definition}`, $defs: definitions(version) })
    validate = (candidate) => (check(candidate) ? undefined : ajv.errorsText(check.errors))
    validators.set(key, validate)
  }
  return validate(value)
}

/** A schema of Effect that generates what the official definition allows. */
export const generator = (version: Version, definition: string): Schema.Codec<unknown> =>
  Schema.make<Schema.Codec<unknown>>(
    SchemaRepresentation.fromJsonSchemaDocument(
      {
        dialect: "draft-2020-12",
        schema: { $ref: `#/$defs/${definition}` },
        definitions: definitions(version) as never
      },
      { patterns: "ignore" }
    ).ast
  )
