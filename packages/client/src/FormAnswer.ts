/**
 * Forms that a server asks the user to fill in: what to show, and whether what was typed may be sent (M-ELI-7 to 12).
 *
 * `fields` gives the fields in one shape, however the server spelled them; `defaults` what to fill in beforehand; `parse`
 * reads what was typed as text; `check` says everything that does not fit. The client checks every answer of a handler
 * itself before it is sent, so a handler may leave that out.
 *
 * Defaults count only when the user could see and change them (T-50); nothing here accepts them silently.
 *
 * @since 0.1.0
 */
import * as Elicitation from "@mcp-effect/protocol/Elicitation"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Check from "./internal/formCheck.ts"

/**
 * A value that can be chosen, and what to show for it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Choice {
  readonly value: string
  readonly label: string
}

/**
 * What every field has.
 *
 * @category models
 * @since 0.1.0
 */
export interface Labels {
  /** The key of the answer. */
  readonly name: string
  /** What to show: the title, else the name. */
  readonly label: string
  readonly description: string | undefined
  readonly required: boolean
}

/**
 * A field. A default that does not itself fit is left out.
 *
 * @category models
 * @since 0.1.0
 */
export type Field = Data.TaggedEnum<{
  /** A line of text. Lengths count characters, not code units. */
  Text: Labels & {
    readonly minLength: number | undefined
    readonly maxLength: number | undefined
    readonly format: "email" | "uri" | "date" | "date-time" | undefined
    readonly default: string | undefined
  }
  Number: Labels & {
    /** Only whole numbers. */
    readonly integer: boolean
    readonly minimum: number | undefined
    readonly maximum: number | undefined
    readonly default: number | undefined
  }
  YesNo: Labels & { readonly default: boolean | undefined }
  /** One of several. */
  One: Labels & { readonly choices: ReadonlyArray<Choice>; readonly default: string | undefined }
  /** Any number of several. */
  Many: Labels & {
    readonly choices: ReadonlyArray<Choice>
    readonly minItems: number | undefined
    readonly maxItems: number | undefined
    readonly default: ReadonlyArray<string> | undefined
  }
}>

/**
 * Constructors and matchers of `Field`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Field = Data.taggedEnum<Field>()

/**
 * A value of an answer.
 *
 * @category models
 * @since 0.1.0
 */
export type Value = NonNullable<Elicitation.Result["content"]>[string]

/**
 * The values of an answer, by the names of their fields.
 *
 * @category models
 * @since 0.1.0
 */
export type Values = { readonly [name: string]: Value }

/**
 * What of an answer does not fit. It holds names and rules, never what was typed.
 *
 * What to change: ask the user again for the fields in `problems`.
 *
 * @category errors
 * @since 0.1.0
 */
export class FormInvalid extends Schema.TaggedError<FormInvalid>()("FormInvalid", {
  problems: Schema.Array(Schema.Struct({ field: Schema.String, because: Schema.String }))
}) {
  override get message() {
    return `the answer does not fit the form: ${this.problems.map(({ because, field }) => `${field} ${because}`).join("; ")}`
  }
}

/**
 * The fields of a form, in the order of the server.
 *
 * @category accessors
 * @since 0.1.0
 */
export const fields = ({ requestedSchema }: Elicitation.FormParams): ReadonlyArray<Field> => {
  const required = new Set(requestedSchema.required)
  return Object.entries(requestedSchema.properties).map(([name, field]) => fieldOf(name, field, required.has(name)))
}

/**
 * What to fill in beforehand: the defaults that fit.
 *
 * @category accessors
 * @since 0.1.0
 */
export const defaults = (question: Elicitation.FormParams): Values =>
  Object.fromEntries(
    fields(question).flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default] as const]))
  )

/**
 * Reads what was typed into one field. Nothing typed is no answer (`undefined`). Numbers are written as in JSON; yes and no
 * also as `y`, `n`, `true`, `false`; a choice by its value or its label, several with commas between. Fails with what is
 * wrong, to be shown beside the field.
 *
 * @category checking
 * @since 0.1.0
 */
export const parse = (field: Field, typed: string): Result.Result<Value | undefined, string> => {
  const text = field._tag === "Text" ? typed : typed.trim()
  if (text === "") return field.required ? Result.fail("is missing") : Result.succeed(undefined)
  return Result.flatMap(Check.read(field, text), (value) => {
    const because = Check.problem(field, value)
    return because === undefined ? Result.succeed(value) : Result.fail(because)
  })
}

