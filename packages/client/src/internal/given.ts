/** Checks what the program gave where types may not have: names, and times that are sent. */
import * as Method from "@mcp-effect/protocol/Method"
import type * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { InvalidOption, timeOf } from "../McpClientError.ts"

/** A name that must be one of a table's. */
export const oneOf = (option: string, given: PropertyKey, table: object): InvalidOption | undefined =>
  Object.hasOwn(table, given) ? undefined : InvalidOption.of(option, given, `one of ${Object.keys(table).join(", ")}`)

/** How long a task is to be kept, in milliseconds. JSON has no word for ever. */
export const ttl = (given: Duration.Input): Result.Result<number, InvalidOption> =>
  Result.mapError(
    Result.filterOrFail(timeOf("task.ttl", given), Number.isFinite, () => "it has no end"),
    () =>
      InvalidOption.of(
        "task.ttl",
        given,
        'a time of zero or more that ends: milliseconds, "5 minutes", a Duration; or nothing, to leave it to the server'
      )
  )

/** A method that an extension may have: the protocol's own are written and read by its revisions. */
export const extensionMethod = (given: string): InvalidOption | undefined =>
  !Method.isMethod(given) && /^[\x21-\x7e]{1,256}$/.test(given)
    ? undefined
    : InvalidOption.of(
        "method",
        given,
        "a name that is not the protocol's, of 1 to 256 ASCII characters without spaces"
      )
