/**
 * Reads one entry: its members first, then what its texts mean, then whether that can work. Every fault is reported.
 */
import * as Mode from "@mcp-effect/negotiation/Mode"
import * as Terms from "@mcp-effect/negotiation/Terms"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Header from "@mcp-effect/protocol/Header"
import * as Version from "@mcp-effect/protocol/Version"
import * as Url from "effect/http/Url"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import {
  CharacterForbidden,
  EraWrong,
  type Fault,
  MemberTwice,
  MemberWrong,
  TransportUnclear,
  UrlWrong
} from "../ConfigurationError.ts"
import * as ServerEntry from "../ServerEntry.ts"
import * as Fields from "./configurationFields.ts"
import * as Text from "./configurationText.ts"
import * as Variables from "./variables.ts"

/** A text with its variables filled in. */
export interface Filled {
  readonly text: string
  /** Whether it is better not shown. */
  readonly secret: boolean
}

/** Fills the variables of a text in; `path` says whether `~` may stand at its beginning. */
export type Fill = (text: string, path: boolean) => Result.Result<Filled, Fault>

/** A fault and where it is, seen from the top of the entry. */
export interface Found {
  readonly path: Text.Path
  readonly fault: Fault
  readonly offset?: number
}

/** What was read of an entry. */
export interface Reading {
  readonly entry: ServerEntry.ServerEntry | undefined
  readonly found: ReadonlyArray<Found>
  /** The texts as written, by the key of what they came to, where that is not the same. */
  readonly texts: ReadonlyMap<string, string>
}

const decoders = {
  stdio: Schema.decodeUnknownResult(Fields.byType.stdio, { errors: "all" }),
  http: Schema.decodeUnknownResult(Fields.byType.http, { errors: "all" }),
  sse: Schema.decodeUnknownResult(Fields.byType.sse, { errors: "all" })
}
const decodeName = Schema.decodeUnknownResult(Fields.name)
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

const stepOf = (step: unknown): string | number => (typeof step === "number" ? step : String(step))

const wrongMembers = (error: Schema.SchemaError): ReadonlyArray<Found> =>
  issuesOf(error.issue).issues.map(({ message, path = [] }) => ({
    path: path.map((step) => stepOf(typeof step === "object" ? step.key : step)),
    fault: new MemberWrong({ because: excerpt(message) })
  }))

/** The type an entry names under either of its two names, or the faults. */
const typeOf = (raw: Text.JsonObject): Result.Result<Fields.TypeName, Found> => {
  const under = Object.hasOwn(raw, "type") ? "type" : "transport"
  const named = Text.member(raw, under)
  if (named !== undefined) {
    for (const type of ["stdio", "http", "sse"] as const) {
      if (Fields.typeNames[type].some((known) => known === named)) return Result.succeed(type)
    }
    const got = typeof named === "string" ? `"${excerpt(named, 40)}"` : "no text"
    return Result.fail({
      path: [under],
      fault: new MemberWrong({ because: `the type is "stdio", "http" or "sse"; got ${got}` })
    })
  }
  const found = ["command", "url"].filter((name) => Object.hasOwn(raw, name))
  if (found.length === 1) return Result.succeed(found[0] === "command" ? "stdio" : "http")
  return Result.fail({ path: [], fault: new TransportUnclear({ found }) })
}

const twice = (node: Text.Node, path: Text.Path): ReadonlyArray<Found> => {
  const seen = new Set<string>()
  return Text.members(node).flatMap(([name, value, property]): ReadonlyArray<Found> => {
    const repeated = seen.has(name)
    seen.add(name)
    const inner = name === "env" || name === "headers" ? twice(value, [...path, name]) : []
    return repeated
      ? [{ path: [...path, name], fault: new MemberTwice({ member: name }), offset: property.offset }, ...inner]
      : inner
  })
}

/** The pairs of an `env` in either form, with the step that leads to each. */
export const pairs = (
  env: Readonly<Record<string, string>> | ReadonlyArray<string> = {}
): ReadonlyArray<readonly [name: string, text: string, step: string | number]> =>
  Array.isArray(env)
    ? env.map((line: string, at) => {
        const equals = line.indexOf("=")
        return equals === -1
          ? (["", line, at] as const)
          : ([line.slice(0, equals), line.slice(equals + 1), at] as const)
      })
    : Object.entries(env).map(([name, text]) => [name, text, name] as const)

