/**
 * What failed and what to change, in the words of the command line. The libraries advise programs, which have options where
 * a person has flags: a row stands here for each reason whose advice names one.
 *
 * @since 0.1.0
 */
import type { McpClientError, Reason as ClientReason } from "@mcp-effect/client/McpClientError"
import { questionOf } from "@mcp-effect/negotiation/Evidence"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import type { Reason } from "@mcp-effect/negotiation/Reason"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import * as Match from "effect/Match"

const onlyProbe = "If only the probe is refused, use `--era legacy`, or `--prior FILE` with what `probe --save` kept"

const atTerminal = "Run it at a terminal, without `--json`, so that somebody can be asked"

const hintOf: (reason: Reason) => string = Match.type<Reason>().pipe(
  Match.tags({
    ProbeTimeout: () => "Check the address, raise `--timeout`, or use `--era legacy` if only the probe is not answered",
    ProbeHttpStatus: ({ asked, hint, isRetryable, status }) => {
      if (isRetryable || (status >= 300 && status < 400) || status >= 500) return hint
      const likely = [406, 415, 422].includes(status) ? "Looks like an old server: use" : "Check the address, or use"
      return `${questionOf(asked)} was answered with HTTP ${status}. ${likely} \`--era legacy\` if it is known to be old`
    },
    AuthorizationRequired: ({ asked, challenge }) => {
      const theirs = challenge === undefined ? "" : `; the server's challenge: ${challenge}`
      return `${questionOf(asked)} needs authorization: sign in, or add a token with \`--header\`${theirs}. ${onlyProbe}`
    },
    AuthorizationDenied: ({ asked, status }) =>
      status === 407
        ? `${questionOf(asked)} was refused by a proxy, which wants credentials of its own`
        : `${questionOf(asked)} was refused: the credentials lack the right, or a gateway refuses the client. ${onlyProbe}`,
    MissingCapability: () => `${atTerminal}; or use \`--era legacy\``,
    HeaderMismatch: () => "Look for a proxy that changes headers, or use `--era legacy`",
    ClosedDuringNegotiation: () =>
      "See the server's log; if it closes on any first message other than initialize, use `--era legacy`",
    ModeInvalid: ({ modern }) => `\`--era\` is auto, modern or legacy, and \`--pin\` one of ${modern.join(", ")}`,
    PriorInvalid: () => "Connect without `--prior`, and keep anew what is found with `probe --save`",
    ModernUnavailable: ({ cause }) =>
      cause === undefined
        ? "`--era modern` never falls back: use `--era auto`, or `--era legacy` if the server is known to be old"
        : hintOf(cause),
    PinnedVersionUnavailable: ({ cause, version }) =>
      cause === undefined
        ? `The server does not confirm ${version}: give \`--pin\` a version it names, or leave it out`
        : hintOf(cause),
    LegacyHandshakeFailed: ({ hint, offered, wants }) =>
      wants === undefined ? hint : `The server refused ${offered} and names ${wants}: update the older of the two`,
    HandshakeTimeout: () => "See whether the server starts at all, or raise `--timeout` for one that starts slowly",
    LegacyVersionUnsupported: ({ hint, modern }) =>
      modern ? "A modern version cannot be agreed on by a handshake: use `--era modern`" : hint,
    ModernOnlyServer: () => "Use `--era auto`; a configuration that says `sse` here has to say `http`"
  }),
  Match.orElse(({ hint }) => hint)
)

/** A message of a library, which holds its hint or goes without, and ours. */
const withHint = (message: string, theirs: string, ours: string) =>
  message.includes(theirs) ? message.replaceAll(theirs, () => ours) : `${message}\n${ours}`

const negotiation = ({ message, reason }: NegotiationError, ours = hintOf(reason)): string =>
  withHint(message, reason.hint, ours)

const client: (reason: ClientReason) => string = Match.type<ClientReason>().pipe(
  Match.tags({
    RequestTimedOut: ({ limit, method }) =>
      `no answer to ${method} within ${limit / 1000} s; raise \`--timeout\` if it needs longer`,
    ServerError: ({ hint, message }) => (hint === undefined ? message : withHint(message, hint, atTerminal)),
    NoMutualVersion: ({ client, method, server }) =>
      `the server refused the version of ${method}: it speaks ${server.join(", ")}; this connection speaks ${client.join(", ")}. Use \`--era auto\`, or update the older of the two`,
    Disconnected: ({ cause, message, method }) =>
      cause._tag === "NegotiationError"
        ? `${method} got no answer, since the connection is lost: ${negotiation(cause)}`
        : message,
    OutputInvalid: ({ because, pointer, tool }) =>
      `MCP tool "${tool}" broke its own output schema: at ${pointer === "" ? "the structured content" : pointer}, ${because}`,
    BecameTask: ({ method }) => `the server made a task of ${method}, which goes on; this command follows no tasks`
  }),
  Match.orElse(({ message }) => message)
)

/**
 * Why it failed, and what to change. `instead` is better advice for a connection that could not be made.
 *
 * @category formatting
 * @since 0.1.0
 */
export const because = (error: NegotiationError | McpClientError, instead?: string): string =>
  error._tag === "NegotiationError" ? negotiation(error, instead) : client(error.reason)

/**
 * Whether somebody has to sign in: the server answered 401.
 *
 * @category guards
 * @since 0.1.0
 */
export const wantsSignIn = (error: NegotiationError | McpClientError | TransportError): boolean => {
  switch (error._tag) {
    case "NegotiationError":
      return error.attempts.some(({ heard }) => heard.status === 401)
    case "TransportError":
      return error.reason._tag === "HttpRejected" && error.reason.status === 401
    case "McpClientError":
      switch (error.reason._tag) {
        case "WireFailed":
        case "OutcomeUnknown":
        case "Disconnected":
          return wantsSignIn(error.reason.cause)
        default:
          return false
      }
  }
}
