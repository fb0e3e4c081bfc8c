/** Sets of scopes: in the order they came, each once. */
export type Scopes = ReadonlyArray<string>

export const parse = (text: string | undefined): Scopes =>
  text === undefined ? [] : [...new Set(text.split(" ").filter((scope) => scope !== ""))]

export const union = (...sets: ReadonlyArray<Scopes>): Scopes => [...new Set(sets.flat())]

/** What the `scope` parameter holds; nothing when there are none. */
export const format = (scopes: Scopes): string | undefined => (scopes.length === 0 ? undefined : scopes.join(" "))

/** Names the set, whatever its order. */
export const keyOf = (scopes: Scopes): string => scopes.toSorted().join(" ")
