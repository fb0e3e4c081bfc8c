/**
 * What the two stdio transports share: what is launched, in which environment, and what is kept of its stderr.
 */
import * as Redacted from "effect/Redacted"

/** A value that may be secret. */
export type MaybeSecret = string | Redacted.Redacted

export const reveal = (value: MaybeSecret): string => (Redacted.isRedacted(value) ? Redacted.value(value) : value)

/** The command line for people: quoted where it must be, secrets hidden. */
export const commandLine = (command: string, args: ReadonlyArray<MaybeSecret>): string =>
  [command, ...args.map((arg) => (Redacted.isRedacted(arg) ? "<redacted>" : arg))]
    .map((word) => (/^[^\s"'\\]+$/.test(word) ? word : JSON.stringify(word)))
    .join(" ")

/** What a command runs with, beside its words: the folder, and the names of its variables, never their values. */
export const setting = (options: { readonly cwd?: string; readonly env?: Readonly<Record<string, unknown>> }): string =>
  JSON.stringify([options.cwd ?? "", Object.keys(options.env ?? {}).toSorted()])

/** Variables a child needs to find its own tools (L-STDIO-9). */
const posix = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]
const windows = [
  "APPDATA",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE"
]

/**
 * The environment of a child: what the allow-list lets through of the parent's (or all of it), and the configured
 * entries on top. An entry of `undefined` takes a variable away. Shell functions (values that begin with `()`) never
 * pass. Windows compares names without regard to case.
 */
export const environment = (options: {
  readonly platform: string
  readonly parent: Readonly<Record<string, string | undefined>>
  readonly entries: Readonly<Record<string, MaybeSecret | undefined>>
  readonly inherit: boolean
}): Record<string, MaybeSecret> => {
  const onWindows = options.platform === "win32"
  const canonical = (name: string) => (onWindows ? name.toUpperCase() : name)
  const allowed = new Set(onWindows ? windows : posix)
  const variables = new Map<string, readonly [name: string, value: MaybeSecret]>()
  for (const [name, value] of Object.entries(options.parent)) {
    if (value === undefined || value.startsWith("()")) continue
    if (options.inherit || allowed.has(canonical(name))) variables.set(canonical(name), [name, value])
  }
  for (const [name, value] of Object.entries(options.entries)) {
    if (value === undefined) variables.delete(canonical(name))
    else variables.set(canonical(name), [name, value])
  }
  return Object.fromEntries(variables.values())
}

/** The environment and platform of this program, where it has any. */
export const self = (): { readonly platform: string; readonly parent: Readonly<Record<string, string | undefined>> } =>
  typeof process === "undefined"
    ? { platform: "unknown", parent: {} }
    : { platform: process.platform, parent: process.env }

/** Keeps the last bytes of a stream. */
export interface Tail {
  readonly add: (chunk: Uint8Array) => void
  readonly text: () => string
}

export const tail = (limit: number): Tail => {
  const chunks: Array<Uint8Array> = []
  let held = 0
  return {
    add: (chunk) => {
      const kept = chunk.length > limit ? chunk.subarray(chunk.length - limit) : chunk
      chunks.push(kept)
      held += kept.length
      // Whole chunks are dropped, so between one and two limits are held and each byte is moved once.
      while (chunks.length > 1 && held - (chunks[0]?.length ?? 0) >= limit) held -= chunks.shift()?.length ?? 0
    },
    text: () => {
      const decoder = new TextDecoder()
      return chunks
        .map((chunk) => decoder.decode(chunk, { stream: true }))
        .join("")
        .slice(-limit)
    }
  }
}

/** How long the last output of a dead process may trickle in before the wire is said to be gone, in milliseconds. */
export const trickle = 250
