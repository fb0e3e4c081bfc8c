/**
 * What stands in the `data` of an error whose code defines it (M-ERR).
 *
 * Any other error is `Other`: its code, message and data stay as they came. Nothing is ever read from a message's text.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Capabilities from "./Capabilities.ts"
import * as Elicitation from "./Elicitation.ts"
import * as ErrorCode from "./ErrorCode.ts"
import { decoder } from "./internal/lenient.ts"
import { isObject } from "./internal/node.ts"
import type { ErrorObject } from "./JsonRpc.ts"

/**
 * An error that a peer answered with, and what its code means by `data`.
 *
 * @category models
 * @since 0.1.0
 */
export type ErrorData = Data.TaggedEnum<{
  /** The version of the request is not spoken (M-ERR-9). `supported` is empty when the server gave no usable list. */
  UnsupportedProtocolVersion: {
    readonly error: ErrorObject
    readonly supported: ReadonlyArray<string>
    readonly requested: string | undefined
  }
  /** The request must declare more (M-ERR-10). Empty when the server did not say what. */
  MissingRequiredClientCapability: {
    readonly error: ErrorObject
    readonly requiredCapabilities: Capabilities.Client
  }
  /** Headers and body disagree (M-ERR-11). */
  HeaderMismatch: { readonly error: ErrorObject }
  /** The user must visit these addresses before the request is sent again; 2025-11-25 (L-ELI-8). */
  UrlElicitationRequired: {
    readonly error: ErrorObject
    readonly elicitations: ReadonlyArray<Elicitation.UrlParams>
  }
  /** There is no such resource; legacy era. A modern server answers `InvalidParams` (L-RES-3). */
  ResourceNotFound: { readonly error: ErrorObject; readonly uri: string | undefined }
  /** Anything else; `name` is that of a code the protocol knows. */
  Other: { readonly error: ErrorObject; readonly name: string | undefined }
}>

/**
 * Constructors and matchers of `ErrorData`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ErrorData = Data.taggedEnum<ErrorData>()

const decodeCapabilities = decoder(Capabilities.Client)
const decodeUrlParams = decoder(Elicitation.UrlParams)

const own = (error: ErrorObject, key: string): unknown =>
  isObject(error.data) && Object.hasOwn(error.data, key) ? error.data[key] : undefined

const ownString = (error: ErrorObject, key: string): string | undefined => {
  const found = own(error, key)
  return typeof found === "string" ? found : undefined
}

/**
 * The versions that an error names in `data.supported`, whatever its code: an older server refuses `initialize` with
 * `InvalidParams` and such a list (L-LIFE-5). Empty when there is none.
 *
 * @category accessors
 * @since 0.1.0
 */
export const supportedVersions = (error: ErrorObject): ReadonlyArray<string> => {
  const found = own(error, "supported")
  return Array.isArray(found) ? found.filter((version) => typeof version === "string") : []
}

const requiredCapabilities = (error: ErrorObject): Capabilities.Client => {
  const decoded = decodeCapabilities(own(error, "requiredCapabilities"))
  return Result.isSuccess(decoded) ? decoded.success.value : {}
}

const elicitations = (error: ErrorObject): ReadonlyArray<Elicitation.UrlParams> => {
  const found = own(error, "elicitations")
  return (Array.isArray(found) ? found : []).flatMap((each: unknown) => {
    const decoded = decodeUrlParams(each)
    return Result.isSuccess(decoded) ? [decoded.success.value] : []
  })
}

/**
 * Reads the `data` of an error by its code.
 *
 * @example
 * import * as ErrorData from "@mcp-effect/protocol/ErrorData"
 *
 * ErrorData.of({ code: -32022, message: "no", data: { supported: ["2026-07-28"], requested: "2027-01-01" } })
 *
 * @category decoding
 * @since 0.1.0
 */
export const of = (error: ErrorObject): ErrorData => {
  switch (error.code) {
    case ErrorCode.UnsupportedProtocolVersion:
      return ErrorData.UnsupportedProtocolVersion({
        error,
        supported: supportedVersions(error),
        requested: ownString(error, "requested")
      })
    case ErrorCode.MissingRequiredClientCapability:
      return ErrorData.MissingRequiredClientCapability({ error, requiredCapabilities: requiredCapabilities(error) })
    case ErrorCode.HeaderMismatch:
      return ErrorData.HeaderMismatch({ error })
    case ErrorCode.UrlElicitationRequired:
      return ErrorData.UrlElicitationRequired({ error, elicitations: elicitations(error) })
    case ErrorCode.ResourceNotFound:
      return ErrorData.ResourceNotFound({ error, uri: ownString(error, "uri") })
    default:
      return ErrorData.Other({ error, name: ErrorCode.nameOf(error.code) })
  }
}
