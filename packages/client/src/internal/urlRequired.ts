/**
 * The error -32042 of 2025-11-25 (L-ELI-8): the user must open an address before the request can be answered. Read as a
 * round of questions, so that the same handlers answer it.
 */
import * as Elicitation from "@mcp-effect/protocol/Elicitation"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import type * as InputRequired from "@mcp-effect/protocol/InputRequired"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { McpClientError } from "../McpClientError.ts"

const decode = Schema.decodeUnknownResult(
  Schema.Struct({ elicitations: Schema.Array(Elicitation.UrlParams).check(Schema.isMinLength(1)) })
)

/** The questions in such an error; `undefined` for every other error, and for one whose data cannot be read. */
export const questionsIn = ({ reason }: McpClientError): InputRequired.InputRequired["inputRequests"] => {
  if (reason._tag !== "ServerError" || reason.code !== ErrorCode.UrlElicitationRequired) return undefined
  const read = decode(reason.data)
  return Result.isFailure(read)
    ? undefined
    : Object.fromEntries(
        read.success.elicitations.map((params, index) => [String(index), { method: "elicitation/create", params }])
      )
}
