/**
 * `server/discover`: what a modern server speaks and can do (M-DISC).
 *
 * A `DiscoverResult` is plain JSON: it can be stored, and read again by `decode` in another process.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Capabilities from "./Capabilities.ts"
import * as Implementation from "./Implementation.ts"
import { decoder, type Decoded } from "./internal/lenient.ts"
import { isObject } from "./internal/node.ts"
import { anyMeta, cacheHints, list, maybe, open, result } from "./internal/shape.ts"
import { tidy } from "./internal/tidy.ts"
import type { JsonObject } from "./JsonRpc.ts"
import * as Meta from "./Meta.ts"
import { InvalidResult } from "./ProtocolError.ts"

/**
 * Asks a server what it is; no parameters of its own.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = open({ _meta: anyMeta })

/**
 * What a modern server speaks and can do.
 *
 * @category schemas
 * @since 0.1.0
 */
export const DiscoverResult = result({
  /** The versions the server speaks; legacy ones may be among them (M-VER-14). */
  supportedVersions: list(Schema.String),
  capabilities: Capabilities.Server,
  /** Help for a language model, untrusted. */
  instructions: maybe(Schema.String),
  ...cacheHints
})

/**
 * What a modern server speaks and can do.
 *
 * @category models
 * @since 0.1.0
 */
export interface DiscoverResult extends Schema.Schema.Type<typeof DiscoverResult> {}

const decodeResult = decoder(DiscoverResult)
const decodeImplementation = decoder(Implementation.Implementation)

const invalid = (pointer: string, because: string) =>
  Result.fail(new InvalidResult({ method: "server/discover", pointer, because }))

/**
 * Reads the answer to `server/discover`, leniently (rows P4 and P5 of the table of negotiation): it counts when
 * `supportedVersions` is an array of strings (others in it are left out) and `capabilities` an object. Cache hints that
 * are missing or no numbers read as 0 and `private`, an absent `resultType` as `complete`.
 *
 * Fails with `InvalidResult` when it is no `DiscoverResult`; never throws.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = (answer: unknown): Result.Result<Decoded<DiscoverResult>, InvalidResult> => {
  if (!isObject(answer)) return invalid("", "expected an object")
  const type = Object.hasOwn(answer, "resultType") ? answer["resultType"] : undefined
  if (typeof type === "string" && type !== "complete") return invalid("/resultType", 'expected "complete"')
  const versions = Object.hasOwn(answer, "supportedVersions") ? answer["supportedVersions"] : undefined
  if (!Array.isArray(versions)) return invalid("/supportedVersions", "expected an array of strings")
  if (versions.length > 0 && !versions.some((version) => typeof version === "string")) {
    return invalid("/supportedVersions", "expected an array of strings")
  }
  return Result.mapError(
    decodeResult(tidy(answer, { cached: true })),
    ({ pointer, because }) => new InvalidResult({ method: "server/discover", pointer, because })
  )
}

/**
 * Who answered: read from `_meta`, else from a `serverInfo` beside it as early servers wrote it (T-47). `undefined` when
 * the server did not say, or not in a readable way; a client works without it.
 *
 * @category accessors
 * @since 0.1.0
 */
export const serverInfo = (answer: JsonObject): Implementation.Implementation | undefined => {
  const meta = Object.hasOwn(answer, "_meta") ? answer["_meta"] : undefined
  const inMeta = isObject(meta) && Object.hasOwn(meta, Meta.serverInfo) ? meta[Meta.serverInfo] : undefined
  const beside = Object.hasOwn(answer, "serverInfo") ? answer["serverInfo"] : undefined
  for (const candidate of [inMeta, beside]) {
    const decoded = decodeImplementation(candidate)
    if (Result.isSuccess(decoded)) return decoded.success.value
  }
  return undefined
}
