/**
 * Walking long lists page by page (L-PAGE, M-PAGE).
 *
 * A cursor is opaque: pass it back as it came. Only its absence ends a list; the empty string is a cursor like any
 * other (T-LIST-2).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { anyMeta, maybe, open } from "./internal/shape.ts"

/**
 * The place where the next page begins.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Cursor = Schema.String

/**
 * The place where the next page begins.
 *
 * @category models
 * @since 0.1.0
 */
export type Cursor = string

/**
 * The member that says there is more. `null` reads as absent.
 *
 * @category schemas
 * @since 0.1.0
 */
export const nextCursor = maybe(Cursor)

/**
 * Asks for a page: the first without a cursor.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = open({ cursor: maybe(Cursor), _meta: anyMeta })

/**
 * Asks for a page.
 *
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}
