/**
 * Plays turns: finds the one for a message, and does its steps through a mouth, which knows how they are done on its
 * carrier.
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Script, Step, Turn, WrongId } from "../Script.ts"
import type { Entry } from "../Transcript.ts"
import * as Manners from "./manners.ts"

/** How the steps of a turn are done. All synchronous and in order. */
export interface Mouth {
  /** An answer; the status counts over HTTP. */
  readonly answer: (message: JsonObject, status: number) => void
  /** A message of the server's own, before the answer. */
  readonly say: (message: JsonObject) => void
  /** Ends when every request of the server's own is answered. */
  readonly hear: Effect.Effect<void>
  readonly write: (text: string) => void
  readonly log: (text: string) => void
  readonly exit: (code: number) => void
  readonly close: () => void
  readonly end: () => void
  readonly http: (status: number, headers: Readonly<Record<string, string>>, body: string) => void
}

/** The requests of a server that the client has not answered yet. */
export const questions = () => {
  const open = new Set<unknown>()
  const none = Latch.makeUnsafe(true)
  return {
    said: (message: JsonObject): void => {
      if (!("method" in message) || message["id"] === undefined) return
      open.add(message["id"])
      none.closeUnsafe()
    },
    heard: (message: unknown): void => {
      if (typeof message !== "object" || message === null || !("id" in message) || "method" in message) return
      open.delete(message.id)
      if (open.size === 0) none.openUnsafe()
    },
    answered: none.await
  }
}

/** Notes down what happens; the time is added by whoever keeps the transcript. */
export type Note = (entry: WithoutTime<Entry>) => void

type WithoutTime<E> = E extends { readonly at: number } ? Omit<E, "at"> : never

/** Finds the turn for a message of this method; `undefined` when the script does not mention it. */
export const reactor = (script: Script, wire: number): ((method: string, wantsAnswer: boolean) => Turn | undefined) => {
  const reactions = new Map(Object.entries(wire === 1 ? script.on : { ...script.on, ...script.again }))
  const counts = new Map<string, number>()
  return (method, wantsAnswer) => {
    const turns = reactions.get(method) ?? (wantsAnswer ? reactions.get("*") : undefined)
    if (turns === undefined) return undefined
    const count = counts.get(method) ?? 0
    counts.set(method, count + 1)
    return turns[Math.min(count, turns.length - 1)] ?? []
  }
}

/** An id that no client uses. */
const foreign = 987_654_321

const withId = (id: unknown, how: WrongId | undefined): JsonObject => {
  switch (how) {
    case undefined:
      return id === undefined ? {} : { id }
    case "text":
      return { id: String(id) }
    case "null":
      return { id: null }
    case "absent":
      return {}
    case "foreign":
      return { id: foreign }
  }
}

/** Does the steps of a turn, in order. */
export const perform = Effect.fnUntraced(function* (
  script: Script,
  turn: Turn,
  call: Manners.Call | undefined,
  mouth: Mouth
) {
  const answer = (step: Extract<Step, { readonly do: "answer" }>) => {
    const honest: Manners.Answer =
      step.result === undefined
        ? call === undefined
          ? { do: "answer", result: {} }
          : Manners.honest(script, call)
        : { do: "answer", result: step.result }
    if (honest.do === "fail") return fail({ ...honest, ...(step.id === undefined ? {} : { id: step.id }) }, step.status)
    mouth.answer({ jsonrpc: "2.0", ...withId(call?.id, step.id), result: honest.result }, step.status ?? 200)
  }
  const fail = (step: Extract<Step, { readonly do: "fail" }>, status = step.status) => {
    const { code, message } = step
    const error = { code, message, ...(step.data === undefined ? {} : { data: step.data }) }
    mouth.answer(
      { jsonrpc: "2.0", ...withId(call?.id, step.id), error },
      status ?? Manners.statusOf(script, call, step.code)
    )
  }
  for (const step of turn) {
    switch (step.do) {
      case "wait":
        yield* Effect.sleep(step.millis)
        break
      case "answer":
        answer(step)
        break
      case "fail":
        fail(step)
        break
      case "say":
        mouth.say(step.message)
        break
      case "hear":
        yield* mouth.hear
        break
      case "write":
        mouth.write(step.text)
        break
      case "log":
        mouth.log(step.text)
        break
      case "exit":
        return mouth.exit(step.code)
      case "close":
        return mouth.close()
      case "end":
        return mouth.end()
      case "http":
        mouth.http(step.status, step.headers ?? {}, step.body ?? "")
        break
    }
  }
})
