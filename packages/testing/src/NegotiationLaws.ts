/**
 * What must hold however a connection is negotiated, as properties over generated servers.
 *
 * The subject is anything that connects over a `Transport`: the client of this library, or a driver of your own around
 * `Negotiator`. Each law plays many servers in memory on a test clock, so all of them take seconds, and the same seed
 * plays the same servers. They depend on no test runner.
 *
 * @since 0.1.0
 */
import { Diagnostics } from "@mcp-effect/protocol/Diagnostic"
import type * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Version from "@mcp-effect/protocol/Version"
import type { Transport } from "@mcp-effect/transport/Transport"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Script from "./Script.ts"
import * as ScriptArbitraries from "./ScriptArbitraries.ts"
import * as ScriptedServer from "./ScriptedServer.ts"
import * as Transcript from "./Transcript.ts"

/**
 * A law that does not hold, with the smallest server found that shows it.
 *
 * What to change: the way of connecting, so that the law holds for this script.
 *
 * @category errors
 * @since 0.1.0
 */
export class Violation extends Schema.TaggedError<Violation>()("Violation", {
  law: Schema.String,
  /** What happened instead. */
  got: Schema.String,
  /** The script as JSON. */
  script: Schema.String,
  /** Plays the same servers again, as `seed`. */
  seed: Schema.Union([Schema.String, Schema.Finite])
}) {
  override get message() {
    return `${this.law}: ${this.got}, with the server ${this.script} (seed ${this.seed})`
  }
}

/**
 * Connects and gives the agreed version, or fails with the tag of a reason. `McpClient.connect` does after
 * `Effect.map((client) => client.agreement)`. It must not remember the era from one server to the next.
 *
 * @category models
 * @since 0.1.0
 */
export type Connect = (
  transport: Transport["Service"],
  mode: "auto" | "legacy" | Version.Modern
) => Effect.Effect<{ readonly version: string }, { readonly reason: { readonly _tag: string } }, Scope.Scope>

/**
 * How many servers each law plays, and which.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** 50 by default. */
  readonly runs?: number
  /** 0 by default. */
  readonly seed?: string | number
}

/**
 * One law.
 *
 * @category models
 * @since 0.1.0
 */
export interface Law {
  readonly name: string
  readonly check: (connect: Connect, options?: Options) => Effect.Effect<void, Violation>
}

type Kind = "stdio" | "memory" | "http"

interface Played {
  /** The version, or the tag of the reason. */
  readonly comes: string
  readonly transcript: Transcript.Transcript
  readonly methods: ReadonlyArray<string>
}

type Play = (script: Script.Script, kind: Kind, mode?: "auto" | "legacy" | Version.Modern) => Effect.Effect<Played>

/** What is wrong; nothing when the law holds. */
type Finding = string | undefined

const law = (
  name: string,
  kind: Kind,
  trial: (script: Script.Script, play: Play) => Effect.Effect<Finding>,
  servers: Arbitrary.Arbitrary<Script.Script> = ScriptArbitraries.script({ carrier: kind === "http" ? "http" : "pipe" })
): Law => ({
  name,
  check: (connect, { runs = 50, seed = 0 } = {}) => {
    const play: Play = (script, over, mode = "auto") =>
      Effect.gen(function* () {
        const server = yield* ScriptedServer.make(script)
        const comes = yield* connect(over === "http" ? server.http : server.pipe(over), mode).pipe(
          Effect.matchEager({ onSuccess: ({ version }) => version, onFailure: ({ reason }) => reason._tag }),
          Effect.scoped
        )
        const transcript = yield* server.transcript
        return { comes, transcript, methods: Transcript.methods(transcript) }
      }).pipe(
        Effect.provideService(Diagnostics, () => Effect.void),
        ScriptedServer.unhurried
      )
    const property = (script: Script.Script) =>
      Effect.flatMap(trial(script, play), (got) => (got === undefined ? Effect.succeed(true) : Effect.fail(got)))
    return Effect.flatMap(Arbitrary.checkEffect(servers, property, { runs, seed }), (result) =>
      result._tag === "Falsified"
        ? Effect.fail(
            new Violation({
              law: name,
              got: result.failure._tag === "PropertyError" ? result.failure.error : "it does not hold",
              script: JSON.stringify(result.shrunkInput),
              seed
            })
          )
        : Effect.void
    )
  }
})

