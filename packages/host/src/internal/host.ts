/** Makes a host: the registry of servers, the catalogue over them, and the way of a call through both. */
import type { Handlers } from "@mcp-effect/client/Handlers"
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { Diagnostic } from "@mcp-effect/protocol/Diagnostic"
import type * as Tool from "@mcp-effect/protocol/Tool"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type * as Approval from "../Approval.ts"
import * as Catalogue from "../Catalogue.ts"
import type { CallOptions, Difference, Host, HostedLog, Options, ToolRef } from "../Host.ts"
import type { HostedServer } from "../HostedServer.ts"
import {
  HostClosed,
  HostError,
  NameTaken,
  NotReady,
  type Reason,
  ToolDenied,
  ToolTimedOut,
  UnknownServer,
  UnknownTool
} from "../HostError.ts"
import { Happening, type HostEvent, levelOf } from "../HostEvent.ts"
import type { ServerEntry } from "../ServerEntry.ts"
import * as Broadcast from "./broadcast.ts"
import * as Deadline from "./deadline.ts"
import * as Gate from "./gate.ts"
import * as Hosted from "./hostedServer.ts"
import { Sent } from "./observed.ts"
import * as Supervision from "./supervision.ts"
import * as Transports from "./transports.ts"

const fail = (reason: Reason) => Effect.fail(new HostError({ reason }))

/** The program's handlers for one server; what the entry keeps off is not there (U-58). */
const handlersFor =
  <R>({ handlers = {} }: Options<R>) =>
  ({ elicitation, name }: ServerEntry): Handlers<R> => {
    const { elicitation: { form, url } = {}, roots, sampling, samplingTools } = handlers
    return {
      elicitation: {
        ...(form === undefined || !elicitation.form ? {} : { form: (question) => form(question, name) }),
        ...(url === undefined || !elicitation.url ? {} : { url: (question) => url(question, name) })
      },
      ...(sampling === undefined ? {} : { sampling: (question) => sampling(question, name) }),
      ...(samplingTools === undefined ? {} : { samplingTools }),
      ...(roots === undefined ? {} : { roots: Effect.suspend(() => roots(name)) })
    }
  }

