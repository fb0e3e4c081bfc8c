/** Connects the real client to a scripted server and tells the outcome in the oracle's words. */
import * as McpClient from "@mcp-effect/client/McpClient"
import * as EraMemory from "@mcp-effect/negotiation/EraMemory"
import * as Verdict from "@mcp-effect/negotiation/Verdict"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import * as Transcript from "@mcp-effect/testing/Transcript"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Limits, Mode, Outcome } from "./Oracle.ts"

/** The defaults of the library; only the deadline is later, so that it never coincides with another limit. */
export const limits: Limits = { probe: 5_000, handshake: 30_000, request: 60_000, connect: 70_000 }

const modes = { auto: "auto", modern: "modern", legacy: "legacy", pin: "2026-07-28" } as const

const patience = ({ connect, handshake, probe, request }: Limits) =>
  Context.make(Defaults.ConnectTimeout, Duration.millis(connect)).pipe(
    Context.add(Defaults.HandshakeTimeout, Duration.millis(handshake)),
    Context.add(Defaults.ProbeTimeout, Duration.millis(probe)),
    Context.add(Defaults.RequestTimeout, Duration.millis(request)),
    Context.add(Diagnostics, () => Effect.void)
  )

/** Connects and closes again. */
export const outcome = (
  server: { readonly transport: Transport["Service"]; readonly transcript: Effect.Effect<Transcript.Transcript> },
  mode: Mode,
  within: Limits
): Effect.Effect<Outcome> =>
  McpClient.connect(server.transport, { mode: modes[mode] }).pipe(
    Effect.map(({ agreement }) => ({
      outcome: "connected" as const,
      version: agreement.version,
      channel: agreement.channel,
      rule: agreement.rule,
      lasting: Verdict.fromAgreement(agreement, 0) !== undefined
    })),
    Effect.scoped,
    Effect.catch((error) => Effect.succeed({ outcome: "failed" as const, reason: error.reason._tag })),
    Effect.flatMap((found) =>
      Effect.map(server.transcript, (transcript): Outcome => ({ ...found, heard: Transcript.methods(transcript) }))
    ),
    Effect.provide(patience(within)),
    Effect.provide(EraMemory.layerNone)
  )

/** What is compared: everything the table speaks of. */
export const comparable = (found: Outcome, mode: Mode) => {
  // A ping between `initialize` and its answer is answered; P20 forbids writing back before that.
  const early =
    found.heard.indexOf("response") >= 0 && found.heard.indexOf("response") < found.heard.indexOf("initialize")
  const heard = [...(early ? ["an answer to nobody"] : []), ...found.heard.filter((method) => method !== "response")]
  if (found.outcome === "failed") return { reason: found.reason, heard }
  const { channel, lasting, rule, version } = found
  return { version, channel, heard, ...(mode === "auto" ? { lasting, rule } : {}) }
}
