/**
 * The options that every command over a connection has.
 *
 * @since 0.1.0
 */
import type * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import { isAbsolute, relative } from "node:path"

/**
 * What was typed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly words: ReadonlyArray<string>
  readonly era: "auto" | "modern" | "legacy"
  readonly pin: Option.Option<string>
  readonly header: ReadonlyArray<string>
  readonly timeout: Option.Option<number>
  readonly config: Option.Option<string>
  readonly json: boolean
  readonly prior: Option.Option<string>
  readonly record: Option.Option<string>
}

/**
 * The words after a command's name: the server, unless it stands after `--`, and what is asked of it.
 *
 * @category options
 * @since 0.1.0
 */
export const words = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description), Argument.variadic())

/**
 * `--json`.
 *
 * @category options
 * @since 0.1.0
 */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print JSON and ask nothing"),
  Flag.withDefault(false)
)

/** A path as it was typed, as far as that can be told: paths are made absolute when they are read. */
const asTyped = (path: string) => {
  const below = relative("", path)
  return below === "" || below.startsWith("..") || isAbsolute(below) ? path : below
}

/**
 * An option that names a file, for which shells propose files.
 *
 * @category options
 * @since 0.1.0
 */
export const file = (name: string, description: string) =>
  Flag.Path(name).pipe(Flag.withMetavar("FILE"), Flag.withDescription(description), Flag.map(asTyped), Flag.optional)

/**
 * A configuration to look into.
 *
 * @category options
 * @since 0.1.0
 */
export const configuration = Argument.Path("file").pipe(
  Argument.withDescription("The configuration"),
  Argument.map(asTyped),
  Argument.optional
)

/**
 * `--config`.
 *
 * @category options
 * @since 0.1.0
 */
export const config = file(
  "config",
  "Where names of servers come from: .mcp.json, mcp.json or .vscode/mcp.json by default"
)

/**
 * How to connect.
 *
 * @category options
 * @since 0.1.0
 */
export const connection = {
  era: Flag.Literals("era", ["auto", "modern", "legacy"]).pipe(
    Flag.withDescription("How to open: ask first (auto), never fall back (modern), handshake only (legacy)"),
    Flag.withDefault("auto" as const)
  ),
  pin: Flag.String("pin").pipe(
    Flag.withMetavar("VERSION"),
    Flag.withDescription("Take this modern version for granted and ask nothing"),
    Flag.optional
  ),
  header: Flag.String("header").pipe(
    Flag.withMetavar("NAME:VALUE"),
    Flag.withDescription("A header of every request to a URL; may be repeated"),
    Flag.atLeast(0)
  ),
  timeout: Flag.Finite("timeout").pipe(
    Flag.withMetavar("SECONDS"),
    Flag.withDescription("How long to wait for a connection, and for each answer; 60 by default"),
    Flag.optional
  ),
  prior: file("prior", "What `probe --save` wrote: the era is not asked again while it holds"),
  record: file("record", "Append everything sent and heard, without secrets, for a bug report"),
  config,
  json
}

/**
 * `--yes`.
 *
 * @category options
 * @since 0.1.0
 */
export const yes = Flag.Boolean("yes").pipe(Flag.withDescription("Do it without asking"), Flag.withDefault(false))
