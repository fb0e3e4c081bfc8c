/**
 * One agreed session: a wire, the revision spoken on it, and the requests that go over it. It never repairs itself; the
 * connection replaces it.
 */
import type { Agreement } from "@mcp-effect/negotiation/Agreement"
import type { Input as Mode } from "@mcp-effect/negotiation/Mode"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Negotiator from "@mcp-effect/negotiation/Negotiator"
import * as Remembering from "@mcp-effect/negotiation/Remembering"
import * as Terms from "@mcp-effect/negotiation/Terms"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { Diagnostic, reporting } from "@mcp-effect/protocol/Diagnostic"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type * as Method from "@mcp-effect/protocol/Method"
import type * as Progress from "@mcp-effect/protocol/Progress"
import type { CannotCarry, MethodNotInRevision } from "@mcp-effect/protocol/ProtocolError"
import * as Revision from "@mcp-effect/protocol/Revision"
import type { Decoded } from "@mcp-effect/protocol/Revision"
import * as Task from "@mcp-effect/protocol/Task"
import type { Era, Version } from "@mcp-effect/protocol/Version"
import type { ExchangeOptions, Incoming, Kind, Plain, Transport, Wire } from "@mcp-effect/transport/Transport"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import {
  BecameTask,
  McpClientError,
  NotAvailableInLegacy,
  NotAvailableInModern,
  OutcomeUnknown,
  type Reason,
  RequestTimedOut,
  ServerError,
  WireFailed
} from "../McpClientError.ts"
import type * as Middleware from "../Middleware.ts"
import { Partition } from "../ResultCache.ts"
import { mayChange } from "./healing.ts"
import type { Inbound } from "./inbound.ts"
import * as NegotiationPort from "./negotiationPort.ts"
import type { Limit, Patience } from "./patience.ts"
import { isTraced, traced } from "./tracing.ts"

/** How one request is made. */
export interface Asking {
  readonly limit: Limit
  /** Hears progress; asks for it by being there. */
  readonly onProgress?: ((progress: Progress.Params) => void) | undefined
  /** Whether a sign of progress starts the idle time again. */
  readonly resetOnProgress?: boolean | undefined
  readonly mirrored?: ExchangeOptions["mirrored"] | undefined
  readonly extra?: Revision.Extra | undefined
  /** Hears every notification that belongs to the request, progress too. */
  readonly onNotification?: ((notification: JsonRpc.Notification) => void) | undefined
}

/** What comes after a request, for one of its two ends. */
export type Next<A, B, F> = (value: A) => Effect.Effect<B, F>

export interface Session {
  readonly agreement: Agreement
  readonly transport: Kind
  readonly revision: Revision.Revision
  readonly wire: Wire
  readonly close: Effect.Effect<void>
  /** Whether the wire is gone. */
  readonly isOver: () => boolean
  /** Whether a request got its result over this wire. */
  readonly isProven: () => boolean
  /** The same session, spoken in another version of the same era. */
  readonly speaking: (version: Version) => Session
  /** Makes a request of a fiber, to be run by it at once, and goes on with what came of it. */
  readonly ask: <M extends Method.Method, B, F>(
    fiber: Fiber.Fiber<unknown, unknown>,
    method: M,
    params: Method.Params<M>,
    asking: Asking,
    onSuccess: Next<Method.Result<M>, B, F>,
    onFailure: Next<Reason, B, F>
  ) => Effect.Effect<B, F>
  /** The same for a method that no revision knows: what it says goes and comes as it is. */
  readonly extension: <B, F>(
    fiber: Fiber.Fiber<unknown, unknown>,
    method: string,
    params: JsonRpc.JsonObject,
    asking: Asking,
    onSuccess: Next<JsonRpc.JsonObject, B, F>,
    onFailure: Next<Reason, B, F>
  ) => Effect.Effect<B, F>
}

