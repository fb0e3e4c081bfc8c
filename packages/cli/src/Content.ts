/**
 * Content of tools, prompts and resources as text for a terminal. What is not text is named, with its size.
 *
 * @since 0.1.0
 */
import type * as Content from "@mcp-effect/protocol/Content"
import * as Render from "./Render.ts"

const field = (value: object, key: string): string | undefined => {
  const found: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
  return typeof found === "string" ? found : undefined
}

/** Bytes that base64 text stands for. */
const size = (base64: string | undefined) => Math.floor(((base64 ?? "").length * 3) / 4)

/**
 * The contents of a resource.
 *
 * @category formatting
 * @since 0.1.0
 */
export const resource = (contents: object): string => {
  const text = field(contents, "text")
  if (text !== undefined) return Render.lines(text)
  const kind = field(contents, "mimeType") ?? "bytes"
  return Render.oneLine(`[${field(contents, "uri") ?? "resource"}: ${kind}, ${size(field(contents, "blob"))} bytes]`)
}

/**
 * One piece of content.
 *
 * @category formatting
 * @since 0.1.0
 */
export const block = (content: Content.Block): string => {
  const text = field(content, "text")
  if (content.type === "text" && text !== undefined) return Render.lines(text)
  const inner: unknown = Reflect.get(content, "resource")
  if (content.type === "resource" && typeof inner === "object" && inner !== null) return resource(inner)
  const named = field(content, "uri") ?? field(content, "mimeType") ?? "not shown"
  const data = field(content, "data")
  return Render.oneLine(`[${content.type}: ${named}${data === undefined ? "" : `, ${size(data)} bytes`}]`)
}