export const make = Effect.fnUntraced(function* <R = never>(
  options: Options<R> = {}
): Effect.fn.Return<Host["Service"], never, R | Scope.Scope> {
  const { deniedMessage = "", replay, rules = [] } = options
  const context = yield* Effect.context<R>()
  const home = yield* Effect.scope
  const clock = yield* Clock.Clock
  const usual = yield* Transports.make
  const one = yield* Semaphore.make(1)
  const events = Broadcast.make<HostEvent>(replay)
  const diagnostics = Broadcast.make<HostEvent>(replay)
  const decisions = Broadcast.make<Approval.Decision>(replay)
  const logs = Broadcast.make<HostedLog>(replay)
  const streams = [events, diagnostics, decisions, logs]
  const approved = new Map(Object.entries(options.approved ?? {}))
  const catalogue = yield* SubscriptionRef.make(Catalogue.make([], {}))
  const servers = yield* SubscriptionRef.make<ReadonlyMap<string, HostedServer>>(new Map())
  const running = new Map<string, Hosted.Running & HostedServer>()
  const eventsOf = new Map<string, Broadcast.Broadcast<HostEvent>>()
  let missedBefore = 0
  const scopes = new Map<string, Scope.Closeable>()
  let sequence = 0
  let calls = 0

  yield* Effect.addFinalizer(() => Effect.sync(() => streams.forEach((stream) => stream.end())))

  const happened = (server: string | undefined, happening: Happening) => {
    const at = clock.currentTimeMillisUnsafe()
    const event: HostEvent = { sequence: ++sequence, at, server, level: levelOf(happening), happening }
    if (happening._tag === "Noticed" || happening._tag === "Advised") diagnostics.publish(event)
    if (server !== undefined) eventsOf.get(server)?.publish(event)
    events.publish(event)
  }
  const happen = (server: string | undefined, happening: Happening) => Effect.sync(() => happened(server, happening))
  const report = (diagnostic: Diagnostic) => happen(undefined, Happening.Noticed({ diagnostic }))

  const recall = (): Catalogue.Approved => Object.fromEntries(approved)
  const relist = SubscriptionRef.update(catalogue, () =>
    Catalogue.make(
      [...running.values()].map(({ entry, lists }) => ({ entry, lists: SubscriptionRef.getUnsafe(lists) })),
      recall()
    )
  )
  const show = Effect.suspend(() => SubscriptionRef.set(servers, new Map(running)))

  const around = (own: Transport["Service"] | undefined): Hosted.Surroundings<R> => ({
    happened,
    now: () => clock.currentTimeMillisUnsafe(),
    logged: (server, log) => Effect.sync(() => logs.publish({ server, at: clock.currentTimeMillisUnsafe(), log })),
    relisted: relist,
    transports: (entry) =>
      (own === undefined ? (options.transport?.(entry) ?? Effect.undefined) : Effect.succeed(own)).pipe(
        Effect.provideContext(context),
        Effect.filterOrElse(
          (given) => given !== undefined,
          () => usual(entry)
        )
      ),
    connect: {
      ...options.connect,
      ...(options.client === undefined ? {} : { client: options.client })
    },
    handlersFor: handlersFor(options),
    retry: options.retry ?? Supervision.usual,
    context
  })

  const find = (name: string) =>
    Effect.suspend(() => {
      const found = running.get(name)
      return found === undefined ? fail(new UnknownServer({ name, known: [...running.keys()] })) : Effect.succeed(found)
    })

  /** Puts a server where it can be seen, and starts it. */
  const put = Effect.fnUntraced(function* (entry: ServerEntry, own?: Transport["Service"]) {
    const scope = yield* Scope.fork(home)
    const its = Broadcast.make<HostEvent>(replay)
    eventsOf.set(entry.name, its)
    const hosted = yield* Hosted.make(entry, around(own)).pipe(Scope.provide(scope))
    const server = { ...hosted, events: its.stream }
    scopes.set(entry.name, scope)
    running.set(entry.name, server)
    yield* show
    const { elicitation: { form, url } = {} } = options.handlers ?? {}
    if ((entry.elicitation.form && form === undefined) || (entry.elicitation.url && url === undefined)) {
      const because = "its entry lets it ask the user, but the host has no handler for that; it is told that it may not"
      yield* happen(entry.name, Happening.Advised({ because }))
    }
    if (!entry.disabled) yield* server.start
    return server
  })
  const end = (name: string) =>
    Effect.sync(() => {
      const its = eventsOf.get(name)
      eventsOf.delete(name)
      missedBefore += its?.missed() ?? 0
      its?.end()
    })
  const drop = (name: string) =>
    Effect.suspend(() => {
      const server = running.get(name)
      const scope = scopes.get(name)
      running.delete(name)
      scopes.delete(name)
      return server === undefined || scope === undefined
        ? Effect.void
        : server.stop.pipe(Effect.andThen(Scope.close(scope, Exit.void)), Effect.andThen(end(name)))
    })
  const dropAll = (names: ReadonlyArray<string>) =>
    Effect.andThen(Effect.forEach(names, drop, { concurrency: "unbounded", discard: true }), show)
  // Added last, so it runs first: all stop at once, whatever each of them takes.
  yield* Effect.addFinalizer(() => Effect.suspend(() => dropAll([...running.keys()])))

  const exclusive = <A, E>(effect: Effect.Effect<A, E>) => one.withPermits(1)(Effect.uninterruptible(effect))

  const isClosed = () => home.state._tag === "Closed"
  const whileOpen = (effect: Effect.Effect<void>) => Effect.suspend(() => (isClosed() ? Effect.void : effect))

  /** The entries by name. Of two of one name the first counts, and the host says so. */
  const byName = Effect.fnUntraced(function* (entries: Iterable<ServerEntry>) {
    const wanted = new Map<string, ServerEntry>()
    for (const entry of entries) {
      if (!wanted.has(entry.name)) wanted.set(entry.name, entry)
      else yield* happen(entry.name, Happening.Advised({ because: "two entries have this name; the first counts" }))
    }
    return wanted
  })

  const apply = ({ added, changed, removed }: Omit<Difference, "same">) =>
    Effect.gen(function* () {
      const wanted = yield* byName([...changed, ...added])
      yield* dropAll([...removed.map(({ name }) => name), ...wanted.keys()])
      yield* Effect.forEach(wanted.values(), (entry) => put(entry), { discard: true })
      yield* happen(undefined, Happening.Loaded({ difference: { added, changed, removed, same: [] } }))
    })

  const load = (entries: Iterable<ServerEntry>) =>
    Effect.gen(function* () {
      const wanted = yield* byName(entries)
      const before = [...running.values()].map(({ entry }) => entry)
      yield* dropAll(before.map(({ name }) => name))
      yield* apply({
        added: [...wanted.values()].filter(({ name }) => before.every((entry) => entry.name !== name)),
        changed: [...wanted.values()].filter(({ name }) => before.some((entry) => entry.name === name)),
        removed: before.filter(({ name }) => !wanted.has(name))
      })
    })

  const lookUp = (tool: ToolRef) =>
    Effect.suspend((): Effect.Effect<Catalogue.OwnedTool, HostError> => {
      const found = Catalogue.find(SubscriptionRef.getUnsafe(catalogue), tool)
      if (found !== undefined) return Effect.succeed(found)
      const name = typeof tool === "string" ? tool : tool.tool
      if (typeof tool === "string") return fail(new UnknownTool({ name }))
      return Effect.flatMap(find(tool.server), ({ state }) => {
        const now = SubscriptionRef.getUnsafe(state)
        if (now._tag === "Ready") return fail(new UnknownTool({ name }))
        const because = now._tag === "Failed" ? now.error.message : undefined
        return fail(new NotReady({ server: tool.server, state: now._tag, because }))
      })
    })

  const approve = (owned: Catalogue.OwnedTool) =>
    Effect.suspend(() => {
      if (approved.get(owned.name) === owned.fingerprint) return Effect.void
      approved.set(owned.name, owned.fingerprint)
      return relist
    })

  const permit = Effect.fnUntraced(function* (
    owned: Catalogue.OwnedTool,
    entry: ServerEntry,
    args: Approval.Call["arguments"]
  ) {
    const { changed, name, server, tool } = owned
    const call: Approval.Call = {
      server,
      tool,
      arguments: args,
      changed,
      mode: entry.approval ?? options.approval ?? "ask"
    }
    const handler = options.handlers?.approve
    const verdict = yield* Gate.decide(
      call,
      rules,
      handler === undefined ? undefined : (asked) => Effect.provideContext(handler(asked), context)
    )
    // A tool that was exchanged while the user read its old definition was not approved.
    const now = Catalogue.find(SubscriptionRef.getUnsafe(catalogue), name)
    const { by, because, permitted } =
      verdict.permitted && now !== undefined && now.fingerprint !== owned.fingerprint
        ? { permitted: false, by: verdict.by, because: "its definition changed while the call waited for a decision" }
        : verdict
    const decision = {
      at: clock.currentTimeMillisUnsafe(),
      server,
      tool: tool.name,
      arguments: args,
      permitted,
      by,
      because
    }
    decisions.publish(decision)
    yield* happen(server, Happening.Decided({ decision }))
    if (verdict.unasked === true) yield* happen(server, Happening.Advised({ because: `${tool.name}: ${because}` }))
    if (permitted && by === "handler") yield* approve(owned)
    return decision
  })

  const limitOf = (entry: ServerEntry, how: CallOptions) =>
    Effect.flatMap(Defaults.ToolCallTimeout, (standard) => {
      const given = how.timeout ?? entry.timeout ?? options.toolTimeout ?? standard
      return Deadline.millisOf(entry.name, "timeout", given)
    })

  const callTool = Effect.fn("Host.callTool")(function* (
    ref: ToolRef,
    args: Approval.Call["arguments"] = {},
    how: CallOptions = {}
  ) {
    const owned = yield* lookUp(ref)
    const server = yield* find(owned.server)
    const tool = owned.tool.name
    const call = ++calls
    const began = clock.currentTimeMillisUnsafe()
    const sent = Deferred.makeUnsafe<void>()
    const ended = (outcome: string) =>
      happen(server.name, Happening.ToolEnded({ call, tool, millis: clock.currentTimeMillisUnsafe() - began, outcome }))
    yield* happen(server.name, Happening.ToolCalled({ call, tool, arguments: args }))
    const work: Effect.Effect<Tool.CallResult, HostError | McpClientError> = Effect.gen(function* () {
      const { because, permitted } = yield* permit(owned, server.entry, args)
      if (!permitted) {
        if (deniedMessage === "") return yield* fail(new ToolDenied({ server: server.name, tool, because }))
        return { resultType: "complete", content: [{ type: "text", text: deniedMessage }], isError: true } as const
      }
      const limit = yield* limitOf(server.entry, how)
      return yield* server.call(owned.tool, args, { ...how, timeout: Duration.infinity }).pipe(
        Effect.provideService(Sent, () => void Deferred.doneUnsafe(sent, Effect.void)),
        (effect) =>
          Number.isFinite(limit)
            ? Deadline.within(effect, {
                limit,
                begins: Deferred.await(sent),
                stopwatch: server.stopwatch,
                onTimeout: () => new HostError({ reason: new ToolTimedOut({ server: server.name, tool, limit }) })
              })
            : effect
      )
    })
    return yield* server
      .during(work, () => Deferred.isDoneUnsafe(sent))
      .pipe(
        Effect.tap(({ isError }) => ended(isError === true ? "toolError" : "result")),
        Effect.tapError((error) => ended(error.reason._tag)),
        Effect.onInterrupt(() => ended("interrupted"))
      )
  })

  return {
    servers,
    server: find,
    add: (entry, transport) =>
      exclusive(
        Effect.suspend((): Effect.Effect<HostedServer, HostError> => {
          if (isClosed()) return fail(new HostClosed())
          return running.has(entry.name) ? fail(new NameTaken({ name: entry.name })) : put(entry, transport)
        })
      ),
    remove: (name) => exclusive(Effect.andThen(find(name), dropAll([name]))),
    load: (entries) => exclusive(whileOpen(load(entries))),
    apply: (difference) => exclusive(whileOpen(apply(difference))),
    start: (name) => Effect.flatMap(find(name), ({ start }) => start),
    stop: (name) => Effect.flatMap(find(name), ({ stop }) => stop),
    restart: (name) => Effect.flatMap(find(name), ({ restart }) => restart),
    ready: (name) => Effect.flatMap(find(name), ({ ready }) => ready),
    catalogue,
    callTool,
    getPrompt: ({ prompt, server }, args, how) =>
      Effect.flatMap(find(server), (owner) =>
        owner.during(Effect.flatMap(owner.client, (client) => client.getPrompt(prompt, args, how)))
      ),
    readResource: ({ server, uri }, how) =>
      Effect.flatMap(find(server), (owner) =>
        owner.during(Effect.flatMap(owner.client, (client) => client.readResource(uri, how)))
      ),
    approved: Effect.sync(recall),
    approve: (tool) => Effect.flatMap(lookUp(tool), approve),
    events: events.stream,
    listen: (hear) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() =>
            events.listen(hear, (because) => {
              const callback = "a listener of the host's events"
              const diagnostic = Diagnostic.CallbackFailed({ server: "host", callback, because, failed: 1 })
              happened(undefined, Happening.Noticed({ diagnostic }))
            })
          ),
          (stop) => Effect.sync(stop)
        )
      ),
    report,
    diagnostics: diagnostics.stream,
    decisions: decisions.stream,
    logs: logs.stream,
    missed: Effect.sync(() =>
      [...streams, ...eventsOf.values()].reduce((sum, stream) => sum + stream.missed(), missedBefore)
    )
  }
})
