/**
 * Tools: what a server can do when asked (L-TOOL, M-TOOL).
 *
 * `inputSchema` and `outputSchema` are JSON Schemas, kept as the server sent them. A tool that fails says so in its
 * result (`isError`); that is an answer, not an error of the protocol.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Content from "./Content.ts"
import { Icons } from "./Implementation.ts"
import * as InputRequired from "./InputRequired.ts"
import {
  anyMeta,
  cacheHints,
  from,
  Json,
  laterMeta,
  list,
  maybe,
  member,
  named,
  open,
  result,
  structured
} from "./internal/shape.ts"
import * as Page from "./Page.ts"

/**
 * What the server says about the nature of a tool. Untrusted unless the server is trusted (M-TOOL-11).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Hints = open({
  title: maybe(Schema.String),
  /** It changes nothing. Absent means `false`. */
  readOnlyHint: maybe(Schema.Boolean),
  /** It may destroy something. Absent means `true`. */
  destructiveHint: maybe(Schema.Boolean),
  /** Calling it again with the same arguments changes nothing more. Absent means `false`. */
  idempotentHint: maybe(Schema.Boolean),
  /** It reaches into an open world, as a web search does. Absent means `true`. */
  openWorldHint: maybe(Schema.Boolean)
}).pipe(named("ToolAnnotations"))

/**
 * What the server says about the nature of a tool.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hints extends Schema.Schema.Type<typeof Hints> {}

const combinators = ["anyOf", "oneOf", "allOf", "not", "if", "$ref", "$dynamicRef", "enum", "const"]

/**
 * The JSON Schema of a tool's arguments, kept as it is. It must describe an object: `type` is `"object"`, or is absent
 * and nothing at the root could make it something else (L-TOOL-8, T-TOOL-6).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputSchema = Json.check(
  Schema.makeFilter((schema: { readonly [key: string]: unknown }) =>
    Object.hasOwn(schema, "type")
      ? schema["type"] === "object" || 'expected "type" to be "object"'
      : !combinators.some((keyword) => Object.hasOwn(schema, keyword)) || 'expected "type" to be "object"'
  )
)

/**
 * A tool.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Tool = open({
  name: Schema.String,
  title: from("2025-06-18")(maybe(Schema.String)),
  description: maybe(Schema.String),
  inputSchema: InputSchema,
  /** The JSON Schema of `structuredContent`, kept as it is. */
  outputSchema: from("2025-06-18")(maybe(Json)),
  annotations: from("2025-03-26")(maybe(Hints)),
  icons: from("2025-11-25")(maybe(Icons)),
  /** Whether calls run as tasks of 2025-11-25; absent means `forbidden`. */
  execution: member({ from: "2025-11-25", to: "2025-11-25" })(
    maybe(open({ taskSupport: maybe(Schema.Literals(["forbidden", "optional", "required"])) }))
  ),
  _meta: laterMeta
}).pipe(named("Tool"))

/**
 * A tool.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tool extends Schema.Schema.Type<typeof Tool> {}

/**
 * The name to show: `title`, then the title among the hints, then `name` (M-TOOL-9).
 *
 * @category accessors
 * @since 0.1.0
 */
export const displayName = (tool: Tool): string => tool.title ?? tool.annotations?.title ?? tool.name

/**
 * One page of tools.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListResult = result({ tools: list(Tool), nextCursor: Page.nextCursor, ...cacheHints })

/**
 * One page of tools.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListResult extends Schema.Schema.Type<typeof ListResult> {}

/**
 * Which tool to call and with what.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallParams = open({
  name: Schema.String,
  /** Sent as `{}` when absent, since some servers insist on it. */
  arguments: maybe(Json),
  /** Asks for a task of 2025-11-25; `ttl` is in milliseconds. */
  task: member({ from: "2025-11-25", to: "2025-11-25" })(maybe(open({ ttl: maybe(Schema.Int) }))),
  ...InputRequired.retry,
  _meta: anyMeta
})

/**
 * Which tool to call and with what.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallParams extends Schema.Schema.Type<typeof CallParams> {}

/**
 * What a tool gave.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallResult = result({
  content: list(Content.Block),
  /** Any JSON value, `null` too: ask with `Object.hasOwn`. An object before 2026-07-28. */
  structuredContent: structured,
  /** The tool failed; the content says how. Absent means it did not. */
  isError: maybe(Schema.Boolean)
})

/**
 * What a tool gave.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallResult extends Schema.Schema.Type<typeof CallResult> {}
