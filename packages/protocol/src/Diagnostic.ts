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
import { excerpt } from "./Excerpt.ts"

/**
 * One thing noticed. `server` names the endpoint it came from.
 *
 * @category models
 * @since 0.1.0
 */
export type Diagnostic = Data.TaggedEnum<{
  /** A line on stdout that is no message (M-STDIO-3). It was skipped. */
  NoiseSkipped: { readonly server: string; readonly excerpt: string; readonly skipped: number }
  /** An answer to no open request; it was dropped. `dropped` counts them on this wire. */
  UnknownResponse: { readonly server: string; readonly id: string | number | null; readonly dropped: number }
  /** The server answered the probe with an error only modern servers know; the handshake was tried all the same. */
  ModernLookingFallback: { readonly server: string; readonly rule: string; readonly code: number }
  /** The probe's answer came after patience had ended and the handshake had succeeded. */
  LateDiscover: { readonly server: string }
  /** A message that a server may not send now; nothing was written back. `dropped` counts those of one method. */
  UnexpectedMessage: {
    readonly server: string
    readonly method: string
    readonly because: string
    readonly dropped: number
  }
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
  /** What a tool gives cannot be checked against the schema it declares; it is given as it came. */
  OutputUnchecked: { readonly server: string; readonly tool: string; readonly because: string }
  /** A function of the program that only listens threw; what it listens to goes on (T-RPC-6). `failed` counts. */
  CallbackFailed: {
    readonly server: string
    readonly callback: string
    readonly because: string
    readonly failed: number
  }
  /** A slow reader of one call's events lost the oldest of them; never the result. `dropped` counts. */
  EventsDropped: { readonly server: string; readonly name: string; readonly dropped: number }
  /** Something about signing in; `server` is `authorization`, `notice` the tag of the client's own notice. */
  AuthorizationNoticed: { readonly server: string; readonly notice: string; readonly because: string }
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
  SseFallback: "U-41",
  OutputUnchecked: "T-SEC-8",
  CallbackFailed: "T-RPC-6",
  EventsDropped: "T-RPC-6",
  AuthorizationNoticed: "T-OAUTH-10"
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
  UnknownResponse: (d) =>
    `dropped ${d.dropped} answer(s) to no open request, the last with id ${d.id === null ? "null" : JSON.stringify(d.id)}`,
  ModernLookingFallback: (d) =>
    `answered the probe with ${d.code}, an error of modern servers; tried the handshake all the same (rule ${d.rule})`,
  LateDiscover: () => "answered the probe after the handshake had begun; connect again to speak the modern era",
  UnexpectedMessage: (d) => `dropped ${d.dropped} ${excerpt(d.method)}: ${d.because}`,
  ItemRejected: (d) =>
    d.method === "tools/list" && d.name !== undefined
      ? `MCP tool "${d.name}" ignored: ${d.because}`
      : `left out ${d.pointer} of ${d.method}: ${d.because}`,
  MemberDropped: (d) => `sent ${d.method} without ${d.pointer}: ${d.because}`,
  DuplicateName: (d) => `${d.method} holds "${d.name}" more than once; the first one counts`,
  SseFallback: (d) => `answered ${d.status} to Streamable HTTP; trying HTTP+SSE`,
  OutputUnchecked: (d) => `what MCP tool "${d.tool}" gives is not checked: ${d.because}`,
  CallbackFailed: (d) => `${d.callback} of this program failed ${d.failed} time(s), the last: ${d.because}`,
  EventsDropped: (d) => `dropped ${d.dropped} event(s) of a call of "${d.name}": its reader is too slow`,
  AuthorizationNoticed: (d) => d.because
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

/**
 * The reference as the library uses it: what is provided there may throw or fail without harm to whoever reports.
 *
 * @category reporting
 * @since 0.1.0
 */
export const reporting: Effect.Effect<(diagnostic: Diagnostic) => Effect.Effect<void>> = Effect.map(
  Diagnostics,
  (report) => (diagnostic) => contained(report, diagnostic)
)

const contained = (report: (diagnostic: Diagnostic) => Effect.Effect<void>, diagnostic: Diagnostic) =>
  Effect.ignoreCause(Effect.suspend(() => report(diagnostic)))

/**
 * The same for places that run no effects. What a server can repeat as often as it likes is reported the first time and
 * then each time its number has doubled, so that no server fills a log.
 *
 * @category reporting
 * @since 0.1.0
 */
export const reporter: Effect.Effect<(diagnostic: Diagnostic) => void> = Effect.map(Effect.context(), (context) => {
  // Most never report anything.
  let count: ReturnType<typeof counting> | undefined
  return (diagnostic) => (count ??= counting(context))(diagnostic)
})

const counting = (context: Context.Context<never>) => {
  const report = Context.get(context, Diagnostics)
  const run = Effect.runForkWith(context)
  const numbers = new Map<string, number>()
  /** How many there were, this one too; nothing when that is not worth a report. */
  const worth = (kind: string) => {
    const key = numbers.size < maxKinds || numbers.has(kind) ? kind : ""
    const number = (numbers.get(key) ?? 0) + 1
    numbers.set(key, number)
    return Number.isInteger(Math.log2(number)) ? number : undefined
  }
  return (diagnostic: Diagnostic) => {
    const kind = kindOf(diagnostic)
    const number = kind === undefined ? undefined : worth(kind)
    if (kind !== undefined && number === undefined) return
    run(contained(report, number === undefined ? diagnostic : numbered(diagnostic, number)))
  }
}

/** How many kinds of repeated things are counted apart: their names come from the server. */
const maxKinds = 64

/** What repeats itself, under a name that counts together; nothing for what is always worth a report. */
const kindOf = (diagnostic: Diagnostic): string | undefined => {
  switch (diagnostic._tag) {
    case "UnknownResponse":
      return diagnostic._tag
    case "UnexpectedMessage":
      return `${diagnostic._tag} ${excerpt(diagnostic.method)}`
    case "CallbackFailed":
      return `${diagnostic._tag} ${diagnostic.callback}`
  }
}

const numbered = (diagnostic: Diagnostic, number: number): Diagnostic => {
  switch (diagnostic._tag) {
    case "UnknownResponse":
    case "UnexpectedMessage":
      return { ...diagnostic, dropped: number }
    case "CallbackFailed":
      return { ...diagnostic, failed: number }
    default:
      return diagnostic
  }
}
