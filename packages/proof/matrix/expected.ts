/**
 * What is expected of every feature in every column: it works, unless a row here says otherwise. The first row that fits
 * counts. A test holds the rows against what is measured, and `page.ts` prints them.
 */
import type { Column, Outcome } from "./Column.ts"
import type { Name } from "./features.ts"

interface Exception {
  readonly where: Partial<Pick<Column, "era" | "forgetful" | "mode" | "over">> & {
    readonly server?: ReadonlyArray<string>
  }
  readonly features: ReadonlyArray<Name>
  readonly outcome: Outcome
}

const lacking = (
  where: Exception["where"],
  because: string,
  ...names: readonly [Name, ...ReadonlyArray<Name>]
): Exception => ({ where, features: names, outcome: { is: "not offered", because } })

const failing = (where: Exception["where"], reason: string, name: Name): Exception => ({
  where,
  features: [name],
  outcome: { is: "error", reason }
})

const reference = ["everything", "filesystem", "memory"]
const small = ["filesystem", "memory"]

const exceptions: ReadonlyArray<Exception> = [
  failing({ era: "modern" }, "NotAvailableInModern", "ping"),
  failing({ era: "legacy" }, "NotAvailableInLegacy", "discover"),
  lacking({ mode: "pinned" }, "a pinned connection asks nothing, so it is told nothing", "identity and instructions"),
  lacking({ era: "modern" }, "its era asks in rounds instead", "an address before the answer"),
  lacking({ era: "modern" }, "its era asks for folders each time", "changed folders"),
  lacking({ era: "legacy" }, "its era has no hints", "results kept by hint"),
  lacking({ era: "legacy" }, "headers are mirrored in the modern era over HTTP alone", "mirrored headers"),
  lacking({ over: "stdio" }, "headers are mirrored in the modern era over HTTP alone", "mirrored headers"),
  lacking(
    { forgetful: true },
    "it keeps no session with a legacy client, so it has nobody to ask or to tell",
    "questions: a form",
    "questions: an address",
    "questions: a model",
    "questions: folders",
    "questions answered by hand",
    "changes of a list",
    "changes of a resource",
    "live lists",
    "changed folders"
  ),
  lacking(
    { server: ["server", "sdk", "effect", "effect, legacy only", ...reference] },
    "no tool of it breaks its own schema",
    "output that breaks its schema"
  ),
  lacking(
    { server: ["effect", "effect, legacy only", ...small] },
    "no tool of it wants an address to be opened first",
    "an address before the answer"
  ),
  lacking(
    { server: ["server", "effect", "effect, legacy only", "memory"] },
    "no tool of it remembers folders",
    "changed folders"
  ),
  lacking(
    { server: ["effect", "effect, legacy only", ...reference] },
    "each of its lists is one page",
    "lists of several pages"
  ),
  lacking(
    { server: ["effect", "effect, legacy only"], era: "legacy", over: "http" },
    "it does not announce subscriptions to resources",
    "changes of a resource"
  ),
  lacking({ server: ["server"], era: "legacy" }, "it does not announce tasks", "tasks"),
  lacking({ server: ["effect", "effect, legacy only", ...small] }, "it does not announce tasks", "tasks"),
  lacking({ server: reference }, "no tool of it tells that it was cancelled", "cancellation"),
  lacking({ server: reference }, "no tool of it changes a list", "changes of a list", "live lists"),
  lacking({ server: ["filesystem"] }, "it does not announce resources", "resources", "resource templates"),
  lacking({ server: ["memory"] }, "it has no templates", "resource templates"),
  lacking({ server: small }, "it does not announce prompts", "prompts"),
  lacking({ server: small }, "it does not announce completions", "completion"),
  lacking({ server: small }, "it does not announce logging", "logs of the server"),
  lacking({ server: small }, "no tool of it reports progress", "progress"),
  lacking({ server: small }, "no tool of it asks with a form", "questions: a form", "questions answered by hand"),
  lacking({ server: small }, "no tool of it sends the user to an address", "questions: an address"),
  lacking({ server: small }, "no tool of it asks a model", "questions: a model"),
  lacking({ server: ["memory"] }, "no tool of it asks for folders", "questions: folders"),
  lacking({ server: ["filesystem"] }, "it does not announce subscriptions to resources", "changes of a resource"),
  lacking({ server: ["memory"] }, "no tool of it changes a resource", "changes of a resource")
]

const fits = ({ where: { era, forgetful, mode, over, server } }: Exception, column: Column): boolean =>
  (era === undefined || era === column.era) &&
  (forgetful === undefined || forgetful === column.forgetful) &&
  (mode === undefined || mode === column.mode) &&
  (over === undefined || over === column.over) &&
  (server === undefined || server.includes(column.server))

/** What a feature should come to in a column. */
export const expectedOf = (column: Column, name: Name): Outcome =>
  exceptions.find((exception) => exception.features.includes(name) && fits(exception, column))?.outcome ?? {
    is: "works"
  }

/** An outcome in few words. */
export const inShort = (outcome: Outcome): string => {
  switch (outcome.is) {
    case "works":
      return "works"
    case "not offered":
      return `not offered, since ${outcome.because}`
    case "error":
      return `fails with ${outcome.reason}`
  }
}
