/**
 * What connecting to a scripted server must come to, worked out from the decision table alone.
 *
 * The oracle knows the rows P1 to P32 and H1 to H15 as prose has them, and a script; it imports neither the rules nor the
 * machine. It plays time as a list of moments: what a turn puts on the wire and when, and what the client, with its
 * patience, gets to see of that.
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Version from "@mcp-effect/protocol/Version"
import type * as Script from "@mcp-effect/testing/Script"

export interface Limits {
  /** Patience at the probe on a pipe. */
  readonly probe: number
  readonly handshake: number
  /** Patience at the probe over HTTP. */
  readonly request: number
  /** Over everything. */
  readonly connect: number
}

export type Mode = "auto" | "modern" | "legacy" | "pin"

export interface Situation {
  readonly script: Script.Script
  readonly kind: "stdio" | "memory" | "http"
  readonly mode: Mode
  readonly limits: Limits
}

/** What connecting comes to, and what the server heard of it. */
export type Outcome = (
  | {
      readonly outcome: "connected"
      readonly version: string
      readonly channel: "first" | "again" | "httpSse"
      /** The row of the probe that settled the era, where the probe did. */
      readonly rule: string
      /** Whether the verdict may be remembered. */
      readonly lasting: boolean
    }
  | { readonly outcome: "failed"; readonly reason: string }
) & { readonly heard: ReadonlyArray<string> }

/** What the client gets to see. */
type Seen =
  | { readonly is: "result"; readonly result: JsonObject }
  | { readonly is: "error"; readonly code: number; readonly data: unknown; readonly status: number }
  | { readonly is: "status"; readonly status: number }
  | { readonly is: "exit" }
  | { readonly is: "close" }
  | { readonly is: "astray" }
  | { readonly is: "reset" }
  | { readonly is: "silence" }
  /** The deadline over everything passed first. */
  | { readonly is: "deadline" }

interface Moment {
  readonly at: number
  readonly of: Question
  readonly seen: Seen
}

type Question = "server/discover" | "initialize" | "opening"

const ours = Version.modern
const V = Version.modern[0]
const L = Version.legacy[0]
const handshakeEra: ReadonlyArray<string> = [...Version.legacy, "2024-10-07"]

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The strings in a list of versions, or `undefined` when it is no usable list. */
const listIn = (value: unknown): ReadonlyArray<string> | undefined => {
  const list = Array.isArray(value) ? value.filter((item) => typeof item === "string") : []
  return list.length === 0 ? undefined : list
}

const sharesModern = (list: ReadonlyArray<string>) => ours.some((version) => list.includes(version))
const namesHandshake = (list: ReadonlyArray<string>) => list.some((version) => handshakeEra.includes(version))
const bestLegacy = (list: ReadonlyArray<string>) => Version.legacy.find((version) => list.includes(version)) ?? L

/** P1 to P5: the versions of a DiscoverResult, or `undefined` when it is none. */
const discovered = (result: JsonObject): ReadonlyArray<string> | undefined => {
  const type = result["resultType"]
  return (type === undefined || type === "complete") && isObject(result["capabilities"])
    ? listIn(result["supportedVersions"])
    : undefined
}

/** What a well-behaved server of this script answers. */
const honest = (script: Script.Script, question: Question, offer: string, headless: boolean): Seen => {
  const refusal = (status: number): Seen => ({
    is: "error",
    code: -32022,
    data: { supported: [...script.modern, ...script.legacy] },
    status
  })
  if (question === "initialize") {
    const [newest] = script.legacy
    if (newest === undefined) return refusal(200)
    const protocolVersion = script.legacy.includes(offer) ? offer : newest
    return { is: "result", result: { protocolVersion, capabilities: {} } }
  }
  if (script.modern.length === 0) {
    return script.http.session && !headless
      ? { is: "error", code: -32000, data: undefined, status: 400 }
      : { is: "error", code: -32601, data: undefined, status: 200 }
  }
  return script.modern.includes(V)
    ? { is: "result", result: { supportedVersions: [...script.modern, ...script.legacy], capabilities: {} } }
    : refusal(400)
}

