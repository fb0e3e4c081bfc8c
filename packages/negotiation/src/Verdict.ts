/**
 * What a program may keep of a negotiation, to skip it the next time: one plain JSON value, usable in another process.
 *
 * A modern verdict holds the DiscoverResult as it stood on the wire, so a reconnect knows identity, capabilities and
 * instructions without asking. A legacy verdict only says how to shake hands, and grows old: a stale modern verdict fails
 * loudly, a stale legacy one would work for ever and hide the server's upgrade.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcp-effect/protocol/JsonRpc"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Agreement } from "./Agreement.ts"
import { decodeDiscover } from "./internal/decoding.ts"
import { isObject } from "./internal/versions.ts"
import { PriorInvalid } from "./Reason.ts"

/**
 * The server speaks the modern era. It holds until it is disproved.
 *
 * @category models
 * @since 0.1.0
 */
export const Modern = Schema.Struct({
  era: Schema.Literal("modern"),
  /** The DiscoverResult, as it stood on the wire. */
  discover: Schema.Record(Schema.String, Schema.Unknown),
  rule: Schema.String,
  /** When it was found, in milliseconds since 1970. */
  at: Schema.Finite
})

/**
 * The server wants the handshake.
 *
 * @category models
 * @since 0.1.0
 */
export const Legacy = Schema.Struct({
  era: Schema.Literal("legacy"),
  /** The version to offer. */
  offer: Schema.String,
  /** Whether HTTP+SSE was what worked (H6). */
  transport: Schema.Literals(["own", "httpSse"]),
  rule: Schema.String,
  strength: Schema.Literals(["definitive", "conventional"]),
  at: Schema.Finite
})

/**
 * A verdict.
 *
 * @category models
 * @since 0.1.0
 */
export const Verdict = Schema.Union([Modern, Legacy])

/**
 * @category models
 * @since 0.1.0
 */
export type Verdict = typeof Verdict.Type

/**
 * How long a legacy verdict holds that rests on positive proof (P2, P8): 24 hours.
 *
 * @category bounds
 * @since 0.1.0
 */
export const definitiveAge = Duration.hours(24)

/**
 * How long a legacy verdict holds that rests on what older servers commonly do: one hour, and never on disk.
 *
 * @category bounds
 * @since 0.1.0
 */
export const conventionalAge = Duration.hours(1)

/**
 * The verdict of an agreement, or `undefined` when it must not be kept: weak evidence, a late answer that contradicts it,
 * or a version that was only taken for granted.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromAgreement = (agreement: Agreement, at: number): Verdict | undefined => {
  if (!agreement.lasting || agreement.strength === "weak") return undefined
  if (agreement.discover !== undefined)
    return agreement.raw === undefined
      ? undefined
      : { era: "modern", discover: { ...agreement.raw }, rule: agreement.rule, at }
  return agreement.offered === undefined
    ? undefined
    : {
        era: "legacy",
        offer: agreement.offered,
        transport: agreement.channel === "httpSse" ? "httpSse" : "own",
        rule: agreement.rule,
        strength: agreement.strength,
        at
      }
}

/**
 * Whether a verdict is past its age. A verdict from the future is, too: some clock was wrong.
 *
 * @category guards
 * @since 0.1.0
 */
export const isExpired = (verdict: Verdict, now: number): boolean =>
  "offer" in verdict &&
  (verdict.at > now ||
    now - verdict.at >= Duration.toMillis(verdict.strength === "definitive" ? definitiveAge : conventionalAge))

const decode = Schema.decodeUnknownResult(Verdict)
const ofDiscover = ["supportedVersions", "discover", "capabilities"]

/**
 * Reads a saved value: a verdict, or a DiscoverResult alone. `null` and `undefined` are none. The failure says what is
 * wrong with it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (saved: unknown): Result.Result<Verdict | undefined, PriorInvalid> => {
  const refuse = (because: string) => Result.fail(new PriorInvalid({ because }))
  if (saved === null || saved === undefined) return Result.succeed(undefined)
  if (!isObject(saved)) return refuse("it is no object")
  if (!Object.hasOwn(saved, "era")) return modern(saved, "", 0)
  const verdict = decode(saved)
  if (Result.isFailure(verdict)) return refuse("it is neither a verdict nor a DiscoverResult")
  if ("discover" in verdict.success) return modern(verdict.success.discover, verdict.success.rule, verdict.success.at)
  return ofDiscover.some((member) => Object.hasOwn(saved, member))
    ? refuse("it says legacy, and holds members of a DiscoverResult")
    : Result.succeed(verdict.success)
}

const modern = (discover: JsonObject, rule: string, at: number): Result.Result<Verdict, PriorInvalid> =>
  decodeDiscover(discover) === undefined
    ? Result.fail(new PriorInvalid({ because: "its DiscoverResult has no `supportedVersions` or no `capabilities`" }))
    : Result.succeed({ era: "modern", discover, rule, at })
