/**
 * What is done about a request that failed, as rows. Each remedy is tried once per request, and nothing is sent again
 * that may have run, unless it is safe to repeat.
 */
import { httpFallbackStatuses } from "@mcp-effect/negotiation/Promised"
import * as ErrorCode from "@mcp-effect/protocol/ErrorCode"
import * as ErrorData from "@mcp-effect/protocol/ErrorData"
import * as Method from "@mcp-effect/protocol/Method"
import * as Version from "@mcp-effect/protocol/Version"
import type { TransportError } from "@mcp-effect/transport/TransportError"
import { NoMutualVersion, type Reason } from "../McpClientError.ts"

/**
 * - `renew`: open a new session, then send again
 * - `recheck`: ask the server what it is; when it is of another era now, open a new session, then send again
 * - `newVersion`: send again in a version the server named
 * - `refreshTools`: list the tools again, then send again
 * - `resend`: send again
 */
export type Remedy = "renew" | "recheck" | "newVersion" | "refreshTools" | "resend"

export interface Trouble {
  readonly reason: Reason
  readonly method: string
  /** Whether sending it twice does no harm. */
  readonly repeatable: boolean
  /** Whether the wire is a pipe, on which silence is an answer of older servers. */
  readonly pipe: boolean
  /** Whether a wire can be opened in place of one that is gone. */
  readonly reopenable: boolean
  /** Whether the program leaves the era to us: mode `auto`. */
  readonly adaptable: boolean
  /** The version it was asked in. */
  readonly version: Version.Version
  /** Whether the session rests on an older verdict and has not answered anything yet. */
  readonly unproven: boolean
}

export interface Row {
  readonly heard: string
  readonly matches: (trouble: Trouble) => boolean
  readonly remedy: Remedy
  readonly because: string
}

const wireFailure = ({ reason }: Trouble): TransportError["reason"] | undefined =>
  reason._tag === "WireFailed" || reason._tag === "OutcomeUnknown" ? reason.cause.reason : undefined

const gone = (trouble: Trouble) => {
  const tag = wireFailure(trouble)?._tag
  return tag === "Exited" || tag === "Closed"
}

/** Whether the answer broke off, or the connection before it began, though the request was on its way. */
const isLost = (trouble: Trouble): boolean => {
  const failure = wireFailure(trouble)
  return failure?._tag === "ResponseLost" || (failure?._tag === "Unreachable" && failure.unsent !== true)
}

/** Whether a request may change something: when it is lost, whether it ran is said (`OutcomeUnknown`). */
export const mayChange = (method: string): boolean => method === "tools/call" || !Method.isMethod(method)

/** What may have run fails with `OutcomeUnknown` instead. */
const neverLeft = ({ method, reason }: Trouble) => mayChange(method) && reason._tag === "WireFailed"

const answered = ({ reason }: Trouble, code: number) => reason._tag === "ServerError" && reason.code === code

/** Versions in a -32022, as the server wrote them: at most 32. */
const listedIn = (reason: Reason): ReadonlyArray<string> => {
  if (reason._tag !== "ServerError" || reason.code !== ErrorCode.UnsupportedProtocolVersion) return []
  return ErrorData.supportedVersions({ code: reason.code, message: reason.text, data: reason.data }).slice(0, 32)
}

const ours: ReadonlyArray<Version.Version> = [...Version.modern, ...Version.legacy]

/** Versions in a -32022 that we speak, in our order of preference. */
export const versionsIn = (reason: Reason): ReadonlyArray<Version.Version> => {
  const listed = listedIn(reason)
  return ours.filter((version) => listed.includes(version))
}

/**
 * What an older server may answer to a request before its handshake (a stale modern verdict): the statuses and errors that
 * lead a probe to the handshake. A modern server may answer so too, hence it is asked.
 */
const perhapsNotModern = (trouble: Trouble) => {
  const failure = wireFailure(trouble)
  if (failure?._tag === "HttpRejected") return httpFallbackStatuses.some((status) => status === failure.status)
  return trouble.reason._tag === "ServerError" && !ErrorCode.isModern(trouble.reason.code)
}

/** Whether a request that was refused may go to the server once more, now that it is of another era. */
export const mayGoAgain = ({ reason, repeatable }: Trouble): boolean =>
  repeatable ||
  reason._tag === "WireFailed" ||
  (reason._tag === "ServerError" && reason.code !== ErrorCode.InternalError)

export const rows: ReadonlyArray<Row> = [
  {
    heard: "the session is gone",
    matches: (trouble) => {
      const failure = wireFailure(trouble)
      return failure?._tag === "HttpRejected" && failure.sessionLost
    },
    remedy: "renew",
    because: "the server refused the session before it looked at the request (T-HTTP-1, T-HTTP-2)"
  },
  {
    heard: "-32022 naming a modern version we speak",
    matches: ({ reason, version }) => Version.isModern(version) && versionsIn(reason).some(Version.isModern),
    remedy: "newVersion",
    because: "the server names what it speaks, and ran nothing (U-23)"
  },
  {
    heard: "-32022 naming only versions of the other era that we speak",
    matches: ({ adaptable, reason }) => adaptable && versionsIn(reason).length > 0,
    remedy: "renew",
    because: "the server is of another era now, and ran nothing (T-NEG-9)"
  },
  {
    heard: "-32020 to a tool call",
    matches: (trouble) => trouble.method === "tools/call" && answered(trouble, ErrorCode.HeaderMismatch),
    remedy: "refreshTools",
    because: "the mirrored headers came from an older definition of the tool, and nothing ran (M-XH-20)"
  },
  {
    heard: "what a legacy server may say to a modern request, first thing on a remembered verdict",
    matches: (trouble) => trouble.adaptable && trouble.unproven && perhapsNotModern(trouble),
    remedy: "recheck",
    because: "perhaps the remembered verdict no longer holds (T-NEG-9)"
  },
  {
    heard: "nothing on a pipe, first thing on a remembered verdict",
    matches: ({ adaptable, pipe, reason, unproven }) =>
      adaptable && unproven && pipe && reason._tag === "RequestTimedOut",
    remedy: "recheck",
    because: "an older server may keep silent before its handshake (T-NEG-1, T-NEG-9)"
  },
  {
    heard: "the wire is gone, and the request is safe to repeat or never left",
    matches: (trouble) => gone(trouble) && trouble.reopenable && (trouble.repeatable || neverLeft(trouble)),
    remedy: "renew",
    because: "reading twice does no harm (T-LIFE-3)"
  },
  {
    heard: "the answer was lost, and the request is safe to repeat",
    matches: (trouble) => trouble.repeatable && isLost(trouble),
    remedy: "resend",
    because: "reading twice does no harm (M-HTTP-24, T-24)"
  }
]

/** The remedy for a trouble, or none. */
export const remedyFor = (trouble: Trouble): Row | undefined => rows.find((row) => row.matches(trouble))

/** What a trouble without a remedy comes to: a refusal that leaves nothing to speak names both sides. */
export const verdictOn = ({ adaptable, method, reason, version }: Trouble): Reason => {
  const server = listedIn(reason)
  const client = adaptable ? ours : [version]
  return server.length === 0 || client.some((spoken) => server.includes(spoken))
    ? reason
    : new NoMutualVersion({ method, server, client })
}