/** The statuses whose bodies are read (sections 2 and 3), and those read only for an error of the modern range. */
const readStatuses = [200, 400, 404, 405]
const halfReadStatuses = [406, 415, 422]
const isModernCode = (code: number) => code <= -32020 && code >= -32099 && code !== -32042

const readable = (code: number, status: number) =>
  readStatuses.includes(status) || (halfReadStatuses.includes(status) && isModernCode(code))

/** One server, as it goes through a connect. */
const play = ({ kind, limits, mode, script }: Situation) => {
  const http = kind === "http"
  const counts = new Map<string, number>()
  const heard: Array<string> = []
  let now = 0
  let wire = 1
  let moments: Array<Moment> = []
  let probed = false

  const turnOf = (question: Question): Script.Turn | undefined => {
    if (question === "opening") return script.opening
    const turns = (wire > 1 ? script.again[question] : undefined) ?? script.on[question]
    if (turns === undefined) return undefined
    const count = counts.get(question) ?? 0
    counts.set(question, count + 1)
    return turns[Math.min(count, turns.length - 1)]
  }

  /** What a turn that begins now will put before the client, with the ids that reach it. */
  const schedule = (question: Question, offer: string, sse: boolean) => {
    const refused = http && !sse && script.http.transport === "sse"
    const turn: Script.Turn = refused ? [{ do: "http", status: 405 }] : (turnOf(question) ?? [{ do: "answer" }])
    let at = now
    let begun = false
    let over = false
    const put = (seen: Seen) => {
      if (!over) moments.push({ at, of: question, seen })
      if (http && !sse) over = true
    }
    for (const step of turn) {
      switch (step.do) {
        case "wait":
          at += step.millis
          break
        case "answer": {
          const seen: Seen =
            step.result === undefined
              ? honest(script, question, offer, turnIsOurs(question))
              : { is: "result", result: step.result }
          // P29. On a pipe and on the stream of HTTP+SSE it is nobody's answer and is dropped; an error in the very body
          // that answers the request can only mean this request (L-DEV-8).
          if (step.id === "foreign" && (!http || sse || seen.is === "result")) {
            if (http && !sse) put({ is: "astray" })
            break
          }
          put(seen.is === "error" && (!http || sse || begun) ? { ...seen, status: 200 } : seen)
          break
        }
        case "fail": {
          const { code, data } = step
          const natural = question === "server/discover" && script.modern.length > 0 ? statusOf(code) : 200
          const status = !http || sse || begun ? 200 : (step.status ?? natural)
          put(readable(code, status) ? { is: "error", code, data, status } : { is: "status", status })
          break
        }
        case "say":
        case "write":
          begun = true
          break
        case "exit":
        case "close":
          put(
            http ? { is: sse ? "close" : "reset" } : { is: step.do === "exit" && kind === "stdio" ? "exit" : "close" }
          )
          break
        case "end":
          if (http) put(sse ? { is: "close" } : { is: "astray" })
          break
        case "http":
          if (http && !sse && !begun) put(ofStatus(step))
          break
        case "log":
          break
      }
    }
  }

  /** Whether the turn was written out in the script, so that no session guard stands before it. */
  const turnIsOurs = (question: Question) => script.on[question] !== undefined

  const ofStatus = (step: Extract<Script.Step, { readonly do: "http" }>): Seen =>
    step.status >= 200 && step.status < 300 ? { is: "astray" } : { is: "status", status: step.status }

  const ends = (seen: Seen) => seen.is === "exit" || seen.is === "close"

  const openWire = () => {
    moments = []
    probed = false
    counts.clear()
    if (!http) schedule("opening", L, false)
  }

  /** Asks, waits with this patience, and moves the time on. */
  const ask = (question: "server/discover" | "initialize", patience: number, offer: string, sse = false): Seen => {
    const death = () => moments.find(({ seen }) => ends(seen))
    const dead = death()
    if (dead !== undefined && dead.at <= now) return dead.seen
    heard.push(question)
    if (http && !sse) moments = []
    const before = moments.length
    schedule(question, offer, sse)
    if (question === "server/discover") probed = true
    const answer = moments.slice(before).find(({ seen }) => !ends(seen))
    const end = moments.filter(({ seen }) => ends(seen)).toSorted((a, b) => a.at - b.at)[0]
    const first = answer !== undefined && (end === undefined || answer.at <= end.at) ? answer : end
    const own = now + patience
    const limit = Math.min(own, limits.connect)
    now = limit
    if (first !== undefined && first.at < limit) {
      now = first.at
      return first.seen
    }
    return limits.connect < own ? { is: "deadline" } : { is: "silence" }
  }

  /** The DiscoverResult that came after patience had ended, by now. */
  const late = (): boolean => {
    const death = moments.find(({ seen }) => ends(seen))
    const answer = moments.findLast(({ of, seen }) => of === "server/discover" && !ends(seen))
    if (answer === undefined || answer.at > now || (death !== undefined && death.at < answer.at)) return false
    return answer.seen.is === "result" && sharesModern(discovered(answer.seen.result) ?? [])
  }

  const failed = (reason: string): Outcome => ({ outcome: "failed", reason, heard })

  const connected = (
    version: string,
    channel: "first" | "again" | "httpSse",
    rule: string,
    lasting: boolean
  ): Outcome => {
    if (Version.isLegacy(version)) heard.push("notifications/initialized")
    return { outcome: "connected", version, channel, rule, lasting, heard }
  }

  type Basis = { readonly rule: string; readonly strength: "definitive" | "conventional" | "weak" }
  type Handshake = {
    readonly offer: string
    readonly basis: Basis
    readonly channel: "first" | "again" | "httpSse"
    readonly reopen: boolean
    readonly late?: boolean
  }

  /** Rows of other layers, common to both questions: P23 to P28 and H9, H12. */
  const otherLayer = (seen: Seen): string | undefined => {
    if (seen.is !== "status") return undefined
    const { status } = seen
    if (status === 401) return "AuthorizationRequired"
    if ([402, 403, 407, 451].includes(status)) return "AuthorizationDenied"
    if (status >= 500 || [408, 425, 429].includes(status) || (status >= 300 && status < 400)) return "ProbeHttpStatus"
    return undefined
  }

  /** Section 3. */
  const shakeHands = (how: Handshake): Outcome => {
    const sse = how.channel === "httpSse"
    const wasSilent = how.basis.rule === "P16"
    const seen = ask("initialize", limits.handshake, how.offer, sse)
    const modernOpen = mode !== "legacy"
    const open = kind === "stdio" && how.reopen && probed
    const lateModern = modernOpen && wasSilent && how.channel === "first" && late()
    const adoptLate = (channel = how.channel) => connected(V, channel, "H14", true)

    const other = otherLayer(seen)
    if (other !== undefined) return failed(other)
    switch (seen.is) {
      case "result": {
        const version = seen.result["protocolVersion"]
        if (typeof version !== "string") return failed("MalformedProbeReply")
        if (Version.isLegacy(version)) {
          return connected(version, how.channel, how.basis.rule, how.basis.strength !== "weak" && !lateModern)
        }
        return lateModern ? adoptLate() : failed("LegacyVersionUnsupported")
      }
      case "error": {
        if (lateModern) return adoptLate()
        const list = seen.code === -32022 ? listIn(isObject(seen.data) ? seen.data["supported"] : undefined) : undefined
        const shares = list !== undefined && sharesModern(list)
        if (shares && !modernOpen) return failed("ModernOnlyServer")
        if (shares && !sse) return recover(how.channel)
        if (http && !sse && [400, 404, 405].includes(seen.status) && !isModernCode(seen.code)) return overSse(how)
        return failed("LegacyHandshakeFailed")
      }
      case "status":
        if ([400, 404, 405].includes(seen.status) && !sse) return overSse(how)
        return failed("LegacyHandshakeFailed")
      case "silence":
        return lateModern ? adoptLate() : failed("HandshakeTimeout")
      case "deadline":
        return failed("HandshakeTimeout")
      case "exit":
      case "close":
        // The wire is gone, so what the late answer proves needs a fresh one.
        if (lateModern && open) return adoptLate("again")
        if (open) return again(how.offer, how.basis)
        if (http) return failed("ProbeTransportFailure")
        return failed(seen.is === "exit" ? "ServerExited" : "ClosedDuringNegotiation")
      case "astray":
        return failed("MalformedProbeReply")
      case "reset":
        return failed("ProbeTransportFailure")
    }
  }

  /** P17 and H11: once more, on a fresh process that is not probed. */
  const again = (offer: string, basis: Basis): Outcome => {
    wire++
    openWire()
    return shakeHands({ offer, basis, channel: "again", reopen: false })
  }

  /** H6 to H8. */
  const overSse = (how: Handshake): Outcome => {
    if (script.http.transport === "streamable") return failed("TransportFallbackExhausted")
    moments = []
    probed = false
    return shakeHands({ ...how, channel: "httpSse" })
  }

  /** H4: one more probe; P1 or nothing. */
  const recover = (channel: "first" | "again"): Outcome => {
    moments = moments.filter(({ seen }) => ends(seen))
    const seen = ask("server/discover", http ? limits.request : limits.probe, L)
    if (seen.is === "deadline") return failed("ProbeTimeout")
    if (seen.is === "result" && sharesModern(discovered(seen.result) ?? [])) return connected(V, channel, "P1", true)
    return failed("LegacyHandshakeFailed")
  }

  /** Section 2. */
  const probe = (corrected: boolean): Outcome => {
    const insist = mode === "modern"
    const seen = ask("server/discover", http ? limits.request : limits.probe, L)
    const fail = (reason: string) => failed(insist ? "ModernUnavailable" : reason)
    const fallBack = (rule: string, strength: Basis["strength"], list: ReadonlyArray<string> = []): Outcome =>
      insist
        ? failed("ModernUnavailable")
        : shakeHands({ offer: bestLegacy(list), basis: { rule, strength }, channel: "first", reopen: true })

    const other = otherLayer(seen)
    if (other !== undefined) return fail(other)
    switch (seen.is) {
      case "result": {
        const list = discovered(seen.result)
        if (list === undefined) return fallBack("P5", "conventional")
        if (sharesModern(list)) return connected(V, "first", "P1", true)
        return namesHandshake(list) ? fallBack("P2", "definitive", list) : fail("NoMutualVersion")
      }
      case "error": {
        const { code } = seen
        if (code === -32022) {
          const list = listIn(isObject(seen.data) ? seen.data["supported"] : undefined)
          if (list === undefined) return fallBack("P10", "weak")
          if (sharesModern(list) && !corrected) return probe(true)
          if (!namesHandshake(list)) return fail("NoMutualVersion")
          return fallBack(sharesModern(list) ? "P7" : "P8", "definitive", list)
        }
        if (code === -32020 || code === -32021) return fallBack("P11", "weak")
        if (isModernCode(code)) return fallBack("P12", "weak")
        if (code === -32601) return fallBack("P13", "conventional")
        return fallBack("P14", code === -32603 ? "weak" : "conventional")
      }
      case "status":
        return [400, 404, 405].includes(seen.status) ? fallBack("P21", "conventional") : fail("ProbeHttpStatus")
      case "silence":
        return http ? fail("ProbeTimeout") : fallBack("P16", "conventional")
      case "deadline":
        return failed("ProbeTimeout")
      case "exit":
      case "close":
        if (kind !== "stdio") return fail("ClosedDuringNegotiation")
        return insist ? failed("ModernUnavailable") : again(L, { rule: "P17", strength: "conventional" })
      case "astray":
        return fail("MalformedProbeReply")
      case "reset":
        return fail("ProbeTransportFailure")
    }
  }

  openWire()
  switch (mode) {
    case "auto":
    case "modern":
      return probe(false)
    case "legacy":
      return shakeHands({
        offer: L,
        basis: { rule: "legacy", strength: "definitive" },
        channel: "first",
        reopen: false
      })
    case "pin":
      return connected(V, "first", "pin", false)
  }
}

const statusOf = (code: number) => (code === -32601 ? 404 : [-32020, -32021, -32022].includes(code) ? 400 : 200)

/** What connecting must come to. */
export const expected = (situation: Situation): Outcome => play(situation)
