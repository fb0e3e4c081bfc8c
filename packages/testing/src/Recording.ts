/**
 * Scripts out of logs: a real exchange, kept by `ExchangeLog`, becomes a scripted server that answers as the real one did.
 *
 * `ExchangeLog.replay` answers a client from a log within its own program. A script also runs as a child process and on
 * loopback, can be looked at and changed, and goes into a file as plain JSON. What a log does not hold is lost: headers,
 * statuses and the time that passed.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Version from "@mcp-effect/protocol/Version"
import type { Entry } from "@mcp-effect/transport/ExchangeLog"
import * as Script from "./Script.ts"

/** A request of the log, and what came of it so far. */
interface Open {
  readonly id: JsonRpc.RequestId
  readonly steps: Array<Script.Step>
}

const outcome = (message: JsonRpc.Response): Script.Step =>
  JsonRpc.isSuccess(message)
    ? Script.answer(message.result)
    : Script.fail(message.error.code, {
        message: message.error.message,
        ...(message.error.data === undefined ? {} : { data: message.error.data })
      })

/** The turns of one wire, by method, in the order in which the requests were sent. */
const turnsOf = (entries: ReadonlyArray<Entry>): Record<string, Array<Script.Turn>> => {
  const turns = new Map<string, Array<Script.Turn>>()
  let open: Array<Open> = []
  const close = (id: JsonRpc.RequestId, ...last: ReadonlyArray<Script.Step>) => {
    open.find((one) => one.id === id)?.steps.push(...last)
    open = open.filter((one) => one.id !== id)
  }
  for (const entry of entries) {
    if (entry.event === "sent" && JsonRpc.isRequest(entry.message)) {
      const { id, method } = entry.message
      const steps: Array<Script.Step> = []
      open.push({ id, steps })
      turns.set(method, [...(turns.get(method) ?? []), steps])
    } else if (entry.event === "heard") {
      const { message } = entry
      if (!JsonRpc.isResponse(message)) open.at(-1)?.steps.push(Script.say({ ...message }))
      else if (message.id !== undefined && message.id !== null) close(message.id, outcome(message))
    } else if (entry.event === "failed" && entry.id !== undefined) {
      close(entry.id, entry.reason === "Exited" ? Script.exit(1) : Script.close)
    }
  }
  return Object.fromEntries(turns)
}

const strings = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : []

/** The versions that the results of the log speak of. */
const versionsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => [
  ...new Set(
    entries.flatMap((entry) => {
      if (entry.event !== "heard" || !JsonRpc.isResponse(entry.message) || !JsonRpc.isSuccess(entry.message)) return []
      const { protocolVersion, supportedVersions } = entry.message.result
      return [...strings(supportedVersions), ...strings([protocolVersion])]
    })
  )
]

/**
 * The script of a log. The first request of a method gets what the first one in the log got, and so on; the last answer
 * stays, and a method that the log does not hold is answered well-behaved. A request that was interrupted is not
 * answered, one that failed breaks the connection. The second wire of the log, if there is one, is every later process.
 *
 * Progress is told with the token of the log, so it reaches a client that counts its requests as the recorded one did.
 *
 * @example
 * ```ts
 * const log: Array<ExchangeLog.Entry> = []
 * const recorded = ExchangeLog.record(transport, (entry) => log.push(entry))
 * // ... use a client on `recorded`, then:
 * const server = ScriptedServer.make(Recording.script(log))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const script = (entries: ReadonlyArray<Entry>, options: Script.Options = {}): Script.Script => {
  const wires = [...new Set(entries.map(({ wire }) => wire))].toSorted((one, other) => one - other)
  const on = (at: number) => turnsOf(entries.filter(({ wire }) => wire === wires[at]))
  const versions = versionsOf(entries)
  const isModern = (version: string) => Version.modern.some((known) => known === version)
  return Script.make({
    name: "recorded",
    modern: versions.filter(isModern),
    legacy: versions.filter((version) => !isModern(version)),
    ...options,
    on: { ...on(0), ...options.on },
    again: { ...on(1), ...options.again }
  })
}