/**
 * Checks an answer as a whole. A success holds the values of the form's fields; a failure everything that does not fit:
 * what is missing, of another kind, out of bounds, none of the choices, or no field of the form at all.
 *
 * @example
 * ```ts
 * import { FormAnswer } from "@mcp-effect/client"
 * import type { Elicitation } from "@mcp-effect/protocol"
 * import { Result } from "effect"
 *
 * export const answer = (question: Elicitation.FormParams, typed: FormAnswer.Values): Elicitation.Result =>
 *   Result.match(FormAnswer.check(question, { ...FormAnswer.defaults(question), ...typed }), {
 *     onSuccess: (content) => ({ action: "accept", content }),
 *     onFailure: () => ({ action: "cancel" })
 *   })
 * ```
 *
 * @category checking
 * @since 0.1.0
 */
export const check = (
  question: Elicitation.FormParams,
  answer: { readonly [name: string]: unknown }
): Result.Result<Values, FormInvalid> => {
  const problems: Array<{ readonly field: string; readonly because: string }> = []
  const values: Array<readonly [string, Value]> = []
  const known = fields(question)
  for (const field of known) {
    const { name } = field
    const value = Object.hasOwn(answer, name) ? answer[name] : undefined
    if (value === undefined) {
      if (field.required) problems.push({ field: name, because: "is missing" })
      continue
    }
    const because = Check.problem(field, value)
    if (because !== undefined) problems.push({ field: name, because })
    else if (Check.isValue(value)) values.push([name, value])
  }
  const names = new Set(known.map(({ name }) => name))
  for (const name of Object.keys(answer)) {
    if (!names.has(name)) problems.push({ field: name, because: "is no field of the form" })
  }
  return problems.length === 0 ? Result.succeed(Object.fromEntries(values)) : Result.fail(new FormInvalid({ problems }))
}

const fieldOf = (name: string, field: Elicitation.Field, required: boolean): Field => {
  const shape = shapeOf(field, { name, label: field.title ?? name, description: field.description, required })
  return shape.default !== undefined && Check.problem(shape, shape.default) !== undefined
    ? { ...shape, default: undefined }
    : shape
}

// Objects of the model are open, so what a field is shows in the whole of it and not in one key.
const isTitledChoice = Schema.is(Elicitation.TitledChoiceField)
const isChoice = Schema.is(Elicitation.ChoiceField)
const isMany = Schema.is(Elicitation.ManyField)
const isNumber = Schema.is(Elicitation.NumberField)
const isYesNo = Schema.is(Elicitation.BooleanField)
const isTitledItems = Schema.is(
  Schema.Struct({ anyOf: Schema.Array(Schema.Struct({ const: Schema.String, title: Schema.String })) })
)
const isPlainItems = Schema.is(Schema.Struct({ enum: Schema.Array(Schema.String) }))

const shapeOf = (field: Elicitation.Field, labels: Labels): Field => {
  if (isTitledChoice(field)) return Field.One({ ...labels, choices: titled(field.oneOf), default: field.default })
  if (isChoice(field))
    return Field.One({ ...labels, choices: plain(field.enum, field.enumNames), default: field.default })
  if (isMany(field)) {
    const { items, maxItems, minItems } = field
    const choices = isTitledItems(items) ? titled(items.anyOf) : isPlainItems(items) ? plain(items.enum) : []
    return Field.Many({ ...labels, choices, minItems, maxItems, default: field.default })
  }
  if (isNumber(field)) {
    const { maximum, minimum, type } = field
    return Field.Number({ ...labels, integer: type === "integer", minimum, maximum, default: field.default })
  }
  if (isYesNo(field)) return Field.YesNo({ ...labels, default: field.default })
  const { format, maxLength, minLength } = field
  return Field.Text({ ...labels, minLength, maxLength, format, default: field.default })
}

const titled = (choices: ReadonlyArray<{ readonly const: string; readonly title: string }>): ReadonlyArray<Choice> =>
  choices.map(({ const: value, title }) => ({ value, label: title }))

const plain = (values: ReadonlyArray<string>, names?: ReadonlyArray<string>): ReadonlyArray<Choice> =>
  values.map((value, index) => ({ value, label: names?.[index] ?? value }))
