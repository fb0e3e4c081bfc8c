/**
 * How changes are heard over one session, in the way of its era. A hold lives as long as its wire.
 */
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type { Standing, Wire } from "@mcp-effect/transport/Transport"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Limits from "../Limits.ts"
import type { McpClientError } from "../McpClientError.ts"
import type { Connection } from "./connection.ts"
import type { Session } from "./session.ts"
import * as Subscription from "./subscription.ts"
import * as Topic from "./topic.ts"

export interface Hold {
  readonly wire: Wire
  /** Makes what the server reports fit what is wanted. Fails when that should be tried again later. */
  readonly settle: (wanted: Topic.Topics) => Effect.Effect<void, McpClientError>
  /** What the server does not report, and why. */
  readonly refused: ReadonlyMap<Topic.Topic, string>
  /** Takes a notification that belongs to no request. */
  readonly hear: (notification: JsonRpc.Notification) => void
  readonly close: Effect.Effect<void>
}

export interface Options {
  readonly connection: Connection
  readonly server: string
  readonly scope: Scope.Scope
  readonly report: (notification: JsonRpc.Notification) => void
  /** Is told when what was settled no longer holds. */
  readonly unsettled: () => void
  /** Is told when changes may have been missed. */
  readonly missed: () => void
}

export const make = (options: Options, session: Session): Hold =>
  session.revision.supports(Subscription.method) ? listening(options, session) : subscribing(options, session)

/** What to do with a server that will not do it: ask no more. `undefined` means: later it may. */
const refusal = ({ reason }: McpClientError): string | undefined => {
  if (reason._tag === "ServerError") return reason.code === ErrorCode.InternalError ? undefined : reason.message
  if (reason._tag !== "WireFailed" || reason.cause.reason._tag !== "HttpRejected") return undefined
  const { status } = reason.cause.reason
  const passes = [401, 403, 407, 408, 425, 429].includes(status) || (status >= 500 && status !== 501)
  return passes ? undefined : reason.message
}

/** Keeps the notes on what is refused to what is wanted, and says what is left to ask for. */
const askable = (
  wanted: Topic.Topics,
  refused: Map<Topic.Topic, string>,
  { agreement }: Session
): ReadonlySet<Topic.Topic> => {
  for (const topic of refused.keys()) if (!wanted.has(topic)) refused.delete(topic)
  for (const topic of wanted) {
    if (!Topic.isAnnounced(topic, agreement.capabilities))
      refused.set(topic, "the server does not announce that it does")
  }
  return new Set([...wanted].filter((topic) => !refused.has(topic)))
}

/** One subscription for all that is wanted (T-34); when that changes, the new one is there before the old one goes. */
const listening = (options: Options, session: Session): Hold => {
  const { connection, report, scope, server, unsettled } = options
  const refused = new Map<Topic.Topic, string>()
  let current: Subscription.Subscription | undefined

  const closeCurrent = Effect.suspend(() => {
    const { close } = current ?? { close: Effect.void }
    current = undefined
    return close
  })

  /** A refusal speaks of what was not granted before; what is granted stays. */
  const refuse = (asked: Topic.Topics) => (error: McpClientError) =>
    Effect.suspend(() => {
      const because = refusal(error)
      if (because === undefined) return Effect.fail(error)
      for (const topic of asked) if (current?.granted.has(topic) !== true) refused.set(topic, because)
      return Effect.void
    })

  const open = Effect.fnUntraced(function* (asked: Topic.Topics) {
    const next = yield* Subscription.open({ connection, server, scope, asked, report, ended: unsettled })
    yield* closeCurrent
    for (const topic of asked) {
      if (!next.granted.has(topic)) refused.set(topic, "the server left it out of its acknowledgement")
    }
    current = next
    if (next.granted.size === 0) yield* closeCurrent
  })

  return {
    wire: session.wire,
    refused,
    hear: ({ method, params }) => {
      if (method === "notifications/cancelled") current?.cancelled(params?.["requestId"])
    },
    close: closeCurrent,
    settle: Effect.fnUntraced(function* (wanted) {
      const over = current?.over()
      if (current !== undefined && over !== undefined) {
        const { granted } = current
        current = undefined
        yield* refuse(granted)(over)
      }
      const asked = askable(wanted, refused, session)
      if (asked.size === 0) yield* closeCurrent
      else if (current === undefined || !Topic.isSame(asked, current.granted)) {
        yield* Effect.catch(open(asked), refuse(asked))
      }
    })
  }
}

/** How long the server's own stream may take to open. Some servers say nothing at all on it before the first event. */
const openPatience = "1 second"

/** The stream on which a server reports, where that is not the one line that carries everything. */
const streamOf = ({ missed, unsettled }: Options, { wire }: Session) => {
  const known = Deferred.makeUnsafe<void>()
  let standing: Standing | undefined
  let isLate = false
  const stop = wire.standing?.((now) => {
    // Nobody waited for it, so what was said before this was known is lost.
    const late = isLate && standing === undefined
    standing = now
    Deferred.doneUnsafe(known, Exit.void)
    if (now.missed || late) missed()
    if (now._tag === "None") unsettled()
  })
  if (stop === undefined) return undefined
  return {
    /** Waits until it is known how it stands, within bounds. */
    ready: Effect.suspend(() =>
      isLate || standing !== undefined
        ? Effect.void
        : Effect.map(Effect.timeoutOption(Deferred.await(known), openPatience), (opened) => {
            isLate = Option.isNone(opened)
          })
    ),
    /** Why nothing can be heard. */
    silence: () =>
      standing?._tag === "None" ? `the server has no stream to report it on: ${standing.because}` : undefined,
    stop
  }
}

/** Lists are reported unasked; each resource has a subscription of its own, made once however many want it. */
const subscribing = (options: Options, session: Session): Hold => {
  const { connection, report } = options
  const refused = new Map<Topic.Topic, string>()
  /** The same, and what is not heard although the server would say it. */
  const unheard = new Map<Topic.Topic, string>()
  const subscribed = new Set<string>()
  const stream = streamOf(options, session)

  const ask = Effect.fnUntraced(function* (method: "resources/subscribe" | "resources/unsubscribe", uri: string) {
    const limit = Duration.toMillis(yield* Defaults.RequestTimeout)
    yield* connection.request(method, { uri }, { limit: { idle: limit, total: limit }, repeatable: true })
  })

  const subscribe = (uri: string) =>
    ask("resources/subscribe", uri).pipe(
      Effect.andThen(Effect.sync(() => subscribed.add(uri))),
      Effect.catch((error) => {
        const because = refusal(error)
        return because === undefined ? Effect.fail(error) : Effect.sync(() => refused.set(Topic.at(uri), because))
      })
    )

  return {
    wire: session.wire,
    refused: unheard,
    hear: report,
    close: Effect.sync(() => stream?.stop()),
    settle: Effect.fnUntraced(function* (wanted) {
      const uris = Topic.urisOf(askable(wanted, refused, session))
      for (const uri of subscribed) {
        if (uris.includes(uri)) continue
        subscribed.delete(uri)
        yield* Effect.ignore(ask("resources/unsubscribe", uri))
      }
      yield* Effect.forEach(
        uris.filter((uri) => !subscribed.has(uri)),
        subscribe,
        { concurrency: yield* Limits.SubscribeConcurrency, discard: true }
      )
      if (stream !== undefined && wanted.size > 0) yield* stream.ready
      const silence = stream?.silence()
      unheard.clear()
      for (const topic of wanted) {
        const because = refused.get(topic) ?? silence
        if (because !== undefined) unheard.set(topic, because)
      }
    })
  }
}
