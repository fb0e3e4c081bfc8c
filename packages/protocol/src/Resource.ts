/**
 * Data a server offers to read: resources, templates for their addresses, and their contents (L-RES, M-RSRC).
 *
 * Addresses stay byte for byte what the server sent.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Annotations } from "./Annotations.ts"
import { Icons } from "./Implementation.ts"
import * as InputRequired from "./InputRequired.ts"
import { resourceFields } from "./internal/resourceFields.ts"
import { anyMeta, cacheHints, from, laterMeta, list, maybe, named, open, result } from "./internal/shape.ts"
import * as Page from "./Page.ts"
import { Contents } from "./ResourceContents.ts"

/**
 * Something that can be read.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Resource = open(resourceFields).pipe(named("Resource"))

/**
 * Something that can be read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Resource extends Schema.Schema.Type<typeof Resource> {}

/**
 * A family of resources: `uriTemplate` follows RFC 6570.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Template = open({
  uriTemplate: Schema.String,
  name: Schema.String,
  title: from("2025-06-18")(maybe(Schema.String)),
  description: maybe(Schema.String),
  mimeType: maybe(Schema.String),
  annotations: maybe(Annotations),
  icons: from("2025-11-25")(maybe(Icons)),
  _meta: laterMeta
}).pipe(named("ResourceTemplate"))

/**
 * A family of resources.
 *
 * @category models
 * @since 0.1.0
 */
export interface Template extends Schema.Schema.Type<typeof Template> {}

/**
 * One page of resources.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListResult = result({ resources: list(Resource), nextCursor: Page.nextCursor, ...cacheHints })

/**
 * One page of resources.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListResult extends Schema.Schema.Type<typeof ListResult> {}

/**
 * One page of templates.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TemplatesResult = result({
  resourceTemplates: list(Template),
  nextCursor: Page.nextCursor,
  ...cacheHints
})

/**
 * One page of templates.
 *
 * @category models
 * @since 0.1.0
 */
export interface TemplatesResult extends Schema.Schema.Type<typeof TemplatesResult> {}

/**
 * What to read.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ReadParams = open({ uri: Schema.String, ...InputRequired.retry, _meta: anyMeta })

/**
 * What to read.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReadParams extends Schema.Schema.Type<typeof ReadParams> {}

/**
 * What was read; one address may give several contents, as a folder does.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ReadResult = result({ contents: list(Contents), ...cacheHints })

/**
 * What was read.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReadResult extends Schema.Schema.Type<typeof ReadResult> {}

/**
 * Which resource to watch, or to stop watching; legacy era. A modern server is asked by `subscriptions/listen`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SubscribeParams = open({ uri: Schema.String, _meta: anyMeta })

/**
 * Which resource to watch.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubscribeParams extends Schema.Schema.Type<typeof SubscribeParams> {}

/**
 * A watched resource changed: read it again. It may be a part of the one that is watched.
 *
 * @category schemas
 * @since 0.1.0
 */
export const UpdatedParams = open({ uri: Schema.String, _meta: anyMeta })

/**
 * A watched resource changed.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdatedParams extends Schema.Schema.Type<typeof UpdatedParams> {}
