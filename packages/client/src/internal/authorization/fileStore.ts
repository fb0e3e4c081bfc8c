/**
 * One file of named texts, shared by processes. Writers take a lock file; readers need none, since a file is always
 * renamed into place whole.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Fields from "./fields.ts"
import * as Random from "./random.ts"

/** After this a lock counts as left behind. Longer than anything done under one. */
const lease = Duration.seconds(60)
/** How long to wait for a lock, looking again every few milliseconds. */
const patience = Duration.seconds(45)
const glance = Duration.millis(25)

const because = ({ message }: PlatformError) => message

const isTaken = (error: PlatformError) => error.reason._tag === "AlreadyExists"
const isMissing = (error: PlatformError) => error.reason._tag === "NotFound"

export const make = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const { dirname } = yield* Path.Path

  const load = fs.readFileString(path).pipe(
    Effect.catchIf(isMissing, () => Effect.succeed("{}")),
    Effect.mapError(because),
    Effect.flatMap((text) => {
      const parsed = Result.try((): unknown => JSON.parse(text))
      return Result.isSuccess(parsed) && Fields.isDocument(parsed.success)
        ? Effect.succeed(parsed.success)
        : Effect.fail(`${path} is no JSON object; move it away to begin anew`)
    })
  )

  const save = Effect.fnUntraced(function* (document: Fields.Document) {
    const draft = `${path}.${yield* Random.text(9)}.tmp`
    yield* fs.makeDirectory(dirname(path), { recursive: true, mode: 0o700 })
    yield* fs.writeFileString(draft, JSON.stringify(document, null, 2), { flag: "wx", mode: 0o600 }).pipe(
      Effect.andThen(fs.rename(draft, path)),
      Effect.onError(() => Effect.ignore(fs.remove(draft, { force: true })))
    )
  }, Effect.mapError(because))

  /** Takes away a lock that has run out; puts back one that somebody had taken meanwhile. */
  const breakLock = Effect.fnUntraced(function* (file: string, seen: string) {
    const aside = `${file}.${yield* Random.text(9)}`
    yield* fs.rename(file, aside)
    const moved = yield* fs.readFileString(aside)
    if (moved !== seen) yield* Effect.ignore(fs.link(aside, file))
    yield* fs.remove(aside, { force: true })
  })

  const take = Effect.fnUntraced(function* (file: string, owner: string) {
    const now = yield* Clock.currentTimeMillis
    const mark = `${owner} ${now + Duration.toMillis(lease)}`
    const taken = yield* Effect.result(fs.writeFileString(file, mark, { flag: "wx", mode: 0o600 }))
    if (Result.isSuccess(taken)) return true
    if (!isTaken(taken.failure)) return yield* taken.failure
    const seen = yield* fs.readFileString(file).pipe(Effect.catchIf(isMissing, () => Effect.succeed("")))
    const until = Number(seen.split(" ")[1])
    if (until < now) yield* Effect.ignore(breakLock(file, seen))
    return false
  }, Effect.mapError(because))

  const release = (file: string, owner: string) =>
    Effect.ignore(
      Effect.flatMap(fs.readFileString(file), (seen) =>
        seen.startsWith(`${owner} `) ? fs.remove(file, { force: true }) : Effect.void
      )
    )

  const lockFile = Effect.fnUntraced(function* (file: string) {
    const owner = yield* Random.text(12)
    yield* Effect.mapError(fs.makeDirectory(dirname(path), { recursive: true, mode: 0o700 }), because)
    const wait = Effect.fnUntraced(function* () {
      while (!(yield* take(file, owner))) yield* Effect.sleep(glance)
    })
    yield* Effect.acquireRelease(
      wait().pipe(
        Effect.onInterrupt(() => release(file, owner)),
        Effect.timeoutOrElse({
          duration: patience,
          orElse: () => Effect.fail(`${file} is held by another process`)
        })
      ),
      () => release(file, owner),
      { interruptible: true }
    )
  })

  const change = (edit: (document: Map<string, unknown>) => void) =>
    Effect.scoped(
      Effect.gen(function* () {
        yield* lockFile(`${path}.lock`)
        const entries = new Map(Object.entries(yield* load))
        edit(entries)
        yield* save(Object.fromEntries(entries))
      })
    )

  return {
    get: (key: string) =>
      Effect.map(load, (document) => {
        const value = Fields.text(document, key)
        return value === undefined ? undefined : Redacted.make(value)
      }),
    set: (key: string, value: Redacted.Redacted) => change((entries) => void entries.set(key, Redacted.value(value))),
    remove: (key: string) => change((entries) => void entries.delete(key)),
    /** Held for as long as the scope lives. */
    lock: Effect.fnUntraced(function* (key: string) {
      const name = Array.from(yield* Random.sha256(key), (byte) => byte.toString(16).padStart(2, "0"))
      yield* lockFile(`${path}.${name.slice(0, 8).join("")}.lock`)
    })
  }
})
