/**
 * Exchanges over a line that carries everything.
 *
 * One table of open requests turns a pipe of messages into a wire: an answer goes to the request with its id, a
 * notification to the request whose progress token or subscription id it carries, all else to the listener. No fiber,
 * queue or stream is made per message.
 */
import { Diagnostic } from "@mcp-effect/protocol/Diagnostic"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Meta from "@mcp-effect/protocol/Meta"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Dialect, ExchangeOptions, Incoming, Plain, Wire } from "../Transport.ts"
import { MalformedReply, NotJson, type Reason, TransportError } from "../TransportError.ts"
import * as Abandoned from "./abandoned.ts"
import * as Envelope from "./envelope.ts"
import { exchanges } from "./plain.ts"

export interface Multiplexer {
  /** Takes a message of the peer. */
  readonly message: (message: JsonRpc.Message) => void
  /** Takes what is no message; true when it tried to answer a request, which then fails and shows `raw`. */
  readonly broken: (malformed: JsonRpc.Malformed, raw: () => string) => boolean
  /** Fails one request, if it is open. */
  readonly fail: (request: JsonRpc.Request, reason: Reason) => void
  /** The pipe has room again. */
  readonly drained: () => void
  /** The pipe is gone. Every open exchange fails with this reason; only the first call counts. */
  readonly ended: (reason: Reason) => void
  /** What the pipe ended with, if it has. */
  readonly end: () => TransportError | undefined
  /**
   * Makes the wire. `post` hands a message to the pipe; false means: taken, but no more until `drained`. Alone means that no
   * other request is open, so that probably none follows in this turn.
   */
  readonly wire: (post: (message: JsonRpc.Message, revision: Dialect, alone: boolean) => boolean) => Wire
}

/** What an exchange was begun with. */
interface Asked {
  readonly request: JsonRpc.Request
  readonly how: ExchangeOptions
  readonly settle: (exit: Exit.Exit<JsonRpc.Response, TransportError>) => void
}

/**
 * One exchange, emptied at its end: whatever was in a map when it last grew or shrank lives until the next full collection,
 * and what that refers to with it.
 */
interface Open {
  asked: Asked | undefined
}

const empty = (entry: Open): Asked | undefined => {
  const { asked } = entry
  entry.asked = undefined
  return asked
}

