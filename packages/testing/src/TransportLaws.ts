/**
 * What every transport promises, as checks that anybody can run on a transport of their own.
 *
 * A law puts a scripted server behind the transport, does something, and fails with a `Violation` when what happened is
 * not what the contract in `Transport` says. The checks depend on no test runner. They take real time, a few milliseconds
 * each, so run them with a live clock.
 *
 * @since 0.1.0
 */
import { Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Revision from "@mcp-effect/protocol/Revision"
import type { Incoming, Plain, Transport, Wire } from "@mcp-effect/transport/Transport"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { echo, hostile, odd, request, started, textOf, until } from "./internal/trial.ts"
import * as Script from "./Script.ts"
import * as Transcript from "./Transcript.ts"

/**
 * A law that does not hold.
 *
 * What to change: the transport, so that the law holds.
 *
 * @category errors
 * @since 0.1.0
 */
export class Violation extends Schema.TaggedError<Violation>()("Violation", {
  /** The law, as its `name`. */
  law: Schema.String,
  expected: Schema.String,
  got: Schema.String
}) {
  override get message() {
    return `${this.law}: expected ${this.expected}, got ${this.got}`
  }
}

/**
 * A transport that leads to a server of a script, and what that server heard.
 *
 * @category models
 * @since 0.1.0
 */
export interface Subject {
  readonly transport: Transport["Service"]
  readonly transcript: Effect.Effect<Transcript.Transcript>
}

/**
 * Puts a server of a script behind the transport under test, for as long as the scope lives.
 *
 * @category models
 * @since 0.1.0
 */
export type Reach<E = never, R = never> = (script: Script.Script) => Effect.Effect<Subject, E, R | Scope.Scope>

/**
 * One law.
 *
 * @category models
 * @since 0.1.0
 */
export interface Law {
  readonly name: string
  readonly check: <E, R>(reach: Reach<E, R>) => Effect.Effect<void, Violation | E, Exclude<R, Scope.Scope>>
}

/** How long one law may take. */
const patience = "10 seconds"

interface Bench {
  readonly transport: Transport["Service"]
  readonly transcript: Effect.Effect<Transcript.Transcript>
  readonly wire: Wire
  readonly heard: Array<Incoming>
  readonly revision: Revision.Revision
  readonly scope: Scope.Closeable
  readonly onPipe: boolean
}

type Claim = (expected: string, holds: boolean, got?: unknown) => Effect.Effect<void, Violation>

const law = (
  name: string,
  options: Script.Options,
  trial: (bench: Bench, claim: Claim) => Effect.Effect<void, Violation | TransportError, Scope.Scope>
): Law => ({
  name,
  check: (reach) =>
    Effect.gen(function* () {
      const { transcript, transport } = yield* reach(Script.both(options))
      const { kind } = transport
      const heard: Array<Incoming> = []
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
      const violated = (expected: string, got: unknown) =>
        new Violation({ law: name, expected, got: typeof got === "string" ? got : (JSON.stringify(got) ?? "nothing") })
      const claim: Claim = (expected, holds, got = "something else") =>
        holds ? Effect.void : Effect.fail(violated(expected, got))
      yield* transport
        .open((message) => void heard.push(message))
        .pipe(
          Scope.provide(scope),
          Effect.flatMap((wire) =>
            trial(
              {
                transport,
                transcript,
                wire,
                heard,
                scope,
                revision: kind === "sse" ? Revision.v2025_11_25 : Revision.v2026_07_28,
                onPipe: kind !== "http" && kind !== "sse"
              },
              claim
            )
          ),
          Effect.catchTag("TransportError", (error) => Effect.fail(violated("no failure of the wire", error.message))),
          Effect.catchDefect((defect) => Effect.fail(violated("no defect", String(defect)))),
          Effect.timeoutOrElse({
            duration: patience,
            orElse: () => Effect.fail(violated(`an end within ${patience}`, "none"))
          })
        )
    }).pipe(
      Effect.scoped,
      Effect.provideService(Diagnostics, () => Effect.void)
    )
})

/** Whether the server knows that a request was given up: by a message, or by the end of its stream. */
const toldToStop = ({ transcript }: Bench, id: JsonRpc.RequestId) =>
  Effect.map(transcript, (entries) => entries.some(({ event }) => event === "ended") || stopped(entries, id) > 0)

/** How many messages say so. */
const stopped = (entries: Transcript.Transcript, id: JsonRpc.RequestId) =>
  Transcript.messages(entries).filter(
    ({ method, params }) =>
      method === "notifications/cancelled" &&
      typeof params === "object" &&
      params !== null &&
      "requestId" in params &&
      params.requestId === id
  ).length

/** Begins an exchange in plain calls: what it is told, and how to leave it. */
const begin = ({ begin }: Plain, asked: JsonRpc.Request, revision: Revision.Revision) =>
  Effect.withFiber((caller) =>
    Effect.sync(() => {
      const told: Array<Exit.Exit<JsonRpc.Response, TransportError>> = []
      return { told, leave: begin(asked, { revision }, caller, (exit) => void told.push(exit)) }
    })
  )

/**
 * The laws, in the order of the contract.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law> = [
  law(
    "each request gets its own answer, whatever the order of the answers",
    { on: { "tools/call": [[Script.wait("60 millis"), Script.answer()], [Script.answer()]] } },
    (bench, claim) =>
      Effect.gen(function* () {
        const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`)
        const answers = yield* Effect.forEach(
          texts,
          (text, index) => bench.wire.exchange(echo(bench, index, text), { revision: bench.revision }),
          { concurrency: "unbounded" }
        )
        yield* claim(
          "the text of each request in its answer",
          answers.every((answer, at) => textOf(answer) === texts[at]),
          answers
        )
        yield* claim(
          "the id of each request in its answer",
          answers.every(({ id }, at) => id === at),
          answers
        )
      })
  ),
  law(
    "a JSON-RPC error is an answer",
    { on: { "prompts/list": [Script.fail(-32_000, { message: "no", data: { a: 1 } })] } },
    (bench, claim) =>
      Effect.flatMap(bench.wire.exchange(request(bench, "a", "prompts/list"), { revision: bench.revision }), (answer) =>
        claim(
          "the error with its code, text and data",
          JSON.stringify(answer) === '{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"no","data":{"a":1}}}',
          answer
        )
      )
  ),
  law(
    "what belongs to a request is heard in order, before its answer, and by nobody else",
    {
      on: {
        "tools/call": [
          ...[1, 2, 3].map((progress) =>
            Script.say({ method: "notifications/progress", params: { progressToken: 5, progress } })
          ),
          Script.answer()
        ]
      }
    },
    (bench, claim) =>
      Effect.gen(function* () {
        const seen: Array<unknown> = []
        yield* bench.wire.exchange(request(bench, 5, "tools/call", { name: "echo", arguments: {} }, true), {
          revision: bench.revision,
          interim: (message) => void seen.push(message.params?.["progress"])
        })
        yield* claim("1, 2, 3 before the answer", seen.join() === "1,2,3", seen)
        yield* claim("nothing at the listener", bench.heard.length === 0, bench.heard)
      })
  ),
  law(
    "what belongs to no request is heard in order",
    {
      on: {
        "tools/list": [
          ...["one", "two"].map((data) =>
            Script.say({ method: "notifications/message", params: { level: "info", data } })
          ),
          Script.answer()
        ]
      }
    },
    (bench, claim) =>
      Effect.andThen(
        bench.wire.exchange(request(bench, 1, "tools/list"), { revision: bench.revision }),
        Effect.suspend(() => {
          const data = bench.heard.map(({ params }) => params?.["data"])
          return claim("one, two", data.join() === "one,two", data)
        })
      )
  ),
  law("a notification reaches the server", {}, (bench, claim) =>
    Effect.gen(function* () {
      const method = "notifications/roots/list_changed"
      yield* bench.wire.send({ jsonrpc: "2.0", method }, Revision.v2025_11_25)
      yield* started(bench, method)
      yield* claim(
        "the notification once",
        Transcript.methods(yield* bench.transcript).filter((m) => m === method).length === 1
      )
    })
  ),
  law("any text survives: characters of every kind, line ends, a great length", {}, (bench, claim) =>
    Effect.flatMap(bench.wire.exchange(echo(bench, 1, odd), { revision: bench.revision }), (answer) =>
      claim("the text that was sent", textOf(answer) === odd, "another text")
    )
  ),
  law(
    "keys that mean something to JavaScript are only keys",
    { on: { "tools/list": [Script.answer(hostile)] } },
    (bench, claim) =>
      Effect.flatMap(bench.wire.exchange(request(bench, 1, "tools/list"), { revision: bench.revision }), (answer) => {
        const result = JsonRpc.isSuccess(answer) ? answer.result : {}
        return claim("no trace of them", !("polluted" in {}) && !("polluted" in result), answer)
      })
  ),
  law(
    "a cancelled exchange tells the server, and the wire goes on",
    { on: { "tools/list": Script.silence } },
    (bench, claim) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkScoped(
          bench.wire.exchange(request(bench, 7, "tools/list"), { revision: bench.revision }),
          { startImmediately: true }
        )
        yield* started(bench, "tools/list")
        yield* Fiber.interrupt(fiber)
        yield* until(toldToStop(bench, 7))
        const answer = yield* bench.wire.exchange(echo(bench, 8, "still here"), { revision: bench.revision })
        yield* claim("an answer to the next request", textOf(answer) === "still here", answer)
      })
  ),
  law(
    "a silent interruption writes nothing, and the late answer is dropped",
    {
      on: {
        "tools/call": [
          [Script.wait("60 millis"), Script.answer()],
          [Script.wait("120 millis"), Script.answer()]
        ]
      }
    },
    (bench, claim) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkScoped(
          bench.wire.exchange(echo(bench, 1, "late"), { revision: bench.revision, onInterrupt: "silent" }),
          { startImmediately: true }
        )
        yield* started(bench, "tools/call")
        yield* Fiber.interrupt(fiber)
        const answer = yield* bench.wire.exchange(echo(bench, 2, "in time"), { revision: bench.revision })
        yield* claim("the answer to the second request", textOf(answer) === "in time", answer)
        const methods = Transcript.methods(yield* bench.transcript)
        yield* claim("two calls and nothing else", methods.join() === "tools/call,tools/call", methods)
        yield* claim("nothing at the listener", bench.heard.length === 0, bench.heard)
      })
  ),
  law(
    "an exchange in plain calls is the same exchange: told its end once, or left early and told nothing",
    { on: { "tools/list": Script.silence } },
    (bench, claim) =>
      Effect.gen(function* () {
        const { revision, wire } = bench
        const { exchange, plain } = wire
        // Of a wire that was made of another one, nobody uses the plain form.
        if (plain === undefined || plain.exchange !== exchange) return
        const answered = yield* begin(plain, echo(bench, 1, odd), revision)
        yield* until(Effect.sync(() => answered.told.length > 0))
        const [first] = answered.told
        const other = yield* exchange(echo(bench, 1, odd), { revision })
        yield* claim(
          "the same answer as `exchange`",
          first !== undefined && Exit.isSuccess(first) && JSON.stringify(first.value) === JSON.stringify(other),
          "another one"
        )
        const left = yield* begin(plain, request(bench, 7, "tools/list"), revision)
        yield* started(bench, "tools/list")
        yield* left.leave()
        yield* until(toldToStop(bench, 7))
        // Both are over.
        yield* left.leave()
        yield* answered.leave()
        const last = yield* exchange(echo(bench, 8, "still here"), { revision })
        yield* claim("an answer to the next request", textOf(last) === "still here", last)
        yield* claim("to be told the answer once", answered.told.length === 1, `${answered.told.length} times`)
        yield* claim("to be told nothing after leaving", left.told.length === 0, `${left.told.length} times`)
        const entries = yield* bench.transcript
        yield* claim("no message about what was answered", stopped(entries, 1) === 0, "a cancellation")
        yield* claim("at most one about what was left", stopped(entries, 7) <= 1, `${stopped(entries, 7)}`)
      })
  ),
  law(
    "noise between messages is skipped",
    {
      opening: [Script.write("Server ready"), Script.write("")],
      on: { "tools/list": [Script.write("{ not json"), Script.answer()] }
    },
    (bench, claim) =>
      bench.onPipe
        ? Effect.flatMap(bench.wire.exchange(request(bench, 1, "tools/list"), { revision: bench.revision }), (answer) =>
            claim("the answer after the noise", JsonRpc.isSuccess(answer), answer)
          )
        : Effect.void
  ),
  law(
    "the end of the server fails what is open, and on a pipe all that comes after",
    { on: { "tools/call": [Script.exit(1)] } },
    (bench, claim) =>
      Effect.gen(function* () {
        const broken = yield* Effect.result(
          bench.wire.exchange(echo(bench, 1, "last words"), { revision: bench.revision })
        )
        yield* claim("a failure", Result.isFailure(broken), "an answer")
        if (!bench.onPipe) return
        const { endpoint } = yield* Effect.flip(bench.wire.ended)
        yield* claim("the endpoint in the failure", endpoint === bench.transport.endpoint, endpoint)
        const after = yield* Effect.exit(bench.wire.exchange(echo(bench, 2, ""), { revision: bench.revision }))
        yield* claim("a failure", Exit.isFailure(after), "an answer")
      })
  ),
  law(
    "the end of the scope fails what is open, once, and all that comes after",
    { on: { "tools/list": Script.silence } },
    (bench, claim) =>
      Effect.gen(function* () {
        const open = yield* Effect.forkScoped(
          Effect.result(bench.wire.exchange(request(bench, 1, "tools/list"), { revision: bench.revision })),
          { startImmediately: true }
        )
        yield* started(bench, "tools/list")
        yield* Scope.close(bench.scope, Exit.void)
        yield* claim("a failure of the open exchange", Result.isFailure(yield* Fiber.join(open)), "an answer")
        const { endpoint } = yield* Effect.flip(bench.wire.ended)
        yield* claim("the endpoint in the failure", endpoint === bench.transport.endpoint, endpoint)
        const exchanged = yield* Effect.exit(bench.wire.exchange(echo(bench, 2, ""), { revision: bench.revision }))
        const sent = yield* Effect.exit(bench.wire.send({ jsonrpc: "2.0", method: "x" }, bench.revision))
        yield* claim("failures after the end", Exit.isFailure(exchanged) && Exit.isFailure(sent), "an answer")
      })
  ),
  law("a transport that says so can be opened again, and its wires do not know each other", {}, (bench, claim) =>
    Effect.gen(function* () {
      if (!bench.transport.reopenable) return
      const second = yield* bench.transport.open(() => undefined)
      const texts = yield* Effect.forEach(
        [bench.wire, second],
        (wire, at) => Effect.map(wire.exchange(echo(bench, 1, `wire ${at}`), { revision: bench.revision }), textOf),
        { concurrency: 2 }
      )
      yield* claim("each wire its own answer", texts.join() === "wire 0,wire 1", texts)
    })
  )
]

/**
 * Checks every law, four at a time, and gives those that do not hold.
 *
 * @example
 * ```ts
 * const broken = yield* TransportLaws.violations((script) =>
 *   Effect.map(ScriptedServer.make(script), (server) => ({ transport: server.pipe(), transcript: server.transcript }))
 * )
 * // []
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const violations = <E, R>(
  reach: Reach<E, R>
): Effect.Effect<ReadonlyArray<Violation>, E, Exclude<R, Scope.Scope>> =>
  Effect.map(
    Effect.forEach(
      laws,
      ({ check }) =>
        check(reach).pipe(
          Effect.as<ReadonlyArray<Violation>>([]),
          Effect.catchIf(
            (error): error is Violation => error instanceof Violation,
            (violation) => Effect.succeed([violation])
          )
        ),
      { concurrency: 4 }
    ),
    (found) => found.flat()
  )
