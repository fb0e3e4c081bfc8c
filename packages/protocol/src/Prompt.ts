/**
 * Prompts: messages a server has ready for a user to choose (L-PRO, M-PMT).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Role } from "./Annotations.ts"
import * as Content from "./Content.ts"
import { Icons } from "./Implementation.ts"
import * as InputRequired from "./InputRequired.ts"
import { anyMeta, cacheHints, from, laterMeta, list, maybe, named, open, result } from "./internal/shape.ts"
import * as Page from "./Page.ts"

/**
 * Something a prompt wants to know. Its value is always a string.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Argument = open({
  name: Schema.String,
  title: from("2025-06-18")(maybe(Schema.String)),
  description: maybe(Schema.String),
  required: maybe(Schema.Boolean)
}).pipe(named("PromptArgument"))

/**
 * Something a prompt wants to know.
 *
 * @category models
 * @since 0.1.0
 */
export interface Argument extends Schema.Schema.Type<typeof Argument> {}

/**
 * A prompt.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Prompt = open({
  name: Schema.String,
  title: from("2025-06-18")(maybe(Schema.String)),
  description: maybe(Schema.String),
  arguments: maybe(list(Argument)),
  icons: from("2025-11-25")(maybe(Icons)),
  _meta: laterMeta
}).pipe(named("Prompt"))

/**
 * A prompt.
 *
 * @category models
 * @since 0.1.0
 */
export interface Prompt extends Schema.Schema.Type<typeof Prompt> {}

/**
 * One page of prompts.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListResult = result({ prompts: list(Prompt), nextCursor: Page.nextCursor, ...cacheHints })

/**
 * One page of prompts.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListResult extends Schema.Schema.Type<typeof ListResult> {}

/**
 * Which prompt, with which values.
 *
 * @category schemas
 * @since 0.1.0
 */
export const GetParams = open({
  name: Schema.String,
  arguments: maybe(Schema.Record(Schema.String, Schema.String)),
  ...InputRequired.retry,
  _meta: anyMeta
})

/**
 * Which prompt, with which values.
 *
 * @category models
 * @since 0.1.0
 */
export interface GetParams extends Schema.Schema.Type<typeof GetParams> {}

/**
 * One message of a prompt; always a single block.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Message = open({ role: Role, content: Content.Block }).pipe(named("PromptMessage"))

/**
 * One message of a prompt.
 *
 * @category models
 * @since 0.1.0
 */
export interface Message extends Schema.Schema.Type<typeof Message> {}

/**
 * The messages of a prompt.
 *
 * @category schemas
 * @since 0.1.0
 */
export const GetResult = result({ description: maybe(Schema.String), messages: list(Message) })

/**
 * The messages of a prompt.
 *
 * @category models
 * @since 0.1.0
 */
export interface GetResult extends Schema.Schema.Type<typeof GetResult> {}
