/**
 * What a server says unasked: its own requests (legacy era), and notifications.
 *
 * `ping` is answered; any other request of the server is refused with "method not found", since this client declares no
 * capability that would allow it. Where the revision knows no requests of the server, nothing is written back.
 */
import { Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type * as Progress from "@mcp-effect/protocol/Progress"
import type { Revision } from "@mcp-effect/protocol/Revision"
import type { Incoming, Wire } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"

/** The wire in use and the revision spoken on it; absent while nothing is open. */
export interface Current {
  readonly wire: Wire
  readonly revision: Revision
}

export interface Inbound {
  /** Takes what belongs to no exchange. */
  readonly hear: (message: Incoming) => void
  /** Takes what belongs to one exchange. */
  readonly interim: (
    revision: Revision,
    onProgress: ((progress: Progress.Params) => void) | undefined
  ) => (message: Incoming) => void
  /** Says where to answer. */
  readonly attach: (current: () => Current | undefined) => void
}

export const make = Effect.fnUntraced(function* (server: string): Effect.fn.Return<Inbound, never, Scope.Scope> {
  const run = yield* FiberSet.makeRuntime<never>()
  const report = yield* Diagnostics
  let current: () => Current | undefined = () => undefined

  const answer = (request: JsonRpc.Request) => {
    const at = current()
    if (at === undefined || !at.revision.habits.serverRequests) {
      const because = "a server may not send requests here"
      run(report(Diagnostic.UnexpectedMessage({ server, method: request.method, because })))
      return
    }
    run(at.wire.send(responseTo(request), at.revision).pipe(Effect.ignore))
  }

  const hear = (message: Incoming) => {
    if ("id" in message) answer(message)
  }

  return {
    hear,
    interim: (revision, onProgress) => (message) => {
      if ("id" in message) return answer(message)
      if (onProgress === undefined || message.method !== "notifications/progress") return hear(message)
      const heard = revision.hear(message.method, message.params)
      if (Result.isSuccess(heard) && heard.success.method === "notifications/progress") onProgress(heard.success.params)
    },
    attach: (where) => {
      current = where
    }
  }
})

const responseTo = ({ id, method }: JsonRpc.Request): JsonRpc.Response =>
  method === "ping"
    ? { jsonrpc: "2.0", id, result: {} }
    : { jsonrpc: "2.0", id, error: { code: ErrorCode.MethodNotFound, message: `this client does not offer ${method}` } }
