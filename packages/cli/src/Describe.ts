/**
 * One tool or one prompt, with all that there is to know before it is used.
 *
 * @since 0.1.0
 */
import type * as Prompt from "@mcp-effect/protocol/Prompt"
import type * as Tool from "@mcp-effect/protocol/Tool"
import * as Arguments from "./Arguments.ts"
import * as Render from "./Render.ts"
import type { Screen } from "./Screen.ts"

type Section = readonly [title: string, body: string]

const sections = (name: string, all: ReadonlyArray<Section>, on: Screen) =>
  [
    on.paint("bold", Render.oneLine(name)),
    ...all.flatMap(([title, body]) => {
      if (body === "") return []
      return title === "" ? [body] : [`\n${on.paint("dim", title)}\n${body}`]
    })
  ].join("\n")

const indented = (text: string | undefined, on: Screen) =>
  text === undefined
    ? ""
    : Render.lines(text.trim())
        .split("\n")
        .map((line) => (line === "" ? line : Render.broken(`  ${line}`, on.breakAt, 2)))
        .join("\n")

const rows = (
  list: ReadonlyArray<{ readonly name: string; readonly required: boolean; readonly about: string }>,
  on: Screen
) => {
  const named = list.map(
    ({ about, name, required }) => [`${Render.oneLine(name)}${required ? " *" : ""}`, about] as const
  )
  const widest = Math.max(0, ...named.map(([name]) => Render.wide(name)))
  const column = Math.min(Math.floor(on.columns / 3), widest) + 4
  return named
    .map(([name, about]) => {
      const called = `  ${name}`
      const fits = Render.wide(called) + 2 <= column
      const line = `${Render.pad(fits ? called : "", column)}${Render.oneLine(about)}`
      const text = Render.broken(line, on.breakAt, column).trimEnd()
      return fits ? text : `${called}\n${text}`.trimEnd()
    })
    .join("\n")
}

const typed = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

/**
 * A tool: what it does, whether it may destroy something, and its arguments, of which those with `*` have to be given.
 *
 * @category formatting
 * @since 0.1.0
 */
export const tool = ({ annotations, description, inputSchema, name, title }: Tool.Tool, on: Screen): string => {
  const fields = Arguments.fields(inputSchema).map((field) => {
    const types = Arguments.typesOf(inputSchema, field.key).join(" or ")
    const choices = Arguments.choicesOf(inputSchema, field.key)
    const about = [
      choices === undefined ? types : `one of ${choices.map(typed).join(", ")}`,
      field.default === undefined ? "" : `${typed(field.default)} by default`,
      field.description ?? ""
    ]
    return { name: field.key, required: field.required, about: about.filter((part) => part !== "").join("; ") }
  })
  const effects =
    annotations?.readOnlyHint === true
      ? "It says of itself that it only reads."
      : annotations?.destructiveHint === false
        ? "It says of itself that it changes something and destroys nothing."
        : "It may destroy something: `call` asks first, unless --yes is given."
  return sections(
    name,
    [
      ["", indented(description ?? title, on)],
      ["", Render.broken(`  ${effects}`, on.breakAt, 2)],
      ["arguments", rows(fields, on) || "  none"]
    ],
    on
  )
}

/**
 * A prompt and its arguments, of which those with `*` have to be given.
 *
 * @category formatting
 * @since 0.1.0
 */
export const prompt = ({ arguments: args = [], description, name, title }: Prompt.Prompt, on: Screen): string => {
  const fields = args.map((one) => ({
    name: one.name,
    required: one.required === true,
    about: one.description ?? one.title ?? ""
  }))
  return sections(
    name,
    [
      ["", indented(description ?? title, on)],
      ["arguments", rows(fields, on) || "  none"]
    ],
    on
  )
}
