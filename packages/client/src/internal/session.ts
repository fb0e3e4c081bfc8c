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
import { reporting } from "@mcp-effect/protocol/Diagnostic"
import * as Revision from "@mcp-effect/protocol/Revision"
import type { Version } from "@mcp-effect/protocol/Version"
import type { Kind, Transport, Wire } from "@mcp-effect/transport/Transport"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { McpClientError, type Reason, RequestTimedOut, WireFailed } from "../McpClientError.ts"
import type { Middleware } from "../Middleware.ts"
import { Partition } from "../ResultCache.ts"
import type { Inbound } from "./inbound.ts"
import * as NegotiationPort from "./negotiationPort.ts"
import type { Patience } from "./patience.ts"
import * as Requests from "./requests.ts"

export interface Session extends Requests.Requests {
  readonly agreement: Agreement
  readonly transport: Kind
  readonly revision: Revision.Revision
  readonly wire: Wire
  /** Ends the session. What is still open over it fails, and says why. */
  readonly close: (because: string) => Effect.Effect<void>
  /** Whether the wire is gone. */
  readonly isOver: () => boolean
  /** Whether a request got its result over this wire. */
  readonly isProven: () => boolean
  /** The same session, spoken in another version of the same era. */
  readonly speaking: (version: Version) => Session
}

export interface Options<R> {
  readonly transport: Transport["Service"]
  readonly mode: Mode
  readonly sender: Revision.Sender
  readonly inbound: Inbound
  readonly patience: Patience
  readonly nextId: () => number
  readonly middleware: ReadonlyArray<Middleware>
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
      return Effect.map(Partition, (partition) => {
        const key = EraMemory.keyOfHttp(endpoint, partition)
        return setting === "" ? key : `${setting} ${key}`
      })
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
  let closed: string | undefined
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
    closedBecause: () => closed,
    proves: () => void (proven = true)
  }
  const speaking = (spoken: Revision.Revision): Session => ({
    agreement,
    transport: kind,
    revision: spoken,
    wire,
    close: (because) =>
      Effect.suspend(() => {
        closed ??= because
        return Scope.close(scope, Exit.void)
      }),
    isOver: line.isOver,
    isProven: () => proven,
    speaking: (version) => speaking(Revision.of(version)),
    ...Requests.over({ ...line, revision: spoken })
  })
  return speaking(revision)
})
