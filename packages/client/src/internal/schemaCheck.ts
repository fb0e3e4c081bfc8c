/**
 * Checks values against a JSON Schema, within bounds. Each schema becomes a function once; a check says whether a value
 * fits, or that it came to no verdict: `undefined`, which is neither, and stays so under `not`.
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { type Bounds as Size, type Node, own, partsOf } from "./schemaParts.ts"
import { isTame } from "./tamePattern.ts"

export interface Bounds extends Size {
  /** How many times one check may look at a schema. */
  readonly steps: number
  /** The longest text that is checked with a pattern. */
  readonly costly: number
}

export interface Misfit {
  readonly pointer: string
  readonly because: string
}

/** What does not fit, or nothing; a failure when there is no verdict. */
type Check = (value: unknown) => Result.Result<Misfit | undefined, string>

/** One check that runs. */
interface Run {
  /** How many looks are left. */
  left: number
  /** Above 0 inside of alternatives, where a misfit is none of the whole. */
  quiet: number
  /** The first misfit. */
  misfit: Misfit | undefined
  readonly costly: number
}

type Place = { readonly key: string | number; readonly outer: Place } | undefined

type Verdict = boolean | undefined

/** The members and items that were looked at so far; kept only where something asks for those that were not. */
type Seen = Set<PropertyKey> | undefined

type Test = (value: unknown, at: Place, run: Run, seen: Seen) => Verdict

/** A schema that is made into a test. */
interface Making {
  /** The value of a keyword, if this dialect has it. */
  readonly of: (keyword: string) => unknown
  /** What `$ref` leads to. */
  readonly target: unknown
  readonly test: (schema: unknown) => Test
}

const pointerOf = (place: Place): string => {
  const steps: Array<string> = []
  for (let at = place; at !== undefined; at = at.outer) {
    steps.push(`/${String(at.key).replaceAll("~", "~0").replaceAll("/", "~1")}`)
  }
  return steps.toReversed().join("")
}

const misfit = (run: Run, at: Place, because: string): false => {
  if (run.quiet === 0) run.misfit ??= { pointer: pointerOf(at), because }
  return false
}

const and = (one: Verdict, other: Verdict): Verdict => {
  if (one === false || other === false) return false
  return one === undefined ? one : other
}

const always: Test = () => true
const never: Test = (_, at, run) => misfit(run, at, "is not allowed")

const all = (tests: ReadonlyArray<Test>): Test => {
  const [only = always] = tests
  if (tests.length < 2) return only
  return (value, at, run, seen) => {
    let verdict: Verdict = true
    for (const test of tests) {
      verdict = and(verdict, test(value, at, run, seen))
      if (verdict === false) return false
    }
    return verdict
  }
}

/** One of several alternatives: what it says of the value, and what it saw if that is not no. */
const tried = (test: Test, value: unknown, at: Place, run: Run, seen: Seen): Verdict => {
  const mine: Seen = seen && new Set()
  run.quiet++
  const verdict = test(value, at, run, mine)
  run.quiet--
  if (mine !== undefined && verdict !== false) for (const key of mine) seen?.add(key)
  return verdict
}

const isNumber = (value: unknown): value is number => typeof value === "number"

/** A keyword that limits what can be counted in a value; `sized` gives nothing for values it says nothing of. */
const limit =
  (
    keyword: string,
    sized: (value: unknown) => number | undefined,
    fits: (size: number, bound: number) => boolean,
    because: (bound: number) => string
  ) =>
  ({ of }: Making): Test | undefined => {
    const bound = of(keyword)
    if (!isNumber(bound)) return undefined
    return (value, at, run) => {
      const size = sized(value)
      return size === undefined || fits(size, bound) || misfit(run, at, because(bound))
    }
  }

const itself = (value: unknown) => (isNumber(value) ? value : undefined)
const items = (value: unknown) => (Array.isArray(value) ? value.length : undefined)
const members = (value: unknown) => (Predicate.isReadonlyObject(value) ? Object.keys(value).length : undefined)
const characters = (value: unknown) => {
  if (typeof value !== "string") return undefined
  let count = 0
  for (const _ of value) count++
  return count
}

const atMost = (size: number, most: number) => size <= most
const atLeast = (size: number, least: number) => size >= least

const isMultiple = (value: number, of: number): boolean => {
  const times = value / of
  return Math.abs(times - Math.round(times)) <= 2 * Number.EPSILON * Math.abs(times)
}

