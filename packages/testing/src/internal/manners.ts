/**
 * How a well-behaved server answers: the part of a server that a script does not have to mention.
 */
import * as Header from "@mcp-effect/protocol/Header"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Meta from "@mcp-effect/protocol/Meta"
import * as Predicate from "effect/Predicate"
import type { Script, Step } from "../Script.ts"

/** A request, or a notification, as a server sees it. */
export interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: JsonObject
  /** Names in lower case; none on a pipe. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** An answer: a result, or an error. */
export type Answer = Extract<Step, { readonly do: "fail" }> | { readonly do: "answer"; readonly result: JsonObject }

const own = (value: JsonObject, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)

/** Reads a message as a call; `undefined` when it is none. */
export const callOf = (message: unknown, headers?: Readonly<Record<string, string>>): Call | undefined => {
  if (!Predicate.isReadonlyObject(message)) return undefined
  const method = own(message, "method")
  if (typeof method !== "string") return undefined
  const params = own(message, "params")
  return { id: own(message, "id"), method, params: Predicate.isReadonlyObject(params) ? params : {}, headers }
}

/** The version a modern request is written in; `undefined` for a request of the handshake era. */
export const modernVersion = ({ params }: Call): string | undefined => {
  const meta = own(params, "_meta")
  const version = Predicate.isReadonlyObject(meta) ? own(meta, Meta.protocolVersion) : undefined
  return typeof version === "string" ? version : undefined
}

const fail = (code: number, message: string, data?: unknown): Answer => ({
  do: "fail",
  code,
  message,
  ...(data === undefined ? {} : { data })
})

const answer = (result: JsonObject): Answer => ({ do: "answer", result })

const identity = ({ name }: Script) => ({ name, version: "1.0.0" })

/** A result in the form of the era it is asked in. */
const completed = (script: Script, call: Call, result: JsonObject, cached: boolean): Answer =>
  modernVersion(call) === undefined
    ? answer(result)
    : answer({
        resultType: "complete",
        ...result,
        ...(cached ? { ttlMs: 60_000, cacheScope: "private" } : {}),
        _meta: { [Meta.serverInfo]: identity(script) }
      })

const instructions = (script: Script) =>
  script.instructions === undefined ? {} : { instructions: script.instructions }

const discover = (script: Script, call: Call): Answer =>
  completed(
    script,
    call,
    {
      supportedVersions: [...script.modern, ...script.legacy],
      capabilities: { tools: {} },
      ...instructions(script)
    },
    true
  )

const initialize = (script: Script, { params }: Call): Answer => {
  const [newest] = script.legacy
  if (newest === undefined) return refusedVersion(script, own(params, "protocolVersion"))
  const asked = own(params, "protocolVersion")
  return answer({
    protocolVersion: typeof asked === "string" && script.legacy.includes(asked) ? asked : newest,
    capabilities: { tools: {} },
    serverInfo: identity(script),
    ...instructions(script)
  })
}

const refusedVersion = (script: Script, requested: unknown): Answer =>
  fail(-32022, "Unsupported protocol version", { supported: [...script.modern, ...script.legacy], requested })

const callTool = (script: Script, call: Call): Answer => {
  const name = own(call.params, "name")
  const given = own(call.params, "arguments")
  const text = Predicate.isReadonlyObject(given) ? own(given, "text") : undefined
  return script.tools.some((tool) => tool.name === name)
    ? completed(script, call, { content: [{ type: "text", text: typeof text === "string" ? text : "" }] }, false)
    : fail(-32602, `Unknown tool: ${String(name)}`)
}

/** The header that contradicts the body of a modern request (M-HTTP-34). */
const mismatch = (call: Call, version: string): string | undefined => {
  const { headers } = call
  if (headers === undefined || call.id === undefined) return undefined
  const name = Header.nameOf(call.method, call.params)
  const expected: ReadonlyArray<readonly [string, string | undefined]> = [
    [Header.protocolVersion, version],
    [Header.method, call.method],
    [Header.name, name]
  ]
  return expected.find(([header, value]) => value !== undefined && headers[header.toLowerCase()] !== value)?.[0]
}

/** The answer of a well-behaved server to a request. */
export const honest = (script: Script, call: Call): Answer => {
  const version = modernVersion(call)
  if (version !== undefined && script.modern.length > 0) {
    const header = mismatch(call, version)
    if (header !== undefined) return fail(-32020, `Header mismatch: ${header}`)
    if (!script.modern.includes(version)) return refusedVersion(script, version)
  }
  switch (call.method) {
    case "server/discover":
      return version !== undefined && script.modern.length > 0 ? discover(script, call) : notFound
    case "initialize":
      return initialize(script, call)
    case "ping":
      return version === undefined ? answer({}) : notFound
    case "tools/list":
      return completed(script, call, { tools: script.tools }, true)
    case "tools/call":
      return callTool(script, call)
    default:
      return notFound
  }
}

const notFound = fail(-32601, "Method not found")

/** The HTTP status of an error: modern servers give some of them one of their own (M-HTTP-30 to M-HTTP-34). */
export const statusOf = (script: Script, call: Call | undefined, code: number): number => {
  if (script.modern.length === 0 || call === undefined || modernVersion(call) === undefined) return 200
  return code === -32601 ? 404 : code === -32020 || code === -32021 || code === -32022 ? 400 : 200
}
