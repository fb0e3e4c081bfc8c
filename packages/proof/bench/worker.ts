/**
 * One client in a process of its own, so that its CPU time and its memory are its own. `node --expose-gc worker.ts <client>`
 * does one order at a time, told over IPC, and answers each once. It ends when its parent does.
 */
import { registerHooks } from "node:module"
import type { Client, Connected, Era, Target } from "./client.ts"

/** What a worker is asked. */
export type Order =
  | { readonly task: "import" }
  | { readonly task: "connect"; readonly era: Era; readonly target: Target }
  | { readonly task: "calls"; readonly calls: number; readonly inFlight: number }
  | { readonly task: "idle"; readonly era: Era; readonly target: Target; readonly connections: number }

/** What it answers, by task. */
export interface Answers {
  /** CPU time in milliseconds, and files loaded. */
  readonly import: { readonly millis: number; readonly modules: number }
  readonly connect: object
  /** CPU and elapsed time of one call, in µs. */
  readonly calls: { readonly cpu: number; readonly wall: number }
  /** Bytes of heap per connection. */
  readonly idle: { readonly each: number }
}

/** An answer as it crosses over. */
export type Reply<A> = { readonly answer: A } | { readonly error: string }

const modules = new Set<string>()
// What is published is measured: the built files of this repository, not its sources.
registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context)
    const url = found.url.replace(/(\/packages\/\w+)\/src\/(.+)\.ts$/, "$1/dist/$2.js")
    if (!url.startsWith("node:")) modules.add(url)
    return { ...found, url, ...(url === found.url ? undefined : { format: "module" }) }
  }
})

let loaded: Client | undefined
let open: Connected | undefined

const client = async (): Promise<Client> => {
  if (loaded !== undefined) return loaded
  const { default: found }: { readonly default: Client } = await import(process.argv[2] ?? "")
  loaded = found
  return found
}

const heap = async () => {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

const callMany = async (over: Connected, total: number, inFlight: number) => {
  let next = 0
  const caller = async () => {
    while (next < total) await over.callTool("echo", { text: `message ${next++}` })
  }
  await Promise.all(Array.from({ length: inFlight }, caller))
}

const obey = async (order: Order): Promise<Answers[Order["task"]]> => {
  switch (order.task) {
    case "import": {
      const cpu = process.cpuUsage()
      await client()
      const { system, user } = process.cpuUsage(cpu)
      return { millis: (system + user) / 1_000, modules: modules.size }
    }
    case "connect": {
      open = await (await client()).connect(order.target, { era: order.era })
      return {}
    }
    case "calls": {
      if (open === undefined) throw new Error("not connected")
      const cpu = process.cpuUsage()
      const began = performance.now()
      await callMany(open, order.calls, order.inFlight)
      const wall = ((performance.now() - began) * 1_000) / order.calls
      const { system, user } = process.cpuUsage(cpu)
      return { cpu: (system + user) / order.calls, wall }
    }
    case "idle": {
      const { connect } = await client()
      const held: Array<Connected> = []
      const add = async (times: number) => {
        for (let time = 0; time < times; time++) held.push(await connect(order.target, { era: order.era }))
      }
      await add(40)
      const before = await heap()
      await add(order.connections)
      const each = ((await heap()) - before) / order.connections
      // Named here, so that none is collected before it is counted.
      return { each, held: held.length }
    }
  }
}

process.on("disconnect", () => process.exit())
process.on("message", (order: Order) => {
  void obey(order).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => process.send?.({ error: String(error) })
  )
})
