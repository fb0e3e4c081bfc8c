/**
 * Tokens bound to a key (DPoP, RFC 9449; draft extension, off by default).
 *
 * Give a `Dpop` to `Authorization` and tokens are asked for with a proof, where the authorization server takes its
 * algorithm; each request to the MCP server then carries a fresh proof of its own, with a digest of its body. A stolen
 * token is of no use without the key, which never leaves this process and its `TokenStore`.
 *
 * @since 0.1.0
 */
import { excerpt } from "@mcp-effect/protocol/Excerpt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Redacted from "effect/Redacted"
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose"
import { SigningFailed } from "./AuthorizationError.ts"
import * as Random from "./internal/authorization/random.ts"
import { TokenStore, type TokenStoreError } from "./TokenStore.ts"

/**
 * What one proof covers.
 *
 * @category models
 * @since 0.1.0
 */
export interface Covered {
  readonly method: string
  readonly url: string
  /** The token the request carries; none at the token endpoint. */
  readonly accessToken?: Redacted.Redacted
  /** The exact bytes of the body of a request to the MCP server. */
  readonly body?: Uint8Array<ArrayBuffer>
}

/**
 * A key that makes proofs, and the nonces that servers gave it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Dpop {
  /** The JOSE name of the algorithm, for example `ES256`. */
  readonly algorithm: string
  /** The thumbprint of the public key (RFC 7638): what a token is bound to. */
  readonly thumbprint: string
  readonly prove: (covered: Covered) => Effect.Effect<string, SigningFailed>
  /** Takes the nonce out of an answer; true when there was one. */
  readonly heard: (url: string, headers: Readonly<Record<string, string | undefined>>) => Effect.Effect<boolean>
}

const storeKey = "dpop key"

const failed = (cause: unknown) =>
  new SigningFailed({
    what: "DPoP proof",
    because: excerpt(cause instanceof Error ? cause.message : "the key cannot be used")
  })

const generate = (algorithm: string) =>
  Effect.tryPromise({
    try: () => generateKeyPair(algorithm, { extractable: true }).then(({ privateKey }) => exportJWK(privateKey)),
    catch: failed
  })

const privateMembers = new Set(["d", "p", "q", "dp", "dq", "qi", "k", "oth"])

const publicPart = (jwk: JWK): JWK =>
  Object.fromEntries(Object.entries(jwk).filter(([member]) => !privateMembers.has(member)))

/** Most servers whose nonces are remembered at once. */
const maxNonces = 100

/**
 * Makes a `Dpop` whose key lives in the `TokenStore`: made once, found again later, so that stored tokens stay usable.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options?: {
  /** `ES256` by default. */
  readonly algorithm?: "ES256" | "ES384" | "EdDSA"
}): Effect.fn.Return<Dpop, SigningFailed | TokenStoreError, TokenStore> {
  const algorithm = options?.algorithm ?? "ES256"
  const store = yield* TokenStore
  const name = `${storeKey} ${algorithm}`
  const jwk = yield* store.exclusively(name)(
    Effect.gen(function* () {
      const stored = yield* store.get(name)
      if (stored !== undefined) {
        return yield* Effect.try({ try: (): JWK => JSON.parse(Redacted.value(stored)), catch: failed })
      }
      const made = yield* generate(algorithm)
      yield* store.set(name, Redacted.make(JSON.stringify(made)))
      return made
    })
  )
  const shown = publicPart(jwk)
  const key = yield* Effect.tryPromise({ try: () => importJWK(jwk, algorithm), catch: failed })
  const thumbprint = yield* Effect.tryPromise({ try: () => calculateJwkThumbprint(shown), catch: failed })
  const nonces = new Map<string, string>()

  return {
    algorithm,
    thumbprint,
    heard: (url, headers) =>
      Effect.sync(() => {
        const nonce = headers["dpop-nonce"]
        if (nonce === undefined) return false
        const { origin } = new URL(url)
        const oldest = nonces.keys().next()
        if (!nonces.has(origin) && nonces.size >= maxNonces && oldest.done === false) nonces.delete(oldest.value)
        nonces.set(origin, nonce)
        return true
      }),
    prove: Effect.fnUntraced(function* ({ accessToken, body, method, url }) {
      const target = new URL(url)
      target.search = ""
      target.hash = ""
      const jti = yield* Random.text(16)
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const nonce = nonces.get(target.origin)
      const ath =
        accessToken === undefined ? undefined : Base64Url.encode(yield* Random.sha256(Redacted.value(accessToken)))
      const digest = body === undefined ? undefined : `sha-256=:${Base64.encode(yield* Random.sha256(body))}:`
      const claims = {
        jti,
        htm: method,
        htu: target.href,
        ...(ath === undefined ? {} : { ath }),
        ...(nonce === undefined ? {} : { nonce }),
        ...(digest === undefined ? {} : { content_digest: digest })
      }
      return yield* Effect.tryPromise({
        try: () =>
          new SignJWT(claims)
            .setProtectedHeader({ typ: "dpop+jwt", alg: algorithm, jwk: shown })
            .setIssuedAt(now)
            .sign(key),
        catch: failed
      })
    })
  }
})
