/**
 * One call as a stream of what happens during it. What a slow reader leaves lying is bounded: past `CallEventBuffer` the
 * oldest events are dropped and reported. The result comes last and is never dropped.
 */
import { Diagnostic, reporting } from "@mcp-effect/protocol/Diagnostic"
import type { InputRequired } from "@mcp-effect/protocol/InputRequired"
import type { Revision } from "@mcp-effect/protocol/Revision"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { CallEvent } from "../CallEvent.ts"
import * as Limits from "../Limits.ts"
import type { CallOptions } from "../McpClient.ts"
import type { McpClientError } from "../McpClientError.ts"

/** What hears the call. */
type Hearing = Required<Pick<CallOptions, "onProgress" | "onNotification">>

export interface Options {
  readonly server: string
  readonly name: string
  readonly how: CallOptions
  readonly revision: () => Revision
  readonly call: (
    hearing: Hearing,
    onRound: (asked: InputRequired) => void
  ) => Effect.Effect<Tool.CallResult, McpClientError>
}

export const make = ({ call, how, name, revision, server }: Options): Stream.Stream<CallEvent, McpClientError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const report = yield* reporting
      const bufferSize = yield* Limits.CallEventBuffer
      return Stream.callback<CallEvent, McpClientError>(
        (queue) => {
          let dropped = 0
          const offer = (event: CallEvent) => {
            if (Queue.sizeUnsafe(queue) >= bufferSize) dropped++
            Queue.offerUnsafe(queue, event)
          }
          const hearing: Hearing = {
            onProgress: (progress) => {
              offer(CallEvent.Progress({ progress }))
              how.onProgress?.(progress)
            },
            onNotification: (message) => {
              if (message.method === "notifications/message") {
                const heard = revision().hear(message.method, message.params)
                if (Result.isSuccess(heard) && heard.success.method === "notifications/message") {
                  offer(CallEvent.Log({ message: heard.success.params }))
                }
              }
              how.onNotification?.(message)
            }
          }
          return call(hearing, ({ inputRequests }) => offer(CallEvent.Asked({ questions: inputRequests }))).pipe(
            Effect.tap((result) => Effect.sync(() => offer(CallEvent.Result({ result })))),
            Effect.onExit(() =>
              Effect.suspend(() =>
                dropped === 0 ? Effect.void : report(Diagnostic.EventsDropped({ server, name, dropped }))
              )
            ),
            Effect.matchCauseEffect({
              onSuccess: () => Queue.end(queue),
              onFailure: (cause) => Queue.failCause(queue, cause)
            })
          )
        },
        { bufferSize, strategy: "sliding" }
      )
    })
  )
