/**
 * What went wrong below HTTP, in few words and without headers, bodies or secrets.
 */
import * as Data from "effect/Data"
import type { HttpClientError } from "effect/http/HttpClientError"

/** Marks the failure of a request whose response a hook has swallowed. */
export class Taken extends Data.TaggedError("Taken")<{ readonly status: number }> {}

/** How deep causes are followed. */
const maxDepth = 8

const wordsOf = (cause: Error): string => {
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined
  const text = cause.message === "" ? cause.name : cause.message
  return code === undefined || text.includes(code) ? text : `${code}: ${text}`
}

const codesBeforeSending = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"])

/** Whether a failure says that the connection never came to be. */
export const isUnsent = ({ reason }: HttpClientError): boolean => {
  let cause: unknown = "cause" in reason ? reason.cause : undefined
  for (let depth = 0; depth < maxDepth && cause instanceof Error; depth++) {
    if ("code" in cause && typeof cause.code === "string" && codesBeforeSending.has(cause.code)) return true
    cause = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors[0] : cause.cause
  }
  return false
}

/** The words of the innermost cause, or `otherwise`. */
export const wordsWithin = (cause: unknown, otherwise: string): string => {
  let words = otherwise
  for (let depth = 0; depth < maxDepth && cause instanceof Error; depth++) {
    words = wordsOf(cause)
    cause = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors[0] : cause.cause
  }
  return words
}

/** The words of the innermost cause of a failure: the outer ones say little more than "fetch failed". */
export const innermost = ({ reason }: HttpClientError): string => {
  const described = "description" in reason && typeof reason.description === "string" ? reason.description : undefined
  return wordsWithin("cause" in reason ? reason.cause : undefined, described ?? reason._tag)
}
