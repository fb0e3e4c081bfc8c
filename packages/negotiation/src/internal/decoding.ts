import * as Discover from "@mcp-effect/protocol/Discover"
import * as Initialize from "@mcp-effect/protocol/Initialize"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Result from "effect/Result"

/** A DiscoverResult that names a version at all; an empty list is no evidence of anything (P5). */
export const decodeDiscover = (result: JsonObject): Discover.DiscoverResult | undefined => {
  const decoded = Discover.decode(result)
  return Result.isSuccess(decoded) && decoded.success.value.supportedVersions.length > 0
    ? decoded.success.value
    : undefined
}

export const decodeInitialize = (result: JsonObject): Initialize.InitializeResult | undefined => {
  const decoded = Initialize.decode(result)
  return Result.isSuccess(decoded) ? decoded.success.value : undefined
}
