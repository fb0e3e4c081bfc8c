/** Where a value does not fit a schema, and why: of the first thing that does not. */
import * as SchemaIssue from "effect/SchemaIssue"

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** `pointer` is a JSON pointer into the value, empty for the whole. */
export const misfit = (issue: SchemaIssue.Issue): { readonly pointer: string; readonly because: string } => {
  const [first] = issuesOf(issue).issues
  const steps = (first?.path ?? []).map((step) => String(typeof step === "object" ? step.key : step))
  return {
    pointer: steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
    because: first?.message ?? "does not fit"
  }
}
