/**
 * Who watches what, and the one fiber that sees to it that the server reports it: over the session in force, and again
 * over the next. It runs while somebody watches. How a session is told is the business of its `Hold`.
 */
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import type * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { Change, type Filter } from "../Change.ts"
import * as Limits from "../Limits.ts"
import { Disconnected, McpClientError, WireFailed } from "../McpClientError.ts"
import type { Connection } from "./connection.ts"
import * as Hold from "./hold.ts"
import type { Inbound } from "./inbound.ts"
import * as Mailbox from "./mailbox.ts"
import * as Pacer from "./pacer.ts"
import * as Topic from "./topic.ts"

/** One who watches. */
export interface Watch {
  readonly mailbox: Mailbox.Mailbox
  /** Waits until it is known what the server reports; what changes from then on is not missed. */
  readonly ready: Effect.Effect<void>
  /** Says that everything watched may have changed. */
  readonly missed: () => void
}

export interface Watching {
  /** Watches as long as the scope lives. */
  readonly watch: (filter: Filter) => Effect.Effect<Watch, never, Scope.Scope>
  readonly changes: (filter: Filter) => Stream.Stream<Change, McpClientError>
}

export interface Options {
  readonly server: string
  readonly connection: Connection
  readonly inbound: Inbound
  /** Whether a wire can be opened after this one is gone. */
  readonly reopenable: boolean
  /** When to ask again for what was lost. */
  readonly relisten: Schedule.Schedule<unknown, NegotiationError | McpClientError>
}

/** What follows a look: another one at once, or none before something happens. */
type Next = "look" | "rest"

interface Watcher extends Watch {
  readonly topics: Topic.Topics
  /** What it was told: why something is not reported, or `undefined` when it is. */
  readonly told: Map<Topic.Topic, string | undefined>
  readonly settled: Deferred.Deferred<void>
}

/** Most connections are never watched, so everything begins with the first who watches. */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Watching, never, Scope.Scope> {
  const context = yield* Effect.context<Scope.Scope>()
  let begun: Watching["watch"] | undefined
  const watch: Watching["watch"] = (filter) => Effect.suspend(() => (begun ??= begin(options, context))(filter))
  return {
    watch,
    changes: (filter) =>
      Stream.unwrap(Effect.map(watch(filter), ({ mailbox }) => Stream.fromPull(Effect.succeed(mailbox.take))))
  }
})

