/**
 * One server as data: how to reach it, and how the host treats it.
 *
 * An entry is what the host starts. `Configuration` reads entries from files, with variables already filled in; programs
 * make them with `stdio`, `http` and `sse`. Values of variables and headers are `Redacted`, so an entry can be shown. Two
 * entries that say the same are equal (`Equal.equals`), which is how a changed file restarts only what changed.
 *
 * An entry is plain and unchecked: what cannot work fails when the server is started.
 *
 * @since 0.1.0
 */
import type * as Version from "@mcp-effect/protocol/Version"
import * as Redacted from "effect/Redacted"

/**
 * How a connection starts (U-01): adapt, newest modern only, handshake only, or a pinned modern version.
 *
 * @category models
 * @since 0.1.0
 */
export type Era = "auto" | "modern" | "legacy" | Version.Modern

/**
 * Whether a tool call of this server needs a yes (`ask`), or only must not be vetoed (`allow`) (U-56).
 *
 * @category models
 * @since 0.1.0
 */
export type Approval = "ask" | "allow"

/**
 * Which tools of a server are in the catalogue: those of `allow`, all when it is absent, without those of `deny`. Each
 * item is a tool's own name; `*` in it stands for any characters.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolFilter {
  readonly allow?: ReadonlyArray<string>
  readonly deny?: ReadonlyArray<string>
}

/**
 * Which questions a server may ask the user; both off unless said (U-58).
 *
 * @category models
 * @since 0.1.0
 */
export interface Elicitation {
  readonly form: boolean
  readonly url: boolean
}

/**
 * What every entry has.
 *
 * @category models
 * @since 0.1.0
 */
export interface Common {
  /** The server's name in the host; no two entries share one. */
  readonly name: string
  /** Whether the host leaves it stopped. */
  readonly disabled: boolean
  /** How long a tool call may take, in milliseconds; the host's limit (60,000) when absent. */
  readonly timeout?: number
  /** How long connecting may take in all, in milliseconds; the client's limit (60,000) when absent. */
  readonly connectTimeout?: number
  /** How the connection starts. */
  readonly era: Era
  /** Which tools are in the catalogue. */
  readonly tools: ToolFilter
  /** Which questions the server may ask. */
  readonly elicitation: Elicitation
  /** Whether its calls need a yes; the host's rule when absent. */
  readonly approval?: Approval
}

/**
 * A server in a child process.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stdio extends Common {
  readonly type: "stdio"
  /** The program: a path, or a name to look up on PATH. No shell is involved. */
  readonly command: string
  /** Its arguments, one by one. Those that hold a secret are `Redacted`. */
  readonly args: ReadonlyArray<string | Redacted.Redacted>
  /** Variables on top of the safe part of this program's environment (T-STDIO-7). */
  readonly env: Readonly<Record<string, Redacted.Redacted>>
  /** The working directory; this program's when absent. */
  readonly cwd?: string
}

/**
 * A server behind a URL, over Streamable HTTP; older servers are found on their own (U-41).
 *
 * @category models
 * @since 0.1.0
 */
export interface Http extends Common {
  readonly type: "http"
  readonly url: string
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, Redacted.Redacted>>
}

/**
 * A server behind a URL, over HTTP+SSE and nothing else (U-42).
 *
 * @category models
 * @since 0.1.0
 */
export interface Sse extends Common {
  readonly type: "sse"
  readonly url: string
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, Redacted.Redacted>>
}

/**
 * One server.
 *
 * @category models
 * @since 0.1.0
 */
export type ServerEntry = Stdio | Http | Sse

type Texts = Readonly<Record<string, string | Redacted.Redacted>>

/**
 * What every constructor takes beside what its transport needs; everything but the name has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface CommonOptions extends Partial<Omit<Common, "name" | "elicitation">> {
  readonly name: string
  readonly elicitation?: Partial<Elicitation>
}

const common = (options: CommonOptions): Common => ({
  name: options.name,
  disabled: options.disabled ?? false,
  era: options.era ?? "auto",
  tools: options.tools ?? {},
  elicitation: { form: options.elicitation?.form ?? false, url: options.elicitation?.url ?? false },
  ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
  ...(options.connectTimeout === undefined ? {} : { connectTimeout: options.connectTimeout }),
  ...(options.approval === undefined ? {} : { approval: options.approval })
})

// `fromEntries` defines members, so a name such as `__proto__` is a name like any other.
const redacted = (texts: Texts = {}): Readonly<Record<string, Redacted.Redacted>> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [name, typeof value === "string" ? Redacted.make(value) : value])
  )

/**
 * A server in a child process.
 *
 * @example
 * ```ts
 * ServerEntry.stdio({ name: "files", command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv"] })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const stdio = (
  options: CommonOptions & {
    readonly command: string
    readonly args?: ReadonlyArray<string | Redacted.Redacted>
    readonly env?: Texts
    readonly cwd?: string
  }
): Stdio => ({
  ...common(options),
  type: "stdio",
  command: options.command,
  args: options.args ?? [],
  env: redacted(options.env),
  ...(options.cwd === undefined ? {} : { cwd: options.cwd })
})

/**
 * A server behind a URL.
 *
 * @example
 * ```ts
 * ServerEntry.http({ name: "issues", url: "https://example.com/mcp", headers: { authorization: "Bearer …" } })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const http = (options: CommonOptions & { readonly url: string; readonly headers?: Texts }): Http => ({
  ...common(options),
  type: "http",
  url: options.url,
  headers: redacted(options.headers)
})

/**
 * A server behind a URL that is known to speak HTTP+SSE only.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sse = (options: CommonOptions & { readonly url: string; readonly headers?: Texts }): Sse => ({
  ...common(options),
  type: "sse",
  url: options.url,
  headers: redacted(options.headers)
})

/**
 * Whether a name fits a pattern in which `*` stands for any characters. Linear in the name for each `*`; nothing else in
 * the pattern is special.
 *
 * @category predicates
 * @since 0.1.0
 */
export const fits = (pattern: string, name: string): boolean => {
  const [head = "", ...rest] = pattern.split("*")
  const tail = rest.pop()
  if (tail === undefined) return pattern === name
  if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false
  const end = name.length - tail.length
  let at = head.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/**
 * Whether the entry lets a tool into the catalogue; the name is the server's own.
 *
 * @category predicates
 * @since 0.1.0
 */
export const offers = ({ tools }: ServerEntry, tool: string): boolean =>
  (tools.allow === undefined || tools.allow.some((pattern) => fits(pattern, tool))) &&
  !(tools.deny ?? []).some((pattern) => fits(pattern, tool))
