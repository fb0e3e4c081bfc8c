/**
 * What a client and a server say they can do (L-CAP, M-CAP).
 *
 * A capability is there when its key is there: `{}` is a yes, `false` inside means the same as absent. Sets are open:
 * unknown members are kept. Which member is sent to which revision is decided by `Revision`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { from, Json, maybe, member, named, open } from "./internal/shape.ts"
import type { Version } from "./Version.ts"

const settings = Schema.Record(Schema.String, Json)

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null

const has = (value: unknown, key: string): boolean =>
  isRecord(value) && Object.hasOwn(value, key) && value[key] !== undefined && value[key] !== null

// 2025-06-18 knows no modes: an empty object there promises forms.
const elicitationFor = (value: unknown, version: Version): unknown =>
  version !== "2025-06-18" || !has(value, "url") || has(value, "form") ? value : undefined

/**
 * The ways to ask a user. `{}` alone means `form` (M-CAP-7).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Elicitation = open({
  form: member({ from: "2025-11-25", quiet: true })(maybe(Json)),
  url: from("2025-11-25")(maybe(Json))
}).pipe(named("ClientCapabilities.elicitation"))

const tasks = (requests: Schema.Codec<{ readonly [key: string]: unknown }>) =>
  open({ list: maybe(Json), cancel: maybe(Json), requests: maybe(requests) })

/**
 * What a client can do for a server.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Client = open({
  experimental: maybe(settings),
  /** It can name the folders it works in. */
  roots: maybe(open({ listChanged: member({ to: "2025-11-25" })(maybe(Schema.Boolean)) })),
  /** It can ask a language model. */
  sampling: maybe(open({ tools: from("2025-11-25")(maybe(Json)), context: from("2025-11-25")(maybe(Json)) })),
  /** It can ask its user. */
  elicitation: member({ from: "2025-06-18", adapt: elicitationFor })(maybe(Elicitation)),
  /** It can run sampling and elicitation as tasks; 2025-11-25 only. */
  tasks: member({ from: "2025-11-25", to: "2025-11-25" })(maybe(tasks(Json))),
  extensions: from("2026-07-28")(maybe(settings))
}).pipe(named("ClientCapabilities"))

/**
 * What a client can do for a server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Client extends Schema.Schema.Type<typeof Client> {}

/**
 * What a server can do for a client.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Server = open({
  experimental: maybe(settings),
  logging: maybe(Json),
  completions: from("2025-03-26")(maybe(Json)),
  prompts: maybe(open({ listChanged: maybe(Schema.Boolean) })),
  resources: maybe(open({ subscribe: maybe(Schema.Boolean), listChanged: maybe(Schema.Boolean) })),
  tools: maybe(open({ listChanged: maybe(Schema.Boolean) })),
  tasks: member({ from: "2025-11-25", to: "2025-11-25" })(maybe(tasks(Json))),
  extensions: from("2026-07-28")(maybe(settings))
}).pipe(named("ServerCapabilities"))

/**
 * What a server can do for a client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Server extends Schema.Schema.Type<typeof Server> {}

/**
 * A path into capabilities, for example `["resources", "subscribe"]`.
 *
 * @category models
 * @since 0.1.0
 */
export type Path = readonly [string, ...ReadonlyArray<string>]

/**
 * Whether a capability is declared: every key of the path is there, and none is `false` or `null`.
 *
 * @example
 * import * as Capabilities from "@mcp-effect/protocol/Capabilities"
 *
 * Capabilities.declares({ resources: { subscribe: true } }, ["resources", "subscribe"]) // true
 *
 * @category guards
 * @since 0.1.0
 */
export const declares = (capabilities: Client | Server, path: Path): boolean => {
  let at: unknown = capabilities
  for (const key of path) {
    if (!isRecord(at) || !has(at, key)) return false
    at = at[key]
  }
  return at !== false
}

/**
 * The ways of asking a user that a client declared: `{}` is `form` alone, `{ url }` is `url` alone (M-CAP-7, L-CAP).
 *
 * @category accessors
 * @since 0.1.0
 */
export const elicitationModes = (capabilities: Client): ReadonlyArray<"form" | "url"> => {
  const declared = Object.hasOwn(capabilities, "elicitation") ? capabilities.elicitation : undefined
  if (declared === undefined) return []
  const url = has(declared, "url")
  return has(declared, "form") || !url ? (url ? ["form", "url"] : ["form"]) : ["url"]
}
