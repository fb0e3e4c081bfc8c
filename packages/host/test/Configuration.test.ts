import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Equal, Option, Redacted, Result, Schema } from "effect"
import { readFileSync } from "node:fs"
import * as Configuration from "../src/Configuration.ts"
import * as ServerEntry from "../src/ServerEntry.ts"
import { compared } from "../../../docs/test/printed.ts"
import { page, parts, schema, schemaFile } from "./configurationPage.ts"

// Properties run a hundred times; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

const variables = {
  HOME: "/home/ada",
  TOKEN: "a-very-secret-token",
  BASE: "https://h.test",
  TRICK: "${BASE}",
  EMPTY: ""
}
const read = (text: string, options: Configuration.Options = {}) => Configuration.parse(text, { variables, ...options })
const bad = (entry: string) => Effect.map(read(`[${entry}]`), ({ problems }) => problems.map(({ fault }) => fault._tag))

const forms: ReadonlyArray<Configuration.Form> = ["array", "mcpServers", "servers"]

describe("reading a configuration", () => {
  it.effect("U-54: an array, `mcpServers` and `servers` that say the same give the same entries", () =>
    Effect.gen(function* () {
      const [one, ...others] = yield* Effect.all([
        read(
          `[{ "name": "a", "command": "x", "args": ["1"], "env": ["K=v=w"] }, { "name": "b", "url": "http://h.test/mcp" }]`
        ),
        read(
          `{ "mcpServers": { "a": { "command": "x", "args": ["1"], "env": { "K": "v=w" } }, "b": { "url": "http://h.test/mcp" } } }`
        ),
        read(
          `{ "servers": { "a": { "type": "stdio", "command": "x", "args": ["1"], "env": { "K": "v=w" } }, "b": { "type": "http", "url": "http://h.test/mcp" } } }`
        ),
        read(
          `{ "mcp": { "servers": { "a": { "transport": "stdio", "command": "x", "args": ["1"], "env": { "K": "v=w" } }, "b": { "type": "streamable-http", "url": "http://h.test/mcp" } } } }`
        )
      ])
      assert.strictEqual(one.entries.length, 2)
      for (const other of others) assert.isTrue(Equal.equals(one.entries, other.entries))
    })
  )

  it.effect("T-CONF-4: comments and trailing commas are read; a syntax error says line and column", () =>
    Effect.gen(function* () {
      const { entries } = yield* read(
        `{ // local\n  "mcpServers": { /* off: "x": {}, */ "a": { "command": "x", }, },\n}`
      )
      assert.deepStrictEqual(
        entries.map(({ name }) => name),
        ["a"]
      )
      const error = yield* Effect.flip(read(`[\n  { "name": 'a' }\n]`))
      assert.strictEqual(error.reason._tag, "SyntaxWrong")
      assert.include(error.message, "line 2, column 13")
      assert.strictEqual((yield* Effect.flip(read(""))).reason._tag, "SyntaxWrong")
      assert.strictEqual((yield* Effect.flip(read(`{ "theme": "dark" }`))).reason._tag, "NoServers")
    })
  )

  it.effect("T-CONF-3: variables are filled in everywhere, once, and other signs stay as they are", () =>
    Effect.gen(function* () {
      const { entries, problems } = yield* read(
        '[{"name":"a","command":"~/bin/x","args":["${NO:-d}","${EMPTY:-e}","$HOME %HOME%","$${BASE}","$~/x","${TRICK}","--t=${TOKEN}"],"env":{"A":"${env:TOKEN}"}},' +
          '{"name":"b","url":"${BASE}/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}]'
      )
      assert.deepStrictEqual(problems, [])
      const [a, b] = entries
      assert(a?.type === "stdio" && b?.type === "http")
      assert.strictEqual(a.command, "/home/ada/bin/x")
      assert.deepStrictEqual(a.args.slice(0, 6), ["d", "e", "$HOME %HOME%", "${BASE}", "~/x", "${BASE}"])
      assert.isTrue(Redacted.isRedacted(a.args[6]))
      assert.strictEqual(Redacted.value(a.env["A"]!), variables.TOKEN)
      assert.strictEqual(b.url, "https://h.test/mcp")
      assert.strictEqual(Redacted.value(b.headers["Authorization"]!), `Bearer ${variables.TOKEN}`)
    })
  )

  it.effect("inputs are asked once, a password's argument is redacted, and what nobody answers is a problem", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const text =
        '{"inputs":[{"id":"t","type":"promptString","password":true},{"id":"d","default":"dd"},{"id":"n"}],' +
        '"servers":{"a":{"command":"x","args":["${input:t}","${input:d}"],"env":{"T":"${input:t}"}},"b":{"command":"x","args":["${input:n}"]},"c":{"command":"${input:z}"}}}'
      const { entries, problems } = yield* read(text, {
        answer: (input) =>
          Effect.sync(() => {
            asked.push(input.id)
            return input.id === "t" ? Option.some("pass") : Option.none()
          })
      })
      assert.deepStrictEqual(asked, ["t", "d", "n"])
      const [a] = entries
      assert(a?.type === "stdio")
      assert.isTrue(Redacted.isRedacted(a.args[0]))
      assert.strictEqual(a.args[1], "dd")
      assert.deepStrictEqual(
        problems.map(({ entry, fault }) => [entry, fault._tag]),
        [
          ["b", "InputMissing"],
          ["c", "InputMissing"]
        ]
      )
    })
  )

  it.effect("T-SEC-7: with `expand: false` nothing is looked up and nobody is asked", () =>
    Effect.gen(function* () {
      const text = '[{"name":"a","url":"https://evil.test/?k=${TOKEN}"}]'
      const configuration = yield* read(text, { expand: false, answer: () => Effect.die("asked") })
      const [entry] = configuration.entries
      assert(entry?.type === "http")
      assert.strictEqual(entry.url, "https://evil.test/?k=${TOKEN}")
      assert.strictEqual(Configuration.print(configuration), text)
      const command = yield* read('[{"name":"b","command":"x","args":["${TOKEN}"]}]', { expand: false })
      assert.deepInclude(command.entries[0], { args: ["${TOKEN}"] })
    })
  )

  it.effect("a text that is filled in may be as long as one argument of a process, and no longer", () =>
    Effect.gen(function* () {
      const filled = (length: number) =>
        Configuration.parse('[{"name":"a","command":"x","args":["${LONG}"]}]', {
          variables: { LONG: "x".repeat(length) }
        })
      assert.lengthOf((yield* filled(131_072)).entries, 1)
      const { entries, problems } = yield* filled(131_073)
      assert.lengthOf(entries, 0)
      assert.lengthOf(problems, 1)
    })
  )

  it.effect("every problem of every bad entry is reported with its place, and good entries are read beside them", () =>
    Effect.gen(function* () {
      const { entries, problems } = yield* read(`{
  "mcpServers": {
    "good": { "command": "x" },
    "__proto__": { "command": "y" },
    "old": { "url": "ftp://h.test", "era": "2025-06-18" },
    "good": { "command": "z" }
  }
}`)
      assert.deepStrictEqual(
        entries.map(({ name }) => name),
        ["good", "__proto__"]
      )
      assert.deepStrictEqual(
        problems.map((problem) => [problem.fault._tag, problem.line, problem.column]),
        [
          ["UrlWrong", 5, 21],
          ["EraWrong", 5, 44],
          ["NameTwice", 6, 5]
        ]
      )
      assert.include(
        problems[1]!.message,
        "mcpServers.old.era: era must be 'auto', 'modern', 'legacy' or one of ['2026-07-28']"
      )
      assert.include(problems[2]!.message, "already there on line 3")
    })
  )

  it.effect("T-CONF-1: a name that is there twice is reported at the second, by where a form has its names", () =>
    Effect.gen(function* () {
      const listed = yield* read(`[{ "name": "a", "command": "x" },\n{ "name": "a", "command": "y" }]`)
      const named = yield* read(`{ "servers": { "a": { "command": "x" },\n"a": { "command": "y" } } }`)
      assert.deepStrictEqual(
        [listed, named].map(({ problems }) => problems.map(({ fault, line, path }) => [fault._tag, path, line])),
        [[["NameTwice", [1, "name"], 2]], [["NameTwice", ["servers", "a"], 2]]]
      )
    })
  )

  for (const [entry, tags] of [
    [`{"name":"a"}`, ["TransportUnclear"]],
    [`{"name":"a","command":"x","url":"http://h"}`, ["TransportUnclear"]],
    [`{"name":"a","type":"ws","url":"http://h"}`, ["MemberWrong"]],
    [`{"command":"x"}`, ["MemberWrong"]],
    [`{"name":"a","command":""}`, ["MemberWrong"]],
    [`{"name":"a","command":"x","args":"y"}`, ["MemberWrong"]],
    [`{"name":"a","command":"x","args":["a\\u0000"]}`, ["CharacterForbidden"]],
    [`{"name":"a","command":"x","env":["NOVALUE"]}`, ["MemberWrong"]],
    [`{"name":"a","command":"x","env":["A=1","A=2"]}`, ["MemberTwice"]],
    [`{"name":"a","command":"x","env":{"A\\nB":"1"}}`, ["CharacterForbidden"]],
    [`{"name":"a","command":"x","command":"y"}`, ["MemberTwice"]],
    [`{"name":"a","command":"x","timeout":-1,"era":"soon"}`, ["EraWrong", "MemberWrong"]],
    [`{"name":"a","type":"sse","url":"http://h","era":"modern"}`, ["EraWrong"]],
    [`{"name":"a","url":"http://me:pw@h"}`, ["UrlWrong"]],
    [`{"name":"a","url":"http://h","headers":{"A B":"1"}}`, ["CharacterForbidden"]],
    [`{"name":"a","url":"http://h","headers":{"A":"1\\n2","a":"3"}}`, ["CharacterForbidden", "MemberTwice"]],
    [`{"name":"a","command":"\${NOT_SET}"}`, ["VariableMissing"]],
    [`{"name":"a","command":"x","args":["\${config:y}"]}`, ["PlaceholderUnknown"]],
    [`7`, ["MemberWrong", "MemberWrong"]]
  ] as const) {
    it.effect(`T-CONF-1: ${entry} is ${tags.join(" and ")}`, () =>
      Effect.map(bad(entry), (found) => assert.sameMembers(found, [...tags]))
    )
  }

  it.effect("U-54: a byte order mark at the beginning of a text is no part of it", () =>
    Effect.gen(function* () {
      const { entries, problems } = yield* read('\uFEFF[{"name":"a","command":"x"},{"name":"b"}]')
      assert.deepStrictEqual([entries.length, problems[0]?.column], [1, 29])
    })
  )

  it.effect("bounds: size, servers, depth and the length of a text are limited with typed errors", () =>
    Effect.gen(function* () {
      const reason = (text: string) => Effect.map(Effect.flip(read(text)), (error) => error.reason)
      for (const [text, what] of [
        [" ".repeat(Configuration.maxBytes + 1), "bytes"],
        [`[${"{},".repeat(1_001)}]`, "servers"],
        ["[".repeat(500_000), "levels"]
      ] as const) {
        const found = yield* reason(text)
        assert(found._tag === "TooMuch")
        assert.strictEqual(found.what, what)
      }
      const long = yield* read('[{"name":"a","command":"${L}${L}"}]', { variables: { L: "x".repeat(70_000) } })
      assert.deepStrictEqual(
        long.problems.map(({ fault }) => fault._tag),
        ["TextTooLong"]
      )
    })
  )
})

