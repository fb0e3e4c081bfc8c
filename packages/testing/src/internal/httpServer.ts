/**
 * A scripted server behind an address: one HTTP request in, one response out, whatever carries them.
 */
import * as Header from "@mcp-effect/protocol/Header"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Script } from "../Script.ts"
import type { HttpRequest } from "../Transcript.ts"
import * as Manners from "./manners.ts"
import { type Mouth, type Note, perform, questions, reactor } from "./perform.ts"

/** A request as it came. */
export interface Incoming extends HttpRequest {
  readonly body: string
}

/** Where a response goes. All synchronous and in order; nothing comes after `end` or `destroy`. */
export interface Sink {
  readonly head: (status: number, headers: Readonly<Record<string, string>>) => void
  readonly chunk: (text: string) => void
  readonly end: () => void
  /** The connection breaks. */
  readonly destroy: () => void
}

/** Answers one request. Ends with the response; interrupting it means that the client is gone. */
export type Serve = (incoming: Incoming, sink: Sink) => Effect.Effect<void>

const wire = 1
const json = { "content-type": "application/json" }
const eventStream = { "content-type": "text/event-stream", "cache-control": "no-store" }
const sessionHeader = Header.sessionId.toLowerCase()

const event = (message: JsonObject) => `event: message\ndata: ${JSON.stringify(message)}\n\n`

const parse = (body: string): unknown =>
  body === ""
    ? null
    : Result.getOrElse(
        Result.try((): unknown => JSON.parse(body)),
        () => body
      )

const refusal = (code: number, message: string) =>
  JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } })

/** One response that is written step by step. */
const responder = (
  script: Script,
  sink: Sink,
  note: Note,
  asked: ReturnType<typeof questions>,
  more: Readonly<Record<string, string>>
) => {
  let state: "fresh" | "events" | "over" = "fresh"
  let answered = false
  const said = (text: string, status?: number) =>
    note({ event: "said", wire, text, ...(status === undefined ? {} : { status }) })

  const whole = (status: number, headers: Readonly<Record<string, string>>, body: string) => {
    if (state !== "fresh") return
    state = "over"
    said(body, status)
    sink.head(status, { ...more, ...headers })
    if (body !== "") sink.chunk(body)
    sink.end()
  }
  const stream = (text: string, status = 200) => {
    if (state === "over") return
    if (state === "fresh") sink.head(status, { ...more, ...eventStream })
    state = "events"
    if (text === "") return
    said(text, status)
    sink.chunk(text)
  }
  const over = (how: () => void) => {
    if (state === "over") return
    state = "over"
    note({ event: "ended", wire })
    how()
  }
  const mouth: Mouth = {
    answer: (message, status) => {
      answered = true
      if (state === "fresh" && (script.http.reply === "json" || status !== 200)) {
        whole(status, json, JSON.stringify(message))
      } else stream(event(message), status)
    },
    say: (message) => {
      asked.said(message)
      stream(event(message))
    },
    hear: asked.answered,
    write: (text) => stream(text),
    log: () => undefined,
    exit: () => over(sink.destroy),
    close: () => over(sink.destroy),
    end: () => {
      stream("")
      over(sink.end)
    },
    http: whole
  }
  return {
    mouth,
    whole,
    /** After the last step: an answered stream ends, an unanswered request waits. */
    rest: Effect.suspend(() => {
      if (answered) over(sink.end)
      return state === "over" ? Effect.void : Effect.never
    })
  }
}

/** What a response says through the stream of an HTTP+SSE session: everything but statuses. */
const throughStream = (sink: Sink, note: Note, asked: ReturnType<typeof questions>): Mouth => {
  const write = (text: string) => {
    note({ event: "said", wire, text })
    sink.chunk(text)
  }
  return {
    answer: (message) => write(event(message)),
    say: (message) => {
      asked.said(message)
      write(event(message))
    },
    hear: asked.answered,
    write,
    log: () => undefined,
    exit: sink.destroy,
    close: sink.destroy,
    end: sink.end,
    http: () => undefined
  }
}

/** The path of an HTTP+SSE session's messages, and the id in it. */
const messagesPath = (id: number) => `/messages?session=${id}`
const messagesId = /^\/messages\?session=(\d+)$/

