/** What to give a connection so that a server that refused goes on: a row for each capability it may ask for. */
import * as Predicate from "effect/Predicate"

interface Row {
  /** Where in `requiredCapabilities` it stands. */
  readonly path: readonly [capability: string, part?: string]
  readonly give: string
}

const rows: ReadonlyArray<Row> = [
  { path: ["elicitation", "form"], give: "the handler `elicitation.form`" },
  { path: ["elicitation", "url"], give: "the handler `elicitation.url`" },
  { path: ["elicitation"], give: "the handler `elicitation.form`" },
  { path: ["sampling", "tools"], give: "the handler `sampling` with `samplingTools`" },
  { path: ["sampling"], give: "the handler `sampling`" },
  { path: ["roots"], give: "the handler `roots`" },
  { path: ["extensions"], give: "the extension it names" }
]

const holds = (needed: object, { path: [capability, part] }: Row): boolean => {
  if (!Predicate.hasProperty(needed, capability)) return false
  return part === undefined || Predicate.hasProperty(needed[capability], part)
}

/** In the data of a `MissingRequiredClientCapability`; empty when it names nothing that is known here. */
export const neededIn = (data: unknown): ReadonlyArray<string> => {
  const needed = Predicate.hasProperty(data, "requiredCapabilities") ? data.requiredCapabilities : undefined
  if (!Predicate.isObject(needed)) return []
  const found = rows.filter((row) => holds(needed, row))
  // A part says more than the whole.
  const finest = found.filter(
    ({ path: [capability, part] }) =>
      part !== undefined || found.every(({ path: [other, finer] }) => other !== capability || finer === undefined)
  )
  return finest.map(({ give }) => give)
}
