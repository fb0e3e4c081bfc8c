/** Runs one server: connects, keeps its lists, and says how it is doing, until it is stopped. */
import type { Handlers } from "@mcp-effect/client/Handlers"
import type { LiveList } from "@mcp-effect/client/LiveList"
import * as McpClient from "@mcp-effect/client/McpClient"
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import type { ServerLog } from "@mcp-effect/client/ServerLog"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { type Lists, noLists } from "../Catalogue.ts"
import { Crashed, HostError, NotReady, ServerStopped } from "../HostError.ts"
import type { HostedServer } from "../HostedServer.ts"
import { Happening } from "../HostEvent.ts"
import type { ServerEntry } from "../ServerEntry.ts"
import { type About, ServerState, type StartError } from "../ServerState.ts"
import * as Deadline from "./deadline.ts"
import { observed } from "./observed.ts"
import * as Supervision from "./supervision.ts"
import type { Transports } from "./transports.ts"

/** What a server needs of its host. */
export interface Surroundings<R> {
  readonly happened: (server: string, happening: Happening) => void
  /** Milliseconds. */
  readonly now: () => number
  readonly logged: (server: string, log: ServerLog) => Effect.Effect<void>
  /** The lists of a server are other ones now. */
  readonly relisted: Effect.Effect<void>
  readonly transports: Transports
  /** The program's handlers for this server, without what its entry keeps off. */
  readonly handlersFor: (entry: ServerEntry) => Handlers<R>
  /** How every connection is made. */
  readonly connect: Omit<McpClient.ConnectOptions<R>, "handlers" | "mode">
  /** When a server that failed is tried again. */
  readonly retry: Supervision.Retry
  /** What handlers and hooks need. */
  readonly context: Context.Context<R>
}

/** What the host sees of a server beyond what everybody does. */
export interface Running extends Omit<HostedServer, "events"> {
  /** Counts the time in which no question of the server waits for an answer. */
  readonly stopwatch: Deadline.Stopwatch
  /**
   * The effect, or `ServerStopped` as soon as the server is stopped. A `call` belongs into it. `isSent` says whether anything
   * was sent by then; without it something may have been.
   */
  readonly during: <A, E>(effect: Effect.Effect<A, E>, isSent?: () => boolean) => Effect.Effect<A, E | HostError>
  readonly call: (
    tool: Tool.Tool,
    args: JsonObject,
    options: McpClient.CallOptions
  ) => Effect.Effect<Tool.CallResult, McpClientError | HostError>
}

interface Session {
  readonly stopped: Deferred.Deferred<void>
  readonly fiber: Fiber.Fiber<void>
  client: Client | undefined
}

type Client = McpClient.Client

type Keep = <L extends keyof Lists>(list: L, items: ReadonlyArray<Lists[L][number]>) => Effect.Effect<void>

/** A list of a server: where it comes from, and how it is kept. */
const kind = <L extends keyof Lists>(
  list: L,
  method: McpClient.ListMethod,
  capability: "tools" | "prompts" | "resources",
  fetch: (
    client: Client
  ) => Effect.Effect<SubscriptionRef.SubscriptionRef<LiveList<Lists[L][number]>>, McpClientError, Scope.Scope>
) => ({
  list,
  method,
  capability,
  /** Keeps the list in step with the server. */
  follow: Effect.fnUntraced(function* (client: Client, keep: Keep) {
    const live = yield* fetch(client)
    yield* keep(list, SubscriptionRef.getUnsafe(live).items)
    yield* SubscriptionRef.changes(live).pipe(
      Stream.runForEach(({ items }) => keep(list, items)),
      Effect.forkScoped
    )
  })
})

const tools = kind("tools", "tools/list", "tools", (client) => client.live("tools/list"))
const others = [
  kind("prompts", "prompts/list", "prompts", (client) => client.live("prompts/list")),
  kind("resources", "resources/list", "resources", (client) => client.live("resources/list")),
  kind("templates", "resources/templates/list", "resources", (client) => client.live("resources/templates/list"))
]

/** What a server has not said it can do is tried, when it has said nothing at all. */
const has = ({ capabilities }: Client["agreement"], capability: keyof NonNullable<typeof capabilities>) =>
  capabilities === undefined || capabilities[capability] !== undefined

const aboutOf = ({ agreement }: Client): About => ({
  identity: agreement.identity,
  instructions: agreement.instructions,
  version: agreement.version,
  tools: has(agreement, "tools"),
  resources: has(agreement, "resources"),
  prompts: has(agreement, "prompts"),
  logging: has(agreement, "logging")
})

