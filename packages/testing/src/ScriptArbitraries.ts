/**
 * Generators of servers: scripts that open in every way a server may, well and badly, fast and late.
 *
 * `script` generates what the opening of a connection can meet: the answers to `server/discover` and `initialize`, what
 * stands before them, and the end of the process or of the stream. Requests after that are answered in good manners.
 * `unruly` opens in good manners, and then does whatever it likes.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcp-effect/protocol/JsonRpc"
import * as Version from "@mcp-effect/protocol/Version"
import * as Arbitrary from "effect/Arbitrary"
import * as Arbitraries from "./Arbitraries.ts"
import * as Script from "./Script.ts"

const { element, oneOf } = Arbitraries

/**
 * What the servers run on, and how long they may take.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly carrier: "pipe" | "http"
  /**
   * The patience at the probe in milliseconds; waits are fractions and multiples of it, and never equal to a limit. 5,000.
   */
  readonly patience?: number
  /** Whether servers take their time at all; with `never` all that remains is answering at once and silence. `sometimes`. */
  readonly waits?: "sometimes" | "never"
}

const codes = [-32601, -32600, -32602, -32603, -32700, -32000, -32001, -32019, -32042, 0, 1, -1] as const
const modernCodes = [-32020, -32021, -32023, -32050, -32099] as const

const message = element("no", "Method not found", "Unsupported protocol version: 2026-07-28", "")
const anyCode = element<number>(...codes, ...modernCodes)

/** The `data` of a -32022: a list, or what is none. */
const supported: Arbitrary.Arbitrary<unknown> = oneOf<unknown>(
  Arbitrary.map(Arbitraries.versions, (list) => ({ supported: list, requested: "2026-07-28" })),
  Arbitrary.map(Arbitraries.versions, (list) => ({ supported: list, requested: "2026-07-28" })),
  element<unknown>(undefined, null, {}, { supported: "2026-07-28" }, { supported: [] }, { supported: [1, null] }),
  element({ supported: [null, "2026-07-28", 5] }, { supported: ["2025-06-18", {}] })
)

const refusedVersion = (status?: number) =>
  Arbitrary.map(supported, (data) =>
    Script.fail(-32022, { ...(data === undefined ? {} : { data }), ...(status === undefined ? {} : { status }) })
  )

const refused = (how: { readonly id?: Script.WrongId; readonly status?: number } = {}) =>
  Arbitrary.map(Arbitrary.all([anyCode, message]), ([code, text]) => Script.fail(code, { message: text, ...how }))

/** An error under an id that servers write when they could not read the request. */
const unnamed = oneOf(refused({ id: "null" }), refused({ id: "absent" }), refused({ id: "text" }))

const answered = (result: Arbitrary.Arbitrary<JsonRpc.JsonObject>) =>
  Arbitrary.map(result, (found) => Script.answer(found))

const just = (...steps: Script.Turn): Arbitrary.Arbitrary<Script.Turn> => element(steps)
const turn = (step: Arbitrary.Arbitrary<Script.Step>): Arbitrary.Arbitrary<Script.Turn> =>
  Arbitrary.map(step, (only) => [only])

const end = Arbitrary.map(
  Arbitrary.all([element(1, 0, 2, 3), element("", "cannot read the configuration")]),
  ([code, words]): Script.Turn => (words === "" ? [Script.exit(code)] : [Script.log(words), Script.exit(code)])
)

/** A status with a text, a JSON-RPC error or nothing as its body. */
const status = (first: number, ...rest: ReadonlyArray<number>) =>
  Arbitrary.map(
    Arbitrary.all([element(first, ...rest), element("empty", "text", "-32601", "-32022"), Arbitraries.versions]),
    ([code, body, list]): Script.Step =>
      body === "empty"
        ? Script.http(code)
        : body === "text"
          ? Script.http(code, "nothing for you here", { "content-type": "text/plain" })
          : body === "-32601"
            ? Script.fail(-32601, { status: code })
            : Script.unsupported(list, { status: code })
  )

const bareStatus = (first: number, ...rest: ReadonlyArray<number>) =>
  Arbitrary.map(Arbitrary.all([element(first, ...rest), element("", "nothing here")]), ([code, body]) =>
    Script.http(code, body, body === "" ? {} : { "content-type": "text/plain" })
  )

/** Statuses of other layers, which decide whatever the body says. */
const otherLayers = status(401, 403, 402, 407, 451, 500, 501, 502, 503, 504, 599, 408, 425, 429)
/** Statuses that are no answer an older server gives. */
const strange = bareStatus(406, 415, 422, 409, 410, 413, 418, 426, 431, 301, 302, 303)

const astray = oneOf<Script.Turn>(
  just(Script.page()),
  just(Script.http(202)),
  just(Script.http(204)),
  just(Script.http(200, "{", { "content-type": "application/json" })),
  just(Script.http(200, "[]", { "content-type": "application/json" })),
  just(Script.http(200, { hello: "world" })),
  just(Script.answer(undefined, { id: "foreign" })),
  just(Script.end),
  just(Script.close),
  just(Script.http(307, "", { location: "http://elsewhere.test/mcp" }))
)