/** The same text for equal values. */
const canonical = (value: unknown, run: Pick<Run, "left">): string => {
  const text = JSON.stringify(value, (_, inner: unknown) =>
    Predicate.isReadonlyObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner
  )
  run.left -= Math.floor(text.length / 64)
  return text
}

const oneOfValues = (values: ReadonlyArray<unknown>): Test => {
  const allowed = new Set(values.map((value) => canonical(value, { left: 0 })))
  const because = values.length === 1 ? "is not the one value allowed" : "is none of the values allowed"
  return (value, at, run) => allowed.has(canonical(value, run)) || misfit(run, at, because)
}

const typeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)

/** Whether a pattern of the server matches; no verdict when it is not run. */
const matcher = (pattern: string): ((text: string, run: Run) => Verdict) => {
  const expression = isTame(pattern) ? new RegExp(pattern, "u") : undefined
  return (text, run) => {
    run.left--
    return expression === undefined || text.length > run.costly ? undefined : expression.test(text)
  }
}

const listed = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const entries = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  Predicate.isReadonlyObject(value) ? Object.entries(value) : []

const required = (names: ReadonlyArray<unknown>): Test =>
  all(
    names
      .filter((name) => typeof name === "string")
      .map((name): Test => {
        const because = `has no member "${excerpt(name)}"`
        return (value, at, run) =>
          !Predicate.isReadonlyObject(value) || Object.hasOwn(value, name) || misfit(run, at, because)
      })
  )

const whenHeld =
  (name: string, test: Test): Test =>
  (value, at, run, seen) =>
    !Predicate.isReadonlyObject(value) || !Object.hasOwn(value, name) || test(value, at, run, seen)

const ofMembers = ({ of, test }: Making): Test | undefined => {
  const named = new Map(entries(of("properties")).map(([name, schema]) => [name, test(schema)]))
  const patterns = entries(of("patternProperties")).map(
    ([pattern, schema]) => [matcher(pattern), test(schema)] as const
  )
  const others = of("additionalProperties")
  const rest = others === undefined ? undefined : test(others)
  if (named.size === 0 && patterns.length === 0 && rest === undefined) return undefined
  return (value, at, run, seen) => {
    if (!Predicate.isReadonlyObject(value)) return true
    let verdict: Verdict = true
    for (const key of Object.keys(value)) {
      const inner = value[key]
      const place = { key, outer: at }
      const mine = named.get(key)
      let met = mine !== undefined
      if (mine !== undefined) verdict = and(verdict, mine(inner, place, run, undefined))
      for (const [matches, test] of patterns) {
        const match = matches(key, run)
        if (match === false) continue
        met = true
        verdict = and(verdict, match && test(inner, place, run, undefined))
      }
      if (!met && rest !== undefined) {
        met = true
        verdict = and(verdict, rest(inner, place, run, undefined))
      }
      if (verdict === false) return false
      if (met) seen?.add(key)
    }
    return verdict
  }
}

const ofItems = ({ of, test }: Making): Test | undefined => {
  const items = of("items")
  const tuple = listed(Array.isArray(items) ? items : of("prefixItems")).map(test)
  const others = Array.isArray(items) ? of("additionalItems") : items
  const rest = others === undefined ? undefined : test(others)
  if (tuple.length === 0 && rest === undefined) return undefined
  return (value, at, run, seen) => {
    if (!Array.isArray(value)) return true
    let verdict: Verdict = true
    for (const [key, item] of value.entries()) {
      const test = tuple[key] ?? rest
      if (test === undefined) break
      verdict = and(verdict, test(item, { key, outer: at }, run, undefined))
      if (verdict === false) return false
      seen?.add(key)
    }
    return verdict
  }
}

const containing = ({ of, test }: Making): Test | undefined => {
  const wanted = of("contains")
  if (wanted === undefined) return undefined
  const fits = test(wanted)
  const [least = 1, most = Number.POSITIVE_INFINITY] = [of("minContains"), of("maxContains")].map(itself)
  return (value, at, run, seen) => {
    if (!Array.isArray(value)) return true
    let found = 0
    let doubtful = 0
    for (const [key, item] of value.entries()) {
      const verdict = tried(fits, item, at, run, undefined)
      if (verdict !== false) seen?.add(key)
      if (verdict === true) found++
      if (verdict === undefined) doubtful++
    }
    if (found > most) return misfit(run, at, `holds more than ${most} items of a kind it may hold few of`)
    if (found + doubtful < least) return misfit(run, at, `holds fewer than ${least} items of a kind it must hold`)
    return found >= least && found + doubtful <= most ? true : undefined
  }
}

