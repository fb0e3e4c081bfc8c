/**
 * Roots: the folders a client lets a server work in (L-ROOT, M-ROOT).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { anyMeta, earlierMeta, laterMeta, maybe, named, open } from "./internal/shape.ts"

/**
 * A folder or file; `uri` is a `file://` address.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Root = open({ uri: Schema.String, name: maybe(Schema.String), _meta: laterMeta }).pipe(named("Root"))

/**
 * A folder or file.
 *
 * @category models
 * @since 0.1.0
 */
export interface Root extends Schema.Schema.Type<typeof Root> {}

/**
 * Asks for the roots.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = open({ _meta: anyMeta })

/**
 * Asks for the roots.
 *
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}

/**
 * The roots.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Result = open({ roots: Schema.Array(Root), _meta: earlierMeta }).pipe(named("ListRootsResult"))

/**
 * The roots.
 *
 * @category models
 * @since 0.1.0
 */
export interface Result extends Schema.Schema.Type<typeof Result> {}