export const make = (options: {
  readonly endpoint: string
  readonly hear: (message: Incoming) => void
  readonly report: (diagnostic: Diagnostic) => void
}): Multiplexer => {
  const open = new Map<JsonRpc.RequestId, Open>()
  const abandoned = Abandoned.make()
  /** Who waits for room, each with what it then does. */
  const waiting = new Map<object, () => void>()
  const gone = Deferred.makeUnsafe<never, TransportError>()
  let end: TransportError | undefined
  let full = false

  const settle = (key: JsonRpc.RequestId, exit: Exit.Exit<JsonRpc.Response, TransportError>): boolean => {
    const entry = open.get(key)
    if (entry === undefined) return false
    open.delete(key)
    empty(entry)?.settle(exit)
    return true
  }

  const keyOf = (id: JsonRpc.RequestId | null): JsonRpc.RequestId | undefined => {
    if (id !== null) return Envelope.keyIn(open, id)
    // An error without an id can only mean the one request in flight (P15).
    return open.size === 1 ? open.keys().next().value : undefined
  }

  const unknown = (id: JsonRpc.RequestId | null) => {
    if (id !== null && abandoned.forget(id)) return
    options.report(Diagnostic.UnknownResponse({ server: options.endpoint, id, dropped: 1 }))
  }

  const response = (answer: JsonRpc.Response) => {
    const id = answer.id ?? null
    if (id !== null && settle(id, Exit.succeed(answer))) return
    const key = keyOf(id)
    if (key === undefined) unknown(id)
    else settle(key, Exit.succeed({ ...answer, id: key }))
  }

  const fail = (key: JsonRpc.RequestId, reason: Reason) =>
    settle(key, Exit.fail(new TransportError({ endpoint: options.endpoint, reason })))

  const broken = (malformed: JsonRpc.Malformed, raw: () => string): boolean => {
    const id = Envelope.triedToAnswer(malformed)
    // What is past a bound was not read, its id neither; it can only mean the one request in flight.
    const key = id !== undefined ? Envelope.keyIn(open, id) : Envelope.isExcessive(malformed) ? keyOf(null) : undefined
    if (key === undefined) return false
    fail(key, new MalformedReply({ because: malformed.because, excerpt: excerpt(raw()) }))
    return true
  }

  const incoming = (message: Incoming) => {
    const token = "id" in message ? undefined : tokenOf(message)
    if (token === undefined) return options.hear(message)
    const key = Envelope.keyIn(open, token)
    const interim = key === undefined ? undefined : open.get(key)?.asked?.how.interim
    if (interim !== undefined) interim(message)
    else if (!abandoned.has(token)) options.hear(message)
  }

  const wake = () => {
    for (const [one, proceed] of waiting) {
      if (full && end === undefined) return
      // One that went before it may have made it leave.
      if (waiting.delete(one)) proceed()
    }
  }

  return {
    message: (message) => {
      // What a server still says while it is ended is nobody's.
      if (end !== undefined) return
      if ("method" in message) incoming(message)
      else response(message)
    },
    broken,
    fail: (request, reason) => {
      // Another request may have its id by now.
      if (open.get(request.id)?.asked?.request === request) fail(request.id, reason)
    },
    end: () => end,
    drained: () => {
      full = false
      wake()
    },
    ended: (reason) => {
      if (end !== undefined) return
      end = new TransportError({ endpoint: options.endpoint, reason })
      const failure = Exit.fail(end)
      for (const key of open.keys()) settle(key, failure)
      wake()
      Deferred.doneUnsafe(gone, failure)
    },
    wire: (post) => {
      const notJson = (error: unknown) =>
        new TransportError({ endpoint: options.endpoint, reason: new NotJson({ because: String(error) }) })
      const room: Effect.Effect<void> = Effect.suspend(() =>
        full && end === undefined
          ? Effect.andThen(
              Effect.callback<void>((resume) => {
                const proceed = () => resume(Effect.void)
                waiting.set(proceed, proceed)
                return Effect.sync(() => void waiting.delete(proceed))
              }),
              room
            )
          : Effect.void
      )
      /** Why it could not be sent, if it could not. */
      const send = (message: JsonRpc.Message, revision: Dialect): TransportError | undefined => {
        try {
          full = !post(message, revision, open.size <= 1)
          return undefined
        } catch (error) {
          return notJson(error)
        }
      }
      const enter = (entry: Open): void => {
        const { asked } = entry
        if (asked === undefined) return
        const { how, request, settle: told } = asked
        const { id } = request
        if (end !== undefined) return told(Exit.fail(end))
        if (full) return void waiting.set(entry, () => enter(entry))
        if (open.has(id)) return told(Exit.die(new Error(`the id ${JSON.stringify(id)} is still in use`)))
        open.set(id, entry)
        const failed = send(request, how.revision)
        if (failed !== undefined) settle(id, Exit.fail(failed))
      }
      const leave = (entry: Open): void => {
        waiting.delete(entry)
        const asked = empty(entry)
        if (asked === undefined) return
        const { how, request } = asked
        const { id, method } = request
        if (open.get(id) !== entry) return
        open.delete(id)
        abandoned.add(id)
        if (end !== undefined || how.onInterrupt === "silent" || method === "initialize") return
        const params = { requestId: id, reason: "the caller stopped waiting" }
        send({ jsonrpc: "2.0", method: "notifications/cancelled", params }, how.revision)
      }
      const begin: Plain["begin"] = (request, how, _, settle) => {
        const entry: Open = { asked: { request, how, settle } }
        enter(entry)
        return () => {
          leave(entry)
          return Effect.void
        }
      }
      return {
        ...exchanges(begin),
        send: (message, revision) =>
          Effect.andThen(
            room,
            Effect.suspend(() => {
              if (end !== undefined) return Effect.fail(end)
              const failed = send(message, revision)
              return failed === undefined ? Effect.void : Effect.fail(failed)
            })
          ),
        ended: Deferred.await(gone)
      }
    }
  }
}

/** The request a notification belongs to, by its own words. */
const tokenOf = ({ method, params }: JsonRpc.Notification): JsonRpc.RequestId | undefined => {
  if (params === undefined) return undefined
  if (method === "notifications/progress") return idIn(params, "progressToken")
  const meta = Object.hasOwn(params, "_meta") ? params["_meta"] : undefined
  return Envelope.isObject(meta) ? idIn(meta, Meta.subscriptionId) : undefined
}

const idIn = (members: JsonRpc.JsonObject, key: string): JsonRpc.RequestId | undefined => {
  const value = Object.hasOwn(members, key) ? members[key] : undefined
  return typeof value === "string" || typeof value === "number" ? value : undefined
}
