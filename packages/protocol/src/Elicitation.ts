/**
 * Elicitation: a server asks the user, by a form or by sending them to an address (L-ELI, M-ELI).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { earlierMeta, from, Json, kind, maybe, member, named, open } from "./internal/shape.ts"

const labels = { title: maybe(Schema.String), description: maybe(Schema.String) }

const Choice = open({ const: Schema.String, title: Schema.String })

/**
 * A line of text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TextField = open({
  type: Schema.Literal("string"),
  ...labels,
  minLength: maybe(Schema.Int),
  maxLength: maybe(Schema.Int),
  /** A regular expression of the server's; treat it with care. */
  pattern: maybe(Schema.String),
  format: maybe(Schema.Literals(["email", "uri", "date", "date-time"])),
  default: from("2025-11-25")(maybe(Schema.String))
}).pipe(named("StringSchema"))

/**
 * A number, or a whole number.
 *
 * @category schemas
 * @since 0.1.0
 */
export const NumberField = open({
  type: Schema.Literals(["number", "integer"]),
  ...labels,
  minimum: maybe(Schema.Finite),
  maximum: maybe(Schema.Finite),
  default: from("2025-11-25")(maybe(Schema.Finite))
}).pipe(named("NumberSchema"))

/**
 * Yes or no.
 *
 * @category schemas
 * @since 0.1.0
 */
export const BooleanField = open({
  type: Schema.Literal("boolean"),
  ...labels,
  default: maybe(Schema.Boolean)
}).pipe(named("BooleanSchema"))

/**
 * One of several values; `enumNames` may hold what to show for each.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ChoiceField = open({
  type: Schema.Literal("string"),
  ...labels,
  enum: Schema.Array(Schema.String),
  enumNames: maybe(Schema.Array(Schema.String)),
  default: from("2025-11-25")(maybe(Schema.String))
}).pipe(named("EnumSchema"))

/**
 * One of several values, each with its title.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TitledChoiceField = open({
  type: Schema.Literal("string"),
  ...labels,
  oneOf: Schema.Array(Choice),
  default: maybe(Schema.String)
}).pipe(named("TitledSingleSelectEnumSchema"), kind({ from: "2025-11-25" }))

/**
 * Any number of several values.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ManyField = open({
  type: Schema.Literal("array"),
  ...labels,
  items: Schema.Union([
    open({ type: Schema.Literal("string"), enum: Schema.Array(Schema.String) }),
    open({ anyOf: Schema.Array(Choice) })
  ]),
  minItems: maybe(Schema.Int),
  maxItems: maybe(Schema.Int),
  default: maybe(Schema.Array(Schema.String))
}).pipe(named("MultiSelectEnumSchema"), kind({ from: "2025-11-25" }))

/**
 * One field of a form. Anything else is refused: it could not be shown (M-ELI-10).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Field = Schema.Union([TitledChoiceField, ChoiceField, ManyField, TextField, NumberField, BooleanField])

/**
 * One field of a form.
 *
 * @category models
 * @since 0.1.0
 */
export type Field = typeof Field.Type

/**
 * A form: a flat object of fields.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Form = open({
  type: Schema.Literal("object"),
  properties: Schema.Record(Schema.String, Field),
  required: maybe(Schema.Array(Schema.String)),
  $schema: from("2025-11-25")(maybe(Schema.String))
}).pipe(named("ElicitForm"))

/**
 * A form.
 *
 * @category models
 * @since 0.1.0
 */
export interface Form extends Schema.Schema.Type<typeof Form> {}

const task = member({ from: "2025-11-25", to: "2025-11-25" })(maybe(open({ ttl: maybe(Schema.Int) })))

/**
 * Asks by a form. An absent `mode` means this one (M-ELI-3).
 *
 * @category schemas
 * @since 0.1.0
 */
export const FormParams = open({
  mode: member({ from: "2025-11-25", quiet: true })(maybe(Schema.Literal("form"))),
  message: Schema.String,
  requestedSchema: Form,
  task,
  _meta: earlierMeta
}).pipe(named("ElicitRequestFormParams"))

/**
 * Asks by a form.
 *
 * @category models
 * @since 0.1.0
 */
export interface FormParams extends Schema.Schema.Type<typeof FormParams> {}

/**
 * Asks the user to open an address. Never open or fetch it without consent (M-ELI-19 to 23).
 *
 * @category schemas
 * @since 0.1.0
 */
export const UrlParams = open({
  mode: Schema.Literal("url"),
  message: Schema.String,
  url: Schema.String,
  /** Names it in `notifications/elicitation/complete`; 2025-11-25 only. */
  elicitationId: member({ from: "2025-11-25", to: "2025-11-25" })(maybe(Schema.String)),
  task,
  _meta: earlierMeta
}).pipe(named("ElicitRequestURLParams"), kind({ from: "2025-11-25" }))

/**
 * Asks the user to open an address.
 *
 * @category models
 * @since 0.1.0
 */
export interface UrlParams extends Schema.Schema.Type<typeof UrlParams> {}

/**
 * A question to the user.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = Schema.Union([UrlParams, FormParams])

/**
 * A question to the user.
 *
 * @category models
 * @since 0.1.0
 */
export type Params = typeof Params.Type

/**
 * Whether the question sends the user to an address.
 *
 * @category guards
 * @since 0.1.0
 */
export const isUrl = (params: Params): params is UrlParams => Object.hasOwn(params, "mode") && params.mode === "url"

const Value = Schema.Union([
  Schema.String,
  Schema.Finite,
  Schema.Boolean,
  Schema.Array(Schema.String).pipe(kind({ from: "2025-11-25" }))
])

/**
 * The user's answer. `content` stands only beside `accept`, and only for a form (M-ELI-12).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Result = open({
  action: Schema.Literals(["accept", "decline", "cancel"]),
  content: maybe(Schema.Record(Schema.String, Value)),
  _meta: earlierMeta
}).pipe(named("ElicitResult"))

/**
 * The user's answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Result extends Schema.Schema.Type<typeof Result> {}

/**
 * The user visited the address of this question; 2025-11-25 only. It may never come, and unknown ids are ignored.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CompleteParams = open({ elicitationId: Schema.String, _meta: maybe(Json) })

/**
 * The user visited the address of this question.
 *
 * @category models
 * @since 0.1.0
 */
export interface CompleteParams extends Schema.Schema.Type<typeof CompleteParams> {}
