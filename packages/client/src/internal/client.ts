/** Builds the client's operations over a connection. */
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import * as Capabilities from "@mcp-effect/protocol/Capabilities"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import type { InputRequired as Asked } from "@mcp-effect/protocol/InputRequired"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import { methods } from "@mcp-effect/protocol/Method"
import type * as Method from "@mcp-effect/protocol/Method"
import type * as Tool from "@mcp-effect/protocol/Tool"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Filter } from "../Change.ts"
import { Outcome } from "../Continuation.ts"
import type { Options as ExtensionOptions } from "../ExtensionMethod.ts"
import * as Handlers from "../Handlers.ts"
import type { Items } from "../LiveList.ts"
import type { CallOptions, Client, ConnectOptions, Listings, ListMethod, RequestOptions } from "../McpClient.ts"
import { InputRequired, type InvalidOption, McpClientError, type Reason, timeOf } from "../McpClientError.ts"
import * as Caching from "./caching.ts"
import * as CallStream from "./callStream.ts"
import * as Connection from "./connection.ts"
import * as Given from "./given.ts"
import { mayChange } from "./healing.ts"
import * as Inbound from "./inbound.ts"
import * as Lists from "./liveList.ts"
import * as LogLevel from "./logLevel.ts"
import * as Logs from "./logs.ts"
import * as Pages from "./pages.ts"
import * as Patience from "./patience.ts"
import * as Questions from "./questions.ts"
import * as Rounds from "./rounds.ts"
import type { Limit } from "./patience.ts"
import type { Next } from "./requests.ts"
import * as Toolbox from "./toolbox.ts"
import { named, operation } from "./tracing.ts"
import { version } from "./version.ts"
import * as Watching from "./watching.ts"

/** How this library introduces itself. */
const ourselves = { name: "mcp-effect", version }

