/** The rules of the fields of a form (M-ELI-7). Each says what is wrong with a value, or nothing. */
import * as Result from "effect/Result"
import type { Choice, Field, Value } from "../FormAnswer.ts"

type Problem = string | undefined

export const isValue = (value: unknown): value is Value =>
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value)) ||
  (Array.isArray(value) && value.every((item) => typeof item === "string"))

export const problem = (field: Field, value: unknown): Problem => {
  switch (field._tag) {
    case "Text":
      return typeof value === "string" ? text(field, value) : "is not a text"
    case "Number":
      return typeof value === "number" && Number.isFinite(value) ? number(field, value) : "is not a number"
    case "YesNo":
      return typeof value === "boolean" ? undefined : "is neither yes nor no"
    case "One":
      return typeof value === "string" && has(field.choices, value) ? undefined : "is none of the choices"
    case "Many":
      return isList(value) ? many(field, value) : "is not a list of choices"
  }
}

const isList = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

const has = (choices: ReadonlyArray<Choice>, value: string) => choices.some((choice) => choice.value === value)

const text = ({ format, maxLength, minLength }: Extract<Field, { _tag: "Text" }>, value: string): Problem => {
  // Every character takes at least one code unit: longer is not worth counting.
  const length = maxLength !== undefined && value.length > 2 * maxLength ? value.length : [...value].length
  if (minLength !== undefined && length < minLength) return `is shorter than ${minLength} characters`
  if (maxLength !== undefined && length > maxLength) return `is longer than ${maxLength} characters`
  return format === undefined || formats[format](value) ? undefined : because[format]
}

const number = ({ integer, maximum, minimum }: Extract<Field, { _tag: "Number" }>, value: number): Problem => {
  if (integer && !Number.isInteger(value)) return "is not a whole number"
  if (minimum !== undefined && value < minimum) return `is less than ${minimum}`
  if (maximum !== undefined && value > maximum) return `is more than ${maximum}`
  return undefined
}

const many = (
  { choices, maxItems, minItems }: Extract<Field, { _tag: "Many" }>,
  values: ReadonlyArray<string>
): Problem => {
  if (!values.every((value) => has(choices, value))) return "holds what is none of the choices"
  if (new Set(values).size < values.length) return "holds a choice more than once"
  if (minItems !== undefined && values.length < minItems) return `has fewer than ${minItems} choices`
  if (maxItems !== undefined && values.length > maxItems) return `has more than ${maxItems} choices`
  return undefined
}

const longestAddress = 320
const day = /^(\d{4})-(\d{2})-(\d{2})$/
const moment = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/

const isDay = (value: string): boolean => {
  const [, year, month, date] = day.exec(value) ?? []
  if (year === undefined) return false
  const daysOfMonth =
    [31, isLeap(Number(year)) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Number(month) - 1] ?? 0
  return Number(date) >= 1 && Number(date) <= daysOfMonth
}

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

const isMoment = (value: string): boolean => {
  const [, date, hour, minute, second, offsetHour = "0", offsetMinute = "0"] = moment.exec(value) ?? []
  if (date === undefined || !isDay(date) || Number(hour) > 23 || Number(minute) > 59) return false
  // A 60th second is a leap second.
  return Number(second) <= 60 && Number(offsetHour) <= 23 && Number(offsetMinute) <= 59
}

const formats = {
  email: (value: string) => value.length <= longestAddress && /^[^\s@]+@[^\s@]+$/.test(value),
  uri: (value: string) => /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(value) && URL.canParse(value),
  date: isDay,
  "date-time": isMoment
}

const because = {
  email: "is not an e-mail address",
  uri: "is not an address with a scheme, such as https://example.com",
  date: "is not a date, such as 2026-07-28",
  "date-time": "is not a time with its zone, such as 2026-07-28T12:00:00Z"
}

const numeral = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const yes = new Set(["y", "yes", "true"])
const no = new Set(["n", "no", "false"])

/** What a text means for a field. */
export const read = (field: Field, text: string): Result.Result<Value, string> => {
  switch (field._tag) {
    case "Text":
      return Result.succeed(text)
    case "Number":
      return numeral.test(text) ? Result.succeed(Number(text)) : Result.fail("is not a number")
    case "YesNo": {
      const word = text.toLowerCase()
      if (yes.has(word)) return Result.succeed(true)
      return no.has(word) ? Result.succeed(false) : Result.fail("is neither yes nor no")
    }
    case "One":
      return choose(field.choices, text)
    case "Many":
      return Result.all(text.split(",").map((part) => choose(field.choices, part.trim())))
  }
}

/** By its value first, since labels need not differ. */
const choose = (choices: ReadonlyArray<Choice>, text: string): Result.Result<string, string> => {
  const labelled = choices.filter(({ label }) => label.toLowerCase() === text.toLowerCase())
  if (has(choices, text)) return Result.succeed(text)
  return labelled[0] !== undefined && labelled.length === 1
    ? Result.succeed(labelled[0].value)
    : Result.fail("is none of the choices")
}
