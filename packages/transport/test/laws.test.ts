import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer, type Server } from "node:net"
import * as HttpSse from "../src/HttpSse.ts"
import * as Memory from "../src/Memory.ts"
import * as NodeHttp from "../src/NodeHttp.ts"
import * as NodeStdio from "../src/NodeStdio.ts"
import * as Stdio from "../src/Stdio.ts"
import * as Stream from "../src/Stream.ts"
import * as StreamableHttp from "../src/StreamableHttp.ts"
import { event, events, type Handler, json, serve } from "./fixtures/httpServer.ts"
import { laws } from "./fixtures/laws.ts"
import { type LawServer, lines, makeLawServer } from "./fixtures/lawServer.mjs"
import { legacy, modern } from "./fixtures/revisions.ts"

const stdio = { command: process.execPath, args: [`${import.meta.dirname}/fixtures/lawStdio.mjs`] }

laws("Stdio", modern, Stdio.make(stdio).pipe(Effect.provide(NodeServices.layer)))
laws(
  "NodeStdio",
  modern,
  Effect.sync(() => NodeStdio.make(stdio))
)

laws(
  "Memory",
  modern,
  Effect.sync(() => {
    const server = makeLawServer()
    return Memory.make("law", ({ send }) => Effect.succeed((message) => server.receive(message, send)))
  })
)

const tcp = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = makeLawServer()
    const listening = createServer((socket) => {
      socket.setEncoding("utf8")
      socket.on("error", () => {})
      socket.on(
        "data",
        lines((message) => server.receive(message, (answer) => socket.write(`${JSON.stringify(answer)}\n`)))
      )
    })
    listening.listen(0, () => resume(Effect.succeed(listening)))
  }),
  (server) => Effect.sync(() => void server.close())
)
laws(
  "Stream",
  legacy,
  Effect.flatMap(tcp, (server) => {
    const address = server.address()
    return Stream.make("law", NodeSocket.makeNet({ port: typeof address === "object" ? (address?.port ?? 0) : 0 }))
  })
)

/** Answers in JSON when it can, and in events when there is more than the answer. */
const post =
  (server: LawServer, streaming: boolean): Handler =>
  (one, response) => {
    const message = JSON.parse(one.body)
    if (message.id === undefined) {
      server.receive(message, () => {})
      return response.writeHead(202).end()
    }
    response.on("close", () => {
      if (!response.writableFinished) server.cancelled.push(message.id)
    })
    const inEvents = streaming || message.method === "count"
    if (inEvents) events(response)
    return server.receive(message, (answer) => {
      if (!inEvents) return json(response, answer)
      response.write(event(answer))
      return typeof answer === "object" && answer !== null && "id" in answer ? response.end() : undefined
    })
  }
const http = (handler: (server: LawServer) => Handler) =>
  Effect.gen(function* () {
    const { url } = yield* serve(handler(makeLawServer()))
    return yield* StreamableHttp.make({ url }).pipe(Effect.provideContext(yield* Layer.build(NodeHttp.layer)))
  })
laws(
  "StreamableHttp with JSON",
  modern,
  http((server) => post(server, false))
)
laws(
  "StreamableHttp with events",
  modern,
  http((server) => post(server, true))
)
laws(
  "StreamableHttp of the legacy era",
  legacy,
  http((server) => (one, response, request) => {
    if (one.method !== "POST") return response.writeHead(405).end()
    // A closed stream is no cancellation here (L-HTTP-7).
    const deaf = { ...server, cancelled: [] }
    return post(deaf, false)(one, response, request)
  })
)

laws(
  "HttpSse",
  legacy,
  Effect.gen(function* () {
    const server = makeLawServer()
    const streams = new Map<string, Parameters<Handler>[1]>()
    const { url } = yield* serve((one, response) => {
      if (one.method === "GET") {
        const path = `/messages?s=${streams.size}`
        streams.set(path, response)
        events(response)
        return response.write(`event: endpoint\ndata: ${path}\n\n`)
      }
      server.receive(JSON.parse(one.body), (answer) => streams.get(one.path)?.write(event(answer)))
      return response.writeHead(202).end("Accepted")
    })
    return yield* HttpSse.make({ url }).pipe(Effect.provideContext(yield* Layer.build(NodeHttp.layer)))
  })
)
