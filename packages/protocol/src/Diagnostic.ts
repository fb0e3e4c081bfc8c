/**
 * What was noticed but did not fail: noise on stdout, a tool that had to be left out, a fallback on weak evidence.
 *
 * Every part of the library reports through one reference. Its default writes to Effect's logger; provide your own to
 * show, count or silence them.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/**
 * One thing noticed. `server` names the endpoint it came from.
 *
 * @category models
 * @since 0.1.0
 */
export type Diagnostic = Data.TaggedEnum<{
  /** A line on stdout that is no message (M-STDIO-3). It was skipped. */
  NoiseSkipped: { readonly server: string; readonly excerpt: string; readonly skipped: number }
  /** An answer to no open request; it was dropped. */
  UnknownResponse: { readonly server: string; readonly id: string | number | null }
  /** The server answered the probe with an error only modern servers know; the handshake was tried all the same. */
  ModernLookingFallback: { readonly server: string; readonly rule: string; readonly code: number }
  /** The probe's answer came after patience had ended and the handshake had succeeded. */
  LateDiscover: { readonly server: string }
  /** A message that a server may not send now; nothing was written back. */
  UnexpectedMessage: { readonly server: string; readonly method: string; readonly because: string }
  /** One item of a list could not be read; the others were kept. */
  ItemRejected: {
    readonly server: string
    readonly method: string
    readonly pointer: string
    readonly name: string | undefined
    readonly because: string
  }
}>

/**
 * Constructors and matchers of `Diagnostic`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Diagnostic = Data.taggedEnum<Diagnostic>()

/**
 * One line for a person.
 *
 * @category formatting
 * @since 0.1.0
 */
export const describe: (diagnostic: Diagnostic) => string = Diagnostic.$match({
  NoiseSkipped: (d) => `skipped ${d.skipped} line(s) on stdout that are no messages, the last: ${d.excerpt}`,
  UnknownResponse: (d) => `dropped an answer to no open request (id ${d.id === null ? "null" : JSON.stringify(d.id)})`,
  ModernLookingFallback: (d) =>
    `answered the probe with ${d.code}, an error of modern servers; tried the handshake all the same (rule ${d.rule})`,
  LateDiscover: () => "answered the probe after the handshake had begun; connect again to speak the modern era",
  UnexpectedMessage: (d) => `dropped ${d.method}: ${d.because}`,
  ItemRejected: (d) =>
    d.method === "tools/list" && d.name !== undefined
      ? `MCP tool "${d.name}" ignored: ${d.because}`
      : `left out an item of ${d.method} at ${d.pointer}: ${d.because}`
})

/**
 * Where diagnostics go. The default logs each as a warning, annotated with the server.
 *
 * @category services
 * @since 0.1.0
 */
export const Diagnostics = Context.Reference<(diagnostic: Diagnostic) => Effect.Effect<void>>(
  "@mcp-effect/protocol/Diagnostics",
  {
    defaultValue: () => (diagnostic) =>
      Effect.logWarning(describe(diagnostic)).pipe(
        Effect.annotateLogs({ server: diagnostic.server, diagnostic: diagnostic._tag })
      )
  }
)
