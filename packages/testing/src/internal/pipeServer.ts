/**
 * A scripted server at the far end of a pipe: lines in, lines out.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Script, Turn } from "../Script.ts"
import * as Manners from "./manners.ts"
import { type Mouth, type Note, perform, questions, reactor } from "./perform.ts"

/** Where the output goes. All synchronous. */
export interface Output {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  /** The process ends. */
  readonly exit: (code: number) => void
  /** The output is closed while the process lives on. */
  readonly close: () => void
}

/** The server of one wire. */
export interface PipeServer {
  /** Done once; before anything is heard. */
  readonly open: Effect.Effect<void>
  /** Takes text, cut anywhere, and gives what is to be done about the whole lines in it. */
  readonly take: (text: string) => ReadonlyArray<Effect.Effect<void>>
}

const parse = (line: string): unknown =>
  Result.getOrElse(
    Result.try((): unknown => JSON.parse(line)),
    () => line
  )

export const make = (script: Script, wire: number, note: Note, output: Output): PipeServer => {
  const react = reactor(script, wire)
  const asked = questions()
  let rest = ""
  let open = true

  const stdout = (text: string) => {
    if (!open) return
    note({ event: "said", wire, text })
    output.stdout(`${text}\n`)
  }
  const shut = (how: () => void) => {
    if (!open) return
    open = false
    note({ event: "ended", wire })
    how()
  }
  const mouth: Mouth = {
    answer: (message) => stdout(JSON.stringify(message)),
    say: (message) => {
      asked.said(message)
      stdout(JSON.stringify(message))
    },
    hear: asked.answered,
    write: stdout,
    log: (text) => output.stderr(`${text}\n`),
    exit: (code) => shut(() => output.exit(code)),
    close: () => shut(output.close),
    end: () => undefined,
    http: () => undefined
  }

  let taken = 0
  const hear = (line: string): Effect.Effect<void> => {
    if (++taken > script.limit) return Effect.sync(mouth.close)
    const message = parse(line)
    note({ event: "heard", wire, message })
    asked.heard(message)
    const call = Manners.callOf(message)
    if (call === undefined) return Effect.void
    const wantsAnswer = call.id !== undefined
    const turn: Turn = react(call.method, wantsAnswer) ?? (wantsAnswer ? [{ do: "answer" }] : [])
    return perform(script, turn, call, mouth)
  }

  return {
    open: Effect.suspend(() => {
      note({ event: "opened", wire })
      return perform(script, script.opening, undefined, mouth)
    }),
    take: (text) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      return open ? lines.filter((line) => line.trim() !== "").map(hear) : []
    }
  }
}