const differs = (one: Played, other: Played): Finding =>
  one.comes === other.comes && one.methods.join() === other.methods.join()
    ? undefined
    : `${one.comes} after ${one.methods.join(", ")}; but ${other.comes} after ${other.methods.join(", ")}`

const count = ({ methods }: Played, method: string) => methods.filter((one) => one === method).length

const mapSteps = (script: Script.Script, change: (step: Script.Step) => Script.Step): Script.Script => {
  const reactions = (all: Script.Reactions) =>
    Object.fromEntries(
      Object.entries(all).map(([method, turns]) => [method, turns.map((turn) => turn.map((step) => change(step)))])
    )
  return { ...script, on: reactions(script.on), again: reactions(script.again) }
}

const otherWords = (step: Script.Step): Script.Step =>
  step.do === "fail" ? { ...step, message: `${step.message} — Unsupported protocol version, method not found` } : step

const shuffled = (list: unknown) => (Array.isArray(list) ? [...list.toReversed(), ...list, 7, null] : list)

const otherOrder = (step: Script.Step): Script.Step => {
  if (step.do === "answer" && step.result !== undefined && "supportedVersions" in step.result) {
    return { ...step, result: { ...step.result, supportedVersions: shuffled(step.result["supportedVersions"]) } }
  }
  if (step.do === "fail" && typeof step.data === "object" && step.data !== null && "supported" in step.data) {
    return { ...step, data: { ...step.data, supported: shuffled(step.data.supported) } }
  }
  return step
}

/** Statuses of other layers; with a body that would decide, if it were read. */
const refused = (body: "none" | "modern" | "legacy") =>
  Arbitrary.map(
    Arbitrary.all([
      ScriptArbitraries.script({ carrier: "http" }),
      Arbitrary.schema(Schema.Literals([401, 402, 403, 407, 451, 408, 425, 429, 500, 502, 503, 504, 599]))
    ]),
    ([script, status]) => withStatus(script, status, body)
  )

const withStatus = (script: Script.Script, status: number, body: "none" | "modern" | "legacy"): Script.Script => ({
  ...script,
  http: { ...script.http, transport: "streamable" },
  on: {
    ...script.on,
    "server/discover": [
      [
        body === "none"
          ? Script.http(status)
          : body === "legacy"
            ? Script.fail(-32_601, { status })
            : Script.unsupported(Version.modern, { status })
      ]
    ]
  }
})

const statusIn = (script: Script.Script): number => {
  const step = script.on["server/discover"]?.[0]?.[0]
  return step !== undefined && "status" in step ? (step.status ?? 0) : 0
}

const hello = ({ transcript }: Played) =>
  Transcript.heard(transcript).find(
    ({ message }) =>
      typeof message === "object" && message !== null && "method" in message && message.method === "initialize"
  )

const isListed = (played: Played) =>
  played.transcript.some((entry) => entry.event === "said" && entry.text.includes(`"${played.comes}"`))

const known: ReadonlyArray<string> = [...Version.modern, ...Version.legacy]
const isVersion = (comes: string) => /^\d{4}-\d{2}-\d{2}$/.test(comes)

/** Servers whose pipe does not end by itself. */
const lasting = Arbitrary.filter(ScriptArbitraries.script({ carrier: "pipe" }), ({ again, on }) =>
  [...Object.values(on), ...Object.values(again)]
    .flat(2)
    .every((step: Script.Step) => step.do !== "exit" && step.do !== "close")
)

const bounded = (kind: Kind) =>
  law(`it ends, after at most three probes and one handshake per channel (${kind})`, kind, (script, play) =>
    Effect.map(play(script, kind), (played): Finding => {
      const probes = count(played, "server/discover")
      const handshakes = count(played, "initialize")
      return probes <= 3 && handshakes <= 2 && Transcript.wires(played.transcript) <= 2
        ? undefined
        : `${probes} probes and ${handshakes} handshakes`
    })
  )