export interface Options<R> {
  readonly transport: Transport["Service"]
  readonly mode: Mode
  readonly sender: Revision.Sender
  readonly inbound: Inbound
  readonly patience: Patience
  readonly nextId: () => number
  readonly middleware: ReadonlyArray<Middleware.Middleware>
  readonly inspectDiscover?: Negotiator.Options<R>["inspectDiscover"]
  readonly inspectInitialize?: Negotiator.Options<R>["inspectInitialize"]
}

/**
 * Opens a session in a scope of its own; one that fails leaves nothing open. When it was a remembered verdict that no
 * longer holds, the server is asked once more.
 */
export const open = <R>(
  options: Options<R>,
  parent: Scope.Scope
): Effect.Effect<Session, NegotiationError | McpClientError, R> => {
  const once = Effect.flatMap(Scope.fork(parent), (scope) =>
    establish(options, scope).pipe(
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)))
    )
  )
  return Effect.catchIf(
    once,
    (error) => error._tag === "NegotiationError" && error.remembered,
    () => once
  )
}

/** What the era of this server is remembered under; nothing for what has no name of its own. */
export const memoryKey = ({
  endpoint,
  kind,
  setting = ""
}: Transport["Service"]): Effect.Effect<string | undefined> => {
  switch (kind) {
    case "http":
    case "sse":
      return Effect.map(Partition, (partition) => EraMemory.keyOfHttp(endpoint, partition))
    case "stdio":
      return Effect.succeed(`stdio ${endpoint} ${setting}`)
    case "memory":
    case "stream":
      return Effect.succeed(undefined)
  }
}

const establish = Effect.fnUntraced(function* <R>(
  options: Options<R>,
  scope: Scope.Closeable
): Effect.fn.Return<Session, NegotiationError | McpClientError, R> {
  const { inbound, mode, nextId, patience, sender, transport } = options
  const server = transport.endpoint
  const fail = (reason: Reason) => new McpClientError({ server, reason })
  const opening = yield* NegotiationPort.make({ transport, sender, nextId, scope, hear: inbound.hear })
  inbound.attach(opening.current)

  const key = yield* memoryKey(transport)
  const question: Negotiator.Options<R> = {
    endpoint: server,
    mode,
    terms: Terms.make({
      kind: transport.kind,
      reopenable: transport.reopenable,
      sse: transport.openHttpSse !== undefined
    }),
    ...(options.inspectDiscover === undefined ? {} : { inspectDiscover: options.inspectDiscover }),
    ...(options.inspectInitialize === undefined ? {} : { inspectInitialize: options.inspectInitialize })
  }
  const agreement = yield* (
    key === undefined ? Negotiator.negotiate(question) : Remembering.negotiate({ ...question, key })
  ).pipe(Effect.provideService(Negotiator.Port, opening.port))

  const within = <A>(method: string, effect: Effect.Effect<A, TransportError>, limit: Duration.Duration) =>
    effect.pipe(
      Effect.mapError((cause) => fail(new WireFailed({ method, cause }))),
      Effect.timeoutOrElse({
        duration: limit,
        orElse: () => Effect.fail(fail(new RequestTimedOut({ method, limit: Duration.toMillis(limit) })))
      })
    )
  const settled = opening.settle(agreement.version)
  const { revision, wire } = yield* within("connect", settled, yield* Defaults.ConnectTimeout)
  if (agreement.initialize !== undefined) {
    const method = "notifications/initialized"
    yield* within(method, wire.send({ jsonrpc: "2.0", method }, revision), yield* Defaults.HandshakeTimeout)
  }

  let over = false
  let proven = false
  yield* Effect.exit(wire.ended).pipe(
    Effect.onExit(() => Effect.sync(() => (over = true))),
    Effect.forkIn(scope, { startImmediately: true })
  )
  const kind: Kind = agreement.channel === "httpSse" ? "sse" : transport.kind
  const { middleware } = options
  const report = yield* reporting
  const line = {
    wire,
    sender,
    patience,
    inbound,
    middleware,
    nextId,
    server,
    report,
    transport: kind,
    isOver: () => over,
    proves: () => void (proven = true)
  }
  const speaking = (spoken: Revision.Revision): Session => ({
    agreement,
    transport: kind,
    revision: spoken,
    wire,
    close: Scope.close(scope, Exit.void),
    isOver: line.isOver,
    isProven: () => proven,
    speaking: (version) => speaking(Revision.of(version)),
    ...asker(line, spoken)
  })
  return speaking(revision)
})