describe("writing a configuration", () => {
  const products = {
    desktop: `{\n  "theme": "dark",\n  "mcpServers": {\n    "a": { "command": "npx", "args": ["-y", "\${TOKEN}"], "env": { "K": "\${TOKEN}" } } // mine\n  }\n}\n`,
    cursor: `{ "mcpServers": { "a": { "url": "https://h.test/mcp", "headers": { "Authorization": "Bearer \${env:TOKEN}" } }, "b": { "serverUrl": "x" } } }`,
    code: `{ "inputs": [{ "id": "i", "default": "x", "type": "promptString" }], "servers": { "a": { "type": "stdio", "command": "x", "args": ["\${input:i}"], "envFile": ".env" } } }`,
    list: `[{ "name": "a", "command": "x", "env": ["K=\${TOKEN}"], "more": { "n": 1.50 } },]`
  }

  for (const [product, text] of Object.entries(products)) {
    it.effect(
      `U-54, T-CONF-6: the file of ${product} is written back letter by letter, and means the same in every form`,
      () =>
        Effect.gen(function* () {
          const configuration = yield* read(text)
          const own = Option.getOrThrow(Configuration.formOf(configuration))
          assert.strictEqual(Configuration.print(configuration, { form: own }), text)
          for (const form of forms) {
            const written = Configuration.print(configuration, { form })
            assert.notInclude(written, variables.TOKEN)
            const again = yield* read(written)
            assert.isTrue(Equal.equals(again.entries, configuration.entries))
            assert.strictEqual(again.problems.length, configuration.problems.length)
          }
        })
    )
  }

  it.effect("T-CONF-6: after a change, placeholders, comments and unknown members are still there", () =>
    Effect.gen(function* () {
      const configuration = yield* read(products.desktop)
      const [a] = configuration.entries
      assert(a?.type === "stdio")
      const changed = Configuration.withEntries(configuration, [
        { ...a, args: [...a.args, "new", `x=${variables.TOKEN}`] },
        ServerEntry.http({ name: "b", url: "http://h.test" })
      ])
      const written = Configuration.print(changed, { form: "mcpServers" })
      for (const kept of ["// mine", `"\${TOKEN}"`, `"theme": "dark"`, `"x=\${TOKEN}"`]) assert.include(written, kept)
      assert.notInclude(written, variables.TOKEN)
      assert.deepStrictEqual(
        (yield* read(written)).entries.map(({ name }) => name),
        ["a", "b"]
      )
      assert.notInclude(JSON.stringify(configuration), variables.TOKEN)
    })
  )

  it.effect("T-CONF-6: what is taken out of a list goes with its comment, and the others keep theirs", () =>
    Effect.gen(function* () {
      const configuration = yield* read(`[
  { "name": "a", "command": "x" }, // about a
  { "name": "b", "command": "y", "args": [
    "1", // about 1
    "2", // about 2
    "3" // about 3
  ] }, // about b
  { "name": "c", "command": "z" } // about c
]`)
      const [, b, c] = configuration.entries
      assert(b?.type === "stdio" && c !== undefined)
      const changed = Configuration.withEntries(configuration, [{ ...b, args: ["2", "3"] }, c])
      const lines = Configuration.print(changed, { form: "array" }).split("\n")
      assert.deepStrictEqual(
        lines.filter((line) => line.includes("//")).map((line) => line.trim()),
        [`"2", // about 2`, `"3" // about 3`, `] }, // about b`, `{ "name": "c", "command": "z" } // about c`]
      )
    })
  )

  it.effect("T-CONF-6: in another form, what stood beside the servers of a settings file is still there", () =>
    Effect.gen(function* () {
      const settings = { font: "mono", mcp: { sampling: true, servers: { a: { command: "x" } } } }
      const configuration = yield* read(JSON.stringify(settings))
      assert.deepStrictEqual(JSON.parse(Configuration.print(configuration, { form: "mcpServers" })), {
        font: "mono",
        mcp: { sampling: true },
        mcpServers: { a: { command: "x" } }
      })
    })
  )

  const Texts = Schema.Record(Schema.String.check(Schema.isPattern(/^[A-Za-z_$~{}-]{1,8}$/)), Schema.String)
  const Generated = Schema.Struct({
    command: Schema.NonEmptyString,
    args: Schema.Array(
      Schema.Union([Schema.String, Schema.Literals(["~", "~/a", "$~/b", "${A}", "$${A}", "$$${B:-c}", "${"])])
    ),
    env: Texts,
    disabled: Schema.Boolean,
    allow: Schema.Array(Schema.String)
  })
  it.effect.prop(
    "U-54: whatever entries a program makes, writing and reading them is the identity",
    [Schema.Array(Generated)],
    ([list]) =>
      Effect.gen(function* () {
        const plain = (text: string) => text.replaceAll("\0", "")
        const entries = list.map(({ allow, args, command, env, ...rest }, at) =>
          ServerEntry.stdio({
            ...rest,
            name: `s${at}`,
            command: `c${plain(command)}`,
            args: args.map(plain),
            env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, plain(text)])),
            tools: allow.length === 0 ? {} : { allow }
          })
        )
        for (const form of forms) {
          const again = yield* read(Configuration.print(Configuration.make(entries), { form }))
          assert.deepStrictEqual(again.problems, [])
          assert.isTrue(Equal.equals(again.entries, entries))
        }
      })
  )
})

