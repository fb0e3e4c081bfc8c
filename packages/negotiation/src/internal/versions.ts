import { excerpt } from "@mcp-effect/protocol/Excerpt"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const memberOf = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

const strings = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : []

/** The versions a DiscoverResult, the data of a -32022 or an InitializeResult names; junk among them is left out. */
export const listedBy = (value: unknown): ReadonlyArray<string> => {
  const chosen = memberOf(value, "protocolVersion")
  if (typeof chosen === "string") return [chosen]
  const listed = strings(memberOf(value, "supportedVersions"))
  return listed.length > 0 ? listed : strings(memberOf(value, "supported"))
}

/** How many versions of a server are kept in evidence and errors. */
const maxNamed = 32

export const bounded = (versions: ReadonlyArray<string>): ReadonlyArray<string> =>
  versions.slice(0, maxNamed).map((text) => excerpt(text))
