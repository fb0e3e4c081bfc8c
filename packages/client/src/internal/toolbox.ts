/**
 * What is known of the tools of a server, from their last listing or from a definition the caller has: which arguments are
 * mirrored into headers, whether a call may be repeated, and what their output must look like. Over HTTP in the modern era
 * a tool whose header declarations break a rule is left out (U-26).
 */
import { Diagnostic, reporting } from "@mcp-effect/protocol/Diagnostic"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as ParameterHeader from "@mcp-effect/protocol/ParameterHeader"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { McpClientError, OutputInvalid, ToolNotCallable } from "../McpClientError.ts"
import { type Check, Validator } from "../OutputSchema.ts"
import type { Asking } from "./requests.ts"
import type { Session } from "./session.ts"

export interface Toolbox {
  /** Takes a listing and gives back the tools that may be called; `more` is a further page of the listing before. */
  readonly take: (tools: ReadonlyArray<Tool.Tool>, more?: boolean) => Effect.Effect<ReadonlyArray<Tool.Tool>>
  /** The headers of a call; none for a tool that is not known (M-XH-19). */
  readonly mirrored: (
    name: string,
    args: JsonObject,
    mine?: Tool.Tool
  ) => Result.Result<Asking["mirrored"], McpClientError>
  /** Whether the server says that calling twice does no harm. */
  readonly isRepeatable: (name: string, mine?: Tool.Tool) => boolean
  readonly find: (name: string) => Tool.Tool | undefined
  /** Checks what a tool gave against the output schema of its definition; a result with `isError` passes (T-TOOL-4). */
  readonly checkOutput: (
    name: string,
    result: Tool.CallResult,
    mine?: Tool.Tool
  ) => Effect.Effect<Tool.CallResult, McpClientError>
}

interface Known {
  readonly tool: Tool.Tool
  readonly headers: Result.Result<ReadonlyArray<ParameterHeader.ParameterHeader>, ParameterHeader.InvalidDeclaration>
}

const noHeaders: Known["headers"] = Result.succeed([])
const unmirrored = Result.succeed(undefined)

export const make = Effect.fnUntraced(function* (server: string, session: () => Session): Effect.fn.Return<Toolbox> {
  const report = yield* reporting
  const known = new Map<string, Known>()

  const mirrors = () => {
    const { revision, transport } = session()
    return transport === "http" && revision.habits.http.routingHeaders
  }

  const find = (name: string, mine: Tool.Tool | undefined): Tool.Tool | undefined => mine ?? known.get(name)?.tool

  const headersOf = (name: string, mine: Tool.Tool | undefined) =>
    mine === undefined ? known.get(name)?.headers : ParameterHeader.declared(mine.inputSchema)

  // Most tools declare no output schema.
  let checked: ReturnType<typeof checking> | undefined

  return {
    find: (name) => find(name, undefined),
    checkOutput: (name, result, mine) => {
      const schema = find(name, mine)?.outputSchema
      if (schema === undefined || result.isError === true) return Effect.succeed(result)
      checked ??= checking(server, report)
      return checked(name, result, schema)
    },
    isRepeatable: (name, mine) => {
      const hints = find(name, mine)?.annotations
      return hints?.readOnlyHint === true || hints?.idempotentHint === true
    },
    take: (tools, more = false) =>
      Effect.suspend(() => {
        if (!more) known.clear()
        return take(server, report, known, mirrors(), tools)
      }),
    mirrored: (name, args, mine) => {
      const declared = mirrors() ? headersOf(name, mine) : undefined
      if (declared === undefined) return unmirrored
      const written = Result.flatMap(
        declared,
        (headers): Result.Result<Asking["mirrored"], ParameterHeader.CannotMirror> =>
          headers.length === 0 ? unmirrored : ParameterHeader.write(headers, args)
      )
      return Result.mapError(
        written,
        ({ message }) => new McpClientError({ server, reason: new ToolNotCallable({ tool: name, because: message }) })
      )
    }
  }
})

type Report = (diagnostic: Diagnostic) => Effect.Effect<void>

const take = Effect.fnUntraced(function* (
  server: string,
  report: Report,
  known: Map<string, Known>,
  mirroring: boolean,
  tools: ReadonlyArray<Tool.Tool>
) {
  const method = "tools/list"
  const usable: Array<Tool.Tool> = []
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
})

/** What checks results against schemas, each compiled once per validator. */
const checking = (server: string, report: Report) => {
  const checks = new WeakMap<Validator, WeakMap<JsonObject, Check | undefined>>()
  const reported = new WeakSet<JsonObject>()

  const unchecked = (name: string, schema: JsonObject, because: string) => {
    if (reported.has(schema)) return Effect.void
    reported.add(schema)
    return report(Diagnostic.OutputUnchecked({ server, tool: name, because }))
  }

  /** The check of a schema, made once per validator; `undefined` when there can be none. */
  const checkOf = Effect.fnUntraced(function* (name: string, schema: JsonObject) {
    const validator = yield* Validator
    const made = checks.get(validator) ?? new WeakMap<JsonObject, Check | undefined>()
    checks.set(validator, made)
    if (made.has(schema)) return made.get(schema)
    const compiled = yield* Effect.result(validator.compile(schema))
    made.set(schema, Result.getOrUndefined(compiled))
    if (Result.isFailure(compiled)) yield* unchecked(name, schema, compiled.failure.because)
    return Result.getOrUndefined(compiled)
  })

  return Effect.fnUntraced(function* (
    name: string,
    result: Tool.CallResult,
    schema: JsonObject
  ): Effect.fn.Return<Tool.CallResult, McpClientError> {
    const check = yield* checkOf(name, schema)
    if (check === undefined) return result
    const invalid = (pointer: string, because: string) =>
      new McpClientError({ server, reason: new OutputInvalid({ tool: name, pointer, because }) })
    if (!Object.hasOwn(result, "structuredContent")) return yield* invalid("", "there is none, though it declares one")
    const finding = check(result.structuredContent)
    if (finding._tag === "Misfit") return yield* invalid(finding.pointer, finding.because)
    if (finding._tag === "Unchecked") yield* unchecked(name, schema, finding.because)
    return result
  })
}
