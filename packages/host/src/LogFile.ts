/**
 * Where a log file is, and appending to it with rotation by size (U-59).
 *
 * `append` never fails: a file that cannot be written is a diagnostic, the lines are lost, and the next lines try again.
 * What the lines say is left to others (`HostLog`).
 *
 * @since 0.1.0
 */
import { Diagnostic, reporting } from "@mcp-effect/protocol/Diagnostic"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"

/**
 * How a file is kept.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** A bare name goes to the user's documents; a path goes where it says. */
  readonly path: string
  /** How large it may grow before it becomes `<path>.1`, in bytes: a finite number from 1 on. 10 MiB. */
  readonly maxBytes?: number
  /** How many files there are in all: 1 to 1,000. 5. */
  readonly files?: number
}

/**
 * Appends text.
 *
 * @category models
 * @since 0.1.0
 */
export interface LogFile {
  /** Where it is. */
  readonly path: string
  readonly append: (text: string) => Effect.Effect<void>
}

const variable = (name: string) =>
  Effect.gen(function* () {
    const value = yield* Config.String(name)
    return value === "" ? Option.none<string>() : Option.some(value)
  }).pipe(Effect.orElseSucceed(() => Option.none<string>()))

// The file is a shell script, but what writes it keeps to this one form.
const userDirs = /^\s*XDG_DOCUMENTS_DIR="(?:\$HOME\/)?([^"$`\\]+)"/m

/** The user's documents: `XDG_DOCUMENTS_DIR`, what `user-dirs.dirs` says, or `Documents` at home. */
const documents = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const given = yield* variable("XDG_DOCUMENTS_DIR")
  if (Option.isSome(given)) return given.value
  const home = Option.getOrElse(
    Option.orElse(yield* variable("HOME"), () => Option.none<string>()),
    () => ""
  )
  const base = home === "" ? Option.getOrElse(yield* variable("USERPROFILE"), () => ".") : home
  const text = yield* Effect.orElseSucceed(fs.readFileString(path.join(base, ".config", "user-dirs.dirs")), () => "")
  const named = userDirs.exec(text)?.[1]
  return named === undefined ? path.join(base, "Documents") : path.resolve(base, named)
})

/**
 * Where a file of this name is.
 *
 * @category accessors
 * @since 0.1.0
 */
export const locate = Effect.fnUntraced(function* (
  name: string
): Effect.fn.Return<string, never, FileSystem.FileSystem | Path.Path> {
  const path = yield* Path.Path
  return /[\\/]/.test(name) || path.isAbsolute(name) ? path.resolve(name) : path.join(yield* documents, name)
})

const encoder = new TextEncoder()

/** A whole number between bounds; what is no number counts as the usual. */
const whole = (given: number | undefined, usual: number, most: number) =>
  given === undefined || !Number.isFinite(given) ? usual : Math.min(most, Math.max(1, Math.floor(given)))

/**
 * Opens a file for appending; what it holds from earlier runs stays. It is readable by its owner alone.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<LogFile, never, FileSystem.FileSystem | Path.Path> {
  const files = whole(options.files, 5, 1_000)
  const maxBytes = whole(options.maxBytes, 10 * 1024 * 1024, Number.MAX_SAFE_INTEGER)
  const fs = yield* FileSystem.FileSystem
  const report = yield* reporting
  const file = yield* locate(options.path)
  const folder = (yield* Path.Path).dirname(file)
  let size: number | undefined
  let failed = 0

  const nth = (n: number) => (n === 0 ? file : `${file}.${n}`)
  const rotate = Effect.gen(function* () {
    if (files <= 1) yield* fs.remove(file, { force: true })
    for (let n = files - 1; n > 0; n--) {
      if (yield* fs.exists(nth(n - 1))) yield* fs.rename(nth(n - 1), nth(n))
    }
    size = 0
  })

  const measured = Effect.gen(function* () {
    return (yield* fs.exists(file)) ? Number((yield* fs.stat(file)).size) : 0
  })

  const write = Effect.fnUntraced(function* (bytes: Uint8Array) {
    if (size === undefined) {
      yield* fs.makeDirectory(folder, { recursive: true })
      size = yield* measured
    }
    if (size > 0 && size + bytes.length > maxBytes) {
      // Somebody may have removed or emptied it since, and a file that is short is not set aside.
      size = yield* measured
      if (size > 0 && size + bytes.length > maxBytes) yield* rotate
    }
    yield* fs.writeFile(file, bytes, { flag: "a", mode: 0o600 })
    size += bytes.length
  })

  return {
    path: file,
    append: (text) =>
      Effect.suspend(() => {
        const bytes = encoder.encode(text)
        return Effect.catchIf(
          write(bytes),
          ({ reason }) => reason._tag === "NotFound",
          () => {
            // The folder has gone since, so it is made again.
            size = undefined
            return write(bytes)
          }
        )
      }).pipe(
        Effect.catch((error) => {
          size = undefined
          failed++
          // A disk that stays full would fill other logs: only each doubling of the number is told.
          return Number.isInteger(Math.log2(failed))
            ? report(
                Diagnostic.CallbackFailed({
                  server: "host",
                  callback: `the log file ${file}`,
                  because: error.message,
                  failed
                })
              )
            : Effect.void
        })
      )
  }
})
