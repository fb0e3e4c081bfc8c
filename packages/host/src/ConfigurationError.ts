/**
 * What can be wrong with a configuration.
 *
 * `ConfigurationError` is about the whole file: nothing was read, and nothing that runs has to change. `EntryProblem` is
 * about one entry; the others were read. Both say where: lines and columns count from 1, columns in UTF-16 code units as
 * editors do. No message holds the value of a variable, an argument or a header.
 *
 * @since 0.1.0
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Schema from "effect/Schema"

/**
 * A place in a file.
 *
 * @category models
 * @since 0.1.0
 */
export interface Position {
  readonly line: number
  readonly column: number
}

const place = { line: Schema.Int, column: Schema.Int }

/**
 * The file could not be read or watched: it is not there, or may not be read.
 *
 * What to change: see that the file is there and may be read.
 *
 * @category the whole file
 * @since 0.1.0
 */
export class Unreadable extends Schema.TaggedError<Unreadable>()("Unreadable", { because: Schema.String }) {
  override get message() {
    return `it cannot be read: ${this.because}`
  }
}

/**
 * The file could not be written. What was there before is still there.
 *
 * What to change: see that the folder is there and may be written.
 *
 * @category the whole file
 * @since 0.1.0
 */
export class Unwritable extends Schema.TaggedError<Unwritable>()("Unwritable", { because: Schema.String }) {
  override get message() {
    return `it cannot be written: ${this.because}`
  }
}

/**
 * The file is not what it was when it was read: somebody else has written it since. Nothing was written.
 *
 * What to change: load it again and make the change there, or save with `force`.
 *
 * @category the whole file
 * @since 0.1.0
 */
export class ChangedMeanwhile extends Schema.TaggedError<ChangedMeanwhile>()("ChangedMeanwhile", {
  how: Schema.Literals(["rewritten", "removed"])
}) {
  override get message() {
    return `it was ${this.how} by somebody else since it was read, so saving would undo that; load it again and change it there, or save with \`force: true\``
  }
}

/**
 * The bytes are no text in the encoding they were read with.
 *
 * What to change: save the file as UTF-8, or read it with the encoding in `looksLike`.
 *
 * @category the whole file
 * @since 0.1.0
 */
export class NotText extends Schema.TaggedError<NotText>()("NotText", {
  encoding: Schema.String,
  /** The encoding it seems to have, if the bytes tell. */
  looksLike: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return this.looksLike === undefined
      ? `it is no ${this.encoding} text; save it as UTF-8, or name its encoding`
      : `it is no ${this.encoding} text but looks like ${this.looksLike}; read it with encoding "${this.looksLike}"`
  }
}

/**
 * A bound was reached: bytes of the file, entries, or depth.
 *
 * What to change: split the file.
 *
 * @category the whole file
 * @since 0.1.0
 */
export class TooMuch extends Schema.TaggedError<TooMuch>()("TooMuch", {
  what: Schema.Literals(["bytes", "servers", "levels"]),
  limit: Schema.Int
}) {
  override get message() {
    return `it has more than ${this.limit} ${this.what}`
  }
}

/**
 * The text is no JSON, comments and trailing commas allowed.
 *
 * What to change: what stands at the line and column that the message names.
 *
 * @category the whole file
 * @since 0.1.0
 */
export class SyntaxWrong extends Schema.TaggedError<SyntaxWrong>()("SyntaxWrong", {
  ...place,
  because: Schema.String
}) {
  override get message() {
    return `line ${this.line}, column ${this.column}: ${this.because}`
  }
}

/**
 * The text is JSON, but in none of the forms a configuration has.
 *
 * What to change: write an array of entries, or an object with `mcpServers` or `servers`.
 *
 * @category the whole file
 * @since 0.1.0
 */
