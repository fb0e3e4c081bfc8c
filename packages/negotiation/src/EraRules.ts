/**
 * The rules of the probe: what each answer to `server/discover` means, on a pipe and over HTTP, and why.
 *
 * First match wins, and the last row matches everything. Order matters where a row says so: statuses of other layers stand
 * above bodies, the list of a -32022 above the blanket "any error means an older server".
 *
 * @since 0.1.0
 */
import type { ProbeReading } from "./Reading.ts"
import { isModernCode } from "./Reading.ts"
import { fail, notHeard, type OutsideRule, type ProbeRuling, type Rule } from "./Rule.ts"

type Test = (reading: ProbeReading) => boolean

const code =
  (...codes: ReadonlyArray<number>): Test =>
  ({ error }) =>
    error !== undefined && codes.includes(error.code)

const status =
  (...statuses: ReadonlyArray<number>): Test =>
  (reading) =>
    reading.status !== undefined && statuses.includes(reading.status)

const statusBetween =
  (lowest: number, highest: number): Test =>
  (reading) =>
    reading.status !== undefined && reading.status >= lowest && reading.status <= highest

const is =
  (...tags: ReadonlyArray<ProbeReading["signal"]["_tag"]>): Test =>
  ({ signal }) =>
    tags.includes(signal._tag)

const discovered: Test = ({ discover }) => discover !== undefined
const refusedVersion = code(-32022)

