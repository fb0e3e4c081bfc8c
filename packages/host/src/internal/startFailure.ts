/**
 * Whether a server that failed may start when it is tried again, with nothing changed: a row for each way to fail.
 *
 * The types want a row for every tag, so a new one has to be thought about here.
 */
import type { Reason as ClientReason } from "@mcp-effect/client/McpClientError"
import type { Heard } from "@mcp-effect/negotiation/Evidence"
import type { NegotiationError } from "@mcp-effect/negotiation/NegotiationError"
import type { Reason as NegotiationReason } from "@mcp-effect/negotiation/Reason"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import type { Reason as WireReason } from "@mcp-effect/transport/TransportError"
import * as Match from "effect/Match"
import type { Reason as HostReason } from "../HostError.ts"
import type { ServerEntry } from "../ServerEntry.ts"
import type { StartError } from "../ServerState.ts"

export interface Verdict {
  /** Whether to try again. */
  readonly again: boolean
  readonly because: string
}

/** A row: what is said of a failure, whatever it holds. */
type Row = () => Verdict

const again =
  (because: string): Row =>
  () => ({ again: true, because })
const never =
  (because: string): Row =>
  () => ({ again: false, because })

const mayListen = again("it may be reachable later")
const mayRun = again("its process may go on running the next time")
const mayAnswer = again("it may answer in time the next time")
const noCommand = never("the command cannot be started")
const notNow = again("the machine may be able to start it later")
const noServer = never("what answers is no MCP server that this client understands")
const ours = never("this program has to change something")

/** `WouldBlock` and `Busy` are a machine with too many processes, or a file that is being written. */
const spawning = ({ because }: { readonly because: string }) =>
  because === "WouldBlock" || because === "Busy" ? notNow() : noCommand()

const signIn = never("somebody has to sign in; `restart` the server then, wherever that was")
const refused = never("the credentials are refused")
const later = again("the server asks to come back later")
const faulty = again("the server, or what stands before it, has trouble of its own")
const misdirected = never("the address or the request is wrong")
const noVersion = never("the two speak no version in common")

const status = (code: number | undefined): Verdict => {
  if (code === 401) return signIn()
  if (code === 402 || code === 403 || code === 407 || code === 451) return refused()
  if (code === 408 || code === 425 || code === 429) return later()
  return code === undefined || code < 500 || code === 501 || code === 505 ? misdirected() : faulty()
}

const wrong: ReadonlyArray<number | undefined> = [
  ErrorCode.ParseError,
  ErrorCode.InvalidRequest,
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidParams
]

const declined = never("the server refuses what it is asked")

const code = (number: number | undefined): Verdict =>
  wrong.includes(number) || ErrorCode.isModern(number ?? 0) ? declined() : faulty()

const heard: { readonly [Signal in Heard["signal"]]: (facts: Heard) => Verdict } = {
  Answered: noServer,
  Failed: (facts) => code(facts.code),
  HttpStatus: (facts) => status(facts.status),
  Silent: mayAnswer,
  Exited: mayRun,
  SpawnFailed: ({ text = "" }) => spawning({ because: text }),
  Closed: mayListen,
  Malformed: noServer,
  Unreachable: mayListen,
  Opened: noServer,
  Accepted: noServer,
  Rejected: ours
}

const hearing = (facts: Heard): Verdict => heard[facts.signal](facts)

const causing = (facts: { readonly heard: Heard; readonly cause?: NegotiationReason | undefined }) =>
  facts.cause === undefined ? hearing(facts.heard) : negotiation(facts.cause)

/** Of two ways that were tried, the one that may lead somewhere the next time. */
const either = (one: Heard, other: Heard | undefined) => {
  const verdict = hearing(one)
  return verdict.again || other === undefined ? verdict : hearing(other)
}

const negotiation: (reason: NegotiationReason) => Verdict = Match.typeTags<NegotiationReason>()({
  ProbeTimeout: mayAnswer,
  ProbeTransportFailure: mayListen,
  ProbeHttpStatus: (facts) => status(facts.status),
  AuthorizationRequired: signIn,
  AuthorizationDenied: refused,
  MalformedProbeReply: noServer,
  NoMutualVersion: noVersion,
  HeaderMismatch: never("something between the two changes headers"),
  MissingCapability: ours,
  ServerExited: mayRun,
  SpawnFailed: spawning,
  ClosedDuringNegotiation: mayListen,
  ModernUnavailable: causing,
  PinnedVersionUnavailable: causing,
  ModeInvalid: ours,
  PriorInvalid: ours,
  LegacyHandshakeFailed: (facts) => either(facts.handshake, facts.recovery),
  HandshakeTimeout: mayAnswer,
  LegacyVersionUnsupported: noVersion,
  ModernOnlyServer: noVersion,
  TransportFallbackExhausted: (facts) => either(facts.sse, facts.handshake),
  DiscoverRejected: never("this program refuses the server"),
  InitializeRejected: never("this program refuses the server")
})

const forgotten = again("what was remembered of it no longer holds, and is forgotten now")

const negotiating = (error: NegotiationError): Verdict => (error.remembered ? forgotten() : negotiation(error.reason))

const wire: (reason: WireReason) => Verdict = Match.typeTags<WireReason>()({
  SpawnFailed: spawning,
  Exited: mayRun,
  Closed: mayListen,
  Unreachable: mayListen,
  HttpRejected: (facts) => status(facts.status),
  MalformedReply: noServer,
  ResponseLost: mayListen,
  ResponseTaken: ours,
  NotJson: ours,
  TooLarge: ours
})

const carrying = ({ cause }: { readonly cause: { readonly reason: WireReason } }) => wire(cause.reason)

const client: (reason: ClientReason) => Verdict = Match.typeTags<ClientReason>()({
  InvalidOption: ours,
  ServerError: (facts) => code(facts.code),
  NoMutualVersion: noVersion,
  RequestTimedOut: mayAnswer,
  WireFailed: carrying,
  OutcomeUnknown: carrying,
  InvalidResult: noServer,
  Disconnected: ({ cause }) => (cause._tag === "NegotiationError" ? negotiating(cause) : wire(cause.reason)),
  InputRequired: ours,
  ToolNotCallable: noServer,
  NotAvailableInLegacy: ours,
  NotAvailableInModern: ours,
  CannotCarry: ours,
  ListTooLong: never("its list is longer than this program allows"),
  SubscriptionEnded: mayListen,
  OutputInvalid: noServer,
  BecameTask: noServer,
  TaskEnded: noServer
})

const host: (reason: HostReason) => Verdict = Match.typeTags<HostReason>()({
  UnknownServer: ours,
  NameTaken: ours,
  HostClosed: ours,
  NotReady: ours,
  ServerStopped: ours,
  CannotReach: ours,
  Crashed: never("something in this program broke"),
  UnknownTool: ours,
  ToolDenied: ours,
  ToolTimedOut: ours
})

const usedUp = never("its transport cannot be opened again")
const noAddress = never("its address is no URL")
const isWeb = (address: string) => URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)

/** Whether the server may start the next time. */
export const verdictOn = ({
  entry,
  error,
  reopenable
}: {
  readonly error: StartError
  readonly entry: ServerEntry
  /** Whether the transport can be opened once more. */
  readonly reopenable: boolean
}): Verdict => {
  if (!reopenable) return usedUp()
  switch (error._tag) {
    case "HostError":
      return host(error.reason)
    case "McpClientError":
      return client(error.reason)
    case "NegotiationError":
      return entry.type !== "stdio" && !isWeb(entry.url) ? noAddress() : negotiating(error)
  }
}
