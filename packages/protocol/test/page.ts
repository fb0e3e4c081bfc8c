/**
 * Prints the tables of the page `docs/protocol.md`, from the code that runs.
 *
 * `node packages/protocol/test/page.ts` prints them; with `--write` they replace what stands between the markers of
 * the page.
 */
import { fileURLToPath } from "node:url"
import { type Parts, print, table } from "../../../docs/test/printed.ts"
import { isOptional, kindNote, memberNote, type Node } from "../src/internal/node.ts"
import { available } from "../src/internal/project.ts"
import { nameKey, type Note } from "../src/internal/shape.ts"
import * as InputRequired from "../src/InputRequired.ts"
import * as Method from "../src/Method.ts"
import * as Notification from "../src/Notification.ts"
import * as Question from "../src/Question.ts"
import * as Revision from "../src/Revision.ts"
import * as Task from "../src/Task.ts"
import * as Version from "../src/Version.ts"

export const page = fileURLToPath(new URL("../../../docs/protocol.md", import.meta.url))

/** Every revision, the oldest first. */
export const versions: ReadonlyArray<Version.Version> = [...Version.modern, ...Version.legacy].toReversed()

const spans = (span: Method.Span | undefined): Array<string> =>
  versions.map((version) => (available(span, version) ? "✓" : "–"))

const gateOf = (method: Method.Method): string => {
  const gates = versions
    .map((version) => Revision.of(version))
    .filter((revision) => revision.supports(method))
    .flatMap((revision) => {
      const capability = revision.gate(method)
      return capability === undefined ? [] : [`\`${capability.join(".")}\``]
    })
  return gates.length === 0 ? "–" : [...new Set(gates)].join(" or ")
}

const methods = () =>
  table(
    ["Request of a client", ...versions, "Server capability"],
    Object.keys(Method.methods)
      .filter(Method.isMethod)
      .map((method) => [`\`${method}\``, ...spans(Method.methods[method].span), gateOf(method)])
  )

const questions = () =>
  table(
    ["Question of a server", ...versions, "Client capability"],
    Object.entries(Question.questions).map(([method, { span, capability }]) => [
      `\`${method}\``,
      ...versions.map((version) =>
        !available(span, version) ? "–" : Revision.of(version).habits.serverRequests ? "request" : "input request"
      ),
      capability === undefined ? "–" : `\`${capability}\``
    ])
  )

const notifications = () =>
  table(
    ["Notification", "From", ...versions],
    [
      ...Object.entries(Notification.received).map(([method, { span }]) => [`\`${method}\``, "server", ...spans(span)]),
      ...Object.entries(Notification.sent).map(([method, { span }]) => [`\`${method}\``, "client", ...spans(span)])
    ]
  )

const habit = (name: string, read: (revision: Revision.Revision) => string | boolean): ReadonlyArray<string> => [
  name,
  ...versions.map((version) => {
    const value = read(Revision.of(version))
    return value === true ? "✓" : value === false ? "–" : value
  })
]

const habits = () =>
  table(
    ["Habit", ...versions],
    [
      habit("era", ({ era }) => era),
      habit("who the client is", ({ habits: { identity } }) =>
        identity === "handshake" ? "in `initialize`" : "in every request"
      ),
      habit("the server sends requests", ({ habits: { serverRequests } }) => serverRequests),
      habit("batches", ({ habits: { batches } }) => batches),
      habit("`MCP-Protocol-Version`", ({ habits: { http } }) =>
        http.versionHeader === "always" ? "always" : "after the handshake"
      ),
      habit("`Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`", ({ habits: { http } }) => http.routingHeaders),
      habit("session, ended by DELETE", ({ habits: { http } }) => http.session),
      habit("stream on GET", ({ habits: { http } }) => http.getStream),
      habit("resuming with `Last-Event-ID`", ({ habits: { http } }) => http.resumption),
      habit("HTTP cancels by", ({ habits: { http } }) =>
        http.cancellation === "closeStream" ? "closing the stream" : "a notification"
      )
    ]
  )

/** A member of a type. */
export interface Member {
  readonly name: string
  readonly optional: boolean
  /** What it needs from a revision by itself. */
  readonly own: Note | undefined
  /** That, and what the types around it need. */
  readonly notes: ReadonlyArray<Note>
}

/** A type with a name of its own, or the parameters or result of a message. */
export interface Type {
  readonly name: string
  readonly note: Note | undefined
  readonly members: ReadonlyArray<Member>
}

