/**
 * Questions to the person at the terminal: whether to go on, and the forms of servers. Only where both standard input
 * and output are terminals.
 *
 * @since 0.1.0
 */
import * as FormAnswer from "@mcp-effect/client/FormAnswer"
import { HandlerRefused, type Handlers } from "@mcp-effect/client/Handlers"
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Prompt from "effect/cli/Prompt"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { CommandFailed } from "./ExitCode.ts"
import * as Render from "./Render.ts"

/**
 * Whether somebody can be asked.
 *
 * @category accessors
 * @since 0.1.0
 */
export const canAsk = Effect.map(TerminalCapabilities, ({ canPrompt }) => canPrompt)

/**
 * Asks a question and gives the answer. Ctrl-C ends the command.
 *
 * @category asking
 * @since 0.1.0
 */
export const ask = <A>(prompt: Prompt.Prompt<A>) =>
  Effect.catchTag(Prompt.run(prompt), "QuitError", () =>
    Effect.fail(new CommandFailed({ exit: "interrupted", because: "" }))
  )

/**
 * Goes on only with a yes: of the person, or of `--yes`. Without a terminal and without `--yes` it fails with `denied`.
 *
 * @category asking
 * @since 0.1.0
 */
export const approve = Effect.fnUntraced(function* (question: string, yes: boolean, asking: boolean) {
  if (yes) return
  if (!asking) {
    return yield* new CommandFailed({
      exit: "denied",
      because: `${question} Nobody can be asked here; \`--yes\` says yes`
    })
  }
  const agreed = yield* ask(Prompt.Confirm({ message: question, initial: false }))
  if (!agreed) return yield* new CommandFailed({ exit: "denied", because: "not done" })
})

const fieldPrompt = (field: FormAnswer.Field): Prompt.Prompt<FormAnswer.Value | undefined> => {
  const title = Render.oneLine(field.description === undefined ? field.label : `${field.label} (${field.description})`)
  const message = field.required ? `${title} *` : title
  switch (field._tag) {
    case "YesNo":
      return Prompt.Confirm({ message, initial: field.default ?? false })
    case "One":
      return Prompt.Select<FormAnswer.Value | undefined>({
        message,
        choices: [
          ...field.choices.map(({ label, value }) => ({
            title: Render.oneLine(label),
            value,
            selected: value === field.default
          })),
          ...(field.required ? [] : [{ title: "(nothing)", value: undefined }])
        ]
      })
    case "Many":
    case "Text":
    case "Number": {
      const choices =
        field._tag === "Many" ? ` [${field.choices.map(({ value }) => Render.oneLine(value)).join(", ")}]` : ""
      const given = field.default
      return Prompt.String({
        message: `${message}${choices}`,
        ...(given === undefined ? {} : { default: Array.isArray(given) ? given.join(",") : String(given) }),
        validate: (typed) =>
          Result.match(FormAnswer.parse(field, typed), {
            onSuccess: () => Effect.succeed(typed),
            onFailure: Effect.fail
          })
      }).pipe(Prompt.map((typed) => Result.getOrElse(FormAnswer.parse(field, typed), () => undefined)))
    }
  }
}

/**
 * Lets the person fill in fields, one after the other.
 *
 * @category asking
 * @since 0.1.0
 */
export const fill = Effect.fnUntraced(function* (fields: ReadonlyArray<FormAnswer.Field>) {
  const values: Array<readonly [string, FormAnswer.Value]> = []
  for (const field of fields) {
    const value = yield* ask(fieldPrompt(field))
    if (value !== undefined) values.push([field.name, value])
  }
  return Object.fromEntries(values)
})

const form = (question: Elicitation.FormParams) =>
  Effect.gen(function* () {
    yield* Console.log(`The server asks: ${Render.oneLine(question.message)}`)
    const goes = yield* ask(
      Prompt.Select({
        message: "Answer?",
        choices: [
          { title: "yes", value: "accept" as const },
          { title: "no", value: "decline" as const },
          { title: "cancel", value: "cancel" as const }
        ]
      })
    )
    if (goes !== "accept") return { action: goes }
    return { action: goes, content: yield* fill(FormAnswer.fields(question)) }
  }).pipe(Effect.mapError(() => new HandlerRefused({ because: "the person ended the question" })))

/**
 * The handlers of a client: forms are asked in the terminal. A server is told that it may ask only where somebody can be
 * asked.
 *
 * @category handlers
 * @since 0.1.0
 */
export const handlers = (asking: boolean): Handlers<Prompt.Environment> => (asking ? { elicitation: { form } } : {})
