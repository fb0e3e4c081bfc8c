/**
 * Requests over a wire, as one revision writes and reads them: stamped, timed, traced, and handed to what comes after.
 *
 * Over a wire with plain calls a request costs its fiber one pause and no fiber of its own.
 */
import { Diagnostic } from "@mcp-effect/protocol/Diagnostic"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type * as Method from "@mcp-effect/protocol/Method"
import type * as Progress from "@mcp-effect/protocol/Progress"
import type { CannotCarry, MethodNotInRevision } from "@mcp-effect/protocol/ProtocolError"
import type * as Revision from "@mcp-effect/protocol/Revision"
import type { Decoded } from "@mcp-effect/protocol/Revision"
import * as Task from "@mcp-effect/protocol/Task"
import type { Era } from "@mcp-effect/protocol/Version"
import type { ExchangeOptions, Incoming, Kind, Plain, Wire } from "@mcp-effect/transport/Transport"
import { Closed, TransportError } from "@mcp-effect/transport/TransportError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import {
  BecameTask,
  NotAvailableInLegacy,
  NotAvailableInModern,
  OutcomeUnknown,
  type Reason,
  RequestTimedOut,
  ServerError,
  WireFailed
} from "../McpClientError.ts"
import type * as Middleware from "../Middleware.ts"
import { mayChange } from "./healing.ts"
import type { Inbound } from "./inbound.ts"
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

export interface Requests {
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

/** What requests go over, and what they need on the way. */
export interface Line {
  readonly wire: Wire
  readonly revision: Revision.Revision
  readonly sender: Revision.Sender
  readonly transport: Kind
  readonly server: string
  readonly nextId: () => number
  readonly middleware: ReadonlyArray<Middleware.Middleware>
  readonly inbound: Inbound
  readonly patience: Patience
  readonly report: (diagnostic: Diagnostic) => Effect.Effect<void>
  readonly isOver: () => boolean
  /** Why this side closed it, if it did. */
  readonly closedBecause: () => string | undefined
  /** Told of each result. */
  readonly proves: () => void
}

/** A line, made ready for one revision. */
interface Ready extends Line {
  readonly stamp: ReturnType<Revision.Revision["stamp"]>
  /** Whether the server may make a task of a call. */
  readonly tasks: boolean
  /** The short way, unless somebody stands in it. */
  readonly begin: Plain["begin"] | undefined
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
  readonly read: (line: Ready, method: M, response: JsonRpc.Response) => Result.Result<Decoded<A>, Reason>
  readonly onSuccess: Next<A, B, F>
  readonly onFailure: Next<Reason, B, F>
}

/** Requests over a line. */
export const over = (line: Line): Requests => {
  const { middleware, nextId, report, revision, sender, server, wire } = line
  const ready: Ready = {
    ...line,
    stamp: revision.stamp(sender),
    tasks: acceptsTasks(revision, sender),
    begin: wire.plain?.exchange === wire.exchange && middleware.length === 0 ? wire.plain.begin : undefined
  }
  return {
    ask: (fiber, method, params, asking, onSuccess, onFailure) => {
      const encoded = revision.encode(method, params)
      if (Result.isFailure(encoded)) return onFailure(unsendable(revision.era, encoded.failure))
      const { dropped, params: written } = encoded.success
      const asked = { id: nextId(), method, params: written, asking, read: read<typeof method>, onSuccess, onFailure }
      if (dropped.length === 0) return spanned(ready, fiber, asked)
      return Effect.andThen(
        Effect.forEach(
          dropped,
          ({ because, pointer }) => report(Diagnostic.MemberDropped({ server, method, pointer, because })),
          { discard: true }
        ),
        Effect.suspend(() => spanned(ready, fiber, asked))
      )
    },
    extension: (fiber, method, params, asking, onSuccess, onFailure) =>
      spanned(ready, fiber, { id: nextId(), method, params, asking, read: readExtension, onSuccess, onFailure })
  }
}

/** In a span, where spans go anywhere. What comes after the request is not of it. */
const spanned = <M extends string, A, B, F>(
  line: Ready,
  fiber: Fiber.Fiber<unknown, unknown>,
  asked: Asked<M, A, B, F>
): Effect.Effect<B, F> => {
  if (!isTraced(fiber)) return ask(line, fiber, asked, undefined)
  const { id, method, onFailure, onSuccess, params } = asked
  const { revision, server, transport } = line
  return Effect.matchEffect(
    traced({ id, method, params, server, transport, version: revision.version }, (trace) =>
      ask<M, A, A, Reason>(line, fiber, { ...asked, onSuccess: Effect.succeed, onFailure: Effect.fail }, trace)
    ),
    { onSuccess, onFailure }
  )
}

const ask = <M extends string, A, B, F>(
  line: Ready,
  fiber: Fiber.Fiber<unknown, unknown>,
  asked: Asked<M, A, B, F>,
  trace: JsonRpc.JsonObject | undefined
): Effect.Effect<B, F> =>
  line.begin === undefined ? guarded(line, asked, trace) : plainly(line, line.begin, fiber, asked, trace)

/** In plain calls: one pause of the fiber, and no effect but what comes after. */
const plainly = <M extends string, A, B, F>(
  line: Ready,
  begin: Plain["begin"],
  fiber: Fiber.Fiber<unknown, unknown>,
  asked: Asked<M, A, B, F>,
  trace: JsonRpc.JsonObject | undefined
): Effect.Effect<B, F> =>
  Effect.callback((resume) => {
    const { patience } = line
    const { asking, method, onFailure } = asked
    const neverLeft = line.isOver()
    const request = requestOf(line, asked, trace)
    const waiting = patience.begin(asking.limit, (passed) => {
      // By the fiber too, so that a fault of the wire ends no other request.
      resume(
        Effect.suspend(() => {
          // Leaving acts at once; nobody waits for the rest of it.
          void leave()
          return onFailure(timedOut(method, passed))
        })
      )
    })
    const alive = asking.resetOnProgress === true ? () => patience.alive(waiting) : undefined
    const leave = begin(request, howOf(line, asked, alive), fiber, (exit) => {
      patience.end(waiting)
      resume(finish(line, asked, exit, neverLeft))
    })
    return Effect.suspend(() => {
      patience.end(waiting)
      return leave()
    })
  })

/** What comes after. A fault in it ends this request alone, and not the wire that told the end. */
const finish = <M extends string, A, B, F>(
  line: Ready,
  asked: Asked<M, A, B, F>,
  exit: Exit.Exit<JsonRpc.Response, TransportError>,
  neverLeft: boolean
): Effect.Effect<B, F> => {
  try {
    if (Exit.isSuccess(exit)) return goOn(line, asked, exit.value)
    const failure = Cause.findError(exit.cause)
    return Result.isSuccess(failure)
      ? asked.onFailure(answered(line, failure.success, asked.method, neverLeft))
      : Effect.failCause(failure.failure)
  } catch (defect) {
    return Effect.die(defect)
  }
}

/** As an effect. Middleware and the wires of others may wait on their own, so the time is kept from outside. */
const guarded = <M extends string, A, B, F>(
  line: Ready,
  asked: Asked<M, A, B, F>,
  trace: JsonRpc.JsonObject | undefined
): Effect.Effect<B, F> => {
  const { asking, method, onFailure } = asked
  const answer = line.patience.within<JsonRpc.Response, Reason>(
    asking.limit,
    (alive) => {
      const neverLeft = line.isOver()
      return Effect.mapError(exchange(line, requestOf(line, asked, trace), howOf(line, asked, alive)), (cause) =>
        answered(line, cause, method, neverLeft)
      )
    },
    (passed) => Effect.fail(timedOut(method, passed))
  )
  return Effect.matchEffect(answer, { onSuccess: (response) => goOn(line, asked, response), onFailure })
}

/** Through the middleware, to the wire. */
const exchange = ({ middleware, wire }: Ready, request: JsonRpc.Request, how: ExchangeOptions) => {
  const through = middleware.reduceRight<Middleware.Next>(
    (next, layer) => (request) => layer(request, next),
    (request) => wire.exchange(request, how)
  )
  return through(request)
}

const requestOf = (
  { stamp }: Ready,
  { asking, id, method, params }: Written,
  trace: JsonRpc.JsonObject | undefined
): JsonRpc.Request => {
  const stamped = stamp(params, extraOf(asking, id, trace))
  return stamped === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params: stamped }
}