const uniquely = ({ of }: Making): Test | undefined =>
  of("uniqueItems") === true
    ? (value, at, run) =>
        !Array.isArray(value) ||
        new Set(value.map((item) => canonical(item, run))).size === value.length ||
        misfit(run, at, "holds an item twice")
    : undefined

const byName = ({ of, test }: Making): Test | undefined => {
  const names = of("propertyNames")
  if (names === undefined) return undefined
  const fits = test(names)
  return (value, at, run) => {
    if (!Predicate.isReadonlyObject(value)) return true
    let verdict: Verdict = true
    for (const key of Object.keys(value)) {
      verdict = and(verdict, tried(fits, key, at, run, undefined))
      if (verdict === false) return misfit(run, { key, outer: at }, "has a name that is not allowed")
    }
    return verdict
  }
}

const any = ({ of, test }: Making): Test | undefined => {
  const branches = listed(of("anyOf")).map(test)
  if (branches.length === 0) return undefined
  return (value, at, run, seen) => {
    let verdict: Verdict = false
    for (const branch of branches) {
      const one = tried(branch, value, at, run, seen)
      if (one === true && seen === undefined) return true
      if (one !== false) verdict = one ?? (verdict || undefined)
    }
    return verdict === false ? misfit(run, at, `fits none of ${branches.length} alternatives`) : verdict
  }
}

const exactlyOne = ({ of, test }: Making): Test | undefined => {
  const branches = listed(of("oneOf")).map(test)
  if (branches.length === 0) return undefined
  return (value, at, run, seen) => {
    let found = 0
    let doubtful = false
    for (const branch of branches) {
      const one = tried(branch, value, at, run, seen)
      if (one === undefined) doubtful = true
      if (one === true && ++found > 1) return misfit(run, at, "fits more than one of several alternatives")
    }
    if (doubtful) return undefined
    return found === 1 || misfit(run, at, `fits none of ${branches.length} alternatives`)
  }
}

const not = ({ of, test }: Making): Test | undefined => {
  const refused = of("not")
  if (refused === undefined) return undefined
  const fits = test(refused)
  return (value, at, run) => {
    const verdict = tried(fits, value, at, run, undefined)
    if (verdict === true) return misfit(run, at, "is of a kind that is not allowed")
    return verdict === false ? true : undefined
  }
}

const conditionally = ({ of, test }: Making): Test | undefined => {
  const condition = of("if")
  if (condition === undefined) return undefined
  const met = test(condition)
  const then = test(of("then"))
  const otherwise = test(of("else"))
  return (value, at, run, seen) => {
    const verdict = tried(met, value, at, run, seen)
    return verdict === undefined ? undefined : (verdict ? then : otherwise)(value, at, run, seen)
  }
}

/** What nothing before has looked at. */
const unseen =
  (keyword: "unevaluatedItems" | "unevaluatedProperties", applies: (value: unknown) => value is object) =>
  ({ of, test }: Making): Test | undefined => {
    const others = of(keyword)
    if (others === undefined) return undefined
    const fits = test(others)
    return (value, at, run, seen) => {
      if (!applies(value)) return true
      let verdict: Verdict = true
      for (const [name, inner] of Object.entries(value)) {
        const key = Array.isArray(value) ? Number(name) : name
        if (seen?.has(key) === true) continue
        verdict = and(verdict, fits(inner, { key, outer: at }, run, undefined))
        if (verdict === false) return false
        seen?.add(key)
      }
      return verdict
    }
  }