/** What a server says by itself before an answer. */
const aside = (carrier: Options["carrier"]): Arbitrary.Arbitrary<Script.Turn> =>
  oneOf<Script.Turn>(
    element<Script.Turn>([]),
    element<Script.Turn>([]),
    element<Script.Turn>(
      [Script.say({ method: "notifications/message", params: { level: "info", data: "soon" } })],
      [Script.say({ id: "s-1", method: "ping" })]
    ),
    carrier === "pipe"
      ? Arbitrary.map(Arbitraries.brokenFrame, (text): Script.Turn => [Script.write(text)])
      : element<Script.Turn>([Script.write(": still here\n\n")], [Script.write("retry: 100\n\n")])
  )

const pause = ({ patience = 5_000, waits = "sometimes" }: Options): Arbitrary.Arbitrary<Script.Turn> =>
  waits === "never"
    ? element<Script.Turn>([])
    : Arbitrary.map(element(0, 0, 0, 0.2, 1.3, 2.6, 4.4), (times): Script.Turn =>
        times === 0 ? [] : [Script.wait(Math.round(times * patience))]
      )

const isPlain = (steps: Script.Turn) =>
  steps.length > 0 && steps[0]?.do !== "http" && steps.every((step) => step.do !== "close")

/** A turn as it is; or with something before it, where something can stand before it. */
const prefaced = (options: Options, decisive: Arbitrary.Arbitrary<Script.Turn>): Arbitrary.Arbitrary<Script.Turn> =>
  Arbitrary.map(Arbitrary.all([aside(options.carrier), pause(options), decisive]), ([before, between, last]) =>
    options.carrier === "pipe" || (isPlain(last) && last.every((step) => !("status" in step)))
      ? [...before, ...between, ...last]
      : [...between, ...last]
  )

const probeOnPipe = oneOf<Script.Turn>(
  just(Script.answer()),
  just(Script.answer()),
  turn(answered(Arbitraries.softDiscoverResult)),
  turn(answered(Arbitraries.softDiscoverResult)),
  turn(answered(Arbitraries.noDiscoverResult)),
  just(Script.answer(undefined, { id: "text" })),
  turn(refused()),
  turn(refused()),
  turn(unnamed),
  turn(refusedVersion()),
  turn(refusedVersion()),
  element(Script.silence),
  end,
  just(Script.close)
)

const probeOverHttp = oneOf<Script.Turn>(
  just(Script.answer()),
  just(Script.answer()),
  turn(answered(Arbitraries.softDiscoverResult)),
  turn(answered(Arbitraries.softDiscoverResult)),
  turn(answered(Arbitraries.noDiscoverResult)),
  turn(refused()),
  turn(refused({ status: 400 })),
  turn(refused({ status: 404 })),
  turn(unnamed),
  turn(refusedVersion()),
  turn(refusedVersion(400)),
  turn(bareStatus(400, 404, 405)),
  turn(bareStatus(400, 404, 405)),
  turn(otherLayers),
  turn(otherLayers),
  turn(strange),
  astray,
  element(Script.silence)
)

const handshakeOnPipe = oneOf<Script.Turn>(
  just(Script.answer()),
  just(Script.answer()),
  just(Script.answer()),
  turn(answered(Arbitraries.initializeResult)),
  turn(answered(Arbitraries.initializeResult)),
  turn(refused()),
  turn(refusedVersion()),
  element(Script.silence),
  end,
  just(Script.close)
)

const handshakeOverHttp = oneOf<Script.Turn>(
  just(Script.answer()),
  just(Script.answer()),
  just(Script.answer()),
  turn(answered(Arbitraries.initializeResult)),
  turn(answered(Arbitraries.initializeResult)),
  turn(refused()),
  turn(refusedVersion()),
  turn(bareStatus(400, 404, 405)),
  turn(otherLayers),
  astray,
  element(Script.silence)
)

const modernSets = element<ReadonlyArray<string>>(["2026-07-28"], [], ["2027-07-07"], ["2027-07-07", "2026-07-28"])
const legacySets = element<ReadonlyArray<string>>(
  ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
  [],
  ["2025-06-18"],
  ["2024-11-05"],
  ["1999-01-01"]
)

/** One turn, or two: the second for the next message of the same method. */
const turns = (options: Options, decisive: Arbitrary.Arbitrary<Script.Turn>) =>
  Arbitrary.array(prefaced(options, decisive), { minLength: 1, maxLength: 2 })

/**
 * What a server does about `server/discover`.
 *
 * @category turns
 * @since 0.1.0
 */
export const probe = (options: Options): Arbitrary.Arbitrary<Script.Turn> =>
  prefaced(options, options.carrier === "pipe" ? probeOnPipe : probeOverHttp)

