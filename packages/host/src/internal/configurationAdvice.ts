/**
 * Advice about one entry: rules as rows. Each says what it looks for, where, and what to do instead.
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import { isSecretSetting } from "@mcp-effect/protocol/SecretName"
import * as Redacted from "effect/Redacted"
import type { HintId } from "../ConfigurationHint.ts"
import type { ServerEntry, Stdio } from "../ServerEntry.ts"
import * as Fields from "./configurationFields.ts"
import * as Text from "./configurationText.ts"
import * as Variables from "./variables.ts"

/** One piece of advice: the way from the top of the entry, and the words. */
export interface Advice {
  readonly id: HintId
  readonly path: Text.Path
  readonly message: string
}

export interface Subject {
  readonly entry: ServerEntry | undefined
  /** As written; empty for an entry made in code. */
  readonly raw: Text.JsonObject
}

type Rule = (subject: Subject) => ReadonlyArray<Advice>

const onStdio =
  (rule: (entry: Stdio, args: ReadonlyArray<string>, raw: Text.JsonObject) => ReadonlyArray<Advice>): Rule =>
  ({ entry, raw }) =>
    entry?.type === "stdio"
      ? rule(
          entry,
          entry.args.map((arg) => (Redacted.isRedacted(arg) ? "" : arg)),
          raw
        )
      : []

const isBlank = (text: string) => text.trim() === ""

const packed = onStdio((entry, args) => [
  ...(entry.command.includes(" ") && !/[\\/]/.test(entry.command)
    ? [
        {
          id: "packed-arguments",
          path: ["command"],
          message: `the command holds spaces; only the program goes here, its arguments one by one into "args"`
        } as const
      ]
    : []),
  ...args.flatMap((arg, at) =>
    /^-{1,2}[\w-]+\s+\S/.test(arg) || (args.length === 1 && /^\S+\s+-{1,2}\w/.test(arg))
      ? [
          {
            id: "packed-arguments",
            path: ["args", at],
            message: `one argument with spaces; did you mean ${arg.trim().split(/\s+/).length}: ${excerpt(JSON.stringify(arg.trim().split(/\s+/)), 80)}?`
          } as const
        ]
      : []
  )
])

const empties = onStdio((_, args) =>
  args.flatMap((arg, at) =>
    // A secret argument is not looked into.
    isBlank(arg) && !Redacted.isRedacted(_.args[at])
      ? [{ id: "empty-argument", path: ["args", at], message: "an empty argument; most programs stumble over it" }]
      : []
  )
)

