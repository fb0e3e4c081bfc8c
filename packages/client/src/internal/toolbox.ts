/**
 * What is known of the tools of a server from their last listing: which arguments are mirrored into headers, and whether
 * a call may be repeated. Over HTTP in the modern era a tool whose header declarations break a rule is left out (U-26).
 */
import { Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as ParameterHeader from "@mcp-effect/protocol/ParameterHeader"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { McpClientError, ToolNotCallable } from "../McpClientError.ts"
import type { Asking, Session } from "./session.ts"

export interface Toolbox {
  /** Takes a listing and gives back the tools that may be called. */
  readonly take: (tools: ReadonlyArray<Tool.Tool>) => Effect.Effect<ReadonlyArray<Tool.Tool>>
  /** The headers of a call; none for a tool that was never listed (M-XH-19). */
  readonly mirrored: (name: string, args: JsonObject) => Effect.Effect<Asking["mirrored"], McpClientError>
  /** Whether the server says that calling twice does no harm. */
  readonly isRepeatable: (name: string) => boolean
  readonly find: (name: string) => Tool.Tool | undefined
}

interface Known {
  readonly tool: Tool.Tool
  readonly headers: Result.Result<ReadonlyArray<ParameterHeader.ParameterHeader>, ParameterHeader.InvalidDeclaration>
}

const noHeaders: Known["headers"] = Result.succeed([])

export const make = Effect.fnUntraced(function* (server: string, session: () => Session): Effect.fn.Return<Toolbox> {
  const report = yield* Diagnostics
  const known = new Map<string, Known>()

  const mirrors = () => {
    const { revision, transport } = session()
    return transport === "http" && revision.habits.http.routingHeaders
  }

  return {
    find: (name) => known.get(name)?.tool,
    isRepeatable: (name) => {
      const hints = known.get(name)?.tool.annotations
      return hints?.readOnlyHint === true || hints?.idempotentHint === true
    },
    take: Effect.fnUntraced(function* (tools) {
      const mirroring = mirrors()
      const method = "tools/list"
      const usable: Array<Tool.Tool> = []
      known.clear()
      for (const tool of tools) {
        const { name } = tool
        if (known.has(name)) {
          yield* report(Diagnostic.DuplicateName({ server, method, name }))
          continue
        }
        const headers = mirroring ? ParameterHeader.declared(tool.inputSchema) : noHeaders
        known.set(name, { tool, headers })
        if (Result.isSuccess(headers)) usable.push(tool)
        else {
          const pointer = `/tools/${tools.indexOf(tool)}`
          yield* report(Diagnostic.ItemRejected({ server, method, pointer, name, because: headers.failure.message }))
        }
      }
      return usable
    }),
    mirrored: (name, args) => {
      const found = known.get(name)
      if (found === undefined || !mirrors()) return Effect.succeed(undefined)
      const written = Result.flatMap(
        found.headers,
        (headers): Result.Result<Asking["mirrored"], ParameterHeader.CannotMirror> =>
          headers.length === 0 ? Result.succeed(undefined) : ParameterHeader.write(headers, args)
      )
      return Effect.mapError(
        Effect.fromResult(written),
        ({ message }) => new McpClientError({ server, reason: new ToolNotCallable({ tool: name, because: message }) })
      )
    }
  }
})
