/**
 * How the command ends: every exit code by name, and the one error that carries them.
 *
 * The numbers are those of `sysexits.h` where it has one. The table is data; the page about the command line is held
 * against it.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Runtime from "effect/Runtime"

/**
 * The exit codes.
 *
 * @category constants
 * @since 0.1.0
 */
export const table = [
  { name: "done", code: 0, meaning: "It was done." },
  { name: "toolFailed", code: 1, meaning: "The tool ran and said that it failed." },
  { name: "usage", code: 64, meaning: "The command line cannot be understood." },
  { name: "input", code: 65, meaning: "What was given does not fit: arguments, a file." },
  { name: "unreachable", code: 69, meaning: "No connection: the server was not reached, or not understood." },
  { name: "internal", code: 70, meaning: "A fault of this program." },
  { name: "output", code: 74, meaning: "What was found cannot be written: a file, or standard output." },
  { name: "refused", code: 76, meaning: "The server answered with an error, or not at all." },
  { name: "denied", code: 77, meaning: "Nobody allowed it: a sign-in is missing, or a tool was not approved." },
  { name: "configuration", code: 78, meaning: "The configuration cannot be read, or an entry of it is wrong." },
  { name: "hungUp", code: 129, meaning: "The terminal is gone." },
  { name: "interrupted", code: 130, meaning: "Ctrl-C, or somebody asked the process to end." }
] as const

/**
 * The name of an exit code.
 *
 * @category models
 * @since 0.1.0
 */
export type Name = (typeof table)[number]["name"]

/**
 * The code of a name.
 *
 * @category accessors
 * @since 0.1.0
 */
export const codeOf = (name: Name): number => table.find((row) => row.name === name)?.code ?? 70

/**
 * The command could not do what was asked. `because` is for a person and safe to print; it is written to standard error
 * once, by `Commands.run`. Nothing is written when it is empty.
 *
 * What to change: what `because` names; the exit code tells programs which kind it is.
 *
 * @category errors
 * @since 0.1.0
 */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly exit: Name
  readonly because: string
}> {
  override readonly [Runtime.errorExitCode] = codeOf(this.exit)
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.because
  }
}