export const make = Effect.fnUntraced(function* <R>(
  transport: Transport["Service"],
  options: ConnectOptions<R>
): Effect.fn.Return<Client, NegotiationError | McpClientError, R | Scope.Scope> {
  const server = transport.endpoint
  const heartbeat = options.heartbeat === undefined ? undefined : timeOf("heartbeat", options.heartbeat)
  if (heartbeat !== undefined && Result.isFailure(heartbeat)) {
    return yield* new McpClientError({ server, reason: heartbeat.failure })
  }
  const handlers = options.handlers ?? {}
  const respondent = yield* Questions.make(server, handlers)
  const { respond } = respondent
  const patience = yield* Patience.make()
  const inbound = yield* Inbound.make(server, respondent, patience)
  const logs = yield* Logs.make(server, inbound, options.forwardLogs === true)
  const capabilities: Capabilities.Client = {
    ...Handlers.capabilities(handlers),
    ...(options.extensions === undefined ? {} : { extensions: options.extensions })
  }
  let lastId = 0
  const reconnect = options.reconnect ?? (yield* defaultReconnect)
  const connection = yield* Connection.open<R>({
    transport,
    mode: options.mode ?? "auto",
    sender: { client: options.client ?? ourselves, capabilities },
    inbound,
    patience,
    nextId: () => ++lastId,
    middleware: options.middleware ?? [],
    heartbeat: heartbeat === undefined ? undefined : Duration.millis(heartbeat.success),
    reconnect,
    ...(options.inspectDiscover === undefined ? {} : { inspectDiscover: options.inspectDiscover }),
    ...(options.inspectInitialize === undefined ? {} : { inspectInitialize: options.inspectInitialize })
  })
  const toolbox = yield* Toolbox.make(server, connection.session)
  const caching = yield* Caching.make({ transport, revision: () => connection.session().revision, capabilities })
  inbound.listen(caching.hear)
  const logLevel = yield* LogLevel.make(server, connection)
  const watching = yield* Watching.make({
    server,
    connection,
    inbound,
    reopenable: transport.reopenable,
    relisten: options.relisten ?? reconnect
  })

  const refuse = (reason: Reason) => Effect.fail(new McpClientError({ server, reason }))

  let usual: { readonly timeout: Duration.Duration; readonly limit: Result.Result<Limit> } | undefined

  /** The time limits of a request: those it was given, or those of the fiber that makes it. */
  const limitOf = (
    fiber: Fiber.Fiber<unknown, unknown>,
    { resetOnProgress, timeout }: How
  ): Result.Result<Limit, InvalidOption> => {
    if (timeout === undefined && resetOnProgress !== true) {
      const timeout = fiber.getRef(Defaults.RequestTimeout)
      if (usual?.timeout !== timeout) {
        const idle = Duration.toMillis(timeout)
        usual = { timeout, limit: Result.succeed({ idle, total: idle }) }
      }
      return usual.limit
    }
    return Result.map(timeOf("timeout", timeout ?? fiber.getRef(Defaults.RequestTimeout)), (idle) => ({
      idle,
      total: resetOnProgress === true ? Duration.toMillis(fiber.getRef(Defaults.RequestCap)) : idle
    }))
  }

  /** How a request is made. */
  const askingOf = (
    limit: Limit,
    method: string,
    params: JsonRpc.JsonObject,
    how: How,
    repeatable: boolean,
    mirrored?: Connection.Asking["mirrored"],
    refreshed?: Connection.Asking["refreshed"]
  ): Connection.Asking => {
    const { meta, onProgress, resetOnProgress } = how
    const level = how.logLevel ?? logLevel.current()
    return {
      limit,
      repeatable,
      onProgress,
      resetOnProgress,
      onNotification: logs.owned(method, params, how.onNotification),
      mirrored,
      refreshed,
      extra:
        meta === undefined && level === undefined
          ? undefined
          : { ...(meta === undefined ? {} : { meta }), ...(level === undefined ? {} : { logLevel: level }) }
    }
  }

  /** Sends a request for a fiber that runs it at once. */
  const send = <M extends Method.Method>(
    fiber: Fiber.Fiber<unknown, unknown>,
    method: M,
    params: Method.Params<M>,
    how: How
  ): Effect.Effect<Method.Result<M>, McpClientError> => {
    const limit = limitOf(fiber, how)
    if (Result.isFailure(limit)) return refuse(limit.failure)
    const asking = askingOf(limit.success, method, params, how, !mayChange(method))
    return connection.ask(fiber, method, params, asking, Effect.succeed, Effect.fail)
  }

  const extension = (
    fiber: Fiber.Fiber<unknown, unknown>,
    method: string,
    params: JsonRpc.JsonObject,
    { repeatable = false, ...how }: ExtensionOptions
  ): Effect.Effect<JsonRpc.JsonObject, McpClientError> => {
    const misnamed = Given.extensionMethod(method)
    if (misnamed !== undefined) return refuse(misnamed)
    const limit = limitOf(fiber, how)
    return Result.isFailure(limit)
      ? refuse(limit.failure)
      : connection.extension(fiber, method, params, askingOf(limit.success, method, params, how, repeatable))
  }

  const request = <M extends Method.Method>(
    method: M,
    params: Method.Params<M>,
    how: How = {}
  ): Effect.Effect<Method.Result<M>, McpClientError> =>
    Effect.withFiber((fiber) => caching.through(method, params, how, () => send(fiber, method, params, how)))

  const pagesOf = <M extends ListMethod>(method: M, how: How | undefined) => ({
    server,
    method,
    items: Pages.rows[method].items,
    page: (cursor: string | undefined) => Pages.rows[method].ask<How | undefined>(request, cursor, how)
  })

  const listOf =
    <M extends ListMethod>(method: M) =>
    (how?: RequestOptions) => {
      let kept = false
      const onKept = () => {
        kept = true
      }
      const walk = Pages.walk<Listings[M], Items[M]>(pagesOf(method, { ...how, onKept }))
      // A kept page may lead to a cursor that holds no more; by now it is forgotten (M-CACHE-16).
      return Effect.catchIf(
        walk,
        ({ reason }) => kept && isInvalidParams(reason),
        () => walk
      )
    }

  const listTools = (how?: RequestOptions) => Effect.flatMap(listOf("tools/list")(how), toolbox.take)
  const listPrompts = listOf("prompts/list")
  const listResources = listOf("resources/list")
  const listResourceTemplates = listOf("resources/templates/list")

  /** Tools page by page become known like tools listed at once. */
  const pagesOfTools = (how?: RequestOptions) =>
    Stream.mapEffect(Pages.stream(pagesOf("tools/list", how)), (page, index) =>
      Effect.map(toolbox.take(page.tools, index > 0), (tools) => ({ ...page, tools }))
    )
  const pages: {
    readonly [M in ListMethod]: (how?: RequestOptions) => Stream.Stream<Listings[M], McpClientError>
  } = {
    "tools/list": pagesOfTools,
    "prompts/list": (how) => Pages.stream(pagesOf("prompts/list", how)),
    "resources/list": (how) => Pages.stream(pagesOf("resources/list", how)),
    "resources/templates/list": (how) => Pages.stream(pagesOf("resources/templates/list", how))
  }

  const following = <A>(
    filter: Filter,
    list: (how: RequestOptions) => Effect.Effect<ReadonlyArray<A>, McpClientError>
  ) =>
    Lists.make({ watching, state: connection.state, filter, fetch: Effect.suspend(() => list({ cache: "refresh" })) })
  const live = (): {
    readonly [M in ListMethod]: () => ReturnType<typeof Lists.make<Items[M]>>
  } => ({
    "tools/list": () => following({ tools: true }, listTools),
    "prompts/list": () => following({ prompts: true }, listPrompts),
    "resources/list": () => following({ resources: true }, listResources),
    "resources/templates/list": () => following({ resources: true }, listResourceTemplates)
  })

  /** One round of a call, with the headers its tool declares. */
  const callOnce = <B>(
    fiber: Fiber.Fiber<unknown, unknown>,
    name: string,
    args: JsonRpc.JsonObject,
    retry: Rounds.Retry | undefined,
    how: CallOptions,
    onSuccess: Next<Method.Result<"tools/call">, B, McpClientError>,
    onFailure: Next<McpClientError, B, McpClientError>
  ): Effect.Effect<B, McpClientError> => {
    const { definition, task } = how
    const limit = limitOf(fiber, how)
    if (Result.isFailure(limit)) return onFailure(new McpClientError({ server, reason: limit.failure }))
    const mirrored = toolbox.mirrored(name, args, definition)
    if (Result.isFailure(mirrored)) return onFailure(mirrored.failure)
    const asked = task === undefined ? undefined : taskOf(name, task, definition)
    if (asked !== undefined && Result.isFailure(asked)) {
      return onFailure(new McpClientError({ server, reason: asked.failure }))
    }
    const params = { name, arguments: args, ...retry, ...asked?.success }
    const asking = askingOf(
      limit.success,
      "tools/call",
      params,
      how,
      how.repeatable ?? toolbox.isRepeatable(name, definition),
      mirrored.success,
      () => refreshed(name, args, how)
    )
    return connection.ask(fiber, "tools/call", params, asking, onSuccess, onFailure)
  }

  /** The same where only one round is made. */
  const callOneRound = (
    name: string,
    args: JsonRpc.JsonObject,
    retry: Rounds.Retry | undefined,
    how: CallOptions
  ): Effect.Effect<Method.Result<"tools/call">, McpClientError> =>
    Effect.withFiber((fiber) =>
      callOnce<Method.Result<"tools/call">>(
        fiber,
        name,
        args,
        retry,
        how,
        (result) =>
          Rounds.isInputRequired(result) ? Effect.succeed(result) : toolbox.checkOutput(name, result, how.definition),
        Effect.fail
      )
    )

  /** The member that asks for a task, where server and tool say that they can make one. */
  const taskOf = (name: string, given: NonNullable<CallOptions["task"]>, mine: CallOptions["definition"]) => {
    const ttl = given.ttl === undefined ? undefined : Given.ttl(given.ttl)
    if (ttl !== undefined && Result.isFailure(ttl)) return Result.fail(ttl.failure)
    const { agreement, revision } = connection.session()
    const canTask =
      revision.supports("tasks/result") &&
      Capabilities.declares(agreement.capabilities ?? {}, ["tasks", "requests", "tools", "call"])
    const wish = (mine ?? toolbox.find(name))?.execution?.taskSupport
    if (!canTask || (wish !== "optional" && wish !== "required")) return Result.succeed({})
    return Result.succeed({ task: ttl === undefined ? {} : { ttl: ttl.success } })
  }

  const refreshed = (name: string, args: JsonRpc.JsonObject, { timeout }: How) =>
    Effect.flatMap(listTools({ cache: "refresh", ...(timeout === undefined ? {} : { timeout }) }), () =>
      Effect.fromResult(toolbox.mirrored(name, args))
    )

  /** A call with all of its rounds. Almost every call has one, so that one is kept cheap. */
  const call = (
    fiber: Fiber.Fiber<unknown, unknown>,
    name: string,
    args: JsonRpc.JsonObject,
    how: CallOptions,
    onRound?: (asked: Asked) => void
  ): Effect.Effect<Tool.CallResult, McpClientError> => {
    const accept = (result: Tool.CallResult) => toolbox.checkOutput(name, result, how.definition)
    const driving = (): Rounds.Driving<Tool.CallResult> => ({
      server,
      method: "tools/call",
      respond,
      onRound,
      ask: (retry) => callOnce(fiber, name, args, retry, how, Effect.succeed, Effect.fail),
      accept
    })
    return callOnce(
      fiber,
      name,
      args,
      undefined,
      how,
      (result) => (Rounds.isInputRequired(result) ? Rounds.goOn(driving(), result) : accept(result)),
      (error) => Rounds.afterFailure(error, driving)
    )
  }

  return {
    endpoint: server,
    get transport() {
      return connection.session().transport
    },
    get agreement() {
      return connection.session().agreement
    },
    state: connection.state,
    notifications: logs.notifications,
    discover: (how) =>
      operation("McpClient.discover", () => request("server/discover", {}, { cache: "refresh", ...how })),
    listTools: (how) => operation("McpClient.listTools", () => listTools(how)),
    callTool: (name, args = {}, how = {}) =>
      Effect.withFiber((fiber) => named(fiber, "McpClient.callTool", call(fiber, name, args, how))),
    streamTool: (name, args = {}, how = {}) =>
      CallStream.make({
        server,
        name,
        how,
        revision: () => connection.session().revision,
        call: (hearing, onRound) =>
          Effect.withFiber((fiber) => call(fiber, name, args, { ...how, ...hearing }, onRound))
      }),
    begin: (name, args = {}, how = {}) =>
      operation("McpClient.begin", () =>
        Effect.map(callOneRound(name, args, undefined, how), (result) => outcomeOf(name, args, 1, result))
      ),
    resume: (continuation, answers, how = {}) =>
      operation("McpClient.resume", () => {
        const { arguments: args, questions, requestState, round, tool } = continuation
        const given = Rounds.given(questions, answers)
        if (Result.isFailure(given)) {
          return refuse(new InputRequired({ method: "tools/call", because: given.failure }))
        }
        const retry: Rounds.Retry = {
          ...(Object.keys(given.success).length === 0 ? {} : { inputResponses: given.success }),
          ...(requestState === undefined ? {} : { requestState })
        }
        return Effect.map(callOneRound(tool, args, retry, how), (result) => outcomeOf(tool, args, round + 1, result))
      }),
    answer: (questions) =>
      Rounds.answers(questions, respond).pipe(
        Effect.map((answers) => answers ?? {}),
        Effect.mapError(
          (because) => new McpClientError({ server, reason: new InputRequired({ method: "questions", because }) })
        )
      ),
    listPrompts: (how) => operation("McpClient.listPrompts", () => listPrompts(how)),
    getPrompt: (name, args = {}, how) =>
      operation("McpClient.getPrompt", () =>
        Rounds.drive({
          server,
          method: "prompts/get",
          respond,
          ask: (retry) => request("prompts/get", { name, arguments: args, ...retry }, how),
          accept: Effect.succeed
        })
      ),
    listResources: (how) => operation("McpClient.listResources", () => listResources(how)),
    listResourceTemplates: (how) => operation("McpClient.listResourceTemplates", () => listResourceTemplates(how)),
    readResource: (uri, how) =>
      operation("McpClient.readResource", () =>
        Rounds.drive({
          server,
          method: "resources/read",
          respond,
          ask: (retry) => request("resources/read", { uri, ...retry }, how),
          accept: Effect.succeed
        })
      ),
    complete: (params, how) => operation("McpClient.complete", () => request("completion/complete", params, how)),
    pages: (method, how) => {
      const unknown = Given.oneOf("method", method, pages)
      return unknown === undefined ? pages[method](how) : Stream.fromEffect(refuse(unknown))
    },
    ping: (how) => operation("McpClient.ping", () => Effect.asVoid(request("ping", {}, how))),
    extension: (method, params, how = {}) =>
      operation("McpClient.extension", (fiber) => extension(fiber, method, params, how)),
    request: (method, params, how) => {
      const unknown = Given.oneOf("method", method, methods)
      return operation("McpClient.request", () =>
        unknown === undefined ? request(method, params, how) : refuse(unknown)
      )
    },
    changes: watching.changes,
    live: (method) => {
      const unknown = Given.oneOf("method", method, Pages.rows)
      return unknown === undefined ? live()[method]() : refuse(unknown)
    },
    logs: logs.stream,
    setLogLevel: (level) => operation("McpClient.setLogLevel", () => logLevel.set(level)),
    rootsChanged: operation("McpClient.rootsChanged", (fiber) => {
      const method = "notifications/roots/list_changed"
      const nobody = handlers.roots === undefined || Result.isFailure(connection.session().revision.tell(method, {}))
      if (nobody) return Effect.void
      const limit = Duration.toMillis(fiber.getRef(Defaults.RequestTimeout))
      return connection.notify({ jsonrpc: "2.0", method }, { limit: { idle: limit, total: limit } })
    })
  }
})

