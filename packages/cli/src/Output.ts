/**
 * What `--json` prints, as schemas: one for each command. The page `docs/command-line.schema.json` is printed from them.
 * What comes from a server keeps members that are not named here.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const text = Schema.String
const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(schema)
const bag = Schema.Record(Schema.String, Schema.Unknown)

const named = { name: text, title: maybe(text), description: maybe(text) }
const Tools = Schema.Array(
  Schema.Struct({ ...named, inputSchema: bag, outputSchema: maybe(bag), annotations: maybe(bag) })
)
const Problem = Schema.Struct({ entry: maybe(text), line: Schema.Finite, column: Schema.Finite, message: text })

const SignedIn = Schema.Struct({ server: text, signedIn: Schema.Boolean })

/**
 * The schema of each command's output. `watch` prints one such value a line.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schemas = {
  probe: Schema.Struct({
    server: text,
    transport: text,
    era: Schema.Literals(["modern", "legacy"]),
    version: text,
    identity: maybe(Schema.Struct({ ...named, version: text })),
    capabilities: maybe(bag),
    instructions: maybe(text),
    roundTrips: Schema.Finite,
    rule: text,
    explanation: maybe(text),
    tools: maybe(Tools)
  }),
  tools: Schema.Struct({ tools: Tools }),
  call: Schema.Struct({
    content: Schema.Array(Schema.Struct({ type: text })),
    structuredContent: maybe(Schema.Unknown),
    isError: maybe(Schema.Boolean)
  }),
  resources: Schema.Struct({
    resources: Schema.Array(Schema.Struct({ ...named, uri: text, mimeType: maybe(text) })),
    templates: Schema.Array(Schema.Struct({ ...named, uriTemplate: text, mimeType: maybe(text) }))
  }),
  read: Schema.Struct({
    contents: Schema.Array(Schema.Struct({ uri: text, mimeType: maybe(text), text: maybe(text), blob: maybe(text) }))
  }),
  prompts: Schema.Struct({ prompts: Schema.Array(Schema.Struct({ ...named, arguments: maybe(Schema.Array(bag)) })) }),
  prompt: Schema.Struct({
    description: maybe(text),
    messages: Schema.Array(Schema.Struct({ role: text, content: bag }))
  }),
  complete: Schema.Struct({
    values: Schema.Array(text),
    total: maybe(Schema.Finite),
    hasMore: maybe(Schema.Boolean)
  }),
  watch: Schema.Union([
    Schema.Struct({ event: Schema.Literal("change"), change: Schema.Struct({ _tag: text }) }),
    Schema.Struct({ event: Schema.Literal("log"), level: text, logger: maybe(text), data: Schema.Unknown })
  ]),
  ping: Schema.Struct({ milliseconds: Schema.Finite, asked: text }),
  servers: Schema.Struct({
    servers: Schema.Array(
      Schema.Struct({
        name: text,
        type: Schema.Literals(["stdio", "http", "sse"]),
        state: Schema.Literals(["ready", "failed", "disabled"]),
        version: maybe(text),
        tools: maybe(Schema.Finite),
        because: maybe(text)
      })
    ),
    problems: Schema.Array(Problem)
  }),
  "config check": Schema.Struct({
    file: text,
    servers: Schema.Array(text),
    problems: Schema.Array(Problem),
    hints: Schema.Array(Schema.Struct({ id: text, message: text }))
  }),
  "auth login": SignedIn,
  "auth status": SignedIn,
  "auth logout": SignedIn
}

/**
 * All of them as one JSON Schema: a definition for each command, by its name.
 *
 * @category schemas
 * @since 0.1.0
 */
export const document = (): unknown => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "What mcp-effect prints with --json",
  $defs: Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const { definitions, schema: shape } = Schema.toJsonSchemaDocument(schema)
      return [name, open(Object.keys(definitions).length === 0 ? shape : { ...shape, $defs: definitions })]
    })
  )
})

/** Objects stay open: servers may say more than is named here. */
const open = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(open)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value).flatMap(([key, inner]) =>
            key === "additionalProperties" && inner === false ? [] : [[key, open(inner)] as const]
          )
        )
      : value