/**
 * The rows of the machine.
 *
 * @category rules
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule<ProbeReading, ProbeRuling>> = [
  {
    id: "P23",
    heard: "HTTP 401",
    matches: status(401),
    on: { pipe: notHeard, http: fail("AuthorizationRequired") },
    evidence: undefined,
    because: "who may ask says nothing about the era, whatever the body is",
    source: "U-05, T-NEG-6"
  },
  {
    id: "P24",
    heard: "HTTP 402, 403, 407, 451",
    matches: status(402, 403, 407, 451),
    on: { pipe: notHeard, http: fail("AuthorizationDenied") },
    evidence: undefined,
    because: "a refusal of the asker says nothing about the era, whatever the body is",
    source: "U-05, T-NEG-6"
  },
  {
    id: "P27",
    heard: "HTTP 500–599",
    matches: statusBetween(500, 599),
    on: { pipe: notHeard, http: fail("ProbeHttpStatus") },
    evidence: undefined,
    because: "a fault is not an era, whatever the body is",
    source: "U-05, T-NEG-6"
  },
  {
    id: "P25",
    heard: "HTTP 408, 425, 429",
    matches: status(408, 425, 429),
    on: { pipe: notHeard, http: fail("ProbeHttpStatus") },
    evidence: undefined,
    because: "these pass by definition, and a busy modern server must not be downgraded",
    source: "T-NEG-3"
  },
  {
    id: "P28",
    heard: "HTTP 300–399, not followed",
    matches: statusBetween(300, 399),
    on: { pipe: notHeard, http: fail("ProbeHttpStatus") },
    evidence: undefined,
    because: "a moved endpoint must be seen, not worked around",
    source: "U-05"
  },
  {
    id: "P1",
    heard: "a DiscoverResult, soft defects allowed (P4), with a modern version of ours",
    matches: (reading) => discovered(reading) && reading.modern !== undefined,
    on: { pipe: "adopt", http: "adopt" },
    evidence: "definitive",
    because: "it is positive proof, and the client's order picks the version",
    source: "M-VER-13, M-DISC-9"
  },
  {
    id: "P2",
    heard: "a DiscoverResult without a modern version of ours that names one of the handshake era",
    matches: (reading) => discovered(reading) && reading.namesHandshakeEra,
    on: { pipe: "handshake", http: "handshake" },
    evidence: "definitive",
    because: "it advertises the handshake itself",
    source: "M-VER-14"
  },
  {
    id: "P3",
    heard: "a DiscoverResult that names only modern versions unknown to us",
    matches: discovered,
    on: { pipe: fail("NoMutualVersion"), http: fail("NoMutualVersion") },
    evidence: undefined,
    because: "the server is proven modern, so a handshake could only fail",
    source: "M-VER-3, U-04"
  },
  {
    id: "P5",
    heard: "any other JSON-RPC result",
    matches: is("Answered"),
    on: { pipe: "handshake", http: "handshake" },
    evidence: "conventional",
    because: "some older servers answer any method, and this is no proof of a modern one",
    source: "M-VER-9, M-DISC-9"
  },
  {
    id: "P6",
    heard: "-32022 naming a modern version of ours, the first time",
    matches: (reading) => refusedVersion(reading) && reading.modern !== undefined && !reading.corrected,
    on: { pipe: "retry", http: "retry" },
    evidence: "definitive",
    because: "the server is modern and says which version it wants",
    source: "U-04, M-VER-3, T-NEG-4"
  },
  {
    id: "P7",
    heard: "-32022 again, naming a modern version of ours and one of the handshake era",
    matches: (reading) => refusedVersion(reading) && reading.modern !== undefined && reading.namesHandshakeEra,
    on: { pipe: "handshake", http: "handshake" },
    evidence: "definitive",
    because: "the modern way is closed, the other is offered, and asking a third time would go in circles",
    source: "U-04"
  },
  {
    id: "P7",
    heard: "-32022 again, naming modern versions only",
    matches: (reading) => refusedVersion(reading) && reading.modern !== undefined,
    on: { pipe: fail("NoMutualVersion"), http: fail("NoMutualVersion") },
    evidence: undefined,
    because: "it refuses the very version it names, and asking a third time would go in circles",
    source: "U-04"
  },
  {
    id: "P8",
    heard: "-32022 without a modern version of ours that names one of the handshake era",
    matches: (reading) => refusedVersion(reading) && reading.namesHandshakeEra,
    on: { pipe: "handshake", http: "handshake" },
    evidence: "definitive",
    because: "it names the handshake as the way in",
    source: "U-04, M-VER-14"
  },
  {
    id: "P9",
    heard: "-32022 naming only modern versions unknown to us",
    matches: (reading) => refusedVersion(reading) && reading.listed.length > 0,
    on: { pipe: fail("NoMutualVersion"), http: fail("NoMutualVersion") },
    evidence: undefined,
    because: "the server is proven modern and nothing is shared",
    source: "U-04, M-VER-3, T-NEG-4"
  },
  {
    id: "P10",
    heard: "-32022 without a usable list",
    matches: refusedVersion,
    on: { pipe: "handshake", http: "handshake" },
    evidence: "weak",
    because: "there is nothing to correct, so the promised fallback holds",
    source: "U-02, U-03"
  },
  {
    id: "P11",
    heard: '-32020, with `fallback: "spec"`',
    matches: (reading) => reading.terms.fallback === "spec" && code(-32020)(reading),
    on: { pipe: fail("HeaderMismatch"), http: fail("HeaderMismatch") },
    evidence: undefined,
    because: "only modern servers know this error, and the program asked for the strict reading",
    source: "M-VER-9"
  },
  {
    id: "P11",
    heard: '-32021, with `fallback: "spec"`',
    matches: (reading) => reading.terms.fallback === "spec" && code(-32021)(reading),
    on: { pipe: fail("MissingCapability"), http: fail("MissingCapability") },
    evidence: undefined,
    because: "only modern servers know this error, and the program asked for the strict reading",
    source: "M-VER-9, M-ERR-10"
  },
  {
    id: "P11",
    heard: "-32020, -32021",
    matches: code(-32020, -32021),
    on: { pipe: "handshake", http: "handshake" },
    evidence: "weak",
    because: "the fallback is promised although the error looks modern",
    source: "U-02, U-03, T-NEG-4"
  },
  {
    id: "P12",
    heard: "any other code from -32023 to -32099, except -32042",
    matches: ({ error }) => error !== undefined && isModernCode(error.code),
    on: { pipe: "handshake", http: "handshake" },
    evidence: "weak",
    because: "the code is the specification's own, so the server may be newer than this client",
    source: "M-ERR-4"
  },
  {
    id: "P13",
    heard: "-32601 method not found, also in an HTTP 400, 404 or 405",
    matches: code(-32601),
    on: { pipe: "handshake", http: "handshake" },
    evidence: "conventional",
    because: "every modern server implements server/discover",
    source: "U-02, U-03, M-VER-4"
  },
  {
    id: "P14",
    heard: "-32603 internal error, also in an HTTP 400, 404 or 405",
    matches: code(-32603),
    on: { pipe: "handshake", http: "handshake" },
    evidence: "weak",
    because: "older servers stumble over unknown methods, but a modern one may stumble too",
    source: "M-VER-9, T-NEG-3"
  },
  {
    id: "P14",
    heard: "any other JSON-RPC error, also in an HTTP 400, 404 or 405",
    matches: ({ error }) => error !== undefined,
    on: { pipe: "handshake", http: "handshake" },
    evidence: "conventional",
    because: "the fallback must not hang on one code, and texts are never read",
    source: "M-VER-9, T-NEG-3, T-NEG-5"
  },
  {
    id: "P16",
    heard: "no answer in time",
    matches: is("Silent"),
    on: { pipe: "handshake", http: fail("ProbeTimeout") },
    evidence: "conventional",
    because: "an older server may keep silent on a pipe, but a silent host is down",
    source: "U-03, T-NEG-1"
  },
  {
    id: "P17",
    heard: "the process ended or the pipe closed, and a fresh one can be opened",
    matches: (reading) => is("Exited", "Closed")(reading) && reading.terms.reopenable,
    on: { pipe: "reopen", http: notHeard },
    evidence: "conventional",
    because: "some older servers end at any first message other than initialize",
    source: "T-NEG-2"
  },
  {
    id: "P17",
    heard: "the process ended, and there is no second one",
    matches: is("Exited"),
    on: { pipe: fail("ServerExited"), http: notHeard },
    evidence: undefined,
    because: "there is nobody left to ask",
    source: "T-NEG-2"
  },
  {
    id: "P17",
    heard: "the pipe closed, and cannot be opened again",
    matches: is("Closed"),
    on: { pipe: fail("ClosedDuringNegotiation"), http: fail("ProbeTransportFailure") },
    evidence: undefined,
    because: "there is nobody left to ask",
    source: "T-NEG-2"
  },
  {
    id: "P18",
    heard: "the command cannot be started",
    matches: is("SpawnFailed"),
    on: { pipe: fail("SpawnFailed"), http: notHeard },
    evidence: undefined,
    because: "a second start would fail alike",
    source: "U-61"
  },
  {
    id: "P21",
    heard: "HTTP 400, 404, 405 without a JSON-RPC error",
    matches: status(400, 404, 405),
    on: { pipe: notHeard, http: "handshake" },
    evidence: "conventional",
    because: "this is how older servers refuse what they do not know",
    source: "U-02, T-NEG-5"
  },
  {
    id: "P22",
    heard: 'HTTP 406, 415, 422 without a modern error, with `legacyStatuses: "spec"`',
    matches: (reading) => reading.terms.legacyStatuses === "spec" && status(406, 415, 422)(reading),
    on: { pipe: notHeard, http: "handshakeOnly" },
    evidence: "weak",
    because: "the program asked for the wide reading of the specification",
    source: "M-VER-9"
  },
  {
    id: "P22",
    heard: "HTTP 406, 415, 422 without a modern error",
    matches: status(406, 415, 422),
    on: { pipe: notHeard, http: fail("ProbeHttpStatus") },
    evidence: undefined,
    because: "only 400, 404 and 405 are promised to fall back",
    source: "U-02"
  },
  {
    id: "P26",
    heard: "any other HTTP 4xx",
    matches: statusBetween(400, 499),
    on: { pipe: notHeard, http: fail("ProbeHttpStatus") },
    evidence: undefined,
    because: "no older server answers an unknown method like this",
    source: "U-02"
  },
  {
    id: "P30",
    heard: "refused, unknown host, TLS, reset",
    matches: is("Unreachable"),
    on: { pipe: fail("ProbeTransportFailure"), http: fail("ProbeTransportFailure") },
    evidence: undefined,
    because: "network trouble is never a verdict",
    source: "U-05"
  },
  {
    id: "P29",
    heard:
      "anything else: another media type, no JSON-RPC, a foreign id, an empty 2xx, an event stream that ended first",
    matches: () => true,
    on: { pipe: fail("MalformedProbeReply"), http: fail("MalformedProbeReply") },
    evidence: undefined,
    because: "a page or a portal would answer initialize alike",
    source: "U-61"
  }
]

/**
 * The rows kept outside the machine.
 *
 * @category rules
 * @since 0.1.0
 */