export class NoServers extends Schema.TaggedError<NoServers>()("NoServers", {
  /** The members that were found instead, at most ten. */
  found: Schema.Array(Schema.String)
}) {
  override get message() {
    const found =
      this.found.length === 0 ? "" : `; found ${this.found.map((name) => `"${excerpt(name, 40)}"`).join(", ")}`
    return `it holds no servers: write an array of entries, or an object with "mcpServers" or "servers"${found}`
  }
}

/**
 * The ways a whole file can fail.
 *
 * @category the whole file
 * @since 0.1.0
 */
export const Reason = Schema.Union([Unreadable, Unwritable, ChangedMeanwhile, NotText, TooMuch, SyntaxWrong, NoServers])

/**
 * Nothing was read, or nothing was written.
 *
 * What to change: look at the `reason`; each says its own.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConfigurationError extends Schema.TaggedError<ConfigurationError>()("ConfigurationError", {
  /** The file, or a word for what was read instead. */
  file: Schema.String,
  reason: Reason
}) {
  override get message() {
    return `configuration ${excerpt(this.file)}: ${this.reason.message}`
  }
}

/**
 * A member that is missing, or has a value it cannot have.
 *
 * What to change: write the value that `because` asks for.
 *
 * @category one entry
 * @since 0.1.0
 */
export class MemberWrong extends Schema.TaggedError<MemberWrong>()("MemberWrong", { because: Schema.String }) {
  override get message() {
    return this.because
  }
}

/**
 * A member that is written twice.
 *
 * What to change: keep one of the two.
 *
 * @category one entry
 * @since 0.1.0
 */
export class MemberTwice extends Schema.TaggedError<MemberTwice>()("MemberTwice", { member: Schema.String }) {
  override get message() {
    return `"${excerpt(this.member)}" is written twice; keep one`
  }
}

/**
 * Two entries with one name. The first one counts.
 *
 * What to change: give one of them another name.
 *
 * @category one entry
 * @since 0.1.0
 */
export class NameTwice extends Schema.TaggedError<NameTwice>()("NameTwice", {
  name: Schema.String,
  /** The line of the first one. */
  first: Schema.Int
}) {
  override get message() {
    return `a server named "${excerpt(this.name)}" is already there on line ${this.first}; give this one another name`
  }
}

/**
 * Nothing says how to reach the server, or two things do (T-CONF-1).
 *
 * What to change: write `command` or `url`; when both are there, keep one, or say which with `type`.
 *
 * @category one entry
 * @since 0.1.0
 */
export class TransportUnclear extends Schema.TaggedError<TransportUnclear>()("TransportUnclear", {
  found: Schema.Array(Schema.String)
}) {
  override get message() {
    return this.found.length === 0
      ? `neither "command" nor "url" is there; write one of them`
      : `both ${this.found.map((name) => `"${name}"`).join(" and ")} are there; keep one, or say which with "type"`
  }
}

/**
 * The era is none, or none that this transport can have (U-11).
 *
 * What to change: write the era that `because` allows.
 *
 * @category one entry
 * @since 0.1.0
 */
export class EraWrong extends Schema.TaggedError<EraWrong>()("EraWrong", { because: Schema.String }) {
  override get message() {
    return this.because
  }
}

/**
 * A URL that cannot be used. The URL itself is not shown.
 *
 * What to change: write the whole address, beginning with https or http; credentials belong into `headers`.
 *
 * @category one entry
 * @since 0.1.0
 */
export class UrlWrong extends Schema.TaggedError<UrlWrong>()("UrlWrong", {
  because: Schema.Literals(["NoUrl", "NotHttp", "Credentials"])
}) {
  override get message() {
    switch (this.because) {
      case "NoUrl":
        return `it is no URL; write it whole, such as "https://example.com/mcp"`
      case "NotHttp":
        return `it begins with neither "http://" nor "https://"`
      case "Credentials":
        return `it holds a user name or a password; send them in "headers" as "Authorization"`
    }
  }
}

/**
 * A name or value with characters that cannot be sent: NUL, a line break in a header, `=` in a variable's name.
 *
 * What to change: take the character out.
 *
 * @category one entry
 * @since 0.1.0
 */
