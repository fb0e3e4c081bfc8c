/**
 * Whether a regular expression of a server's may be run. Some take time that grows without bound with the text, and the
 * server writes both; so only plain ones run.
 */
import * as Result from "effect/Result"

const longest = 512
/** Each open end multiplies the ways in which a text can be cut up. */
const mostOpenEnds = 2
const manyTimes = 100

/** A part in round brackets; the whole is one too. */
interface Group {
  /** It can match texts of several lengths, or in several ways. */
  varies: boolean
}

interface Repetition {
  /** The length of its text. */
  readonly length: number
  readonly most: number
}

const curly = /^\{(\d{1,6})(,(\d{1,6})?)?\}/

const repetitionAt = (pattern: string, at: number): Repetition | undefined => {
  switch (pattern[at]) {
    case "?":
      return { length: 1, most: 1 }
    case "*":
    case "+":
      return { length: 1, most: Number.POSITIVE_INFINITY }
    case "{": {
      const [whole, least, comma, most] = curly.exec(pattern.slice(at, at + 16)) ?? []
      if (whole === undefined) return undefined
      if (comma === undefined) return { length: whole.length, most: Number(least) }
      return { length: whole.length, most: most === undefined ? Number.POSITIVE_INFINITY : Number(most) }
    }
    default:
      return undefined
  }
}

const endOfClass = (pattern: string, from: number): number => {
  let at = from + 1
  while (at < pattern.length && pattern[at] !== "]") at += pattern[at] === "\\" ? 2 : 1
  return at + 1
}

const isValid = (pattern: string): boolean => Result.isSuccess(Result.try(() => new RegExp(pattern, "u")))

/**
 * Whether a pattern is plain: no repetition of what can vary, at most two open ends, nothing that looks back at what was
 * matched, at most 512 characters; and whether it is a regular expression at all.
 */
export const isTame = (pattern: unknown): pattern is string => {
  if (typeof pattern !== "string" || pattern.length > longest || !isValid(pattern)) return false
  const groups: Array<Group> = [{ varies: false }]
  let openEnds = 0
  let at = 0
  while (at < pattern.length) {
    const start = pattern[at]
    let closed: Group | undefined
    if (start === "(") {
      groups.push({ varies: false })
      at++
      if (pattern[at] === "?") at = pattern[at + 1] === "<" ? at + 3 : at + 2
      continue
    }
    const group = groups.at(-1)
    if (group === undefined) return false
    if (start === "|") {
      group.varies = true
      at++
      continue
    }
    if (start === ")") {
      closed = groups.pop()
      at++
    } else if (start === "[") at = endOfClass(pattern, at)
    else if (start === "\\") {
      if (/[1-9k]/.test(pattern[at + 1] ?? "")) return false
      at += 2
    } else at++
    const around = groups.at(-1)
    if (around === undefined) return false
    if (closed?.varies === true) around.varies = true
    const repetition = repetitionAt(pattern, at)
    if (repetition === undefined) continue
    at += repetition.length
    if (pattern[at] === "?") at++
    around.varies = true
    if (repetition.most > 1 && closed?.varies === true) return false
    if (repetition.most > manyTimes && ++openEnds > mostOpenEnds) return false
  }
  return true
}