export const make = (script: Script, note: Note): Serve => {
  const react = reactor(script, 1)
  const asked = questions()
  const streams = new Map<number, Sink>()
  let sessions = 0
  const live = new Set<string>()
  const { session, transport } = script.http

  const openStream = (sink: Sink) => {
    const id = streams.size + 1
    streams.set(id, sink)
    const text = `event: endpoint\ndata: ${messagesPath(id)}\n\n`
    note({ event: "said", wire, text, status: 200 })
    sink.head(200, eventStream)
    sink.chunk(text)
    return Effect.never
  }

  /** Without a message: GET and DELETE. */
  const bare = (incoming: Incoming, sink: Sink) => {
    const reply = responder(script, sink, note, asked, {})
    const turn = react(incoming.method, false)
    if (turn !== undefined) return Effect.andThen(perform(script, turn, undefined, reply.mouth), reply.rest)
    if (incoming.method === "GET" && transport !== "streamable") return openStream(sink)
    const ended = incoming.method === "DELETE" && live.delete(incoming.headers[sessionHeader] ?? "")
    reply.whole(ended ? 200 : 405, {}, "")
    return Effect.void
  }

  /** The refusal of a request that the session does not allow. */
  const outsider = (call: Manners.Call): readonly [status: number, body: string] | undefined => {
    if (!session || call.method === "initialize" || isModern(call)) return undefined
    const id = call.headers?.[sessionHeader]
    if (id === undefined) return [400, refusal(-32000, "Bad Request: No valid session ID provided")]
    return live.has(id) ? undefined : [404, refusal(-32001, "Session not found")]
  }
  const isModern = (call: Manners.Call) => script.modern.length > 0 && Manners.modernVersion(call) !== undefined

  const opened = (call: Manners.Call | undefined): Readonly<Record<string, string>> => {
    if (!session || call?.method !== "initialize") return {}
    const id = `session-${++sessions}`
    live.add(id)
    return { [sessionHeader]: id }
  }

  const post = (incoming: Incoming, message: unknown, sink: Sink) => {
    const call = Manners.callOf(message, incoming.headers)
    const reply = responder(script, sink, note, asked, opened(call))
    if (transport === "sse") {
      reply.whole(405, {}, "")
      return Effect.void
    }
    if (call === undefined) {
      reply.whole(message !== null && typeof message === "object" ? 202 : 400, {}, "")
      return Effect.void
    }
    const wantsAnswer = call.id !== undefined
    const turn = react(call.method, wantsAnswer)
    if (turn === undefined) {
      const refused = outsider(call)
      if (refused !== undefined || !wantsAnswer) {
        const [status, body] = refused ?? [202, ""]
        reply.whole(status, body === "" ? {} : json, body)
        return Effect.void
      }
    }
    return Effect.andThen(perform(script, turn ?? [{ do: "answer" }], call, reply.mouth), reply.rest)
  }

  /** A message of an HTTP+SSE session: accepted at once, answered through the stream. */
  const relay = (incoming: Incoming, message: unknown, id: number, sink: Sink) => {
    const stream = streams.get(id)
    sink.head(stream === undefined ? 404 : 202, {})
    sink.end()
    const call = Manners.callOf(message)
    if (stream === undefined || call === undefined) return Effect.void
    const wantsAnswer = call.id !== undefined
    const turn = react(call.method, wantsAnswer) ?? (wantsAnswer ? [{ do: "answer" } as const] : [])
    return perform(script, turn, call, throughStream(stream, note, asked))
  }

  let taken = 0
  return (incoming, sink) =>
    Effect.suspend(() => {
      if (++taken > script.limit) return Effect.sync(sink.destroy)
      const { body, ...http } = incoming
      const message = parse(body)
      note({ event: "heard", wire, message, http })
      asked.heard(message)
      if (incoming.method !== "POST") return bare(incoming, sink)
      const id = messagesId.exec(incoming.path)?.[1]
      return id === undefined ? post(incoming, message, sink) : relay(incoming, message, Number(id), sink)
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => note({ event: "ended", wire }))))
}
