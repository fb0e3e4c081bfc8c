/**
 * Writing a value for one revision: members and kinds of values that it does not know are left out, replaced by
 * something older that says the same, or refused.
 *
 * A projection is compiled once per type and revision. Where a type looks the same in the newest revision and in the
 * one asked for, the projection is the identity and copies nothing.
 */
import type * as SchemaAST from "effect/SchemaAST"
import * as Version from "../Version.ts"
import { isObject, kindNote, memberNote, select, type Node } from "./node.ts"
import { pointer } from "./pointer.ts"
import type { Note } from "./shape.ts"

/** Something left out or replaced on the way to an older revision. */
export interface Dropped {
  readonly pointer: string
  readonly because: string
}

/** What happened during one projection. */
export interface Journal {
  readonly dropped: Array<Dropped>
  refused: Dropped | undefined
}

type Path = ReadonlyArray<PropertyKey>
type Projection = (value: unknown, at: Path, journal: Journal) => unknown

const oldestFirst: ReadonlyArray<Version.Version> = [...Version.modern, ...Version.legacy].toReversed()

const rank = (version: Version.Version): number => oldestFirst.indexOf(version)

/** Whether a revision has what a note describes. */
export const available = (note: Note | undefined, version: Version.Version): boolean =>
  (note?.from === undefined || rank(note.from) <= rank(version)) &&
  (note?.to === undefined || rank(version) <= rank(note.to))

const leftOut = Symbol()

const refuse = (at: Path, version: Version.Version, journal: Journal): undefined => {
  journal.refused ??= { pointer: pointer(at), because: `${version} cannot carry it` }
  return undefined
}

const report = (at: Path, because: string, journal: Journal) => {
  journal.dropped.push({ pointer: pointer(at), because })
}

const memberProjection = (node: Node, version: Version.Version): Projection | undefined => {
  const note = memberNote(node)
  const child = compile(node, version)
  if (!available(note, version)) {
    return (_, at, journal) => {
      if (note?.essential === true) refuse(at, version, journal)
      else if (note?.quiet !== true) report(at, `${version} does not have it`, journal)
      return leftOut
    }
  }
  const adapt = note?.adapt
  if (adapt === undefined) return child
  return (value, at, journal) => {
    const adapted = adapt(value, version)
    if (adapted !== undefined) return child === undefined ? adapted : child(adapted, at, journal)
    report(at, `${version} cannot carry it`, journal)
    return leftOut
  }
}

const objectProjection = (node: SchemaAST.Objects, version: Version.Version): Projection | undefined => {
  const members = node.propertySignatures.flatMap(({ name, type }) => {
    const projection = typeof name === "string" ? memberProjection(type, version) : undefined
    return typeof name === "string" && projection !== undefined ? [{ name, projection }] : []
  })
  const rest = node.indexSignatures[0]?.type
  const entry = rest === undefined ? undefined : compile(rest, version)
  if (members.length === 0 && entry === undefined) return undefined
  const known = new Set(node.propertySignatures.map(({ name }) => name))
  return (value, at, journal) => {
    if (!isObject(value)) return value
    if (entry === undefined && !members.some(({ name }) => Object.hasOwn(value, name))) return value
    const changes = new Map<string, unknown>()
    for (const { name, projection } of members) {
      if (Object.hasOwn(value, name)) changes.set(name, projection(value[name], [...at, name], journal))
    }
    if (entry !== undefined) {
      for (const key of Object.keys(value)) {
        if (!known.has(key)) changes.set(key, entry(value[key], [...at, key], journal))
      }
    }
    return apply(value, changes)
  }
}

const apply = (value: { readonly [key: string]: unknown }, changes: ReadonlyMap<string, unknown>) => {
  if (changes.size === 0) return value
  const entries = Object.entries(value).map(([key, was]): [string, unknown] => [
    key,
    changes.has(key) ? changes.get(key) : was
  ])
  return Object.fromEntries(entries.filter(([, now]) => now !== leftOut))
}

const arrayProjection = (node: SchemaAST.Arrays, version: Version.Version): Projection | undefined => {
  const item = node.rest[0] === undefined ? undefined : compile(node.rest[0], version)
  if (item === undefined) return undefined
  return (value, at, journal) =>
    Array.isArray(value) ? value.map((each: unknown, index) => item(each, [...at, index], journal)) : value
}

const unionProjection = (node: SchemaAST.Union, version: Version.Version): Projection | undefined => {
  const members = new Map(
    node.types.map((type) => [
      type,
      { note: kindNote(type), known: available(kindNote(type), version), inner: structure(type, version) }
    ])
  )
  if ([...members.values()].every(({ known, inner }) => known && inner === undefined)) return undefined
  const projection: Projection = (value, at, journal) => {
    const chosen = select(node, value)
    const member = chosen === undefined ? undefined : members.get(chosen)
    if (member === undefined) return value
    if (member.known) return member.inner === undefined ? value : member.inner(value, at, journal)
    const instead = member.note?.degrade?.(value)
    if (instead === undefined) return refuse(at, version, journal)
    report(at, `${version} does not have this kind of value; it was replaced`, journal)
    return projection(instead, at, journal)
  }
  return projection
}

const structure = (node: Node, version: Version.Version): Projection | undefined => {
  switch (node._tag) {
    case "Objects":
      return objectProjection(node, version)
    case "Arrays":
      return arrayProjection(node, version)
    case "Union":
      return unionProjection(node, version)
    default:
      return undefined
  }
}

/** The projection of a type to a revision; `undefined` is the identity. */
export const compile = (node: Node, version: Version.Version): Projection | undefined => {
  const note = kindNote(node)
  if (available(note, version)) return structure(node, version)
  return (value, at, journal) => note?.degrade?.(value) ?? refuse(at, version, journal)
}
