import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import { Signal } from "../src/Signal.ts"
import * as Terms from "../src/Terms.ts"

/** Two modern versions: one that exists and an invented newer one, so that choosing and correcting mean something. */
export const newer = "2027-07-07"
export const modern = [newer, "2026-07-28"]
export const newestLegacy = "2025-11-25"

export const terms = (kind: Terms.Kind, more: Partial<Terms.Terms> = {}) => Terms.make({ kind, modern, ...more })
export const pipe = terms("stdio")
export const http = terms("http")

export const discovered = (versions: ReadonlyArray<unknown>, more: JsonObject = {}): JsonObject => ({
  resultType: "complete",
  supportedVersions: versions,
  capabilities: { tools: {} },
  ttlMs: 60_000,
  cacheScope: "private",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.0.0" } },
  ...more
})

export const initialized = (protocolVersion: string, more: JsonObject = {}): JsonObject => ({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: "scripted", version: "1.0.0" },
  ...more
})

export const answered = (result: JsonObject) => Signal.Answered({ result })
export const failed = (code: number, data?: unknown, message = "no") =>
  Signal.Failed({ error: data === undefined ? { code, message } : { code, message, data } })
export const unsupported = (...supported: ReadonlyArray<unknown>) => failed(-32022, { supported, requested: "x" })
export const exited = (code: number | null = 1, stderr = "") => Signal.Exited({ code, signal: null, stderr })
export const malformed = (because = "the media type is text/html") =>
  Signal.Malformed({ status: 200, mediaType: "text/html", excerpt: "<html>", because })
export const unreachable = Signal.Unreachable({ because: "ECONNREFUSED", cause: undefined })
