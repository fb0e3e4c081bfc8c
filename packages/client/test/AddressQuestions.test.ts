/** Addresses a server asks the user to open while a call waits: as a question, and as the error of 2025-11-25. */
import * as McpClient from "@mcp-effect/client/McpClient"
import * as Defaults from "@mcp-effect/protocol/Defaults"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import type { Handlers } from "../src/Handlers.ts"
import * as Peer from "./fixtures/peer.ts"

const page = { mode: "url", message: "sign in", url: "https://issuer.test/device" } as const
const done = { resultType: "complete", content: [{ type: "text", text: "done" }] }

/** Handlers that note what is opened, and answer so. */
const opening = (action: "accept" | "decline") => {
  const opened: Array<string> = []
  const handlers: Handlers = {
    elicitation: { url: ({ url }) => Effect.sync(() => (opened.push(url), { action })) }
  }
  return { opened, handlers }
}

const required = (peer: Peer.Peer, heard: Peer.Heard) =>
  peer.refuse(heard, -32042, "open this first", { elicitations: [{ ...page, elicitationId: "e1" }] })

const calls = (peer: Peer.Peer) => peer.methods().filter((method) => method === "tools/call").length

describe("the error -32042", () => {
  it.effect("L-ELI-8: sends the user to the address, and the same call again with a new id", () =>
    Effect.gen(function* () {
      const { handlers, opened } = opening("accept")
      const peer = Peer.make(
        Peer.legacy((heard, self) =>
          heard.method !== "tools/call"
            ? undefined
            : calls(self) === 1
              ? required(self, heard)
              : self.answer(heard, done)
        )
      )
      const client = yield* McpClient.connect(peer.transport, { handlers })
      const { content } = yield* client.callTool("a", { x: 1 })
      assert.deepStrictEqual(content, [{ type: "text", text: "done" }])
      assert.deepStrictEqual(opened, [page.url])
      const [first, second] = peer.heard().filter(({ method }) => method === "tools/call")
      assert.deepStrictEqual(first?.params?.["arguments"], second?.params?.["arguments"])
      assert.notStrictEqual(first?.id, second?.id)
    })
  )

  it.effect("L-ELI-8: a user who says no ends the call; nothing is sent again", () =>
    Effect.gen(function* () {
      const peer = Peer.make(
        Peer.legacy((heard, self) => (heard.method === "tools/call" ? required(self, heard) : undefined))
      )
      const client = yield* McpClient.connect(peer.transport, { handlers: opening("decline").handlers })
      const { reason } = yield* Effect.flip(client.callTool("a"))
      assert.strictEqual(reason._tag, "InputRequired")
      assert.strictEqual(calls(peer), 1)
    })
  )

  it.effect("L-ELI-8: stays as it is for a program that opens no addresses, and when its data cannot be read", () =>
    Effect.gen(function* () {
      for (const [handlers, data] of [
        [{}, { elicitations: [{ ...page, elicitationId: "e1" }] }],
        [opening("accept").handlers, { elicitations: "none" }],
        [opening("accept").handlers, undefined]
      ] as const) {
        const peer = Peer.make(
          Peer.legacy((heard, self) =>
            heard.method === "tools/call" ? self.refuse(heard, -32042, "open this first", data) : undefined
          )
        )
        const client = yield* McpClient.connect(peer.transport, { handlers })
        const { reason } = yield* Effect.flip(client.callTool("a"))
        assert.strictEqual(reason._tag === "ServerError" && reason.code, -32042)
        assert.strictEqual(calls(peer), 1)
      }
    })
  )

  it.effect("L-ELI-8: again and again opens the address once, waits, and gives up after the rounds there are", () =>
    Effect.gen(function* () {
      const { handlers, opened } = opening("accept")
      const peer = Peer.make(
        Peer.legacy((heard, self) => (heard.method === "tools/call" ? required(self, heard) : undefined))
      )
      const client = yield* McpClient.connect(peer.transport, { handlers })
      const call = yield* Effect.forkChild(
        Effect.flip(Effect.provideService(client.callTool("a"), Defaults.MaxInputRounds, 3))
      )
      for (let round = 0; round < 3; round++) yield* TestClock.adjust("2 seconds")
      const { reason } = yield* Fiber.join(call)
      assert.strictEqual(reason._tag, "InputRequired")
      assert.deepStrictEqual(opened, [page.url])
      assert.strictEqual(calls(peer), 4)
    })
  )
})

describe("a question with an address", () => {
  it.effect("T-15: that comes back after it was accepted is not opened again; the server gets time for its page", () =>
    Effect.gen(function* () {
      const { handlers, opened } = opening("accept")
      const peer = Peer.make(
        Peer.modern((heard, self) => {
          if (heard.method !== "tools/call") return
          self.answer(
            heard,
            calls(self) < 3
              ? { resultType: "input_required", inputRequests: { who: { method: "elicitation/create", params: page } } }
              : done
          )
        })
      )
      const client = yield* McpClient.connect(peer.transport, { handlers })
      const call = yield* Effect.forkChild(client.callTool("a"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(calls(peer), 2)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(call)
      assert.deepStrictEqual(opened, [page.url])
    })
  )
})