interface Line extends Pick<Options<never>, "inbound" | "middleware" | "nextId" | "patience" | "sender"> {
  readonly transport: Kind
  readonly wire: Wire
  readonly server: string
  readonly isOver: () => boolean
  /** Told of each result. */
  readonly proves: () => void
  readonly report: (diagnostic: Diagnostic) => Effect.Effect<void>
}

/** A request as it is written. */
interface Written {
  readonly id: JsonRpc.RequestId
  readonly method: string
  readonly params: JsonRpc.JsonObject | undefined
  readonly asking: Asking
}

/** A request, how its answer is read, and what comes after it. */
interface Asked<M extends string, A, B, F> extends Written {
  readonly method: M
  readonly read: (method: M, response: JsonRpc.Response) => Result.Result<Decoded<A>, Reason>
  readonly onSuccess: Next<A, B, F>
  readonly onFailure: Next<Reason, B, F>
}

/** Requests over a line, as one revision writes and reads them. */
const asker = (line: Line, revision: Revision.Revision): Pick<Session, "ask" | "extension"> => {
  const { inbound, isOver, middleware, nextId, patience, proves, report, server, wire } = line
  const stamp = revision.stamp(line.sender)
  const tasks = acceptsTasks(revision, line.sender)
  /** The short way, unless somebody stands in it. */
  const begin = wire.plain?.exchange === wire.exchange && middleware.length === 0 ? wire.plain.begin : undefined

  const read = <M extends Method.Method>(
    method: M,
    response: JsonRpc.Response
  ): Result.Result<Decoded<Method.Result<M>>, Reason> => {
    if (!("result" in response)) return Result.fail(refused(method, response.error))
    if (!tasks) {
      const decoded = revision.decode(method, response.result)
      if (Result.isSuccess(decoded)) proves()
      return decoded
    }
    const decoded = revision.decode(method, response.result, acceptsTask)
    if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
    const { rejected, value } = decoded.success
    proves()
    return isTask<M>(value) ? Result.fail(new BecameTask({ method, task: value })) : Result.succeed({ value, rejected })
  }

  const readExtension = (
    method: string,
    response: JsonRpc.Response
  ): Result.Result<Decoded<JsonRpc.JsonObject>, Reason> => {
    if (!("result" in response)) return Result.fail(refused(method, response.error))
    proves()
    return Result.succeed({ value: response.result, rejected: nothing })
  }

  const goOn = <M extends string, A, B, F>(
    { method, onFailure, onSuccess, read }: Asked<M, A, B, F>,
    response: JsonRpc.Response
  ): Effect.Effect<B, F> => {
    const decoded = read(method, response)
    if (Result.isFailure(decoded)) return onFailure(decoded.failure)
    const { rejected, value } = decoded.success
    if (rejected.length === 0) return onSuccess(value)
    return Effect.andThen(
      Effect.forEach(
        rejected,
        ({ because, name, pointer }) => report(Diagnostic.ItemRejected({ server, method, pointer, name, because })),
        { discard: true }
      ),
      Effect.suspend(() => onSuccess(value))
    )
  }

  const requestOf = (
    { asking, id, method, params }: Written,
    trace: JsonRpc.JsonObject | undefined
  ): JsonRpc.Request => {
    const stamped = stamp(params, extraOf(asking, id, trace))
    return stamped === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params: stamped }
  }

  const howOf = ({ asking, id }: Written, alive: (() => void) | undefined): ExchangeOptions => ({
    revision,
    interim: interimOf(asking, id, revision, inbound, alive),
    mirrored: asking.mirrored
  })

  /** In plain calls: one pause of the fiber, and no effect but what comes after. */
  const plainly = <M extends string, A, B, F>(
    begin: Plain["begin"],
    fiber: Fiber.Fiber<unknown, unknown>,
    asked: Asked<M, A, B, F>,
    trace: JsonRpc.JsonObject | undefined
  ): Effect.Effect<B, F> =>
    Effect.callback((resume) => {
      const { asking, method, onFailure } = asked
      const neverLeft = isOver()
      const finish = (exit: Exit.Exit<JsonRpc.Response, TransportError>) => {
        if (Exit.isSuccess(exit)) return goOn(asked, exit.value)
        const failure = Cause.findError(exit.cause)
        return Result.isSuccess(failure)
          ? onFailure(answered(failure.success, method, neverLeft))
          : Effect.failCause(failure.failure)
      }
      const waiting = patience.begin(asking.limit, (passed) => {
        leave()
        resume(onFailure(timedOut(method, passed)))
      })
      const alive = asking.resetOnProgress === true ? () => patience.alive(waiting) : undefined
      const leave = begin(requestOf(asked, trace), howOf(asked, alive), fiber, (exit) => {
        patience.end(waiting)
        // Read by the fiber, which a fault in the reading then ends, and not the wire.
        resume(Effect.suspend(() => finish(exit)))
      })
      return Effect.suspend(() => {
        patience.end(waiting)
        return leave()
      })
    })

  const exchange = (request: JsonRpc.Request, how: ExchangeOptions) => {
    const through = middleware.reduceRight<Middleware.Next>(
      (next, layer) => (request) => layer(request, next),
      (request) => wire.exchange(request, how)
    )
    return through(request)
  }

  /** As an effect. Middleware and the wires of others may wait on their own, so the time is kept from outside. */
  const guarded = <M extends string, A, B, F>(
    asked: Asked<M, A, B, F>,
    trace: JsonRpc.JsonObject | undefined
  ): Effect.Effect<B, F> => {
    const { asking, method, onFailure } = asked
    const answer = patience.within<JsonRpc.Response, Reason>(
      asking.limit,
      (alive) => {
        const neverLeft = isOver()
        return Effect.mapError(exchange(requestOf(asked, trace), howOf(asked, alive)), (cause) =>
          answered(cause, method, neverLeft)
        )
      },
      (passed) => Effect.fail(timedOut(method, passed))
    )
    return Effect.matchEffect(answer, { onSuccess: (response) => goOn(asked, response), onFailure })
  }

  const ask = <M extends string, A, B, F>(
    fiber: Fiber.Fiber<unknown, unknown>,
    asked: Asked<M, A, B, F>,
    trace?: JsonRpc.JsonObject
  ): Effect.Effect<B, F> => (begin === undefined ? guarded(asked, trace) : plainly(begin, fiber, asked, trace))

  /** The same in a span, where spans go anywhere. What comes after the request is not of it. */
  const spanned = <M extends string, A, B, F>(
    fiber: Fiber.Fiber<unknown, unknown>,
    asked: Asked<M, A, B, F>
  ): Effect.Effect<B, F> => {
    if (!isTraced(fiber)) return ask(fiber, asked)
    const { id, method, onFailure, onSuccess, params } = asked
    const facts = { id, method, params, server, transport: line.transport, version: revision.version }
    return Effect.matchEffect(
      traced(facts, (trace) =>
        ask<M, A, A, Reason>(fiber, { ...asked, onSuccess: Effect.succeed, onFailure: Effect.fail }, trace)
      ),
      { onSuccess, onFailure }
    )
  }

  return {
    ask: (fiber, method, params, asking, onSuccess, onFailure) => {
      const encoded = revision.encode(method, params)
      if (Result.isFailure(encoded)) return onFailure(unsendable(revision.era, encoded.failure))
      const { dropped, params: written } = encoded.success
      const asked = { id: nextId(), method, params: written, asking, read: read<typeof method>, onSuccess, onFailure }
      if (dropped.length === 0) return spanned(fiber, asked)
      return Effect.andThen(
        Effect.forEach(
          dropped,
          ({ because, pointer }) => report(Diagnostic.MemberDropped({ server, method, pointer, because })),
          { discard: true }
        ),
        Effect.suspend(() => spanned(fiber, asked))
      )
    },
    extension: (fiber, method, params, asking, onSuccess, onFailure) =>
      spanned(fiber, { id: nextId(), method, params, asking, read: readExtension, onSuccess, onFailure })
  }
}

