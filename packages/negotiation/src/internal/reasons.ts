import { excerpt, lastWords } from "@mcp-effect/protocol/Excerpt"
import * as Duration from "effect/Duration"
import { type Asked, describe, heardOf, type ProbeHalf } from "../Evidence.ts"
import type * as Evidence from "../Evidence.ts"
import * as Probe from "../ProbeReason.ts"
import * as Reasons from "../Reason.ts"
import type { Reading } from "../Reading.ts"
import { bounded, isObject, listedBy, memberOf } from "./versions.ts"

/** What is known when a row decides to fail. */
export interface Facts {
  readonly asked: Exclude<Asked, "inspect">
  readonly reading: Reading
  readonly offered: string
  readonly probe: ProbeHalf | undefined
  readonly handshake: Evidence.Heard | undefined
}

const maxNames = 16

const http = ({ asked, reading: { signal, status } }: Facts) => ({
  asked,
  status: status ?? 0,
  body: signal._tag === "HttpStatus" ? excerpt(signal.body) : ""
})

const caused = ({ reading: { signal } }: Facts) =>
  signal._tag === "HttpStatus" && signal.cause !== undefined ? { cause: signal.cause } : {}

const half = (probe: ProbeHalf | undefined) => (probe === undefined ? {} : { probe })

/** An address without what may be secret in it: user, password, query and fragment. */
const address = (text: string): string => excerpt(text.replace(/[?#].*$/su, "").replace(/\/\/[^/@]*@/u, "//"))

const said = (facts: Facts) => excerpt(facts.reading.error?.message ?? "")

const malformed = ({ asked, reading: { signal } }: Facts): Probe.ProbeReason =>
  signal._tag === "Malformed"
    ? new Probe.MalformedProbeReply({
        asked,
        because: excerpt(signal.because),
        excerpt: excerpt(signal.excerpt),
        ...(signal.status === undefined ? {} : { status: signal.status }),
        ...(signal.mediaType === undefined ? {} : { mediaType: excerpt(signal.mediaType) })
      })
    : new Probe.MalformedProbeReply({ asked, because: `it was ${describe(heardOf(signal))}`, excerpt: "" })

/** The reason of a failed probe, or `undefined` for a reason no probe alone can have. */
export const probeReason = (tag: Reasons.Reason["_tag"], facts: Facts): Probe.ProbeReason | undefined => {
  const { asked, reading } = facts
  const { signal, terms } = reading
  switch (tag) {
    case "ProbeTimeout":
      return new Probe.ProbeTimeout({ asked })
    case "ProbeTransportFailure":
      return new Probe.ProbeTransportFailure({
        asked,
        because: excerpt(signal._tag === "Unreachable" ? signal.because : describe(heardOf(signal))),
        ...(signal._tag === "Unreachable" && signal.cause !== undefined ? { cause: signal.cause } : {})
      })
    case "ProbeHttpStatus":
      return new Probe.ProbeHttpStatus({
        ...http(facts),
        ...(signal._tag === "HttpStatus" && signal.retryAfter !== undefined
          ? { retryAfter: Duration.toMillis(signal.retryAfter) }
          : {}),
        ...(signal._tag === "HttpStatus" && signal.location !== undefined ? { location: address(signal.location) } : {})
      })
    case "AuthorizationRequired":
      return new Probe.AuthorizationRequired({
        ...http(facts),
        ...caused(facts),
        ...(signal._tag === "HttpStatus" && signal.challenge !== undefined
          ? { challenge: excerpt(signal.challenge) }
          : {})
      })
    case "AuthorizationDenied":
      return new Probe.AuthorizationDenied({ ...http(facts), ...caused(facts) })
    case "MalformedProbeReply":
      return malformed(facts)
    case "NoMutualVersion":
      return new Probe.NoMutualVersion({ server: bounded(reading.listed), client: [...terms.modern, ...terms.legacy] })
    case "HeaderMismatch":
      return new Probe.HeaderMismatch({ said: said(facts) })
    case "MissingCapability": {
      const required = memberOf(reading.error?.data, "requiredCapabilities")
      return new Probe.MissingCapability({
        required: isObject(required)
          ? Object.keys(required)
              .slice(0, maxNames)
              .map((name) => excerpt(name))
          : [],
        said: said(facts)
      })
    }
    case "ServerExited":
      return new Probe.ServerExited({
        asked,
        code: signal._tag === "Exited" ? signal.code : null,
        signal: signal._tag === "Exited" ? signal.signal : null,
        stderr: signal._tag === "Exited" ? lastWords(signal.stderr) : ""
      })
    case "SpawnFailed":
      return new Probe.SpawnFailed({
        command: signal._tag === "SpawnFailed" ? excerpt(signal.command) : "",
        because: signal._tag === "SpawnFailed" ? excerpt(signal.because) : ""
      })
    case "ClosedDuringNegotiation":
      return new Probe.ClosedDuringNegotiation({ asked })
    default:
      return undefined
  }
}

/** The reason of any failure. A tag that needs facts nobody has is no MCP answer. */
export const reasonOf = (tag: Reasons.Reason["_tag"], facts: Facts): Reasons.Reason => {
  const { offered, probe, reading } = facts
  switch (tag) {
    case "LegacyHandshakeFailed": {
      const named = listedBy(reading.error?.data)
      const wants = reading.terms.legacy.find((version) => version !== offered && named.includes(version))
      return new Reasons.LegacyHandshakeFailed({
        ...half(probe),
        handshake: heardOf(reading.signal),
        offered,
        ...(wants === undefined ? {} : { wants })
      })
    }
    case "HandshakeTimeout":
      return new Reasons.HandshakeTimeout(half(probe))
    case "LegacyVersionUnsupported": {
      const answered = reading.initialize?.protocolVersion ?? ""
      return new Reasons.LegacyVersionUnsupported({
        offered,
        answered: excerpt(answered),
        supported: reading.terms.legacy,
        modern: reading.terms.modern.includes(answered),
        ...half(probe)
      })
    }
    case "ModernOnlyServer":
      return new Reasons.ModernOnlyServer({ offered, supported: bounded(reading.listed) })
    case "TransportFallbackExhausted":
      return new Reasons.TransportFallbackExhausted({
        ...half(probe),
        ...(facts.handshake === undefined ? {} : { handshake: facts.handshake }),
        sse: heardOf(reading.signal)
      })
    default:
      return probeReason(tag, facts) ?? malformed(facts)
  }
}
