/** The processes of a benchmark: one server over HTTP and a worker per client. None outlives the run. */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import type { Target } from "./client.ts"
import type { Answers, Order, Reply } from "./worker.ts"

const server = `${import.meta.dirname}/server.mjs`
const children = new Set<ChildProcess>()

const kept = <A extends ChildProcess>(child: A): A => {
  children.add(child)
  child.once("exit", () => children.delete(child))
  return child
}

/** Ends every process that still runs. */
export const endAll = () => {
  for (const child of children) child.kill("SIGKILL")
}

/** How the server is reached over each transport. */
export const targets = async (): Promise<Readonly<Record<Target["kind"], Target>>> => {
  const { stdout } = kept(spawn(process.execPath, [server, "http"], { stdio: ["pipe", "pipe", "inherit"] }))
  const [url]: ReadonlyArray<string | undefined> = await once(createInterface({ input: stdout }), "line", {
    signal: AbortSignal.timeout(20_000)
  })
  if (url === undefined) throw new Error("the server over HTTP did not tell its address")
  return { stdio: { kind: "stdio", command: process.execPath, args: [server] }, http: { kind: "http", url } }
}

export interface Worker {
  /** Fails when the worker does, when it ends, and when it takes longer than `seconds`. */
  readonly ask: <Task extends Order["task"]>(
    order: Extract<Order, { readonly task: Task }>,
    seconds: number
  ) => Promise<Answers[Task]>
  readonly end: () => void
}

/** A process with one client, named in errors. */
export const start = (name: string, path: string): Worker => {
  const child = kept(fork(`${import.meta.dirname}/worker.ts`, [path], { execArgv: ["--expose-gc"] }))
  return {
    ask: <Task extends Order["task"]>(order: Extract<Order, { readonly task: Task }>, seconds: number) =>
      new Promise<Answers[Task]>((resolve, reject) => {
        const settle = () => {
          clearTimeout(timer)
          child.off("message", answered)
          child.off("exit", ended)
        }
        const fail = (what: string) => {
          settle()
          reject(new Error(`${name}, ${order.task}: ${what}`))
        }
        const answered = (reply: Reply<Answers[Task]>) => {
          if ("error" in reply) return fail(reply.error)
          settle()
          return resolve(reply.answer)
        }
        const ended = (code: number | null) => fail(`the worker ended with ${code}`)
        const timer = setTimeout(() => fail(`no answer within ${seconds} s`), seconds * 1_000)
        // Heard before it is asked: an answer cannot be missed.
        child.on("message", answered)
        child.on("exit", ended)
        child.send(order)
      }),
    end: () => child.disconnect()
  }
}
