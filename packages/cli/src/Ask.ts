/**
 * Questions to the person at the terminal: whether to go on, and the forms and addresses of servers. Only where both
 * standard input and output are terminals.
 *
 * @since 0.1.0
 */
import * as Browser from "@mcp-effect/client/Browser"
import * as FormAnswer from "@mcp-effect/client/FormAnswer"
import type { Handlers } from "@mcp-effect/client/Handlers"
import * as OpenUrl from "@mcp-effect/client/OpenUrl"
import type * as Elicitation from "@mcp-effect/protocol/Elicitation"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Prompt from "effect/cli/Prompt"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import { CommandFailed } from "./ExitCode.ts"
import * as Progress from "./Progress.ts"
import * as Render from "./Render.ts"
import { screen } from "./Screen.ts"

/**
 * Whether somebody can be asked.
 *
 * @category accessors
 * @since 0.1.0
 */
export const canAsk = Effect.map(TerminalCapabilities, ({ canPrompt }) => canPrompt)

/**
 * Asks a question and gives the answer. Ctrl-C fails with `interrupted`, and leaves the line of the question.
 *
 * @category asking
 * @since 0.1.0
 */
export const ask = <A>(prompt: Prompt.Prompt<A>) =>
  Effect.catchTag(Prompt.run(prompt), "QuitError", () =>
    Effect.andThen(Console.log(""), Effect.fail(new CommandFailed({ exit: "interrupted", because: "" })))
  )

/**
 * Opens addresses in the person's browser. Where none opens, the person is told to do it.
 *
 * @category layers
 * @since 0.1.0
 */
export const browser = Layer.effect(
  Browser.Browser,
  Effect.map(Browser.Browser, (opener) => ({
    open: (address: URL) =>
      Effect.catch(opener.open(address), () => Console.error("note: no browser was opened; open the address yourself"))
  }))
).pipe(Layer.provide(Browser.layer()))

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
    case "Many": {
      const { choices, default: given = [], maxItems, minItems = 0, required } = field
      const bounds = minItems > 0 ? `, at least ${minItems}${required ? "" : " or none"}` : ""
      return Prompt.MultiSelect<string>({
        message: `${message}${bounds}`,
        choices: choices.map(({ label, value }) => ({
          title: Render.oneLine(label),
          value,
          selected: given.includes(value)
        })),
        ...(required ? { min: minItems } : {}),
        ...(maxItems === undefined ? {} : { max: maxItems })
      }).pipe(
        Prompt.flatMap((picked): Prompt.Prompt<FormAnswer.Value | undefined> => {
          if (picked.length === 0 && !required) return Prompt.succeed(undefined)
          return picked.length < minItems ? fieldPrompt(field) : Prompt.succeed(picked)
        })
      )
    }
    case "Text":
    case "Number": {
      const given = field.default
      return Prompt.String({
        message,
        ...(given === undefined ? {} : { default: String(given) }),
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

const consent = (message: string, first: Elicitation.Result["action"]) => {
  const choices = [
    { title: "yes", value: "accept" as const },
    { title: "no", value: "decline" as const },
    { title: "cancel", value: "cancel" as const }
  ]
  return ask(
    Prompt.Select({ message, choices: choices.map((choice) => ({ ...choice, selected: choice.value === first })) })
  )
}

const form = (question: Elicitation.FormParams) =>
  Effect.gen(function* () {
    yield* Progress.leave
    yield* Console.log(`The server asks: ${Render.oneLine(question.message)}`)
    const goes = yield* consent("Answer?", "accept")
    if (goes !== "accept") return { action: goes }
    return { action: goes, content: yield* fill(FormAnswer.fields(question)) }
  })

/** Shows the whole address and whose it is. What is chosen beforehand is not to open it. */
const address = (browser: Browser.Browser["Service"], onQuit: (error: CommandFailed) => Effect.Effect<unknown>) =>
  OpenUrl.handler({
    ask: ({ host, shown, warnings }, { message }) =>
      Effect.gen(function* () {
        yield* Progress.leave
        yield* Console.log(`The server asks you to open an address: ${Render.oneLine(message)}`)
        const beware = warnings.map((warning) => ["beware", warning] as const)
        yield* Console.log(Render.facts([["address", shown], ["host", host], ...beware], yield* screen))
        return yield* consent("Open it in your browser?", "decline")
      }).pipe(Effect.catch((error) => Effect.as(onQuit(error), "cancel" as const))),
    open: browser.open
  })

/**
 * The handlers of a client: forms are asked in the terminal, addresses shown there and opened after a yes. A server is told
 * that it may ask only where somebody can be asked. A question that the person leaves is answered with `cancel`, and
 * `onQuit` hears of it.
 *
 * @category handlers
 * @since 0.1.0
 */
export const handlers = (
  asking: boolean,
  onQuit: (error: CommandFailed) => Effect.Effect<unknown> = () => Effect.void
): Effect.Effect<Handlers<Prompt.Environment>, never, ChildProcessSpawner | Scope.Scope> =>
  asking
    ? Effect.map(Layer.build(browser), (context) => ({
        elicitation: {
          form: (question) =>
            Effect.catch(form(question), (error) => Effect.as(onQuit(error), { action: "cancel" as const })),
          url: address(Context.get(context, Browser.Browser), onQuit)
        }
      }))
    : Effect.succeed({})
