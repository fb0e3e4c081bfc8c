/** The members that a resource and a link to one have in common. */
import * as Schema from "effect/Schema"
import { Annotations } from "../Annotations.ts"
import { Icons } from "../Implementation.ts"
import { from, laterMeta, maybe } from "./shape.ts"

export const resourceFields = {
  uri: Schema.String,
  name: Schema.String,
  title: from("2025-06-18")(maybe(Schema.String)),
  description: maybe(Schema.String),
  mimeType: maybe(Schema.String),
  /** Bytes, before any encoding. */
  size: maybe(Schema.Int),
  annotations: maybe(Annotations),
  icons: from("2025-11-25")(maybe(Icons)),
  _meta: laterMeta
}
