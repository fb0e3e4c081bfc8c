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
  /** A part of a message that the agreed revision does not know was left out before sending. */
  MemberDropped: {
    readonly server: string
    readonly method: string
    readonly pointer: string
    readonly because: string
  }
  /** A list holds the same name twice; the first one counts (T-40). */
  DuplicateName: { readonly server: string; readonly method: string; readonly name: string }
  /** The endpoint does not speak Streamable HTTP; HTTP+SSE is tried (U-41). */
  SseFallback: { readonly server: string; readonly status: number }
}>

/**
 * Which rule, requirement or promise each kind of diagnostic follows from.
 *
 * @category models
 * @since 0.1.0
 */
export const requirements: { readonly [Tag in Diagnostic["_tag"]]: string } = {
  NoiseSkipped: "M-STDIO-3",
  UnknownResponse: "T-RPC-1",
  ModernLookingFallback: "P11",
  LateDiscover: "T-8",
  UnexpectedMessage: "M-JSON-10",
  ItemRejected: "T-TOOL-1",
  MemberDropped: "L-LIFE-11",
  DuplicateName: "T-40",
  SseFallback: "U-41"
}

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
      : `left out an item of ${d.method} at ${d.pointer}: ${d.because}`,
  MemberDropped: (d) => `sent ${d.method} without ${d.pointer}: ${d.because}`,
  DuplicateName: (d) => `${d.method} holds "${d.name}" more than once; the first one counts`,
  SseFallback: (d) => `answered ${d.status} to Streamable HTTP; trying HTTP+SSE`
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
