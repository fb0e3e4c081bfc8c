import { assert, describe, it } from "@effect/vitest"
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FormAnswer from "../src/FormAnswer.ts"
import { HandlerRefused } from "../src/Handlers.ts"
import * as McpClient from "../src/McpClient.ts"
import * as OpenUrl from "../src/OpenUrl.ts"
import * as Peer from "./fixtures/peer.ts"

const form = (
  properties: Elicitation.Form["properties"],
  required?: ReadonlyArray<string>
): Elicitation.FormParams => ({
  message: "Who are you?",
  requestedSchema: { type: "object", properties, ...(required === undefined ? {} : { required }) }
})

const only = (field: Elicitation.Field, required = false) => {
  const [found] = FormAnswer.fields(form({ it: field }, required ? ["it"] : []))
  if (found === undefined) throw new Error("there is no field")
  return found
}

/** What is wrong with a value of a field; `undefined` when nothing is. */
const wrong = (field: Elicitation.Field, value: unknown) => {
  const checked = FormAnswer.check(form({ it: field }), { it: value })
  return Result.isSuccess(checked) ? undefined : checked.failure.problems[0]?.because
}

const colours = [
  { value: "r", label: "Red" },
  { value: "g", label: "Green" }
]
const consts = [
  { const: "r", title: "Red" },
  { const: "g", title: "Green" }
]

