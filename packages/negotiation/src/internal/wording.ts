import { describe, type Heard, type ProbeHalf } from "../Evidence.ts"

/** The line every failure begins with that an HTTP status brought about (U-05). */
export const httpLine = (status: number, body: string | undefined): string =>
  `MCP: HTTP ${status}${body === undefined || body === "" ? "" : ` ${body}`}`

export const aboutProbe = (probe: ProbeHalf): string =>
  `server/discover had been answered with ${describe(probe.heard)} (rule ${probe.rule})`

/**
 * Both halves of a failure after a fallback. The probe leads when it looked modern, since it is then the likelier
 * cause; a line that an HTTP status begins stays first in any case.
 */
export const bothHalves = (message: string, probe: ProbeHalf | undefined): string => {
  if (probe === undefined) return message
  const about = aboutProbe(probe)
  return probe.strength === "weak" && !message.startsWith("MCP: HTTP ")
    ? `${about}; then: ${message}`
    : `${message}\n${about}`
}

/** What an answer came to, as the head of a message: the HTTP line, or who was asked and what came back. */
export const headline = (question: string, heard: Heard): string =>
  heard.signal === "HttpStatus" && heard.status !== undefined
    ? httpLine(heard.status, heard.text)
    : `asked ${question}, heard ${describe(heard)}`

/** Adds what to change, except to an HTTP line, which promises to hold nothing else. */
export const advising = (message: string, hint: string): string =>
  message.startsWith("MCP: HTTP ") ? message : `${message}. ${hint}`

export const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || status === 500 || (status >= 502 && status <= 504)

export const isTransient = (heard: Heard): boolean =>
  heard.signal === "Unreachable" ||
  heard.signal === "Silent" ||
  (heard.signal === "HttpStatus" && heard.status !== undefined && isTransientStatus(heard.status))

export const versions = (list: ReadonlyArray<string>): string => (list.length === 0 ? "none" : list.join(", "))
