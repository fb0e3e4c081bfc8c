/**
 * Placeholders in texts: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`, and `~` at the beginning of a path.
 *
 * Values are not expanded again. `$VAR` and `%VAR%` are texts like any other. `$${` stands for `${`, `$~` for `~`.
 */

/** A part of a text. */
export type Part =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Variable"; readonly name: string; readonly otherwise: string | undefined }
  | { readonly _tag: "Input"; readonly id: string }
  | { readonly _tag: "Unknown"; readonly text: string }

const placeholder = /\$\$\{|\$\{([^}]*)\}/g
const variable = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/
const foreign = /^[A-Za-z]+:/
const home = /^~(?=$|[\\/])/
const keptHome = /^\$+~(?=$|[\\/])/

const read = (inside: string): Part => {
  const [, name, otherwise] = variable.exec(inside) ?? []
  if (name !== undefined) return { _tag: "Variable", name, otherwise }
  if (inside.startsWith("input:")) return { _tag: "Input", id: inside.slice("input:".length) }
  return foreign.test(inside) ? { _tag: "Unknown", text: inside } : { _tag: "Text", text: `\${${inside}}` }
}

/** The variables that may say where a user's files are, the first that is set counts. */
export const homes = ["HOME", "USERPROFILE"]

/** The name under which the home is looked up. */
export const homeName = "~"

/** Takes a text apart. `path` says whether a `~` at the beginning is the user's home. */
export const parts = (text: string, path: boolean): ReadonlyArray<Part> => {
  const found: Array<Part> = []
  const add = (text: string) => {
    if (text !== "") found.push({ _tag: "Text", text })
  }
  let rest = text
  if (path && home.test(text)) {
    found.push({ _tag: "Variable", name: homeName, otherwise: undefined })
    rest = text.slice(1)
  } else if (path && keptHome.test(text)) rest = text.slice(1)
  let at = 0
  for (const match of rest.matchAll(placeholder)) {
    add(rest.slice(at, match.index))
    at = match.index + match[0].length
    if (match[1] === undefined) add("${")
    else found.push(read(match[1]))
  }
  add(rest.slice(at))
  return found
}

/** Writes a text so that reading it gives the text. */
export const escape = (text: string, path: boolean): string => {
  const kept = text.replaceAll("${", "$$${")
  return path && /^\$*~(?=$|[\\/])/.test(kept) ? `$${kept}` : kept
}

/** Whether reading the text gives anything but the text. */
export const hasPlaceholder = (text: string, path: boolean): boolean =>
  parts(text, path).some((part) => part._tag !== "Text")

/** A text with what may stand in it: the same text reads differently where `~` means something. */
export const key = (text: string, path: boolean): string => `${path ? "path" : "text"}:${text}`
