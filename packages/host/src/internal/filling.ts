/**
 * Fills placeholders in: looks up every variable and asks every input once, then works on texts alone.
 */
import { isSecretSetting } from "@mcp-effect/protocol/SecretName"
import type * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { Input, Options } from "../Configuration.ts"
import { type Fault, InputMissing, PlaceholderUnknown, TextTooLong, VariableMissing } from "../ConfigurationError.ts"
import type { Fill } from "./configurationEntry.ts"
import * as Text from "./configurationText.ts"
import * as Variables from "./variables.ts"

/** The longest text after filling in: what Linux passes to a process in one argument. */
export const maxText = 131_072

/** The most that all texts may come to. */
const maxTotal = 16_777_216

type Lookup = (name: string) => Effect.Effect<string | undefined>

export const fromRecord =
  (variables: Readonly<Record<string, string | undefined>>): Lookup =>
  (name) =>
    Effect.succeed(Object.hasOwn(variables, name) ? variables[name] : undefined)

/** A source that cannot be read counts as one where nothing is set. */
export const fromProvider =
  (provider: ConfigProvider.ConfigProvider): Lookup =>
  (name) =>
    provider.load([name]).pipe(
      Effect.map((node) => node?.value),
      Effect.orElseSucceed(() => undefined)
    )

/** The members of an entry whose texts may hold placeholders. */
const expanded = ["command", "args", "env", "cwd", "url", "headers"]

const stringsIn = (json: Text.Json): ReadonlyArray<string> => {
  if (typeof json === "string") return [json]
  if (Array.isArray(json)) return json.flatMap(stringsIn)
  return Text.isObject(json) ? Object.values(json).flatMap(stringsIn) : []
}

/** The texts of an entry. */
export const textsOf = (entry: Text.Node): ReadonlyArray<string> =>
  Text.members(entry).flatMap(([name, value]) => (expanded.includes(name) ? stringsIn(Text.value(value)) : []))

export interface Filling {
  readonly fill: Fill
  /** Values of variables that sound secret, by their placeholders. */
  readonly secrets: ReadonlyMap<string, string>
}

/** Leaves everything as it is written. */
export const none: Filling = {
  fill: (text) => Result.succeed({ text, secret: false }),
  secrets: new Map()
}

const homeOf = Effect.fnUntraced(function* (lookup: Lookup) {
  for (const name of Variables.homes) {
    const home = yield* lookup(name)
    if (home !== undefined && home !== "") return home
  }
  return undefined
})

export const make = Effect.fnUntraced(function* (options: {
  readonly texts: ReadonlyArray<string>
  readonly variables: Lookup
  readonly declared: ReadonlyMap<string, Input>
  readonly answer: NonNullable<Options["answer"]>
}) {
  const { answer, declared } = options
  const parts = options.texts.flatMap((text) => Variables.parts(text, true))
  const variables = new Map<string, string>()
  const inputs = new Map<string, string>()
  const secrets = new Map<string, string>()
  for (const part of parts) {
    if (part._tag === "Variable" && !variables.has(part.name)) {
      const { name } = part
      const value = yield* name === Variables.homeName || name === "userHome"
        ? homeOf(options.variables)
        : options.variables(name)
      if (value === undefined) continue
      variables.set(name, value)
      if (isSecretSetting(name)) secrets.set(value, `\${${name}}`)
    } else if (part._tag === "Input" && !inputs.has(part.id)) {
      const input = declared.get(part.id)
      if (input === undefined) continue
      const given = yield* answer(input)
      const value = Option.getOrUndefined(given) ?? input.default
      if (value === undefined) continue
      const text = Redacted.isRedacted(value) ? Redacted.value(value) : value
      inputs.set(part.id, text)
      if (input.password || Redacted.isRedacted(value)) secrets.set(text, `\${input:${part.id}}`)
    }
  }

  let total = 0
  const value = (part: Variables.Part): Result.Result<string, Fault> => {
    switch (part._tag) {
      case "Text":
        return Result.succeed(part.text)
      case "Variable": {
        const set = variables.get(part.name)
        // As in a shell, `:-` also stands in for a variable that is empty.
        const text = set === undefined || set === "" ? (part.otherwise ?? set) : set
        if (text !== undefined) return Result.succeed(text)
        return Result.fail(
          new VariableMissing({ variable: part.name === Variables.homeName ? Variables.homes.join(" or ") : part.name })
        )
      }
      case "Input": {
        const text = inputs.get(part.id)
        return text === undefined
          ? Result.fail(new InputMissing({ input: part.id, declared: declared.has(part.id) }))
          : Result.succeed(text)
      }
      case "Unknown":
        return Result.fail(new PlaceholderUnknown({ placeholder: part.text }))
    }
  }
  const isSecret = (part: Variables.Part) =>
    (part._tag === "Variable" && isSecretSetting(part.name)) ||
    (part._tag === "Input" && secrets.has(inputs.get(part.id) ?? ""))

  const fill: Fill = (written, path) => {
    const parts = Variables.parts(written, path)
    let text = ""
    for (const part of parts) {
      const next = value(part)
      if (Result.isFailure(next)) return Result.fail(next.failure)
      if (part._tag !== "Text") total += next.success.length
      if (text.length + next.success.length > maxText || total > maxTotal) {
        return Result.fail(new TextTooLong({ limit: maxText }))
      }
      text += next.success
    }
    return Result.succeed({ text, secret: parts.some(isSecret) })
  }
  return { fill, secrets } satisfies Filling
})
