/** What people and servers give as text or schema: addresses, arguments, patterns, names, forms, schemas. */
import * as Arguments from "../../cli/src/Arguments.ts"
import * as TamePattern from "../../client/src/internal/tamePattern.ts"
import * as ServerAddress from "../../cli/src/Target.ts"
import * as FormAnswer from "@mcp-effect/client/FormAnswer"
import * as OpenUrl from "@mcp-effect/client/OpenUrl"
import * as OutputSchema from "@mcp-effect/client/OutputSchema"
import * as ServerEntry from "@mcp-effect/host/ServerEntry"
import * as ToolName from "@mcp-effect/host/ToolName"
import * as Elicitation from "@mcp-effect/protocol/Elicitation"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Arbitraries from "@mcp-effect/testing/Arbitraries"
import * as QuestionArbitraries from "@mcp-effect/testing/QuestionArbitraries"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { damaged } from "./Damage.ts"
import { endsTyped, type Target, target } from "./Target.ts"

const addresses = damaged(
  "https://user:password@example.com:8443/mcp?token=secret#top",
  "http://127.0.0.1:3000/sse",
  "https://[::1]/a/../b",
  "file:///etc/passwd"
)

/** An address is refused, or opened whole; and nothing secret of it is shown. */
const opens = (text: string): boolean => {
  const checked = OpenUrl.check(text)
  if (Result.isFailure(checked)) return checked.failure.message !== ""
  const { shown, url } = checked.success
  return url.username === "" && url.password === "" && URL.canParse(shown) && /^[\x21-\x7e]+$/.test(shown)
}

/** Keywords of JSON Schema with values that fit and values that do not. */
const keyword = Arbitrary.all([
  Arbitraries.element(
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "pattern",
    "patternProperties",
    "$ref",
    "$defs",
    "$id",
    "$schema",
    "$dynamicRef",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "minimum",
    "multipleOf",
    "maxLength",
    "format",
    "uniqueItems",
    "additionalProperties",
    "unevaluatedProperties",
    "dependentSchemas",
    "contains",
    "__proto__"
  ),
  Arbitraries.oneOf<unknown>(
    Arbitraries.json,
    Arbitraries.element<unknown>(
      "string",
      "object",
      ["string", "null"],
      "#",
      "#/properties/a",
      "#/$defs/nowhere",
      "https://example.com/other",
      "https://json-schema.org/draft/2020-12/schema",
      "(a+)+$",
      "[",
      "date-time",
      true,
      0,
      -1,
      ["a"],
      { a: { type: "string" } },
      { a: { $ref: "#" } },
      [{ type: "string" }, { $ref: "#/$defs/a" }],
      { "^a": false }
    )
  )
])

const schema: Arbitrary.Arbitrary<JsonRpc.JsonObject> = Arbitrary.map(
  Arbitrary.all([Arbitrary.array(keyword, { maxLength: 5 }), Arbitrary.array(keyword, { maxLength: 3 })]),
  ([outer, inner]) => Object.fromEntries([...outer, ["properties", { a: Object.fromEntries(inner) }]])
)

/** A schema compiles or is refused; its verdict on any value is one, within bounds. */
const checks = Effect.fnUntraced(function* ([of, value]: readonly [JsonRpc.JsonObject, unknown]) {
  const check = yield* OutputSchema.compile(of)
  for (const one of [value, { a: value }, { a: [value, value] }, "a".repeat(50) + "!"]) check(one)
})

const patterns = damaged("^[a-z]{1,3}(?:-[0-9]+)*$", "(a|b)*c", "\\d+\\.\\d+", "(?<year>\\d{4})", "[^]]", "a{2,}b?c+")

/** What counts as tame compiles, and takes no time of the processor with the texts that are worst for it. */
const staysTame = (pattern: string): boolean => {
  if (!TamePattern.isTame(pattern)) return true
  const expression = new RegExp(pattern, "u")
  const began = process.cpuUsage()
  for (const part of ["a", "0", "-", "ab", " "]) expression.test(`${part.repeat(2_000)}!`)
  return process.cpuUsage(began).user < 2_000_000
}

