/** Hides secrets in lines: the values of entries, and what looks like a secret wherever it comes from. */
import * as SecretName from "@mcp-effect/protocol/SecretName"
import * as Redacted from "effect/Redacted"
import type { ServerEntry } from "../ServerEntry.ts"

export interface Secrets {
  /** Hides the secrets of an entry from now on, also when the entry is gone. */
  readonly learn: (entry: ServerEntry) => void
  readonly hide: (secret: string) => void
  readonly clean: (text: string) => string
}

const hidden = "<redacted>"

/** Shorter values occur in ordinary words: `1`, `true`, `info`. */
const shortest = 6

/** How many values are remembered; the oldest are forgotten. */
const most = 4_096

const named =
  (isSecretName: (name: string) => boolean) =>
  (found: string, before: string, name: string): string =>
    isSecretName(name) ? `${before}${hidden}` : found

/** Where secrets stand in texts. What depends on a name is decided by the table of names. */
const hideKnownPlaces = (text: string): string =>
  text
    .replaceAll(/\b(Bearer|Basic|DPoP) +[A-Za-z0-9._~+/=-]+/gi, `$1 ${hidden}`)
    .replaceAll(/(\/\/)[^\s/@]+@/g, `$1${hidden}@`)
    .replaceAll(/([?&#;]([\w.-]+)=)[^&#\s"'<>]+/g, named(SecretName.isSecretSetting))
    .replaceAll(/("([\w.-]+)"\s*:\s*")(?:[^"\\]|\\.)*(?=")/g, named(SecretName.isSecret))
    .replaceAll(
      /\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)(\s*[:=]\s*)(?!<)(?:(?:Bearer|Basic|DPoP) )?[^\s,;"']+/gi,
      `$1$2${hidden}`
    )

/** One line of a text: what a server says cannot begin a line of its own. */
export const oneLine = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) =>
    character === "\n" ? "\\n" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

export const make = (): Secrets => {
  const values = new Set<string>()
  const known = new WeakSet<ServerEntry>()
  let longestFirst: ReadonlyArray<string> = []
  const hide = (secret: string) => {
    if (secret.length < shortest || values.has(secret)) return
    values.add(secret)
    const [oldest] = values
    if (values.size > most && oldest !== undefined) values.delete(oldest)
    longestFirst = [...values].toSorted((a, b) => b.length - a.length)
  }
  return {
    hide,
    learn: (entry) => {
      if (known.has(entry)) return
      known.add(entry)
      const redacted =
        entry.type === "stdio"
          ? [...Object.values(entry.env), ...entry.args.filter((arg) => typeof arg !== "string")]
          : Object.values(entry.headers)
      for (const value of redacted) {
        const secret = Redacted.value(value)
        if (typeof secret !== "string") continue
        hide(secret)
        hide(secret.replace(/^(?:Bearer|Basic) +/i, ""))
      }
    },
    clean: (text) => {
      let clean = text
      for (const secret of longestFirst) clean = clean.replaceAll(secret, hidden)
      return oneLine(hideKnownPlaces(clean))
    }
  }
}
