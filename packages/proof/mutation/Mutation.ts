/**
 * Faults put into a source on purpose: an operator swapped, a condition negated, a constant changed, a statement removed.
 *
 * A site is a place in the text with what stands there instead. Types, imports and names are left alone: what they hold
 * is the compiler's to check.
 */
import { parseSync } from "rolldown/utils"

/** One fault: the text from `start` to `end` becomes `instead`. */
export interface Site {
  readonly start: number
  readonly end: number
  readonly line: number
  readonly kind: "operator" | "condition" | "constant" | "statement"
  readonly was: string
  readonly instead: string
}

const operators: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "&&": "||",
  "||": "&&",
  "??": "&&"
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
const isNode = (value: unknown): value is Node & Readonly<Record<string, unknown>> =>
  isRecord(value) &&
  typeof value["type"] === "string" &&
  typeof value["start"] === "number" &&
  typeof value["end"] === "number"

const skipped = /^TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|^(Import|ExportAll)/

/** Every place of a source that can be broken, in order. */
export const sites = (file: string, code: string): ReadonlyArray<Site> => {
  const found: Array<Site> = []
  const add = (kind: Site["kind"], start: number, end: number, instead: string) =>
    found.push({
      kind,
      start,
      end,
      instead,
      was: code.slice(start, end),
      line: code.slice(0, start).split("\n").length
    })

  const negate = (test: unknown) => {
    if (isNode(test)) add("condition", test.start, test.end, `!(${code.slice(test.start, test.end)})`)
  }

  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk)
    if (!isNode(node) || skipped.test(node.type)) return
    switch (node.type) {
      case "BinaryExpression":
      case "LogicalExpression": {
        const { left, operator, right } = node
        const instead = typeof operator === "string" ? operators[operator] : undefined
        if (typeof operator !== "string" || instead === undefined || !isNode(left) || !isNode(right)) break
        const at = code.indexOf(operator, left.end)
        if (at >= 0 && at < right.start) add("operator", at, at + operator.length, instead)
        break
      }
      case "IfStatement":
      case "WhileStatement":
      case "ConditionalExpression":
        negate(node["test"])
        break
      case "Literal":
        if (typeof node["value"] === "number") add("constant", node.start, node.end, String(node["value"] + 1))
        else if (typeof node["value"] === "boolean") add("constant", node.start, node.end, String(!node["value"]))
        break
      case "ExpressionStatement": {
        const { expression } = node
        if (isNode(expression) && expression.type !== "Literal") add("statement", node.start, node.end, ";")
        break
      }
      // A reader of a property is no place of its own: `message` and the like are words.
      case "PropertyDefinition":
        return walk(node["value"])
    }
    for (const key of Object.keys(node)) if (key !== "key") walk(node[key])
  }
  walk(parseSync(file, code).program)
  return found.toSorted((one, other) => one.start - other.start)
}

/** The source with the fault in it. */
export const apply = (code: string, { end, instead, start }: Site): string =>
  `${code.slice(0, start)}${instead}${code.slice(end)}`
