import { assert, describe, it } from "@effect/vitest"
import { displayWidth } from "effect/cli/CliOutput"
import * as Content from "../src/Content.ts"
import * as Render from "../src/Render.ts"
import { plain } from "../src/Screen.ts"
import * as Suggestion from "../src/Suggestion.ts"

const on = (columns: number) => ({ ...plain, columns, breakAt: columns })

describe("U-67: text for a terminal", () => {
  it("keeps tabs and the line ends of Windows, and nothing else that controls", () => {
    assert.strictEqual(Render.lines("a\tb\r\n\u001b[31mc\rd\u0007\n"), "a\tb\n\ufffd[31mc\ufffdd\ufffd\n")
  })

  it("is as wide as it looks: wide letters count twice, marks not at all", () => {
    assert.strictEqual(Render.clip("名前名前", 8), "名前名前")
    assert.strictEqual(Render.clip("名前名前", 7), "名前名…")
    assert.strictEqual(Render.clip("e\u0301e\u0301e\u0301", 3), "e\u0301e\u0301e\u0301")
    assert.strictEqual(Render.clip("e\u0301".repeat(1_000), 3), "e\u0301e\u0301…")
    const rows = Render.list(
      [
        { name: "名前", description: "x" },
        { name: "abcdef", description: "y" }
      ],
      plain
    )
    assert.strictEqual(rows, "名前    x\nabcdef  y")
  })

  it.each([40, 60, 100, 120])("fits %d columns, with names whole", (columns) => {
    const name = `demo://resource/${"long/".repeat(6)}`
    const list = Render.list(
      [
        { name, description: "d ".repeat(200) },
        { name: "b", description: "" }
      ],
      on(columns),
      2
    )
    assert.include(list, name)
    const facts = Render.facts(
      [
        ["server", "word ".repeat(50)],
        ["x", undefined],
        ["capabilities", name]
      ],
      on(columns)
    )
    assert.include(facts, name)
    const explained = Render.fitted(`1. ${"asked ".repeat(40)}\n   P1: ${"because ".repeat(40)}`, on(columns))
    for (const line of [list, facts, explained].join("\n").split("\n")) {
      if (!line.includes(name)) assert.isAtMost(displayWidth(line), columns)
    }
    assert.match(explained, /^ {3}asked[^]*\n {3}P1: because[^]*\n {6}because/m)
    assert.match(facts, /^server {8}word[^]*\n {14}word/)
  })

  it("breaks nothing that goes into a pipe", () => {
    const text = `${"word ".repeat(100)}end`
    assert.strictEqual(Render.fitted(text, plain), text)
    assert.strictEqual(Render.facts([["a", text]], plain), `a  ${text}`)
  })
})

describe("U-67: what a server sends, in a terminal", () => {
  it.each<readonly [sent: string, contents: object, shown: string]>([
    ["a text", { uri: "a:b", text: "one\n\u001b[31mtwo" }, "one\n\ufffd[31mtwo"],
    ["a text of no letters", { uri: "a:b", mimeType: "text/plain", text: "" }, ""],
    ["bytes of a kind", { uri: "a:b", mimeType: "image/png", blob: "AAAA" }, "[a:b: image/png, 3 bytes]"],
    ["bytes of no kind", { uri: "a:b", blob: "AAAAAAAA" }, "[a:b: bytes, 6 bytes]"],
    ["neither text nor bytes", {}, "[resource: bytes, 0 bytes]"]
  ])("a resource that is %s", (_, contents, shown) => {
    assert.strictEqual(Content.resource(contents), shown)
  })
})

describe("U-67: a name with a slip in it", () => {
  it.each<readonly [typed: string, meant: string | undefined]>([
    ["ecoh", "echo"],
    ["ECHO", "echo"],
    ["get_sum", "get-sum"],
    ["sum", "get-sum"],
    ["xyz", undefined],
    ["", undefined],
    ["e".repeat(10_000), undefined]
  ])("%s means %s", (typed, meant) => {
    assert.strictEqual(Suggestion.nearest(typed, ["echo", "get-sum", "名前", "-", "x".repeat(10_000)]), meant)
  })

  it("is answered with the first twenty of all, in one line", () => {
    const names = Array.from({ length: 1_000 }, (_, at) => `tool ${at}\n`)
    const said = Suggestion.instead("nothing like it", names)
    assert.match(said, /^it has tool 0, .*, tool 19, and 980 more$/)
    assert.strictEqual(Suggestion.instead("a", []), "it has none")
  })
})
