import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { assert, describe, it } from "@effect/vitest"
import * as HttpSse from "@mcp-effect/transport/HttpSse"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as Stdio from "@mcp-effect/transport/Stdio"
import * as Stream from "@mcp-effect/transport/Stream"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import { type Plain, Transport, type Wire } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Scope from "effect/Scope"
import { createServer } from "node:net"
import * as NodeHttpScriptedServer from "../src/NodeHttpScriptedServer.ts"
import * as NodeScriptedServer from "../src/NodeScriptedServer.ts"
import type * as Script from "../src/Script.ts"
import * as ScriptedServer from "../src/ScriptedServer.ts"
import * as TransportLaws from "../src/TransportLaws.ts"

/** A scripted server behind a TCP socket: what somebody with a carrier of their own would write. */
const overTcp: TransportLaws.Reach = Effect.fnUntraced(function* (script: Script.Script) {
  const server = yield* ScriptedServer.make(script)
  const scope = yield* Effect.scope
  const port = yield* Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const listening = createServer((socket) => {
        const attached = Effect.runSync(
          server
            .attach({ write: (text) => void socket.write(text), close: () => void socket.end() })
            .pipe(Scope.provide(scope))
        )
        socket
          .setEncoding("utf8")
          .on("data", (text: string) => attached(text))
          .on("error", () => undefined)
      })
      listening.listen(0, "127.0.0.1", () => {
        const address = listening.address()
        resume(
          Effect.succeed({
            port: typeof address === "object" && address !== null ? address.port : 0,
            close: () => void listening.close()
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )
  const transport = yield* Stream.make("tcp", NodeSocket.makeNet({ port: port.port }))
  return { transport, transcript: server.transcript }
})

const overLoopback =
  (
    make: (url: string) => typeof StreamableHttp.make extends (o: infer _) => infer R ? R : never,
    http: "streamable" | "sse"
  ): TransportLaws.Reach =>
  (script) =>
    Effect.gen(function* () {
      const { transcript, url } = yield* NodeHttpScriptedServer.make({
        ...script,
        http: { ...script.http, transport: http }
      })
      return { transport: yield* make(url), transcript }
    }).pipe(Effect.provide(FetchHttpClient.layer))

const subjects: ReadonlyArray<readonly [name: string, reach: TransportLaws.Reach]> = [
  [
    "a scripted pipe",
    (script) =>
      Effect.map(ScriptedServer.make(script), ({ pipe, transcript }) => ({ transport: pipe("stdio"), transcript }))
  ],
  [
    "StreamableHttp in memory",
    (script) => Effect.map(ScriptedServer.make(script), ({ http, transcript }) => ({ transport: http, transcript }))
  ],
  [
    "NodeStdio",
    (script) =>
      Effect.map(NodeScriptedServer.make(script), (server) => ({
        transport: NodeStdio.make(server),
        transcript: server.transcript
      }))
  ],
  [
    "Stdio",
    (script) =>
      Effect.flatMap(NodeScriptedServer.make(script), (server) =>
        Effect.map(Stdio.make(server), (transport) => ({ transport, transcript: server.transcript }))
      ).pipe(Effect.provide(NodeServices.layer))
  ],
  ["Stream over TCP", overTcp],
  ["StreamableHttp", overLoopback((url) => StreamableHttp.make({ url }), "streamable")],
  ["HttpSse", overLoopback((url) => HttpSse.make({ url }), "sse")]
]

describe("U-46: a transport can be checked against the contract", () => {
  it.live.each(subjects)(
    "%s keeps every law",
    ([, reach]) =>
      Effect.map(TransportLaws.violations(reach), (found) =>
        assert.deepStrictEqual(
          found.map(({ message }) => message),
          []
        )
      ),
    { timeout: 60_000 }
  )

  const plainly =
    (spoil: (begin: Plain["begin"]) => Plain["begin"]) =>
    (wire: Wire): Wire => {
      assert.isDefined(wire.plain)
      return { ...wire, plain: { exchange: wire.exchange, begin: spoil(wire.plain.begin) } }
    }
  const inPlainCalls =
    "an exchange in plain calls is the same exchange: told its end once, or left early and told nothing"
  const spoiled: ReadonlyArray<readonly [fault: string, law: string, spoil: (wire: Wire) => Wire]> = [
    [
      "answers under another id",
      "each request gets its own answer, whatever the order of the answers",
      (wire) => ({
        ...wire,
        exchange: (request, how) => Effect.map(wire.exchange(request, how), (answer) => ({ ...answer, id: 0 }))
      })
    ],
    [
      "fails with a JSON-RPC error",
      "a JSON-RPC error is an answer",
      (wire) => ({
        ...wire,
        exchange: (request, how) =>
          Effect.flatMap(wire.exchange(request, how), (answer) =>
            "error" in answer ? Effect.die(new Error(answer.error.message)) : Effect.succeed(answer)
          )
      })
    ],
    [
      "hands everything to the listener",
      "what belongs to a request is heard in order, before its answer, and by nobody else",
      (wire) => ({ ...wire, exchange: (request, how) => wire.exchange(request, { revision: how.revision }) })
    ],
    [
      "never cancels",
      "a cancelled exchange tells the server, and the wire goes on",
      (wire) => ({ ...wire, exchange: (request, how) => wire.exchange(request, { ...how, onInterrupt: "silent" }) })
    ],
    [
      "cancels what should be silent",
      "a silent interruption writes nothing, and the late answer is dropped",
      (wire) => ({ ...wire, exchange: (request, how) => wire.exchange(request, { ...how, onInterrupt: "cancel" }) })
    ],
    [
      "answers noise with an error",
      "noise between messages is skipped",
      (wire) => ({
        ...wire,
        exchange: ({ id }) => Effect.succeed({ jsonrpc: "2.0", id, error: { code: -32_700, message: "no JSON" } })
      })
    ],
    ["loses notifications", "a notification reaches the server", (wire) => ({ ...wire, send: () => Effect.void })],
    [
      "tells plain calls twice",
      inPlainCalls,
      plainly((begin) => (asked, how, caller, settle) => {
        const twice: typeof settle = (exit) => {
          settle(exit)
          settle(exit)
        }
        return begin(asked, how, caller, twice)
      })
    ],
    [
      "tells plain calls that they were left",
      inPlainCalls,
      plainly((begin) => (asked, how, caller, settle) => {
        const leave = begin(asked, how, caller, settle)
        return () => {
          if (asked.id === 7) settle(Exit.interrupt())
          return leave()
        }
      })
    ],
    [
      "gives plain calls another answer",
      inPlainCalls,
      plainly(
        (begin) => (asked, how, caller, settle) =>
          begin(asked, how, caller, (exit) => settle(Exit.map(exit, (answer) => ({ ...answer, id: 0 }))))
      )
    ],
    [
      "cancels what plain calls have left, twice",
      inPlainCalls,
      (wire) =>
        plainly((begin) => (asked, how, caller, settle) => {
          const leave = begin(asked, how, caller, settle)
          const params = { requestId: asked.id }
          return () =>
            Effect.andThen(
              leave(),
              Effect.ignore(wire.send({ jsonrpc: "2.0", method: "notifications/cancelled", params }, how.revision))
            )
        })(wire)
    ],
    [
      "never cancels what plain calls have left",
      inPlainCalls,
      plainly(
        (begin) => (asked, how, caller, settle) => begin(asked, { ...how, onInterrupt: "silent" }, caller, settle)
      )
    ]
  ]
  it.effect.each(spoiled)("a wire that %s is found out", ([, name, spoil]) =>
    Effect.gen(function* () {
      const reach: TransportLaws.Reach = (script) =>
        Effect.map(ScriptedServer.make(script), ({ pipe, transcript }) => {
          const sound = pipe("stdio")
          return {
            transport: Transport.of({ ...sound, open: (hear) => Effect.map(sound.open(hear), spoil) }),
            transcript
          }
        })
      const law = TransportLaws.laws.find((one) => one.name === name)
      assert.isDefined(law)
      const violation = yield* ScriptedServer.unhurried(Effect.flip(law.check(reach)))
      assert.strictEqual(violation.law, name)
    })
  )

  it.effect.each([
    "what belongs to a request is heard in order, before its answer, and by nobody else",
    "a silent interruption writes nothing, and the late answer is dropped"
  ])("a transport that tells the listener of every answer is found out: %s", (name) =>
    Effect.gen(function* () {
      const reach: TransportLaws.Reach = (script) =>
        Effect.map(ScriptedServer.make(script), ({ pipe, transcript }) => {
          const sound = pipe("stdio")
          const open: Transport["Service"]["open"] = (hear) =>
            Effect.map(sound.open(hear), (wire) => ({
              ...wire,
              exchange: (request, how) =>
                Effect.tap(wire.exchange(request, how), () =>
                  Effect.sync(() => hear({ jsonrpc: "2.0", method: "an answer has come" }))
                )
            }))
          return { transport: Transport.of({ ...sound, open }), transcript }
        })
      const law = TransportLaws.laws.find((one) => one.name === name)
      assert.isDefined(law)
      const { expected } = yield* ScriptedServer.unhurried(Effect.flip(law.check(reach)))
      assert.strictEqual(expected, "nothing at the listener")
    })
  )
})
