/** Which transport a person meant: a URL, a command, or a transport itself. */
import * as Stdio from "@mcp-effect/transport/Stdio"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"

/** What `connect` takes. */
export type Target = string | URL | ReadonlyArray<string> | Transport["Service"]

const isCommand = (target: Target): target is ReadonlyArray<string> => Array.isArray(target)

export const transportOf = (
  target: Target
): Effect.Effect<Transport["Service"], never, HttpClient.HttpClient | ChildProcessSpawner> => {
  if (typeof target === "string" || target instanceof URL) return StreamableHttp.make({ url: target })
  if (!isCommand(target)) return Effect.succeed(target)
  const [command = "", ...args] = target
  return Stdio.make({ command, args })
}