const agreed = (kind: Kind) =>
  law(`the agreed version is one of the client's, and one that the server said (${kind})`, kind, (script, play) =>
    Effect.map(play(script, kind), (played): Finding =>
      !isVersion(played.comes) || (known.includes(played.comes) && isListed(played))
        ? undefined
        : `agreed on ${played.comes}`
    )
  )

/**
 * The laws.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law> = [
  bounded("stdio"),
  bounded("http"),
  agreed("stdio"),
  agreed("http"),
  law(
    "a refusal or an outage selects no era",
    "http",
    (script, play) =>
      Effect.map(play(script, "http"), (played): Finding =>
        played.methods.join() === "server/discover" && !isVersion(played.comes)
          ? undefined
          : `${played.comes} after ${played.methods.join(", ")}`
      ),
    refused("legacy")
  ),
  law(
    "the body of a refusal or an outage changes nothing",
    "http",
    (script, play) =>
      Effect.map(
        Effect.all([play(script, "http"), play(withStatus(script, statusIn(script), "modern"), "http")]),
        ([one, other]) => differs(one, other)
      ),
    refused("none")
  ),
  law("the text of an error changes nothing", "stdio", (script, play) =>
    Effect.map(Effect.all([play(script, "stdio"), play(mapSteps(script, otherWords), "stdio")]), ([one, other]) =>
      differs(one, other)
    )
  ),
  law(
    "the order of a list of versions changes nothing, nor do repetitions and what is no text",
    "stdio",
    (script, play) =>
      Effect.map(Effect.all([play(script, "stdio"), play(mapSteps(script, otherOrder), "stdio")]), ([one, other]) =>
        differs(one, other)
      )
  ),
  law(
    "a process and a server object that answer alike are met alike",
    "stdio",
    (script, play) =>
      Effect.map(Effect.all([play(script, "stdio"), play(script, "memory")]), ([one, other]) => differs(one, other)),
    lasting
  ),
  law(
    "a handshake after a fallback is the one of mode legacy, but for the version that the server named",
    "http",
    (script, play) =>
      Effect.map(Effect.all([play(script, "http"), play(script, "http", "legacy")]), ([fallen, plain]): Finding => {
        const [one, other] = [hello(fallen), hello(plain)]
        if (one === undefined || other === undefined) return undefined
        return alike(one, other) ? undefined : `${JSON.stringify(one)}; but ${JSON.stringify(other)}`
      })
  ),
  law("before the handshake nothing is written but questions", "stdio", (script, play) =>
    Effect.map(play(script, "stdio"), ({ methods }): Finding => {
      const before = methods.slice(0, methods.includes("initialize") ? methods.indexOf("initialize") : undefined)
      return before.every((method) => method === "server/discover") ? undefined : before.join(", ")
    })
  ),
  law("a pinned version sends nothing", "stdio", (script, play) =>
    Effect.map(play(script, "stdio", Version.modern[0]), ({ comes, methods }): Finding =>
      comes === Version.modern[0] && methods.length === 0 ? undefined : `${comes} after ${methods.join(", ")}`
    )
  )
]

const offered = (message: unknown): JsonRpc.JsonObject => {
  const params = typeof message === "object" && message !== null && "params" in message ? message.params : undefined
  return typeof params === "object" && params !== null ? { ...params, protocolVersion: "" } : {}
}

const alike = (one: Transcript.Heard, other: Transcript.Heard): boolean =>
  JSON.stringify([offered(one.message), one.http?.headers]) ===
  JSON.stringify([offered(other.message), other.http?.headers])

/**
 * Checks every law and gives those that do not hold.
 *
 * @example
 * ```ts
 * const broken = yield* NegotiationLaws.violations((transport, mode) =>
 *   Effect.map(McpClient.connect(transport, { mode }), (client) => client.agreement)
 * )
 * // []
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const violations = (connect: Connect, options?: Options): Effect.Effect<ReadonlyArray<Violation>> =>
  Effect.map(
    Effect.forEach(laws, ({ check }) =>
      Effect.matchEager(check(connect, options), {
        onSuccess: (): ReadonlyArray<Violation> => [],
        onFailure: (violation) => [violation]
      })
    ),
    (found) => found.flat()
  )
