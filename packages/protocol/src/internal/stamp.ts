/**
 * `_meta` of requests: in the modern era the three keys of identity on each one, in the legacy era none of them.
 */
import type { JsonObject } from "../JsonRpc.ts"
import * as Meta from "../Meta.ts"
import { isObject } from "./node.ts"

interface Extra {
  readonly progressToken?: string | number
  readonly logLevel?: string
  readonly meta?: JsonObject
}

type Stamp = (params: JsonObject | undefined, extra?: Extra) => JsonObject | undefined

const metaOf = (params: JsonObject | undefined): JsonObject | undefined => {
  const found = params !== undefined && Object.hasOwn(params, "_meta") ? params["_meta"] : undefined
  return isObject(found) ? found : undefined
}

const withoutReserved = (meta: JsonObject): JsonObject =>
  Meta.reserved.some((key) => Object.hasOwn(meta, key))
    ? Object.fromEntries(Object.entries(meta).filter(([key]) => !Meta.reserved.includes(key)))
    : meta

const ofCaller = (params: JsonObject | undefined, extra: Extra | undefined): JsonObject => {
  const merged = { ...metaOf(params), ...extra?.meta }
  const token = extra?.progressToken
  return withoutReserved(token === undefined ? merged : { ...merged, [Meta.progressToken]: token })
}

/** Stamps each request with who sends it. */
export const modern = (identity: JsonObject): Stamp => {
  const constant = { ...identity }
  return (params, extra) => {
    if (extra === undefined && metaOf(params) === undefined) return { ...params, _meta: constant }
    const level = extra?.logLevel
    const asked = level === undefined ? constant : { ...constant, [Meta.logLevel]: level }
    return { ...params, _meta: { ...ofCaller(params, extra), ...asked } }
  }
}

/** Passes on what the caller put into `_meta`, but for the keys of the modern era. */
export const legacy: Stamp = (params, extra) => {
  const meta = metaOf(params)
  if (extra === undefined && meta === undefined) return params
  const kept = ofCaller(params, extra)
  if (Object.keys(kept).length > 0) return { ...params, _meta: kept }
  if (params === undefined) return undefined
  const { _meta: _, ...rest } = params
  return Object.keys(rest).length > 0 ? rest : undefined
}
