/** What a row of the table of features is, and the words its checks are made of. */
import type { McpClient } from "@mcp-effect/client/McpClient"
import type { McpClientError } from "@mcp-effect/client/McpClientError"
import * as Capabilities from "@mcp-effect/protocol/Capabilities"
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import type { Era } from "@mcp-effect/protocol/Version"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/** The server answered, and the feature had not the effect that it should. */
export class Unmet extends Schema.TaggedError<Unmet>()("Unmet", { because: Schema.String }) {
  override get message() {
    return this.because
  }
}

/** A connection, and what is known of its server. */
export interface Ground {
  readonly client: McpClient["Service"]
  readonly era: Era
  readonly capabilities: JsonObject
  readonly tools: ReadonlySet<string>
  /** How often the wire saw a method. */
  readonly sent: (method: string) => number
  /** Messages of the questions that the handlers were asked. */
  readonly asked: ReadonlyArray<string>
  /** The folder that the handler of roots names. */
  readonly folder: string
  /** Lets that handler name another one from now on, and gives it. */
  readonly move: () => string
  /** Whether the server forgets a client after each answer, so that it can neither ask nor tell anything by itself. */
  readonly forgetful: boolean
}

export type Check = Effect.Effect<unknown, McpClientError | Unmet, Scope.Scope>

export interface Feature {
  readonly name: string
  /** The promises and requirements that it shows. */
  readonly shows: string
  /** Why this server does not offer it; `undefined` when it does. */
  readonly lacks: (ground: Ground) => string | undefined | Effect.Effect<string | undefined, McpClientError>
  readonly check: (ground: Ground) => Check
}

/** Tools by name, and with what each is called; the first one that a server lists is taken. */
export type Calls<A> = Readonly<Record<string, A>>

export const through = <A>({ tools }: Ground, calls: Calls<A>): readonly [string, A] | undefined =>
  Object.entries(calls).find(([name]) => tools.has(name))

export const noTool = (calls: Calls<unknown>, does: string) => (ground: Ground) =>
  through(ground, calls) === undefined ? `no tool of it ${does}` : undefined

export const uncapable =
  (name: string, ...path: Capabilities.Path) =>
  ({ capabilities }: Ground) =>
    Capabilities.declares(capabilities, path) ? undefined : `it does not announce ${name}`

export const first =
  (...reasons: ReadonlyArray<(ground: Ground) => string | undefined>) =>
  (ground: Ground) =>
    reasons.reduce<string | undefined>((found, reason) => found ?? reason(ground), undefined)

export const forgets = ({ forgetful }: Ground) =>
  forgetful ? "it keeps no session with a legacy client, so it has nobody to ask or to tell" : undefined

/** The check through the tool of this server. */
export const using =
  <A>(calls: Calls<A>, check: (ground: Ground, tool: string, given: A) => Check) =>
  (ground: Ground): Check => {
    const found = through(ground, calls)
    return found === undefined ? new Unmet({ because: "there is no such tool" }) : check(ground, ...found)
  }

export const ensure = (holds: boolean, because: string): Effect.Effect<void, Unmet> =>
  holds ? Effect.void : Effect.fail(new Unmet({ because }))

export const textOf = ({ content }: { readonly content: ReadonlyArray<object> }) =>
  content.map((block) => ("text" in block ? block.text : "")).join("\n")

/** Something that another fiber sees soon, or never. */
export const soon = <A, E>(effect: Effect.Effect<A, E>, because: string): Effect.Effect<A, E | Unmet> =>
  Effect.timeoutOrElse(effect, { duration: "30 seconds", orElse: () => new Unmet({ because }) })

/** The same call again until something has happened: a legacy server over HTTP may not be listened to yet. */
export const until = <A, E, E2>(happened: Effect.Effect<A, E>, again: Effect.Effect<unknown, E2>, because: string) =>
  soon(
    Effect.raceFirst(happened, again.pipe(Effect.repeat(Schedule.spaced("100 millis")), Effect.andThen(Effect.never))),
    because
  )
