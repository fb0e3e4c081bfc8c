/**
 * Where tokens and registered clients are kept between requests, runs and processes.
 *
 * The contract is small on purpose: named texts, all of them secret, and a lock that excludes everybody who shares the
 * store. A keychain or a database is a few lines. What the texts hold is the library's business.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as FileStore from "./internal/authorization/fileStore.ts"

/**
 * The store could not be read, written or locked. `because` holds no stored text.
 *
 * What to change: see that the place can be read and written by this user, and that no other program holds its lock.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenStoreError extends Schema.TaggedError<TokenStoreError>()("TokenStoreError", {
  operation: Schema.Literals(["get", "set", "remove", "lock"]),
  because: Schema.String
}) {
  override get message() {
    return `the token store could not ${this.operation}: ${this.because}`
  }
}

/**
 * The store. Keys are printable text without secrets, made of a kind and an address, for example
 * `grant https://example.com/mcp`.
 *
 * `exclusively` runs an effect while nobody else runs one under the same key, across every process that shares the
 * store. It keeps a refresh token that is rotated on use from being used twice (T-OAUTH-4). A store that can only
 * exclude its own process should say so; then two processes may each renew, and one of them may have to sign in again.
 *
 * @category services
 * @since 0.1.0
 */
export class TokenStore extends Context.Service<
  TokenStore,
  {
    readonly get: (key: string) => Effect.Effect<Redacted.Redacted | undefined, TokenStoreError>
    readonly set: (key: string, value: Redacted.Redacted) => Effect.Effect<void, TokenStoreError>
    readonly remove: (key: string) => Effect.Effect<void, TokenStoreError>
    readonly exclusively: (
      key: string
    ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TokenStoreError, R>
  }
>()("@mcp-effect/client/TokenStore") {}

/** One lock per key, within this process. */
const locks = () => {
  const semaphores = new Map<string, Semaphore.Semaphore>()
  return (key: string) => {
    const semaphore = semaphores.get(key) ?? Semaphore.makeUnsafe(1)
    semaphores.set(key, semaphore)
    return semaphore.withPermits(1)
  }
}

/**
 * Keeps everything in memory, for as long as the program runs.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<TokenStore> = Layer.sync(TokenStore, () => {
  const values = new Map<string, Redacted.Redacted>()
  return {
    get: (key) => Effect.sync(() => values.get(key)),
    set: (key, value) => Effect.sync(() => void values.set(key, value)),
    remove: (key) => Effect.sync(() => void values.delete(key)),
    exclusively: locks()
  }
})

/**
 * Keeps everything in a `KeyValueStore`, in clear text: choose one that only its owner can read.
 *
 * A `KeyValueStore` has no lock, so `exclusively` covers this process only, unless you pass a `lock` of your own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerKeyValue = (options?: {
  /** Put before every key. `mcp-effect ` by default. */
  readonly prefix?: string
  readonly lock?: TokenStore["Service"]["exclusively"]
}): Layer.Layer<TokenStore, never, KeyValueStore.KeyValueStore> =>
  Layer.effect(
    TokenStore,
    Effect.map(KeyValueStore.KeyValueStore, (bare) => {
      const values = KeyValueStore.prefix(bare, options?.prefix ?? "mcp-effect ")
      const failed = (operation: TokenStoreError["operation"]) =>
        Effect.mapError(
          ({ message }: KeyValueStore.KeyValueStoreError) => new TokenStoreError({ operation, because: message })
        )
      return TokenStore.of({
        get: (key) =>
          values.get(key).pipe(
            Effect.map((value) => (value === undefined ? undefined : Redacted.make(value))),
            failed("get")
          ),
        set: (key, value) => values.set(key, Redacted.value(value)).pipe(failed("set")),
        remove: (key) => values.remove(key).pipe(failed("remove")),
        exclusively: options?.lock ?? locks()
      })
    })
  )

/**
 * Keeps everything in one JSON file that only its owner may read (mode 0600, in a folder of mode 0700 where it has to
 * be made), written whole and renamed into place. Processes that share the file exclude each other by a lock file
 * beside it; a lock left by a process that died is broken after a minute.
 *
 * On Windows the modes do nothing; keep the file inside the user's profile.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFile = (options: {
  readonly path: string
}): Layer.Layer<TokenStore, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    TokenStore,
    Effect.map(FileStore.make(options.path), (file) => {
      const failed = (operation: TokenStoreError["operation"]) =>
        Effect.mapError((because: string) => new TokenStoreError({ operation, because }))
      const within = locks()
      return TokenStore.of({
        get: (key) => failed("get")(file.get(key)),
        set: (key, value) => failed("set")(file.set(key, value)),
        remove: (key) => failed("remove")(file.remove(key)),
        exclusively: (key) => (effect) =>
          within(key)(Effect.scoped(Effect.andThen(failed("lock")(file.lock(key)), effect)))
      })
    })
  )
