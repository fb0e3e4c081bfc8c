import { assert, describe, it } from "@effect/vitest"
import * as Describe from "../src/Describe.ts"
import { plain } from "../src/Screen.ts"

const inputSchema = {
  type: "object",
  properties: {
    a: { type: "number", description: "The first\nof two" },
    "\u001b[2J": { enum: ["x", 1, null], default: 1 },
    "ein langer Name, länger als alle anderen": { type: "string" }
  },
  required: ["a"]
} as const

describe("U-67: one tool, one prompt", () => {
  it("is shown whole: what it does, what it says of itself, and its arguments with types, choices and defaults", () => {
    const tool = {
      name: "sum",
      description: "Adds\n\n  indented\t\u202ex ",
      inputSchema,
      annotations: { readOnlyHint: true }
    }
    assert.deepStrictEqual(Describe.tool(tool, plain).split("\n"), [
      "sum",
      "  Adds",
      "",
      "    indented\t\ufffdx",
      "  It says of itself that it only reads.",
      "",
      "arguments",
      "  a *                                number; The first of two",
      "  \ufffd[2J                               one of x, 1, null; 1 by default",
      "  ein langer Name, länger als alle anderen",
      "                                     string"
    ])
  })

  it("is told to ask first where it may destroy something, as every tool may that does not say otherwise", () => {
    const said = (annotations?: { readonly destructiveHint: boolean }) =>
      Describe.tool(
        { name: "n", inputSchema: { type: "object" }, ...(annotations === undefined ? {} : { annotations }) },
        plain
      )
    assert.match(said(), /`call` asks first[^]*arguments\n {2}none$/)
    assert.match(said({ destructiveHint: true }), /`call` asks first/)
    assert.match(said({ destructiveHint: false }), /destroys nothing/)
  })

  it("has its arguments marked where a prompt cannot go without them", () => {
    const prompt = {
      name: "greet",
      arguments: [{ name: "who", required: true, description: "A name" }, { name: "how" }]
    }
    assert.strictEqual(Describe.prompt(prompt, plain), "greet\n\narguments\n  who *  A name\n  how")
    assert.strictEqual(Describe.prompt({ name: "n", title: "N" }, plain), "n\n  N\n\narguments\n  none")
  })

  it("fits a narrow terminal, with what goes on under where it began", () => {
    const tool = { name: "sum", description: "word ".repeat(30), inputSchema }
    const shown = Describe.tool(tool, { ...plain, columns: 40, breakAt: 40 })
    for (const line of shown.split("\n")) assert.isAtMost(line.length, 44, line)
    assert.match(shown, /^ {2}a \* {12}number; The first of\n {17}two/m)
  })
})
