/**
 * What a resource holds: text, or bytes in base64.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { laterMeta, maybe, named, open } from "./internal/shape.ts"

/**
 * Contents that are text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TextContents = open({
  uri: Schema.String,
  mimeType: maybe(Schema.String),
  text: Schema.String,
  _meta: laterMeta
}).pipe(named("TextResourceContents"))

/**
 * Contents that are bytes, in base64.
 *
 * @category schemas
 * @since 0.1.0
 */
export const BlobContents = open({
  uri: Schema.String,
  mimeType: maybe(Schema.String),
  blob: Schema.String,
  _meta: laterMeta
}).pipe(named("BlobResourceContents"))

/**
 * What was read: text, or bytes in base64. Tell them apart with `isText` and `isBlob`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Contents = Schema.Union([TextContents, BlobContents])

/**
 * What was read.
 *
 * @category models
 * @since 0.1.0
 */
export type Contents = typeof Contents.Type

/**
 * Whether what was read is text.
 *
 * @example
 * ```ts
 * contents.filter(ResourceContents.isText).map(({ text }) => text)
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const isText = (contents: Contents): contents is typeof TextContents.Type => typeof contents["text"] === "string"

/**
 * Whether what was read is bytes, in base64.
 *
 * @category guards
 * @since 0.1.0
 */
export const isBlob = (contents: Contents): contents is typeof BlobContents.Type => !isText(contents)
