/**
 * The wire of HTTP+SSE: the event stream is the line that carries everything, so the multiplexer of pipes matches it.
 */
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { Diagnostic, reporter } from "@mcp-effect/protocol/Diagnostic"
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Header from "@mcp-effect/protocol/Header"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { Dialect, Incoming, Wire } from "../Transport.ts"
import {
  Closed,
  type HttpRejected,
  MalformedReply,
  type Reason,
  type ResponseTaken,
  TransportError,
  type Unreachable,
  type NotJson
} from "../TransportError.ts"
import * as Address from "./address.ts"
import * as Envelope from "./envelope.ts"
import * as EventStream from "./eventStream.ts"
import * as Body from "./httpBody.ts"
import * as Call from "./httpCall.ts"
import type { Target } from "./httpTarget.ts"
import * as Multiplexer from "./multiplexer.ts"

export interface Options {
  readonly target: Target
  readonly hear: (message: Incoming) => void
  readonly messageUrl: string | undefined
}

const version = Header.protocolVersion.toLowerCase()

export const open = Effect.fnUntraced(function* ({
  hear,
  messageUrl,
  target
}: Options): Effect.fn.Return<Wire, TransportError, Scope.Scope> {
  const { client, endpoint, url } = target
  const limit = yield* Defaults.MaxMessageBytes
  const bounds = yield* Envelope.bounds
  const patience = yield* Defaults.EndpointTimeout
  const report = yield* reporter
  const context = target.equip(yield* Effect.context())
  const run = Effect.runForkWith(context)
  const multiplexer = Multiplexer.make({ endpoint, hear, report })
  const posting = new Set<Fiber.Fiber<unknown, unknown>>()
  const named = Deferred.makeUnsafe<string, Reason>()
  let skipped = 0

  const take = (text: string) => {
    for (const read of JsonRpc.parse(text, bounds)) {
      if (Result.isSuccess(read)) {
        multiplexer.message(read.success)
        continue
      }
      if (multiplexer.broken(read.failure, () => text)) continue
      skipped++
      report(Diagnostic.NoiseSkipped({ server: endpoint, excerpt: excerpt(text), skipped }))
    }
  }

  /** Where the server wants its messages: by the standard rules, and at the same origin (L-SSE-3, T-SSE-5). */
  const name = (data: string, base: string): boolean => {
    const address = Result.try(() => new URL(messageUrl ?? data, base))
    const fails = (because: string) => {
      const shown = Result.isSuccess(address) ? Address.shown(address.success.href) : data
      return Exit.fail(new MalformedReply({ status: 200, mediaType: undefined, excerpt: excerpt(shown), because }))
    }
    const exit = Result.isFailure(address)
      ? fails("its endpoint event holds no address")
      : address.success.origin !== new URL(base).origin
        ? fails("its endpoint event names another origin")
        : Exit.succeed(address.success.href)
    Deferred.doneUnsafe(named, exit)
    return Exit.isSuccess(exit)
  }

  /** Reads the stream to its end, and says why it is over. */
  const read: Effect.Effect<Reason> = Effect.gen(function* () {
    const sent = yield* Call.send(client, {
      method: "GET",
      url,
      headers: { ...target.headers, accept: "text/event-stream" }
    })
    const { response } = sent
    if (!Call.isSuccessful(response)) return yield* Call.rejection(sent, false)
    const mediaType = Body.mediaTypeOf(response)
    if (mediaType !== "text/event-stream") {
      return new MalformedReply({
        status: response.status,
        mediaType,
        excerpt: excerpt(yield* Body.beginning(response)),
        because: "it is no event stream"
      })
    }
    let known = false
    yield* EventStream.run(response, {
      limit,
      event: ({ data, event }) => {
        if (event === "endpoint" && !known) {
          known = true
          return name(data, sent.url)
        }
        if (event === "message" && data !== "") take(data)
        return true
      }
    })
    return new Closed({ because: "the server ended its event stream" })
  }).pipe(
    Effect.catch((reason) =>
      Effect.succeed(reason._tag === "ResponseLost" ? new Closed({ because: reason.because }) : reason)
    )
  )

  const reading = yield* read.pipe(
    Effect.tap((reason) =>
      Effect.sync(() => {
        const early =
          reason._tag === "Closed"
            ? new MalformedReply({ excerpt: "", because: `it named no endpoint: ${reason.because}` })
            : reason
        Deferred.doneUnsafe(named, Exit.fail(early))
        multiplexer.ended(reason)
      })
    ),
    Effect.provideContext(context),
    Effect.forkScoped
  )
  const silent = new MalformedReply({
    excerpt: "",
    because: `no endpoint event came within ${Duration.format(patience)}`
  })
  const messages = yield* Deferred.await(named).pipe(
    Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(silent) }),
    Effect.mapError((reason) => new TransportError({ endpoint, reason })),
    Effect.onError(() => Fiber.interrupt(reading))
  )

  const deliver = (message: JsonRpc.Message, { habits, version: spoken }: Dialect) => {
    const opening = "method" in message && message.method === "initialize"
    const headers =
      habits.http.versionHeader === "always" || !opening ? { ...target.headers, [version]: spoken } : target.headers
    return Effect.gen(function* (): Effect.fn.Return<void, HttpRejected | NotJson | ResponseTaken | Unreachable> {
      const body = yield* Call.bodyOf(message)
      const sent = yield* Call.send(client, { method: "POST", url: messages, headers, body })
      if (!Call.isSuccessful(sent.response)) return yield* yield* Call.rejection(sent, false)
      // The answer belongs on the stream; a server that puts it here is understood all the same (L-SSE-5).
      const text = yield* Body.beginning(sent.response)
      for (const found of Body.mediaTypeOf(sent.response) === "application/json" ? JsonRpc.parse(text, bounds) : []) {
        if (Result.isSuccess(found) && !("method" in found.success)) multiplexer.message(found.success)
      }
    })
  }

  const wire = multiplexer.wire((message, dialect) => {
    const fiber = run(deliver(message, dialect))
    posting.add(fiber)
    fiber.addObserver((exit) => {
      posting.delete(fiber)
      const failure = Exit.findErrorOption(exit)
      if (failure._tag === "Some" && "method" in message && "id" in message) multiplexer.fail(message, failure.value)
    })
    // It may have closed the wire at once, before it was among those that are posted.
    if (multiplexer.end() !== undefined) fiber.interruptUnsafe()
    return true
  })

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      multiplexer.ended(new Closed({ because: "this side closed it" }))
      for (const fiber of posting) fiber.interruptUnsafe()
    })
  )
  return {
    ...wire,
    send: (message, dialect) =>
      Effect.suspend(() => {
        const end = multiplexer.end()
        return end === undefined
          ? deliver(message, dialect).pipe(
              Effect.mapError((reason) => new TransportError({ endpoint, reason })),
              Effect.raceFirst(wire.ended),
              Effect.provideContext(context)
            )
          : Effect.fail(end)
      })
  }
})
