/**
 * The log messages of a server, decoded, with the request they belong to where the wire tells.
 */
import { Diagnostic, reporter } from "@mcp-effect/protocol/Diagnostic"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Revision from "@mcp-effect/protocol/Revision"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Limits from "../Limits.ts"
import { type LoggedRequest, type ServerLog, toLogger } from "../ServerLog.ts"
import type { Inbound, Listener } from "./inbound.ts"

export interface Logs {
  readonly stream: Stream.Stream<ServerLog>
  /** Everything that is heard, as it came. */
  readonly notifications: Stream.Stream<JsonRpc.Notification>
  /** Makes what hears the notifications of one request, so that its log messages are known as its own. */
  readonly owned: (
    method: string,
    params: JsonRpc.JsonObject,
    onNotification: Listener | undefined
  ) => Listener | undefined
}

const method = "notifications/message"

/** All revisions read alike, so messages can be read before one is agreed. */
const { hear } = Revision.v2026_07_28

const targetOf = (params: JsonRpc.JsonObject): string | undefined => {
  const target = params["name"] ?? params["uri"]
  return typeof target === "string" ? target : undefined
}

type Listen<A> = (listener: (heard: A) => void) => () => void

/**
 * Makes streams of what listeners hear, which end with the scope. What waited for a slow reader is still given after the
 * end; the oldest past `NotificationBuffer` is lost.
 */
const streaming = Effect.gen(function* () {
  const open = new Set<() => void>()
  let closed = false
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closed = true
      for (const end of open) end()
    })
  )
  return <A>(listen: Listen<A>): Stream.Stream<A> =>
    Stream.unwrap(
      Effect.map(Limits.NotificationBuffer, (bufferSize) =>
        Stream.callback<A>(
          (queue) =>
            Effect.acquireRelease(
              Effect.sync(() => {
                const end = () => void Queue.endUnsafe(queue)
                if (closed) end()
                else open.add(end)
                const stop = listen((heard) => void Queue.offerUnsafe(queue, heard))
                return () => {
                  open.delete(end)
                  stop()
                }
              }),
              (stop) => Effect.sync(stop)
            ),
          { bufferSize, strategy: "sliding" }
        )
      )
    )
})

export const make = Effect.fnUntraced(function* (
  server: string,
  inbound: Inbound,
  forward: boolean
): Effect.fn.Return<Logs, never, Scope.Scope> {
  const report = yield* reporter
  const listeners = new Set<(log: ServerLog) => void>()
  /** The request that the message heard next belongs to: its own listener hears it first. */
  let owner: LoggedRequest | undefined

  const stop = inbound.listen((message) => {
    if (message.method !== method || listeners.size === 0) return
    const request = owner
    owner = undefined
    const heard = hear(method, message.params)
    if (Result.isFailure(heard) || heard.success.method !== method) {
      const because = Result.isFailure(heard) ? heard.failure.message : "it is no log message"
      return report(Diagnostic.UnexpectedMessage({ server, method, because, dropped: 1 }))
    }
    const { data, level, logger } = heard.success.params
    for (const listener of listeners) listener({ level, logger, data, request })
  })
  yield* Effect.addFinalizer(() => Effect.sync(stop))

  const streamOf = yield* streaming
  const stream = streamOf<ServerLog>((listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  })
  if (forward) {
    yield* stream.pipe(
      Stream.runForEach((log) => toLogger(log, server)),
      Effect.forkScoped({ startImmediately: true })
    )
  }

  return {
    stream,
    notifications: streamOf(inbound.listen),
    owned: (asked, params, onNotification) => {
      if (listeners.size === 0) return onNotification
      const request: LoggedRequest = { method: asked, target: targetOf(params) }
      return (message) => {
        onNotification?.(message)
        if (message.method === method) owner = request
      }
    }
  }
})