const characterNames: { readonly [character: string]: string } = {
  "\0": "NUL",
  "\n": "a line break",
  "\r": "a line break"
}

const forbidden = (what: string, character: string | undefined): Fault | undefined =>
  character === undefined
    ? undefined
    : new CharacterForbidden({ what, character: characterNames[character] ?? JSON.stringify(character) })

const forbid = (what: string, text: string, characters: RegExp): Fault | undefined =>
  forbidden(what, characters.exec(text)?.[0])

const headerNameFault = (name: string): Fault | undefined =>
  name === ""
    ? new MemberWrong({ because: "a header needs a name" })
    : forbidden(
        "the header's name",
        Array.from(name).find((character) => !Header.isName(character))
      )

const urlFault = (text: string): Fault | undefined => {
  const parsed = Url.fromString(text)
  if (Result.isFailure(parsed)) return new UrlWrong({ because: /^https?:/i.test(text) ? "NoUrl" : "NotHttp" })
  const { password, protocol, username } = parsed.success
  if (protocol !== "http:" && protocol !== "https:") return new UrlWrong({ because: "NotHttp" })
  return username === "" && password === "" ? undefined : new UrlWrong({ because: "Credentials" })
}

const eraOf = (era: string | undefined, type: Fields.TypeName): Result.Result<ServerEntry.Era, Fault> => {
  const mode = Mode.fromInput(era ?? "auto", Terms.make({ kind: type }))
  if (Result.isFailure(mode)) {
    return Result.fail(new EraWrong({ because: mode.failure.message.replaceAll(/\bmode\b/g, "era") }))
  }
  const known: ReadonlyArray<ServerEntry.Era> = ["auto", "modern", "legacy", ...Version.modern]
  return Result.succeed(known.find((name) => name === era) ?? "auto")
}

/** The name of an entry of an array. */
export const nameIn = (node: Text.Node): Result.Result<string, Found> => {
  const raw = Text.value(node)
  const name = Text.isObject(raw) ? Text.member(raw, "name") : undefined
  return nameFrom(name)
}

/** A name, checked. */
export const nameFrom = (name: unknown): Result.Result<string, Found> => {
  const fail = (because: string) => Result.fail({ path: ["name"], fault: new MemberWrong({ because }) })
  const decoded = decodeName(name)
  if (Result.isFailure(decoded)) return fail(`a server needs a name: a text that is not empty`)
  if (decoded.success.length > Fields.nameLength) return fail(`a name has at most ${Fields.nameLength} characters`)
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(decoded.success)
    ? fail("a name holds no control characters and no line breaks")
    : Result.succeed(decoded.success)
}