const nothing: Decoded<unknown>["rejected"] = []

const refused = (method: string, { code, data, message: text }: JsonRpc.ErrorObject): Reason =>
  new ServerError({ method, code, text, ...(data === undefined ? {} : { data }) })

/** What a request asks for in `_meta`: progress under its own id, and the trace to go on with. */
const extraOf = (
  { extra, onProgress, resetOnProgress }: Asking,
  id: JsonRpc.RequestId,
  trace: JsonRpc.JsonObject | undefined
): Revision.Extra | undefined => {
  const wantsProgress = onProgress !== undefined || resetOnProgress === true
  if (!wantsProgress && trace === undefined) return extra
  return {
    ...extra,
    ...(wantsProgress ? { progressToken: id } : {}),
    ...(trace === undefined ? {} : { meta: { ...trace, ...extra?.meta } })
  }
}

const interimOf = (
  { onNotification, onProgress, resetOnProgress }: Asking,
  id: JsonRpc.RequestId,
  revision: Revision.Revision,
  inbound: Inbound,
  alive: (() => void) | undefined
): ((message: Incoming) => void) => {
  if (onNotification === undefined && onProgress === undefined && resetOnProgress !== true) return inbound.hear
  return (message) => {
    if ("id" in message) return inbound.hear(message)
    inbound.told(message.method, () => onNotification?.(message))
    if (message.method !== "notifications/progress") return inbound.hear(message)
    const heard = revision.hear(message.method, message.params)
    if (Result.isFailure(heard) || heard.success.method !== "notifications/progress") return
    const { params } = heard.success
    // On an event stream of its own a request may still be told the progress of another (M-PROG-8).
    if (String(params.progressToken) !== String(id)) return
    alive?.()
    inbound.told(message.method, () => onProgress?.(params))
  }
}

