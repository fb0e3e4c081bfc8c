/**
 * Hints on who a piece of content is for and how much it matters.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { from, list, maybe, named, open, share } from "./internal/shape.ts"

/**
 * The two parties of a conversation.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Role = Schema.Literals(["user", "assistant"])

/**
 * One of the two parties.
 *
 * @category models
 * @since 0.1.0
 */
export type Role = typeof Role.Type

/**
 * Hints on content and resources (M-CONT-3). They come from the server and are not to be trusted.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Annotations = open({
  /** Whom it is meant for. */
  audience: maybe(list(Role)),
  /** From 0, entirely optional, to 1, required. */
  priority: maybe(share),
  /** When it last changed, ISO 8601. */
  lastModified: from("2025-06-18")(maybe(Schema.String))
}).pipe(named("Annotations"))

/**
 * Hints on content and resources.
 *
 * @category models
 * @since 0.1.0
 */
export interface Annotations extends Schema.Schema.Type<typeof Annotations> {}