const howOf = (
  { inbound, revision }: Ready,
  { asking, id }: Written,
  alive: (() => void) | undefined
): ExchangeOptions => ({
  revision,
  interim: interimOf(asking, id, revision, inbound, alive),
  mirrored: asking.mirrored
})

const read = <M extends Method.Method>(
  { proves, revision, tasks }: Ready,
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
  { proves }: Ready,
  method: string,
  response: JsonRpc.Response
): Result.Result<Decoded<JsonRpc.JsonObject>, Reason> => {
  if (!("result" in response)) return Result.fail(refused(method, response.error))
  proves()
  return Result.succeed({ value: response.result, rejected: nothing })
}

/** Reads the answer, reports what had to be left out, and goes on. */
const goOn = <M extends string, A, B, F>(
  line: Ready,
  { method, onFailure, onSuccess, read }: Asked<M, A, B, F>,
  response: JsonRpc.Response
): Effect.Effect<B, F> => {
  const decoded = read(line, method, response)
  if (Result.isFailure(decoded)) return onFailure(decoded.failure)
  const { rejected, value } = decoded.success
  if (rejected.length === 0) return onSuccess(value)
  const { report, server } = line
  return Effect.andThen(
    Effect.forEach(
      rejected,
      ({ because, name, pointer }) => report(Diagnostic.ItemRejected({ server, method, pointer, name, because })),
      { discard: true }
    ),
    Effect.suspend(() => onSuccess(value))
  )
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
const answered = (line: Line, failure: TransportError, method: string, neverLeft: boolean): Reason => {
  const { endpoint, reason } = failure
  const because = reason._tag === "Closed" ? line.closedBecause() : undefined
  const cause = because === undefined ? failure : new TransportError({ endpoint, reason: new Closed({ because }) })
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