describe("files of every form", () => {
  const Word = Schema.String.check(Schema.isPattern(/^[a-z]{1,6}$/))
  /** A text of an entry: words, signs that mean something, placeholders. */
  const Text = Schema.Array(
    Schema.Union([
      Word,
      Schema.Literals(["~/", "$", "$$", "{", "}", "%A%", " ", "é", '"', "\\", "//", "/*"]),
      Schema.Literals(["${TOKEN}", "${env:BASE}", "${NONE:-else}", "${EMPTY:-e}", "$${BASE}"])
    ])
  )
  const Texts = Schema.Record(Word, Text)
  const Stdio = Schema.Struct({
    command: Text,
    args: Schema.Array(Text),
    env: Texts,
    listed: Schema.Boolean,
    cwd: Schema.Boolean
  })
  const Remote = Schema.Struct({ type: Schema.Literals(["http", "sse", "none"]), path: Word, headers: Texts })
  const Common = Schema.Struct({
    disabled: Schema.Boolean,
    timeout: Schema.Boolean,
    tools: Schema.Literals(["none", "list", "object"]),
    questions: Schema.Boolean,
    unknown: Schema.Boolean
  })
  const File = Schema.Struct({
    form: Schema.Literals(forms),
    entries: Schema.Array(Schema.Struct({ common: Common, transport: Schema.Union([Stdio, Remote]) })).check(
      Schema.isMaxLength(4)
    ),
    comments: Schema.Boolean,
    trailing: Schema.Boolean,
    spaces: Schema.Literals([0, 2, 4]),
    theme: Schema.Boolean
  })

  const joined = (parts: ReadonlyArray<string>) => parts.join("")
  const joinedAll = (texts: Readonly<Record<string, ReadonlyArray<string>>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, parts]) => [name, joined(parts)]))

  const members = ({ common, transport }: (typeof File.Type)["entries"][number]): Record<string, unknown> => ({
    ...("command" in transport
      ? {
          command: `c${joined(transport.command)}`,
          args: transport.args.map(joined),
          env: transport.listed
            ? Object.entries(joinedAll(transport.env)).map(([name, text]) => `${name}=${text}`)
            : joinedAll(transport.env),
          ...(transport.cwd ? { cwd: "~/work" } : {})
        }
      : {
          ...(transport.type === "none" ? {} : { type: transport.type }),
          url: `\${BASE}/${transport.path}`,
          headers: joinedAll(transport.headers)
        }),
    ...(common.disabled ? { disabled: true } : {}),
    ...(common.timeout ? { timeout: 5_000, connectTimeout: 9_000 } : {}),
    ...(common.tools === "none" ? {} : { tools: common.tools === "list" ? ["a*"] : { deny: ["b"] } }),
    ...(common.questions ? { elicitation: { form: true } } : {}),
    ...(common.unknown ? { icon: { light: "${NOT_READ}" }, notes: [1.5, null] } : {})
  })

  /** The text of such a file, with comments and trailing commas where they may stand. */
  const textOf = ({ comments, entries, form, spaces, theme, trailing }: typeof File.Type): string => {
    const named = entries.map((entry, at) => [`s${at}`, members(entry)] as const)
    const listed = named.map(([name, entry]) => ({ name, ...entry }))
    const value =
      form === "array"
        ? listed
        : { ...(theme ? { theme: "dark" } : {}), [form]: Object.fromEntries(named), ...(theme ? { last: [] } : {}) }
    const plain = JSON.stringify(value, undefined, spaces)
    const commented = comments && spaces > 0 ? plain.replaceAll(/([[{,])\n/g, "$1 // a comment\n") : plain
    return trailing && spaces > 0 ? commented.replaceAll(/([\]}"0-9el])(\n *[\]}])/g, "$1,$2") : commented
  }

  it.effect.prop(
    "U-54, T-CONF-4, T-CONF-6: saving what was loaded changes nothing, in any form the entries are the same, and no variable is written",
    [File],
    ([file]) =>
      Effect.gen(function* () {
        const text = textOf(file)
        const configuration = yield* read(text)
        assert.deepStrictEqual(
          configuration.problems.map(({ message }) => message),
          []
        )
        assert.lengthOf(configuration.entries, file.entries.length)
        assert.strictEqual(Configuration.print(configuration, { form: file.form }), text)
        for (const form of forms) {
          const written = Configuration.print(configuration, { form })
          assert.notInclude(written, variables.TOKEN)
          const again = yield* read(written)
          assert.isTrue(Equal.equals(again.entries, configuration.entries))
          assert.deepStrictEqual(again.problems, [])
          // Back in the first form they are the same still.
          const back = yield* read(Configuration.print(again, { form: file.form }))
          assert.isTrue(Equal.equals(back.entries, configuration.entries))
        }
      })
  )

  it.effect.prop(
    "U-54: a change to one entry leaves all others, all comments and all unknown members as they were",
    [File],
    ([file]) =>
      Effect.gen(function* () {
        const text = textOf(file)
        const configuration = yield* read(text)
        const [first, ...others] = configuration.entries
        if (first === undefined) return
        const changed = [{ ...first, disabled: !first.disabled }, ...others]
        const written = Configuration.print(Configuration.withEntries(configuration, changed), { form: file.form })
        assert.isTrue(Equal.equals((yield* read(written)).entries, changed))
        const count = (word: string) => (whole: string) => whole.split(word).length
        for (const word of ["// a comment", "NOT_READ", "notes", "theme", "${TOKEN}"]) {
          assert.strictEqual(count(word)(written), count(word)(text))
        }
      })
  )
})

describe("comparing configurations", () => {
  it("only what changed is added, removed or changed", () => {
    const entry = (name: string, command = "x", env = {}) => ServerEntry.stdio({ name, command, env })
    const before = [entry("a"), entry("b", "x", { K: "1" }), entry("c")]
    const after = [entry("a"), entry("b", "x", { K: "2" }), entry("d")]
    const names = Object.entries<Configuration.Diff["same"]>({ ...Configuration.diff(before, after) }).map(
      ([kind, list]) => [kind, list.map(({ name }) => name)]
    )
    assert.deepStrictEqual(Object.fromEntries(names), { added: ["d"], removed: ["c"], changed: ["b"], same: ["a"] })
  })

  it("a filter's `*` stands for any characters, and `deny` wins", () => {
    const entry = ServerEntry.stdio({
      name: "a",
      command: "x",
      tools: { allow: ["read_*", "list"], deny: ["*_secret"] }
    })
    const offered = ["read_file", "read_secret", "list", "lists", "write"].filter((tool) =>
      ServerEntry.offers(entry, tool)
    )
    assert.deepStrictEqual(offered, ["read_file", "list"])
    assert.isFalse(ServerEntry.fits("ab*ba", "aba"))
    assert.isTrue(ServerEntry.fits("a*b*c", "axxbyyc"))
  })
})

describe("docs/configuration.md", () => {
  for (const name of Object.keys(parts)) {
    it(`holds the ${name} as the code has them (else run test/configurationPage.ts --write)`, () => {
      const { held, printed } = compared(page, parts, name)
      assert.strictEqual(held, printed)
    })
  }
  it("the schema for editors is the one the code has", () => {
    const parsed = Result.try((): unknown => JSON.parse(readFileSync(schemaFile, "utf8")))
    assert.deepStrictEqual(Result.getOrThrow(parsed), JSON.parse(schema()))
  })
})