const quoted = onStdio((_, args) =>
  args.flatMap((arg, at) =>
    /^(["']).*\1$/.test(arg)
      ? [{ id: "quoted-argument", path: ["args", at], message: "no shell takes these quotes away; leave them out" }]
      : []
  )
)

const shell = onStdio((_, args) =>
  args.flatMap((arg, at) =>
    /^(?:\||\|\||&&|;|>|>>|<|2>&1)$/.test(arg)
      ? [{ id: "shell-syntax", path: ["args", at], message: `no shell reads "${arg}"; start a script instead` }]
      : []
  )
)

const runner = onStdio((entry, args) =>
  /(?:^|[\\/])npx(?:\.cmd)?$/.test(entry.command) && !args.some((arg) => arg === "-y" || arg === "--yes")
    ? [
        {
          id: "npx-asks",
          path: ["command"],
          message: `npx may ask before it installs, and nobody answers; add "-y" first`
        }
      ]
    : []
)

const docker = onStdio((entry, args) =>
  /(?:^|[\\/])(?:docker|podman)$/.test(entry.command) &&
  args[0] === "run" &&
  !args.some((arg) => arg === "--interactive" || /^-[a-z]*i[a-z]*$/.test(arg))
    ? [
        {
          id: "docker-without-input",
          path: ["args"],
          message: `without "-i" the container gets no input; add it after "run"`
        }
      ]
    : []
)

const otherVariable = /(?:^|[^$\\])\$[A-Za-z_]\w*|%[A-Za-z_]\w*%/

const strings = (
  json: Text.Json | undefined,
  path: Text.Path
): ReadonlyArray<readonly [text: string, path: Text.Path]> => {
  if (typeof json === "string") return [[json, path]]
  if (Array.isArray(json)) return json.flatMap((item: Text.Json, at) => strings(item, [...path, at]))
  return Text.isObject(json) ? Object.entries(json).flatMap(([name, inner]) => strings(inner, [...path, name])) : []
}

const texts = (raw: Text.JsonObject) =>
  ["command", "args", "env", "cwd", "url", "headers"].flatMap((name) => strings(Text.member(raw, name), [name]))

const unread: Rule = ({ raw }) =>
  texts(raw).flatMap(([text, path]) =>
    otherVariable.test(text)
      ? [{ id: "variable-not-read", path, message: "only ${NAME} is filled in; $NAME and %NAME% stay as they are" }]
      : []
  )

const tokens =
  /(?:^|[\s=:"'])(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}|ntn_\w{20,}|hf_\w{20,})/

const opaque = /^(?:Bearer |Basic |token )?[\w+/=.~-]{16,}$/i

const isPlainSecret = (name: string, text: string) => tokens.test(text) || (isSecretSetting(name) && opaque.test(text))

const plainSecrets: Rule = ({ raw }) =>
  texts(raw).flatMap(([text, path]) => {
    if (Variables.hasPlaceholder(text, false)) return []
    const last = path.at(-1)
    const [, listed, value] =
      path[0] === "env" && typeof last === "number" ? (/^([^=]*)=([\s\S]*)$/.exec(text) ?? []) : []
    const [, flag, given] = path[0] === "args" ? (/^--?([\w-]+)=(.*)$/.exec(text) ?? []) : []
    const name = listed ?? flag ?? (path[0] === "env" || path[0] === "headers" ? String(last) : "")
    return isPlainSecret(name, value ?? given ?? text)
      ? [
          {
            id: "secret-in-file",
            path,
            message: "this looks like a secret in plain text; keep it in a variable and write ${NAME} here"
          }
        ]
      : []
  })

const times: Rule = ({ entry }) =>
  (["timeout", "connectTimeout"] as const).flatMap((name) => {
    const limit = entry?.[name]
    return limit !== undefined && limit < 1_000
      ? [
          {
            id: "short-timeout",
            path: [name],
            message: `${limit} milliseconds are little; were ${limit} seconds meant? Write ${limit * 1_000}`
          }
        ]
      : []
  })

const isLoopback = (host: string) => /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/i.test(host)

const plainHttp: Rule = ({ entry }) => {
  if (entry === undefined || entry.type === "stdio" || !/^http:/i.test(entry.url)) return []
  const host = /^http:\/\/(\[[^\]]*\]|[^/:?#]*)/i.exec(entry.url)?.[1] ?? ""
  return isLoopback(host) || Object.keys(entry.headers).length === 0
    ? []
    : [{ id: "plain-http", path: ["url"], message: "headers travel unencrypted to another machine; use https://" }]
}

/** What other products call it, or what fingers make of it. */
const otherNames: { readonly [name: string]: string } = {
  environment: "env",
  envs: "env",
  envVars: "env",
  arguments: "args",
  argv: "args",
  cmd: "command",
  serverUrl: "url",
  httpUrl: "url",
  uri: "url",
  endpoint: "url",
  workingDirectory: "cwd",
  workdir: "cwd",
  requestHeaders: "headers",
  http_headers: "headers",
  includeTools: "tools.allow",
  allowedTools: "tools.allow",
  excludeTools: "tools.deny",
  disabledTools: "tools.deny",
  autoApprove: "approval",
  alwaysAllow: "approval",
  trust: "approval",
  enabled: "disabled",
  active: "disabled",
  protocol: "era",
  mode: "era"
}

/** Letters to add, take away, change or swap until one word is the other. */
const distance = (one: string, other: string): number => {
  let before: ReadonlyArray<number> = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let at = 1; at <= other.length; at++) {
      const swap = one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1] ? (before[at - 2] ?? 9) + 1 : 9
      next.push(
        Math.min(
          (last[at] ?? 9) + 1,
          (next[at - 1] ?? 9) + 1,
          (last[at - 1] ?? 9) + (one[row - 1] === other[at - 1] ? 0 : 1),
          swap
        )
      )
    }
    before = last
    last = next
  }
  return last[other.length] ?? 9
}

/** The member that was probably meant. */
export const meant = (name: string): string | undefined =>
  (Object.hasOwn(otherNames, name) ? otherNames[name] : undefined) ??
  (name.length > 20
    ? undefined
    : Fields.order.find(
        (known) => known.toLowerCase() === name.toLowerCase() || (known.length > 2 && distance(known, name) === 1)
      ))

const unknown: Rule = ({ raw }) =>
  Object.keys(raw).flatMap((name): ReadonlyArray<Advice> => {
    if (Fields.isKnown(name)) return []
    const known = meant(name)
    if (known !== undefined) {
      const message = `"${excerpt(name, 40)}" is not read; did you mean "${known}"?`
      return [{ id: "unknown-member", path: [name], message }]
    }
    return name === "envFile"
      ? [
          {
            id: "unknown-member",
            path: [name],
            message: `"envFile" is not read; name its variables in "env" as \${NAME}`
          }
        ]
      : []
  })

const foreign: Rule = ({ entry, raw }) =>
  entry === undefined
    ? []
    : Fields.own[entry.type === "stdio" ? "remote" : "stdio"].flatMap((name) =>
        Object.hasOwn(raw, name)
          ? [
              {
                id: "foreign-member",
                path: [name],
                message: `a server of type "${entry.type}" has no "${name}"; saving leaves it out`
              }
            ]
          : []
      )

const nothingLeft: Rule = ({ entry }) =>
  entry !== undefined && (entry.tools.allow?.length === 0 || entry.tools.deny?.includes("*") === true)
    ? [{ id: "no-tools", path: ["tools"], message: "no tool of this server is offered; did you mean to disable it?" }]
    : []

/** All rules, in the order their advice is given. */
export const rules: ReadonlyArray<Rule> = [
  packed,
  empties,
  quoted,
  shell,
  runner,
  docker,
  unread,
  plainSecrets,
  times,
  plainHttp,
  unknown,
  foreign,
  nothingLeft
]
