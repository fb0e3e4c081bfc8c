import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Header from "../src/Header.ts"

const vectors: ReadonlyArray<readonly [why: string, value: string, header: string]> = [
  ["plain ASCII", "eu-central-2", "eu-central-2"],
  ["blanks inside", "us west 1", "us west 1"],
  ["an umlaut", "Zürich", "=?base64?WsO8cmljaA==?="],
  ["symbols", "Ω≈ç", "=?base64?zqniiYjDpw==?="],
  ["leading blanks", "  x", "=?base64?ICB4?="],
  ["a trailing blank", "x ", "=?base64?eCA=?="],
  ["CR LF", "a\r\nb", "=?base64?YQ0KYg==?="],
  ["a tab inside", "tab\there", "=?base64?dGFiCWhlcmU=?="],
  ["DEL", "\u007f", "=?base64?fw==?="],
  ["what looks encoded", "=?base64?abc?=", "=?base64?PT9iYXNlNjQ/YWJjPz0=?="],
  ["markers that overlap", "=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="],
  ["a byte order mark", "\ufeffx", "=?base64?77u/eA==?="],
  ["the empty string", "", ""]
]

describe("a value in a header", () => {
  for (const [why, value, header] of vectors) {
    it(`M-ENC-2: ${why} travels as ${header === "" ? "nothing" : header}`, () => {
      assert.strictEqual(Header.encode(value), header)
      assert.strictEqual(Header.decode(header), value)
    })
  }

  it("M-ENC-4: markers in another case are literal text", () => {
    assert.strictEqual(Header.decode("=?BASE64?eCA=?="), "=?BASE64?eCA=?=")
    assert.strictEqual(Header.decode("=?base64?eCA="), "=?base64?eCA=")
  })

  it("M-ENC-6: what is no base64 of UTF-8 cannot be decoded", () => {
    assert.isUndefined(Header.decode("=?base64?***?="))
    assert.isUndefined(Header.decode("=?base64?/w==?="))
    assert.isUndefined(Header.decode("=?base64?YQ?="))
  })

  it("M-ENC-7: an empty value between markers decodes to the empty string", () => {
    assert.strictEqual(Header.decode("=?base64??="), "")
  })

  it("T-21: a lone surrogate cannot be encoded, a pair can", () => {
    assert.isFalse(Header.isEncodable("a\ud800"))
    assert.isTrue(Header.isEncodable("a\u{1f600}"))
  })

  it("HTTP allows values of characters of one byte, and no control but the tab", () => {
    const allowed = Array.from({ length: 0x101 }, (_, code) => code).filter((code) =>
      Header.isValue(String.fromCharCode(code))
    )
    const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)
    assert.deepStrictEqual(allowed, [9, ...range(0x20, 0x7e), ...range(0x80, 0xff)])
    assert.isTrue(Header.isValue(""))
    assert.isFalse(Header.isValue("a\nb"))
  })

  it("M-XH-2, M-XH-3: HTTP allows names of letters, digits and fifteen marks, and none without a character", () => {
    const allowed = Array.from({ length: 0x101 }, (_, code) => String.fromCharCode(code)).filter(Header.isName)
    const marks = "!#$%&'*+-.^_`|~"
    assert.sameMembers(allowed, [...marks, ..."0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"])
    assert.isTrue(Header.isName("X-Request-ID"))
    assert.isFalse(Header.isName(""))
    assert.isFalse(Header.isName("X-A\n"))
  })

  it.prop("M-ENC-5: decodes to what was encoded, and is safe ASCII", { text: Schema.String }, ({ text }) => {
    if (!Header.isEncodable(text)) return
    const header = Header.encode(text)
    assert.match(header, /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/)
    assert.strictEqual(Header.decode(header), text)
  })
})

describe("Mcp-Name", () => {
  it("M-HDR-3: is the name of a tool or prompt and the address of a resource", () => {
    assert.strictEqual(Header.nameOf("tools/call", { name: "deploy" }), "deploy")
    assert.strictEqual(Header.nameOf("prompts/get", { name: "greet" }), "greet")
    assert.strictEqual(Header.nameOf("resources/read", { uri: "note://1" }), "note://1")
  })

  it("M-HDR-4: is the id of a task", () => {
    assert.strictEqual(Header.nameOf("tasks/get", { taskId: "t1" }), "t1")
    assert.strictEqual(Header.nameOf("tasks/update", { taskId: "t1" }), "t1")
    assert.strictEqual(Header.nameOf("tasks/cancel", { taskId: "t1" }), "t1")
  })

  it("M-HDR-5: is absent for other methods", () => {
    assert.isUndefined(Header.nameOf("completion/complete", { name: "x" }))
    assert.isUndefined(Header.nameOf("toString", { name: "x" }))
    assert.isUndefined(Header.nameOf("tools/call", undefined))
  })

  it("T-MOD-1: is encoded when plain ASCII cannot hold it", () => {
    assert.strictEqual(Header.nameOf("resources/read", { uri: "file:///hé" }), "=?base64?ZmlsZTovLy9ow6k=?=")
  })
})