const ownName = (node: Node): string | undefined => {
  const name = node.annotations?.[nameKey]
  return typeof name === "string" ? name : undefined
}

const noteList = (note: Note | undefined): ReadonlyArray<Note> => (note === undefined ? [] : [note])

/** The members of a type, those of nameless types inside it as well; named types that are met are collected. */
const membersOf = (node: Node, prefix: string, outer: ReadonlyArray<Note>, met: Array<Node>): ReadonlyArray<Member> => {
  switch (node._tag) {
    case "Objects":
      return [
        ...node.propertySignatures.flatMap(({ name, type }): ReadonlyArray<Member> => {
          const notes = [...outer, ...noteList(memberNote(type))]
          const path = `${prefix}${String(name)}`
          return [
            { name: path, optional: isOptional(type), own: memberNote(type), notes },
            ...inside(type, path, notes, met)
          ]
        }),
        ...node.indexSignatures.flatMap(({ type }) => inside(type, `${prefix}*`, outer, met))
      ]
    case "Arrays":
      return node.rest.flatMap((item) => inside(item, `${prefix}[]`, outer, met))
    case "Union":
      return node.types.flatMap((type) => inside(type, prefix, outer, met))
    default:
      return []
  }
}

const inside = (node: Node, path: string, outer: ReadonlyArray<Note>, met: Array<Node>): ReadonlyArray<Member> => {
  if (ownName(node) === undefined) return membersOf(node, node._tag === "Objects" ? `${path}.` : path, outer, met)
  met.push(node)
  return []
}

const roots: ReadonlyArray<readonly [name: string, node: Node, span: Note]> = [
  ...Object.entries(Method.methods).flatMap(([method, { params, result, span }]) => [
    [`${method}, parameters`, params.ast, span] as const,
    [`${method}, result`, result.ast, span] as const
  ]),
  ["a created task", Task.Created.ast, { from: "2025-11-25" }],
  ["input required", InputRequired.InputRequired.ast, {}],
  ...Object.entries(Question.questions).flatMap(([method, { params, answer, span }]) => [
    [`${method}, parameters`, params.ast, span] as const,
    [`${method}, answer`, answer.ast, span] as const
  ]),
  ...Object.entries({ ...Notification.received, ...Notification.sent }).map(
    ([method, { params, span }]) => [`${method}, parameters`, params.ast, span] as const
  )
]

/** Every type of the model, messages first. */
export const types = (): ReadonlyArray<Type> => {
  const found = new Map<string, Type>()
  const met: Array<Node> = []
  for (const [name, node, span] of roots) {
    if (ownName(node) !== undefined || node._tag === "Union") {
      inside(node, "", [], met)
      continue
    }
    const members = membersOf(node, "", [span], met)
    if (members.some((member) => member.name !== "_meta" && member.name !== "resultType")) {
      found.set(name, { name, note: undefined, members })
    }
  }
  for (let at = 0; at < met.length; at++) {
    const node = met[at]
    const name = node === undefined ? undefined : ownName(node)
    if (node === undefined || name === undefined || found.has(name)) continue
    found.set(name, { name, note: kindNote(node), members: membersOf(node, "", noteList(kindNote(node)), met) })
  }
  return [...found.values()]
}

/** Whether a revision has a member, and all that is around it. */
export const has = (member: Member, version: Version.Version): boolean =>
  member.notes.every((note) => available(note, version))

const otherwise = (note: Note | undefined): string =>
  note?.from === undefined && note?.to === undefined
    ? ""
    : note.essential === true
      ? "refused"
      : note.quiet === true
        ? "left out silently"
        : "left out"

const members = () =>
  table(
    ["Type", "Member", ...versions, "Where unknown"],
    types().flatMap(({ name, members: all }) =>
      all.map((member) => [
        name,
        `\`${member.name}\``,
        ...versions.map((version) => (has(member, version) ? (member.optional ? "o" : "r") : "–")),
        otherwise(member.own)
      ])
    )
  )

const kinds = () =>
  table(
    ["Kind of value", ...versions, "Where unknown"],
    types()
      .filter(({ note }) => note !== undefined)
      .map(({ name, note }) => [name, ...spans(note), note?.degrade === undefined ? "refused" : "replaced by text"])
  )

/** The tables, by the names of their markers. */
export const parts: Parts = {
  methods,
  questions,
  notifications,
  habits,
  kinds,
  members
}

if (import.meta.main) print(page, parts)
