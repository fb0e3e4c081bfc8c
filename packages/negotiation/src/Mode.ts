/**
 * How a connection starts: ask and adapt, insist on the modern era, shake hands at once, or take a version for granted.
 *
 * A mode is checked against the terms before anything is sent. Only modern versions can be pinned, and a legacy version
 * written as a literal does not even compile as a pin.
 *
 * @since 0.1.0
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type * as Version from "@mcp-effect/protocol/Version"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { isObject } from "./internal/versions.ts"
import { ModeInvalid } from "./Reason.ts"
import * as Terms from "./Terms.ts"

/**
 * A mode.
 *
 * @category models
 * @since 0.1.0
 */
export type Mode = Data.TaggedEnum<{
  /** Ask `server/discover`, else shake hands. A `prior` verdict that still holds skips the question. */
  Auto: { readonly prior: unknown }
  /** Ask `server/discover`, and never fall back. */
  Modern: {}
  /** Shake hands, and send nothing before that. `offer` is the version to begin with; the newest, unless given. */
  Legacy: { readonly offer: string | undefined }
  /**
   * Take the version for granted and send nothing. `prior`, a saved DiscoverResult or verdict, brings identity and
   * capabilities along; `verify` asks once whether the server agrees.
   */
  Pin: { readonly version: string; readonly verify: boolean; readonly prior: unknown }
}>

/**
 * Constructors and matchers of `Mode`. The lower-case ones below say less.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Mode = Data.taggedEnum<Mode>()

/**
 * Anything but a version of the handshake era: the type of a literal legacy version is `never`.
 *
 * @category models
 * @since 0.1.0
 */
export type Pinnable<V extends string> = V extends Version.Legacy ? never : V

/**
 * What a program may write for a mode.
 *
 * @category models
 * @since 0.1.0
 */
export type Input = "auto" | "modern" | "legacy" | Version.Modern | Mode

/**
 * Ask, and adapt to what is heard. The default.
 *
 * @category constructors
 * @since 0.1.0
 */
export const auto: Mode = Mode.Auto({ prior: undefined })

/**
 * The same, beginning from a saved verdict. `null` and `undefined` count as none; anything else that is no verdict fails
 * with `PriorInvalid` before any I/O.
 *
 * @category constructors
 * @since 0.1.0
 */
export const autoFrom = (prior: unknown): Mode => Mode.Auto({ prior })

/**
 * Only the modern era.
 *
 * @category constructors
 * @since 0.1.0
 */
export const modern: Mode = Mode.Modern()

/**
 * Only the handshake.
 *
 * @category constructors
 * @since 0.1.0
 */
export const legacy = (options: { readonly offer?: string } = {}): Mode => Mode.Legacy({ offer: options.offer })

/**
 * A modern version, taken for granted.
 *
 * @example
 * ```ts
 * import * as Mode from "@mcp-effect/negotiation/Mode"
 *
 * Mode.pin("2026-07-28")
 * Mode.pin("2026-07-28", { verify: true })
 * // Mode.pin("2025-06-18") does not compile
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const pin = <const V extends string>(
  version: V & Pinnable<V>,
  options: { readonly verify?: boolean; readonly prior?: JsonObject | null } = {}
): Mode => Mode.Pin({ version, verify: options.verify ?? false, prior: options.prior })

const shown = (input: unknown): string =>
  typeof input === "string" ? input : input === null ? "null" : `a value of type ${typeof input}`

const isMode = (input: unknown): input is Mode => {
  if (!isObject(input)) return false
  switch (input["_tag"]) {
    case "Auto":
    case "Modern":
      return true
    case "Legacy":
      return input["offer"] === undefined || typeof input["offer"] === "string"
    case "Pin":
      return typeof input["version"] === "string"
    default:
      return false
  }
}

/**
 * The mode a program, a file or a command line asks for, checked against the terms. Nothing is sent before this holds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromInput = (input: unknown, terms: Terms.Terms): Result.Result<Mode, ModeInvalid> => {
  const refuse = (got: string, because?: string) =>
    Result.fail(
      new ModeInvalid({ got: excerpt(got), modern: terms.modern, ...(because === undefined ? {} : { because }) })
    )
  const check = (mode: Mode, got: string): Result.Result<Mode, ModeInvalid> => {
    switch (mode._tag) {
      case "Auto":
        return terms.modern.length + terms.legacy.length === 0
          ? refuse(got, "this client speaks no version at all")
          : Result.succeed(mode)
      case "Legacy":
        if (terms.legacy.length === 0) return refuse(got, "this client speaks no version of the handshake era")
        return mode.offer === undefined || terms.legacy.includes(mode.offer)
          ? Result.succeed(mode)
          : refuse(
              got,
              `'${excerpt(mode.offer)}' cannot be offered in a handshake; offer one of ${terms.legacy.join(", ")}`
            )
      case "Modern":
        if (terms.kind === "sse") return refuse(got, "the transport 'sse' belongs to the handshake era; use 'http'")
        return terms.modern.length === 0 ? refuse(got, "this client speaks no modern version") : Result.succeed(mode)
      case "Pin": {
        const version = excerpt(mode.version)
        if (Terms.isHandshakeEra(terms, mode.version))
          return refuse(mode.version, `'${version}' is a handshake-era version; use mode 'legacy'`)
        if (!terms.modern.includes(mode.version)) return refuse(mode.version)
        return terms.kind === "sse"
          ? refuse(mode.version, "the transport 'sse' belongs to the handshake era; use 'http'")
          : Result.succeed(mode)
      }
    }
  }
  if (isMode(input)) return check(input, input._tag.toLowerCase())
  switch (input) {
    case "auto":
      return check(auto, input)
    case "modern":
      return check(modern, input)
    case "legacy":
      return check(legacy(), input)
    default:
      return typeof input === "string"
        ? check(Mode.Pin({ version: input, verify: false, prior: undefined }), input)
        : refuse(shown(input))
  }
}