describe("the fields of a form", () => {
  it("M-ELI-7: choices are the same, whichever of the spellings the server used", () => {
    const one: ReadonlyArray<Elicitation.Field> = [
      { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
      { type: "string", oneOf: consts }
    ]
    for (const field of one) assert.deepInclude(only(field), { _tag: "One", choices: colours })
    assert.deepInclude(only({ type: "array", items: { anyOf: consts } }), { _tag: "Many", choices: colours })
    const plain = [
      { value: "r", label: "r" },
      { value: "g", label: "g" }
    ]
    assert.deepInclude(only({ type: "string", enum: ["r", "g"] }), { _tag: "One", choices: plain })
    const items = { type: "string" as const, enum: ["r", "g"] }
    assert.deepInclude(only({ type: "array", items, minItems: 1, maxItems: 2 }), {
      _tag: "Many",
      choices: plain,
      minItems: 1,
      maxItems: 2
    })
    assert.deepInclude(only({ type: "string", enum: ["r", "g"], enumNames: ["Red"] }), {
      choices: [
        { value: "r", label: "Red" },
        { value: "g", label: "g" }
      ]
    })
  })

  it("keep the order of the server, and say what to show and whether they are required", () => {
    const fields = FormAnswer.fields(
      form({ b: { type: "boolean", title: "Sure?", description: "Think." }, a: { type: "integer", minimum: 1 } }, ["a"])
    )
    assert.deepStrictEqual(fields, [
      FormAnswer.Field.YesNo({ name: "b", label: "Sure?", description: "Think.", required: false, default: undefined }),
      FormAnswer.Field.Number({
        name: "a",
        label: "a",
        description: undefined,
        required: true,
        integer: true,
        minimum: 1,
        maximum: undefined,
        default: undefined
      })
    ])
  })

  it("M-ELI-8, T-50: defaults fill in beforehand, of every kind; one that does not itself fit is left out", () => {
    const question = form({
      text: { type: "string", default: "hello" },
      number: { type: "number", default: 1.5 },
      yes: { type: "boolean", default: false },
      one: { type: "string", oneOf: consts, default: "g" },
      many: { type: "array", items: { anyOf: consts }, default: ["r"] },
      none: { type: "string" },
      badNumber: { type: "integer", maximum: 3, default: 4 },
      badChoice: { type: "string", enum: ["a"], default: "b" },
      badText: { type: "string", format: "date", default: "tomorrow" }
    })
    assert.deepStrictEqual(FormAnswer.defaults(question), {
      text: "hello",
      number: 1.5,
      yes: false,
      one: "g",
      many: ["r"]
    })
  })
})

describe("an answer to a form", () => {
  it("M-ELI-9: is checked as a whole, and everything that does not fit is named", () => {
    const question = form(
      {
        name: { type: "string", minLength: 2 },
        age: { type: "integer", minimum: 0 },
        mail: { type: "string", format: "email" }
      },
      ["name", "mail"]
    )
    assert.deepStrictEqual(
      FormAnswer.check(question, { name: "Al", mail: "al@example.com", age: 3 }),
      Result.succeed({ name: "Al", age: 3, mail: "al@example.com" })
    )
    const checked = FormAnswer.check(question, { name: "A", age: -1.5, shoe: 44 })
    assert.isTrue(Result.isFailure(checked))
    if (Result.isSuccess(checked)) return
    assert.deepStrictEqual(checked.failure.problems, [
      { field: "name", because: "is shorter than 2 characters" },
      { field: "age", because: "is not a whole number" },
      { field: "mail", because: "is missing" },
      { field: "shoe", because: "is no field of the form" }
    ])
    assert.strictEqual(
      checked.failure.message,
      "the answer does not fit the form: name is shorter than 2 characters; age is not a whole number; mail is missing; shoe is no field of the form"
    )
  })

  it("counts characters as people do", () => {
    assert.isUndefined(wrong({ type: "string", minLength: 2, maxLength: 2 }, "👍👍"))
    assert.strictEqual(wrong({ type: "string", maxLength: 2 }, "abc"), "is longer than 2 characters")
    assert.strictEqual(wrong({ type: "string" }, 5), "is not a text")
  })

  it("holds numbers to their bounds, which are in", () => {
    const field: Elicitation.Field = { type: "number", minimum: 1, maximum: 2 }
    assert.isUndefined(wrong(field, 1))
    assert.isUndefined(wrong(field, 2))
    assert.strictEqual(wrong(field, 0.9), "is less than 1")
    assert.strictEqual(wrong(field, 2.1), "is more than 2")
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, "1", null, [1]]) {
      assert.strictEqual(wrong(field, value), "is not a number")
    }
  })

  it("T-51: knows the four formats, and tells a date from a time", () => {
    const valid = {
      email: ["a@b", "first.last+tag@mail.example.com", "ü@bücher.example"],
      uri: ["https://example.com/a?b#c", "mailto:a@b.example", "urn:isbn:123"],
      date: ["2026-07-28", "2024-02-29", "2000-02-29"],
      "date-time": ["2026-07-28T12:00:00Z", "2026-07-28t12:00:00.123+02:00", "2016-12-31T23:59:60Z"]
    }
    const invalid = {
      email: ["", "a", "a@", "@b", "a b@c", "a@b@c", `${"a".repeat(320)}@b`],
      uri: ["example.com", "/a", "https://", "http://a b", "1:x"],
      date: ["2026-7-28", "2026-02-30", "2023-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-07-28T12:00:00Z"],
      "date-time": [
        "2026-07-28",
        "2026-07-28T12:00:00",
        "2026-07-28T24:00:00Z",
        "2026-07-28T12:60:00Z",
        "2026-02-30T12:00:00Z",
        "2026-07-28T12:00:00+24:00"
      ]
    }
    for (const format of ["email", "uri", "date", "date-time"] as const) {
      for (const value of valid[format]) assert.isUndefined(wrong({ type: "string", format }, value), value)
      for (const value of invalid[format]) assert.isString(wrong({ type: "string", format }, value), value)
    }
  })

  it("holds choices to the list, and many to how many", () => {
    assert.strictEqual(wrong({ type: "string", oneOf: consts }, "Red"), "is none of the choices")
    const many: Elicitation.Field = { type: "array", items: { anyOf: consts }, minItems: 1, maxItems: 1 }
    assert.isUndefined(wrong(many, ["g"]))
    assert.strictEqual(wrong(many, []), "has fewer than 1 choices")
    assert.strictEqual(wrong(many, ["r", "g"]), "has more than 1 choices")
    assert.strictEqual(wrong(many, ["r", "r"]), "holds a choice more than once")
    assert.strictEqual(wrong(many, ["x"]), "holds what is none of the choices")
    assert.strictEqual(wrong(many, "r"), "is not a list of choices")
  })

  it("with names that mean something to JavaScript is an answer like any other", () => {
    const question = form(JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}'), [
      "constructor"
    ])
    assert.deepStrictEqual(
      FormAnswer.fields(question).map(({ name }) => name),
      ["__proto__", "constructor"]
    )
    assert.isTrue(Result.isFailure(FormAnswer.check(question, {})), "the constructor of Object is no answer")
    const checked = FormAnswer.check(question, JSON.parse('{"__proto__":"p","constructor":"c"}'))
    assert.strictEqual(JSON.stringify(Result.getOrThrow(checked)), '{"__proto__":"p","constructor":"c"}')
  })
})

