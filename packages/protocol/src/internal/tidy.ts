/**
 * What is straightened before a result is decoded, because the member is required in the model and real servers get it
 * wrong: the kind of result, the cache hints, a missing list (L-DEV-28, T-LIST-7).
 */
import type { JsonObject } from "../JsonRpc.ts"

const own = (value: JsonObject, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)

/** A number of milliseconds: whole, not negative, 0 when it is no number. */
const milliseconds = (value: unknown): number =>
  typeof value === "number" && value > 0 ? Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER) : 0

const scope = (value: unknown): string => (value === "public" ? "public" : "private")

/** The members of a result that are filled in. */
export interface Tidying {
  /** It carries cache hints. */
  readonly cached?: boolean
  /** Lists that are empty when they are absent or null. */
  readonly lists?: ReadonlyArray<string>
}

/** The result with what was missing filled in; the same object when nothing was. */
export const tidy = (result: JsonObject, { cached, lists }: Tidying): JsonObject => {
  let tidied = filled(result, "resultType", "complete")
  if (cached === true) {
    tidied = filled(tidied, "ttlMs", milliseconds(own(result, "ttlMs")))
    tidied = filled(tidied, "cacheScope", scope(own(result, "cacheScope")))
  }
  if (lists !== undefined) for (const key of lists) tidied = filled(tidied, key, own(result, key) ?? [])
  return tidied
}

const filled = (result: JsonObject, key: string, value: unknown): JsonObject =>
  own(result, key) === value ? result : { ...result, [key]: value }