/** Counts the questions of a server that are open. */
const counted = <R>(handlers: Handlers<R>, { asking }: Deadline.Stopwatch): Handlers<R> => {
  const while_ =
    <Q, A, E>(handler: (question: Q) => Effect.Effect<A, E, R>) =>
    (question: Q) =>
      asking(Effect.suspend(() => handler(question)))
  const { elicitation, sampling } = handlers
  return {
    ...handlers,
    ...(elicitation === undefined
      ? {}
      : {
          elicitation: {
            ...(elicitation.form === undefined ? {} : { form: while_(elicitation.form) }),
            ...(elicitation.url === undefined ? {} : { url: while_(elicitation.url) })
          }
        }),
    ...(sampling === undefined ? {} : { sampling: while_(sampling) })
  }
}

export const make = Effect.fnUntraced(function* <R>(
  entry: ServerEntry,
  around: Surroundings<R>
): Effect.fn.Return<Running, never, Scope.Scope> {
  const { name } = entry
  const scope = yield* Effect.scope
  const outer = yield* Diagnostics
  const one = yield* Semaphore.make(1)
  const state = yield* SubscriptionRef.make<ServerState>(ServerState.Stopped())
  const lists = yield* SubscriptionRef.make<Lists>(noLists)
  const stopwatch = yield* Deadline.stopwatch
  let session: Session | undefined
  /** Of the transport that was used last. */
  let reopenable = true

  const emit = (happening: Happening) => Effect.sync(() => around.happened(name, happening))

  /** Told first, so that what others do because of it comes after it. */
  const become = (next: ServerState) =>
    Effect.andThen(emit(Happening.StateChanged({ state: next })), SubscriptionRef.set(state, next))

  const keep: Keep = (list, items) =>
    Effect.suspend(() =>
      SubscriptionRef.getUnsafe(lists)[list] === items
        ? Effect.void
        : SubscriptionRef.update(lists, (all) => ({ ...all, [list]: items })).pipe(
            Effect.andThen(around.relisted),
            Effect.andThen(emit(Happening.ListChanged({ list, count: items.length })))
          )
    )

  const failedToList = (method: string) => (error: McpClientError) =>
    emit(Happening.RequestFailed({ id: undefined, method, code: undefined, message: error.message }))

  const isMissing = ({ reason }: McpClientError) =>
    reason._tag === "ServerError" && reason.code === ErrorCode.MethodNotFound

  /** One connection, until it could not be made or is lost for good. `ready` is said each time it becomes so. */
  const attempt = (mine: () => Session | undefined, ready: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const transport = yield* around.transports(entry)
      reopenable = transport.reopenable
      let connected: Client | undefined
      const isProbe = ({ method }: { readonly method: string }) =>
        method === "server/discover" &&
        (connected === undefined || SubscriptionRef.getUnsafe(connected.state)._tag !== "Connected")
      const client = yield* McpClient.connect<R>(
        observed(transport, {
          now: around.now,
          happened: (happening) =>
            around.happened(
              name,
              happening._tag === "RequestFailed" && isProbe(happening) ? { ...happening, probe: true } : happening
            )
        }),
        {
          ...around.connect,
          mode: entry.era,
          handlers: counted(around.handlersFor(entry), stopwatch)
        }
      )
      connected = client
      yield* client.logs.pipe(
        Stream.runForEach((log) => around.logged(name, log)),
        Effect.forkScoped({ startImmediately: true })
      )
      let lost = false
      const keepMine: Keep = (list, items) =>
        Effect.suspend(() => (lost || mine() === undefined ? Effect.void : keep(list, items)))
      const follow = (list: typeof tools | (typeof others)[number]) => list.follow(client, keepMine)
      const turn = (next: ServerState) => Effect.suspend(() => (mine() === undefined ? Effect.void : become(next)))

      // A tool list that cannot be had is a failure of the server, unless it never said that it has one.
      if (has(client.agreement, tools.capability)) {
        yield* follow(tools).pipe(
          client.agreement.capabilities === undefined
            ? Effect.catchIf(isMissing, failedToList(tools.method))
            : (effect) => effect
        )
      }
      for (const list of others.filter(({ capability }) => has(client.agreement, capability))) {
        yield* Effect.forkScoped(Effect.catch(follow(list), failedToList(list.method)))
      }
      const current = mine()
      if (current !== undefined) current.client = client
      yield* ready
      yield* turn(ServerState.Ready({ about: aboutOf(client) }))
      yield* SubscriptionRef.changes(client.state).pipe(
        Stream.runForEach((now) => {
          const { _tag } = SubscriptionRef.getUnsafe(state)
          switch (now._tag) {
            case "Connected":
              return _tag === "Ready" ? Effect.void : turn(ServerState.Ready({ about: aboutOf(client) }))
            case "Reconnecting":
              return _tag === "Ready" ? turn(ServerState.Connecting()) : Effect.void
            case "Lost": {
              // Closing may take a while, and nothing may be called meanwhile.
              lost = true
              return Effect.andThen(withdraw, Effect.fail(now.error))
            }
            case "Closed":
              return Effect.void
          }
        })
      )
      return yield* Effect.never
    }).pipe(
      Effect.scoped,
      Effect.provideContext(around.context),
      Effect.provideService(Diagnostics, (diagnostic) =>
        Effect.andThen(emit(Happening.Noticed({ diagnostic })), outer(diagnostic))
      ),
      (running) =>
        entry.connectTimeout === undefined
          ? running
          : Effect.flatMap(Deadline.millisOf(name, "connectTimeout", entry.connectTimeout), (limit) =>
              Effect.provideService(running, Defaults.ConnectTimeout, Duration.millis(limit))
            ),
      Effect.onExit(() =>
        Effect.sync(() => {
          const current = mine()
          if (current !== undefined) current.client = undefined
        })
      ),
      Effect.catchCause((cause: Cause.Cause<NegotiationError | McpClientError | HostError>) =>
        Effect.succeed<StartError>(
          Option.getOrElse(
            Cause.findErrorOption(cause),
            () => new HostError({ reason: new Crashed({ server: name, cause: Cause.squash(cause) }) })
          )
        )
      )
    )

  /** `mine` gives the session of this run until it is being stopped: from then on the run has nothing to say. */
  const run = Effect.fnUntraced(function* (mine: () => Session | undefined) {
    const { failed, ready } = yield* Supervision.make(entry, around.retry)
    while (true) {
      const error = yield* attempt(mine, ready)
      if (mine() === undefined) return
      const [failure, pause] = yield* failed(error, reopenable)
      yield* withdraw
      yield* become(failure)
      if (failure.nextTry === undefined) return
      yield* Effect.sleep(pause)
      if (mine() === undefined) return
      yield* become(ServerState.Connecting())
    }
  })

  const withdraw = Effect.suspend(() =>
    SubscriptionRef.getUnsafe(lists) === noLists
      ? Effect.void
      : Effect.andThen(SubscriptionRef.set(lists, noLists), around.relisted)
  )

  const wasStopped = (sent: boolean) =>
    Effect.fail(new HostError({ reason: new ServerStopped({ server: name, sent }) }))

  const end = Effect.suspend(() => {
    const ending = session
    if (ending === undefined) return Effect.void
    session = undefined
    return become(ServerState.Stopping()).pipe(
      Effect.andThen(withdraw),
      Effect.andThen(Deferred.succeed(ending.stopped, undefined)),
      Effect.andThen(Fiber.interrupt(ending.fiber)),
      Effect.andThen(become(ServerState.Stopped()))
    )
  })

  const begin = Effect.gen(function* () {
    if (scope.state._tag === "Closed") return
    if (session !== undefined && SubscriptionRef.getUnsafe(state)._tag !== "Failed") return
    if (session !== undefined) yield* end
    yield* become(ServerState.Connecting())
    const stopped = yield* Deferred.make<void>()
    // Begins to run only after `session` is set.
    const fiber = yield* Effect.forkIn(
      run(() => (session?.stopped === stopped ? session : undefined)),
      scope
    )
    session = { stopped, fiber, client: undefined }
  })

  // Stopping goes on when the one who asked for it is gone.
  const start = one.withPermits(1)(Effect.uninterruptible(begin))
  const stop = one.withPermits(1)(Effect.uninterruptible(end))
  // A start that came between the last stop and this.
  yield* Effect.addFinalizer(() => stop)

  const notReady = Effect.suspend(() => {
    const now = SubscriptionRef.getUnsafe(state)
    const because = now._tag === "Failed" ? now.error.message : undefined
    // It is about to be said to be stopping.
    const tag = session === undefined && now._tag === "Ready" ? "Stopping" : now._tag
    return Effect.fail(new HostError({ reason: new NotReady({ server: name, state: tag, because }) }))
  })

  const ready: HostedServer["ready"] = SubscriptionRef.changes(state).pipe(
    Stream.mapEffect((now) => {
      if (now._tag === "Ready") return Effect.succeedSome(now.about)
      if (now._tag === "Failed") return Effect.fail(now.error)
      return now._tag === "Stopped" ? notReady : Effect.succeedNone
    }),
    Stream.filter((about) => about._tag === "Some"),
    Stream.take(1),
    Stream.runCollect,
    Effect.flatMap(([about]) => (about === undefined ? notReady : Effect.succeed(about.value)))
  )

  const client: HostedServer["client"] = Effect.suspend(() =>
    session?.client === undefined ? notReady : Effect.succeed(session.client)
  )

  const during: Running["during"] = (effect, isSent = () => true) =>
    Effect.suspend(() =>
      session === undefined
        ? notReady
        : Effect.raceFirst(
            effect,
            Effect.flatMap(Deferred.await(session.stopped), () => wasStopped(isSent()))
          )
    )

  return {
    name,
    entry,
    state,
    lists,
    stopwatch,
    start,
    stop,
    restart: one.withPermits(1)(Effect.uninterruptible(Effect.andThen(end, begin))),
    ready,
    client,
    during,
    call: (tool, args, options) =>
      Effect.suspend(() =>
        session === undefined
          ? wasStopped(false)
          : Effect.flatMap(client, (connected) => connected.callTool(tool.name, args, options))
      )
  }
})