const outcomeOf = (
  tool: string,
  args: JsonRpc.JsonObject,
  round: number,
  result: Method.Result<"tools/call">
): Outcome =>
  Rounds.isInputRequired(result)
    ? Outcome.Paused({
        continuation: {
          tool,
          arguments: args,
          questions: result.inputRequests ?? {},
          ...(result.requestState === undefined ? {} : { requestState: result.requestState }),
          round
        }
      })
    : Outcome.Done({ result })

type How = RequestOptions & Pick<Caching.How, "onKept">

const isInvalidParams = (reason: Reason) => reason._tag === "ServerError" && reason.code === ErrorCode.InvalidParams

let shared: { readonly settings: ReadonlyArray<unknown>; readonly schedule: Schedule.Schedule<unknown> } | undefined

/** Connections with the same settings share a schedule, which has no state. */
const defaultReconnect = Effect.gen(function* () {
  const first = yield* Defaults.ReconnectPause
  const most = yield* Defaults.ReconnectMaxPause
  const times = yield* Defaults.ReconnectAttempts
  const settings = [first, most, times]
  if (shared === undefined || shared.settings.some((setting, index) => setting !== settings[index])) {
    const paced = Schedule.min([Schedule.exponential(first), Schedule.spaced(most)])
    shared = { settings, schedule: Schedule.upTo(Schedule.jittered(paced), { times }) }
  }
  return shared.schedule
})