const begin = (options: Options, context: Context.Context<Scope.Scope>): Watching["watch"] => {
  const { connection, inbound, reopenable, server } = options
  const scope = Context.get(context, Scope.Scope)
  const steadyAfter = Duration.toMillis(Context.get(context, Limits.SteadyAfter))
  const patience = Context.get(context, Limits.WatchPatience)
  const most = Context.get(context, Limits.MaxPendingChanges)
  const watchers = new Set<Watcher>()
  const wake = Latch.makeUnsafe(false)
  const unsettled = () => void wake.openUnsafe()
  const pacer = Pacer.make(options.relisten)
  let isBounded = false
  let closed = false
  let keeping = false
  let hold: Hold.Hold | undefined
  let gone: TransportError | undefined
  let settledAt: number | undefined
  let heard = false

  const deliver = (topic: Topic.Topic) => {
    heard = true
    for (const { mailbox, topics } of watchers) if (topics.has(topic)) mailbox.put(topic, Topic.changeOf(topic))
  }

  const deliverUpdate = (uri: string) => {
    heard = true
    const topic = Topic.at(uri)
    for (const { mailbox, topics } of watchers) {
      if (topics.has(topic)) mailbox.put(topic, Change.ResourceUpdated({ uri }))
      else {
        const above = Topic.urisOf(topics).find((watched) => Topic.isBelow(uri, watched))
        if (above === undefined) continue
        const named = mailbox.size() < most ? uri : above
        mailbox.put(Topic.at(named), Change.ResourceUpdated({ uri: named }))
      }
    }
  }

  const report = ({ method, params }: JsonRpc.Notification) => {
    switch (method) {
      case "notifications/tools/list_changed":
        return deliver("tools")
      case "notifications/prompts/list_changed":
        return deliver("prompts")
      case "notifications/resources/list_changed":
        return deliver("resources")
      case "notifications/resources/updated": {
        const read = connection.session().revision.hear(method, params)
        if (Result.isSuccess(read) && read.success.method === method) deliverUpdate(read.success.params.uri)
      }
    }
  }

  /** Tells a watcher what is reported to it and what is not, as far as that is news. */
  const tell = ({ mailbox, told, topics }: Watcher, refused: ReadonlyMap<Topic.Topic, string>) => {
    const news = new Map<string | undefined, Set<Topic.Topic>>()
    for (const topic of topics) {
      const because = refused.get(topic)
      if (told.has(topic) && told.get(topic) === because) continue
      told.set(topic, because)
      news.set(because, (news.get(because) ?? new Set()).add(topic))
    }
    for (const [because, about] of news) {
      const filter = Topic.toFilter(about)
      const change = because === undefined ? Change.Watched({ filter }) : Change.Unwatched({ filter, because })
      mailbox.putLast(`${change._tag} ${[...about].join(" ")}`, change)
    }
  }

  /** Who does not know yet what is reported reads after that, and so misses nothing. */
  const tellMissed = (to: Iterable<Watcher>) => {
    for (const watcher of to) if (Deferred.isDoneUnsafe(watcher.settled)) watcher.missed()
  }

  /** Waits before those who may have missed something are told so, although the server has not confirmed that it reports. */
  let impatient: Fiber.Fiber<void> | undefined
  const miss = Effect.fnUntraced(function* (missed: Set<Watcher>, who: Iterable<Watcher>) {
    for (const watcher of who) missed.add(watcher)
    impatient ??= yield* Effect.sync(() => tellMissed(missed)).pipe(Effect.delay(patience), Effect.forkChild)
  })
  const missNoMore = (missed: Set<Watcher>) => {
    tellMissed(missed)
    missed.clear()
    impatient?.interruptUnsafe()
    impatient = undefined
  }

  const endAll = (how: Parameters<Mailbox.Mailbox["end"]>[0]) => {
    for (const { mailbox, settled } of watchers) {
      mailbox.end(how)
      Deferred.doneUnsafe(settled, Exit.void)
    }
    watchers.clear()
  }
  const failAll = (error: NegotiationError | McpClientError) =>
    endAll(
      Effect.fail(
        error._tag === "McpClientError"
          ? error
          : new McpClientError({ server, reason: new Disconnected({ method: "changes", cause: error }) })
      )
    )

  /** Waits as the schedule says, which begins anew after a steady time; false when it has come to its end. */
  const pause = Effect.fnUntraced(function* (error: McpClientError) {
    const steady = settledAt !== undefined && (yield* Clock.currentTimeMillis) - settledAt >= steadyAfter
    if (steady || heard) pacer.reset()
    settledAt = undefined
    heard = false
    return yield* pacer.wait(error)
  })

  const lostWire = (cause: TransportError) =>
    new McpClientError({ server, reason: new WireFailed({ method: "changes", cause }) })

  /** The hold on the session in force. */
  const holdNow = Effect.fnUntraced(function* () {
    if (hold !== undefined) return hold
    const session = connection.session()
    const missed = () => tellMissed(watchers)
    const made = Hold.make({ connection, server, scope, report, unsettled, missed }, session)
    hold = made
    yield* session.wire.ended.pipe(
      Effect.catch((error: TransportError) =>
        Effect.sync(() => {
          if (hold !== made) return
          gone = error
          unsettled()
        })
      ),
      Effect.forkIn(scope, { startImmediately: true })
    )
    return made
  })

  /** Lets go of a session that was replaced: trouble, unless there was a pause for it already. */
  const letGo = Effect.fnUntraced(function* (old: Hold.Hold) {
    yield* old.close
    const cause = gone
    hold = undefined
    gone = undefined
    if (cause === undefined || settledAt === undefined) return
    if (!(yield* pause(lostWire(cause)))) failAll(lostWire(cause))
  })

  const settle = Effect.fnUntraced(function* (now: Hold.Hold, missed: Set<Watcher>): Effect.fn.Return<Next> {
    const present = [...watchers]
    const settled = yield* Effect.result(now.settle(new Set(present.flatMap(({ topics }) => [...topics]))))
    if (Result.isFailure(settled)) {
      yield* miss(missed, present)
      if (isFinal(settled.failure) || !(yield* pause(settled.failure))) failAll(settled.failure)
      return "look"
    }
    settledAt ??= yield* Clock.currentTimeMillis
    for (const watcher of present) tell(watcher, now.refused)
    missNoMore(missed)
    for (const { settled } of present) Deferred.doneUnsafe(settled, Exit.void)
    return "rest"
  })

  /** One look at how things are, and what it takes. */
  const look = Effect.fnUntraced(function* (missed: Set<Watcher>): Effect.fn.Return<Next> {
    const state = SubscriptionRef.getUnsafe(connection.state)
    switch (state._tag) {
      case "Reconnecting":
        return "rest"
      case "Closed":
        endAll(Mailbox.noMore)
        return "look"
      case "Lost":
        failAll(state.error)
        return "look"
      case "Connected": {
        if (hold !== undefined && hold.wire !== connection.session().wire) {
          // In each session they are told once; a server that fails again and again is not asked for lists each time.
          if (impatient?.pollUnsafe() !== undefined) impatient = undefined
          yield* miss(missed, watchers)
          yield* letGo(hold)
          return "look"
        }
        const now = yield* holdNow()
        if (gone === undefined) return yield* settle(now, missed)
        if (reopenable) return "rest"
        failAll(lostWire(gone))
        return "look"
      }
    }
  })

  const keep = Effect.gen(function* () {
    const missed = new Set<Watcher>()
    pacer.reset()
    settledAt = undefined
    yield* SubscriptionRef.changes(connection.state).pipe(
      Stream.runForEach(() => Effect.sync(unsettled)),
      Effect.forkChild
    )
    while (true) {
      wake.closeUnsafe()
      if (watchers.size === 0) {
        if (hold !== undefined && gone === undefined) yield* Effect.ignore(hold.settle(new Set()))
        if (watchers.size === 0) break
      }
      if ((yield* look(missed)) === "rest") yield* wake.await
    }
    keeping = false
  }).pipe(
    Effect.onExit((exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) return
        keeping = false
        endAll(Cause.hasInterruptsOnly(exit.cause) ? Mailbox.noMore : Effect.die(Cause.squash(exit.cause)))
      })
    ),
    Effect.provideContext(context)
  )

  const stop = inbound.listen((notification) => {
    if (watchers.size > 0) hold?.hear(notification)
  })
  /** Sees to it, once, that all is over when the connection is. */
  const bounded = Effect.suspend(() => {
    if (isBounded) return Effect.void
    isBounded = true
    return Scope.addFinalizer(
      scope,
      Effect.sync(() => {
        closed = true
        stop()
        endAll(Mailbox.noMore)
      })
    )
  })

  return (filter) =>
    Effect.acquireRelease(
      Effect.flatMap(bounded, () => {
        const topics = Topic.ofFilter(filter)
        const settled = Deferred.makeUnsafe<void>()
        const mailbox = Mailbox.make()
        const watcher: Watcher = {
          topics,
          mailbox,
          settled,
          told: new Map(),
          ready: Deferred.await(settled),
          missed: () => {
            for (const topic of topics) mailbox.put(topic, Topic.changeOf(topic))
          }
        }
        watchers.add(watcher)
        if (closed) endAll(Mailbox.noMore)
        else unsettled()
        if (keeping || closed) return Effect.succeed(watcher)
        keeping = true
        return Effect.as(Effect.forkIn(keep, scope, { startImmediately: true }), watcher)
      }),
      (watcher) =>
        Effect.sync(() => {
          if (watchers.delete(watcher)) unsettled()
        })
    )
}

/** Whether trying again is of no use before the program itself has changed something. */
const isFinal = ({ reason }: McpClientError): boolean =>
  reason._tag === "CannotCarry" ||
  (reason._tag === "WireFailed" &&
    reason.cause.reason._tag === "HttpRejected" &&
    [401, 403, 407].includes(reason.cause.reason.status))
