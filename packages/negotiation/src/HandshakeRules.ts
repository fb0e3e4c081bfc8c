/**
 * The rules of the handshake: what each answer to `initialize` means, and what each attempt to open another channel
 * comes to.
 *
 * First match wins, and the last row of each table matches everything. What the probe said before is not looked at again:
 * it stands beside the failure as its first half.
 *
 * @since 0.1.0
 */
import type { HandshakeReading, OpeningReading } from "./Reading.ts"
import { isModernCode } from "./Reading.ts"
import { fail, type HandshakeRuling, notHeard, type OpeningRuling, type OutsideRule, type Rule } from "./Rule.ts"

type Test = (reading: HandshakeReading) => boolean

const is =
  (...tags: ReadonlyArray<HandshakeReading["signal"]["_tag"]>) =>
  ({ signal }: Pick<HandshakeReading, "signal">) =>
    tags.includes(signal._tag)

const status =
  (...statuses: ReadonlyArray<number>) =>
  (reading: Pick<HandshakeReading, "status">) =>
    reading.status !== undefined && statuses.includes(reading.status)

const isFault = (reading: Pick<HandshakeReading, "status">): boolean =>
  reading.status !== undefined &&
  (reading.status >= 500 || (reading.status >= 300 && reading.status < 400) || status(408, 425, 429)(reading))

const gone = is("Exited", "Closed")

// What H14 counts as a handshake that failed: H2 to H5, H10 and H11. Faults and pages (H12) are none.
const failed: Test = (reading) =>
  reading.initialize !== undefined ||
  reading.error !== undefined ||
  reading.status !== undefined ||
  is("Silent")(reading) ||
  (gone(reading) && reading.reopen)

/**
 * The rows for the answer to `initialize`.
 *
 * @category rules
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule<HandshakeReading, HandshakeRuling>> = [
  {
    id: "H9",
    heard: "HTTP 401",
    matches: status(401),
    on: { pipe: notHeard, http: fail("AuthorizationRequired") },
    evidence: undefined,
    because: "who may ask is settled before anything else (P23)",
    source: "U-05"
  },
  {
    id: "H9",
    heard: "HTTP 402, 403, 407, 451",
    matches: status(402, 403, 407, 451),
    on: { pipe: notHeard, http: fail("AuthorizationDenied") },
    evidence: undefined,
    because: "a refusal of the asker ends the connect (P24)",
    source: "U-05"
  },
  {
    id: "H12",
    heard: "HTTP 5xx, 408, 425, 429, 3xx",
    matches: isFault,
    on: { pipe: notHeard, http: fail("ProbeHttpStatus") },
    evidence: undefined,
    because: "faults are no verdicts here either (P25, P27, P28)",
    source: "U-05"
  },
  {
    id: "H1",
    heard: "an InitializeResult with a legacy version of ours, offered or counter-offered",
    matches: ({ initialize, terms }) => initialize !== undefined && terms.legacy.includes(initialize.protocolVersion),
    on: { pipe: "adopt", http: "adopt" },
    evidence: undefined,
    because: "any version we speak is a good answer",
    source: "U-30"
  },
  {
    id: "H14",
    heard: "a failure (H2–H5, H10, H11) after a late DiscoverResult with a modern version of ours",
    matches: (reading) => reading.late !== undefined && reading.modernOpen && failed(reading),
    on: { pipe: "adoptLate", http: "adoptLate" },
    evidence: "definitive",
    because: "the server was only slow: it is modern, and has said so",
    source: "U-01"
  },
  {
    id: "H3",
    heard: "an InitializeResult with a modern version",
    matches: ({ initialize, terms }) => initialize !== undefined && terms.modern.includes(initialize.protocolVersion),
    on: { pipe: fail("LegacyVersionUnsupported"), http: fail("LegacyVersionUnsupported") },
    evidence: undefined,
    because: "no handshake can agree on a modern version",
    source: "T-NEG-7"
  },
  {
    id: "H2",
    heard: "an InitializeResult with a version unknown to us",
    matches: ({ initialize }) => initialize !== undefined,
    on: { pipe: fail("LegacyVersionUnsupported"), http: fail("LegacyVersionUnsupported") },
    evidence: undefined,
    because: "going on would be guessing",
    source: "T-NEG-7"
  },
  {
    id: "H4",
    heard: "-32022 naming a modern version of ours",
    matches: (reading) =>
      reading.error?.code === -32022 &&
      reading.modern !== undefined &&
      reading.modernOpen &&
      reading.channel !== "httpSse",
    on: { pipe: "retry", http: "retry" },
    evidence: "definitive",
    because: "the server is modern after all; one more probe settles it",
    source: "T-NEG-9, M-VER-10"
  },
  {
    id: "H4",
    heard: "-32022 naming a modern version of ours, in mode `legacy` or over `sse`",
    matches: (reading) => reading.error?.code === -32022 && reading.modern !== undefined && !reading.modernOpen,
    on: { pipe: fail("ModernOnlyServer"), http: fail("ModernOnlyServer") },
    evidence: undefined,
    because: "the mode rules out what the server wants",
    source: "U-01, M-VER-10"
  },
  {
    id: "H6",
    heard: "HTTP 400, 404, 405 without a modern error, and HTTP+SSE not yet tried",
    matches: (reading) =>
      status(400, 404, 405)(reading) &&
      reading.sse &&
      (reading.error === undefined || !isModernCode(reading.error.code)),
    on: { pipe: notHeard, http: "httpSse" },
    evidence: undefined,
    because: "servers of 2024-11-05 speak HTTP+SSE at the same address, and refuse the POST like this",
    source: "U-41"
  },
  {
    id: "H10",
    heard: "no answer in time",
    matches: is("Silent"),
    on: { pipe: fail("HandshakeTimeout"), http: fail("HandshakeTimeout") },
    evidence: undefined,
    because: "patience ended",
    source: "U-61"
  },
  {
    id: "H11",
    heard: "the process ended or the pipe closed, the wire was probed, and a fresh one can be opened",
    matches: (reading) => gone(reading) && reading.probed && reading.reopen,
    on: { pipe: "reopen", http: notHeard },
    evidence: undefined,
    because: "some older servers keep silent at the probe and end at the next line",
    source: "T-NEG-2"
  },
  {
    id: "H15",
    heard: "the process ended on a wire that was never probed, or with no second one left",
    matches: is("Exited"),
    on: { pipe: fail("ServerExited"), http: notHeard },
    evidence: undefined,
    because: "a restart would meet the same end",
    source: "T-NEG-2"
  },
  {
    id: "H15",
    heard: "the pipe closed on a wire that was never probed, or with no second one left",
    matches: is("Closed"),
    on: { pipe: fail("ClosedDuringNegotiation"), http: fail("ProbeTransportFailure") },
    evidence: undefined,
    because: "a second wire would meet the same end",
    source: "T-NEG-2"
  },
  {
    id: "H12",
    heard: "the command cannot be started",
    matches: is("SpawnFailed"),
    on: { pipe: fail("SpawnFailed"), http: notHeard },
    evidence: undefined,
    because: "a second start would fail alike (P18)",
    source: "U-61"
  },
  {
    id: "H12",
    heard: "refused, unknown host, TLS, reset",
    matches: is("Unreachable"),
    on: { pipe: fail("ProbeTransportFailure"), http: fail("ProbeTransportFailure") },
    evidence: undefined,
    because: "network trouble is never a verdict (P30)",
    source: "U-05"
  },
  {
    id: "H5",
    heard: "any other JSON-RPC error or HTTP 4xx",
    matches: (reading) => reading.error !== undefined || (reading.status !== undefined && reading.status >= 400),
    on: { pipe: fail("LegacyHandshakeFailed"), http: fail("LegacyHandshakeFailed") },
    evidence: undefined,
    because: "both ways are refused",
    source: "T-NEG-8"
  },
  {
    id: "H12",
    heard: "anything else: a page, no JSON-RPC, no InitializeResult, an event stream that ended first",
    matches: () => true,
    on: { pipe: fail("MalformedProbeReply"), http: fail("MalformedProbeReply") },
    evidence: undefined,
    because: "this is no answer of an MCP server (P29)",
    source: "U-61"
  }
]

/**
 * The rows for opening a channel: a fresh wire on a pipe, HTTP+SSE over HTTP.
 *
 * @category rules
 * @since 0.1.0
 */
