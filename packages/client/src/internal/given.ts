/** Checks what the program gave where types may not have: names. */
import * as Method from "@mcp-effect/protocol/Method"
import { InvalidOption } from "../McpClientError.ts"

/** A name that must be one of a table's. */
export const oneOf = (option: string, given: PropertyKey, table: object): InvalidOption | undefined =>
  Object.hasOwn(table, given) ? undefined : InvalidOption.of(option, given, `one of ${Object.keys(table).join(", ")}`)

/** A method that an extension may have: the protocol's own are written and read by its revisions. */
export const extensionMethod = (given: string): InvalidOption | undefined =>
  !Method.isMethod(given) && /^[\x21-\x7e]{1,256}$/.test(given)
    ? undefined
    : InvalidOption.of(
        "method",
        given,
        "a name that is not the protocol's, of 1 to 256 ASCII characters without spaces"
      )
