/** Calls, answers, limits, interruptions and a pipe that jams, in any order: each call ends once, and in the right way. */
import { assert, describe, it } from "@effect/vitest"
import * as Pipe from "@mcp-effect/transport/Pipe"
import { Transport } from "@mcp-effect/transport/Transport"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import * as McpClient from "../src/McpClient.ts"
import type { Middleware } from "../src/Middleware.ts"
import { settled } from "./fixtures/announcer.ts"
import type * as Peer from "./fixtures/peer.ts"

/** Numbers that look random, the same for the same seed. */
const numbers = (seed: number) => {
  let state = seed * 7_919
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
}

const encoder = new TextEncoder()

/** A pipe that is full when the test says so. */
const jamming = () => {
  const endpoint = "a pipe that jams"
  const lines: Array<Peer.Heard> = []
  let listener: Pipe.Listener | undefined
  let room = true
  const connect = (mine: Pipe.Listener) =>
    Effect.sync((): Pipe.Pipe => {
      listener = mine
      return {
        write: (text) => {
          for (const line of text.trimEnd().split("\n")) lines.push(JSON.parse(line))
          return room
        }
      }
    })
  return {
    named: (name: string) => lines.filter(({ method }) => method === name),
    say: (message: object) => listener?.data(encoder.encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)),
    setRoom: (yes: boolean) => {
      room = yes
      if (yes) listener?.drained()
    },
    transport: Transport.of({
      kind: "memory",
      endpoint,
      reopenable: false,
      open: (hear) => Pipe.open({ endpoint, hear, connect })
    })
  }
}

interface Call {
  readonly limit: number
  readonly fiber: Fiber.Fiber<string>
  /** Whether it was interrupted before it came to an end. */
  left: boolean
  /** Whether it was answered before it came to an end. */
  answered: boolean
}

/** Which call a request is of. */
const callOf = ({ params }: Peer.Heard): number => {
  const args = params?.["arguments"]
  return typeof args === "object" && args !== null && "at" in args ? Number(args.at) : -1
}

const run = Effect.fnUntraced(function* (seed: number, middleware: ReadonlyArray<Middleware>) {
  const below = numbers(seed)
  const pipe = jamming()
  const client = yield* McpClient.connect(pipe.transport, { mode: "2026-07-28", middleware })
  const calls: Array<Call> = []
  const answered = new Set<unknown>()
  const isOpen = ({ fiber }: Call) => fiber.pollUnsafe() === undefined

  const call = Effect.gen(function* () {
    const at = calls.length
    const limit = 1 + below(400)
    const began = yield* Clock.currentTimeMillis
    const fiber = yield* client.callTool("a", { at }, { timeout: limit }).pipe(
      Effect.map(({ content: [block] }) => (block?.type === "text" ? block.text : "nothing")),
      Effect.catch(({ reason }) =>
        Effect.map(Clock.currentTimeMillis, (now) => `${reason._tag} after ${now - began} ms`)
      ),
      Effect.forkChild({ startImmediately: true })
    )
    calls.push({ limit, fiber, left: false, answered: false })
  })
  const answer = Effect.sync(() => {
    const open = pipe.named("tools/call").filter(({ id }) => !answered.has(id))
    const one = open[below(open.length + 1)]
    if (one?.id === undefined) return
    answered.add(one.id)
    const asked = calls[callOf(one)]
    if (asked !== undefined) asked.answered = isOpen(asked)
    const text = `answer ${callOf(one)}`
    // Now and then the id comes back as text.
    pipe.say({
      id: below(4) === 0 ? String(one.id) : one.id,
      result: { resultType: "complete", content: [{ type: "text", text }] }
    })
  })
  const interrupt = Effect.suspend(() => {
    const one = calls[below(calls.length + 1)]
    if (one === undefined || !isOpen(one)) return Effect.void
    one.left = true
    return Fiber.interrupt(one.fiber)
  })
  const pass = Effect.suspend(() => TestClock.adjust(below(40)))
  const jam = Effect.sync(() => pipe.setRoom(below(2) === 0))

  const steps = [call, call, call, answer, answer, answer, interrupt, pass, pass, jam]
  for (let count = 0; count < 300; count++) {
    yield* steps[below(steps.length)] ?? call
    if (below(2) === 0) yield* settled
  }
  pipe.setRoom(true)
  yield* TestClock.adjust("1 second")
  yield* settled

  const cancelled = pipe.named("notifications/cancelled").map(({ params }) => params?.["requestId"])
  const requests = pipe.named("tools/call")
  return calls.map(({ answered, fiber, left, limit }, at) => {
    const exit = fiber.pollUnsafe()
    const sent = requests.filter((heard) => callOf(heard) === at)
    return {
      expected: left ? "interrupted" : answered ? `answer ${at}` : `RequestTimedOut after ${limit} ms`,
      got: exit === undefined ? "open" : exit._tag === "Success" ? exit.value : "interrupted",
      sent: sent.length,
      cancelled: cancelled.filter((id) => sent.some((heard) => heard.id === id)).length
    }
  })
})

describe.each<readonly [string, ReadonlyArray<Middleware>]>([
  ["in plain calls", []],
  ["through middleware", [(request, next) => next(request)]]
])("requests %s, over a pipe that jams", (_name, middleware) => {
  it.effect.each(Array.from({ length: 12 }, (_, at) => at + 1))(
    "T-RPC-5, T-RPC-1: each ends once, as it must, and is cancelled once if it was sent and not answered (run %i)",
    (seed) =>
      Effect.gen(function* () {
        const ends = yield* run(seed, middleware)
        assert.deepStrictEqual(
          ends.map(({ got }) => got),
          ends.map(({ expected }) => expected)
        )
        for (const { cancelled, expected, sent } of ends) {
          assert.isAtMost(sent, 1, expected)
          assert.strictEqual(cancelled, expected.startsWith("answer") ? 0 : sent, expected)
        }
        // Each of the ways to end was gone, and some calls were never sent.
        for (const way of ["interrupted", "answer", "RequestTimedOut"]) {
          assert.isTrue(
            ends.some(({ expected }) => expected.startsWith(way)),
            way
          )
        }
        assert.isTrue(ends.some(({ sent }) => sent === 0))
      })
  )
})
