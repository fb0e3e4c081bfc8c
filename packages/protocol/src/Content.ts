/**
 * What messages and tool results are made of: text, images, audio, resources (M-CONT).
 *
 * A kind of block that this package does not know is kept as it is, so that a newer server stays readable.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Annotations } from "./Annotations.ts"
import { resourceFields } from "./internal/resourceFields.ts"
import { kind, laterMeta, maybe, named, open, structured } from "./internal/shape.ts"
import { Contents } from "./ResourceContents.ts"

const asText = (text: string) => ({ type: "text", text })

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null

/**
 * Text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Text = open({
  type: Schema.Literal("text"),
  text: Schema.String,
  annotations: maybe(Annotations),
  _meta: laterMeta
}).pipe(named("TextContent"))

/**
 * Text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Text extends Schema.Schema.Type<typeof Text> {}

/**
 * A picture, in base64.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Image = open({
  type: Schema.Literal("image"),
  data: Schema.String,
  mimeType: Schema.String,
  annotations: maybe(Annotations),
  _meta: laterMeta
}).pipe(named("ImageContent"))

/**
 * A picture, in base64.
 *
 * @category models
 * @since 0.1.0
 */
export interface Image extends Schema.Schema.Type<typeof Image> {}

/**
 * Sound, in base64. 2024-11-05 does not know it: a note in text takes its place.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Audio = open({
  type: Schema.Literal("audio"),
  data: Schema.String,
  mimeType: Schema.String,
  annotations: maybe(Annotations),
  _meta: laterMeta
}).pipe(
  named("AudioContent"),
  kind({
    from: "2025-03-26",
    degrade: (block) => asText(isRecord(block) ? `[audio, ${String(block["mimeType"])}]` : "[audio]")
  })
)

/**
 * Sound, in base64.
 *
 * @category models
 * @since 0.1.0
 */
export interface Audio extends Schema.Schema.Type<typeof Audio> {}

/**
 * Points to a resource. Revisions before 2025-06-18 do not know it: its address as text takes its place.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceLink = open({ type: Schema.Literal("resource_link"), ...resourceFields }).pipe(
  named("ResourceLink"),
  kind({
    from: "2025-06-18",
    degrade: (block) => (isRecord(block) ? asText(`${String(block["name"])}: ${String(block["uri"])}`) : undefined)
  })
)

/**
 * Points to a resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResourceLink extends Schema.Schema.Type<typeof ResourceLink> {}

/**
 * The contents of a resource, put in.
 *
 * @category schemas
 * @since 0.1.0
 */
export const EmbeddedResource = open({
  type: Schema.Literal("resource"),
  resource: Contents,
  annotations: maybe(Annotations),
  _meta: laterMeta
}).pipe(named("EmbeddedResource"))

/**
 * The contents of a resource, put in.
 *
 * @category models
 * @since 0.1.0
 */
export interface EmbeddedResource extends Schema.Schema.Type<typeof EmbeddedResource> {}

const known = new Set(["text", "image", "audio", "resource_link", "resource", "tool_use", "tool_result"])

/**
 * The `type` of a block that this package does not know. At run time it is whatever the peer wrote; to the compiler it is
 * this one text, so that comparing `type` with a known name tells the blocks apart. Read it with `typeOf`.
 *
 * @category models
 * @since 0.1.0
 */
export type UnknownType = "another kind of block"

const unknownName = Schema.String.check(
  Schema.makeFilter((type: string) => !known.has(type) || "expected a known kind of block to be complete")
)

/**
 * A kind of block that this package does not know, kept as it came.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Unknown = open({ type: Schema.make<Schema.Codec<UnknownType, string>>(unknownName.ast) }).pipe(
  named("any other block")
)

/**
 * A kind of block that this package does not know.
 *
 * @category models
 * @since 0.1.0
 */
export interface Unknown extends Schema.Schema.Type<typeof Unknown> {}

/**
 * One piece of content.
 *
 * @example
 * import type * as Content from "@mcp-effect/protocol/Content"
 *
 * const textOf = (block: Content.Block): string | undefined => (block.type === "text" ? block.text : undefined)
 *
 * @category schemas
 * @since 0.1.0
 */
export const Block = Schema.Union([Text, Image, Audio, ResourceLink, EmbeddedResource, Unknown])

/**
 * One piece of content.
 *
 * @category models
 * @since 0.1.0
 */
export type Block = typeof Block.Type

/**
 * The kind of a block as a text, for blocks that this package does not know as well.
 *
 * @category accessors
 * @since 0.1.0
 */
export const typeOf = (block: Block): string => block.type

/**
 * A tool that the language model wants to use; in sampling only.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolUse = open({
  type: Schema.Literal("tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: Schema.Record(Schema.String, Schema.Unknown),
  _meta: maybe(Schema.Record(Schema.String, Schema.Unknown))
}).pipe(named("ToolUseContent"), kind({ from: "2025-11-25" }))

/**
 * A tool that the language model wants to use.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolUse extends Schema.Schema.Type<typeof ToolUse> {}

/**
 * What that tool gave; in sampling only.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolResult = open({
  type: Schema.Literal("tool_result"),
  toolUseId: Schema.String,
  content: Schema.Array(Block),
  /** Any JSON value, `null` too: ask with `Object.hasOwn`. An object before 2026-07-28. */
  structuredContent: structured,
  isError: maybe(Schema.Boolean),
  _meta: maybe(Schema.Record(Schema.String, Schema.Unknown))
}).pipe(named("ToolResultContent"), kind({ from: "2025-11-25" }))

/**
 * What that tool gave.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolResult extends Schema.Schema.Type<typeof ToolResult> {}

/**
 * One piece of a sampling message: no resources, but the use of tools.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingBlock = Schema.Union([Text, Image, Audio, ToolUse, ToolResult])

/**
 * One piece of a sampling message.
 *
 * @category models
 * @since 0.1.0
 */
export type SamplingBlock = typeof SamplingBlock.Type
