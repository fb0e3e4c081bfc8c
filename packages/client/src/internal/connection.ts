/**
 * A connection that outlives its sessions. Requests go over the session in force; when it is gone a new one takes its
 * place, opened once for all who wait. What is sent again, and when, says `healing`.
 */
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Mode from "@mcp-effect/negotiation/Mode"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as Verdict from "@mcp-effect/negotiation/Verdict"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type * as Method from "@mcp-effect/protocol/Method"
import { Closed, TransportError } from "@mcp-effect/transport/TransportError"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { ConnectionState } from "../ConnectionState.ts"
import * as Limits from "../Limits.ts"
import { Disconnected, McpClientError, type Reason, RequestTimedOut, WireFailed } from "../McpClientError.ts"
import * as Healing from "./healing.ts"
import * as NegotiationPort from "./negotiationPort.ts"
import * as Pacer from "./pacer.ts"
import type * as Requests from "./requests.ts"
import * as Session from "./session.ts"

export interface Connection {
  readonly session: () => Session.Session
  readonly state: SubscriptionRef.SubscriptionRef<ConnectionState>
  readonly request: <M extends Method.Method>(
    method: M,
    params: Method.Params<M>,
    asking: Asking
  ) => Effect.Effect<Method.Result<M>, McpClientError>
  /** The same for a fiber that runs it at once, and goes on with what came of it. */
  readonly ask: <M extends Method.Method, B, F>(
    fiber: Fiber.Fiber<unknown, unknown>,
    method: M,
    params: Method.Params<M>,
    asking: Asking,
    onSuccess: Requests.Next<Method.Result<M>, B, F>,
    onFailure: Requests.Next<McpClientError, B, F>
  ) => Effect.Effect<B, F>
  /** The same for a method that the protocol does not define. */
  readonly extension: (
    fiber: Fiber.Fiber<unknown, unknown>,
    method: string,
    params: JsonRpc.JsonObject,
    asking: Asking
  ) => Effect.Effect<JsonRpc.JsonObject, McpClientError>
  readonly notify: (notification: JsonRpc.Notification, asking: Requests.Asking) => Effect.Effect<void, McpClientError>
}

export interface Asking extends Requests.Asking {
  /** Whether sending it twice does no harm. */
  readonly repeatable: boolean
  /** Lists the tools again, after the server said that mirrored headers do not fit. */
  readonly refreshed?: (() => Effect.Effect<Requests.Asking["mirrored"], McpClientError>) | undefined
}

export interface Options<R> extends Session.Options<R> {
  /** When to try again to open a session in place of one that is gone. */
  readonly reconnect: Schedule.Schedule<unknown, NegotiationError | McpClientError>
  /** How often a session of the legacy era is asked for a sign of life; never when absent. */
  readonly heartbeat: Duration.Duration | undefined
}

