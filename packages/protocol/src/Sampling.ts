/**
 * Sampling: a server asks the client to ask a language model (L-SAMP, M-SAMP).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Role } from "./Annotations.ts"
import * as Content from "./Content.ts"
import { Icons } from "./Implementation.ts"
import {
  anyMeta,
  earlierMeta,
  from,
  Json,
  kind,
  laterMeta,
  maybe,
  member,
  named,
  open,
  share
} from "./internal/shape.ts"

const onlyBlock = (blocks: unknown): unknown => (Array.isArray(blocks) && blocks.length === 1 ? blocks[0] : undefined)

/**
 * One block, or several since 2025-11-25. Several cannot be sent to an older revision.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Blocks = Schema.Union([
  Content.SamplingBlock,
  Schema.Array(Content.SamplingBlock).pipe(kind({ from: "2025-11-25", degrade: onlyBlock }))
])

/**
 * One block, or several.
 *
 * @category models
 * @since 0.1.0
 */
export type Blocks = typeof Blocks.Type

const isBlock = (content: Blocks): content is Content.SamplingBlock => "type" in content

/**
 * The blocks of a message as a list, however it was written.
 *
 * @category accessors
 * @since 0.1.0
 */
export const blocksOf = (content: Blocks): ReadonlyArray<Content.SamplingBlock> =>
  isBlock(content) ? [content] : content

/**
 * One turn of the conversation.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Message = open({
  role: Role,
  content: Blocks,
  _meta: from("2025-11-25")(maybe(Json))
}).pipe(named("SamplingMessage"))

/**
 * One turn of the conversation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Message extends Schema.Schema.Type<typeof Message> {}

/**
 * Which model the server would like; each priority from 0 to 1, hints in order of preference.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ModelPreferences = open({
  hints: maybe(Schema.Array(open({ name: maybe(Schema.String) }))),
  costPriority: maybe(share),
  speedPriority: maybe(share),
  intelligencePriority: maybe(share)
}).pipe(named("ModelPreferences"))

/**
 * Which model the server would like.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelPreferences extends Schema.Schema.Type<typeof ModelPreferences> {}

/**
 * A tool the model may use, described by the server that asks.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingTool = open({
  name: Schema.String,
  title: maybe(Schema.String),
  description: maybe(Schema.String),
  inputSchema: Json,
  outputSchema: maybe(Json),
  annotations: maybe(Json),
  icons: maybe(Icons),
  _meta: laterMeta
})

/**
 * What to ask the model. Only `messages` and `maxTokens` are always there; the client may change or ignore the rest.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = open({
  messages: Schema.Array(Message),
  maxTokens: Schema.Int,
  modelPreferences: maybe(ModelPreferences),
  systemPrompt: maybe(Schema.String),
  includeContext: maybe(Schema.Literals(["none", "thisServer", "allServers"])),
  temperature: maybe(Schema.Finite),
  stopSequences: maybe(Schema.Array(Schema.String)),
  metadata: maybe(Json),
  tools: member({ from: "2025-11-25", essential: true })(maybe(Schema.Array(SamplingTool))),
  toolChoice: member({ from: "2025-11-25", essential: true })(
    maybe(open({ mode: maybe(Schema.Literals(["auto", "required", "none"])) }))
  ),
  task: member({ from: "2025-11-25", to: "2025-11-25" })(maybe(open({ ttl: maybe(Schema.Int) }))),
  _meta: earlierMeta
}).pipe(named("CreateMessageRequestParams"))

/**
 * What to ask the model.
 *
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}

/**
 * What the model said. `stopReason` is open; `endTurn`, `stopSequence`, `maxTokens` and `toolUse` are standard.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Result = open({
  role: Role,
  content: Blocks,
  model: Schema.String,
  stopReason: maybe(Schema.String),
  _meta: anyMeta
}).pipe(named("CreateMessageResult"))

/**
 * What the model said.
 *
 * @category models
 * @since 0.1.0
 */
export interface Result extends Schema.Schema.Type<typeof Result> {}
