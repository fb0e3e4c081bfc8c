/**
 * Building blocks of the model: open objects, and the note on a member that says which revisions know it.
 *
 * The notes are the one place that knows the field × revision tables. `project.ts` reads them to encode a value for a
 * revision, and the printed tables are made from them.
 */
import * as Schema from "effect/Schema"
import type { Version } from "../Version.ts"

/** What a member or a kind of value needs from a revision. */
export interface Note {
  /** The first revision that has it; absent: since the beginning. */
  readonly from?: Version
  /** The last revision that has it; absent: still there. */
  readonly to?: Version
  /** Leaving it out would change what the message means, so encoding fails instead. */
  readonly essential?: boolean
  /** It is bookkeeping of newer revisions; leaving it out is not worth a report. */
  readonly quiet?: boolean
  /** Another value that says the same as far as older revisions can say it; `undefined` when there is none. */
  readonly degrade?: (value: unknown) => unknown
  /** Has the last word on a member: what to send to this revision, `undefined` to leave it out. */
  readonly adapt?: (value: unknown, version: Version) => unknown
}

export const noteKey = "mcp-effect/note"
export const perItemKey = "mcp-effect/perItem"
export const nameKey = "mcp-effect/name"

/** An object of unknown members. */
export const Json = Schema.Record(Schema.String, Schema.Unknown)

/** A struct that keeps members it does not know. */
export const open = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Json])

/** A member that may be absent. */
export const maybe = <S extends Schema.Top>(schema: S): Schema.optionalKey<S> => Schema.optionalKey(schema)

/** Notes on a member. */
export const member =
  (note: Note) =>
  <S extends Schema.Top>(schema: S): S["Rebuild"] =>
    schema.pipe(Schema.annotateKey<S>({ [noteKey]: note }))

/** Notes on a kind of value, wherever it stands. */
export const kind =
  (note: Note) =>
  <S extends Schema.Top>(schema: S): S["Rebuild"] =>
    schema.annotate({ [noteKey]: note })

/** A member that exists from this revision on. */
export const from = (version: Version) => member({ from: version })

/** Names a type for the printed tables. */
export const named =
  (name: string) =>
  <S extends Schema.Top>(schema: S): S["Rebuild"] =>
    schema.annotate({ [nameKey]: name })

/** A list that is read item by item: what cannot be read is left out and reported. */
export const list = <S extends Schema.Top>(item: S) => Schema.Array(item).annotate({ [perItemKey]: true })

const meta = maybe(Json)

/** `_meta` of a type that has had it in every revision. */
export const anyMeta = meta

/** `_meta` of a type that is no message of its own any more since 2026-07-28. */
export const earlierMeta = member({ to: "2025-11-25" })(maybe(Json))

/** `_meta` of a type that has it since 2025-06-18. */
export const laterMeta = from("2025-06-18")(maybe(Json))

const objectOrNothing = (value: unknown, version: Version): unknown =>
  version === "2026-07-28" || (typeof value === "object" && value !== null && !Array.isArray(value)) ? value : undefined

/** Structured content: any JSON in the newest revision, an object in the two before it. */
export const structured = member({ from: "2025-06-18", adapt: objectOrNothing })(maybe(Schema.Unknown))

/** A number from 0 to 1. */
export const share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** The result of a request: `resultType` is always there once decoded, whatever the revision. */
export const result = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  open({
    _meta: meta,
    resultType: member({ from: "2026-07-28", quiet: true })(Schema.Literal("complete")),
    ...fields
  })

/** The two members that say how long and for whom a result may be kept. */
export const cacheHints = {
  /** For how many milliseconds the result may be reused; 0 when the server did not say. */
  ttlMs: member({ from: "2026-07-28", quiet: true })(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** Who may share it; `private` when the server did not say. */
  cacheScope: member({ from: "2026-07-28", quiet: true })(Schema.Literals(["private", "public"]))
}
