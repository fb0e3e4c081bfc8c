/**
 * A tool with types of your own: arguments are encoded and the result is decoded by schemas.
 *
 * Three things can go wrong and each has its own error: the tool reports failure (`ToolFailed`, with what it said), what
 * it gave does not decode (`ResultInvalid`), or the call itself fails (`McpClientError`). Arguments that do not encode
 * (`ArgumentsInvalid`) are never sent.
 *
 * @since 0.1.0
 */
import * as Content from "@mcp-effect/protocol/Content"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { misfit } from "./internal/misfit.ts"
import type { CallOptions, Client } from "./McpClient.ts"
import type { McpClientError } from "./McpClientError.ts"

/**
 * The tool reports failure: its result has `isError`.
 *
 * What to change: what was asked: `content` holds what the tool says about it.
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolFailed extends Schema.TaggedError<ToolFailed>()("ToolFailed", {
  tool: Schema.String,
  /** What the tool said, whole. */
  content: Schema.Array(Content.Block),
  structuredContent: Schema.optionalKey(Schema.Unknown)
}) {
  override get message() {
    const said = textOf(this.content).slice(0, 500)
    return `MCP tool "${this.tool}" failed: ${said === "" ? "it did not say why" : said}`
  }
}

/**
 * The arguments do not fit the schema given for them. Nothing was sent.
 *
 * What to change: the argument at `pointer`.
 *
 * @category errors
 * @since 0.1.0
 */
export class ArgumentsInvalid extends Schema.TaggedError<ArgumentsInvalid>()("ArgumentsInvalid", {
  tool: Schema.String,
  /** A JSON pointer into the arguments, empty for the whole. */
  pointer: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `MCP tool "${this.tool}" was not called: its arguments ${place(this.pointer)}${this.because}`
  }
}

/**
 * The tool succeeded, and what it gave does not decode with the schema given for it.
 *
 * What to change: the schema, so that it says what the tool really gives.
 *
 * @category errors
 * @since 0.1.0
 */
export class ResultInvalid extends Schema.TaggedError<ResultInvalid>()("ResultInvalid", {
  tool: Schema.String,
  /** A JSON pointer into the result, empty for the whole. */
  pointer: Schema.String,
  because: Schema.String
}) {
  override get message() {
    return `MCP tool "${this.tool}" gave what the program does not expect ${place(this.pointer)}${this.because}`
  }
}

const place = (pointer: string) => (pointer === "" ? "(the whole): " : `(at ${pointer}): `)

const textOf = (content: ReadonlyArray<Content.Block>): string =>
  content.flatMap((block) => (block.type === "text" && typeof block.text === "string" ? [block.text] : [])).join("\n")

/**
 * The name of a tool, and the schemas of its arguments and its result.
 *
 * @category models
 * @since 0.1.0
 */
export interface TypedTool<
  Arguments extends Schema.Codec<unknown, unknown, unknown, unknown>,
  Success extends Schema.Codec<unknown, unknown, unknown, unknown>
> {
  readonly name: string
  readonly arguments: Arguments
  readonly result: Success
}

/**
 * Describes a tool. The arguments must encode to an object. The result is the structured content of the tool; where there
 * is none, as in the oldest revisions, its only text, read as JSON.
 *
 * @example
 * ```ts
 * import { TypedTool } from "@mcp-effect/client"
 * import { Schema } from "effect"
 *
 * export const add = TypedTool.make("add", {
 *   arguments: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
 *   result: Schema.Struct({ sum: Schema.Finite })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  Arguments extends Schema.Codec<unknown, { readonly [key: string]: unknown }, unknown, unknown>,
  Success extends Schema.Codec<unknown, unknown, unknown, unknown>
>(
  name: string,
  schemas: { readonly arguments: Arguments; readonly result: Success }
): TypedTool<Arguments, Success> => ({ name, arguments: schemas.arguments, result: schemas.result })

/**
 * Calls a tool with its own types. Everything `McpClient.callTool` promises holds here too.
 *
 * @example
 * ```ts
 * import { McpClient, TypedTool } from "@mcp-effect/client"
 * import { Console, Effect, Schema } from "effect"
 *
 * const add = TypedTool.make("add", {
 *   arguments: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
 *   result: Schema.Struct({ sum: Schema.Finite })
 * })
 *
 * export const program = Effect.gen(function*() {
 *   const client = yield* McpClient.McpClient
 *   const { sum } = yield* TypedTool.call(client, add, { a: 1, b: 2 })
 *   return sum
 * }).pipe(Effect.catchTag("ToolFailed", (failed) => Console.error(failed.message)))
 * ```
 *
 * @category calling
 * @since 0.1.0
 */
export const call = Effect.fn("TypedTool.call")(function* <
  Arguments extends Schema.Codec<unknown, unknown, unknown, unknown>,
  Success extends Schema.Codec<unknown, unknown, unknown, unknown>
>(
  client: Client,
  tool: TypedTool<Arguments, Success>,
  args: Arguments["Type"],
  options?: CallOptions
): Effect.fn.Return<
  Success["Type"],
  ToolFailed | ArgumentsInvalid | ResultInvalid | McpClientError,
  Arguments["EncodingServices"] | Success["DecodingServices"]
> {
  const { name } = tool
  const encoded = yield* Effect.mapError(
    Schema.encodeEffect(tool.arguments)(args),
    ({ issue }) => new ArgumentsInvalid({ tool: name, ...misfit(issue) })
  )
  if (!Predicate.isReadonlyObject(encoded)) {
    return yield* new ArgumentsInvalid({ tool: name, pointer: "", because: "do not encode to an object" })
  }
  const result = yield* client.callTool(name, encoded, options)
  if (result.isError === true) {
    const { content, structuredContent } = result
    return yield* new ToolFailed({
      tool: name,
      content,
      ...(Object.hasOwn(result, "structuredContent") ? { structuredContent } : {})
    })
  }
  const given = valueOf(result)
  if (Result.isFailure(given)) {
    return yield* new ResultInvalid({ tool: name, pointer: "", because: given.failure })
  }
  return yield* Effect.mapError(
    Schema.decodeUnknownEffect(tool.result)(given.success),
    ({ issue }) => new ResultInvalid({ tool: name, ...misfit(issue) })
  )
})

const fromText = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** What a tool gave as a value. */
const valueOf = (result: Tool.CallResult): Result.Result<unknown, string> => {
  if (Object.hasOwn(result, "structuredContent")) return Result.succeed(result.structuredContent)
  const [only, ...more] = result.content
  const none = "there is no structured content, and not one text of JSON in its place"
  return only?.type === "text" && more.length === 0
    ? Result.mapError(fromText(only.text), () => none)
    : Result.fail(none)
}
