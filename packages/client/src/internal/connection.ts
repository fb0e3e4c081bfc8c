/**
 * One agreed connection: asks with the parameters of the public model and answers with its results.
 *
 * Everything that depends on the agreed version comes from its `Revision`; nothing here asks which era it is.
 */
import type { Agreement } from "@mcp-effect/negotiation/Agreement"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as Negotiator from "@mcp-effect/negotiation/Negotiator"
import * as Terms from "@mcp-effect/negotiation/Terms"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { Diagnostic, Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import type * as Method from "@mcp-effect/protocol/Method"
import type { CannotCarry, MethodNotInRevision } from "@mcp-effect/protocol/ProtocolError"
import * as Revision from "@mcp-effect/protocol/Revision"
import type { Era } from "@mcp-effect/protocol/Version"
import type { Kind, Transport } from "@mcp-effect/transport/Transport"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { ConnectOptions, RequestOptions } from "../McpClient.ts"
import {
  McpClientError,
  NotAvailableInLegacy,
  NotAvailableInModern,
  OutcomeUnknown,
  type Reason,
  RequestTimedOut,
  ServerError,
  WireFailed
} from "../McpClientError.ts"
import * as Inbound from "./inbound.ts"
import * as NegotiationPort from "./negotiationPort.ts"

export interface Connection {
  readonly agreement: Agreement
  readonly transport: Kind
  readonly request: <M extends Method.Method>(
    method: M,
    params: Method.Params<M>,
    options?: RequestOptions
  ) => Effect.Effect<Method.Result<M>, McpClientError>
}

/** How this library introduces itself. */
const ourselves = { name: "mcp-effect", version: "0.1.0" }

/** Opens a connection whose life is that of the scope; one that fails leaves nothing open. */
export const open = Effect.fnUntraced(function* (
  transport: Transport["Service"],
  options: ConnectOptions
): Effect.fn.Return<Connection, NegotiationError | McpClientError, Scope.Scope> {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* establish(transport, options, scope).pipe(
    Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)))
  )
})

const establish = Effect.fnUntraced(function* (
  transport: Transport["Service"],
  options: ConnectOptions,
  scope: Scope.Scope
): Effect.fn.Return<Connection, NegotiationError | McpClientError> {
  const sender: Revision.Sender = { client: options.client ?? ourselves, capabilities: {} }
  let lastId = 0
  const nextId = () => ++lastId
  const inbound = yield* Inbound.make(transport.endpoint).pipe(Scope.provide(scope))
  const opening = yield* NegotiationPort.make({ transport, sender, nextId, scope, hear: inbound.hear })
  inbound.attach(opening.current)

  const agreement = yield* Negotiator.negotiate({
    endpoint: transport.endpoint,
    mode: options.mode ?? "auto",
    terms: Terms.make({ kind: transport.kind, reopenable: transport.reopenable, sse: false })
  }).pipe(Effect.provideService(Negotiator.Port, opening.port))

  const fail = (reason: Reason) => new McpClientError({ server: transport.endpoint, reason })
  const { wire, revision } = yield* opening
    .settle(agreement.version)
    .pipe(Effect.mapError((cause) => fail(new WireFailed({ method: "connect", cause }))))
  const stamp = revision.stamp(sender)
  const report = yield* Diagnostics
  let over = false
  yield* Effect.exit(wire.ended).pipe(
    Effect.andThen(Effect.sync(() => (over = true))),
    Effect.forkIn(scope, { startImmediately: true })
  )

  const within = (method: string, limit: Duration.Duration) =>
    Effect.timeoutOrElse({
      duration: limit,
      orElse: () => Effect.fail(fail(new RequestTimedOut({ method, limit: Duration.toMillis(limit) })))
    })

  if (agreement.initialize !== undefined) {
    const method = "notifications/initialized"
    yield* wire.send({ jsonrpc: "2.0", method }, revision).pipe(
      Effect.mapError((cause) => fail(new WireFailed({ method, cause }))),
      within(method, yield* Defaults.HandshakeTimeout)
    )
  }

  const request = Effect.fnUntraced(function* <M extends Method.Method>(
    method: M,
    params: Method.Params<M>,
    options: RequestOptions = {}
  ): Effect.fn.Return<Method.Result<M>, McpClientError> {
    const encoded = revision.encode(method, params)
    if (Result.isFailure(encoded)) return yield* fail(unsendable(revision.era, encoded.failure))
    const id = nextId()
    const { onProgress } = options
    const stamped = stamp(encoded.success.params, onProgress === undefined ? {} : { progressToken: id })
    const message: JsonRpc.Request = {
      jsonrpc: "2.0",
      id,
      method,
      ...(stamped === undefined ? {} : { params: stamped })
    }
    const limit =
      options.timeout === undefined ? yield* Defaults.RequestTimeout : Duration.fromInputUnsafe(options.timeout)

    const neverLeft = over
    const response = yield* wire.exchange(message, { revision, interim: inbound.interim(revision, onProgress) }).pipe(
      Effect.catch((cause) => answered(cause, method, neverLeft).pipe(Effect.mapError(fail))),
      within(method, limit)
    )
    if ("error" in response) {
      const { code, message: text, data } = response.error
      return yield* fail(new ServerError({ method, code, text, ...(data === undefined ? {} : { data }) }))
    }

    const decoded = revision.decode(method, response.result)
    if (Result.isFailure(decoded)) return yield* fail(decoded.failure)
    const { value, rejected } = decoded.success
    for (const { because, name, pointer } of rejected) {
      yield* report(Diagnostic.ItemRejected({ server: transport.endpoint, method, pointer, name, because }))
    }
    return value
  })

  return { agreement, transport: transport.kind, request }
})

const unsendable = (era: Era, failure: CannotCarry | MethodNotInRevision): Reason => {
  if (failure._tag === "CannotCarry") return failure
  const { method, version } = failure
  const unavailable = { legacy: NotAvailableInLegacy, modern: NotAvailableInModern }
  return new unavailable[era]({ method, version })
}

/** Statuses of other layers, whose body is not the server's answer whatever it says. */
const notTheServers = (status: number) => status === 401 || status === 403 || status === 407 || status >= 500

/** Whether a failure leaves open that the request was carried out: all but a refusal before anything was done. */
const mayHaveRun = ({ reason }: TransportError) =>
  reason._tag === "HttpRejected" ? reason.status === 408 || reason.status >= 500 : reason._tag !== "SpawnFailed"

/**
 * What a failure of the wire means for the request. A status other than 2xx with a JSON-RPC error in its body is the
 * server's answer.
 */
const answered = (
  cause: TransportError,
  method: Method.Method,
  neverLeft: boolean
): Effect.Effect<JsonRpc.Response, Reason> => {
  const { reason } = cause
  if (reason._tag === "HttpRejected" && reason.error !== undefined && !notTheServers(reason.status))
    return Effect.succeed({ jsonrpc: "2.0", error: reason.error })
  return Effect.fail(
    method === "tools/call" && !neverLeft && mayHaveRun(cause)
      ? new OutcomeUnknown({ method, cause })
      : new WireFailed({ method, cause })
  )
}