const timedOut = (method: string, limit: number): Reason => new RequestTimedOut({ method, limit })

const acceptsTask = ["task"] as const

/** A server may make a task of a call when it was told so: by a capability, or (2025-11-25) by the call itself. */
const acceptsTasks = (revision: Revision.Revision, { capabilities: { extensions } }: Revision.Sender) =>
  revision.supports("tasks/result") || (extensions !== undefined && Object.hasOwn(extensions, Task.extension))

const isTask = <M extends Method.Method>(value: Method.Result<M> | Task.Created): value is Task.Created =>
  value["resultType"] === "task"

const unavailable = { legacy: NotAvailableInLegacy, modern: NotAvailableInModern }

const unsendable = (era: Era, failure: CannotCarry | MethodNotInRevision): Reason =>
  failure._tag === "CannotCarry" ? failure : new unavailable[era]({ method: failure.method, version: failure.version })

/** Statuses of other layers, whose body is not the server's answer whatever it says. */
const notTheServers = (status: number) => status === 401 || status === 403 || status === 407 || status >= 500

/** Whether a failure leaves open that the request was carried out: all but a refusal before anything was done. */
const mayHaveRun = ({ reason }: TransportError) => {
  switch (reason._tag) {
    case "HttpRejected":
      return reason.status === 408 || reason.status >= 500
    case "Unreachable":
      return reason.unsent !== true
    case "NotJson":
    case "SpawnFailed":
      return false
    default:
      return true
  }
}

/**
 * What a failure of the wire means for the request. A status other than 2xx with a JSON-RPC error in its body is the
 * server's answer, unless it speaks of a lost session.
 */
const answered = (cause: TransportError, method: string, neverLeft: boolean): Reason => {
  const { reason } = cause
  if (
    reason._tag === "HttpRejected" &&
    reason.error !== undefined &&
    !reason.sessionLost &&
    !notTheServers(reason.status)
  ) {
    return refused(method, reason.error)
  }
  return mayChange(method) && !neverLeft && mayHaveRun(cause)
    ? new OutcomeUnknown({ method, cause })
    : new WireFailed({ method, cause })
}
