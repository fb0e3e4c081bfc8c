/**
 * The members an entry has in a file. The page, the schema for editors, the reader and the writer all follow this table.
 */
import * as Version from "@mcp-effect/protocol/Version"
import * as Schema from "effect/Schema"

/** How many code points a name may have. */
export const nameLength = 256

const said = (description: string) => ({ description })

const strings = Schema.Array(Schema.String)
const texts = Schema.Record(Schema.String, Schema.String)
const milliseconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

export const common = {
  disabled: Schema.optionalKey(Schema.Boolean).annotate(said("Leave the server stopped. Default: false.")),
  timeout: Schema.optionalKey(
    milliseconds.annotate(said("How long a tool call may take, in milliseconds. Default: 60000."))
  ),
  connectTimeout: Schema.optionalKey(
    milliseconds.annotate(said("How long connecting may take in all, in milliseconds. Default: 60000."))
  ),
  era: Schema.optionalKey(
    Schema.String.annotate({
      ...said(
        "How the connection starts: `auto` asks and adapts, `modern` never falls back, `legacy` shakes hands, a modern version is taken at its word. Default: `auto`."
      ),
      examples: ["auto", "modern", "legacy", ...Version.modern]
    })
  ),
  tools: Schema.optionalKey(
    Schema.Union([
      Schema.Struct({
        allow: Schema.optionalKey(strings.annotate(said("Only these tools. `*` stands for any characters."))),
        deny: Schema.optionalKey(strings.annotate(said("Never these tools. `*` stands for any characters.")))
      }),
      strings
    ]).annotate(said("Which tools are offered; a list means `allow`. Default: all."))
  ),
  elicitation: Schema.optionalKey(
    Schema.Struct({
      form: Schema.optionalKey(Schema.Boolean.annotate(said("Whether the server may ask for a form to be filled in."))),
      url: Schema.optionalKey(Schema.Boolean.annotate(said("Whether the server may ask to open an address.")))
    }).annotate(said("Which questions the server may ask the user. Default: none."))
  ),
  approval: Schema.optionalKey(
    Schema.Literals(["ask", "allow"]).annotate(
      said(
        "`ask`: every tool call needs a yes. `allow`: calls run unless they are vetoed. Default: what the host says."
      )
    )
  )
}

const headers = Schema.optionalKey(texts.annotate(said("Headers of every request.")))
const url = Schema.String.check(Schema.isNonEmpty()).annotate(said("The address of the server: http:// or https://."))

const typed = <const Types extends ReadonlyArray<string>>(types: Types, description: string) =>
  Schema.Literals(types).annotate(said(description))

/** The names products have for the three transports. */
export const typeNames = {
  stdio: ["stdio", "local"],
  http: ["http", "streamable-http", "streamableHttp", "streamable_http"],
  sse: ["sse"]
} as const

export type TypeName = keyof typeof typeNames

/** The members of each transport, without the name, which some forms keep elsewhere. */
export const byType = {
  stdio: Schema.Struct({
    type: Schema.optionalKey(typed(typeNames.stdio, "A child process. Default where `command` is.")),
    command: Schema.String.check(Schema.isNonEmpty()).annotate(
      said("The program: a path, or a name to look up on PATH. No shell is involved.")
    ),
    args: Schema.optionalKey(strings.annotate(said("The arguments, one by one."))),
    env: Schema.optionalKey(
      Schema.Union([texts, strings]).annotate(
        said(
          "Variables of the process, as an object or as `NAME=VALUE` texts, on top of a small safe part of the host's."
        )
      )
    ),
    cwd: Schema.optionalKey(
      Schema.String.check(Schema.isNonEmpty()).annotate(said("The working directory. Default: the host's."))
    ),
    ...common
  }),
  http: Schema.Struct({
    type: Schema.optionalKey(
      typed(typeNames.http, "Streamable HTTP; older servers are found on their own. Default where `url` is.")
    ),
    url,
    headers,
    ...common
  }),
  sse: Schema.Struct({
    type: typed(typeNames.sse, "HTTP+SSE and nothing else."),
    url,
    headers,
    ...common
  })
} as const

export const name = Schema.String.check(Schema.isNonEmpty()).annotate(
  said("The server's name; no two entries share one. In the object forms it is the key of the entry.")
)

/** What VS Code asks the user before it starts servers. */
export const input = Schema.Struct({
  id: Schema.String.check(Schema.isNonEmpty()).annotate(said("What `${input:id}` names.")),
  type: Schema.optionalKey(Schema.String.annotate(said("`promptString` or `pickString`."))),
  description: Schema.optionalKey(Schema.String.annotate(said("What the user is told."))),
  default: Schema.optionalKey(Schema.String.annotate(said("The answer when there is none."))),
  password: Schema.optionalKey(Schema.Boolean.annotate(said("Whether the answer is secret."))),
  options: Schema.optionalKey(
    Schema.Array(Schema.Union([Schema.String, Schema.Struct({ label: Schema.String, value: Schema.String })])).annotate(
      said("What can be picked.")
    )
  )
})

const entry = (named: boolean) => {
  const fields = named ? { name } : {}
  return Schema.Union([
    byType.stdio.pipe(Schema.fieldsAssign(fields)),
    byType.http.pipe(Schema.fieldsAssign(fields)),
    byType.sse.pipe(Schema.fieldsAssign(fields))
  ])
}

const listed = Schema.Array(entry(true))
const keyed = Schema.Record(Schema.String, entry(false))
const inputs = Schema.optionalKey(Schema.Array(input))

/** A whole file in each of its forms. */
export const file = Schema.Union([
  listed,
  Schema.Struct({ mcpServers: Schema.Union([keyed, listed]), inputs }),
  Schema.Struct({ servers: Schema.Union([keyed, listed]), inputs })
]).annotate({ title: "MCP servers", description: "Servers of the Model Context Protocol, for @mcp-effect/host." })

/** Members of each transport that the others do not have. */
export const own: { readonly [Type in "stdio" | "remote"]: ReadonlyArray<string> } = {
  stdio: ["command", "args", "env", "cwd"],
  remote: ["url", "headers"]
}

/** The order in which members are written. */
export const order = ["name", "type", ...own.stdio, ...own.remote, ...Object.keys(common)]

/** Whether the member is one of those above; `transport` is another name of `type`. */
export const isKnown = (member: string): boolean => member === "transport" || order.includes(member)
