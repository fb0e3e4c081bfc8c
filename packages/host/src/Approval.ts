/**
 * Who may call which tool (U-56): rules as data in front, the program's handler behind them, and a record of each
 * decision.
 *
 * The first rule that fits a call decides. Where none fits, or the rule says so, the handler is asked. With `ask` (the
 * default) nothing runs without its yes; with `allow` everything runs that it does not veto. A tool whose definition is
 * another one than was approved is always asked for.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type * as Tool from "@mcp-effect/protocol/Tool"
import type * as Effect from "effect/Effect"
import { type Approval, fits } from "./ServerEntry.ts"

/**
 * A call that waits for a decision.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  readonly server: string
  /** The tool as its server defines it. Its name and words come from outside. */
  readonly tool: Tool.Tool
  readonly arguments: JsonObject
  /** Whether the tool was approved with another definition. */
  readonly changed: boolean
  /** Which way the question is put: `ask` waits for a yes, `allow` only for a no. */
  readonly mode: Approval
}

/**
 * Decides on a call. `true` permits it, `false` refuses it, `undefined` is no opinion: then `ask` refuses and `allow`
 * permits. A handler that dies or is interrupted refuses.
 *
 * @category models
 * @since 0.1.0
 */
export type Handler<R = never> = (call: Call) => Effect.Effect<boolean | undefined, never, R>

/**
 * A rule. What it names must fit all together; `*` in a text stands for any characters.
 *
 * Hints are what a server says of its own tools: rules that permit because of them are for servers you trust.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rule {
  readonly server?: string
  /** The server's own name of the tool. */
  readonly tool?: string
  /** Hints the tool must have, as it says itself or by default. */
  readonly hints?: {
    readonly readOnly?: boolean
    readonly destructive?: boolean
    readonly idempotent?: boolean
    readonly openWorld?: boolean
  }
  /** Arguments that must be there; texts are patterns, other values must be equal. */
  readonly arguments?: Readonly<Record<string, string | number | boolean | null>>
  /** What becomes of such a call. */
  readonly decide: "allow" | "deny" | "ask"
  /** Why the rule is there; part of the decision. */
  readonly because: string
}

/**
 * What was decided on a call.
 *
 * @category models
 * @since 0.1.0
 */
export interface Decision {
  /** When, in milliseconds since 1970. */
  readonly at: number
  readonly server: string
  /** The server's own name of the tool. */
  readonly tool: string
  readonly arguments: JsonObject
  readonly permitted: boolean
  /** Who decided: a rule, the handler, or the mode because nobody said anything. */
  readonly by: "rule" | "handler" | "mode"
  readonly because: string
}

/** What a tool is by default is the careful reading (M-TOOL-11). */
const hintsOf = ({ annotations = {} }: Tool.Tool) => ({
  readOnly: annotations.readOnlyHint ?? false,
  destructive: annotations.readOnlyHint === true ? false : (annotations.destructiveHint ?? true),
  idempotent: annotations.idempotentHint ?? false,
  openWorld: annotations.openWorldHint ?? true
})

const isLike = (pattern: string | number | boolean | null, value: unknown): boolean =>
  typeof pattern === "string" ? typeof value === "string" && fits(pattern, value) : pattern === value

/**
 * Whether a rule is about a call.
 *
 * @category predicates
 * @since 0.1.0
 */
export const concerns = (rule: Rule, call: Pick<Call, "server" | "tool" | "arguments">): boolean => {
  const { destructive, idempotent, openWorld, readOnly } = rule.hints ?? {}
  const hints = hintsOf(call.tool)
  return (
    (rule.server === undefined || fits(rule.server, call.server)) &&
    (rule.tool === undefined || fits(rule.tool, call.tool.name)) &&
    (readOnly ?? hints.readOnly) === hints.readOnly &&
    (destructive ?? hints.destructive) === hints.destructive &&
    (idempotent ?? hints.idempotent) === hints.idempotent &&
    (openWorld ?? hints.openWorld) === hints.openWorld &&
    Object.entries(rule.arguments ?? {}).every(
      ([name, pattern]) => Object.hasOwn(call.arguments, name) && isLike(pattern, call.arguments[name])
    )
  )
}
