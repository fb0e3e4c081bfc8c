/**
 * Answering from a log of exchanges.
 */
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import { isSecret } from "@mcp-effect/protocol/SecretName"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { Entry } from "../ExchangeLog.ts"
import { Transport } from "../Transport.ts"
import { Closed, TransportError } from "../TransportError.ts"
import * as Envelope from "./envelope.ts"

const hidden = (_key: string, value: unknown): unknown =>
  Envelope.isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, member]) => [
          name,
          typeof member === "string" && isSecret(name) ? "<redacted>" : member
        ])
      )
    : value

/** A copy of a message with secret-looking members hidden. */
export const redact = <M extends JsonRpc.Message>(message: M): M => JSON.parse(JSON.stringify(message, hidden))

export const isEntry = (value: unknown): value is Entry =>
  Envelope.isObject(value) &&
  typeof value["event"] === "string" &&
  typeof value["wire"] === "number" &&
  (value["event"] !== "sent" && value["event"] !== "heard"
    ? true
    : Result.isSuccess(JsonRpc.classify(value["message"])))

/** What makes two requests the same: all but the ids, which count differently each time. */
const signature = (request: JsonRpc.Request): string => {
  const { id, method, params } = redact(request)
  return JSON.stringify([method, params], (key, value: unknown) =>
    key === "progressToken" && value === id ? "<id>" : value
  )
}

const gone = (name: string, because: string) => new TransportError({ endpoint: name, reason: new Closed({ because }) })

export const make = (name: string, entries: ReadonlyArray<Entry>): Transport["Service"] => {
  let wires = 0
  return Transport.of({
    kind: "memory",
    endpoint: name,
    reopenable: true,
    open: (hear) =>
      Effect.gen(function* () {
        const wire = ++wires
        const past = entries.filter((entry) => entry.wire === wire)
        const used = new Set<Entry>()
        const ended = Deferred.makeUnsafe<never, TransportError>()
        let closed: TransportError | undefined
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            closed = gone(name, "this side closed it")
            Deferred.doneUnsafe(ended, Exit.fail(closed))
          })
        )
        return {
          ended: Deferred.await(ended),
          send: () => (closed === undefined ? Effect.void : Effect.fail(closed)),
          exchange: (request, { interim = hear }) =>
            Effect.suspend(() => {
              if (closed !== undefined) return Effect.fail(closed)
              const wanted = signature(request)
              const at = past.findIndex(
                (entry) =>
                  entry.event === "sent" &&
                  !used.has(entry) &&
                  JsonRpc.isRequest(entry.message) &&
                  signature(entry.message) === wanted
              )
              const asked = past[at]
              if (asked?.event !== "sent" || !JsonRpc.isRequest(asked.message)) {
                return Effect.fail(gone(name, `the log holds no further ${request.method} with these parameters`))
              }
              used.add(asked)
              const { id } = asked.message
              for (const entry of past.slice(at + 1)) {
                if (entry.event === "failed" && entry.id === id) {
                  return Effect.fail(gone(name, `the log holds a failure: ${entry.because}`))
                }
                if (entry.event !== "heard") continue
                const { message } = entry
                if (JsonRpc.isResponse(message)) {
                  if (message.id === id) return Effect.succeed({ ...message, id: request.id })
                } else if (!JsonRpc.isRequest(message) && message.params?.["progressToken"] === id) {
                  interim({ ...message, params: { ...message.params, progressToken: request.id } })
                } else if (!used.has(entry)) {
                  used.add(entry)
                  hear(message)
                }
              }
              return Effect.fail(gone(name, "the log ends before the answer"))
            })
        }
      })
  })
}