describe("what was typed", () => {
  const parsed = (field: Elicitation.Field, typed: string, required = false) =>
    FormAnswer.parse(only(field, required), typed)

  it("is read by the kind of its field", () => {
    assert.deepStrictEqual(parsed({ type: "string" }, " as typed "), Result.succeed(" as typed "))
    assert.deepStrictEqual(parsed({ type: "number" }, " -1.5e2 "), Result.succeed(-150))
    assert.deepStrictEqual(parsed({ type: "boolean" }, "Yes"), Result.succeed(true))
    assert.deepStrictEqual(parsed({ type: "boolean" }, "n"), Result.succeed(false))
    assert.deepStrictEqual(parsed({ type: "string", oneOf: consts }, "red"), Result.succeed("r"))
    assert.deepStrictEqual(parsed({ type: "string", oneOf: consts }, "g"), Result.succeed("g"))
    assert.deepStrictEqual(parsed({ type: "array", items: { anyOf: consts } }, "green, r"), Result.succeed(["g", "r"]))
  })

  it("is refused with what to show beside the field", () => {
    for (const text of ["", "0x10", "1,5", "Infinity", "one"]) {
      assert.isTrue(Result.isFailure(parsed({ type: "number" }, text, true)), text)
    }
    assert.deepStrictEqual(parsed({ type: "integer" }, "1.5"), Result.fail("is not a whole number"))
    assert.deepStrictEqual(parsed({ type: "boolean" }, "maybe"), Result.fail("is neither yes nor no"))
    assert.deepStrictEqual(parsed({ type: "string", enum: ["a"] }, "b"), Result.fail("is none of the choices"))
    const twice: Elicitation.Field = { type: "string", enum: ["1", "2"], enumNames: ["Same", "Same"] }
    assert.deepStrictEqual(parsed(twice, "same"), Result.fail("is none of the choices"))
  })

  it("when it is nothing leaves an optional field out, and a required one missing", () => {
    assert.deepStrictEqual(parsed({ type: "number" }, "  "), Result.succeed(undefined))
    assert.deepStrictEqual(parsed({ type: "string" }, "", true), Result.fail("is missing"))
  })
})

const question = (params: object) => ({ method: "elicitation/create", params })
const named = form({ name: { type: "string", minLength: 2 } }, ["name"])

/** Calls a tool whose server asks this once; gives what the server got, and how the call ended. */
const asking = Effect.fnUntraced(function* (
  era: "modern" | "legacy",
  asked: object,
  elicitation: NonNullable<McpClient.ConnectOptions["handlers"]>["elicitation"]
) {
  const answers: Array<unknown> = []
  const call = (heard: Peer.Heard, peer: Peer.Peer) => {
    if (era === "legacy") {
      if (heard.method === "tools/call") return peer.say({ id: "q", ...question(asked) })
      answers.push(heard.result ?? heard.error)
      return peer.answer({ id: 3 }, { content: [] })
    }
    const given = heard.params?.["inputResponses"]
    if (given === undefined)
      return peer.answer(heard, { resultType: "input_required", inputRequests: { q: question(asked) } })
    answers.push(Object(given)["q"])
    peer.answer(heard, { content: [] })
  }
  const peer = Peer.make(era === "modern" ? Peer.modern(call) : Peer.legacy(call))
  const client = yield* McpClient.connect(peer.transport, {
    handlers: { elicitation: { form: () => Effect.succeed({ action: "cancel" }), ...elicitation } }
  })
  const ended = yield* Effect.result(client.callTool("ask"))
  return { answers, ended }
})

const eras = ["modern", "legacy"] as const

describe("an answer of a handler", () => {
  for (const era of eras) {
    it.effect(`M-ELI-9: that does not fit the form is refused before it is sent (${era} era)`, () =>
      Effect.gen(function* () {
        const { answers, ended } = yield* asking(era, named, {
          form: () => Effect.succeed({ action: "accept", content: { name: "A" } })
        })
        const because = "the answer does not fit the form: name is shorter than 2 characters"
        if (era === "legacy") {
          assert.deepStrictEqual(answers, [{ code: -32603, message: because }])
        } else {
          assert.deepStrictEqual(answers, [])
          assert.isTrue(Result.isFailure(ended))
          if (Result.isFailure(ended)) {
            assert.strictEqual(ended.failure.reason._tag, "InputRequired")
            assert.include(ended.failure.message, because)
          }
        }
      })
    )

    it.effect(`M-ELI-12, T-49: sends content with accept alone, even when it is empty (${era} era)`, () =>
      Effect.gen(function* () {
        const content = { name: "Al" }
        for (const action of ["decline", "cancel"] as const) {
          const { answers } = yield* asking(era, named, { form: () => Effect.succeed({ action, content }) })
          assert.deepStrictEqual(answers, [{ action }])
        }
        const given = yield* asking(era, named, { form: () => Effect.succeed({ action: "accept", content }) })
        assert.deepStrictEqual(given.answers, [{ action: "accept", content }])
        const empty = yield* asking(era, form({}), { form: () => Effect.succeed({ action: "accept" }) })
        assert.deepStrictEqual(empty.answers, [{ action: "accept", content: {} }])
      })
    )

    it.effect(`T-49: for an address never has content (${era} era)`, () =>
      Effect.gen(function* () {
        const asked = { mode: "url", message: "Sign in", url: "https://example.com/", elicitationId: "e" }
        const { answers } = yield* asking(era, asked, {
          url: () => Effect.succeed({ action: "accept", content: {} })
        })
        assert.deepStrictEqual(answers, [{ action: "accept" }])
      })
    )

    it.effect(`T-SEC-10: an address that may not be opened reaches no handler (${era} era)`, () =>
      Effect.gen(function* () {
        let handled = 0
        const asked = { mode: "url", message: "Look", url: "file:///etc/passwd", elicitationId: "e" }
        const { answers, ended } = yield* asking(era, asked, {
          url: () => Effect.sync(() => ({ action: "accept" as const, handled: handled++ }))
        })
        assert.strictEqual(handled, 0)
        if (era === "legacy") assert.deepInclude(answers[0], { code: -32602 })
        else assert.isTrue(Result.isFailure(ended))
      })
    )
  }
})