export const open = Effect.fnUntraced(function* <R>(
  options: Options<R>
): Effect.fn.Return<Connection, NegotiationError | McpClientError, R | Scope.Scope> {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<R>()
  const server = options.transport.endpoint
  const key = yield* Session.memoryKey(options.transport)
  let session = yield* Session.open(options, scope)
  const state = yield* SubscriptionRef.make<ConnectionState>(
    ConnectionState.Connected({ agreement: session.agreement })
  )
  const lingering = yield* Defaults.RequestTimeout
  const steadyAfter = Duration.toMillis(yield* Limits.SteadyAfter)
  const pacer = Pacer.make(options.reconnect)
  const isProven = ({ evidence, rule }: Session.Session["agreement"]) => evidence.length > 0 || rule === "pin"
  let proven = isProven(session.agreement)
  let openedAt = yield* Clock.currentTimeMillis
  let restarted = false
  let renewing: Deferred.Deferred<Session.Session, NegotiationError | McpClientError> | undefined
  let lost = false
  /** From the moment the scope begins to close. */
  const isClosed = () => scope.state._tag === "Closed"
  yield* Scope.addFinalizer(scope, SubscriptionRef.set(state, ConnectionState.Closed()))

  const fail = (reason: Reason) => new McpClientError({ server, reason })
  const gone = (because: string) =>
    fail(
      new WireFailed({
        method: "connect",
        cause: new TransportError({ endpoint: server, reason: new Closed({ because }) })
      })
    )

  const adaptable = isAuto(options.mode)
  const pipe = options.transport.kind !== "http" && options.transport.kind !== "sse"
  const probing = Duration.toMillis(yield* NegotiationPort.probePatience(options.transport.kind))
  /** The mode without a verdict the program brought along, which no longer holds. */
  const open = (afresh: boolean) => Session.open(afresh && adaptable ? { ...options, mode: "auto" } : options, scope)

  /** Where the new negotiation begins: with what is known, unless that is what failed. */
  const modeAgain = Effect.fnUntraced(function* (afresh: boolean) {
    const { mode } = options
    if (afresh || mode !== "auto") return mode
    const verdict = Verdict.fromAgreement(session.agreement, yield* Clock.currentTimeMillis)
    return verdict === undefined ? mode : Mode.autoFrom(verdict)
  })

  /** Waits before a wire is opened again that ended soon, and once more than once (`SteadyAfter`). */
  const paced = Effect.gen(function* () {
    const steady = (yield* Clock.currentTimeMillis) - openedAt >= steadyAfter
    if (steady || !restarted) pacer.reset()
    else if (!(yield* pacer.wait(gone("it ended soon after it was opened")))) {
      return yield* gone("it ended soon after it was opened, again and again")
    }
    restarted = true
  })

  /**
   * Closes a session that is replaced. Over HTTP, requests sent before may still be answered, or learn for themselves that
   * they were refused: there it is closed when their time is up.
   */
  const leave = (old: Session.Session, because: string): Effect.Effect<unknown> => {
    const close = old.close(`this side closed it: ${because}`)
    return old.transport === "http"
      ? Effect.forkIn(Effect.delay(close, lingering), scope, { startImmediately: true })
      : close
  }

  const replace = Effect.fnUntraced(function* (because: string, afresh: boolean) {
    const died = yield* hasEnded(session)
    yield* leave(session, because)
    if (died) yield* paced
    if (afresh && key !== undefined) yield* (yield* EraMemory.EraMemory).forget(key)
    const mode = yield* modeAgain(afresh)
    const anew = open(afresh)
    const again = mode === options.mode ? anew : Effect.catch(Session.open({ ...options, mode }, scope), () => anew)
    session = yield* Effect.retry(again, options.reconnect)
    proven = isProven(session.agreement)
    openedAt = yield* Clock.currentTimeMillis
    lost = false
    yield* SubscriptionRef.set(state, ConnectionState.Connected({ agreement: session.agreement }))
    return session
  })

  /** A new session in place of `old`, opened once however many ask for it. */
  const renew = (
    old: Session.Session,
    because: string,
    afresh: boolean
  ): Effect.Effect<Session.Session, NegotiationError | McpClientError> =>
    Effect.suspend(() => {
      if (renewing !== undefined) return Deferred.await(renewing)
      if (isClosed()) return Effect.fail(gone("this side closed it"))
      if (session.wire !== old.wire && !lost) return Effect.succeed(session)
      const renewed = Deferred.makeUnsafe<Session.Session, NegotiationError | McpClientError>()
      renewing = renewed
      return SubscriptionRef.set(state, ConnectionState.Reconnecting({ because })).pipe(
        Effect.andThen(replace(because, afresh)),
        Effect.tapError((error) => {
          lost = true
          restarted = false
          return SubscriptionRef.set(state, ConnectionState.Lost({ error }))
        }),
        Effect.onExit((exit) => {
          renewing = undefined
          return isClosed() ? Deferred.fail(renewed, gone("this side closed it")) : Deferred.done(renewed, exit)
        }),
        Effect.tap(watch),
        Effect.provideContext(context),
        Effect.forkIn(scope, { startImmediately: true }),
        Effect.andThen(Deferred.await(renewed))
      )
    })

  /** Opens a new session as soon as the wire of this one is gone, so that the next request need not find out. */
  const watch = (watched: Session.Session) =>
    beating(watched, options.heartbeat).pipe(
      Effect.catch((error) =>
        isClosed() || session.wire !== watched.wire || !options.transport.reopenable
          ? Effect.void
          : // One that ended before it answered anything may be of another era now.
            renew(watched, lossOf(error), isUnproven(watched))
      ),
      Effect.ignore,
      Effect.forkIn(scope)
    )
  yield* watch(session)

  /** The same for one request, which waits no longer than for an answer. */
  const renewed = (
    old: Session.Session,
    method: string,
    { limit }: Requests.Asking,
    because: string,
    afresh: boolean
  ): Effect.Effect<Session.Session, McpClientError> =>
    renew(old, because, afresh).pipe(
      Effect.mapError((error) => {
        if (error._tag === "NegotiationError") return fail(new Disconnected({ method, cause: error }))
        const { reason } = error
        return reason._tag === "WireFailed" ? fail(new Disconnected({ method, cause: reason.cause })) : error
      }),
      Effect.timeoutOrElse({
        duration: Duration.millis(limit.idle),
        orElse: () => Effect.fail(fail(new RequestTimedOut({ method, limit: limit.idle })))
      })
    )

  /** Whether the session in force can be sent over; one that ended without anybody having noticed cannot. */
  const isReady = () =>
    renewing === undefined && !lost && (!session.isOver() || !options.transport.reopenable || isClosed())

  /** The session to send over: the one in force, or the one that is being opened. */
  const current = (method: string, asking: Requests.Asking): Effect.Effect<Session.Session, McpClientError> =>
    isReady()
      ? Effect.succeed(session)
      : lost
        ? renewed(session, method, asking, "the last session could not be replaced", true)
        : renewed(session, method, asking, "the wire is gone", false)

  /** The same session in another version, for all who come after. */
  const speak = (over: Session.Session, version = over.revision.version) => {
    const speaking = over.speaking(version)
    if (session.wire === over.wire) session = speaking
    return speaking
  }

  /** Whether a session rests on an older verdict and has not answered anything yet. */
  const isUnproven = (over: Session.Session) => adaptable && !proven && !over.isProven() && over.wire === session.wire

  /**
   * Asks a server that perhaps is of another era now what it is, over the session in force and then in a new one. What
   * comes back is the session to send over again, if the request may go again.
   */
  const recheck = (
    over: Session.Session,
    fiber: Fiber.Fiber<unknown, unknown>,
    trouble: Healing.Trouble,
    how: Asking
  ): Effect.Effect<Session.Session | undefined, McpClientError> => {
    const silent = trouble.reason._tag === "RequestTimedOut"
    return over.ask(
      fiber,
      "server/discover",
      {},
      { limit: { idle: probing, total: probing } },
      () => Effect.succeed(silent && trouble.repeatable ? over : undefined),
      () =>
        Effect.map(renewed(over, trouble.method, how, trouble.reason.message, true), (session) => {
          const moved = session.agreement.era !== over.agreement.era
          return (silent ? trouble.repeatable : moved && Healing.mayGoAgain(trouble)) ? session : undefined
        })
    )
  }

  /** What only reads waits no longer than a probe, as long as nobody knows whether the server speaks like this. */
  const patiently = (over: Session.Session, asking: Asking): Requests.Asking =>
    pipe && asking.repeatable && asking.limit.idle > probing && isUnproven(over)
      ? { ...asking, limit: { ...asking.limit, idle: probing } }
      : asking

  /** Mends what went wrong and sends again, or says what it was. */
  const heal = <A>(
    sent: Sent<A>,
    over: Session.Session,
    asking: Asking,
    tried: ReadonlyArray<Healing.Remedy>,
    reason: Reason
  ): Effect.Effect<A, McpClientError> => {
    const { fiber, method } = sent
    const trouble = {
      reason,
      method,
      repeatable: asking.repeatable,
      pipe,
      reopenable: options.transport.reopenable,
      adaptable,
      version: over.revision.version,
      unproven: isUnproven(over)
    }
    const row = Healing.remedyFor(trouble)
    if (row === undefined || isClosed() || tried.includes(row.remedy)) {
      // By then the end of a wire is noticed, so whoever sends next need not find out.
      return Effect.andThen(Effect.yieldNow, Effect.fail(fail(Healing.verdictOn(trouble))))
    }
    const again = (over: Session.Session, how = asking) => attempt(sent, over, how, [...tried, row.remedy])
    switch (row.remedy) {
      case "resend":
        return again(over)
      case "refreshTools":
        return asking.refreshed === undefined
          ? Effect.fail(fail(reason))
          : Effect.flatMap(asking.refreshed(), (mirrored) => again(over, { ...asking, mirrored }))
      case "recheck":
        return Effect.flatMap(recheck(over, fiber, trouble, asking), (session) =>
          session === undefined ? Effect.fail(fail(reason)) : again(session)
        )
      case "newVersion":
        return again(speak(over, Healing.versionsIn(reason)[0]))
      case "renew":
        return Effect.flatMap(
          renewed(over, method, asking, reason.message, trouble.unproven || Healing.versionsIn(reason).length > 0),
          (session) => again(session)
        )
    }
  }

  const attempt = <A>(
    sent: Sent<A>,
    over: Session.Session,
    asking: Asking,
    tried: ReadonlyArray<Healing.Remedy>
  ): Effect.Effect<A, McpClientError> =>
    sent.send(over, patiently(over, asking), Effect.succeed, (reason) => heal(sent, over, asking, tried, reason))

  /** Sends for the first time, and waits for a session where there is none. */
  const first = <A, B, F>(
    sent: Sent<A>,
    asking: Asking,
    onSuccess: Requests.Next<A, B, F>,
    onFailure: Requests.Next<McpClientError, B, F>
  ): Effect.Effect<B, F> => {
    if (!isReady()) {
      const waited = Effect.flatMap(current(sent.method, asking), (over) => attempt(sent, over, asking, []))
      return Effect.matchEffect(waited, { onSuccess, onFailure })
    }
    const over = session
    return sent.send(over, patiently(over, asking), onSuccess, (reason) =>
      Effect.matchEffect(heal(sent, over, asking, [], reason), { onSuccess, onFailure })
    )
  }

  const ask: Connection["ask"] = (fiber, method, params, asking, onSuccess, onFailure) =>
    first(
      { fiber, method, send: (over, asking, yes, no) => over.ask(fiber, method, params, asking, yes, no) },
      asking,
      onSuccess,
      onFailure
    )

  return {
    session: () => session,
    state,
    ask,
    request: (method, params, asking) =>
      Effect.withFiber((fiber) => ask(fiber, method, params, asking, Effect.succeed, Effect.fail)),
    extension: (fiber, method, params, asking) =>
      first<JsonRpc.JsonObject, JsonRpc.JsonObject, McpClientError>(
        { fiber, method, send: (over, asking, yes, no) => over.extension(fiber, method, params, asking, yes, no) },
        asking,
        Effect.succeed,
        Effect.fail
      ),
    notify: (notification, asking) =>
      Effect.flatMap(current(notification.method, asking), ({ revision, wire }) =>
        Effect.mapError(wire.send(notification, revision), (cause) =>
          fail(new WireFailed({ method: notification.method, cause }))
        )
      )
  }
})

