/** Checks what the program gave where types may not have: names and times. */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Method from "@mcp-effect/protocol/Method"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { InvalidOption } from "../McpClientError.ts"

const shown = (given: unknown): string =>
  Result.getOrElse(
    Result.try(() => excerpt(typeof given === "string" ? JSON.stringify(given) : String(given))),
    () => `a value of type ${typeof given}`
  )

/** A time in milliseconds, infinite ones too. */
export const millis = (option: string, given: Duration.Input): Result.Result<number, InvalidOption> => {
  const read = Result.try(() => Duration.fromInput(given))
  const time = Result.isSuccess(read) ? Option.getOrUndefined(read.success) : undefined
  const value = time === undefined || Number.isNaN(given) ? Number.NaN : Duration.toMillis(time)
  const negative = typeof given === "number" ? given < 0 : typeof given === "string" && given.trim().startsWith("-")
  if (value >= 0 && !negative) return Result.succeed(value)
  const allowed = 'a time of zero or more: milliseconds, "5 seconds", a Duration, or Duration.infinity'
  return Result.fail(new InvalidOption({ option, given: shown(given), allowed }))
}

/** A name that must be one of a table's. */
export const oneOf = (option: string, given: PropertyKey, table: object): InvalidOption | undefined =>
  Object.hasOwn(table, given)
    ? undefined
    : new InvalidOption({ option, given: shown(given), allowed: `one of ${Object.keys(table).join(", ")}` })

/** A method that an extension may have: the protocol's own are written and read by its revisions. */
export const extensionMethod = (given: string): InvalidOption | undefined =>
  !Method.isMethod(given) && /^[\x21-\x7e]{1,256}$/.test(given)
    ? undefined
    : new InvalidOption({
        option: "method",
        given: shown(given),
        allowed: "a name that is not the protocol's, of 1 to 256 ASCII characters without spaces"
      })
