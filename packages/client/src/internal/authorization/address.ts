/** Addresses, made fit for messages. */
import { excerpt } from "@mcp-effect/protocol/Excerpt"

/** A URL without its query, fragment and credentials, which may hold secrets. */
export const shown = (url: URL): string =>
  excerpt(`${url.origin === "null" ? url.protocol : url.origin}${url.pathname}`)
