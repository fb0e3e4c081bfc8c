/** The transport of an entry, from what the program provides (U-45). */
import * as HttpSse from "@mcp-effect/transport/HttpSse"
import * as Stdio from "@mcp-effect/transport/Stdio"
import * as StreamableHttp from "@mcp-effect/transport/StreamableHttp"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import * as Option from "effect/Option"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { CannotReach, HostError } from "../HostError.ts"
import type { ServerEntry } from "../ServerEntry.ts"

export type Transports = (entry: ServerEntry) => Effect.Effect<Transport["Service"], HostError>

export const make: Effect.Effect<Transports> = Effect.gen(function* () {
  const spawner = yield* Effect.serviceOption(ChildProcessSpawner)
  const http = yield* Effect.serviceOption(HttpClient)
  return (entry) => {
    const lacking = (needs: CannotReach["needs"]) =>
      Effect.fail(new HostError({ reason: new CannotReach({ server: entry.name, type: entry.type, needs }) }))
    if (entry.type === "stdio") {
      const { args, command, cwd, env } = entry
      return Option.isNone(spawner)
        ? lacking("ChildProcessSpawner")
        : Stdio.make({ command, args, env, ...(cwd === undefined ? {} : { cwd }) }).pipe(
            Effect.provideService(ChildProcessSpawner, spawner.value)
          )
    }
    if (Option.isNone(http)) return lacking("HttpClient")
    const { headers, url } = entry
    const made = entry.type === "http" ? StreamableHttp.make({ url, headers }) : HttpSse.make({ url, headers })
    return Effect.provideService(made, HttpClient, http.value)
  }
})
