/** A bounded map of JSON values in groups; the value not used for longest goes first. */

export interface Lru<A> {
  readonly get: (id: string) => A | undefined
  readonly set: (group: string, id: string, value: A, weighed: unknown) => void
  readonly drop: (group: string) => void
}

interface Kept<A> {
  readonly group: string
  readonly value: A
  readonly weight: number
}

/** Characters and values, as far as it matters whether there are more than `most`. */
const weigh = (value: unknown, most: number): number => {
  if (typeof value === "string") return 1 + value.length
  if (typeof value !== "object" || value === null) return 1
  let weight = 1
  for (const [key, item] of Object.entries(value)) {
    weight += key.length + weigh(item, most - weight)
    if (weight > most) break
  }
  return weight
}

export const lru = <A>(bounds: { readonly entries: number; readonly size: number }): Lru<A> => {
  // A Map keeps the order of insertion, so its first key is the one not used for longest.
  const kept = new Map<string, Kept<A>>()
  const groups = new Map<string, Set<string>>()
  let size = 0

  const remove = (id: string) => {
    const found = kept.get(id)
    if (found === undefined) return
    kept.delete(id)
    size -= found.weight
    const group = groups.get(found.group)
    group?.delete(id)
    if (group?.size === 0) groups.delete(found.group)
  }

  return {
    get: (id) => {
      const found = kept.get(id)
      if (found === undefined) return undefined
      kept.delete(id)
      kept.set(id, found)
      return found.value
    },
    set: (group, id, value, weighed) => {
      remove(id)
      const most = bounds.size / 4
      const weight = group.length + id.length + weigh(weighed, most)
      if (weight > most) return
      kept.set(id, { group, value, weight })
      size += weight
      const members = groups.get(group) ?? new Set()
      groups.set(group, members.add(id))
      for (const oldest of kept.keys()) {
        if (kept.size <= bounds.entries && size <= bounds.size) break
        remove(oldest)
      }
    },
    drop: (group) => {
      for (const id of groups.get(group) ?? []) remove(id)
    }
  }
}
