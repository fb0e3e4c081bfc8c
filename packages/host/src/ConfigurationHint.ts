/**
 * Advice about a configuration: what can be read and will probably not do what was meant.
 *
 * Hints never stop anything. They are data with a stable `id`, so a program can show, count or silence them. None holds
 * the value of a variable or a header, or of an argument that came from one.
 *
 * @since 0.1.0
 */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Configuration from "./Configuration.ts"
import type { Position } from "./ConfigurationError.ts"
import { pathText } from "./ConfigurationError.ts"
import * as CommandPath from "./internal/commandPath.ts"
import * as Advice from "./internal/configurationAdvice.ts"
import * as Forms from "./internal/configurationForms.ts"
import * as Text from "./internal/configurationText.ts"
import type { ServerEntry } from "./ServerEntry.ts"

/**
 * What each kind of hint is about.
 *
 * @category models
 * @since 0.1.0
 */
export const ids = {
  "packed-arguments": "Several arguments in one text, or arguments in `command`.",
  "command-missing": "The command is not there, neither as a path nor on PATH.",
  "ask-without-handler": "Calls need a yes, and nobody is there to give it: each will be refused.",
  "short-timeout": "A limit under a second; seconds may have been meant.",
  "secret-in-file": "What looks like a secret stands in the file in plain text.",
  "plain-http": "Headers are sent to another machine without encryption.",
  "unknown-member": "A member that is not read, and what was probably meant.",
  "foreign-member": "A member of another transport, which is not read.",
  "empty-argument": "An argument without a character.",
  "quoted-argument": "Quotes around an argument, which no shell takes away.",
  "shell-syntax": "A pipe or a redirection, which no shell reads.",
  "npx-asks": "`npx` without `-y`, which may wait for an answer.",
  "docker-without-input": "`docker run` without `-i`, whose server hears nothing.",
  "variable-not-read": "`$NAME` or `%NAME%`, which stay as they are.",
  "no-tools": "A filter that leaves no tool."
} as const

/**
 * The kinds of hints.
 *
 * @category models
 * @since 0.1.0
 */
export type HintId = keyof typeof ids

/**
 * One piece of advice.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hint {
  readonly id: HintId
  /** The name of the entry, where it has one. */
  readonly entry: string | undefined
  /** The way to the member from the top of the file, or from the entry when there is no file. */
  readonly path: ReadonlyArray<string | number>
  /** Where it stands; none for an entry made in code. */
  readonly position: Option.Option<Position>
  readonly message: string
}

/**
 * What `check` should know about the program.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Whether somebody answers when a call needs a yes; unknown when absent, and then nothing is said. */
  readonly approves?: boolean
  /** The host's rule for entries that say none: `ask` unless said. */
  readonly approval?: "ask" | "allow"
}

interface Subject extends Advice.Subject {
  readonly name: string | undefined
  readonly hint: (advice: Advice.Advice) => Hint
}

const subjectsOf = (configuration: Configuration.Configuration): ReadonlyArray<Subject> => {
  const entries = new Map(configuration.entries.map((entry) => [entry.name, entry]))
  const source = Option.getOrUndefined(Forms.sourceOf(configuration.source))
  const parsed = source === undefined ? undefined : Text.root(source.text)
  const positionOf = source === undefined ? undefined : Text.positions(source.text)
  const written = (source?.items ?? []).map((item): Subject => {
    const entry = item.entry === undefined ? undefined : entries.get(item.entry.name)
    if (entry !== undefined) entries.delete(entry.name)
    return {
      name: item.name,
      entry,
      raw: Text.isObject(item.raw) ? item.raw : {},
      hint: ({ id, message, path }) => {
        const whole = [...item.path, ...path]
        const offset = path.length === 0 || parsed === undefined ? item.offset : Text.nearest(parsed, whole).offset
        return {
          id,
          message,
          entry: item.name,
          path: whole,
          position: positionOf === undefined ? Option.none() : Option.some(positionOf(offset))
        }
      }
    }
  })
  const made = [...entries.values()].map((entry): Subject => ({
    name: entry.name,
    entry,
    raw: {},
    hint: (advice) => ({ ...advice, entry: entry.name, position: Option.none() })
  }))
  return [...written, ...made]
}

const variable = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const provider = yield* ConfigProvider.ConfigProvider
  for (const name of names) {
    const node = yield* Effect.orElseSucceed(provider.load([name]), () => undefined)
    if (node?.value !== undefined) return node.value
  }
  return undefined
})

const isThere = Effect.fnUntraced(function* (entry: ServerEntry & { readonly type: "stdio" }) {
  const fs = yield* FileSystem.FileSystem
  const own = (name: string) =>
    Object.entries(entry.env).find(([known]) => known === name || known.toUpperCase() === name)?.[1]
  const ownPath = own("PATH")
  const extensions = yield* variable("PATHEXT")
  const files = CommandPath.candidates({
    command: entry.command,
    // Only Windows has PATHEXT.
    platform: extensions === undefined ? "posix" : "win32",
    path: ownPath === undefined ? ((yield* variable("PATH", "Path")) ?? "") : Redacted.value(ownPath),
    ...(extensions === undefined ? {} : { extensions }),
    ...(entry.cwd === undefined ? {} : { cwd: entry.cwd })
  })
  for (const file of files) {
    const info = yield* Effect.option(fs.stat(file))
    if (Option.isSome(info) && info.value.type === "File") return true
  }
  return false
})

/**
 * Advice about every entry, those with problems too, in the order of the file. Whether commands are there is looked up
 * with the variables PATH and PATHEXT of the `ConfigProvider` in the context: the environment unless you provide another.
 *
 * @category checking
 * @since 0.1.0
 */
export const check = Effect.fn("ConfigurationHint.check")(function* (
  configuration: Configuration.Configuration,
  options: Options = {}
): Effect.fn.Return<ReadonlyArray<Hint>, never, FileSystem.FileSystem> {
  const hints: Array<Hint> = []
  for (const subject of subjectsOf(configuration)) {
    const { entry } = subject
    for (const rule of Advice.rules) hints.push(...rule(subject).map(subject.hint))
    if (entry === undefined || entry.disabled) continue
    if (entry.type === "stdio" && !(yield* isThere(entry))) {
      const message = "this command is not there; install it, or write its whole path"
      hints.push(subject.hint({ id: "command-missing", path: ["command"], message }))
    }
    if (options.approves === false && (entry.approval ?? options.approval ?? "ask") === "ask") {
      const message = `every call needs a yes and nobody gives one; give the host a handler, or set "approval" to "allow"`
      hints.push(subject.hint({ id: "ask-without-handler", path: ["approval"], message }))
    }
  }
  return hints
})

/**
 * One line for a person.
 *
 * @category formatting
 * @since 0.1.0
 */
export const describe = (hint: Hint): string => {
  const where = Option.match(hint.position, {
    onNone: () => "",
    onSome: ({ column, line }) => `line ${line}, column ${column}: `
  })
  const who = hint.entry === undefined ? "" : `server "${hint.entry}", `
  return `${where}${who}${pathText(hint.path)}: ${hint.message} (${hint.id})`
}
