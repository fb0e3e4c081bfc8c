/**
 * A call that waits for an answer is stored, and another process goes on with it.
 *
 * The first process is this program without arguments: it parks the call and starts itself again with what it kept.
 */
import { McpClient, Continuation } from "@mcp-effect/client"
import { Script, ScriptedServer } from "@mcp-effect/testing"
import { Console, Effect, Schema } from "effect"
import { spawnSync } from "node:child_process"

const Stored = Schema.fromJsonString(Continuation.Continuation)

const seat = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Which seat?",
    requestedSchema: { type: "object", properties: { seat: { type: "string" } } }
  }
}

/** Stands for your server: it asks, or, when the call comes back with answers, books. */
const connect = (call: Script.Step) =>
  ScriptedServer.make(Script.modern({ on: { "tools/call": [call] } })).pipe(
    Effect.flatMap((server) =>
      McpClient.connect(server.pipe(), {
        handlers: { elicitation: { form: () => Effect.succeed({ action: "cancel" as const }) } }
      })
    )
  )

const first = Effect.gen(function* () {
  const asks = Script.answer({ resultType: "input_required", inputRequests: { seat }, requestState: "booking 7" })
  const client = yield* connect(asks)
  const outcome = yield* client.begin("echo", { text: "a seat" })
  if (outcome._tag === "Done") return yield* Console.log("no questions")
  yield* Console.log("parked:", Object.keys(outcome.continuation.questions).join(", "))
  const kept = yield* Schema.encodeEffect(Stored)(outcome.continuation)
  const second = spawnSync(process.execPath, [import.meta.filename, kept], { encoding: "utf8" })
  yield* Console.log((second.stdout + second.stderr).trim())
})

const goOn = Effect.fnUntraced(function* (kept: string) {
  const books = Script.answer({ resultType: "complete", content: [{ type: "text", text: "booked" }] })
  const client = yield* connect(books)
  const continuation = yield* Schema.decodeUnknownEffect(Stored)(kept)
  const outcome = yield* client.resume(continuation, { seat: { action: "accept", content: { seat: "12A" } } })
  yield* Console.log("resumed:", outcome._tag, outcome._tag === "Done" ? JSON.stringify(outcome.result.content) : "")
})

const kept = process.argv[2]
await Effect.runPromise(Effect.scoped(kept === undefined ? first : goOn(kept)))