/** Reads an entry. */
export const read = (name: string, node: Text.Node, fill: Fill): Reading => {
  const raw = Text.value(node)
  const texts = new Map<string, string>()
  if (!Text.isObject(raw)) {
    return {
      entry: undefined,
      found: [{ path: [], fault: new MemberWrong({ because: "an entry is an object" }) }],
      texts
    }
  }
  const found: Array<Found> = [...twice(node, [])]
  const type = typeOf(raw)
  if (Result.isFailure(type)) return { entry: undefined, found: [...found, type.failure], texts }

  const note = (path: Text.Path, fault: Fault | undefined) => {
    if (fault !== undefined) found.push({ path, fault })
  }
  const text = (
    written: string,
    path: Text.Path,
    home: boolean,
    check: (text: string) => Fault | undefined
  ): Filled => {
    const filled = fill(written, home)
    if (Result.isFailure(filled)) {
      note(path, filled.failure)
      return { text: "", secret: false }
    }
    const key = Variables.key(filled.success.text, home)
    const meant = filled.success.text !== written || Variables.hasPlaceholder(written, home)
    if (meant && !texts.has(key)) texts.set(key, written)
    note(path, check(filled.success.text))
    return filled.success
  }
  const noNul = (what: string) => (text: string) => forbid(what, text, /\0/)
  const secrets = (
    member: string,
    written: ReadonlyArray<readonly [name: string, text: string, step: string | number]>,
    checkName: (name: string) => Fault | undefined,
    check: (text: string) => Fault | undefined,
    fold: (name: string) => string
  ): Record<string, Redacted.Redacted> => {
    const seen = new Set<string>()
    return Object.fromEntries(
      written.map(([name, value, step]) => {
        const path = [member, step]
        note(path, checkName(name))
        if (seen.has(fold(name)) && !found.some((other) => other.path.join("\0") === path.join("\0"))) {
          note(path, new MemberTwice({ member: name }))
        }
        seen.add(fold(name))
        return [name, Redacted.make(text(value, path, false, check).text)]
      })
    )
  }

  const common = (known: CommonMembers): ServerEntry.CommonOptions => {
    const era = eraOf(known.era, type.success)
    if (Result.isFailure(era)) note(["era"], era.failure)
    return {
      name,
      era: Result.getOrElse(era, () => "auto" as const),
      tools: isList(known.tools) ? { allow: known.tools } : (known.tools ?? {}),
      ...(known.disabled === undefined ? {} : { disabled: known.disabled }),
      ...(known.timeout === undefined ? {} : { timeout: known.timeout }),
      ...(known.connectTimeout === undefined ? {} : { connectTimeout: known.connectTimeout }),
      ...(known.elicitation === undefined ? {} : { elicitation: known.elicitation }),
      ...(known.approval === undefined ? {} : { approval: known.approval })
    }
  }

  const done = (entry: ServerEntry.ServerEntry): Reading => ({
    entry: found.length === 0 ? entry : undefined,
    found,
    texts
  })
  const refused = (error: Schema.SchemaError): Reading => {
    // A wrong member hides the meaning of the others, except for the era, which stands by itself.
    const era = Text.member(raw, "era")
    const fault = typeof era === "string" ? eraOf(era, type.success) : undefined
    if (fault !== undefined && Result.isFailure(fault)) note(["era"], fault.failure)
    return { entry: undefined, found: [...found, ...wrongMembers(error)], texts }
  }

  const input = Object.fromEntries([...Object.entries(raw), ["type", type.success]])
  if (type.success === "stdio") {
    const known = decoders.stdio(input)
    if (Result.isFailure(known)) return refused(known.failure)
    const { args = [], command, cwd, env } = known.success
    return done(
      ServerEntry.stdio({
        ...common(known.success),
        command: text(command, ["command"], true, (filled) =>
          filled === ""
            ? new MemberWrong({ because: "the command is empty once its variables are filled in" })
            : forbid("the command", filled, /\0/)
        ).text,
        args: args.map((arg, at) => {
          const filled = text(arg, ["args", at], true, noNul("the argument"))
          return filled.secret ? Redacted.make(filled.text) : filled.text
        }),
        env: secrets(
          "env",
          pairs(env),
          (name) =>
            name === ""
              ? new MemberWrong({ because: "a variable needs a name: write NAME=VALUE" })
              : forbid("the variable's name", name, /[\0\r\n=]/),
          noNul("the variable's value"),
          (name) => name
        ),
        ...(cwd === undefined ? {} : { cwd: text(cwd, ["cwd"], true, noNul("the folder")).text })
      })
    )
  }
  const known: Result.Result<RemoteMembers, Schema.SchemaError> =
    type.success === "http" ? decoders.http(input) : decoders.sse(input)
  if (Result.isFailure(known)) return refused(known.failure)
  const { headers = {}, url } = known.success
  const remote = type.success === "http" ? ServerEntry.http : ServerEntry.sse
  return done(
    remote({
      ...common(known.success),
      url: text(url, ["url"], false, urlFault).text,
      headers: secrets(
        "headers",
        pairs(headers),
        headerNameFault,
        (text) => forbid("the header's value", text, /[\0\r\n]/),
        (name) => name.toLowerCase()
      )
    })
  )
}

type RemoteMembers = typeof Fields.byType.http.Type | typeof Fields.byType.sse.Type

type CommonMembers = Pick<
  typeof Fields.byType.http.Type,
  "disabled" | "timeout" | "connectTimeout" | "era" | "tools" | "elicitation" | "approval"
>

const isList = (tools: CommonMembers["tools"]): tools is ReadonlyArray<string> => Array.isArray(tools)
