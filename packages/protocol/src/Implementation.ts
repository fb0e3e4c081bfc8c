/**
 * Who is speaking: the name and version that a client or a server gives itself, and the icons beside it.
 *
 * Both are self-reported: good for display and logs, never for a decision (M-META-16).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { from, list, maybe, named, open } from "./internal/shape.ts"

/**
 * An image for an entry (M-ICON). Bytes and metadata are untrusted; load only `https:` and `data:` addresses.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Icon = open({
  src: Schema.String,
  mimeType: maybe(Schema.String),
  /** `"48x48"`, or `"any"` for scalable formats. */
  sizes: maybe(Schema.Array(Schema.String)),
  theme: maybe(Schema.Literals(["light", "dark"]))
}).pipe(named("Icon"))

/**
 * An image for an entry.
 *
 * @category models
 * @since 0.1.0
 */
export interface Icon extends Schema.Schema.Type<typeof Icon> {}

/**
 * A list of icons; one that cannot be read is left out.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Icons = list(Icon)

/**
 * A client or a server, in its own words.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Implementation = open({
  name: Schema.String,
  version: Schema.String,
  title: from("2025-06-18")(maybe(Schema.String)),
  description: from("2025-11-25")(maybe(Schema.String)),
  websiteUrl: from("2025-11-25")(maybe(Schema.String)),
  icons: from("2025-11-25")(maybe(Icons))
}).pipe(named("Implementation"))

/**
 * A client or a server, in its own words.
 *
 * @category models
 * @since 0.1.0
 */
export interface Implementation extends Schema.Schema.Type<typeof Implementation> {}