/** The keywords. The first that does not fit is told, so the plain ones stand first; what was seen is known at the end. */
const keywords: ReadonlyArray<(making: Making) => Test | undefined> = [
  ({ of }) => {
    const types = [of("type")].flat().filter((type) => typeof type === "string")
    const because = types.map((type) => excerpt(type)).join(" or ")
    if (types.length === 0) return undefined
    return (value, at, run) =>
      types.includes(typeOf(value)) ||
      (types.includes("integer") && Number.isInteger(value)) ||
      misfit(run, at, `is of type ${typeOf(value)} instead of ${because}`)
  },
  ({ of }) => (Array.isArray(of("enum")) ? oneOfValues(listed(of("enum"))) : undefined),
  ({ of }) => (of("const") === undefined ? undefined : oneOfValues([of("const")])),
  limit("maximum", itself, atMost, (most) => `is more than ${most}`),
  limit("minimum", itself, atLeast, (least) => `is less than ${least}`),
  limit(
    "exclusiveMaximum",
    itself,
    (value, bound) => value < bound,
    (bound) => `is not less than ${bound}`
  ),
  limit(
    "exclusiveMinimum",
    itself,
    (value, bound) => value > bound,
    (bound) => `is not more than ${bound}`
  ),
  limit("multipleOf", itself, isMultiple, (of) => `is no multiple of ${of}`),
  limit("maxLength", characters, atMost, (most) => `is longer than ${most} characters`),
  limit("minLength", characters, atLeast, (least) => `is shorter than ${least} characters`),
  limit("maxItems", items, atMost, (most) => `has more than ${most} items`),
  limit("minItems", items, atLeast, (least) => `has fewer than ${least} items`),
  limit("maxProperties", members, atMost, (most) => `has more than ${most} members`),
  limit("minProperties", members, atLeast, (least) => `has fewer than ${least} members`),
  ({ of }) => {
    const pattern = of("pattern")
    if (typeof pattern !== "string") return undefined
    const matches = matcher(pattern)
    return (value, at, run) => {
      const verdict = typeof value !== "string" || matches(value, run)
      return verdict === false ? misfit(run, at, "does not match its pattern") : verdict
    }
  },
  ({ of }) => required(listed(of("required"))),
  ({ of, test }) =>
    all(
      ["dependentRequired", "dependentSchemas", "dependencies"]
        .flatMap((keyword) => entries(of(keyword)))
        .map(([name, needed]) => whenHeld(name, Array.isArray(needed) ? required(needed) : test(needed)))
    ),
  byName,
  ofMembers,
  ofItems,
  uniquely,
  containing,
  ({ target, test }) => (target === undefined ? undefined : test(target)),
  ({ of, test }) => all(listed(of("allOf")).map(test)),
  any,
  exactlyOne,
  not,
  conditionally,
  unseen("unevaluatedItems", Array.isArray),
  unseen("unevaluatedProperties", Predicate.isReadonlyObject)
]

/** Keywords that draft-07 does not have, and the one that it alone has. */
const newer = new Set([
  "dependentRequired",
  "dependentSchemas",
  "maxContains",
  "minContains",
  "prefixItems",
  "unevaluatedItems",
  "unevaluatedProperties"
])
const older = new Set(["additionalItems"])

const saying = (error: unknown): string =>
  error instanceof RangeError ? "it refers to itself without end, or the value nests too deep" : "it failed"

export const checkWith = (schema: Node, bounds: Bounds): Result.Result<Check, string> =>
  Result.gen(function* () {
    const { dialect, targets } = yield* partsOf(schema, bounds)
    const missing = dialect === "draft-07" ? newer : older
    const made = new Map<Node, Test>()

    const test = (node: unknown): Test => {
      if (node === false) return never
      if (!Predicate.isReadonlyObject(node)) return always
      const known = made.get(node)
      if (known !== undefined) return known
      const target = targets.get(node)
      // Beside a reference of draft-07 nothing counts.
      const alone = dialect === "draft-07" && target !== undefined
      const of = (keyword: string) => (alone || missing.has(keyword) ? undefined : own(node, keyword))
      const seeing = of("unevaluatedItems") !== undefined || of("unevaluatedProperties") !== undefined
      let whole = always
      const mine: Test = (value, at, run, seen) => {
        if (--run.left < 0) return undefined
        if (!seeing) return whole(value, at, run, seen)
        const all = new Set<PropertyKey>()
        const verdict = whole(value, at, run, all)
        if (seen !== undefined && verdict !== false) for (const key of all) seen.add(key)
        return verdict
      }
      made.set(node, mine)
      whole = all(keywords.map((keyword) => keyword({ of, target, test }) ?? always).filter((one) => one !== always))
      return mine
    }

    const root = yield* Result.try({ try: () => test(schema), catch: saying })
    return (value) => {
      const run: Run = { left: bounds.steps, quiet: 0, misfit: undefined, costly: bounds.costly }
      const verdict = Result.try({ try: () => root(value, undefined, run, undefined), catch: saying })
      return Result.flatMap(verdict, (fits) => {
        if (fits === undefined) {
          return Result.fail(
            run.left < 0
              ? `it takes more than ${bounds.steps} steps (MaxCheckSteps)`
              : "its verdict rests on patterns that are not checked"
          )
        }
        return Result.succeed(fits ? undefined : (run.misfit ?? { pointer: "", because: "does not fit" }))
      })
    }
  })