export const openings: ReadonlyArray<Rule<OpeningReading, OpeningRuling>> = [
  {
    id: "P17",
    heard: "a fresh wire",
    matches: (reading) => reading.channel === "again" && is("Opened")(reading),
    on: { pipe: "proceed", http: "proceed" },
    evidence: undefined,
    because: "it has not been probed, so it can be greeted the old way",
    source: "T-NEG-2"
  },
  {
    id: "H7",
    heard: "HTTP+SSE with an `endpoint` of the same origin",
    matches: is("Opened"),
    on: { pipe: notHeard, http: "proceed" },
    evidence: undefined,
    because: "the older transport is there",
    source: "U-41"
  },
  {
    id: "H9",
    heard: "HTTP 401",
    matches: status(401),
    on: { pipe: notHeard, http: fail("AuthorizationRequired") },
    evidence: undefined,
    because: "who may ask is settled before anything else (P23)",
    source: "U-05"
  },
  {
    id: "H9",
    heard: "HTTP 402, 403, 407, 451",
    matches: status(402, 403, 407, 451),
    on: { pipe: notHeard, http: fail("AuthorizationDenied") },
    evidence: undefined,
    because: "a refusal of the asker ends the connect (P24)",
    source: "U-05"
  },
  {
    id: "H8",
    heard: "any other status or media type, no `endpoint` in time, or one of another origin",
    matches: (reading) => reading.channel === "httpSse",
    on: { pipe: notHeard, http: fail("TransportFallbackExhausted") },
    evidence: undefined,
    because: "there is no third transport",
    source: "U-41"
  },
  {
    id: "P17",
    heard: "the second process ended too",
    matches: is("Exited"),
    on: { pipe: fail("ServerExited"), http: notHeard },
    evidence: undefined,
    because: "one restart is all there is",
    source: "T-NEG-2"
  },
  {
    id: "P18",
    heard: "the command cannot be started",
    matches: is("SpawnFailed"),
    on: { pipe: fail("SpawnFailed"), http: notHeard },
    evidence: undefined,
    because: "another start would fail alike",
    source: "U-61"
  },
  {
    id: "P30",
    heard: "refused, reset",
    matches: is("Unreachable"),
    on: { pipe: fail("ProbeTransportFailure"), http: fail("ProbeTransportFailure") },
    evidence: undefined,
    because: "network trouble is never a verdict",
    source: "U-05"
  },
  {
    id: "P17",
    heard: "anything else",
    matches: () => true,
    on: { pipe: fail("ClosedDuringNegotiation"), http: fail("ProbeTransportFailure") },
    evidence: undefined,
    because: "no fresh wire, nobody to ask",
    source: "T-NEG-2"
  }
]

/**
 * The row kept outside the tables.
 *
 * @category rules
 * @since 0.1.0
 */
export const outside: ReadonlyArray<OutsideRule> = [
  {
    id: "H13",
    heard: "the program refuses the InitializeResult",
    keeps: "machine: FAIL(InitializeRejected), in the state that asks the program",
    because: "the program has the last word, and hears before the server is told that the handshake is complete",
    source: "U-08"
  }
]
