/** Requests that nobody waits for any more, so that their late answers are dropped silently (T-RPC-1). */
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Envelope from "./envelope.ts"

/** How many are remembered. */
const most = 1_024

export interface Abandoned {
  readonly add: (id: JsonRpc.RequestId) => void
  readonly has: (id: JsonRpc.RequestId) => boolean
  /** Forgets it; whether it was remembered. */
  readonly forget: (id: JsonRpc.RequestId) => boolean
}

export const make = (): Abandoned => {
  const ids = new Set<JsonRpc.RequestId>()
  return {
    add: (id) => {
      ids.add(id)
      if (ids.size <= most) return
      for (const oldest of ids) {
        ids.delete(oldest)
        return
      }
    },
    has: (id) => Envelope.keyIn(ids, id) !== undefined,
    forget: (id) => {
      const key = Envelope.keyIn(ids, id)
      return key !== undefined && ids.delete(key)
    }
  }
}