const words = Arbitrary.array(
  damaged("text=hello", "count=3", 'list=["a","b"]', "yes=true", '{"text":"hello"}', "a=b=c", "=", "nothing=null"),
  { maxLength: 4 }
)

/** Arguments as a person types them: an object of JSON, or words about what is wrong with them. */
const typed = ([of, given]: readonly [JsonRpc.JsonObject, ReadonlyArray<string>]): boolean => {
  const read = Arguments.parse(of, given)
  for (const { key } of Arguments.fields(of)) Arguments.choicesOf(of, key)
  return Result.isSuccess(read) ? JSON.stringify(read.success).startsWith("{") : read.failure !== ""
}

const names = Arbitrary.all([
  damaged("files", "my server", "a__b", "x".repeat(70)),
  damaged("read_file", "tools/read", "读", "_", "read__file__0123456789ab")
])

/** A tool has one name, which model interfaces take; a plain one leads back. */
const isName = ([server, tool]: readonly [string, string]): boolean => {
  const name = ToolName.of(server, tool)
  const parts = ToolName.parts(name)
  return (
    /^[a-zA-Z0-9_-]{1,64}$/.test(name) &&
    name === ToolName.of(server, tool) &&
    (parts === undefined || (parts.server === server && parts.tool === tool))
  )
}

/** `*` in the pattern of an entry means what it means in a regular expression. */
const globs = Arbitrary.all([damaged("read_*", "*", "*_file*", "a*b*c"), damaged("read_file", "aXbYc", "")])

const isForm = Schema.is(Elicitation.FormParams)

const answered = Arbitrary.all({
  form: QuestionArbitraries.form,
  spoiled: Arbitraries.json,
  text: damaged("1e3", "true", "red, green", "2026-02-30", "a@b.example", "https://x.example/")
})

/** What was typed into a field is a value that fits it, or words about what is wrong with it. */
const fills = ({
  form,
  spoiled,
  text
}: {
  readonly form: Elicitation.FormParams
  readonly spoiled: unknown
  readonly text: string
}) => {
  const odd: unknown = { ...form, requestedSchema: { ...form.requestedSchema, properties: { a: spoiled } } }
  const forms = isForm(odd) ? [form, odd] : [form]
  return forms.every((each) =>
    FormAnswer.fields(each).every((field) => {
      const read = FormAnswer.parse(field, text)
      if (Result.isFailure(read)) return read.failure !== ""
      if (read.success === undefined) return !field.required
      const alone = FormAnswer.check(each, { [field.name]: read.success })
      return Result.isSuccess(alone) || alone.failure.problems.every((problem) => problem.field !== field.name)
    })
  )
}

/** What is given by people is fed with damage. */
export const targets: ReadonlyArray<Target> = [
  target("addresses to open", addresses, opens),
  target(
    "addresses of servers",
    addresses,
    (url) => {
      const problem = ServerAddress.problemOf(url)
      if (problem !== undefined) return problem !== ""
      const { password } = new URL(url)
      const made = Effect.map(
        StreamableHttp.make({ url }),
        ({ endpoint }) => password === "" || !endpoint.includes(`:${password}@`)
      )
      return Effect.provide(made, FetchHttpClient.layer)
    },
    0.5
  ),
  target("output schemas", Arbitrary.all([schema, Arbitraries.json]), (input) => endsTyped(checks(input)), 0.5),
  target("patterns of servers", patterns, staysTame, 0.1),
  target("arguments of commands", Arbitrary.all([schema, words]), typed, 0.5),
  target("names of tools", names, isName, 0.5),
  target("patterns of entries", globs, ([pattern, name]) => {
    const expression = pattern.split("*").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
    return ServerEntry.fits(pattern, name) === new RegExp(`^${expression.join(".*")}$`, "s").test(name)
  }),
  target("answers to forms", answered, fills, 0.5)
]
