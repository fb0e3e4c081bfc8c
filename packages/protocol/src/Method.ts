/**
 * The requests a client sends: parameters, results, where they exist, and which capability of the server they need.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import type { Path } from "./Capabilities.ts"
import * as Completion from "./Completion.ts"
import * as Discover from "./Discover.ts"
import * as Initialize from "./Initialize.ts"
import type { InputRequired } from "./InputRequired.ts"
import { anyMeta, open, result } from "./internal/shape.ts"
import * as Logging from "./Logging.ts"
import * as Page from "./Page.ts"
import * as Prompt from "./Prompt.ts"
import * as Resource from "./Resource.ts"
import * as Subscription from "./Subscription.ts"
import * as Task from "./Task.ts"
import * as Tool from "./Tool.ts"
import type { Version } from "./Version.ts"

/**
 * No parameters but `_meta`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const NoParams = open({ _meta: anyMeta })

/**
 * A result that says nothing but yes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const EmptyResult = result({})

/**
 * The revisions from one to another, both included; without end where a bound is absent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Span {
  readonly from?: Version
  readonly to?: Version
}

/**
 * A server capability that a method needs, in a span of revisions.
 *
 * @category models
 * @since 0.1.0
 */
export interface Gate extends Span {
  readonly capability: Path
}

/**
 * What is known about a method.
 *
 * @category models
 * @since 0.1.0
 */
export interface Description {
  readonly params: Schema.Codec<unknown>
  readonly result: Schema.Codec<unknown>
  /** The revisions that have the method. */
  readonly span: Span
  /** The capability it needs; the first one that matches the revision. */
  readonly gates: ReadonlyArray<Gate>
  /** Whether a modern server may answer with questions (M-MRTR-5). */
  readonly asks: boolean
  /** Whether the result may be kept for a while (M-CACHE-1). */
  readonly cached: boolean
  /** Lists in the result that read as empty when they are missing. */
  readonly lists: ReadonlyArray<string>
}

const legacyOnly: Span = { to: "2025-11-25" }
const modernOnly: Span = { from: "2026-07-28" }
const always: Span = {}

const needs = (...capability: Path): ReadonlyArray<Gate> => [{ capability }]

const plain = { span: always, gates: [], asks: false, cached: false, lists: [] } as const

const listing = { ...plain, params: Page.Params, cached: true } as const

const taskGates: ReadonlyArray<Gate> = [
  { capability: ["tasks"], from: "2025-11-25", to: "2025-11-25" },
  { capability: ["extensions", Task.extension], from: "2026-07-28" }
]

/**
 * Every request of every revision that a client sends.
 *
 * @category methods
 * @since 0.1.0
 */
export const methods = {
  initialize: { ...plain, span: legacyOnly, params: Initialize.Params, result: Initialize.InitializeResult },
  "server/discover": {
    ...plain,
    span: modernOnly,
    cached: true,
    params: Discover.Params,
    result: Discover.DiscoverResult
  },
  ping: { ...plain, span: legacyOnly, params: NoParams, result: EmptyResult },
  "tools/list": { ...listing, gates: needs("tools"), lists: ["tools"], result: Tool.ListResult },
  "tools/call": {
    ...plain,
    gates: needs("tools"),
    asks: true,
    lists: ["content"],
    params: Tool.CallParams,
    result: Tool.CallResult
  },
  "resources/list": { ...listing, gates: needs("resources"), lists: ["resources"], result: Resource.ListResult },
  "resources/templates/list": {
    ...listing,
    gates: needs("resources"),
    lists: ["resourceTemplates"],
    result: Resource.TemplatesResult
  },
  "resources/read": {
    ...plain,
    gates: needs("resources"),
    asks: true,
    cached: true,
    params: Resource.ReadParams,
    result: Resource.ReadResult
  },
  "resources/subscribe": {
    ...plain,
    span: legacyOnly,
    gates: needs("resources", "subscribe"),
    params: Resource.SubscribeParams,
    result: EmptyResult
  },
  "resources/unsubscribe": {
    ...plain,
    span: legacyOnly,
    gates: needs("resources", "subscribe"),
    params: Resource.SubscribeParams,
    result: EmptyResult
  },
  "prompts/list": { ...listing, gates: needs("prompts"), lists: ["prompts"], result: Prompt.ListResult },
  "prompts/get": {
    ...plain,
    gates: needs("prompts"),
    asks: true,
    params: Prompt.GetParams,
    result: Prompt.GetResult
  },
  "completion/complete": {
    ...plain,
    gates: [{ capability: ["completions"], from: "2025-03-26" }],
    params: Completion.Params,
    result: Completion.Result
  },
  "logging/setLevel": {
    ...plain,
    span: legacyOnly,
    gates: needs("logging"),
    params: Logging.SetLevelParams,
    result: EmptyResult
  },
  "subscriptions/listen": {
    ...plain,
    span: modernOnly,
    params: Subscription.ListenParams,
    result: Subscription.ListenResult
  },
  "tasks/get": {
    ...plain,
    span: { from: "2025-11-25" },
    gates: taskGates,
    params: Task.IdParams,
    result: Task.GetResult
  },
  "tasks/update": {
    ...plain,
    span: modernOnly,
    gates: taskGates,
    params: Task.UpdateParams,
    result: EmptyResult
  },
  "tasks/cancel": {
    ...plain,
    span: { from: "2025-11-25" },
    gates: [{ capability: ["tasks", "cancel"], from: "2025-11-25", to: "2025-11-25" }, ...taskGates],
    params: Task.IdParams,
    result: Task.CancelResult
  },
  "tasks/result": {
    ...plain,
    span: { from: "2025-11-25", to: "2025-11-25" },
    gates: taskGates,
    params: Task.IdParams,
    result: Task.PayloadResult
  },
  "tasks/list": {
    ...plain,
    span: { from: "2025-11-25", to: "2025-11-25" },
    gates: [{ capability: ["tasks", "list"], from: "2025-11-25", to: "2025-11-25" }],
    lists: ["tasks"],
    params: Page.Params,
    result: Task.ListResult
  }
} as const satisfies { readonly [method: string]: Description }

/**
 * The name of a request that a client sends.
 *
 * @category models
 * @since 0.1.0
 */
export type Method = keyof typeof methods

/**
 * The parameters of a method.
 *
 * @category models
 * @since 0.1.0
 */
export type Params<M extends Method> = (typeof methods)[M]["params"]["Type"]

/**
 * The final result of a method.
 *
 * @category models
 * @since 0.1.0
 */
export type Complete<M extends Method> = (typeof methods)[M]["result"]["Type"]

/**
 * The methods that a modern server may answer with questions.
 *
 * @category models
 * @since 0.1.0
 */
export type Asking = { [M in Method]: (typeof methods)[M]["asks"] extends true ? M : never }[Method]

/**
 * What a method may give: its final result, or questions. `resultType` tells them apart.
 *
 * @category models
 * @since 0.1.0
 */
export type Result<M extends Method> = Complete<M> | (M extends Asking ? InputRequired : never)

/**
 * Whether a text names a request that a client sends.
 *
 * @category guards
 * @since 0.1.0
 */
export const isMethod = (text: string): text is Method => Object.hasOwn(methods, text)