describe("an address that a server asks to open", () => {
  const checked = (address: string) => OpenUrl.check(address)
  const because = (address: string) => {
    const result = checked(address)
    return Result.isFailure(result) ? result.failure.because : "allowed"
  }

  it("T-SEC-10: is https, or http on this machine", () => {
    for (const address of [
      "https://example.com/a?b=c#d",
      "http://localhost:3000/",
      "http://127.0.0.1/x",
      "http://[::1]:80/"
    ]) {
      assert.strictEqual(because(address), "allowed", address)
    }
    for (const address of [
      "http://example.com/",
      "http://localhost.evil.test/",
      "http://127.0.0.1.evil.test/",
      "http://0.0.0.0/"
    ]) {
      assert.include(because(address), "not encrypted", address)
    }
    for (const address of ["file:///x", "javascript:alert(1)", "data:text/html,x", "ftp://a.test/", "vscode://x"]) {
      assert.include(because(address), "not https:", address)
    }
  })

  it("T-SEC-10: holds no user name, nothing invisible, and is not without end", () => {
    for (const address of ["https://example.com@evil.test/", "https://user:pass@evil.test/", "https://:p@evil.test/"]) {
      assert.include(because(address), "user name", address)
    }
    for (const address of [
      "https://a.test/\n",
      " https://a.test/",
      "https://a.test/\u202egnp",
      "https:\\\\a.test\\",
      "https://a.test/\u0000",
      "https://a\u200b.test/"
    ]) {
      assert.include(because(address), "do not show", JSON.stringify(address))
    }
    assert.include(because("example.com"), "not an absolute address")
    assert.include(because(`https://a.test/${"x".repeat(9_000)}`), "longer than")
  })

  it("M-ELI-22, M-ELI-24: is shown whole and in ASCII, its host apart, with a warning of look-alikes", () => {
    const address = Result.getOrThrow(checked("https://p\u0430ypal.test:8443/ü?q=1#h"))
    assert.strictEqual(address.shown, "https://xn--pypal-4ve.test:8443/%C3%BC?q=1#h")
    assert.strictEqual(address.host, "xn--pypal-4ve.test:8443")
    assert.lengthOf(address.warnings, 2)
    assert.include(address.warnings[0], "letters of other scripts")
    assert.include(address.warnings[1], "port 8443")
    assert.deepStrictEqual(Result.getOrThrow(checked("https://example.com/")).warnings, [])
    assert.include(Result.getOrThrow(checked("https://10.0.0.1/")).warnings[0], "a number")
  })

  it.effect("M-ELI-19 to 21: is opened only once the user agrees", () =>
    Effect.gen(function* () {
      const params: Elicitation.UrlParams = { mode: "url", message: "pay", url: "https://example.com/pay" }
      const opened: Array<string> = []
      const open = (url: URL) => Effect.sync(() => void opened.push(url.href))
      for (const action of ["decline", "cancel", "accept"] as const) {
        assert.deepStrictEqual(opened, [])
        const answer = yield* OpenUrl.handler({ ask: () => Effect.succeed(action), open })(params)
        assert.deepStrictEqual(answer, { action })
      }
      assert.deepStrictEqual(opened, ["https://example.com/pay"])
    })
  )

  it.effect("that could not be opened is a cancel; one that may not be is a refusal", () =>
    Effect.gen(function* () {
      const ask = () => Effect.succeed("accept" as const)
      const handler = OpenUrl.handler({ ask, open: () => Effect.fail("no browser") })
      assert.deepStrictEqual(yield* handler({ mode: "url", message: "", url: "https://a.test/" }), { action: "cancel" })
      const refused = yield* Effect.flip(handler({ mode: "url", message: "", url: "ftp://a.test/" }))
      assert.instanceOf(refused, HandlerRefused)
    })
  )
})