/**
 * What a server does about `initialize`.
 *
 * @category turns
 * @since 0.1.0
 */
export const handshake = (options: Options): Arbitrary.Arbitrary<Script.Turn> =>
  prefaced(options, options.carrier === "pipe" ? handshakeOnPipe : handshakeOverHttp)

/**
 * A server: the versions it speaks, how it opens, and where it departs from good manners while a connection is made.
 *
 * @category scripts
 * @since 0.1.0
 */
export const script = (options: Options): Arbitrary.Arbitrary<Script.Script> => {
  const pipe = options.carrier === "pipe"
  return Arbitrary.map(
    Arbitrary.all({
      modern: modernSets,
      legacy: legacySets,
      probe: turns(options, pipe ? probeOnPipe : probeOverHttp),
      handshake: turns(options, pipe ? handshakeOnPipe : handshakeOverHttp),
      again: turns(options, handshakeOnPipe),
      opening: pipe
        ? oneOf<Script.Turn>(element<Script.Turn>([]), element<Script.Turn>([]), aside("pipe"))
        : element([]),
      http: Arbitrary.all({
        transport: element<Script.Http["transport"]>("streamable", "streamable", "both", "sse"),
        reply: element<Script.Http["reply"]>("json", "events"),
        session: element(false, true)
      })
    }),
    ({ again, handshake: initialize, probe: discover, ...rest }) =>
      Script.make({
        ...rest,
        // Far more than opening takes; a client that asks for ever is soon found out.
        limit: 100,
        on: { "server/discover": discover, initialize },
        again: pipe ? { initialize: again } : {}
      })
  )
}

/** Methods of requests that a client sends once a connection is there. */
const later = [
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/read",
  "ping",
  "logging/setLevel",
  "subscriptions/listen"
] as const

const versions = { modern: element(...Version.modern), legacy: element(...Version.legacy) }

const spoken = (era: "modern" | "legacy"): Arbitrary.Arbitrary<Version.Version> => versions[era]

const resultOf = (message: JsonRpc.Response): JsonRpc.JsonObject => (JsonRpc.isSuccess(message) ? message.result : {})

/**
 * What a server does about a request of an open connection: results of this method or of another, questions, errors, noise,
 * messages of its own, the end; in any order, and more than once.
 *
 * @category turns
 * @since 0.1.0
 */
export const conduct = (options: Options & { readonly era: "modern" | "legacy" }): Arbitrary.Arbitrary<Script.Turn> => {
  const { carrier, era } = options
  const pipe = carrier === "pipe"
  const of = <A>(make: (version: Version.Version) => Arbitrary.Arbitrary<A>) => Arbitrary.flatMap(spoken(era), make)
  const asked = Arbitrary.map(of(Arbitraries.question), ({ id, ...question }): Script.Step =>
    ({
      modern: () => Script.answer(Script.inputRequired({ [String(id)]: question })),
      legacy: () => Script.say({ id, ...question })
    })[era]()
  )
  const step = oneOf<Script.Step>(
    element<Script.Step>(Script.answer()),
    element<Script.Step>(Script.answer()),
    Arbitrary.map(of(Arbitraries.response), (message) => Script.answer(resultOf(message))),
    Arbitrary.map(Arbitraries.jsonObject, (result) => Script.answer(result)),
    Arbitrary.map(of(Arbitraries.notification), (message) => Script.say({ ...message })),
    asked,
    refused(),
    unnamed,
    Arbitrary.map(Arbitraries.brokenFrame, (text) =>
      Script.write(pipe ? text : `data: ${text.replaceAll(/[\r\n]/g, " ")}\n\n`)
    ),
    element<Script.Step>(Script.wait(0), Script.wait("1 minute")),
    pipe ? element<Script.Step>(Script.exit(1), Script.close) : element<Script.Step>(Script.end, Script.close),
    pipe ? element<Script.Step>(Script.answer(undefined, { id: "foreign" })) : oneOf(otherLayers, strange)
  )
  return Arbitrary.array(step, { maxLength: 4 })
}

/**
 * A server that opens a connection in good manners, and then does about every request whatever it likes.
 *
 * @category scripts
 * @since 0.1.0
 */
export const unruly = (
  options: Options & { readonly era: "modern" | "legacy" }
): Arbitrary.Arbitrary<Script.Script> => {
  const turn = conduct(options)
  return Arbitrary.map(
    Arbitrary.all({
      turns: Arbitrary.array(
        Arbitrary.all([element(...later), Arbitrary.array(turn, { minLength: 1, maxLength: 2 })]),
        {
          maxLength: 6
        }
      ),
      versions: spoken(options.era),
      reply: element<Script.Http["reply"]>("json", "events"),
      session: element(false, true)
    }),
    ({ reply, session, turns, versions }) =>
      Script.make({
        [options.era]: [versions],
        limit: 1_000,
        on: Object.fromEntries(turns),
        http: { reply, session }
      })
  )
}