export const outside: ReadonlyArray<OutsideRule> = [
  {
    id: "P4",
    heard:
      "a DiscoverResult without `ttlMs`, `cacheScope` or `resultType`, with a malformed identity, or with more members",
    keeps: "decoding: 0, `private`, `complete`, none; unknown members are left alone",
    because: "a strict reading would downgrade silently",
    source: "M-DISC-9"
  },
  {
    id: "P15",
    heard: "an error whose id is null or absent while only the probe is open",
    keeps: "wire: it is the answer to the probe, and its code decides",
    because: "servers that cannot read the request answer so",
    source: "T-NEG-3"
  },
  {
    id: "P19",
    heard: "lines on stdout that are no messages",
    keeps: "wire: skipped, counted, reported as `NoiseSkipped`; waiting goes on",
    because: "servers print banners although they must not",
    source: "T-STDIO-1"
  },
  {
    id: "P20",
    heard: "a request or a notification of the server",
    keeps: "wire: dropped, and nothing is written back",
    because: "before the era is known no answer is right",
    source: "M-STDIO"
  },
  {
    id: "P31",
    heard: "the caller interrupts",
    keeps: "driver: interruption, the scope closes the wire, nothing is remembered",
    because: "who leaves wants no verdict",
    source: "U-62"
  },
  {
    id: "P32",
    heard: "the program refuses the DiscoverResult",
    keeps: "machine: FAIL(DiscoverRejected), in the state that asks the program",
    because: "the program has the last word",
    source: "U-08"
  }
]