export class CharacterForbidden extends Schema.TaggedError<CharacterForbidden>()("CharacterForbidden", {
  what: Schema.String,
  character: Schema.String
}) {
  override get message() {
    return `${this.what} holds ${this.character}, which cannot be passed on; take it out`
  }
}

/**
 * A variable that is not set, and has no default (T-CONF-3).
 *
 * What to change: set the variable, or write a default: `${NAME:-default}`.
 *
 * @category one entry
 * @since 0.1.0
 */
export class VariableMissing extends Schema.TaggedError<VariableMissing>()("VariableMissing", {
  variable: Schema.String
}) {
  override get message() {
    const name = excerpt(this.variable)
    return `the variable ${name} is not set; set it, or write \${${name}:-default}`
  }
}

/**
 * A placeholder of another product that means nothing here, such as `${config:editor.font}`.
 *
 * What to change: write the value itself; for the text as it stands double the dollar sign.
 *
 * @category one entry
 * @since 0.1.0
 */
export class PlaceholderUnknown extends Schema.TaggedError<PlaceholderUnknown>()("PlaceholderUnknown", {
  placeholder: Schema.String
}) {
  override get message() {
    return `\${${excerpt(this.placeholder, 60)}} is not known here; for the text itself write $\${${excerpt(this.placeholder, 60)}}`
  }
}

/**
 * An input that `inputs` does not declare, or that nobody answered.
 *
 * What to change: declare the input in `inputs`, or give it a default.
 *
 * @category one entry
 * @since 0.1.0
 */
export class InputMissing extends Schema.TaggedError<InputMissing>()("InputMissing", {
  input: Schema.String,
  declared: Schema.Boolean
}) {
  override get message() {
    const name = excerpt(this.input)
    return this.declared
      ? `the input "${name}" was not answered and has no default`
      : `the input "${name}" is not declared; add { "id": ${JSON.stringify(name)}, "type": "promptString" } to "inputs"`
  }
}

/**
 * A text that is too long once its variables are filled in.
 *
 * What to change: shorten what the variables hold.
 *
 * @category one entry
 * @since 0.1.0
 */
export class TextTooLong extends Schema.TaggedError<TextTooLong>()("TextTooLong", { limit: Schema.Int }) {
  override get message() {
    return `with its variables filled in it is longer than ${this.limit} characters`
  }
}

/**
 * What can be wrong with one entry.
 *
 * @category one entry
 * @since 0.1.0
 */
export const Fault = Schema.Union([
  MemberWrong,
  MemberTwice,
  NameTwice,
  TransportUnclear,
  EraWrong,
  UrlWrong,
  CharacterForbidden,
  VariableMissing,
  PlaceholderUnknown,
  InputMissing,
  TextTooLong
])

/**
 * What can be wrong with one entry.
 *
 * @category one entry
 * @since 0.1.0
 */
export type Fault = typeof Fault.Type

/**
 * The path of a member as people write it: `servers[2].env.TOKEN`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const pathText = (path: ReadonlyArray<string | number>): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`
    if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(step)) return `${text}[${JSON.stringify(excerpt(step, 60))}]`
    return text === "" ? step : `${text}.${step}`
  }, "")

/**
 * One thing wrong with one entry. The entry was left out; every problem of every entry is reported.
 *
 * What to change: look at its `fault`; each says its own.
 *
 * @category errors
 * @since 0.1.0
 */
export class EntryProblem extends Schema.TaggedError<EntryProblem>()("EntryProblem", {
  /** The entry's name, where it has one. */
  entry: Schema.optionalKey(Schema.String),
  /** The way to the member from the top of the file. */
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  ...place,
  fault: Fault
}) {
  override get message() {
    const who = this.entry === undefined ? "" : `server "${excerpt(this.entry)}", `
    return `line ${this.line}, column ${this.column}: ${who}${pathText(this.path)}: ${this.fault.message}`
  }
}
