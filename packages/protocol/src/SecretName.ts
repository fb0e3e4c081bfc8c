/**
 * Which names stand for secrets more often than not, so that what is under them is not shown: members of messages, query
 * parameters, variables of the environment.
 *
 * One table for everything that hides. It goes by names alone; a secret under a harmless name is not found.
 *
 * @since 0.1.0
 */

/**
 * Names that stand for secrets.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly names: RegExp
  /**
   * `data`: in messages too, where most names are a program's own. `settings`: only in addresses and in the environment,
   * where hiding too much does no harm.
   */
  readonly where: "data" | "settings"
  readonly because: string
}

/**
 * The table.
 *
 * @category rows
 * @since 0.1.0
 */
export const rows: ReadonlyArray<Row> = [
  { names: /passw|passphrase|^pwd$/i, where: "data", because: "people type it" },
  { names: /secret|credential/i, where: "data", because: "it says so" },
  { names: /authorization|cookie/i, where: "data", because: "headers of these names carry sign-ins" },
  { names: /(?:api|access|private|signing|secret)[-_. ]?key/i, where: "data", because: "whoever has it may act" },
  { names: /token$/i, where: "data", because: "whoever has it may act" },
  { names: /token/i, where: "settings", because: "variables go on after it: TOKEN_FOR_CI" },
  {
    names: /key(?!board)|auth(?!or(?!iz))|session|signature|^sig$/i,
    where: "settings",
    because: "signed and private addresses have them"
  },
  { names: /^code$/i, where: "settings", because: "a sign-in ends with it" },
  { names: /(?:^|_)pat$/i, where: "settings", because: "it is short for a personal access token" }
]

/** Names that only look so: places in a list, and whose progress it is. */
const harmless = /(?:progress|page|continuation)[-_]?token$/i

/** What a shell calls the folder it is in. */
const folder = /^PWD$/

const anyOf = (where: ReadonlyArray<Row["where"]>) =>
  new RegExp(
    rows
      .filter((row) => where.includes(row.where))
      .map(({ names }) => names.source)
      .join("|"),
    "i"
  )

const inData = anyOf(["data"])

/**
 * Every row as one expression, for what takes no function.
 *
 * @category rows
 * @since 0.1.0
 */
export const inSettings: RegExp = anyOf(["data", "settings"])

/**
 * Whether a member of this name in a message is better not shown.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isSecret = (name: string): boolean => inData.test(name) && !harmless.test(name)

/**
 * Whether a query parameter or a variable of this name is better not shown.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isSecretSetting = (name: string): boolean => inSettings.test(name) && !folder.test(name)
