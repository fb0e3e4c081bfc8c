/**
 * `WWW-Authenticate` (RFC 9110 section 11): several challenges in one value, schemes and names in any case, values as
 * tokens or quoted strings (T-OAUTH-3, A-1-5). What cannot be read is skipped up to the next comma.
 */
export interface Challenge {
  /** Lower case. */
  readonly scheme: string
  /** By lower-case name; the first of several counts. */
  readonly parameters: ReadonlyMap<string, string>
}

const token = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
const blanks = /[ \t]*/y
const separators = /[ \t,]*/y
const equals = /[ \t]*=(?!=)[ \t]*/y
const quoted = /"((?:[^"\\]|\\[\s\S])*)"/y
const token68 = /[ \t]+[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y
const rubbish = /[^,]*/y
/** Longer headers are not looked at further. */
const maxLength = 16_384

export const parse = (header: string): ReadonlyArray<Challenge> => {
  const input = header.slice(0, maxLength)
  const challenges: Array<{ scheme: string; parameters: Map<string, string> }> = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(input)
    if (found === null) return undefined
    at = pattern.lastIndex
    return found
  }
  const value = (): string | undefined => {
    const text = take(quoted)?.[1]
    return text === undefined ? take(token)?.[0] : text.replaceAll(/\\([\s\S])/g, "$1")
  }

  while (at < input.length) {
    take(separators)
    if (at >= input.length) break
    const name = take(token)?.[0].toLowerCase()
    if (name === undefined) {
      take(rubbish)
      continue
    }
    if (take(equals) === undefined) {
      challenges.push({ scheme: name, parameters: new Map() })
      take(token68)
      take(blanks)
      continue
    }
    const found = value()
    if (found === undefined) {
      take(rubbish)
      continue
    }
    const parameters = challenges.at(-1)?.parameters
    if (parameters !== undefined && !parameters.has(name)) parameters.set(name, found)
  }
  return challenges
}

/** The challenge to act on: the first of the schemes that is there, else one that tells where its metadata is. */
export const choose = (challenges: ReadonlyArray<Challenge>, schemes: ReadonlyArray<string>): Challenge | undefined => {
  for (const scheme of schemes) {
    const found = challenges.find((challenge) => challenge.scheme === scheme)
    if (found !== undefined) return found
  }
  return challenges.find(({ parameters }) => parameters.has("resource_metadata"))
}