/** A request, and how it goes over a session. */
interface Sent<A> {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly method: string
  readonly send: <B, F>(
    over: Session.Session,
    asking: Requests.Asking,
    onSuccess: Requests.Next<A, B, F>,
    onFailure: Requests.Next<Reason, B, F>
  ) => Effect.Effect<B, F>
}

/** Whether the wire is gone by now, noticed or not. */
const hasEnded = ({ wire }: Session.Session): Effect.Effect<boolean> =>
  Effect.raceFirst(Effect.as(Effect.exit(wire.ended), true), Effect.as(Effect.yieldNow, false))

/**
 * Fails when the wire is gone. Asks for a sign of life every now and then, where the revision has a question for that, and
 * fails too when there is none.
 */
const beating = (
  session: Session.Session,
  every: Duration.Duration | undefined
): Effect.Effect<never, Reason | TransportError> => {
  const { ended } = session.wire
  if (every === undefined || !session.revision.supports("ping")) return ended
  const idle = Duration.toMillis(every)
  const heartbeat = Effect.withFiber((fiber) =>
    session.ask(fiber, "ping", {}, { limit: { idle, total: idle } }, Effect.succeed, Effect.fail)
  ).pipe(
    // An error is an answer: the server lives.
    Effect.catchIf(
      ({ _tag }) => _tag === "ServerError" || _tag === "InvalidResult",
      () => Effect.void
    ),
    Effect.delay(every),
    Effect.forever
  )
  return Effect.raceFirst(ended, heartbeat)
}

const lossOf = (error: Reason | TransportError): string =>
  error._tag === "RequestTimedOut" ? `no sign of life for ${error.limit} ms (heartbeat)` : error.message

const isAuto = (mode: Mode.Input) => mode === "auto" || (typeof mode === "object" && mode._tag === "Auto")
