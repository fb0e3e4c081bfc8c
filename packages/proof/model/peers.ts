/** One script, played by three peers: in this program, in a child process, behind a socket. */
import * as NodeHttpScriptedServer from "@mcp-effect/testing/NodeHttpScriptedServer"
import * as NodeScriptedServer from "@mcp-effect/testing/NodeScriptedServer"
import type * as Script from "@mcp-effect/testing/Script"
import * as ScriptedServer from "@mcp-effect/testing/ScriptedServer"
import * as NodeStdio from "@mcp-effect/transport/NodeStdio"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import * as Effect from "effect/Effect"
import { limits, outcome } from "./connecting.ts"
import type { Limits, Mode, Situation } from "./Oracle.ts"

/** In this program, under the test clock. */
export const inMemory = Effect.fnUntraced(function* (script: Script.Script, kind: Situation["kind"], mode: Mode) {
  return yield* ScriptedServer.unhurried(
    Effect.flatMap(ScriptedServer.make(script), ({ http, pipe, transcript }) =>
      outcome({ transport: kind === "http" ? http : pipe(kind), transcript }, mode, limits)
    )
  )
})

/** Limits for child processes: starting one takes its time. */
export const processLimits: Limits = { probe: 5_000, handshake: 6_000, request: 20_000, connect: 60_000 }

export const inProcess = Effect.fnUntraced(function* (script: Script.Script, mode: Mode) {
  const server = yield* NodeScriptedServer.make(script)
  const transport = NodeStdio.make(server)
  return yield* outcome({ transport, transcript: server.transcript }, mode, processLimits)
}, Effect.scoped)

/** Limits for sockets on loopback. */
export const socketLimits: Limits = { probe: 500, handshake: 600, request: 700, connect: 10_000 }

export const overSocket = Effect.fnUntraced(function* (script: Script.Script, mode: Mode) {
  const { transcript, url } = yield* NodeHttpScriptedServer.make(script)
  const transport = yield* StreamableHttp.make({ url })
  return yield* outcome({ transport, transcript }, mode, socketLimits)
}, Effect.scoped)
